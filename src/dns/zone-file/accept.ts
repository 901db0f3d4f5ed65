/** What of a zone file is taken: which records become records of the service, what is skipped and why, and which TTL the next record has. */

import type { Diagnostic, Related, Span } from "../../model/diagnostic.ts";
import { mapKey } from "../../model/map-key.ts";
import {
  MAX_RECORD_NAME_LENGTH,
  nameProblem,
  type OwnerProblem,
  ownerName,
  relativeName,
  serviceOwner,
} from "../name.ts";
import {
  CAA_TAGS,
  CONTROL_CHARACTER,
  type DnsRecord,
  MAX_VALUES,
  type Rdata,
  rulesOf,
  type SkippedRecord,
  type SkipReason,
  type SourceRecord,
  WRITTEN_CAA,
} from "../record.ts";
import {
  type Labels,
  looksLikeTime,
  MAX_ENTRIES,
  MAX_PROBLEMS,
  MAX_RECORDS,
  nameText,
  type Octets,
  type Place,
  type Problem,
  shown,
  type Token,
  utf8Text,
  ZoneSyntaxError,
} from "./lexer.ts";
import { type ReadType, readClass, readRecordData, readType, type SoaRdata, secondsOf } from "./rdata.ts";

/** Where a record is read. */
interface ReadIn {
  readonly name: string;
  readonly origin: Labels;
  /** The `$INCLUDE` lines that lead to the file, the outermost first. */
  readonly through: readonly Span[];
}

interface ReadRecord {
  readonly record: SourceRecord;
  readonly through: readonly Span[];
}

/** Collects the records of a zone file and of the files that it includes, and what is wrong with them. */
export class RecordCollector {
  readonly #zone: string;
  readonly #records: SourceRecord[] = [];
  readonly #skipped: SkippedRecord[] = [];
  readonly #diagnostics: Diagnostic[] = [];
  /** The first of each record, whatever its TTL. */
  readonly #first = new Map<string, ReadRecord>();
  #soa: ZoneFileSoa | null = null;
  /** Records whose TTL is the default of the file. */
  readonly #inheriting: Set<SourceRecord> = new Set();
  /** The seconds of `$TTL`, or of an SOA that stands for it. */
  #defaultTtl: number | null = null;
  #lastTtl: number | null = null;
  #saidNoTtl = false;
  #entryCount = 0;
  #errorCount = 0;
  #warningCount = 0;
  #stopped = false;

  /** @param zone lower-case ASCII without a final dot */
  constructor(zone: string) {
    this.#zone = zone;
  }

  /** Nothing more is to be read. */
  get stopped(): boolean {
    return this.#stopped;
  }

