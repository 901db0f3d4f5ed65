/** What a zone that stays may lose only with consent: many of its records at once, or the name servers at its apex. */

import { type Change, type ComparedResource, isApexNameserver } from "../../model/change.ts";
import type { Json, Values } from "../../model/resource.ts";
import type { Loss } from "../../model/unit.ts";
import { isBulk } from "../bulk.ts";

/** A share of fewer says nothing: a zone of 8 records loses 3 of them when a mail key is rotated. */
const MIN_BULK_RECORDS = 10;

export function lossesOfZone(domain: Change, records: readonly Change[], adopts: boolean): Loss[] {
  const removed = lossOfRecords(records, adopts || endsSharing(domain));
  const lost = removed.length === 0 ? lossOfSharing(domain) : removed;
  return [...lost, ...lossOfNameservers(domain, records)];
}

/**
 * What others have made is theirs as long as the domain says so. A run that ends the sharing and leaves their records alone (as they are ignored, or as
 * it may not delete) would make them look like any record that is no longer declared, for the next one to remove.
 */
function lossOfSharing(domain: Change): Loss[] {
  const { blocked, undeclared = 0 } = domain;
  return endsSharing(domain) && blocked === null && undeclared !== 0 ? [{ rule: "bulk", count: null, of: null }] : [];
}

/** What others have made in a part that is taken back was never declared here. */
export function endsSharing({ before, after }: Pick<ComparedResource, "before" | "after">): boolean {
  const kept = new Set((after?.["shared_with"] as readonly string[] | undefined) ?? []);
  return ((before?.["shared_with"] as readonly string[] | undefined) ?? []).some((owner) => !kept.has(owner));
}

/** A record that goes counts if nothing answers for its name and type any more. A rename removes a name too. */
function lossOfRecords(records: readonly Change[], adopts: boolean): Loss[] {
  const answered = new Set(
    records.flatMap((record) => answerOf(record.blocked === null ? record.after : record.before)),
  );
  const removed = records.filter(
    (record) => record.blocked === null && (record.action === "delete" || record.labels.includes("rename")),
  );
  const count = removed.filter(({ before }) => !isAnswered(before, answered)).length;
  const total = records.filter((record) => record.before !== null).length;
  const tooMany = count === total || isBulk(count, total, MIN_BULK_RECORDS);
  return count > 0 && (adopts || tooMany) ? [{ rule: "bulk", count, of: total }] : [];
}

function answerOf(values: Values | null): string[] {
  return values === null ? [] : [questionOf(values, values["type"])];
}

/** A CNAME answers whatever its name is asked for. */
function isAnswered(values: Values | null, answered: ReadonlySet<string>): boolean {
  return values !== null && [values["type"], "CNAME"].some((type) => answered.has(questionOf(values, type)));
}

function questionOf(values: Values, type: Json | undefined): string {
  return `${String(values["name"])} ${String(type)}`;
}

function lossOfNameservers(domain: Change, records: readonly Change[]): Loss[] {
  if (domain.before?.["status"] !== "active") return [];
  const touches = records.some((record) => record.blocked === null && isApexNameserver(record));
  return touches ? [{ rule: "ns", count: null, of: null }] : [];
}
