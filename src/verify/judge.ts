/** Judges one answer: is it what the zone must answer? Pure. */

import { INTERNET_CLASS, type ResourceRecord, responseCode } from "../dns/message.ts";
import { relativeName } from "../dns/name.ts";
import type { DnsAnswer, QueryResult } from "../dns/query.ts";
import { compareText } from "../model/text.ts";
import type { VerdictState } from "../model/verification.ts";
import { answeredRecord, answeredValue, type ExpectedSet, shownValue, shownWanted } from "./expectation.ts";

export interface Judgement {
  readonly state: VerdictState;
  /** As people read it. Sorted. */
  readonly found: readonly string[];
  /** One clause without a full stop; empty if the values say it all. */
  readonly detail: string;
}

const NXDOMAIN = 3;
/** How much of the undeclared values of one answer is kept: there is a judgement for each set, server and transport. */
const MAX_UNDECLARED_VALUES = 20;
const MAX_UNDECLARED_CHARACTERS = 1_000;
/** Of undeclared values of one answer that are tolerated: each is compared with all patterns of what is ignored. */
const MAX_TOLERATED_VALUES = 100;

/**
 * `there` only if the set's section holds all that is declared, and beside it only what the expectation tolerates. A truncated answer
 * counts as `there`. It can only come over UDP: `dns/query` refuses truncation over TCP, and the same set is asked over TCP as well.
 */
export function judgeAnswer(expected: ExpectedSet, result: QueryResult): Judgement {
  if (!result.ok) return { state: "not-answering", found: [], detail: result.problem.detail };
  const { answer } = result;
  const notFromZone = judgeNotFromZone(expected, answer);
  if (notFromZone !== null) return notFromZone;
  if (answer.isTruncated)
    return { state: "there", found: [], detail: "truncated: the set does not fit into one UDP answer" };
  const records = recordsOf(expected, answer);
  const stray = strayRecord(expected, answer, records);
  if (stray !== null) {
    const found = [`${stray.name} ${typeOf(stray)}`];
    return { state: "different", found, detail: `the answer holds ${found[0]}, which does not belong there` };
  }
  if (answer.rcode === NXDOMAIN && records.length > 0) {
    return { state: "different", found: [], detail: "the server answered NXDOMAIN beside records of that name" };
  }
  return judgeRecords(expected, records);
}

/** Judges a message that does not answer from the zone's data: an error, a referral, or a server that does not hold the zone. Else null. */
function judgeNotFromZone(expected: ExpectedSet, answer: DnsAnswer): Judgement | null {
  const code = responseCode(answer.rcode);
  if (code === "REFUSED" || code === "NOTAUTH") {
    return { state: "not-authoritative", found: [], detail: `the server answered ${code}` };
  }
  if (answer.rcode !== 0 && answer.rcode !== NXDOMAIN) {
    return { state: "not-answering", found: [], detail: `the server answered ${code}` };
  }
  if (expected.section !== "answer" || answer.isAuthoritative) return null;
  const cuts = answer.authorities.filter(({ name, data }) => data.type === "NS" && isBelow(name, expected.zone));
  const [cut] = cuts;
  if (cut === undefined) {
    return { state: "not-authoritative", found: [], detail: "the server answers without authority for the zone" };
  }
  const detail = `the server refers to the servers of ${cut.name}`;
  if (expected.values.length > 0) return { state: "missing", found: [], detail };
  // No declared record delegates the name of a set whose section is `answer`, or a name above it. Only a tolerated NS record can.
  const mayRefer = cuts.every(
    (record) => relativeName(expected.name, record.name) !== null && isAllowed(expected, record),
  );
  return { state: mayRefer ? "there" : "different", found: [], detail };
}

/** Whether a referral is to a zone within this one. A server of a parent refers to the zone itself, or to one above it. */
function isBelow(name: string, zone: string): boolean {
  const relative = relativeName(name, zone);
  return relative !== null && relative !== "";
}

/**
 * The records of the set. If the server also holds the delegated zone, it answers from that: then even a set that is expected as a referral
 * or as glue is in the answer section.
 */
function recordsOf({ section, name, type }: ExpectedSet, answer: DnsAnswer): readonly ResourceRecord[] {
  const isOf = (record: ResourceRecord): boolean =>
    record.name === name && record.data.type === type && record.class === INTERNET_CLASS;
  const own = answer.answers.filter(isOf);
  if (own.length > 0) return own;
  switch (section) {
    case "answer":
      return own;
    case "referral":
      return answer.authorities.filter(isOf);
    case "glue":
      return answer.additionals.filter(isOf);
  }
}

/**
 * The first record of the answer section that does not answer the question. If the set is empty, an alias that may be there, and what lies
 * at its end, do answer it (RFC 1034, 4.3.2, step 3a).
 */
