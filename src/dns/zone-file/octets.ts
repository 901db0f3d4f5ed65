/** Octets written as text (RFC 1035, 5.1): `\X`, `\DDD`, and everything else as its UTF-8. */

import { Misread } from "./problem.ts";
import type { Token } from "./scan.ts";

/** One character from U+0000 to U+00FF for each octet. */
export type Octets = string;

/** One character as written: what it stands for, and how many UTF-16 units it takes. */
export interface Written {
  readonly octets: Octets;
  readonly length: number;
  readonly escaped: boolean;
}

export function utf8Octets(text: string): Octets {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** With `ignoreBOM` U+FEFF is kept like any other character. */
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @returns null if the octets are not UTF-8 */
export function utf8Text(octets: Octets): string | null {
  if (isAscii(octets)) return octets;
  try {
    return UTF8.decode(Buffer.from(octets, "latin1"));
  } catch {
    return null;
  }
}

/** Throws `Misread`. */
export function octetsOf(token: Token): Octets {
  const { text } = token;
  if (!text.includes("\\")) {
    if (isAscii(text)) return text;
    rejectReplacement(token);
    return utf8Octets(text);
  }
  let octets = "";
  for (let index = 0; index < text.length; ) {
    const written = writtenAt(token, index);
    octets += written.octets;
    index += written.length;
  }
  return octets;
}

/** Throws `Misread`. */
export function writtenAt(token: Token, index: number): Written {
  const { text } = token;
  if (text[index] !== "\\") return plainAt(token, index);
  const digits = /^\d{1,3}/.exec(text.slice(index + 1, index + 4))?.[0];
  if (digits === undefined && index + 1 < text.length) {
    const next = plainAt(token, index + 1);
    return { octets: next.octets, length: next.length + 1, escaped: true };
  }
  const octet = Number(digits);
  if (digits?.length === 3 && octet <= 255) return { octets: String.fromCharCode(octet), length: 4, escaped: true };
  throw new Misread(placeWithin(token, index, 1 + (digits?.length ?? 0)), {
    code: "bad-escape",
    summary: "a backslash that escapes nothing",
    detail: "After a backslash stands one character, or the three digits of an octet from 000 to 255 (RFC 1035, 5.1).",
    fix: "Write `\\\\` for a backslash itself.",
  });
}

function plainAt(token: Token, index: number): Written {
  const code = token.text.codePointAt(index) ?? 0;
  if (code < 0x80) return { octets: String.fromCharCode(code), length: 1, escaped: false };
  const character = String.fromCodePoint(code);
  if (character === "\ufffd") rejectReplacement(token);
  return { octets: utf8Octets(character), length: character.length, escaped: false };
}

/** Whoever reads a file as UTF-8 puts U+FFFD where it is not: the octets that were there are lost. */
function rejectReplacement(token: Token): void {
  const index = token.text.indexOf("\ufffd");
  if (index === -1) return;
  throw new Misread(placeWithin(token, index, 1), {
    code: "not-utf-8",
    summary: "an octet that is not UTF-8",
    detail: "Zone files are read as UTF-8, and what is here is not.",
    fix: "Save the file as UTF-8, or write each such octet as `\\DDD`, in decimal.",
  });
}

/** Of generated text (`$GENERATE`) only the place as a whole is known. */
function placeWithin(token: Token, index: number, length: number): { start: number; end: number } {
  const { start, end, text, quoted } = token;
  if (end - start !== text.length + (quoted ? 2 : 0)) return { start, end };
  const from = start + (quoted ? 1 : 0) + index;
  return { start: from, end: from + length };
}

export function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 0x7f) return false;
  return true;
}

/** What of a text needs no escape in quotes. */
const QUOTABLE = /^[ !#-[\]-~]*$/;

/** Octets in quotes, such that every reader reads the same octets. */
export function quoteOctets(octets: Octets): string {
  if (QUOTABLE.test(octets)) return `"${octets}"`;
  return `"${escapeOctets(octets, /["\\]/)}"`;
}

/** @param special what stands for something else where the octets are written */
export function escapeOctets(octets: Octets, special: RegExp): string {
  let text = "";
  for (const character of octets) {
    const code = character.charCodeAt(0);
    if (code < 0x20 || code > 0x7e) text += `\\${String(code).padStart(3, "0")}`;
    else text += special.test(character) ? `\\${character}` : character;
  }
  return text;
}
