/** Reads zone files (RFC 1035, 5; RFC 2308, 4; RFC 3597, 5; BIND's TTL units and `$GENERATE`): text → plain records with their places. */

import type { Diagnostic, Span } from "../../model/diagnostic.ts";
import type { SkippedRecord, SourceRecord } from "../record.ts";
import { RecordCollector, readRecordHeader, wordsBeforeType, type ZoneFileSoa } from "./accept.ts";
import {
  type Entry,
  type Labels,
  labelsOf,
  MAX_ENTRIES,
  MAX_INCLUDE_DEPTH,
  MAX_INCLUDED_FILES,
  MAX_TOTAL_OCTETS,
  nameText,
  type Place,
  type Problem,
  readName,
  Scanner,
  shown,
  type Token,
  ZoneSyntaxError,
} from "./lexer.ts";
import { readType, secondsOf } from "./rdata.ts";

interface ZoneFileOptions {
  /** Lower-case ASCII without a final dot: the origin at the start, whose apex SOA and NS are skipped. */
  readonly zone: string;
  /** Its name for spans: relative to the project, or as given on the command line. */
  readonly file: string;
  /** Reads the file that `$INCLUDE path` in file `from` names; `from` is `file`, or that of an included file. */
  include(path: string, from: string): Promise<IncludedFile>;
}

export type IncludedFile =
  | { readonly ok: true; readonly file: string; readonly text: string }
  /** One clause without a full stop; what to do, if it is not to correct the path. */
  | { readonly ok: false; readonly detail: string; readonly fix?: string };

export interface ZoneFileReading {
  /** In the order of the file. Here a TTL of 0 means "do not cache". The service cannot store that: its 0 means the zone's default. */
  readonly records: readonly SourceRecord[];
  readonly skipped: readonly SkippedRecord[];
  /** If there are errors, the records that could be read. */
  readonly diagnostics: readonly Diagnostic[];
  /** null: the zone's apex has none. */
  readonly soa: ZoneFileSoa | null;
  /** Those of the records whose TTL is that of a `$TTL` line, or of the SOA that stands for it. */
  readonly inheriting: ReadonlySet<SourceRecord>;
  /** Records of any kind that were read, generated ones and duplicates included. */
  readonly entryCount: number;
  /** Octets of the text and of all that it includes and generates. */
  readonly octets: number;
}

/**
 * Never rejects for what is in the file, or not there to be included.
 * @param text as decoded from UTF-8; a byte order mark may be there
 */
export async function readZoneFile(text: string, options: ZoneFileOptions): Promise<ZoneFileReading> {
  const reader = new Reader(options);
  await reader.readFile(text, options.file);
  return { ...reader.collector.result(), octets: reader.octets };
}

/** One file that is being read. */
interface OpenFile {
  readonly name: string;
  origin: Labels;
  /** The owner of the record before. null: there was none; "unknown": it could not be read, which has been reported. */
  owner: Labels | "unknown" | null;
  /** The `$INCLUDE` lines that lead to it, the outermost first. */
  readonly through: readonly Span[];
}

class Reader {
  readonly collector: RecordCollector;
  readonly #options: ZoneFileOptions;
  /** The files that are open, the outermost first. */
  readonly #open: OpenFile[] = [];
  #includedFiles = 0;
  #octets = 0;

  constructor(options: ZoneFileOptions) {
    this.#options = options;
    this.collector = new RecordCollector(options.zone);
  }

  get octets(): number {
    return this.#octets;
  }

