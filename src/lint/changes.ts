/** The lint rules for plans: answers that caches keep for more than an hour, and records that come back by themselves. */

import { writeRdata } from "../dns/record.ts";
import type { Change } from "../model/change.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { mapKey } from "../model/map-key.ts";
import { domainAddress, recordAddress, type Values } from "../model/resource.ts";
import { groupBy } from "../model/text.ts";
import { effectiveTtlSeconds, type LintRecord, type RuleText } from "./rule.ts";

/** Up to this TTL, waiting for caches is no trouble. */
const LONG_TTL_SECONDS = 3_600;
/** More records of a zone than this are reported together. */
const MAX_TOLD_APART = 3;
/** The most names in a summary of many records. */
const MAX_NAMED = 5;

export const CACHED_TARGET: RuleText = {
  code: "cached-target",
  severity: "warning",
  finds: "in a plan: a record that is changed, renamed or removed while its live TTL is more than an hour",
  why: "Resolvers that have asked lately go on giving the old answer until its TTL has run out (RFC 1034, 3.6).",
  fix: "If that matters, lower the TTL first, wait for the old one to run out, and then change the record. `lint: { off: [cached-target] }` hides this.",
};

/** One change whose old answer stays in caches. */
interface Stale {
  readonly change: Change;
  readonly before: Values;
  readonly ttlSeconds: number;
}

/**
 * Only records in zones that are served count. A change of the TTL alone does not.
 * @param offOf codes that are switched off for the record of a change
 */
export function lintChanges(
  changes: readonly Change[],
  nowMilliseconds: number,
  offOf: (change: Change) => readonly string[],
): Diagnostic[] {
  const domains = new Map(
    changes.flatMap((change) => (change.kind === "domain" ? [[change.root, change] as const] : [])),
  );
  const stale = changes.flatMap((change) => {
    const found = staleOf(change, domains.get(change.root));
    return found === null || offOf(change).includes(CACHED_TARGET.code) ? [] : [found];
  });
  return [...groupBy(stale, ({ change }) => change.root).values()].flatMap((same) =>
    same.length > MAX_TOLD_APART
      ? [reportTogether(same, nowMilliseconds)]
      : same.map((one) => reportAlone(one, nowMilliseconds)),
  );
}

function staleOf(change: Change, domain: Change | undefined): Stale | null {
  const { kind, action, blocked, before, after, labels } = change;
  if (kind !== "domain_record" || action === "no-op" || blocked !== null || before === null) return null;
  if (labels.includes("duplicate")) return null;
  const zone = domain?.before ?? null;
  if (zone === null || zone["status"] === "disabled" || zone["type"] === "slave") return null;
  const ttlSeconds = effectiveTtlSeconds(seconds(before["ttl_sec"]), seconds(zone["ttl_sec"]));
  if (ttlSeconds <= LONG_TTL_SECONDS || (after !== null && saysTheSame(before, after))) return null;
  return { change, before, ttlSeconds };
}

/** All fields of a record are scalars. */
function saysTheSame(before: Values, after: Values): boolean {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  fields.delete("ttl_sec");
  return [...fields].every((field) => before[field] === after[field]);
}

/** Everything that differs between two such diagnostics is in the summary, so that the rest can be printed once. */
function reportAlone({ change, before, ttlSeconds }: Stale, now: number): Diagnostic {
  const what = change.after === null ? "removed" : before["name"] === change.after["name"] ? "changed" : "renamed";
  const until = untilOf(now, ttlSeconds);
  return diagnosticOf(
    change,
    `caches keep the old ${recordAddressOf(change)} until ${until} (${what}; TTL ${ttlSeconds} seconds)`,
  );
}

function reportTogether(same: readonly Stale[], now: number): Diagnostic {
  const [first] = same as [Stale, ...Stale[]];
  const { root } = first.change;
  const longest = same.reduce((most, { ttlSeconds }) => Math.max(most, ttlSeconds), 0);
  const names = [...new Set(same.map(({ change }) => recordAddressOf(change).replace(`${root}/`, "")))];
  const rest = names.length - MAX_NAMED;
  const shown =
    rest > 0 ? `${names.slice(0, MAX_NAMED).join(", ")} and ${rest.toLocaleString("en")} more` : names.join(", ");
  const count = same.length.toLocaleString("en");
  const until = untilOf(now, longest);
  const { span: _span, ...diagnostic } = diagnosticOf(
    first.change,
    `caches keep ${count} old records of ${root} until ${until} (TTL up to ${longest} seconds): ${shown}`,
  );
  return diagnostic;
}

function diagnosticOf(change: Change, summary: string): Diagnostic {
  const { code, severity, why, fix } = CACHED_TARGET;
  const place = change.span === null ? {} : { span: change.span };
  return { code, severity, summary, detail: why, fix, ...place, address: change.root };
}

/** The address before a rename: caches keep the old name. */
function recordAddressOf({ previousAddress, address }: Change): string {
  return previousAddress ?? address;
}

/** The first full minute by which caches have surely forgotten the answer: `2026-11-21 17:05 UTC`. */
function untilOf(now: number, ttlSeconds: number): string {
  const minute = 60_000;
  const end = Math.ceil((now + ttlSeconds * 1_000) / minute) * minute;
  return `${new Date(end).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function seconds(value: Values[string] | undefined): number {
  return typeof value === "number" ? value : 0;
}

export const COMES_BACK: RuleText = {
  code: "comes-back",
  severity: "warning",
  finds: "in a plan: a record that comes back once the entry which overrides it expires",
  why: "Plans change the record from the day after, without a consent, and without a change of the manifests.",
  fix: "If that is not meant, take the `expires` off the entry, or the record out of the record set or zone file. `lint: { off: [comes-back] }` in the root file hides this.",
};

/** A zone's records, and those that come back as they expire. */
interface ExpiringZone {
  readonly domain: string;
  readonly records: readonly LintRecord[] | null;
  readonly later?: readonly (LintRecord & { readonly after: string })[];
}

/**
 * Only the root file can switch it off: whoever writes the entry could otherwise hide what becomes of it. The value stands whole, in quotes and
 * last: a text of the record could otherwise go on the sentence, or hide its end.
 */
export function lintExpiries(
  { domain, records, later = [] }: ExpiringZone,
  projectOff: readonly string[],
): Diagnostic[] {
  if (later.length === 0 || projectOff.includes(COMES_BACK.code)) return [];
  const dataOf = ({ name, type, target, ...rest }: LintRecord): string =>
    mapKey(JSON.stringify([name, writeRdata({ ...rest, type, target }, target), type]));
  const declared = new Set((records ?? []).map(dataOf));
  return later.flatMap((record) => {
    const { name, type, target, span, after } = record;
    if (declared.has(dataOf(record))) return [];
    const where = recordAddress(domainAddress(domain), name, type);
    const summary = `${where} comes back after ${after} as ${JSON.stringify(writeRdata(record, target))}`;
    const { code, severity, why, fix } = COMES_BACK;
    return [{ code, severity, summary, detail: `The entry that overrides it expires then. ${why}`, fix, span }];
  });
}
