/** Address and name globs: `*` matches any text, `/` and dots included; `\*` is a star. */

import { groupBy } from "./group.ts";

/** Whether `text` fits `glob`, case-sensitively. */
export function globMatches(glob: string, text: string): boolean {
  return compileGlob(glob)(text);
}

/**
 * `globMatches` for a glob that many texts are compared with. Each part between two stars is searched for once, behind the one before
 * it. The first match is as good as a later one, so there is no backtracking.
 */
export function compileGlob(glob: string): (text: string) => boolean {
  const parts = partsOf(glob);
  const first = parts[0] ?? "";
  if (parts.length === 1) return (text) => text === first;
  const last = parts.at(-1) ?? "";
  const between = parts.slice(1, -1);
  return (text) => {
    const end = text.length - last.length;
    if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
    let position = first.length;
    for (const part of between) {
      const found = text.indexOf(part, position);
      if (found === -1) return false;
      position = found + part.length;
      if (position > end) return false;
    }
    return true;
  };
}

/** What stands literally before, between and after the stars. */
function partsOf(glob: string): string[] {
  const parts = [""];
  for (const token of tokenise(glob)) {
    if (token === STAR) parts.push("");
    else parts[parts.length - 1] += token;
  }
  return parts;
}

/** Text that a glob takes literally: stars are escaped. */
export function escapeGlob(text: string): string {
  return text.replace(/[\\*]/g, (character) => `\\${character}`);
}

export interface CoveringGlob {
  readonly glob: string;
  /** How many of the addresses it matches; no other glob beside it matches any of them. */
  readonly count: number;
}

/**
 * Globs of one star each that together match all of `addresses` and none of `others`: one if one can, else one for each part that
 * has a beginning of its own. Linear in the characters of both, times the depth at which they part.
 */
export function globsFor(addresses: readonly string[], others: readonly string[]): CoveringGlob[] {
  const sort = (texts: readonly string[]) => [...new Set(texts)].sort();
  return globsWithin(sort(addresses), sort(others));
}

/** Both are sorted. */
function globsWithin(addresses: readonly string[], others: readonly string[]): CoveringGlob[] {
  const [first = "", last = first] = [addresses[0], addresses.at(-1)];
  if (first === last) return addresses.length === 0 ? [] : [{ glob: escapeGlob(first), count: 1 }];
  const prefix = first.slice(0, sharedStart(first, last));
  const suffix = addresses.reduce((shared, text) => {
    const length = sharedEnd(shared, text.slice(prefix.length));
    return length === 0 ? "" : shared.slice(-length);
  }, first.slice(prefix.length));
  const near = others.filter((other) => other.startsWith(prefix));
  const glob = `${escapeGlob(prefix)}*${escapeGlob(suffix)}`;
  if (!near.some((other) => other.length >= prefix.length + suffix.length && other.endsWith(suffix)))
    return [{ glob, count: addresses.length }];
  const nextOf = (text: string): number | undefined => text.codePointAt(prefix.length);
  const nearParts = groupBy(near, nextOf);
  return [...groupBy(addresses, nextOf)].flatMap(([next, part]) => globsWithin(part, nearParts.get(next) ?? []));
}

/** Never within a character of two code units. */
function sharedStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return /[\uD800-\uDBFF]/.test(a[length - 1] ?? "") ? length - 1 : length;
}

function sharedEnd(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a.at(-1 - length) === b.at(-1 - length)) length += 1;
  return length > 0 && /[\uDC00-\uDFFF]/.test(a.at(-length) ?? "") ? length - 1 : length;
}

/** Whether the glob can match `address` or anything beneath it. May be wrong only by saying yes. */
export function mayMatchWithin(glob: string, address: string): boolean {
  const tokens = tokenise(glob);
  const star = tokens.indexOf(STAR);
  const prefix = tokens.slice(0, star === -1 ? tokens.length : star).join("");
  return prefix.startsWith(`${address}/`) || `${address}/`.startsWith(prefix);
}

const STAR = Symbol("star");

function tokenise(glob: string): (string | typeof STAR)[] {
  const tokens: (string | typeof STAR)[] = [];
  for (let index = 0; index < glob.length; index += 1) {
    const character = glob[index] as string;
    const next = glob[index + 1];
    if (character === "\\" && (next === "*" || next === "\\")) {
      tokens.push(next);
      index += 1;
    } else if (character !== "*") {
      tokens.push(character);
    } else if (tokens.at(-1) !== STAR) {
      tokens.push(STAR);
    }
  }
  return tokens;
}
