/** Reads JSON files that Tenon wrote, and checks them against a schema. A file that cannot be used has a diagnostic code for each cause. */

import type { ValidateFunction } from "ajv/dist/2020.js";
import { readPackageFile } from "../files/package-files.ts";
import { compiledSchema } from "../files/schemas.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { MAX_HASHED_CHARACTERS } from "../model/map-key.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import { countEscaped } from "../model/text.ts";
import { escapeText } from "../render/terminal.ts";

/** The words of messages about one kind of file. */
export interface SavedKind {
  /** `plan file`. */
  readonly noun: string;
  /** The beginning of its codes, `plan-file`. */
  readonly code: string;
  /** The command that writes it. */
  readonly command: string;
}

const MAX_PROBLEMS_SHOWN = 5;
/** Collections inside collections; a plan has about ten. Code after the reader walks them by recursion. */
const MAX_NESTING_DEPTH = 64;
/** A plan of 300,000 records has about fifteen million. */
export const MAX_SAVED_VALUES = 16_000_000;
/** No more than the lists of an account may have: what shows them takes several characters for each. */
const MAX_ESCAPED_CHARACTERS = 4_194_304;

export type ParsedJson =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** @returns the value, or a diagnostic: `…-truncated` or `…-damaged` */
export function parseSavedJson(text: string, kind: SavedKind): ParsedJson {
  const excess = excessOf(text);
  if (excess !== null) return { ok: false, diagnostic: damaged(kind, [excess]) };
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    return {
      ok: false,
      diagnostic: isCutOff(text, message) ? truncated(kind, text) : damaged(kind, [withoutExcerpt(message)]),
    };
  }
}

/** V8's message quotes the beginning of the text, which may be another file than the user believes to have named. */
function withoutExcerpt(message: string): string {
  return message.replace(/,? (?:\.\.\.)?"[\s\S]*$/, "");
}

function excessOf(text: string): string | null {
  const size = sizeOf(text, MAX_SAVED_VALUES);
  if (size === "deep") return `it is nested more than ${MAX_NESTING_DEPTH} deep`;
  if (size === "long-key") return `it has a key of more than ${MAX_HASHED_CHARACTERS.toLocaleString("en")} characters`;
  if (countEscaped(text) > MAX_ESCAPED_CHARACTERS) {
    return `it has more than ${MAX_ESCAPED_CHARACTERS.toLocaleString("en")} characters that must be escaped`;
  }
  return size === "full" ? `it has more than ${MAX_SAVED_VALUES.toLocaleString("en")} values` : null;
}

/**
 * Counts brackets and commas outside of strings, since the parser would take gigabytes before it failed. Text that is no JSON is left for
 * the parser to refuse.
 * @returns how many values it has, or which limit it exceeds
 */
export function sizeOf(text: string, maxValues: number): number | "deep" | "full" | "long-key" {
  let depth = 0;
  let values = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === "[" || character === "{") {
      depth += 1;
      values += 1;
    } else if (character === "]" || character === "}") depth -= 1;
    else if (character === ",") values += 1;
    else if (character === '"') {
      const end = endOfString(text, index);
      // V8 finds keys of one length that are so long one after the other.
      if (end - index - 1 > MAX_HASHED_CHARACTERS && isKey(text, end)) return "long-key";
      index = end;
    }
    if (depth > MAX_NESTING_DEPTH) return "deep";
    if (values > maxValues) return "full";
  }
  return values;
}

/** @param end of a string */
function isKey(text: string, end: number): boolean {
  let index = end + 1;
  while (index < text.length && " \t\r\n".includes(text[index] as string)) index += 1;
  return text[index] === ":";
}

/** @returns where the string that begins at `start` ends, or the end of the text */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text[index] !== '"') index += text[index] === "\\" ? 2 : 1;
  return index;
}

/** Whether the JSON is cut off: V8's message says so, or names a position at the very end. */
function isCutOff(text: string, message: string): boolean {
  if (text.trim() === "" || message.includes("Unexpected end of JSON input")) return true;
  const position = /at position (\d+)/.exec(message)?.[1];
  return position !== undefined && Number(position) >= text.trimEnd().length;
}

function truncated({ noun, code, command }: SavedKind, text: string): Diagnostic {
  return {
    code: `${code}-truncated`,
    severity: "error",
    summary: text.trim() === "" ? `the ${noun} is empty` : `the ${noun} is truncated: its end is missing`,
    detail: "It was probably not written or copied to the end.",
    fix: `Write it again with ${command}.`,
  };
}

/** @param problems clauses */
export function damaged({ noun, code, command }: SavedKind, problems: readonly string[]): Diagnostic {
  const shown = problems.slice(0, MAX_PROBLEMS_SHOWN).map(escapeText);
  const more = problems.length > shown.length ? [`and ${problems.length - shown.length} more`] : [];
  return {
    code: `${code}-damaged`,
    severity: "error",
    summary: `the ${noun} is damaged: it is not what ${command.replace(" FILE", "")} writes`,
    detail: `${[...shown, ...more].join("; ")}.`,
    fix: `Write it again with ${command}.`,
  };
}

export function newer({ noun, code }: SavedKind, version: number, known: number, fix: string): Diagnostic {
  return {
    code: `${code}-newer`,
    severity: "error",
    summary: `the ${noun} has format version ${version}; this version of tenon reads up to ${known}`,
    detail: "It was written by a newer tenon, and may say what this one does not understand.",
    fix,
  };
}

export function older({ noun, code, command }: SavedKind, version: number, known: number): Diagnostic {
  return {
    code: `${code}-older`,
    severity: "error",
    summary: `the ${noun} has format version ${version}; this version of tenon reads ${known}`,
    detail: "It was written by an older tenon, and does not say all that this one needs to know.",
    fix: `Write it again with ${command}.`,
  };
}

/**
 * @param schema its path in the package
 * @returns the first thing in which `value` does not fit it, as a clause; empty if it fits
 * @throws if the schema cannot be read
 */
export async function schemaProblems(value: Json, schema: string): Promise<string[]> {
  const validate = await validatorOf(schema);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${instancePath || "/"} ${message ?? "is not valid"}`,
  );
}

/** Each schema is compiled once: compiling takes longer than checking a file. */
const validators: Map<string, Promise<ValidateFunction>> = new Map();

/** The validator of a schema, for one who checks many values: it keeps the first thing that does not fit. */
export function validatorOf(schema: string): Promise<ValidateFunction> {
  const compiled = validators.get(schema) ?? compile(schema);
  validators.set(schema, compiled);
  return compiled;
}

async function compile(schema: string): Promise<ValidateFunction> {
  return compiledSchema(JSON.parse(readPackageFile(schema)) as JsonObject, "first");
}
