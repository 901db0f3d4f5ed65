/** Divides a zone file into entries of words and strings (RFC 1035, 5.1): parentheses, comments, quotes. Linear, whatever the file. */

import type { Diagnostic } from "../../model/diagnostic.ts";
import { LOG_COMMAND, shortened } from "../../model/text.ts";

/** A word or a quoted string, without its quotes, with its escapes. The place includes the quotes. */
export interface Token extends Place {
  readonly text: string;
  readonly quoted: boolean;
}

/** One record or directive. */
export interface Entry {
  /** It begins with white space: its owner is the one before. */
  readonly indented: boolean;
  readonly tokens: readonly Token[];
  /** If it could not be divided: the tokens until then are there. */
  readonly syntaxProblem: PlacedProblem | null;
}

const TAB = 0x09;
const LINE_FEED = 0x0a;
const VERTICAL_TAB = 0x0b;
const FORM_FEED = 0x0c;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const OPENING = 0x28;
const CLOSING = 0x29;
const SEMICOLON = 0x3b;
const BACKSLASH = 0x5c;
const BYTE_ORDER_MARK = 0xfeff;

export class Scanner {
  readonly #text: string;
  /** Where parentheses open that nothing closes, ascending. */
  readonly #unclosed: readonly number[];
  #nextUnclosed = 0;
  #offset: number;
  #tokens: Token[] = [];
  #syntaxProblem: PlacedProblem | null = null;

  constructor(text: string) {
    this.#text = text;
    this.#unclosed = unclosedParentheses(text);
    this.#offset = text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0;
  }