  async readFile(text: string, name: string, origin = labelsOf(this.#options.zone), place?: Place): Promise<void> {
    // The file that is too large may be an included one: the place is that of its `$INCLUDE`.
    this.#count(Buffer.byteLength(text), this.#open.at(-1)?.name ?? name, place ?? { start: 0, end: 0 });
    if (this.collector.stopped) return;
    // As in BIND, an included file begins with the owner of the file that includes it.
    const above = this.#open.at(-1);
    const here =
      above === undefined || place === undefined ? [] : [{ file: above.name, start: place.start, end: place.end }];
    const file: OpenFile = { name, origin, owner: above?.owner ?? null, through: [...(above?.through ?? []), ...here] };
    this.#open.push(file);
    const scanner = new Scanner(text);
    for (let entry = scanner.next(); entry !== null && !this.collector.stopped; entry = scanner.next()) {
      try {
        await this.#readEntry(entry, file);
      } catch (error) {
        if (!(error instanceof ZoneSyntaxError)) throw error;
        this.collector.fail(name, error.place, error.problem);
      }
    }
    this.#open.pop();
  }

  #count(octets: number, file: string, place: Place): void {
    this.#octets += octets;
    if (this.#octets > MAX_TOTAL_OCTETS) this.collector.stop(file, place, TOO_LARGE);
  }

  async #readEntry(entry: Entry, file: OpenFile): Promise<void> {
    const directive = entry.indented ? null : directiveOf(entry.tokens[0]);
    if (directive === null) {
      this.#readRecord(entry, file);
      return;
    }
    if (entry.syntaxProblem !== null) throw new ZoneSyntaxError(entry.syntaxProblem.place, entry.syntaxProblem.problem);
    await this.#readDirective(directive, entry.tokens, file);
  }

  /** The owner counts for the lines that follow even if the rest cannot be read. */
  #readRecord(entry: Entry, file: OpenFile): void {
    const [first, ...others] = entry.tokens;
    if (!entry.indented) file.owner = "unknown";
    if (!entry.indented && first !== undefined) file.owner = readName(first, file.origin);
    if (entry.syntaxProblem !== null) throw new ZoneSyntaxError(entry.syntaxProblem.place, entry.syntaxProblem.problem);
    if (first === undefined || file.owner === "unknown") return;
    if (file.owner === null) throw new ZoneSyntaxError(first, NO_OWNER);
    const header = entry.indented ? readRecordHeader(entry.tokens, null) : readRecordHeader(others, first);
    const place = { start: first.start, end: (others.at(-1) ?? first).end };
    this.collector.addEntry(file.owner, header, file, place);
  }

  async #readDirective(directive: DirectiveName, tokens: readonly Token[], file: OpenFile): Promise<void> {
    switch (directive) {
      case "$ORIGIN":
        file.origin = readName(onlyToken(tokens, "a name"), file.origin);
        return;
      case "$TTL":
        this.collector.setDefaultTtl(secondsOf(onlyToken(tokens, "a time"), "TTL"));
        return;
      case "$INCLUDE":
        await this.#include(tokens, file);
        return;
      case "$GENERATE":
        this.#generate(tokens, file);
        return;
    }
  }

  async #include(tokens: readonly Token[], file: OpenFile): Promise<void> {
    const { path, origin } = includeOf(tokens);
    const start = origin === null ? file.origin : readName(origin, file.origin);
    this.#includedFiles += 1;
    if (this.#includedFiles > MAX_INCLUDED_FILES) {
      this.collector.stop(file.name, path, TOO_MANY_FILES);
      return;
    }
    const included = await this.#options.include(path.text, file.name);
    if (!included.ok) throw new ZoneSyntaxError(path, notIncluded(path.text, included.detail, included.fix));
    const names = [...this.#open.map(({ name }) => name), included.file];
    if (names.indexOf(included.file) < names.length - 1) throw new ZoneSyntaxError(path, loop(names));
    if (names.length - 1 > MAX_INCLUDE_DEPTH) throw new ZoneSyntaxError(path, tooDeep(names));
    await this.readFile(included.text, included.file, start, path);
  }

  /** The generated records have owners of their own: the one of the record before stays. */
  #generate(tokens: readonly Token[], file: OpenFile): void {
    const [directive, rangeToken, owner, ...rest] = tokens as readonly [Token, ...Token[]];
    if (rangeToken === undefined || owner === undefined || rest.length === 0) {
      throw new ZoneSyntaxError(tokens.at(-1) ?? directive, INCOMPLETE_GENERATE);
    }
    const { start, stop, step } = readRange(rangeToken);
    const place = { start: directive.start, end: lastToken(tokens).end };
    for (let value = start; value <= stop && !this.collector.stopped; value += step) {
      const [ownerWord = owner] = generated([owner], value);
      const header = readRecordHeader(rest, null);
      const [only, ...others] = header.rest;
      const data =
        only !== undefined && others.length === 0 ? generatedData(only, value) : generated(header.rest, value);
      this.#count(
        [ownerWord, ...data].reduce((sum, { text }) => sum + text.length, 0),
        file.name,
        place,
      );
      this.collector.addEntry(readName(ownerWord, file.origin), { ...header, rest: data }, file, place);
    }
  }
}

