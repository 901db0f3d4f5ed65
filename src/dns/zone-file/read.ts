/** Reads zone files (RFC 1035, 5; RFC 2308, 4; RFC 3597, 5; BIND's TTL units and `$GENERATE`): text → plain records with their places. */

import type { Diagnostic, Span } from "../../model/diagnostic.ts";
import type { SetAside, SourceRecord } from "../plain-record.ts";
import { type DirectiveName, directiveOf, includeOf, lastToken, onlyToken } from "./directive.ts";
import { secondsOf } from "./fields.ts";
import { generated, generatedData, readRange } from "./generate.ts";
import { readHead } from "./head.ts";
import { MAX_INCLUDE_DEPTH, MAX_INCLUDED_FILES, MAX_TOTAL_OCTETS } from "./limits.ts";
import { type Labels, labelsOf, readName } from "./name.ts";
import { Misread, type Place, type Problem, shown } from "./problem.ts";
import { Reading } from "./reading.ts";
import { type Entry, Scanner, type Token } from "./scan.ts";
import type { ZoneFileSoa } from "./soa.ts";


export interface ZoneFileOptions {
  /** Lower-case ASCII without a final dot: the origin at the start, whose apex SOA and NS are set aside. */
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
  /** In the order of the file. A TTL of 0 is one of no time, which the service does not have: there 0 means the zone's default. */
  readonly records: readonly SourceRecord[];
  readonly setAside: readonly SetAside[];
  /** With errors, the records are what could be read. */
  readonly diagnostics: readonly Diagnostic[];
  /** null: the zone's apex has none. */
  readonly soa: ZoneFileSoa | null;
  /** Those of the records whose TTL is that of a `$TTL` line, or of the SOA that stands for it. */
  readonly inheriting: ReadonlySet<SourceRecord>;
  /** Records of any kind that were read, generated ones and duplicates included. */
  readonly entryCount: number;
  /** Of the text and all that it includes and generates. */
  readonly octets: number;
}

/**
 * Never rejects for what is in the file, or not there to be included.
 * @param text as decoded from UTF-8; a byte order mark may be there
 */
export async function readZoneFile(text: string, options: ZoneFileOptions): Promise<ZoneFileReading> {
  const reader = new Reader(options);
  await reader.readFile(text, options.file);
  return { ...reader.reading.result(), octets: reader.octets };
}

/** One file that is being read. */
interface OpenFile {
  readonly name: string;
  origin: Labels;
  /** Of the record before. null: there was none; "unknown": it could not be read, which has been reported. */
  owner: Labels | "unknown" | null;
  /** The `$INCLUDE` lines that lead to it, the outermost first. */
  readonly through: readonly Span[];
}

class Reader {
  readonly reading: Reading;
  readonly #options: ZoneFileOptions;
  /** The files that are open, the outermost first. */
  readonly #open: OpenFile[] = [];
  #includedFiles = 0;
  #octets = 0;

  constructor(options: ZoneFileOptions) {
    this.#options = options;
    this.reading = new Reading(options.zone);
  }

  get octets(): number {
    return this.#octets;
  }

  async readFile(text: string, name: string, origin = labelsOf(this.#options.zone), place?: Place): Promise<void> {
    // What is too large may be an included file: the place is where it is asked for.
    this.#count(Buffer.byteLength(text), this.#open.at(-1)?.name ?? name, place ?? { start: 0, end: 0 });
    if (this.reading.stopped) return;
    // As in BIND, an included file begins with the owner of the file that includes it.
    const above = this.#open.at(-1);
    const here =
      above === undefined || place === undefined ? [] : [{ file: above.name, start: place.start, end: place.end }];
    const file: OpenFile = { name, origin, owner: above?.owner ?? null, through: [...(above?.through ?? []), ...here] };
    this.#open.push(file);
    const scanner = new Scanner(text);
    for (let entry = scanner.next(); entry !== null && !this.reading.stopped; entry = scanner.next()) {
      try {
        await this.#readEntry(entry, file);
      } catch (error) {
        if (!(error instanceof Misread)) throw error;
        this.reading.fail(name, error.place, error.problem);
      }
    }
    this.#open.pop();
  }

  #count(octets: number, file: string, place: Place): void {
    this.#octets += octets;
    if (this.#octets > MAX_TOTAL_OCTETS) this.reading.stop(file, place, TOO_LARGE);
  }

  async #readEntry(entry: Entry, file: OpenFile): Promise<void> {
    const directive = entry.indented ? null : directiveOf(entry.tokens[0]);
    if (directive === null) {
      this.#readRecord(entry, file);
      return;
    }
    if (entry.misread !== null) throw new Misread(entry.misread.place, entry.misread.problem);
    await this.#readDirective(directive, entry.tokens, file);
  }

  /** The owner counts for the lines that follow even if the rest cannot be read. */
  #readRecord(entry: Entry, file: OpenFile): void {
    const [first, ...others] = entry.tokens;
    if (!entry.indented) file.owner = "unknown";
    if (!entry.indented && first !== undefined) file.owner = readName(first, file.origin);
    if (entry.misread !== null) throw new Misread(entry.misread.place, entry.misread.problem);
    if (first === undefined || file.owner === "unknown") return;
    if (file.owner === null) throw new Misread(first, NO_OWNER);
    const head = entry.indented ? readHead(entry.tokens, null) : readHead(others, first);
    const place = { start: first.start, end: (others.at(-1) ?? first).end };
    this.reading.take(file.owner, head, file, place);
  }

  async #readDirective(directive: DirectiveName, tokens: readonly Token[], file: OpenFile): Promise<void> {
    switch (directive) {
      case "$ORIGIN":
        file.origin = readName(onlyToken(tokens, "a name"), file.origin);
        return;
      case "$TTL":
        this.reading.setDefaultTtl(secondsOf(onlyToken(tokens, "a time"), "TTL"));
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
      this.reading.stop(file.name, path, TOO_MANY_FILES);
      return;
    }
    const included = await this.#options.include(path.text, file.name);
    if (!included.ok) throw new Misread(path, notIncluded(path.text, included.detail, included.fix));
    const names = [...this.#open.map(({ name }) => name), included.file];
    if (names.indexOf(included.file) < names.length - 1) throw new Misread(path, loop(names));
    if (names.length - 1 > MAX_INCLUDE_DEPTH) throw new Misread(path, tooDeep(names));
    await this.readFile(included.text, included.file, start, path);
  }

  /** The generated records have owners of their own: the one of the record before stays. */
  #generate(tokens: readonly Token[], file: OpenFile): void {
    const [directive, rangeToken, owner, ...rest] = tokens as readonly [Token, ...Token[]];
    if (rangeToken === undefined || owner === undefined || rest.length === 0) {
      throw new Misread(tokens.at(-1) ?? directive, INCOMPLETE_GENERATE);
    }
    const { start, stop, step } = readRange(rangeToken);
    const place = { start: directive.start, end: lastToken(tokens).end };
    for (let value = start; value <= stop && !this.reading.stopped; value += step) {
      const [ownerWord = owner] = generated([owner], value);
      const head = readHead(rest, null);
      const [only, ...others] = head.rest;
      const data = only !== undefined && others.length === 0 ? generatedData(only, value) : generated(head.rest, value);
      this.#count(
        [ownerWord, ...data].reduce((sum, { text }) => sum + text.length, 0),
        file.name,
        place,
      );
      this.reading.take(readName(ownerWord, file.origin), { ...head, rest: data }, file, place);
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
