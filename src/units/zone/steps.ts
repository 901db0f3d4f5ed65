/** The requests that carry out the changes of zones (API.md, Domains). */

import type { Change } from "../../model/change.ts";
import { groupBy } from "../../model/group.ts";
import type { JsonObject, Values } from "../../model/resource.ts";
import type { PathPart } from "../../model/step.ts";
import type { PlannedStep } from "../../model/unit.ts";
import { request, type UnorderedRequest } from "../request.ts";
import { createBody, statedContent, updateBody } from "./domain.ts";
import { recordFacts, servedFacts, unservedFacts, ZoneOrder } from "./facts.ts";
import { contentKey, isKnownType, liveRecord, type RecordValues, recordBody } from "./values.ts";

export function zoneSteps(changes: readonly Change[]): PlannedStep[] {
  const records = groupBy(
    changes.filter((change) => change.kind === "domain_record"),
    (change) => change.root,
  );
  const domains = changes.filter((change) => change.kind === "domain");
  const order = new ZoneOrder(domains, records);
  return domains.flatMap((domain) => stepsOfZone(domain, records.get(domain.root) ?? [], order));
}

function stepsOfZone(domain: Change, records: readonly Change[], order: ZoneOrder): PlannedStep[] {
  switch (domain.action) {
    case "create":
      return createZone(domain, records, order);
    case "update":
      return updateZone(domain, records, order);
    case "delete":
      return [deleteZone(domain, order)];
    case "no-op":
      return recordSteps(domain, records, order);
    case "replace":
      // No field of a domain is immutable, so that nothing asks for this; a delete frees the name for the create.
      return [deleteZone(domain, order), ...createZone(domain, records, order)];
  }
}

/** Created disabled, filled, then activated; without records there is nothing to be half-built. */
function createZone(domain: Change, records: readonly Change[], order: ZoneOrder): PlannedStep[] {
  const after = domain.after as Values;
  const final = String(after["status"] ?? "active");
  const filled = recordSteps(domain, records, order);
  const activates = final === "active" && filled.length > 0;
  const body = createBody(after, activates ? "disabled" : final);
  const create: UnorderedRequest = {
    ...request(domain, `create ${domain.address}`, "POST", ["domains"], body),
    produces: { ref: domain.key, fields: { id: "id" } },
    lookup: {
      kind: "domain",
      path: ["domains"],
      filter: { domain: String(after["domain"]) },
      match: statedContent(body, body),
      known: [],
    },
  };
  const served = servedFacts(domain, records, order);
  if (!activates) return [{ step: create, facts: final === "active" ? served : unservedFacts() }, ...filled];
  return [{ step: create, facts: unservedFacts() }, ...filled, activate(domain, { status: "active" }, filled, served)];
}

/**
 * One PUT. If it begins to serve the zone it comes after the records, if it ceases to, before them. A slave takes no records,
 * so that one that becomes a master does so first.
 */
function updateZone(domain: Change, records: readonly Change[], order: ZoneOrder): PlannedStep[] {
  const before = domain.before as Values;
  const after = domain.after as Values;
  const body = updateBody(before, after);
  const filled = recordSteps(domain, records, order);
  const put = (verb: string, fields: JsonObject) =>
    request(domain, `${verb} ${domain.address}`, "PUT", domainPath(domain), fields);
  const converts = before["type"] !== after["type"] && filled.length > 0;
  if (before["status"] === "active" || after["status"] !== "active") {
    const ceases = before["status"] === "active" && after["status"] !== "active";
    const update = put("update", body);
    const facts = ceases ? order.withdrawal(domain, records) : unservedFacts();
    return [
      { step: update, facts },
      ...(ceases || converts ? filled.map((step) => requiring(step, update.id)) : filled),
    ];
  }
  const served = servedFacts(domain, records, order);
  if (!converts) return [...filled, activate(domain, body, filled, served)];
  const { status, ...rest } = body;
  const convert = put("convert", rest);
  const converted = filled.map((step) => requiring(step, convert.id));
  return [
    { step: convert, facts: unservedFacts() },
    ...converted,
    activate(domain, { status: status ?? "active" }, converted, served),
  ];
}

function requiring({ step, facts }: PlannedStep, id: string): PlannedStep {
  return { step, facts: { ...facts, requires: [...facts.requires, id] } };
}

function activate(
  domain: Change,
  body: JsonObject,
  filled: readonly PlannedStep[],
  served: PlannedStep["facts"],
): PlannedStep {
  return {
    step: request(domain, `activate ${domain.address}`, "PUT", domainPath(domain), body),
    facts: { ...served, requires: filled.map(({ step }) => step.id) },
  };
}

/** The service deletes the records with it (API.md, Domains, rule 2). */
function deleteZone(domain: Change, order: ZoneOrder): PlannedStep {
  return {
    step: request(domain, `delete ${domain.address}`, "DELETE", domainPath(domain), null),
    facts: order.withdrawal(domain, []),
  };
}

function recordSteps(domain: Change, records: readonly Change[], order: ZoneOrder): PlannedStep[] {
  const facts = recordFacts(domain, order);
  return records.flatMap((record): PlannedStep[] => {
    const step = recordStep(domain, record);
    return step === null ? [] : [{ step, facts: facts(record) }];
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
  return {
    ...request(record, `create ${record.key}`, "POST", path, { type, ...recordBody(values, Object.keys(rest)) }),
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

function domainPath(domain: Change): PathPart[] {
  return [
    "domains",
    domain.id === null || domain.action === "replace" ? { ref: domain.key, field: "id" } : String(domain.id),
  ];
}
