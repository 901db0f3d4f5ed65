/** Punycode and Unicode: a name as the DNS has it, and as a reader sees it, where it cannot be taken for another name. */

import { domainToASCII, domainToUnicode } from "node:url";
import { compileGlob, compileWithin } from "../model/text.ts";

/** RFC 1035, 2.3.4: octets in a label, and characters in a name without its final dot. */
export const MAX_LABEL_LENGTH = 63;
export const MAX_NAME_LENGTH = 253;

/**
 * A name in lower-case ASCII: labels with other letters become punycode (UTS 46), all else is kept, and so is what is too long for a label.
 * Only labels with non-ASCII letters go through IDNA: `10` is a label, not an address. Beside such letters a label has no ASCII but letters,
 * digits, `-`, `_`, `+` and stars.
 * @returns null if a label has no punycode form
 */
export function toAscii(name: string): string | null {
  if (isAscii(name)) return name.toLowerCase();
  // UTS 46 maps ideographic full stops to dots before labels are told apart.
  const labels = name.replace(/[\u3002\uff0e\uff61]/g, ".").split(".");
  const converted: string[] = [];
  for (const label of labels) {
    const ascii = isAscii(label) ? label.toLowerCase() : labelToAscii(label);
    if (ascii === null) return null;
    converted.push(ascii);
  }
  return converted.join(".");
}

/**
 * Node reads a label as the host of a URL, which ends at a slash, `?`, `#` or backslash, whose `%41` is a letter, and from which tabs and line
 * ends are left out: `www/ü` would become `www`. What else is no part of a name is not left to it either.
 */
const CUT_BY_URLS = /(?![\w*+-])\p{ASCII}/u;

function labelToAscii(label: string): string | null {
  // Punycode takes time in the square of the length, and has an octet at least for each letter.
  if (label.length > 2 * MAX_LABEL_LENGTH && [...label].length > MAX_LABEL_LENGTH) return label;
  if (CUT_BY_URLS.test(label)) return null;
  // An underscore prefix (RFC 8552) is no IDNA letter, but may stand before one.
  const ascii = domainToASCII(label);
  return ascii === "" || ascii.includes(".") ? null : ascii;
}

/** In Unicode; a label that cannot be read as punycode comes back as it is. */
function labelToUnicode(label: string): string {
  return /^xn--[\w+-]*$/i.test(label) ? domainToUnicode(label) || label : label;
}

/** Whether a label has ASCII characters beside others that no name has there, so that it stands for nothing but itself as it is written. */
export function isUnfitLabel(label: string): boolean {
  return !isAscii(label) && CUT_BY_URLS.test(label.replaceAll("\\*", "*"));
}

export function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 127) return false;
  return true;
}

// The Unicode form of a name in punycode.

let scripts: readonly RegExp[] | null = null;

/**
 * What a label may be written in: one script, or those that are always written together (UTS 39, 5.2). Made when the first such label is
 * looked at: to read Unicode's tables takes as long as to plan a small zone.
 */
function scriptsOfLabels(): readonly RegExp[] {
  scripts ??= [
    /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Common}\p{Script=Inherited}]+$/u,
    /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Common}\p{Script=Inherited}]+$/u,
    ...[
      "Latin",
      "Greek",
      "Cyrillic",
      "Armenian",
      "Georgian",
      "Devanagari",
      "Bengali",
      "Gurmukhi",
      "Gujarati",
      "Tamil",
      "Telugu",
      "Kannada",
      "Malayalam",
      "Sinhala",
      "Thai",
      "Lao",
      "Khmer",
      "Myanmar",
      "Ethiopic",
    ].map((script) => new RegExp(`^[\\p{Script=${script}}\\p{Script=Common}\\p{Script=Inherited}]+$`, "u")),
  ];
  return scripts;
}

/** The ranges that Unicode keeps for scripts written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Letters, marks, digits, hyphens: what IDNA2008 has (RFC 5892), so no symbols and no emoji. */
const WRITTEN = /^[\p{L}\p{M}\p{Nd}-]+$/u;

/** Letters of Cyrillic, Greek and Latin's own alphabets that look like one of a to z; a label of nothing else is a disguise. */
const LOOKALIKES = "асԁеһіјӏорԛѕԝхуъьҽпгѵѡαικνορτυωγεηıɡɑ";
/** The letters that they look like, one for one. */
const LOOKED_LIKE = "acdehijlopqswxybbenrvwaikvoptuwyeniga";
const DISGUISE = new RegExp(`^[${LOOKALIKES}0-9a-z-]+$`, "u");

/**
 * `xn--bro-hoa.example` → `büro.example`; or null: it is not in punycode, does not come back to the same name, mixes scripts
 * in a label, runs from right to left, or can be mistaken for a name in plain ASCII.
 * @param name lower-case ASCII without a final dot
 */
export function unicodeName(name: string): string | null {
  if (name.length > MAX_NAME_LENGTH || !/(^|\.)xn--/.test(name)) return null;
  const labels: string[] = [];
  for (const label of name.split(".")) {
    const unicode = label.startsWith("xn--") ? unicodeLabel(label) : label;
    if (unicode === null) return null;
    labels.push(unicode);
  }
  return labels.join(".");
}

function unicodeLabel(label: string): string | null {
  const unicode = labelToUnicode(label);
  if (unicode === label || toAscii(unicode) !== label) return null;
  if (!WRITTEN.test(unicode) || RIGHT_TO_LEFT.test(unicode) || DISGUISE.test(unicode)) return null;
  return scriptsOfLabels().some((script) => script.test(unicode)) ? unicode : null;
}

