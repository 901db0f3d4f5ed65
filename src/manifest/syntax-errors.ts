/** What is wrong with the syntax of a YAML text, in words, each with a fix. */

import type * as YamlLibrary from "yaml";
import type { Lexer, YAMLError } from "yaml";
import type { Diagnostic } from "../model/diagnostic.ts";

type Yaml = typeof YamlLibrary;

/** Whether the tree around the error can be relied on, for example because a scalar only lacks its quotes. */
export function isSound(error: YAMLError, text: string): boolean {
  if (error.code === "MULTIPLE_DOCS") return true;
  return error.code === "BAD_SCALAR_START" && /[@`]/.test(text[error.pos[0]] ?? "");
}

/** One diagnostic for each line that has errors: the library's later errors on a line follow from the first. */
export function syntaxDiagnostics(file: string, text: string, errors: readonly YAMLError[], yaml: Yaml): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const unclosed = errors.length === 0 || errors.some(isOpenQuote) ? null : findUnclosed(text, new yaml.Lexer());
  // What comes after an open bracket is read as part of it: its errors follow from that.
  const own = unclosed === null ? errors : errors.filter(({ pos }) => pos[0] < unclosed.start);
  if (unclosed !== null) diagnostics.push(unclosedBracket(file, text, unclosed));
  let lineEnd = -1;
  for (const error of [...own].sort((a, b) => a.pos[0] - b.pos[0])) {
    const start = Math.min(error.pos[0], text.length);
    if (error.code === "MULTIPLE_DOCS" || (start <= lineEnd && !isSound(error, text))) continue;
    const { at, follows = false, ...explanation } = explain(error, text);
    if (follows && diagnostics.some(({ summary }) => summary === MISPLACED)) continue;
    const next = text.indexOf("\n", at ?? start);
    lineEnd = next === -1 ? text.length : next;
    const end = Math.max(start, Math.min(error.pos[1], lineEnd));
    const exact = isOpenQuote(error) ? openingQuote(text, start, new yaml.Lexer()) : at;
    const span = exact == null ? { file, start, end } : { file, start: exact, end: exact + 1 };
    diagnostics.push({ severity: "error", ...explanation, span });
  }
  return diagnostics;
}

function isOpenQuote({ code, message }: YAMLError): boolean {
  return code === "MISSING_CHAR" && message.includes("quote");
}

/** Where the quoted value begins whose closing quote is missing at `noticed`, often lines below it. */
function openingQuote(text: string, noticed: number, lexer: Lexer): number | null {
  let offset = 0;
  let opening: number | null = null;
  for (const lexeme of lexer.lex(text)) {
    if (offset >= noticed) break;
    if (lexeme === DOCUMENT || lexeme === SCALAR || lexeme === GIVEN_UP) continue;
    if (/^["']/.test(lexeme)) opening = offset;
    offset += lexeme.length;
  }
  return opening;
}

function unclosedBracket(file: string, text: string, { start, bracket, closing, noticed }: Unclosed): Diagnostic {
  const lineOf = (offset: number): number => text.slice(0, offset).split("\n").length;
  const found = text[noticed] ?? "";
  const where =
    noticed >= text.trimEnd().length
      ? "The file ends before anything closes it"
      : lineOf(noticed) === lineOf(start)
        ? `\`${found}\` stands where \`${closing}\` is wanted`
        : `Nothing closes it before line ${lineOf(noticed)}`;
  return {
    code: "yaml-syntax",
    severity: "error",
    summary: `a \`${bracket}\` is not closed`,
    detail: `${where}. What comes after it is read once it is closed.`,
    fix: `Add \`${closing}\`; within a value that is text a bracket needs quotes around all of it.`,
    span: { file, start, end: start + 1 },
  };
}

const MISPLACED = "the indentation does not fit";

interface Explanation extends Pick<Diagnostic, "code" | "summary" | "detail" | "fix"> {
  /** The offset of what is wrong, where YAML's own error stands elsewhere. */
  readonly at?: number;
  /** Behind a line that stands in the wrong place, lines that are right read so, too. */
  readonly follows?: true;
}

function explain(error: YAMLError, text: string): Explanation {
  if (text.slice(error.pos[0] - 1, error.pos[0] + 1) === "${") return unquotedReference();
  switch (error.code) {
    case "BAD_SCALAR_START":
      return reserved(text[error.pos[0]] ?? "", wordAt(text, error.pos[0]));
    case "BAD_ALIAS":
      return bareStar();
    case "BLOCK_IN_FLOW":
      return missingComma(error, text) ?? unreadable(error);
    case "MULTILINE_IMPLICIT_KEY":
      return missingColon(error, text) ?? unreadable(error);
    case "BAD_INDENT":
      return unaligned(error);
    case "BLOCK_AS_IMPLICIT_KEY":
      return (
        misplacedDash(error, text) ??
        deeperLine(error, text) ?? {
          code: "unquoted-value",
          summary: "a value with `: ` in it must be quoted",
          detail: "In YAML a colon followed by a space ends a key, so this reads as a mapping inside a value.",
          fix: 'Quote the whole value: key: "text: more text". If a nested key was meant, put it on its own line.',
          follows: true,
        }
      );
    case "TAB_AS_INDENT":
      return {
        code: "yaml-syntax",
        summary: "a tab is used for indentation",
        detail: "YAML is indented with spaces only.",
        fix: "Replace the tab by spaces.",
      };
    case "MISSING_CHAR":
      return missing(error, text);
    case "UNEXPECTED_TOKEN":
      return {
        code: "yaml-syntax",
        summary: "unexpected text",
        detail: `${sentence(error.message)} Text behind a closing quote, bracket or value is a common cause.`,
        fix: "Quote the whole value, or remove what does not belong to it.",
      };
    default:
      return unreadable(error);
  }
}

function unreadable(error: YAMLError): Explanation {
  return {
    code: "yaml-syntax",
    summary: "the YAML cannot be read",
    detail: sentence(error.message),
    fix: "Check indentation, brackets and quotes here and on the line before.",
    follows: true,
  };
}

/** `name: *` of a wildcard record, without quotes. */
function bareStar(): Explanation {
  return {
    code: "unquoted-value",
    summary: "a value that begins with `*` must be quoted",
    detail: "In YAML an unquoted `*` refers to an anchor, and no name of one follows it.",
    fix: 'If a star is meant, as in the name of a wildcard record, quote it: "*".',
  };
}

/** `{ name: www target: 192.0.2.1 }`: null where it is something else, such as a list within braces. */
function missingComma(error: YAMLError, text: string): Explanation | null {
  const [, value, key] = /^(\S+)[ \t]+([A-Za-z_][\w-]*):(?:\s|$)/.exec(restOfLine(text, error.pos[0])) ?? [];
  if (value === undefined || key === undefined) return null;
  return {
    code: "yaml-syntax",
    summary: "a comma is missing",
    detail: "Within `{ }` and `[ ]` commas divide the entries.",
    fix: `Write \`${value}, ${key}: …\`; a value with \`: \` in it needs quotes.`,
  };
}

/** `type A` instead of `type: A`: null where the line is no key with a value. */
function missingColon(error: YAMLError, text: string): Explanation | null {
  const [, key, value] =
    /^([A-Za-z_][\w-]*)(?:[ \t]+|[ \t]*=[ \t]*|:)([^\s:=].*)$/.exec(restOfLine(text, error.pos[0])) ?? [];
  if (key === undefined || value === undefined) return null;
  return {
    code: "yaml-syntax",
    summary: "a colon with a space behind it is missing",
    detail: "A key and its value are divided by `: `; without it the line is one long key.",
    fix: `If \`${key}\` is the key, write \`${key}: ${value.trim()}\`.`,
  };
}

/** A dash left of those of its list, and right of the list's key. */
function misplacedDash(error: YAMLError, text: string): Explanation | null {
  const blanks = /^ *(?=- )/.exec(restOfLine(text, error.pos[0]))?.[0];
  if (blanks === undefined || text.slice(lineStart(text, error.pos[0]), error.pos[0]).trim() !== "") return null;
  return {
    code: "yaml-syntax",
    summary: MISPLACED,
    detail: "The dash stands left of the entries above it, and right of their key.",
    fix: "Begin the line in the column of the entries that it belongs to.",
    at: error.pos[0] + blanks.length,
  };
}

/** A line that is indented more deeply than the key above it, whose value it is read as. */
function deeperLine(error: YAMLError, text: string): Explanation | null {
  const value = restOfLine(text, error.pos[0]);
  const line = text.slice(lineStart(text, error.pos[0]), error.pos[0]);
  const [before = "", indentation = "", key] = /^( *(?:- +)*)([\w-]+):/.exec(line) ?? [];
  const nextLine = error.pos[0] + value.length + 1;
  const blanks = /^ *(?=[\w-]+:(?:\s|$))/.exec(restOfLine(text, nextLine))?.[0].length ?? 0;
  if (before === "" || /:(?:\s|$)/.test(value) || blanks <= indentation.length) return null;
  return {
    code: "yaml-syntax",
    summary: MISPLACED,
    detail: `The line is indented more deeply than \`${key}\` above it, and is read as a part of its value.`,
    fix: `Begin it in column ${indentation.length + 1}, as \`${key}\` does.`,
    at: nextLine + blanks,
  };
}

function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
}

