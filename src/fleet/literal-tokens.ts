/** Tokens that stand in a fleet file or a list of accounts themselves, where only the names of their places belong. */

import type { Places } from "../manifest/positions.ts";
import type { Diagnostic, Sources, Span } from "../model/diagnostic.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";
import { ACCOUNT_KEYS } from "./schema.ts";

/** Services make longer tokens, of these characters and with digits. What is otherwise is a slip, a path or a command, and is shown. */
const TOKEN = /^(?=.*\d)[\w.~+=-]{16,}$/;
const VARIABLE = /^[A-Za-z_]\w*$/;
/** Tokens of the service, of which some could be a variable's name. */
const HEXADECIMAL = /^[\da-fA-F]{20,}$/;
/** What may stand beside a token: `Bearer`, `Authorization: token`, `TOKEN=`, quotes. */
const BESIDE = /[\s"'`:;,]+|(?<=^|[\s"'`:;,])\w+=(?=.)/;
/** In the place of a token: a fleet file with an error is not used. */
const CONCEALED = "TOKEN";

interface Concealment {
  readonly places: Places;
  /** In it the characters of the tokens are replaced, as messages show lines of it. */
  readonly sources: Sources;
  readonly report: (diagnostic: Diagnostic) => void;
}

/**
 * Reports each token that stands in the file as `literal-token`, and takes it out of the tree and of the sources.
 * @param tree of a fleet file, not yet validated
 */
export function concealTokens(tree: JsonObject, { places, sources, report }: Concealment): void {
  const spans = [tree["defaults"], tree["accounts"]].flat().flatMap((holder) => {
    if (!isJsonObject(holder ?? null)) return [];
    const found = concealIn(holder as Record<string, Json>, places);
    // One token may stand at several places: it is revoked once.
    if (found[0] !== undefined) report(literalToken(found[0]));
    return found;
  });
  conceal(spans, sources);
}

/** @param holder an account, or the defaults @returns where its tokens stand */
function concealIn(holder: Record<string, Json>, places: Places): Span[] {
  return Object.entries(holder).flatMap(([key, value]) => {
    // A misspelt `token` is none of an account's keys.
    const isOther = key === "base_url" ? !hasCredentials(value) : ACCOUNT_KEYS.has(key) || key.startsWith("x-");
    if (isOther) return [];
    const spans = key === "base_url" ? [places.span(holder, key)] : findLiterals(holder, key, places);
    if (spans.length > 0) holder[key] = key === "token" ? { env: CONCEALED } : CONCEALED;
    if (!isLiteral(key)) return spans;
    delete holder[key];
    return [...spans, places.keySpan(holder, key)];
  });
}

/** `https://user:token@host`. */
function hasCredentials(value: Json): boolean {
  return typeof value === "string" && /^[^/]*\/\/[^/?#]*@/.test(value);
}

/** In the value of a key, at any depth, keys included. A manifest is no deeper than its reader allows. */
function findLiterals(holder: object, key: string | number, places: Places): Span[] {
  const value = (holder as Record<string | number, Json>)[key] ?? null;
  if (isLiteral(value)) return [places.span(holder, key)];
  if (Array.isArray(value)) return value.flatMap((_, index) => findLiterals(value, index, places));
  if (!isJsonObject(value)) return [];
  return Object.keys(value).flatMap((name) => [
    ...(isLiteral(name) ? [places.keySpan(value, name)] : []),
    // The path of a file may look like a token.
    ...(name === "file" && typeof value[name] === "string" ? [] : findLiterals(value, name, places)),
  ]);
}

function isLiteral(value: Json): boolean {
  if (typeof value !== "string" && typeof value !== "number") return false;
  return String(value)
    .split(BESIDE)
    .some((text) => TOKEN.test(text) && (!VARIABLE.test(text) || HEXADECIMAL.test(text)));
}

/** The text keeps its length and its lines, so that every position in it stays true. */
function conceal(spans: readonly Span[], sources: Sources): void {
  for (const file of new Set(spans.map((span) => span.file))) {
    const text = sources.text(file) ?? "";
    let [concealed, done] = ["", 0];
    for (const { start, end } of spans.filter((span) => span.file === file).sort((a, b) => a.start - b.start)) {
      concealed += text.slice(done, start) + text.slice(Math.max(start, done), end).replace(/[^\r\n]/g, "*");
      done = Math.max(done, end);
    }
    sources.add(file, concealed + text.slice(done));
  }
}

function literalToken(span: Span): Diagnostic {
  return {
    code: "literal-token",
    severity: "error",
    summary: "a token stands in the file",
    detail: "Whoever can read the file, or its history, has the token. Its characters are not shown here.",
    fix: "Name its place instead, for example `token: { env: NAME }`, and revoke this token.",
    span,
  };
}