export interface Disguise {
  readonly shown: string;
  /** In plain ASCII, what it is taken for; null: it mixes scripts. */
  readonly as: string | null;
}

/**
 * How a name in punycode deceives whoever sees it as letters; null: it does not, or cannot be read. A word that has only such letters
 * of its own script (`сор`) is reported, too: nothing in it says which is meant.
 * @param name lower-case ASCII without a final dot
 */
export function disguiseOf(name: string): Disguise | null {
  if (name.length > MAX_NAME_LENGTH || !/(^|\.)xn--/.test(name)) return null;
  const labels = name.split(".").map((label) => {
    const shown = labelToUnicode(label);
    const isDisguise = shown !== label && DISGUISE.test(shown);
    const isMixed =
      shown !== label && !isDisguise && WRITTEN.test(shown) && !scriptsOfLabels().some((script) => script.test(shown));
    return { shown, as: isDisguise ? plainOf(shown) : label, isDisguise, isMixed };
  });
  const shown = labels.map((label) => label.shown).join(".");
  if (labels.some(({ isDisguise }) => isDisguise)) return { shown, as: labels.map(({ as }) => as).join(".") };
  return labels.some(({ isMixed }) => isMixed && !RIGHT_TO_LEFT.test(shown)) ? { shown, as: null } : null;
}

function plainOf(label: string): string {
  return [...label].map((letter) => [...LOOKED_LIKE][[...LOOKALIKES].indexOf(letter)] ?? letter).join("");
}

/**
 * A glob for names, in any spelling: in Unicode or punycode, in capitals, with a final dot or without one. A star within a label in Unicode
 * stands for letters of Unicode, so names are also compared as Unicode writes them.
 * @returns whether a name in lower-case ASCII without a final dot fits the glob
 */
export function compileNameGlob(glob: string): (name: string) => boolean {
  const written = glob.normalize("NFC").toLowerCase();
  const undotted = written.length > 1 && written.endsWith(".") ? written.slice(0, -1) : written;
  const fitsAscii = compileGlob(isAscii(undotted) ? undotted : (toAscii(undotted) ?? undotted));
  if (isAscii(undotted)) return fitsAscii;
  const fitsUnicode = compileGlob(undotted);
  return (name) => fitsAscii(name) || (name.includes("xn--") && fitsUnicode(inUnicode(name)));
}

/** Names in Unicode. A record's names are compared with a thousand patterns one after another. */
const inUnicodeKnown: Map<string, string> = new Map();
const MAX_KNOWN_NAMES = 1_000;

/** For comparison only: what is shown goes through `unicodeName`. What is too long for a name stays as it is. */
function inUnicode(name: string): string {
  if (name.length > MAX_NAME_LENGTH) return name;
  const known = inUnicodeKnown.get(name);
  if (known !== undefined) return known;
  if (inUnicodeKnown.size >= MAX_KNOWN_NAMES) inUnicodeKnown.clear();
  const unicode = name.split(".").map(labelToUnicode).join(".");
  inUnicodeKnown.set(name, unicode);
  return unicode;
}

// Addresses: a domain's name in one, and the names of its records, may be written in Unicode, too.

const DOMAIN = "domain/";

/**
 * An address, or a glob of addresses, as plans spell it: `domain/bücher.example/www/A` → `domain/xn--bcher-kva.example/www/A`. A label that has
 * a star beside other letters than ASCII (`bü*`) has no such form and keeps them, in lower case: `compileAddressGlob` compares it by letters.
 * What is ASCII, and what is no address of a domain, comes back as it is.
 */
export function asciiAddress(address: string): string {
  if (isAscii(address) || !address.startsWith(DOMAIN)) return address;
  const [kind = "", zone = "", record, ...rest] = address.split("/");
  return [kind, asciiGlob(zone), ...(record === undefined ? [] : [asciiGlob(record)]), ...rest].join("/");
}

function asciiGlob(name: string): string {
  const labels = name
    .normalize("NFC")
    .replace(/[\u3002\uff0e\uff61]/g, ".")
    .split(".");
  const spelt = labels.map((label) => {
    const written = isAscii(label) ? label : label.toLowerCase();
    return written.includes("*") ? written : (toAscii(written) ?? written);
  });
  return spelt.join(".");
}

/** @returns whether an address of a plan fits the glob, which may have a domain's name in Unicode, or a part of one */
export function compileAddressGlob(glob: string): (address: string) => boolean {
  return comparedByLetters(glob, compileGlob);
}

/** As `compileWithin`, for a glob as `compileAddressGlob` takes it. May be wrong only by saying yes. */
export function compileWithinAddress(glob: string): (address: string) => boolean {
  return comparedByLetters(glob, compileWithin);
}

function comparedByLetters(
  glob: string,
  compile: (glob: string) => (address: string) => boolean,
): (address: string) => boolean {
  const ascii = asciiAddress(glob);
  const fitsAscii = compile(ascii);
  if (isAscii(ascii)) return fitsAscii;
  const fitsLetters = compile(inLetters(ascii));
  return (address) =>
    fitsAscii(address) || (address.startsWith(DOMAIN) && address.includes("xn--") && fitsLetters(inLetters(address)));
}

/** For comparison only. One address is mostly compared with one glob after another. */
function inLetters(address: string): string {
  if (lastInLetters.address !== address) {
    lastInLetters = { address, letters: address.normalize("NFC").split("/").map(inUnicode).join("/") };
  }
  return lastInLetters.letters;
}

let lastInLetters = { address: "", letters: "" };
