/** The YAML of octoDNS: every scalar as its text, every node with its place. */

import type * as YamlLibrary from "yaml";
import type { Document, Node, Pair } from "yaml";
import type { Diagnostic, Span } from "../model/diagnostic.ts";

export type Yaml = typeof YamlLibrary;

/** octoDNS needs about six. */
const MAX_NESTING_DEPTH = 32;
/** Nodes looked at in one file, those behind aliases each time: 12,000 records have fewer. */
const MAX_NODES = 1_000_000;
/** Of a number, signs and underscores included. To convert digits takes quadratic time, and aliases repeat them; a TTL has about ten. */
export const MAX_NUMBER_CHARACTERS = 40;

/** A node with aliases followed and merge keys merged. */
export type Value =
  /** `plain`: without quotes, so that YAML 1.1 may take it for something else than a text. */
  | { readonly kind: "text"; readonly text: string; readonly plain: boolean; readonly span: Span }
  | { readonly kind: "list"; readonly items: readonly Value[]; readonly span: Span }
  | { readonly kind: "map"; readonly entries: ReadonlyMap<string, Entry>; readonly span: Span };

export interface Entry {
  /** Of its key. */
  readonly span: Span;
  readonly value: Value;
}

export type ReadYaml =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

export function readYaml(text: string, file: string, yaml: Yaml): ReadYaml {
  const document = compose(text, yaml);
  if (document === null)
    return { ok: false, diagnostics: [problem("nested too deep", "", { file, start: 0, end: 1 })] };
  if (document.errors.length > 0) {
    const diagnostics = document.errors.map(({ message, pos }) =>
      problem("the YAML cannot be read", message, { file, start: pos[0], end: pos[1] }),
    );
    return { ok: false, diagnostics };
  }
  try {
    return { ok: true, value: new Conversion(document, file, yaml).value(document.contents) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ok: false, diagnostics: [problem(error.message, "", error.span)] };
  }
}

function problem(summary: string, detail: string, span: Span): Diagnostic {
  return { code: "bad-octodns", severity: "error", summary, detail, fix: "Correct the file.", span };
}

/** Token by token, to stop where the nesting gets too deep: that takes the library quadratic time. null: it does. */
function compose(text: string, yaml: Yaml): Document.Parsed | null {
  const composer = new yaml.Composer({
    schema: "failsafe",
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "silent",
  });
  const parser = new yaml.Parser();
  let first: Document.Parsed | null = null;
  const feed = (tokens: Iterable<YamlLibrary.CST.Token>): void => {
    for (const token of tokens) for (const document of composer.next(token)) first ??= document as Document.Parsed;
  };
  for (const lexeme of new yaml.Lexer().lex(text)) {
    feed(parser.next(lexeme));
    if (parser.stack.length > MAX_NESTING_DEPTH) return null;
  }
  feed(parser.end());
  for (const document of composer.end(true, text.length)) first ??= document as Document.Parsed;
  return first;
}

/** Ends the reading of a file whose YAML octoDNS might take, but this does not. */
class Refusal extends Error {
  readonly span: Span;

  constructor(message: string, span: Span) {
    super(message);
    this.span = span;
  }
}

/**
 * The text that octoDNS makes of a key: it reads YAML 1.1, and takes `str()` of what that gives in lower case. So `null:` is the name `none`,
 * `yes:` is `true` and `010:` is `8`; in quotes a key is what it says.
 */
function keyText({ value, type }: YamlLibrary.Scalar): string {
  const text = String(value);
  if (type !== "PLAIN") return text;
  if (/^(?:~|null|Null|NULL|)$/.test(text)) return "none";
  if (/^(?:yes|Yes|YES|true|True|TRUE|on|On|ON)$/.test(text)) return "true";
  if (/^(?:no|No|NO|false|False|FALSE|off|Off|OFF)$/.test(text)) return "false";
  return plainNumber(text) ?? text;
}

