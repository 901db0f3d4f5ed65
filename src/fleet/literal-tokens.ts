/** Tokens that stand in a fleet file or a list of accounts themselves, where only the names of their places belong. */

import type { Places } from "../manifest/positions.ts";
import type { Diagnostic, Sources, Span } from "../model/diagnostic.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";

/** Services make longer tokens, of these characters and with digits. What is otherwise is a slip, a path or a command, and is shown. */
const TOKEN = /^(?=.*\d)[\w.~+=-]{16,}$/;
const VARIABLE = /^[A-Za-z_]\w*$/;
/** Tokens of the service, of which some could be a variable's name. */
const HEXADECIMAL = /^[\da-fA-F]{20,}$/;
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
    const span = isJsonObject(holder ?? null) ? findLiteral(holder as JsonObject, places) : null;
    if (span === null) return [];
    (holder as Record<string, Json>)["token"] = { env: CONCEALED };
    report(literalToken(span));
    return [span];
  });
  conceal(spans, sources);
}

/** In an account, or in the defaults. */
function findLiteral(holder: JsonObject, places: Places): Span | null {
  const { token } = holder;
  if (isLiteral(token)) return places.span(holder, "token");
  if (!isJsonObject(token ?? null)) return null;
  const fields = token as JsonObject;
  const key = Object.keys(fields).find((name) => name !== "file" && isLiteral(fields[name]));
  return key === undefined ? null : places.span(fields, key);
}

function isLiteral(value: Json | undefined): boolean {
  if (typeof value !== "string" && typeof value !== "number") return false;
  const text = String(value);
  return TOKEN.test(text) && (!VARIABLE.test(text) || HEXADECIMAL.test(text));
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
