/** Plans for tests: steps and changes with everything that does not matter filled in. */

import type { Change } from "../../../src/model/change.ts";
import type {
  Barrier,
  Lookup,
  PathPart,
  Plan,
  RequestStep,
  Step,
  UploadStep,
  WaitStep,
} from "../../../src/model/plan.ts";
import type { JsonObject, Kind } from "../../../src/model/resource.ts";
import { NO_INPUTS } from "../../render/plans.ts";

export function request(id: string, fields: Partial<RequestStep> = {}): RequestStep {
  const [list] = fields.path ?? [];
  return {
    id,
    type: "request",
    unit: list === "images" ? "image" : list === "vpcs" ? "network" : "zone",
    root: "domain/example.com",
    changes: [id],
    after: [],
    method: "PUT",
    path: ["domains", "1", "records", id],
    body: { target: id },
    produces: null,
    lookup: null,
    expect: null,
    ...fields,
  };
}

export const RECORDS: readonly string[] = ["domains", "1", "records"];

/** A POST of a record that can be looked up. */
export function createRecord(id: string, fields: Partial<RequestStep> = {}): RequestStep {
  const body = { type: "A", name: id, target: "192.0.2.1" };
  return request(id, {
    method: "POST",
    path: RECORDS,
    body,
    lookup: lookup("domain_record", RECORDS, body),
    ...fields,
  });
}

export function lookup(kind: Kind, path: readonly PathPart[], match: JsonObject): Lookup {
  return { kind, path, filter: null, match, known: [] };
}

export function upload(id: string, fields: Partial<UploadStep> & Pick<UploadStep, "to" | "file">): UploadStep {
  return {
    id,
    type: "upload",
    unit: "image",
    root: "image/golden",
    changes: [id],
    after: [],
    content: null,
    limitSeconds: 3600,
    ...fields,
  };
}

export function wait(id: string, fields: Partial<WaitStep> = {}): WaitStep {
  return {
    id,
    type: "wait",
    unit: "image",
    root: "image/golden",
    changes: [id],
    after: [],
    path: ["images", "private/1"],
    field: "status",
    until: ["available"],
    limitSeconds: 600,
    ...fields,
  };
}

export function change(key: string, fields: Partial<Change> = {}): Change {
  return {
    key,
    address: key,
    previousAddress: null,
    unit: "zone",
    root: "domain/example.com",
    kind: "domain_record",
    action: "create",
    labels: [],
    id: null,
    before: null,
    after: null,
    replaceFields: [],
    blocked: null,
    note: null,
    span: null,
    origin: null,
    ...fields,
  };
}

/** One change per key that the steps name, unless changes are given. */
export function plan(steps: readonly Step[], barriers: readonly Barrier[] = [], changes?: readonly Change[]): Plan {
  const keys = new Set(steps.flatMap((step) => step.changes));
  return {
    goal: "apply",
    owner: null,
    inputs: NO_INPUTS,
    changes: changes ?? [...keys].map((key) => change(key)),
    steps,
    barriers,
    guards: [],
    refusals: [],
    gaps: [],
    strategies: [],
    warnings: [],
    freeSpace: [],
    leftAlone: [],
    families: [],
    requestCount: steps.length,
    pace: null,
    base: null,
    withheld: [],
  };
}