  result(): {
    records: SourceRecord[];
    skipped: SkippedRecord[];
    diagnostics: Diagnostic[];
    soa: ZoneFileSoa | null;
    inheriting: ReadonlySet<SourceRecord>;
    entryCount: number;
  } {
    const hidden = this.#warningCount - MAX_PROBLEMS;
    const more: Diagnostic[] =
      hidden > 0
        ? [
            {
              code: "duplicate-record",
              severity: "warning",
              summary: `${hidden} more records are there twice`,
              detail: "",
            },
          ]
        : [];
    const diagnostics = [...this.#diagnostics, ...more];
    return {
      records: this.#records,
      skipped: this.#skipped,
      diagnostics,
      soa: this.#soa,
      inheriting: this.#inheriting,
      entryCount: this.#entryCount,
    };
  }

  setDefaultTtl(seconds: number): void {
    this.#defaultTtl = seconds;
  }

  fail(file: string, place: Place, problem: Problem): void {
    this.#diagnostics.push({ severity: "error", ...problem, span: spanOf(file, place) });
    this.#errorCount += 1;
    if (this.#errorCount === MAX_PROBLEMS && !this.#stopped) this.stop(file, place, TOO_MANY_ERRORS);
  }

  stop(file: string, place: Place, problem: Problem): void {
    this.#stopped = true;
    this.fail(file, place, problem);
  }

  /** Adds one record, or sets it aside. Throws `ZoneSyntaxError`. */
  addEntry(owner: Labels, header: RecordHeader, { name: file, origin, through }: ReadIn, place: Place): void {
    this.#entryCount += 1;
    if (this.#entryCount > MAX_ENTRIES) {
      // Too many to keep was said before: one cause, one error.
      if (this.#records.length > MAX_RECORDS) this.#stopped = true;
      else this.stop(file, place, TOO_MANY_ENTRIES);
      return;
    }
    if (header.ttl !== null) this.#lastTtl = header.ttl;
    const { type, typeWord, recordClass, rest } = header;
    const span = spanOf(file, place);
    if (recordClass !== "IN") {
      const detail = `It is of class ${recordClass}; the service keeps records of class IN.`;
      this.#skip(owner, typeWord.text, "not-holdable", detail, span);
    } else if (type === "other") {
      const detail = `${typeWord.text.toUpperCase()} is none of the types that the service keeps.`;
      this.#skip(owner, typeWord.text, "unsupported-type", detail, span);
    } else {
      const rdata = readRecordData(type, typeWord, rest, origin);
      const ttl = this.#ttlOf(header, rdata);
      if (rdata.type === "SOA") this.#takeSoa(owner, rdata, ttl, span);
      else
        this.#addRecord(
          owner,
          { ttl, inheritsTtl: header.ttl === null && this.#defaultTtl !== null },
          rdata,
          span,
          through,
        );
    }
  }

  /** RFC 2308, 4, and RFC 1035, 5.1, as BIND has them: its own, that of `$TTL`, the last one, or the SOA's minimum. */
  #ttlOf(header: RecordHeader, rdata: Rdata | SoaRdata): number {
    const ttl = header.ttl ?? this.#defaultTtl ?? this.#lastTtl;
    if (ttl !== null) return ttl;
    if (rdata.type === "SOA") {
      this.#defaultTtl = rdata.minimum;
      return rdata.minimum;
    }
    // Once is enough: one line mends all of them.
    if (this.#saidNoTtl) return 1;
    this.#saidNoTtl = true;
    throw new ZoneSyntaxError(header.typeWord, NO_TTL);
  }

  #takeSoa(owner: Labels, rdata: SoaRdata, ttl: number, span: Span): void {
    if (nameText(owner) !== this.#zone) {
      const name = nameText(owner);
      const detail = `The SOA record says that the file is of the zone ${name === "" ? "." : name}, and it is read as that of ${this.#zone}.`;
      const fix = "Use the file for its own zone, or correct the owner of the SOA record.";
      throw new ZoneSyntaxError(span, { code: "wrong-zone", summary: "the file is of another zone", detail, fix });
    }
    this.#soa ??= soaOf(rdata, this.#defaultTtl ?? ttl);
    const detail = "It belongs to the service that served the zone until now.";
    this.#skip(owner, "SOA", "soa", detail, span);
  }

  #addRecord(
    owner: Labels,
    { ttl, inheritsTtl }: { readonly ttl: number; readonly inheritsTtl: boolean },
    rdata: Rdata,
    span: Span,
    through: readonly Span[],
  ): void {
    const converted = toServiceRecord(owner, ttl, rdata, this.#zone);
    if (!converted.ok) {
      this.#skip(owner, rdata.type, converted.reason, converted.detail, span);
      return;
    }
    const record: SourceRecord = { ...converted.record, span };
    if (inheritsTtl) this.#inheriting.add(record);
    const key = dataOf(record);
    const first = this.#first.get(key);
    if (first === undefined) {
      this.#first.set(key, { record, through });
      this.#records.push(record);
      if (this.#records.length === MAX_RECORDS + 1) this.fail(span.file, span, TOO_MANY_RECORDS);
    } else {
      this.#warnDuplicate({ record, through }, first);
    }
  }

  /** RFC 2181, 5: records of a name and a type are a set. */
  #warnDuplicate(second: ReadRecord, first: ReadRecord): void {
    this.#warningCount += 1;
    if (this.#warningCount > MAX_PROBLEMS) return;
    const { record } = second;
    this.#diagnostics.push({
      code: "duplicate-record",
      severity: "warning",
      summary: `the ${record.type} record is there twice`,
      detail: "Nameservers keep one of the two, whatever their TTLs; so the second one is passed over.",
      fix: "Remove one of them.",
      span: record.span,
      related: placesOf(first, second),
    });
  }

  #skip(owner: Labels, type: string, reason: SkipReason, detail: string, span: Span): void {
    const name = shownOwner(owner, this.#zone);
    this.#skipped.push({ reason, type: type.toUpperCase(), name, detail, span });
  }
}

/** Everything but the TTL and the place. What may hold a blank comes last. */
function dataOf({ type, name, target, priority, weight, port, tag }: DnsRecord): string {
  return mapKey(`${type} ${name} ${priority} ${weight} ${port} ${tag} ${target}`);
}

/** Where the first of two equal records is. If both are the same line, its file was included twice: then the two `$INCLUDE` lines. */
function placesOf(first: ReadRecord, second: ReadRecord): Related[] {
  const [before, after] = [first.record.span, second.record.span];
  if (before.file !== after.file || before.start !== after.start) return [{ message: "first here", span: before }];
  const apart = first.through.findIndex((span, index) => span !== second.through[index]);
  const [one, other] = [first.through[apart], second.through[apart]];
  if (one === undefined || other === undefined) return [];
  return [
    { message: "its file is included here", span: one },
    { message: "and here again", span: other },
  ];
}

function spanOf(file: string, { start, end }: Place): Span {
  return { file, start, end };
}

const NO_TTL: Problem = {
  code: "missing-ttl",
  summary: "a record without a TTL",
  detail: "Neither the record, nor a `$TTL` line, nor a record before it says one (RFC 2308, 4).",
  fix: "Begin the file with a line like `$TTL 3600`.",
};

const TOO_MANY_ERRORS: Problem = {
  code: "too-many-errors",
  summary: "too many errors",
  detail: `There are ${MAX_PROBLEMS} errors until here, where reading stops.`,
  fix: "Correct them first.",
};

/** The code of a zone with more records than the service keeps, or than are read. */
export const TOO_MANY_RECORDS_CODE = "too-many-records";

const TOO_MANY_RECORDS: Problem = {
  code: TOO_MANY_RECORDS_CODE,
  summary: "too many records",
  detail: `The service keeps ${MAX_RECORDS} records in a zone, and this is one more.`,
  fix: "Divide the zone.",
};

const TOO_MANY_ENTRIES: Problem = {
  code: TOO_MANY_RECORDS_CODE,
  summary: "far too many records",
  detail: `The file has more than ${MAX_ENTRIES} records, and reading stops here.`,
  fix: "Divide the zone.",
};

// What stands before a record's data: TTL and class, in either order and both optional, and the type (RFC 1035, 5.1).

interface RecordHeader {
  /** Seconds; null: not said. */
  readonly ttl: number | null;
  /** `IN`, `CH`, `HS` or `CLASS…`. */
  readonly recordClass: string;
  readonly type: ReadType;
  readonly typeWord: Token;
  /** The record's data. */
  readonly rest: readonly Token[];
}

/**
 * Throws `ZoneSyntaxError`.
 * @param tokens of an entry, behind the owner if it has one
 * @param owner null: the entry is indented, or generated
 */
export function readRecordHeader(tokens: readonly Token[], owner: Token | null): RecordHeader {
  const { time, recordClass, index } = wordsBeforeType(tokens);
  const ttl = time === null ? null : secondsOf(time, "TTL");
  const typeWord = tokens[index];
  if (typeWord === undefined) throw missingType(tokens.at(-1) ?? owner);
  const type = typeWord.quoted ? null : readType(typeWord.text);
  if (type === null) throw unknownType(typeWord, tokens[index + 1], owner === null && index === 0);
  return { ttl, recordClass: recordClass ?? "IN", type, typeWord, rest: tokens.slice(index + 1) };
}

/**
 * A TTL and a class, in either order, or one of them, or none (RFC 1035, 5.1).
 * @returns `index` is that of the word behind them, which is the type if there is one
 */
export function wordsBeforeType(tokens: readonly Token[]): {
  readonly time: Token | null;
  readonly recordClass: string | null;
  readonly index: number;
} {
  let time: Token | null = null;
  let recordClass: string | null = null;
  let index = 0;
  for (; index < tokens.length; index += 1) {
    const token = tokens[index] as Token;
    if (token.quoted) break;
    const named: string | null = recordClass === null ? readClass(token.text) : null;
    if (named !== null) recordClass = named;
    else if (time === null && looksLikeTime(token.text)) time = token;
    else break;
  }
  return { time, recordClass, index };
}

function missingType(last: Token | null): ZoneSyntaxError {
  return new ZoneSyntaxError(last ?? { start: 0, end: 0 }, {
    code: "missing-type",
    summary: "a record without a type",
    detail: "The entry ends before it says what type the record has.",
    fix: "Write the owner, the type and the data: `www A 192.0.2.10`.",
  });
}

/** @param isFirst it is the first word of an indented line */
function unknownType(token: Token, next: Token | undefined, isFirst: boolean): ZoneSyntaxError {
  const word = shown(token.text);
  const isOwner =
    isFirst && next !== undefined && (readType(next.text) ?? readClass(next.text)) !== null && !next.quoted;
  const detail = isOwner
    ? `${word} stands where the type is expected: a line that begins with white space has the owner of the record before.`
    : `${word} is neither a type, a class nor a TTL.`;
  const fix = isOwner
    ? "Remove the white space before it if it is the owner."
    : "Correct the type; one without a name is written `TYPE` and its number (RFC 3597).";
  return new ZoneSyntaxError(token, { code: "unknown-type", summary: `unknown type ${word}`, detail, fix });
}

// What of a zone becomes a record that the service keeps, and what is skipped and why. Pure.

type ServiceRecordResult =
  | { readonly ok: true; readonly record: DnsRecord }
  | { readonly ok: false; readonly reason: SkipReason; readonly detail: string };

/** @param zone lower-case ASCII without a final dot */
function toServiceRecord(owner: Labels, ttl_sec: number, rdata: Rdata, zone: string): ServiceRecordResult {
  const ownerResult = ownerName(`${nameText(owner)}.`, zone);
  if (!ownerResult.ok) return notRepresentable(ownerDetail(ownerResult.problem, nameText(owner), zone));
  const place = placeProblem(ownerResult.name, rdata, zone);
  if (place !== null) return place;
  const value = serviceValue(rdata);
  if (typeof value === "string") return notRepresentable(value);
  return { ok: true, record: { name: ownerResult.name, ttl_sec, ...value } };
}

/** Relative to the zone, `""` the apex; absolute with a final dot if it lies outside. */
function shownOwner(owner: Labels, zone: string): string {
  const text = nameText(owner);
  return relativeName(text, zone) ?? `${text}.`;
}

function notRepresentable(detail: string): ServiceRecordResult {
  return { ok: false, reason: "not-holdable", detail };
}

function ownerDetail(problem: OwnerProblem, name: string, zone: string): string {
  switch (problem) {
    case "outside":
      return `\`${name}.\` lies outside of the zone ${zone}.`;
    case "repeats-zone":
      return `\`${name}.\` ends in the zone's name twice, and the service would strip one of them.`;
    case "over-length":
      return `Relative to the zone the name has more than the ${MAX_RECORD_NAME_LENGTH} characters that the service keeps.`;
    default:
      return `The service cannot keep the name \`${name}.\`: letters, digits, \`-\`, \`_\`, \`+\` and \`/\`, and a star as the first label, are all that it takes.`;
  }
}

function placeProblem(name: string, rdata: Rdata, zone: string): ServiceRecordResult | null {
  if (rdata.type === "NS" && name === "") {
    const detail = `It names a nameserver of ${zone}, which belongs to the service that served the zone until now.`;
    return { ok: false, reason: "apex-ns", detail };
  }
  if (rdata.type === "NS" && name.split(".")[0] === "*")
    return notRepresentable("The service takes no wildcard NS records.");
  if (rdata.type === "CNAME" && name === "")
    return notRepresentable("A CNAME cannot stand at the apex, beside SOA and NS records (RFC 1034, 3.6.2).");
  if (rdata.type === "SRV" && !serviceOwner(name, null, null).ok)
    return notRepresentable("The service keeps an SRV record only under a name that begins with `_service._protocol`.");
  return null;
}

type Value = Omit<Rdata, "flags">;

/** The data as the service keeps it, or why it cannot. */
function serviceValue(rdata: Rdata): Value | string {
  const { flags = 0, ...value } = rdata;
  const problem = numberProblem(rdata) ?? (flags === 0 ? tagProblem(rdata) : flagsProblem(flags));
  if (problem !== null) return problem;
  switch (rulesOf(rdata.type).target) {
    case "name":
      return targetProblem(rdata) ?? value;
    case "strings":
      return textOf(value, "text");
    case "octets":
      return octetsProblem(rdata.target) ?? textOf(value, "value");
    default:
      return value;
  }
}

function numberProblem(rdata: Rdata): string | null {
  for (const field of ["priority", "weight", "port"] as const) {
    const value = rdata[field] ?? 0;
    if (value > MAX_VALUES[field])
      return `The ${field} is ${value}, and the service keeps at most ${MAX_VALUES[field]}.`;
  }
  return null;
}

function flagsProblem(flags: number): string {
  return `The flags are ${flags}, and the service keeps no flags: the record would mean something else.`;
}

function tagProblem({ tag }: Rdata): string | null {
  if (tag === undefined || CAA_TAGS.includes(tag)) return null;
  return `The tag is \`${tag}\`, and the service keeps ${CAA_TAGS.join(", ")} alone.`;
}

function targetProblem({ type, target }: Rdata): string | null {
  if (target === "")
    return rulesOf(type).allowsRoot ? null : "It points at the root, which is no target to the service.";
  if (nameProblem(target, false) === null && !target.startsWith("*")) return null;
  return `The service cannot keep the target \`${target}.\`: letters, digits, \`-\`, \`_\`, \`+\` and \`/\` are all that it takes.`;
}

function octetsProblem(octets: Octets): string | null {
  if (octets === "") return "The value is empty, and the service keeps none without a value.";
  if (octets.endsWith(".")) return "The value ends with a dot, which the service does not take.";
  return WRITTEN_CAA.test(octets) ? "The value holds flags and tag once more." : null;
}

function textOf(value: Value, what: string): Value | string {
  const text = utf8Text(value.target);
  if (text === null) return `The octets of the ${what} are not UTF-8, and the service keeps text alone.`;
  if (CONTROL_CHARACTER.test(text)) return `The ${what} holds a control character, which the service does not keep.`;
  return { ...value, target: text };
}

// What the SOA record of a zone says, in terms of a domain.

export interface ZoneFileSoa {
  /** The first nameserver: absolute, lower-case, without a final dot. */
  readonly mname: string;
  /** The mailbox as an address, `hostmaster@example.com`; `""` if it is none. */
  readonly email: string;
  readonly serial: number;
  /** Seconds, as all that follow. */
  readonly refresh: number;
  readonly retry: number;
  readonly expire: number;
  /** For how long it is remembered that a name does not exist (RFC 2308, 4). */
  readonly minimum: number;
  /** The TTL of records without one: that of the first `$TTL`, or else of the SOA record itself. */
  readonly ttl_sec: number;
}

function soaOf(rdata: SoaRdata, ttl_sec: number): ZoneFileSoa {
  const { serial, refresh, retry, expire, minimum } = rdata;
  return { mname: nameText(rdata.mname), email: emailOf(rdata), serial, refresh, retry, expire, minimum, ttl_sec };
}

/** RFC 1035, 8: the first label is what stands before the `@`, dots included. */
function emailOf({ rname }: SoaRdata): string {
  const [first = "", ...host] = rname;
  const local = utf8Text(first) ?? "";
  if (host.length === 0 || !/^[^\s@"(),:;<>[\]\\\p{Cc}]+$/u.test(local)) return "";
  return `${local}@${nameText(host)}`;
}
