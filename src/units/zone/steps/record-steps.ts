/** The requests that carry out the changes of records (API.md, Domains). */

import type { Change } from "../../../model/change.ts";
import type { JsonObject } from "../../../model/resource.ts";
import type { PathPart } from "../../../model/step.ts";
import type { PlannedStep } from "../../../model/unit.ts";
import { request, type UnorderedRequest } from "../../request.ts";
import type { ZoneOrder } from "../order/facts.ts";
import { contentKey, isKnownType, liveRecord, type RecordValues, recordBody } from "../values.ts";

export function recordSteps(domain: Change, records: readonly Change[], order: ZoneOrder): PlannedStep[] {
  return records.flatMap((record): PlannedStep[] => {
    const step = recordStep(domain, record);
    return step === null ? [] : [{ step, facts: order.factsOfRecord(domain, record) }];
  });
}

function recordStep(domain: Change, record: Change): UnorderedRequest | null {
  const path: PathPart[] = [...domainPath(domain), "records"];
  switch (record.action) {
    case "no-op":
      return null;
    case "create":
      return createRecord(domain, record, path);
    case "update":
    case "replace":
      return request(record, `update ${record.key}`, "PUT", [...path, String(record.id)], changedFields(record));
    case "delete":
      return request(record, `delete ${record.key}`, "DELETE", [...path, String(record.id)], null);
  }
}

function createRecord(domain: Change, record: Change, path: readonly PathPart[]): UnorderedRequest {
  const values = record.after as RecordValues;
  const { type, ...rest } = values;
  // What is null says nothing of a record that is not there yet.
  const fields = Object.entries(recordBody(values, Object.keys(rest))).filter(([, value]) => value !== null);
  return {
    ...request(record, `create ${record.key}`, "POST", path, { type, ...Object.fromEntries(fields) }),
    lookup: {
      kind: "domain_record",
      path,
      // A filter cannot find the record name `*` (OBSERVED: Pages), so names are compared here.
      filter: { type },
      match: { zone: String((domain.after ?? domain.before)?.["domain"]), content: contentKey(values) },
      known: [],
    },
  };
}

function changedFields(record: Change): JsonObject {
  const before = record.before as RecordValues;
  const after = record.after as RecordValues;
  return recordBody(
    after,
    Object.keys(after).filter((field) => after[field] !== before[field]),
  );
}

/** The content of a live record in the form of a lookup's `match`. */
export function recordContent(item: JsonObject, zone: string): JsonObject | null {
  const record = item as unknown as Parameters<typeof liveRecord>[0];
  return isKnownType(record.type) ? { zone, content: contentKey(liveRecord(record, zone)) } : null;
}

/** Where a domain is, or will be once it is made. */
export function domainPath(domain: Change): PathPart[] {
  return [
    "domains",
    domain.id === null || domain.action === "replace" ? { ref: domain.key, field: "id" } : String(domain.id),
  ];
}
