/** Which zone a file is of, if it says so itself. */

import { type Labels, nameText, readName } from "./name.ts";
import { Misread } from "./problem.ts";
import { type Entry, Scanner, type Token } from "./scan.ts";
import { readType } from "./types.ts";

/** What relative names end in while no origin is known: no name can have it, as labels are never empty. */
const UNKNOWN: Labels = [""];

/**
 * The owner of its SOA record if that is absolute, by itself or by `$ORIGIN`; else its first absolute `$ORIGIN`.
 * What cannot be read is passed over, and included files are not looked into.
 * @returns lower-case ASCII without a final dot; null if the file does not say
 */
export function findOrigin(text: string): string | null {
  const scanner = new Scanner(text);
  let origin = UNKNOWN;
  let owner: { readonly token: Token; readonly origin: Labels } | null = null;
  let first: string | null = null;
  for (let entry = scanner.next(); entry !== null; entry = scanner.next()) {
    const [word, argument] = entry.tokens;
    if (word === undefined) continue;
    if (!entry.indented && !word.quoted && word.text.toUpperCase() === "$ORIGIN") {
      origin = (argument && nameOf(argument, origin)) ?? origin;
      first ??= zoneOf(origin);
      continue;
    }
    if (!entry.indented) owner = { token: word, origin };
    if (owner !== null && isSoa(entry)) return zoneOf(nameOf(owner.token, owner.origin) ?? UNKNOWN) ?? first;
  }
  return first;
}

/** The type stands behind the owner, the TTL and the class. */
const MAX_WORDS_BEFORE_TYPE = 3;

function isSoa({ tokens, indented }: Entry): boolean {
  const first = indented ? 0 : 1;
  return tokens.slice(first, MAX_WORDS_BEFORE_TYPE + 1).some(({ text, quoted }) => !quoted && readType(text) === "SOA");
}

function nameOf(token: Token, origin: Labels): Labels | null {
  try {
    return readName(token, origin);
  } catch (error) {
    if (error instanceof Misread) return null;
    throw error;
  }
}

function zoneOf(name: Labels): string | null {
  return name.length === 0 || name.at(-1) === "" ? null : nameText(name);
}