  /** @returns null at the end of the file */
  next(): Entry | null {
    while (this.#offset < this.#text.length) {
      const indented = isBlank(this.#text.charCodeAt(this.#offset));
      this.#tokens = [];
      this.#syntaxProblem = null;
      this.#readEntry();
      if (this.#tokens.length > 0 || this.#syntaxProblem !== null) {
        return { indented, tokens: this.#tokens, syntaxProblem: this.#syntaxProblem };
      }
    }
    return null;
  }

  /** Reads one entry: to the line's end, or to the end of the line with the last closing parenthesis. */
  #readEntry(): void {
    let depth = 0;
    while (this.#offset < this.#text.length) {
      const code = this.#text.charCodeAt(this.#offset);
      if (isLineEnd(code)) {
        this.#offset = afterLineEnd(this.#text, this.#offset);
        if (depth === 0) return;
      } else if (isBlank(code)) {
        this.#offset += 1;
      } else if (isPageBreak(code)) {
        this.#fail(this.#offset, PAGE_BREAK);
        this.#offset += 1;
      } else if (code === SEMICOLON) {
        this.#offset = lineEndFrom(this.#text, this.#offset);
        if (isWithinComment(this.#text, this.#offset)) this.#fail(this.#offset, STRAY_CARRIAGE_RETURN);
      } else if (code === OPENING) {
        if (this.#isUnclosed()) {
          this.#giveUp();
          return;
        }
        depth += 1;
        this.#offset += 1;
      } else if (code === CLOSING) {
        if (depth === 0) this.#fail(this.#offset, STRAY_PARENTHESIS);
        else depth -= 1;
        this.#offset += 1;
      } else {
        this.#readToken(code === QUOTE);
      }
    }
  }

  #readToken(quoted: boolean): void {
    const start = this.#offset;
    const end = quoted ? stringEnd(this.#text, start) : wordEnd(this.#text, start);
    const isClosed = !quoted || this.#text.charCodeAt(end) === QUOTE;
    const after = quoted && isClosed ? end + 1 : end;
    this.#offset = after;
    if (!isClosed) {
      this.#fail(start, UNCLOSED_QUOTE);
    } else if (this.#tokens.length === MAX_TOKENS_PER_ENTRY) {
      this.#fail(start, TOO_MANY_TOKENS);
    } else if (this.#syntaxProblem === null) {
      const text = this.#text.slice(quoted ? start + 1 : start, end);
      this.#tokens.push({ text, quoted, start, end: after });
    }
  }

  #fail(offset: number, problem: Problem): void {
    this.#syntaxProblem ??= { place: { start: offset, end: offset + 1 }, problem };
  }

  #isUnclosed(): boolean {
    let at = this.#unclosed[this.#nextUnclosed];
    while (at !== undefined && at < this.#offset) {
      this.#nextUnclosed += 1;
      at = this.#unclosed[this.#nextUnclosed];
    }
    return at === this.#offset;
  }

  /** Nothing says where the entry was meant to end: at the next line that begins with a word, most likely. */
  #giveUp(): void {
    this.#fail(this.#offset, UNCLOSED_PARENTHESIS);
    do {
      this.#offset = afterLineEnd(this.#text, lineEndFrom(this.#text, this.#offset));
    } while (this.#offset < this.#text.length && continues(this.#text.charCodeAt(this.#offset)));
  }
}

const STRAY_PARENTHESIS: Problem = {
  code: "stray-parenthesis",
  summary: "a closing parenthesis without an opening one",
  detail: "Nothing before it opens a parenthesis that is still open.",
  fix: "Remove it, or put it in quotes if it is part of a text.",
};

const UNCLOSED_PARENTHESIS: Problem = {
  code: "unclosed-parenthesis",
  summary: "a parenthesis that nothing closes",
  detail: "The file ends before it is closed. Reading goes on at the next line that does not begin with white space.",
  fix: "Add `)` at the record's end, or put the parenthesis in quotes if it is part of a text.",
};

const UNCLOSED_QUOTE: Problem = {
  code: "unclosed-quote",
  summary: "a quote that nothing closes",
  detail: "The line ends before the quoted text does.",
  fix: 'Add `"` at its end; write a quote within the text as `\\"`, and a line break as `\\010`.',
};

const PAGE_BREAK: Problem = {
  code: "page-break",
  summary: "a form feed or vertical tab",
  detail:
    "Some name servers take it for a blank, and others for a part of the word (RFC 1035, 5.1, has blanks and tabs only).",
  fix: "Write a blank, or `\\012` or `\\011` where it is meant itself.",
};

const STRAY_CARRIAGE_RETURN: Problem = {
  code: "stray-carriage-return",
  summary: "a carriage return within a comment",
  detail: "Name servers go on with the comment until the next line feed; editors show what is behind it as a line.",
  fix: "Remove it, or end the line with a line feed.",
};

/** RFC 1035, 3.2.1: the length of a record's data takes 16 bits. */
export const MAX_RDATA_OCTETS: number = 65_535;

/** More than a TXT of empty strings has. */
const MAX_TOKENS_PER_ENTRY: number = MAX_RDATA_OCTETS + 10;

const TOO_MANY_TOKENS: Problem = {
  code: "too-long",
  summary: "a record that is too long",
  detail: `It has more than ${MAX_TOKENS_PER_ENTRY} words, and no record has room for as many.`,
  fix: "Shorten it, or look for a parenthesis that is closed too late.",
};

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

function isPageBreak(code: number): boolean {
  return code === FORM_FEED || code === VERTICAL_TAB;
}

/** A carriage return alone ends a line, too, as BIND has it everywhere but in a comment. */
function isLineEnd(code: number): boolean {
  return code === LINE_FEED || code === CARRIAGE_RETURN;
}

/** The beginning of a line that can belong to an entry above. */
function continues(code: number): boolean {
  return isBlank(code) || isLineEnd(code) || code === SEMICOLON || code === CLOSING;
}

/** @param offset of a line's end */
function afterLineEnd(text: string, offset: number): number {
  const isPair = text.charCodeAt(offset) === CARRIAGE_RETURN && text.charCodeAt(offset + 1) === LINE_FEED;
  return Math.min(offset + (isPair ? 2 : 1), text.length);
}

/** @param offset where a comment could end: at a carriage return that no line feed follows, for BIND it does not */
function isWithinComment(text: string, offset: number): boolean {
  let next = offset;
  while (text.charCodeAt(next) === CARRIAGE_RETURN) next += 1;
  return next > offset && next < text.length && text.charCodeAt(next) !== LINE_FEED;
}

function lineEndFrom(text: string, offset: number): number {
  let end = offset;
  while (end < text.length && !isLineEnd(text.charCodeAt(end))) end += 1;
  return end;
}

/** Behind the character at the offset, and behind the one that it escapes; never past a line's end. */
function afterCharacter(text: string, offset: number): number {
  if (text.charCodeAt(offset) !== BACKSLASH) return offset + 1;
  return offset + 1 < text.length && !isLineEnd(text.charCodeAt(offset + 1)) ? offset + 2 : offset + 1;
}

function wordEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && !endsWord(text.charCodeAt(end))) end = afterCharacter(text, end);
  return end;
}

function endsWord(code: number): boolean {
  if (code > SEMICOLON) return false;
  return (
    isBlank(code) ||
    isPageBreak(code) ||
    isLineEnd(code) ||
    code === QUOTE ||
    code === OPENING ||
    code === CLOSING ||
    code === SEMICOLON
  );
}

/** At the closing quote, or at the end of the line if there is none. */
function stringEnd(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && !isLineEnd(text.charCodeAt(end)) && text.charCodeAt(end) !== QUOTE) {
    end = afterCharacter(text, end);
  }
  return end;
}

/** What stands deeper in others that are never closed either is passed over with them. */
const MAX_UNCLOSED = 100_000;