const NO_OWNER: Problem = {
  code: "missing-owner",
  summary: "a record without an owner",
  detail: "The line begins with white space, which means the owner of the record before, and there is none.",
  fix: "Begin the line with the owner, or `@` for the zone itself.",
};

const INCOMPLETE_GENERATE: Problem = {
  code: "bad-generate",
  summary: "bad `$GENERATE`",
  detail: "After `$GENERATE` stand a range, the owner, the type and the data.",
  fix: "Write, for example, `$GENERATE 1-9 host-$ A 192.0.2.$`.",
};

const TOO_LARGE: Problem = {
  code: "too-large",
  summary: "the zone file is too large",
  detail: `With all that it includes it has more than ${MAX_TOTAL_OCTETS / 1024 ** 2} MiB, where reading stops.`,
  fix: "Divide the zone.",
};

const TOO_MANY_FILES: Problem = {
  code: "too-many-includes",
  summary: "too many included files",
  detail: `More than ${MAX_INCLUDED_FILES} files are included, where reading stops.`,
  fix: "Put them together.",
};

function notIncluded(path: string, detail: string, fix = "Correct the path."): Problem {
  return {
    code: "include-failed",
    summary: "a file cannot be included",
    detail: `${shown(path)}: ${detail}.`,
    fix,
  };
}

/** @param names of the files from the outermost to the one that is not read */
function chain(names: readonly string[]): string {
  const [first = "", ...others] = names.map((name) => `\`${name}\``);
  return `${first} includes ${others.join(", which includes ")}`;
}

function loop(names: readonly string[]): Problem {
  const detail = `${chain(names)} again, without end.`;
  return { code: "include-loop", summary: "a file includes itself", detail, fix: "Remove one of these lines." };
}

function tooDeep(names: readonly string[]): Problem {
  const detail = `${chain(names)}: that is deeper than ${MAX_INCLUDE_DEPTH}, where reading stops.`;
  return { code: "include-depth", summary: "files include each other too deeply", detail, fix: "Put them together." };
}

// Lines that begin with a dollar sign (RFC 1035, 5.1; RFC 2308, 4; BIND): which they are, and what follows. All throw `ZoneSyntaxError`.

const DIRECTIVES = ["$ORIGIN", "$TTL", "$INCLUDE", "$GENERATE"] as const;

type DirectiveName = (typeof DIRECTIVES)[number];

