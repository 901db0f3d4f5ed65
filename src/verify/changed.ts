/** What an apply changed of each zone, as what its servers must answer now. Pure. */

import type { PlainRecord } from "../dns/plain-record.ts";
import type { Address } from "../model/address.ts";
import type { Change } from "../model/change.ts";
import { groupBy } from "../model/group.ts";
import type { Values } from "../model/resource.ts";
import type { ZoneWanted } from "./expectation.ts";

export interface ChangedZones {
  readonly zones: readonly ZoneWanted[];
  /** Full sentences: what was changed and cannot be asked for. */
  readonly notes: readonly string[];
}

/** Whether a record that nobody declared may be in a zone. */
export type Tolerates = (zone: Address, record: PlainRecord) => boolean;

/**
 * @param changes of a plan, no-ops included: they are the rest of the sets that changed
 * @param done keys of the changes that were carried out
 */
export function changedZones(
  changes: readonly Change[],
  done: ReadonlySet<string>,
  tolerates: Tolerates,
): ChangedZones {
  const zones: ZoneWanted[] = [];
  const notes: string[] = [];
  for (const [root, ofZone] of groupBy(changes, ({ root }) => root)) {
    const isOut = (change: Change): boolean => change.action === "no-op" || done.has(change.key);
    const domain = ofZone.find(({ kind }) => kind === "domain");
    if (domain === undefined || !ofZone.some((change) => change.action !== "no-op" && done.has(change.key))) continue;
    const zone = String((domain.after ?? domain.before)?.["domain"] ?? "");
    const values = isOut(domain) ? domain.after : domain.before;
    if (values === null) {
      if (domain.after === null) notes.push(`${zone} is deleted; what its parent delegates to it has to go there.`);
      continue;
    }
    const whyNot = unservedWhy(values);
    if (whyNot === null) zones.push(wantedOf(zone, root, domain, ofZone, isOut, tolerates));
    else notes.push(`${zone} ${whyNot}: nothing of it is asked for.`);
  }
  return { zones, notes };
}

function unservedWhy(domain: Values): string | null {
  if (domain["type"] === "slave") return "is a copy of its master's zone";
  return domain["status"] === "disabled" ? "is disabled" : null;
}

function wantedOf(
  zone: string,
  root: Address,
  domain: Change,
  changes: readonly Change[],
  isOut: (change: Change) => boolean,
  tolerates: Tolerates,
): ZoneWanted {
  const records: PlainRecord[] = [];
  const gone: PlainRecord[] = [];
  const changed: PlainRecord[] = [];
  for (const change of changes) {
    if (change.kind !== "domain_record") continue;
    const [before, after] = [recordOf(change.before), recordOf(change.after)];
    const now = isOut(change) ? after : before;
    if (now !== null) records.push(now);
    if (change.action === "no-op" || !isOut(change)) continue;
    if (before !== null) gone.push(before);
    if (after !== null) changed.push(after);
  }
  // Served only now: all of it is new to those who ask.
  const isActivated = domain.action !== "no-op" && domain.before?.["status"] === "disabled";
  return {
    zone,
    records,
    changed: isActivated ? null : changed,
    gone,
    tolerates: (record) => tolerates(root, record),
  };
}

/** A change of a record holds a record's fields, in the one form that plans have. */
function recordOf(values: Values | null): PlainRecord | null {
  return values === null ? null : (values as unknown as PlainRecord);
}
