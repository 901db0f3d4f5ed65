/** A zone that was kept elsewhere → the domain that declares it, and all that cannot come along. */

import type { SetAside, SourceRecord } from "../dns/plain-record.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { recordEntry } from "./entry.ts";
import { type SettlingUnit, settleDomain } from "./settle.ts";
import type { TakenDomain } from "./taken.ts";

export interface ForeignZone {
  /** Lower-case ASCII without a final dot. */
  readonly zone: string;
  /** Where it was read, for messages. */
  readonly file: string;
  /** Of its SOA, or as it was asked for; null: none is known. */
  readonly email: string | null;
  readonly records: readonly SourceRecord[];
}

export interface TakenZone {
  /** null: the domain itself cannot be declared, as the diagnostics say. */
  readonly domain: TakenDomain | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly setAside: readonly SetAside[];
}

/** So many TTLs are named in a summary; the rest is counted. */
const MAX_NAMED_TTLS = 8;

export function takeZone(
  { zone, file, email, records }: ForeignZone,
  unit: SettlingUnit,
  allowedSeconds: readonly number[],
): TakenZone {
  const soaEmail = email ?? `hostmaster@${zone}`;
  const head = { domain: zone, type: "master", soa_email: soaEmail };
  const settled = settleDomain(head, records.map(recordEntry), unit, allowedSeconds);
  const diagnostics: Diagnostic[] = settled.problems.map(({ span: _, ...problem }) => ({
    ...problem,
    summary: `${file}: ${problem.summary}`,
  }));
  const setAside: SetAside[] = [];
  for (const [index, problem] of settled.refused) {
    const record = records[index] as SourceRecord;
    if (problem.code === "duplicate-record") diagnostics.push(duplicate(record));
    else setAside.push(refused(record, problem));
  }
  if (settled.rounded.size > 0) diagnostics.push(rounded(file, settled.rounded));
  if (email === null) diagnostics.push(guessedEmail(zone, soaEmail));
  return { domain: settled.domain, diagnostics, setAside };
}

function duplicate({ type, span }: SourceRecord): Diagnostic {
  return {
    code: "duplicate-record",
    severity: "warning",
    summary: `the ${type} record is there twice`,
    detail: "A TTL does not tell two records apart, so the first one is taken.",
    fix: "Nothing, unless the other TTL was meant.",
    span,
  };
}

function refused({ type, name, span }: SourceRecord, problem: Diagnostic): SetAside {
  const detail = problem.detail === "" ? `${problem.summary}.` : problem.detail;
  return { reason: "not-holdable", type, name, detail, span };
}

function rounded(file: string, changes: ReadonlyMap<string, number>): Diagnostic {
  const total = [...changes.values()].reduce((sum, count) => sum + count, 0);
  const named = [...changes].sort(([, a], [, b]) => b - a).slice(0, MAX_NAMED_TTLS);
  const list = named.map(([change, count]) => `${change} s (${count})`).join(", ");
  return {
    code: "rounded-seconds",
    severity: "warning",
    summary: `${file}: ${total === 1 ? "a TTL is" : `${total} TTLs are`} rounded`,
    detail: `The service keeps certain TTLs only: ${list}${changes.size > MAX_NAMED_TTLS ? ", …" : ""}.`,
    fix: "Change them in the manifest if another value fits better.",
  };
}

function guessedEmail(zone: string, email: string): Diagnostic {
  return {
    code: "guessed-email",
    severity: "warning",
    summary: `${zone} gets the SOA address ${email}`,
    detail: "Its source does not say who is responsible for the zone.",
    fix: "Give --soa-email ADDRESS, or change `soa_email` in the manifest.",
  };
}
