/** YAML syntax errors in words that say what to do. */

import type { YAMLError } from "yaml";
import type { Diagnostic } from "../model/diagnostic.ts";

/** Whether the tree around the error can be relied on: a scalar that only lacks its quotes. */
export function isSound(error: YAMLError, text: string): boolean {
  if (error.code === "MULTIPLE_DOCS") return true;
  return error.code === "BAD_SCALAR_START" && /[@`]/.test(text[error.pos[0]] ?? "");
}

/** One diagnostic for each line that has errors: the library's later ones on a line follow from the first. */
export function syntaxDiagnostics(file: string, text: string, errors: readonly YAMLError[]): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  let lineEnd = -1;
  for (const error of [...errors].sort((a, b) => a.pos[0] - b.pos[0])) {
    const start = Math.min(error.pos[0], text.length);
    if (error.code === "MULTIPLE_DOCS" || (start <= lineEnd && !isSound(error, text))) continue;
    const next = text.indexOf("\n", start);
    lineEnd = next === -1 ? text.length : next;
    const end = Math.max(start, Math.min(error.pos[1], lineEnd));
    diagnostics.push({ severity: "error", ...explain(error, text), span: { file, start, end } });
  }
  return diagnostics;
}

type Explanation = Pick<Diagnostic, "code" | "summary" | "detail" | "fix">;

function explain(error: YAMLError, text: string): Explanation {
  if (text.slice(error.pos[0] - 1, error.pos[0] + 1) === "${") return unquotedReference();
  switch (error.code) {
    case "BAD_SCALAR_START":
      return reserved(text[error.pos[0]] ?? "");
    case "BLOCK_AS_IMPLICIT_KEY":
      return {
        code: "unquoted-value",
        summary: "a value with `: ` in it must be quoted",
        detail: "In YAML a colon followed by a space ends a key, so this reads as a mapping inside a value.",
        fix: 'Quote the whole value: key: "text: more text". If a nested key was meant, put it on its own line.',
      };
    case "TAB_AS_INDENT":
      return {
        code: "yaml-syntax",
        summary: "a tab is used for indentation",
        detail: "YAML is indented with spaces only.",
        fix: "Replace the tab by spaces.",
      };
    case "MISSING_CHAR":
      return missing(error);
    case "UNEXPECTED_TOKEN":
      return {
        code: "yaml-syntax",
        summary: "unexpected text",
        detail: `${sentence(error.message)} Text behind a closing quote, bracket or value is a common cause.`,
        fix: "Quote the whole value, or remove what does not belong to it.",
      };
    default:
      return {
        code: "yaml-syntax",
        summary: "the YAML cannot be read",
        detail: sentence(error.message),
        fix: "Check indentation, brackets and quotes here and on the line before.",
      };
  }
}

function unquotedReference(): Explanation {
  return {
    code: "unquoted-value",
    summary: "a reference within { } or [ ] must be quoted",
    detail: "Inside braces and brackets YAML takes the `{` of `${…}` for the start of a mapping.",
    fix: 'Quote the value: "${var.name}", or write the mapping over several lines without braces.',
  };
}

function reserved(character: string): Explanation {
  return {
    code: "unquoted-value",
    summary: `a value that begins with \`${character}\` must be quoted`,
    detail: `YAML reserves \`${character}\` at the start of a value.`,
    fix: `Quote it: "${character}"${character === "@" ? ". For the apex of a zone, `name` may also be left out" : ""}.`,
  };
}

function missing(error: YAMLError): Explanation {
  const quote = /quote/.test(error.message);
  return {
    code: "yaml-syntax",
    summary: quote ? "a quoted value is not closed" : "a character is missing",
    detail: sentence(error.message),
    fix: quote ? "Close the quote; a quote inside the value is written \\\" or, in single quotes, ''." : "Add it.",
  };
}

function sentence(message: string): string {
  const text = message.trim().replace(/\s+/g, " ");
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