/** Offsets of the opening parentheses that are never closed, ascending; of more than `MAX_UNCLOSED` the outermost. */
function unclosedParentheses(text: string): number[] {
  const open: number[] = [];
  let deeper = 0;
  let offset = 0;
  while (offset < text.length) {
    const code = text.charCodeAt(offset);
    if (code === SEMICOLON) offset = lineEndFrom(text, offset);
    else if (code === QUOTE) offset = stringEnd(text, offset) + 1;
    else {
      if (code === OPENING) {
        if (open.length < MAX_UNCLOSED) open.push(offset);
        else deeper += 1;
      } else if (code === CLOSING) {
        if (deeper > 0) deeper -= 1;
        else open.pop();
      }
      offset = afterCharacter(text, offset);
    }
  }
  return open;
}

// Names in a zone file: relative or absolute, escaped → labels of octets, within the bounds of RFC 1035, 2.3.4.

/** Absolute; the root has none. In the letter case they are written in. */
export type Labels = readonly Octets[];

const MAX_LABEL_OCTETS = 63;
/** The most octets of a name, with those of lengths and of the root. */
const MAX_NAME_OCTETS = 255;

/** `@` is the origin, and what has no final dot is relative to it. Throws `ZoneSyntaxError`. */
export function readName(token: Token, origin: Labels): Labels {
  const { text } = token;
  if (text === "@" && !token.quoted) return origin;
  if (text === ".") return [];
  if (text === "") throw badName(token, "An empty string is not a name.");
  const labels = text.includes("\\") || !isAscii(text) ? escapedLabels(token) : text.split(".");
  const isAbsolute = labels.at(-1) === "";
  if (isAbsolute) labels.pop();
  check(labels, token);
  const name = isAbsolute ? labels : [...labels, ...origin];
  let octetCount = 1;
  for (const label of name) octetCount += label.length + 1;
  if (octetCount > MAX_NAME_OCTETS) {
    const detail = `${shown(text)} has ${octetCount} octets as an absolute name, and a name has at most ${MAX_NAME_OCTETS} (RFC 1035, 2.3.4).`;
    throw badName(token, detail);
  }
  return name;
}

function check(labels: Labels, token: Token): void {
  for (const label of labels) {
    if (label === "") throw badName(token, `${shown(token.text)} has nothing between two dots, or begins with a dot.`);
    if (label.length > MAX_LABEL_OCTETS) {
      const detail = `${shown(label)} has ${label.length} octets, and a label has at most ${MAX_LABEL_OCTETS} (RFC 1035, 2.3.4).`;
      throw badName(token, detail);
    }
  }
}

function badName(place: Place, detail: string): ZoneSyntaxError {
  const problem: Problem = { code: "bad-name", summary: "not a name", detail, fix: "Correct the name." };
  return new ZoneSyntaxError(place, problem);
}

/** An escaped dot divides nothing. */
function escapedLabels(token: Token): Octets[] {
  const labels: Octets[] = [];
  let label = "";
  for (let index = 0; index < token.text.length; ) {
    const { octets, length, escaped } = writtenAt(token, index);
    if (octets === "." && !escaped) {
      labels.push(label);
      label = "";
    } else {
      label += octets;
    }
    index += length;
  }
  labels.push(label);
  return labels;
}

/** Lower case, without a final dot, `""` the root; what is not plain is escaped, so that no two names become one. */
export function nameText(name: Labels): string {
  return name
    .map((label) => (/^[\w/+*-]*$/.test(label) ? label : escapeLabel(label)))
    .join(".")
    .toLowerCase();
}