function unaligned(error: YAMLError): Explanation {
  return {
    code: "yaml-syntax",
    summary: MISPLACED,
    detail: sentence(error.message),
    fix: "Begin the line in the column of the entries that it belongs to.",
  };
}

function restOfLine(text: string, start: number): string {
  return /.*/.exec(text.slice(start, start + MAX_LINE_CHARACTERS))?.[0] ?? "";
}

/** What stands unquoted at `start`, without what follows it in braces or brackets. */
function wordAt(text: string, start: number): string {
  return /^[^\s,\]}]*/.exec(restOfLine(text, start))?.[0] ?? "";
}

/** How much of a line is looked at for what is missing in it. */
const MAX_LINE_CHARACTERS = 200;

function unquotedReference(): Explanation {
  return {
    code: "unquoted-value",
    summary: "a reference within { } or [ ] must be quoted",
    detail: "Inside braces and brackets YAML takes the `{` of `${…}` for the start of a mapping.",
    fix: 'Quote the value: "${var.name}", or write the mapping over several lines without braces.',
  };
}

function reserved(character: string, word: string): Explanation {
  return {
    code: "unquoted-value",
    summary: `a value that begins with \`${character}\` must be quoted`,
    detail: `YAML reserves \`${character}\` at the start of a value.`,
    fix: `Quote it: "${word.includes('"') ? character : word}"${character === "@" ? ". For the apex of a zone, `name` may also be left out" : ""}.`,
  };
}

