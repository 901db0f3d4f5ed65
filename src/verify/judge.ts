/** Judges one answer: is it what the zone must answer? Pure. */

import { type DnsRecord, responseCode } from "../dns/message.ts";
import { relativeName } from "../dns/name.ts";
import type { DnsAnswer, QueryResult } from "../dns/query-message.ts";
import { compareText } from "../model/group.ts";
import type { VerdictState } from "../model/verification.ts";
import type { ExpectedSet } from "./expectation.ts";
import { answeredRecord, answeredValue, shownValue } from "./value.ts";

export interface Judgement {
  readonly state: VerdictState;
  /** As people read it. Sorted. */
  readonly found: readonly string[];
  /** One clause without a full stop; empty if the values say it all. */
  readonly detail: string;
}

const NXDOMAIN = 3;

export function judge(expected: ExpectedSet, result: QueryResult): Judgement {
  if (!result.ok) return { state: "not-answering", found: [], detail: result.problem.detail };
  const { answer } = result;
  const refusal = refusalOf(expected, answer);
  if (refusal !== null) return refusal;
  // Over TCP there is room for all of it, and it is asked there, too.
  if (answer.isTruncated) return { state: "there", found: [], detail: "cut off, as its set fits no datagram" };
  return judgeRecords(expected, recordsOf(expected, answer));
}

/** What answers no question about the zone: an error, or a server that does not hold it. */
function refusalOf(expected: ExpectedSet, answer: DnsAnswer): Judgement | null {
  const code = responseCode(answer.rcode);
  if (code === "REFUSED" || code === "NOTAUTH") {
    return { state: "not-authoritative", found: [], detail: `the server answered ${code}` };
  }
  if (answer.rcode !== 0 && answer.rcode !== NXDOMAIN) {
    return { state: "not-answering", found: [], detail: `the server answered ${code}` };
  }
  if (expected.section !== "answer" || answer.isAuthoritative) return null;
  const cut = answer.authorities.find(({ name, data }) => data.type === "NS" && isBelow(name, expected.zone));
  if (cut !== undefined) {
    const found = expected.values.length === 0 ? "there" : "missing";
    return { state: found, found: [], detail: `the server refers to the servers of ${cut.name}` };
  }
  return { state: "not-authoritative", found: [], detail: "the server answers without authority for the zone" };
}

/** A delegation within the zone; its parents' would be one of the zone itself, or above it. */
function isBelow(name: string, zone: string): boolean {
  const relative = relativeName(name, zone);
  return relative !== null && relative !== "";
}

/** A server that holds the delegated zone, too, answers with what is there. */
function recordsOf({ section, name, type }: ExpectedSet, answer: DnsAnswer): readonly DnsRecord[] {
  const isOf = (record: DnsRecord): boolean => record.name === name && record.data.type === type;
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

function judgeRecords(expected: ExpectedSet, records: readonly DnsRecord[]): Judgement {
  const { type, zone } = expected;
  const found = new Set<string>();
  const odd = new Set<string>();
  const wanted = new Set(expected.values);
  for (const { name, data, ttl } of records) {
    const value = answeredValue(data);
    if (value === null) continue;
    found.add(value);
    const record = answeredRecord(data, relativeName(name, zone) ?? name, ttl);
    if (!wanted.has(value) && record !== null && !expected.allows(value, record)) odd.add(value);
  }
  const shown = [...found].sort(compareText).map((value) => shownValue(value, type));
  if (type === "SOA") return { state: found.size > 0 ? "there" : "missing", found: shown, detail: "" };
  const missing = expected.values.filter((value) => !found.has(value));
  if (missing.length === 0 && odd.size === 0) return judgeTtl(expected, records, shown);
  const isNothing = missing.length > 0 && missing.length === expected.values.length && found.size === 0;
  return { state: isNothing ? "missing" : "different", found: shown, detail: "" };
}

/** A set has one TTL (RFC 2181, 5.2); which of several declared ones it is, is the service's choice. */
function judgeTtl({ ttls }: ExpectedSet, records: readonly DnsRecord[], found: readonly string[]): Judgement {
  const other = ttls === null ? undefined : records.find(({ ttl }) => !ttls.includes(ttl));
  if (other === undefined) return { state: "there", found, detail: "" };
  return { state: "different", found, detail: `its TTL is ${other.ttl}, not ${(ttls ?? []).join(" or ")}` };
}
