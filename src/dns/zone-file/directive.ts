/** Lines that begin with a dollar sign (RFC 1035, 5.1; RFC 2308, 4; BIND): which they are, and what follows. All throw `Misread`. */

import { Misread, type Place, shown } from "./problem.ts";
import type { Token } from "./scan.ts";

const DIRECTIVES = ["$ORIGIN", "$TTL", "$INCLUDE", "$GENERATE"] as const;

export type DirectiveName = (typeof DIRECTIVES)[number];

/** @returns null if the word begins a record; an owner with a dollar sign in front is written `\$` */
export function directiveOf(token: Token | undefined): DirectiveName | null {
  if (token === undefined || token.quoted || !token.text.startsWith("$")) return null;
  const directive = DIRECTIVES.find((name) => name === token.text.toUpperCase());
  if (directive !== undefined) return directive;
  throw new Misread(token, {
    code: "unknown-directive",
    summary: `unknown directive ${shown(token.text)}`,
    detail: `${DIRECTIVES.map((name) => `\`${name}\``).join(", ")} are known.`,
    fix: "Remove the line; a name that begins with a dollar sign is written `\\$`.",
  });
}

/** The one word that follows. */
export function onlyToken(tokens: readonly Token[], what: string): Token {
  const [directive, only, extra] = tokens as readonly [Token, ...Token[]];
  if (only === undefined) throw malformed(directive, directive, `After it stands ${what}.`);
  if (extra !== undefined) throw malformed(extra, directive, `After it stands ${what}, and nothing else.`);
  return only;
}

export interface Include {
  readonly path: Token;
  readonly origin: Token | null;
}

export function includeOf(tokens: readonly Token[]): Include {
  const [directive, path, origin, extra] = tokens as readonly [Token, ...Token[]];
  const detail = "After it stands a path, and an origin for what is included if it is to have another one.";
  if (path === undefined || path.text === "") throw malformed(path ?? directive, directive, detail);
  if (extra !== undefined) throw malformed(extra, directive, detail);
  return { path, origin: origin ?? null };
}

export function lastToken(tokens: readonly Token[]): Place {
  return tokens.at(-1) ?? { start: 0, end: 0 };
}

function malformed(place: Place, directive: Token, detail: string): Misread {
  const word = shown(directive.text);
  return new Misread(place, { code: "bad-directive", summary: `bad ${word}`, detail, fix: "Correct the line." });
}