/** @returns null if the word begins a record; an owner with a dollar sign in front is written `\$` */
function directiveOf(token: Token | undefined): DirectiveName | null {
  if (token === undefined || token.quoted || !token.text.startsWith("$")) return null;
  const directive = DIRECTIVES.find((name) => name === token.text.toUpperCase());
  if (directive !== undefined) return directive;
  throw new ZoneSyntaxError(token, {
    code: "unknown-directive",
    summary: `unknown directive ${shown(token.text)}`,
    detail: `${DIRECTIVES.map((name) => `\`${name}\``).join(", ")} are known.`,
    fix: "Remove the line; a name that begins with a dollar sign is written `\\$`.",
  });
}

/** The one word that follows. */
function onlyToken(tokens: readonly Token[], what: string): Token {
  const [directive, only, extra] = tokens as readonly [Token, ...Token[]];
  if (only === undefined) throw badDirective(directive, directive, `After it stands ${what}.`);
  if (extra !== undefined) throw badDirective(extra, directive, `After it stands ${what}, and nothing else.`);
  return only;
}

interface Include {
  readonly path: Token;
  readonly origin: Token | null;
}

function includeOf(tokens: readonly Token[]): Include {
  const [directive, path, origin, extra] = tokens as readonly [Token, ...Token[]];
  const detail = "After it stands a path, and an origin for what is included if it is to have another one.";
  if (path === undefined || path.text === "") throw badDirective(path ?? directive, directive, detail);
  if (extra !== undefined) throw badDirective(extra, directive, detail);
  return { path, origin: origin ?? null };
}

function lastToken(tokens: readonly Token[]): Place {
  return tokens.at(-1) ?? { start: 0, end: 0 };
}

function badDirective(place: Place, directive: Token, detail: string): ZoneSyntaxError {
  const word = shown(directive.text);
  return new ZoneSyntaxError(place, {
    code: "bad-directive",
    summary: `bad ${word}`,
    detail,
    fix: "Correct the line.",
  });
}

// `$GENERATE` (BIND): one record for each number of a range.

interface Range {
  readonly start: number;
  readonly stop: number;
  readonly step: number;
}

const MAX_NUMBER = 2 ** 31 - 1;
/** Digits beyond it are no part of any name, and of no text that needs them. */
const MAX_WIDTH = 255;

/** `1-10`, `0-30/10`. Throws `ZoneSyntaxError`. */
function readRange(token: Token): Range {
  const match = /^(\d{1,10})-(\d{1,10})(?:\/(\d{1,10}))?$/.exec(token.text);
  const [start, stop, step] = [Number(match?.[1]), Number(match?.[2]), Number(match?.[3] ?? 1)];
  if (match === null || start > stop || stop > MAX_NUMBER || step < 1) {
    throw badGenerate(
      token,
      `${shown(token.text)} is not a range: two numbers from 0 to ${MAX_NUMBER}, the smaller first, and a step.`,
    );
  }
  const count = Math.floor((stop - start) / step) + 1;
  if (count > MAX_ENTRIES) throw badGenerate(token, `The range has ${count} numbers, and ${MAX_ENTRIES} is the limit.`);
  return { start, stop, step };
}

/** The tokens of one record, each with the place of what it was made from. Throws `ZoneSyntaxError`. */
function generated(tokens: readonly Token[], value: number): Token[] {
  return tokens.map((token) => ({ ...token, text: expand(token, value) }));
}

/** The data of a record in one word or string, which BIND reads anew once the number is in it: `"10 mx$"`, `"\"a text\""`. */
function generatedData(token: Token, value: number): Token[] {
  const text = expand(token, value);
  const entry = new Scanner(
    token.quoted ? text.replace(/\\./gs, (pair) => (pair === '\\"' ? '"' : pair)) : text,
  ).next();
  if (entry === null) return [];
  if (entry.syntaxProblem !== null) throw new ZoneSyntaxError(token, entry.syntaxProblem.problem);
  return entry.tokens.map(({ text, quoted }) => ({ text, quoted, start: token.start, end: token.end }));
}

/** As in BIND: more than a record's data and its escapes need. A number takes up to 255 characters in place of six or seven. */
const MAX_GENERATED_CHARACTERS = 64 * 1024;

/** `$` is the number, `${offset,width,base}` something made of it, `$$` and `\$` a dollar sign. */
function expand(token: Token, value: number): string {
  if (!token.text.includes("$")) return token.text;
  let offset = 0;
  let characters = token.text.length;
  const counted = (text: string): string => {
    characters += text.length;
    if (characters > MAX_GENERATED_CHARACTERS) throw badGenerate(token, GENERATED_TOO_LONG);
    return text;
  };
  return token.text.replace(/\\.|\$\$|\$(?:\{([^}]*)(\}?))?/gs, (found, inner?: string, closing?: string) => {
    if (found.startsWith("\\")) return found;
    if (found === "$$") return "\\$";
    if (inner === undefined) {
      if (offset === 0) return counted(String(value));
      const detail = `\`$\` after \`\${${offset}}\` is ${value + offset} for BIND and ${value} for others.`;
      throw badGenerate(token, detail, "Write `${0}`, or the offset once more.");
    }
    const match = /^(-?\d{1,10})(?:,(\d{1,3})(?:,([doxXnN]))?)?$/.exec(inner);
    const width = Number(match?.[2] ?? 0);
    if (match === null || closing !== "}" || width > MAX_WIDTH) {
      const detail = `${shown(found)} is not \`\${offset,width,base}\`, with a width up to ${MAX_WIDTH} and a base of d, o, x, X, n or N.`;
      throw badGenerate(token, detail);
    }
    offset = Number(match[1]);
    const shifted = value + offset;
    if (shifted < 0) throw badGenerate(token, `${shown(found)} is less than 0 for ${value}.`);
    return counted(based(shifted, width, match[3] ?? "d"));
  });
}

