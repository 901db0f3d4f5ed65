/** `$GENERATE` (BIND): one record for each number of a range. */

import { MAX_ENTRIES } from "./limits.ts";
import { Misread, type Place, shown } from "./problem.ts";
import { Scanner, type Token } from "./scan.ts";

export interface Range {
  readonly start: number;
  readonly stop: number;
  readonly step: number;
}

const MAX_NUMBER = 2 ** 31 - 1;
/** Digits beyond it are no part of any name, and of no text that needs them. */
const MAX_WIDTH = 255;

/** `1-10`, `0-30/10`. Throws `Misread`. */
export function readRange(token: Token): Range {
  const match = /^(\d{1,10})-(\d{1,10})(?:\/(\d{1,10}))?$/.exec(token.text);
  const [start, stop, step] = [Number(match?.[1]), Number(match?.[2]), Number(match?.[3] ?? 1)];
  if (match === null || start > stop || stop > MAX_NUMBER || step < 1) {
    throw malformed(
      token,
      `${shown(token.text)} is not a range: two numbers from 0 to ${MAX_NUMBER}, the smaller first, and a step.`,
    );
  }
  const count = Math.floor((stop - start) / step) + 1;
  if (count > MAX_ENTRIES) throw malformed(token, `The range has ${count} numbers, and ${MAX_ENTRIES} is the limit.`);
  return { start, stop, step };
}

/** The tokens of one record, each with the place of what it was made from. Throws `Misread`. */
export function generated(tokens: readonly Token[], value: number): Token[] {
  return tokens.map((token) => ({ ...token, text: expand(token, value) }));
}

/** The data of a record in one word or string, which BIND reads anew once the number is in it: `"10 mx$"`. */
export function generatedData(token: Token, value: number): Token[] {
  const entry = new Scanner(expand(token, value)).next();
  if (entry === null) return [];
  if (entry.misread !== null) throw new Misread(token, entry.misread.problem);
  return entry.tokens.map(({ text, quoted }) => ({ text, quoted, start: token.start, end: token.end }));
}

/** `$` is the number, `${offset,width,base}` something made of it, `$$` and `\$` a dollar sign. */
function expand(token: Token, value: number): string {
  if (!token.text.includes("$")) return token.text;
  return token.text.replace(/\\.|\$\$|\$(?:\{([^}]*)(\}?))?/gs, (found, inner?: string, closing?: string) => {
    if (found.startsWith("\\")) return found;
    if (found === "$$") return "\\$";
    if (inner === undefined) return String(value);
    const match = /^(-?\d{1,10})(?:,(\d{1,3})(?:,([doxXnN]))?)?$/.exec(inner);
    const width = Number(match?.[2] ?? 0);
    if (match === null || closing !== "}" || width > MAX_WIDTH) {
      const detail = `${shown(found)} is not \`\${offset,width,base}\`, with a width up to ${MAX_WIDTH} and a base of d, o, x, X, n or N.`;
      throw malformed(token, detail);
    }
    const shifted = value + Number(match[1]);
    if (shifted < 0) throw malformed(token, `${shown(found)} is less than 0 for ${value}.`);
    return based(shifted, width, match[3] ?? "d");
  });
}

function based(value: number, width: number, base: string): string {
  switch (base) {
    case "o":
      return value.toString(8).padStart(width, "0");
    case "x":
      return value.toString(16).padStart(width, "0");
    case "X":
      return value.toString(16).toUpperCase().padStart(width, "0");
    case "n":
      return nibbles(value, width);
    case "N":
      return nibbles(value, width).toUpperCase();
    default:
      return String(value).padStart(width, "0");
  }
}

/** Hexadecimal digits as labels, the last one first, as in `ip6.arpa`; the width counts the dots, too. */
function nibbles(value: number, width: number): string {
  let text = "";
  let rest = value;
  do {
    text += (rest % 16).toString(16);
    rest = Math.floor(rest / 16);
    if (text.length < width || rest > 0) text += ".";
  } while (text.length < width || rest > 0);
  return text;
}

function malformed(place: Place, detail: string): Misread {
  const fix = "Correct it, or write the records one by one.";
  return new Misread(place, { code: "bad-generate", summary: "bad `$GENERATE`", detail, fix });
}