export function escapeLabel(label: Octets): string {
  return escapeOctets(label, /[.\\"();@$]/).replaceAll(" ", "\\032");
}

/** @param zone lower-case ASCII without a final dot */
export function labelsOf(zone: string): Labels {
  return zone === "" ? [] : zone.split(".");
}

// Octets written as text (RFC 1035, 5.1): `\X`, `\DDD`, and everything else as its UTF-8.

/** One character from U+0000 to U+00FF for each octet. */
export type Octets = string;

/** One character as written: what it stands for, and how many UTF-16 units it takes. */
interface Written {
  readonly octets: Octets;
  readonly length: number;
  readonly escaped: boolean;
}

export function utf8Octets(text: string): Octets {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** `ignoreBOM` keeps U+FEFF like any other character. */
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

/** Throws `ZoneSyntaxError`. */
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

/** Throws `ZoneSyntaxError`. */
function writtenAt(token: Token, index: number): Written {
  const { text } = token;
  if (text[index] !== "\\") return plainAt(token, index);
  const digits = /^\d{1,3}/.exec(text.slice(index + 1, index + 4))?.[0];
  if (digits === undefined && index + 1 < text.length) {
    const next = plainAt(token, index + 1);
    return { octets: next.octets, length: next.length + 1, escaped: true };
  }
  const octet = Number(digits);
  if (digits?.length === 3 && octet <= 255) return { octets: String.fromCharCode(octet), length: 4, escaped: true };
  throw new ZoneSyntaxError(placeWithin(token, index, 1 + (digits?.length ?? 0)), {
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
  throw new ZoneSyntaxError(placeWithin(token, index, 1), {
    code: "not-utf-8",
    summary: "an octet that is not UTF-8",
    detail: "Zone files are read as UTF-8, and what is here is not.",
    fix: "Save the file as UTF-8, or write each such octet as `\\DDD`, in decimal.",
  });
}

/** Generated text (`$GENERATE`) is known by its place as a whole. */
function placeWithin(token: Token, index: number, length: number): { start: number; end: number } {
  const { start, end, text, quoted } = token;
  if (end - start !== text.length + (quoted ? 2 : 0)) return { start, end };
  const from = start + (quoted ? 1 : 0) + index;
  return { start: from, end: from + length };
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 0x7f) return false;
  return true;
}

/** Characters that need no escape in quotes. */
const QUOTABLE = /^[ !#-[\]-~]*$/;

/** A zone file may be printed to a log. */
const HASH_ESCAPE = "\\035";

/** Octets in quotes, such that every reader reads the same octets. */
export function quoteOctets(octets: Octets): string {
  if (QUOTABLE.test(octets)) return `"${octets.replace(LOG_COMMAND, HASH_ESCAPE)}"`;
  return `"${escapeOctets(octets, /["\\]/)}"`;
}

/** @param special what stands for something else where the octets are written */
function escapeOctets(octets: Octets, special: RegExp): string {
  let text = "";
  for (const character of octets) {
    const code = character.charCodeAt(0);
    if (code < 0x20 || code > 0x7e) text += `\\${String(code).padStart(3, "0")}`;
    else text += special.test(character) ? `\\${character}` : character;
  }
  return text.replace(LOG_COMMAND, HASH_ESCAPE);
}

// Times in a zone file: seconds, or numbers with units, `1w2d3h4m5s` (BIND).

const UNIT_SECONDS: Readonly<Record<string, number>> = { w: 604_800, d: 86_400, h: 3_600, m: 60, s: 1 };

/** A word that can only be meant as a time. No type and no class begins with a digit. */
export function looksLikeTime(text: string): boolean {
  return /^\d/.test(text);
}

/** No time is longer, and a regular expression over megabytes of one would run out of stack. */
const MAX_TIME_CHARACTERS = 100;

/** In seconds, not yet held against any bound; or null. */
export function readSeconds(text: string): number | null {
  if (text.length > MAX_TIME_CHARACTERS) return null;
  if (/^\d+$/.test(text)) return Number(text);
  if (!/^(?:\d+[wdhms])+$/i.test(text)) return null;
  let seconds = 0;
  for (const [, count = "", unit = ""] of text.matchAll(/(\d+)([wdhms])/gi)) {
    seconds += Number(count) * (UNIT_SECONDS[unit.toLowerCase()] ?? 0);
  }
  return seconds;
}

// What is wrong with a zone file at one place.

/** UTF-16 offsets within one file. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

export type Problem = Required<Pick<Diagnostic, "code" | "summary" | "detail" | "fix">>;

interface PlacedProblem {
  readonly place: Place;
  readonly problem: Problem;
}

/** Carries a problem from wherever it is found within an entry to `readZoneFile`, which makes a value of it and goes on behind the entry. */
export class ZoneSyntaxError extends Error implements PlacedProblem {
  readonly problem: Problem;
  readonly place: Place;

  constructor(place: Place, problem: Problem) {
    super(problem.summary);
    this.place = place;
    this.problem = problem;
  }
}

/** A piece of the file as part of a sentence: a file can consist of one word. */
export function shown(text: string): string {
  return `\`${shortened(text)}\``;
}

// How much a zone file may ask of its reader.

/** API.md, Limits: active records per domain. */
export const MAX_RECORDS: number = 12_000;

/** Reading stops after this many records of any kind, generated ones and duplicates included. */
export const MAX_ENTRIES: number = 100_000;

/** UTF-8 octets of the file, of all that it includes, and of what `$GENERATE` makes. */
export const MAX_TOTAL_OCTETS: number = 64 * 1024 ** 2;

/** `$INCLUDE` within included files. */
export const MAX_INCLUDE_DEPTH: number = 10;

/** The same file included twice counts twice. */
export const MAX_INCLUDED_FILES: number = 500;

/** RFC 1035, 3.3: the length of a character string takes 8 bits. */
export const MAX_STRING_OCTETS: number = 255;

/** RFC 2181, 8. */
export const MAX_TTL_SECONDS: number = 2 ** 31 - 1;

/** Reading stops after this many errors. Warnings beyond this many are only counted. */
export const MAX_PROBLEMS: number = 100;