const GENERATED_TOO_LONG = `With its numbers it has more than ${MAX_GENERATED_CHARACTERS.toLocaleString("en")} characters.`;

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

function badGenerate(
  place: Place,
  detail: string,
  fix = "Correct it, or write the records one by one.",
): ZoneSyntaxError {
  return new ZoneSyntaxError(place, { code: "bad-generate", summary: "bad `$GENERATE`", detail, fix });
}

// Which zone a file is of, if it says so itself.

/** The origin of relative names while none is known: no name can have it, as labels are never empty. */
const UNKNOWN: Labels = [""];

/** Names in lower-case ASCII without a final dot. */
interface FoundOrigin {
  /** The owner of its SOA record if that is absolute, by itself or by `$ORIGIN`; null: there is none. */
  readonly soa: string | null;
  /** Its first absolute `$ORIGIN`, if neither a record nor an `$INCLUDE` stands before it: they would be relative to the zone. */
  readonly first: string | null;
  /** Whether there is an absolute `$ORIGIN` behind such. */
  readonly hasLater: boolean;
}

/** What a file says of its zone. Lines that cannot be read are passed over, and included files, which may have the SOA, are not looked into. */
export function findOrigin(text: string): FoundOrigin {
  const scanner = new Scanner(text);
  let origin = UNKNOWN;
  let owner: { readonly token: Token; readonly origin: Labels } | null = null;
  let first: string | null = null;
  let [isBehind, hasLater] = [false, false];
  for (let entry = scanner.next(); entry !== null; entry = scanner.next()) {
    const [word, argument] = entry.tokens;
    if (word === undefined) continue;
    const directive = entry.indented || word.quoted || !word.text.startsWith("$") ? null : word.text.toUpperCase();
    if (directive === "$ORIGIN") {
      origin = (argument && nameOf(argument, origin)) ?? origin;
      if (isBehind) hasLater ||= zoneOf(origin) !== null;
      else first ??= zoneOf(origin);
      continue;
    }
    if (directive !== "$TTL") isBehind = true;
    if (directive !== null) continue;
    if (!entry.indented) owner = { token: word, origin };
    const soa = owner !== null && isSoa(entry) ? zoneOf(nameOf(owner.token, owner.origin) ?? UNKNOWN) : null;
    if (soa !== null) return { soa, first, hasLater };
  }
  return { soa: null, first, hasLater };
}

function isSoa({ tokens, indented }: Entry): boolean {
  const behindOwner = indented ? tokens : tokens.slice(1);
  const type = behindOwner[wordsBeforeType(behindOwner).index];
  return type !== undefined && !type.quoted && readType(type.text) === "SOA";
}

function nameOf(token: Token, origin: Labels): Labels | null {
  try {
    return readName(token, origin);
  } catch (error) {
    if (error instanceof ZoneSyntaxError) return null;
    throw error;
  }
}

function zoneOf(name: Labels): string | null {
  return name.length === 0 || name.at(-1) === "" ? null : nameText(name);
}