/** A plain scalar that YAML 1.1 takes for a number, as Python's `str()` writes it: `010` is `8`, `1:30` is `90`, `1.10` is `1.1`; null: it is none. */
export function plainNumber(text: string): string | null {
  if (text.length > MAX_NUMBER_CHARACTERS) return null;
  const [, sign = "", written = ""] = /^([-+]?)(.*)$/s.exec(text) ?? [];
  const number = unsigned(written.replaceAll("_", ""), written);
  return number === null ? null : `${sign === "-" && number !== "0" ? "-" : ""}${number}`;
}

function unsigned(digits: string, written: string): string | null {
  if (/^0[0-7_]+$/.test(written)) return BigInt(`0o${digits}`).toString();
  if (/^(?:0x[0-9a-fA-F_]+|0b[01_]+|0|[1-9][0-9_]*)$/.test(written)) return BigInt(digits).toString();
  if (/^[1-9][0-9_]*(?::[0-5]?[0-9])+$/.test(written))
    return String(digits.split(":").reduce((sum, part) => sum * 60 + Number(part), 0));
  if (/^[0-9][0-9_]*\.[0-9_]*$/.test(written)) {
    const value = Number(digits);
    return Number.isInteger(value) ? `${value}.0` : String(value);
  }
  return null;
}

class Conversion {
  readonly #anchors: Map<string, Node> = new Map();
  readonly #open: Set<Node> = new Set();
  readonly #document: Document;
  readonly #file: string;
  readonly #yaml: Yaml;
  #nodes = 0;

  constructor(document: Document, file: string, yaml: Yaml) {
    this.#document = document;
    this.#file = file;
    this.#yaml = yaml;
  }

  value(node: Node | null): Value {
    const yaml = this.#yaml;
    this.#nodes += 1;
    if (node === null) return { kind: "text", text: "", plain: true, span: this.#span(this.#document.contents) };
    const span = this.#span(node);
    if (this.#nodes > MAX_NODES) throw new Refusal("the file has too many values", span);
    if (yaml.isAlias(node)) {
      const target = this.#anchors.get(node.source);
      if (target === undefined || this.#open.has(target)) throw new Refusal(`unknown alias *${node.source}`, span);
      return this.value(target);
    }
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (node.tag !== undefined && !node.tag.startsWith("tag:yaml.org,2002:")) {
      throw new Refusal(`the tag ${node.tag} is not supported`, span);
    }
    if (yaml.isScalar(node)) return { kind: "text", text: String(node.value), plain: node.type === "PLAIN", span };
    this.#open.add(node);
    const value: Value = yaml.isSeq(node)
      ? { kind: "list", items: node.items.map((item) => this.value(item as Node)), span }
      : { kind: "map", entries: this.#entries((node as YamlLibrary.YAMLMap).items as Pair<Node, Node | null>[]), span };
    this.#open.delete(node);
    return value;
  }

  #entries(pairs: readonly Pair<Node, Node | null>[]): Map<string, Entry> {
    const entries = new Map<string, Entry>();
    const merged: Value[] = [];
    for (const { key, value } of pairs) {
      const span = this.#span(key);
      if (!this.#yaml.isScalar(key)) throw new Refusal("a key is not a word", span);
      const name = keyText(key as YamlLibrary.Scalar);
      const converted = this.value(value);
      if (name === "<<")
        for (const item of converted.kind === "list" ? converted.items : [converted]) merged.push(item);
      else if (entries.has(name)) throw new Refusal(`${name === "" ? "the apex" : `\`${name}\``} is there twice`, span);
      else entries.set(name, { span, value: converted });
    }
    for (const value of merged) {
      if (value.kind !== "map") continue;
      for (const [name, entry] of value.entries) if (!entries.has(name)) entries.set(name, entry);
    }
    return entries;
  }

  #span(node: Node | null): Span {
    const [start, end] = node?.range ?? [0, 0];
    return { file: this.#file, start, end };
  }
}