function missing(error: YAMLError, text: string): Explanation {
  if (isOpenQuote(error)) {
    return {
      code: "yaml-syntax",
      summary: "a quoted value is not closed",
      detail: "Nothing closes this quote. What comes after it is read once it is closed.",
      fix: "Close the quote; a quote inside the value is written \\\" or, in single quotes, ''.",
    };
  }
  if (error.message.startsWith("Sequence item")) {
    return {
      code: "yaml-syntax",
      summary: MISPLACED,
      detail:
        "The line stands in the column of the list's dashes, or between them and their entries, and begins no entry.",
      fix: "Begin it in the column of the entry's first key, behind the dash; or write `- ` before it for an entry of its own.",
    };
  }
  return (
    missingColon(error, text) ?? {
      code: "yaml-syntax",
      summary: "a character is missing",
      detail: sentence(error.message),
      fix: "Add it.",
    }
  );
}

function sentence(message: string): string {
  const text = message.trim().replace(/\s+/g, " ");
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

// The bracket that nothing closes.

interface Unclosed {
  /** Where it opens. */
  readonly start: number;
  readonly bracket: "{" | "[";
  readonly closing: "}" | "]";
  /** Where it becomes clear that nothing closes it. */
  readonly noticed: number;
}

const CLOSING = { "{": "}", "[": "]" } as const;

/** Marks of the lexer that stand for no text: the start of a document, of a plain value, and the end of a bracket that it gives up. */
const DOCUMENT = "\u0002";
const SCALAR = "\u001f";
const GIVEN_UP = "\u0018";

/** The first: YAML's own error stands where the reader gives up, often lines below it. */
function findUnclosed(text: string, lexer: Lexer): Unclosed | null {
  const open: { start: number; bracket: "{" | "[" }[] = [];
  let offset = 0;
  let isLineStart = true;
  const unclosed = (): Unclosed | null => {
    const last = open.at(-1);
    return last === undefined ? null : { ...last, closing: CLOSING[last.bracket], noticed: offset };
  };
  for (const lexeme of lexer.lex(text)) {
    if (lexeme === DOCUMENT || lexeme === SCALAR) continue;
    if (lexeme === GIVEN_UP) return unclosed();
    // An entry of a list that is written line by line cannot stand within brackets.
    if (lexeme === "-" && isLineStart && open.length > 0) return unclosed();
    if (lexeme === "{" || lexeme === "[") open.push({ start: offset, bracket: lexeme });
    else if (lexeme === "}" || lexeme === "]") {
      const last = open.at(-1);
      if (last !== undefined && CLOSING[last.bracket] !== lexeme) return unclosed();
      open.pop();
    }
    isLineStart = lexeme === "\n" || lexeme === "\r\n" || (isLineStart && /^[ \t]*$/.test(lexeme));
    offset += lexeme.length;
  }
  return unclosed();
}

interface ForeignFormat {
  /** Of a line of it that no manifest has in its first column. */
  readonly pattern: RegExp;
  readonly name: string;
  readonly fix: string;
}

const FOREIGN: readonly ForeignFormat[] = [
  {
    pattern:
      /^(?:\$(?:ORIGIN|TTL|INCLUDE|GENERATE)[ \t]|[^\s#;:{]{1,255}[ \t]+(?:\d{1,10}[ \t]+)?IN[ \t]+[A-Z]{1,10}[ \t])/m,
    ...{ name: "a zone file", fix: "`tenon import --from zone` writes a project from zone files." },
  },
  {
    pattern: /^(?:resource|provider|terraform|variable|module|locals|data)[ \t]+(?:"[^"\n]{0,200}"[ \t]*){0,2}\{/m,
    ...{ name: "Terraform's configuration", fix: "`tenon import --from terraform` writes a project from its state." },
  },
];

/** Whoever writes that writes YAML, whatever else stands there. */
const OWN_START = /^(?:tenon|fleet):/m;

/** Further lines look like those of the first. */
const FOREIGN_CHARACTERS = 65_536;

/** Of a text that YAML cannot read: what it is, if other tools write it. @param noun `A manifest` */
export function foreignFormat(file: string, text: string, noun: string): Diagnostic | null {
  const head = text.slice(0, FOREIGN_CHARACTERS);
  if (OWN_START.test(head)) return null;
  for (const { pattern, name, fix } of FOREIGN) {
    const found = pattern.exec(head);
    if (found === null) continue;
    const span = { file, start: found.index, end: found.index + found[0].trimEnd().length };
    const detail = `${noun} is written in YAML.`;
    return { code: "foreign-format", severity: "error", summary: `${name}, not YAML`, detail, fix, span };
  }
  return null;
}