function strayRecord(expected: ExpectedSet, answer: DnsAnswer, own: readonly ResourceRecord[]): ResourceRecord | null {
  const ownRecords = new Set(own);
  const others = answer.answers.filter((record) => !ownRecords.has(record));
  if (others.length === 0) return null;
  const aliases = new Map(
    others.flatMap((record) =>
      record.data.type === "CNAME" && record.class === INTERNET_CLASS ? [[record.name, record] as const] : [],
    ),
  );
  const explained = new Set<ResourceRecord>();
  const alias = aliases.get(expected.name);
  const mayFollow = own.length === 0 && expected.values.length === 0 && alias !== undefined;
  if (mayFollow && (expected.aliases.includes(targetOf(alias)) || isAllowed(expected, alias))) {
    let end = expected.name;
    for (let next = aliases.get(end); next !== undefined && !explained.has(next); next = aliases.get(end)) {
      explained.add(next);
      end = targetOf(next);
    }
    for (const record of others) {
      if (record.name === end && record.data.type === expected.type && record.class === INTERNET_CLASS) {
        explained.add(record);
      }
    }
  }
  return others.find((record) => !explained.has(record)) ?? null;
}

function targetOf({ data }: ResourceRecord): string {
  return data.type === "CNAME" ? data.target : "";
}

function typeOf({ data }: ResourceRecord): string {
  return data.type === "other" ? data.mnemonic : data.type;
}

/** An undeclared record that may be there all the same. */
function isAllowed(expected: ExpectedSet, { name, data, ttl }: ResourceRecord): boolean {
  const value = answeredValue(data);
  const record = answeredRecord(data, relativeName(name, expected.zone) ?? name, ttl);
  return value !== null && record !== null && expected.allows(value, record);
}

function judgeRecords(expected: ExpectedSet, records: readonly ResourceRecord[]): Judgement {
  const { type } = expected;
  const found = new Set<string>();
  let [undeclared, isUnexpected] = [0, false];
  const wanted = new Set(expected.values);
  for (const record of records) {
    const value = answeredValue(record.data);
    if (value === null) continue;
    if (found.has(value)) continue;
    found.add(value);
    if (wanted.has(value) || type === "SOA" || isUnexpected) continue;
    undeclared += 1;
    isUnexpected = undeclared > MAX_TOLERATED_VALUES || !isAllowed(expected, record);
  }
  const shown = shownValues(found, shownWanted(expected), type);
  if (type === "SOA") return { state: found.size > 0 ? "there" : "missing", found: shown, detail: "" };
  const missing = expected.values.filter((value) => !found.has(value));
  if (missing.length === 0 && !isUnexpected) return judgeTtl(expected, records, shown);
  const isNothing = missing.length > 0 && missing.length === expected.values.length && found.size === 0;
  const hidden = found.size - shown.length;
  const parts = [
    ...(hidden === 0 ? [] : [`the server answered ${hidden} more values, which are not shown`]),
    ...(undeclared > MAX_TOLERATED_VALUES ? [`more than ${MAX_TOLERATED_VALUES} of its values are not declared`] : []),
  ];
  const detail = parts.join("; ");
  return { state: isNothing ? "missing" : "different", found: shown, detail };
}

/** The values found, sorted and as people read them: all that are declared, and of the others what the limits leave room for. */
function shownValues(found: ReadonlySet<string>, wanted: ReadonlyMap<string, string>, type: string): string[] {
  const values: string[] = [];
  let [valuesLeft, charactersLeft] = [MAX_UNDECLARED_VALUES, MAX_UNDECLARED_CHARACTERS];
  for (const value of [...found].sort(compareText)) {
    const declared = wanted.get(value);
    if (declared !== undefined) values.push(declared);
    else if (valuesLeft > 0 && charactersLeft > 0) {
      const shown = shownStart(value, type, charactersLeft);
      values.push(shown);
      valuesLeft -= 1;
      charactersLeft -= shown.length;
    }
  }
  return values;
}

const MAX_OCTETS_OF_CHARACTER = 4;

/** Copied: what is cut from a text keeps all of it, and there may be thousands of answers. */
function shownStart(value: string, type: string, characters: number): string {
  const shown = shownValue(value.slice(0, characters * MAX_OCTETS_OF_CHARACTER + 1), type);
  const cut = shown.length <= characters ? shown : `${shown.slice(0, characters)}…`;
  return Buffer.from(cut, "utf16le").toString("utf16le");
}

/** A set has one TTL (RFC 2181, 5.2); which of several declared ones it is, is the service's choice. */
function judgeTtl({ ttls }: ExpectedSet, records: readonly ResourceRecord[], found: readonly string[]): Judgement {
  const other = ttls === null ? undefined : records.find(({ ttl }) => !ttls.includes(ttl));
  if (other === undefined) return { state: "there", found, detail: "" };
  return { state: "different", found, detail: `its TTL is ${other.ttl}, not ${(ttls ?? []).join(" or ")}` };
}
