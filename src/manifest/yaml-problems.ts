/** What YAML allows and a manifest does not, in words. */

import type { Diagnostic, Span } from "../model/diagnostic.ts";
import { MAX_ALIAS_NODES, MAX_NESTING_DEPTH, MAX_SHORT_FILE_VALUES, MIN_CHARACTERS_PER_VALUE } from "./limits.ts";

function syntax(code: string, summary: string, detail: string, fix: string, span: Span): Diagnostic {
  return { code, severity: "error", summary, detail, fix, span };
}

export function emptyFile(file: string): Diagnostic {
  const fix = "Start it with `tenon: 1`, or delete the file.";
  return syntax("empty-file", "the file is empty", "A manifest says at least which format it has.", fix, start(file));
}

function start(file: string): Span {
  return { file, start: 0, end: 0 };
}

export function severalDocuments(file: string, offset: number, text: string): Diagnostic {
  const marker = text.lastIndexOf("---", offset);
  const at = marker === -1 ? offset : marker;
  const detail = "A manifest is one YAML document; `---` begins another.";
  const fix = "Put the second document into a file of its own and name it under `files`.";
  return syntax("several-documents", "more than one document", detail, fix, { file, start: at, end: at + 3 });
}

export function wrongVersion(file: string): Diagnostic {
  const detail =
    "Manifests are YAML 1.2; under 1.1, words such as `yes` and numbers such as `010` mean something else.";
  return syntax("yaml-version", "not YAML 1.2", detail, "Remove the %YAML directive.", start(file));
}

export function notMapping(file: string, [from, to]: readonly [number, number]): Diagnostic {
  const detail = "A manifest is a mapping whose keys are `tenon`, `vpcs`, `domains` and so on.";
  return syntax("not-a-manifest", "not a manifest", detail, "Start it with `tenon: 1`.", {
    file,
    start: from,
    end: to,
  });
}

export function nestedTooDeep(file: string, offset: number): Diagnostic {
  const detail = `Collections may be nested ${MAX_NESTING_DEPTH} deep.`;
  const span = { file, start: offset, end: offset + 1 };
  return syntax("nested-too-deep", "nested too deep", detail, "Check the brackets and the indentation.", span);
}

export function tooManyValues(file: string, offset: number): Diagnostic {
  const detail = `A file may have one value for each ${MIN_CHARACTERS_PER_VALUE} characters, and ${MAX_SHORT_FILE_VALUES.toLocaleString("en")} in any case. What follows is not looked at.`;
  const span = { file, start: offset, end: offset + 1 };
  return syntax("too-many-values", "too many values in one file", detail, "Divide the file.", span);
}

export function unknownTag(span: Span, tag: string): Diagnostic {
  const shown = tag.replace("tag:yaml.org,2002:", "!!");
  const detail = `The YAML tag \`${shown}\` has no meaning in a manifest.`;
  return syntax(
    "unknown-tag",
    "unknown YAML tag",
    detail,
    "Remove the tag, or quote the value if it begins with `!`.",
    span,
  );
}

export function unknownAlias(span: Span, name: string): Diagnostic {
  const detail = `In YAML an unquoted \`*\` refers to an anchor, and there is no \`&${name}\` before it.`;
  const fix = `If a name that begins with a star is meant, quote it: "*${name}".`;
  return syntax("unquoted-value", "a value that begins with `*` must be quoted", detail, fix, span);
}

export function circularAlias(span: Span, name: string): Diagnostic {
  const detail = `The alias \`*${name}\` stands inside what it refers to.`;
  return syntax("circular-alias", "alias of itself", detail, "Write the value out.", span);
}

export function tooManyAliases(span: Span): Diagnostic {
  const detail = `The aliases of this file stand for more than ${MAX_ALIAS_NODES.toLocaleString("en")} values.`;
  return syntax("too-many-aliases", "too many aliases", detail, "Use `record_sets` and `defaults` instead.", span);
}

export function duplicateKey(key: string, span: Span, first: Span): Diagnostic {
  const detail = "A key may stand once in a mapping; of two, one would be lost silently.";
  const base = syntax("duplicate-key", `\`${key}\` is there twice`, detail, "Keep one of the two.", span);
  return { ...base, related: [{ message: "first here", span: first }] };
}

export function complexKey(span: Span): Diagnostic {
  const detail = "Keys are plain words; lists and mappings cannot be keys.";
  return syntax("complex-key", "the key is not a word", detail, "Quote it if text was meant.", span);
}

export function escapedKey(span: Span, key: string): Diagnostic {
  const detail = `It comes to \`${key}\`, which nobody sees who reads the file or searches in it.`;
  return syntax("escaped-key", "a key is written with escapes", detail, `Write the key itself: ${key}.`, span);
}

export function cutByComment(span: Span): Diagnostic {
  const detail = "In YAML ` #` starts a comment, so the value ends before it.";
  const fix = "Quote the value: with the `#` inside the quotes if it belongs to it, behind them if not.";
  return { code: "value-before-comment", severity: "warning", summary: "the value ends at ` #`", detail, fix, span };
}
