/** What an import from files has come to so far, file by file; what is alike in many zones is told once. */

import type { SetAside, SourceRecord } from "../dns/plain-record.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { compareText } from "../model/group.ts";
import { Sources } from "../model/source.ts";
import { recordEntry } from "./entry.ts";
import { type SettlingUnit, settleDomain } from "./settle.ts";
import { chooseEmail, type FilledIn, filledInWarnings, type NamedEmail } from "./soa-email.ts";
import { someOf } from "./some-of.ts";
import { type Import, notMissed, type Remark, type TakenDomain } from "./taken.ts";

export interface ForeignZone {
  /** Lower-case ASCII without a final dot. */
  readonly zone: string;
  /** Where it was read, for messages. */
  readonly file: string;
  /** null: its source has no SOA. */
  readonly named: NamedEmail | null;
  readonly records: readonly SourceRecord[];
  readonly setAside: readonly SetAside[];
  /** Records that have their TTL from the zone; absent: none has. */
  readonly inheriting?: ReadonlySet<SourceRecord>;
  /** Seconds: what such records have, and for how long it is remembered that a name does not exist, if both are one time; else null. */
  readonly ttl?: number | null;
}

export interface GatheringOptions {
  readonly unit: SettlingUnit;
  readonly allowedSeconds: readonly number[];
  /** For sources that name nobody; null: none was given. */
  readonly soaEmail: string | null;
}

/** So many TTLs are named in a summary; the rest is counted. */
const MAX_NAMED_TTLS = 8;

export class Gathered {
  readonly sources: Sources = new Sources();
  readonly #options: GatheringOptions;
  readonly #domains: TakenDomain[] = [];
  readonly #diagnostics: Diagnostic[] = [];
  readonly #setAside: SetAside[] = [];
  readonly #remarks: Remark[] = [];
  readonly #filledIn: FilledIn[] = [];
  readonly #signed: string[] = [];
  readonly #rounded: Map<string, number> = new Map();
  /** Zones with TTLs that were rounded. */
  readonly #roundedIn: string[] = [];

  constructor(options: GatheringOptions) {
    this.#options = options;
  }

  get hasDiagnostics(): boolean {
    return this.#diagnostics.length > 0;
  }

  report(diagnostic: Diagnostic): void {
    this.#diagnostics.push(diagnostic);
  }

  remark(remark: Remark): void {
    this.#remarks.push(remark);
  }

  /** The domain that declares the zone, and all that cannot come along. */
  take({ zone, file, named, records, setAside, inheriting = new Set(), ttl = null }: ForeignZone): void {
    for (const one of setAside) this.#setAside.push(one);
    if (setAside.some((one) => notMissed(one) === "signing")) this.#signed.push(zone);
    const { unit, allowedSeconds, soaEmail } = this.#options;
    const email = chooseEmail(zone, file, named, soaEmail, unit);
    if (!email.ok) {
      this.report(email.diagnostic);
      return;
    }
    if (email.filledIn !== null) this.#filledIn.push(email.filledIn);
    // The service has one time for both. What it would round is left to the records, where rounding is told.
    const own = ttl !== null && ttl !== SERVICE_DEFAULT_TTL_SECONDS && allowedSeconds.includes(ttl) ? ttl : null;
    const stated = own === null ? {} : { ttl_sec: own };
    const head = { domain: zone, type: "master", soa_email: email.email, ...stated };
    const zoneTtl = own ?? SERVICE_DEFAULT_TTL_SECONDS;
    const isDefault = (record: SourceRecord) => record.ttl_sec === zoneTtl && inheriting.has(record);
    // 0 is the zone's default to the service: a source's 0 means no time at all, to which 1 comes nearest.
    const kept = (record: SourceRecord) => (isDefault(record) ? 0 : Math.max(1, record.ttl_sec));
    const entries = records.map((record) => recordEntry({ ...record, ttl_sec: kept(record) }));
    const ttls = records.map((record) => (isDefault(record) ? 0 : record.ttl_sec));
    const settled = settleDomain(head, entries, unit, allowedSeconds, ttls);
    for (const { span: _, ...problem } of settled.problems) {
      this.report({ ...problem, summary: `${file}: ${problem.summary}` });
    }
    for (const [index, problem] of settled.refused) this.#refuse(records[index] as SourceRecord, problem);
    if (settled.rounded.size > 0) this.#roundedIn.push(zone);
    for (const [change, count] of settled.rounded) {
      this.#rounded.set(change, (this.#rounded.get(change) ?? 0) + count);
    }
    if (settled.domain !== null) this.#domains.push(settled.domain);
  }

  result(): Import {
    const domains = this.#domains.sort((a, b) => compareText(a.name, b.name));
    const diagnostics = [
      ...this.#diagnostics,
      ...filledInWarnings(this.#filledIn, this.sources),
      ...(this.#rounded.size === 0 ? [] : [rounded(this.#roundedIn, this.#rounded)]),
      ...(this.#signed.length === 0 ? [] : [signed(this.#signed)]),
    ];
    const taken = { owner: null, vpcs: [], domains, images: [] };
    return { taken, diagnostics, setAside: this.#setAside, remarks: this.#remarks, sources: this.sources };
  }

  #refuse(record: SourceRecord, problem: Diagnostic): void {
    if (problem.code === "duplicate-record") {
      this.report(duplicate(record));
      return;
    }
    const { type, name, span } = record;
    const detail = problem.detail === "" ? `${problem.summary}.` : problem.detail;
    this.#setAside.push({ reason: "not-holdable", type, name, detail, span });
  }
}

/** What the service serves where neither a record nor its domain says a TTL (OBSERVED: Zone file). */
const SERVICE_DEFAULT_TTL_SECONDS = 86_400;

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

function rounded(zones: readonly string[], changes: ReadonlyMap<string, number>): Diagnostic {
  const total = [...changes.values()].reduce((sum, count) => sum + count, 0);
  const named = [...changes].sort(([, a], [, b]) => b - a).slice(0, MAX_NAMED_TTLS);
  const list = named.map(([change, count]) => `${change} s (${count})`).join(", ");
  return {
    code: "rounded-seconds",
    severity: "warning",
    summary: `${total === 1 ? "a TTL is" : `${total} TTLs are`} rounded`,
    detail: `The service keeps certain TTLs only: ${list}${changes.size > MAX_NAMED_TTLS ? ", …" : ""}. In ${someOf(zones)}.`,
    fix: "Change them in the manifest if another value fits better.",
  };
}

function signed(zones: readonly string[]): Diagnostic {
  const isOne = zones.length === 1;
  return {
    code: "signed-zone",
    severity: "warning",
    summary: isOne ? `${zones[0]} was signed until now` : `${zones.length} domains were signed until now`,
    detail: `${isOne ? "" : `${someOf(zones)}. `}The service has no DNSSEC records. While the parent zone has a DS record, resolvers that validate refuse answers without signatures (RFC 4035, 5).`,
    fix: "Have the DS record removed at the registrar, and wait for its TTL, before you change the delegation.",
  };
}
