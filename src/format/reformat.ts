/** A manifest's text → the same manifest in the form that Tenon writes, with every comment. */

import type { Document, Scalar, ScalarTag } from "yaml";
import { escapeYaml, isPlainlyVisible } from "../render/terminal.ts";
import { layOut, normaliseBlankLines, type SectionForm, textOf } from "./layout.ts";
import type { Yaml } from "./records.ts";

type Reformatted =
  | { readonly ok: true; readonly text: string }
  /** The text stays as it is: formatting it would lose a comment, or change a value. */
  | { readonly ok: false; readonly loses: "comment" | "value" };

/**
 * The result is parsed again and compared: no comment and no value may be lost, and formatting it once more must change nothing.
 * @param text of one sound YAML document
 */
export async function reformat(text: string, units: readonly { readonly spec: SectionForm }[]): Promise<Reformatted> {
  const [yaml, { stringifyString }] = await Promise.all([import("yaml"), import("yaml/util")]);
  const tag = asWritten(stringifyString);
  const pass = (source: string): Pass => {
    const document = parse(source, yaml, tag);
    // A comment in an odd place can make the library write text that it cannot read, and a key without a colon is one that it cannot write.
    if (document.errors.length > 0 || !yaml.isMap(document.contents) || hasBareKey(document, yaml)) {
      return { said: null, text: source };
    }
    const said = canonicalContent(document, yaml);
    normaliseBlankLines(document, yaml);
    layOut(document, yaml, { sections: units.map(({ spec }) => spec), isNew: false, arrangesRecords: true });
    return { said, text: textOf(document, yaml) };
  };
  const plain = text.replaceAll("\r\n", "\n");
  const first = pass(plain);
  let [before, last] = [first, pass(first.text)];
  // Some comments and blank lines reach their final place only when the text is parsed again.
  for (let passes = 2; last.text !== before.text && passes < MAX_PASSES; passes += 1) {
    [before, last] = [last, pass(last.text)];
  }
  const isSame = first.said !== null && first.said === last.said && last.text === before.text;
  if (!isSame) return { ok: false, loses: "value" };
  return sameComments(plain, last.text, yaml) ? { ok: true, text: last.text } : { ok: false, loses: "comment" };
}

/** `? key`, without a value. */
function hasBareKey(document: Document, yaml: Yaml): boolean {
  let isFound = false;
  yaml.visit(document, {
    Map: (_, { flow, items }) => {
      isFound ||= flow !== true && items.some(({ value }) => value === null);
    },
  });
  return isFound;
}

/** Two passes suffice, except for comments in odd places. */
const MAX_PASSES = 6;

interface Pass {
  /** The canonical content of the text that was read; null if the text is no YAML. */
  readonly said: string | null;
  readonly text: string;
}

/** Every scalar is the text it was written as: `010` and `1e3` must not come back as other numbers. */
function parse(text: string, yaml: Yaml, tag: ScalarTag): Document {
  return yaml.parseDocument(text, {
    version: "1.2",
    schema: "failsafe",
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "silent",
    customTags: (tags) => [...tags.filter((one) => typeof one === "string" || one.tag !== tag.tag), tag],
  });
}

/** A text with characters that are not plainly visible stays escaped, as its author had to write it. */
function asWritten(stringifyString: typeof import("yaml/util").stringifyString): ScalarTag {
  return {
    tag: "tag:yaml.org,2002:str",
    default: true,
    identify: (value) => typeof value === "string",
    resolve: (text) => text,
    stringify: (item, context, onComment, onChompKeep) => {
      const text = String((item as Scalar).value);
      if (!isPlainlyVisible(text)) return escapeYaml(JSON.stringify(text));
      return stringifyString(item as Scalar<string>, { ...context, actualString: true }, onComment, onChompKeep);
    },
  };
}

function sameComments(before: string, after: string, yaml: Yaml): boolean {
  return JSON.stringify(comments(before, yaml)) === JSON.stringify(comments(after, yaml));
}

/** The lexeme that announces a scalar: a `#` at the start of the next lexeme is then text, not a comment. */
const SCALAR_FOLLOWS = "\u001f";

/** Texts of all comments, sorted. */
export function comments(text: string, yaml: Yaml): string[] {
  const found: string[] = [];
  let previous = "";
  for (const lexeme of new yaml.Lexer().lex(text)) {
    if (previous !== SCALAR_FOLLOWS && lexeme.startsWith("#")) found.push(lexeme.trimEnd());
    previous = lexeme;
  }
  return found.sort();
}

// The content of a manifest in one form, whatever the order of its keys and records, and however targets are joined.

/**
 * Manifests with the same content have equal texts. The document must have been parsed with texts as its scalars. Linear in what aliases
 * put in, but for sorting: the library looks through all anchors for each alias. Loading a manifest limits its aliases.
 */
function canonicalContent(document: Document, yaml: Yaml): string {
  const targets = new Map<unknown, unknown>();
  const anchored = new Map<string, unknown>();
  yaml.visit(document, {
    Node: (_, node) => {
      if (yaml.isAlias(node)) targets.set(node, anchored.get(node.source));
      else if (node.anchor !== undefined) anchored.set(node.anchor, node);
    },
  });
  /** @param path keys from the root, list entries without their number */
  const contentOf = (node: unknown, path: string): unknown => {
    if (yaml.isAlias(node)) return contentOf(targets.get(node), path);
    if (yaml.isScalar(node)) return node.value;
    if (yaml.isSeq(node)) {
      const items = node.items.map((item) => contentOf(item, path));
      return isRecordList(path) ? sortedRecords(items) : items;
    }
    if (!yaml.isMap(node)) return null;
    const entries = node.items.map(({ key, value }) => {
      const name = yaml.isScalar(key) ? String(key.value) : JSON.stringify(contentOf(key, ""));
      return [name, contentOf(value, `${path}/${name}`)] as const;
    });
    return entries.sort(byKey);
  };
  return JSON.stringify(contentOf(document.contents, ""));
}

function isRecordList(path: string): boolean {
  return path === "/domains/records" || /^\/record_sets\/[^/]+$/.test(path);
}

type Entries = readonly (readonly [string, unknown])[];

/** One text for each record: several targets are several records. */
function sortedRecords(items: readonly unknown[]): string[] {
  return items
    .flatMap((item) => {
      if (!Array.isArray(item)) return [JSON.stringify(item)];
      const entries = item as Entries;
      const targets = entries.find(([key]) => key === "targets")?.[1];
      if (!Array.isArray(targets)) return [JSON.stringify(entries)];
      const rest = entries.filter(([key]) => key !== "targets");
      return targets.map((target) => JSON.stringify([...rest, ["target", target] as const].sort(byKey)));
    })
    .sort();
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
