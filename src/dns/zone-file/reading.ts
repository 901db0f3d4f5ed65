/** What has been read of a zone so far: records, what is set aside, problems, and which TTL the next record has. */

import type { Diagnostic, Related, Span } from "../../model/diagnostic.ts";
import type { PlainRecord, SetAside, SetAsideReason, SourceRecord } from "../plain-record.ts";
import type { Head } from "./head.ts";
import { holdRecord, shownOwner } from "./hold.ts";
import { MAX_ENTRIES, MAX_PROBLEMS, MAX_RECORDS } from "./limits.ts";
import { type Labels, nameText } from "./name.ts";
import { Misread, type Place, type Problem } from "./problem.ts";
import { type Rdata, readRdata, type SoaRdata } from "./rdata.ts";
import { soaOf, type ZoneFileSoa } from "./soa.ts";

/** Where a record is read. */
export interface ReadIn {
  readonly name: string;
  readonly origin: Labels;
  /** The `$INCLUDE` lines that lead to the file, the outermost first. */
  readonly through: readonly Span[];
}

interface Held {
  readonly record: SourceRecord;
  readonly through: readonly Span[];
}

export class Reading {
  readonly #zone: string;
  readonly #records: SourceRecord[] = [];
  readonly #setAside: SetAside[] = [];
  readonly #diagnostics: Diagnostic[] = [];
  /** The first of each record, whatever its TTL. */
  readonly #first = new Map<string, Held>();
  #soa: ZoneFileSoa | null = null;
  /** Records whose TTL is the default of the file. */
  readonly #inheriting: Set<SourceRecord> = new Set();
  /** Of `$TTL`, or of an SOA that stands for it. */
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
    setAside: SetAside[];
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
      setAside: this.#setAside,
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

  /** One record. Throws `Misread`. */
  take(owner: Labels, head: Head, { name: file, origin, through }: ReadIn, place: Place): void {
    this.#entryCount += 1;
    if (this.#entryCount > MAX_ENTRIES) {
      // Too many to keep was said before: one cause, one error.
      if (this.#records.length > MAX_RECORDS) this.#stopped = true;
      else this.stop(file, place, TOO_MANY_ENTRIES);
      return;
    }
    if (head.ttl !== null) this.#lastTtl = head.ttl;
    const { type, typeWord, recordClass, rest } = head;
    const span = spanOf(file, place);
    if (recordClass !== "IN") {
      const detail = `It is of class ${recordClass}; the service keeps records of class IN.`;
      this.#putAside(owner, typeWord.text, "not-holdable", detail, span);
    } else if (type === "other") {
      const detail = `${typeWord.text.toUpperCase()} is none of the types that the service keeps.`;
      this.#putAside(owner, typeWord.text, "unsupported-type", detail, span);
    } else {
      const rdata = readRdata(type, typeWord, rest, origin);
      const ttl = this.#ttlOf(head, rdata);
      if (rdata.type === "SOA") this.#takeSoa(owner, rdata, ttl, span);
      else
        this.#hold(owner, { ttl, inheritsTtl: head.ttl === null && this.#defaultTtl !== null }, rdata, span, through);
    }
  }

  /** RFC 2308, 4, and RFC 1035, 5.1, as BIND has them: its own, that of `$TTL`, the last one, or the SOA's minimum. */
  #ttlOf(head: Head, rdata: Rdata): number {
    const ttl = head.ttl ?? this.#defaultTtl ?? this.#lastTtl;
    if (ttl !== null) return ttl;
    if (rdata.type === "SOA") {
      this.#defaultTtl = rdata.minimum;
      return rdata.minimum;
    }
    // Once is enough: one line mends all of them.
    if (this.#saidNoTtl) return 1;
    this.#saidNoTtl = true;
    throw new Misread(head.typeWord, NO_TTL);
  }

  #takeSoa(owner: Labels, rdata: SoaRdata, ttl: number, span: Span): void {
    if (nameText(owner) !== this.#zone) {
      const name = nameText(owner);
      const detail = `The SOA record says that the file is of the zone ${name === "" ? "." : name}, and it is read as that of ${this.#zone}.`;
      const fix = "Use the file for its own zone, or correct the owner of the SOA record.";
      throw new Misread(span, { code: "wrong-zone", summary: "the file is of another zone", detail, fix });
    }
    this.#soa ??= soaOf(rdata, this.#defaultTtl ?? ttl);
    const detail = "It belongs to the service that served the zone until now.";
    this.#putAside(owner, "SOA", "soa", detail, span);
  }

  #hold(
    owner: Labels,
    { ttl, inheritsTtl }: { readonly ttl: number; readonly inheritsTtl: boolean },
    rdata: Exclude<Rdata, SoaRdata>,
    span: Span,
    through: readonly Span[],
  ): void {
    const held = holdRecord(owner, ttl, rdata, this.#zone);
    if (!held.ok) {
      this.#putAside(owner, rdata.type, held.reason, held.detail, span);
      return;
    }
    const record: SourceRecord = { ...held.record, span };
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
  #warnDuplicate(second: Held, first: Held): void {
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

  #putAside(owner: Labels, type: string, reason: SetAsideReason, detail: string, span: Span): void {
    const name = shownOwner(owner, this.#zone);
    this.#setAside.push({ reason, type: type.toUpperCase(), name, detail, span });
  }
}

/** Everything but the TTL and the place. What may hold a blank comes last. */
function dataOf({ type, name, target, priority, weight, port, tag }: PlainRecord): string {
  return `${type} ${name} ${priority} ${weight} ${port} ${tag} ${target}`;
}

/** The record read before; of one that is read twice, the `$INCLUDE` lines by which its file is. */
function placesOf(first: Held, second: Held): Related[] {
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

/** Of a zone with more records than the service keeps, or than are read. */
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
