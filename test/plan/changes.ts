/** Changes and planned steps for tests of planning, with only what matters said. */

import type { Change } from "../../src/model/change.ts";
import type { Declared, Desired } from "../../src/model/desired.ts";
import type { Kind, UnitName, Values } from "../../src/model/resource.ts";
import { type Facts, NO_FACTS, type PlannedStep } from "../../src/model/unit.ts";

const SPAN = { file: "tenon.yaml", start: 0, end: 0 };

type Said = Partial<Change> & Pick<Change, "address" | "action">;

export function change(said: Said): Change {
  const root = said.address.split("/").slice(0, 2).join("/");
  const kind = said.kind ?? kindOf(said.address);
  return {
    key: said.address,
    previousAddress: null,
    unit: unitOf(kind),
    root,
    kind,
    labels: [],
    id: said.action === "create" ? null : 1,
    before: null,
    after: null,
    replaceFields: [],
    blocked: null,
    note: null,
    span: null,
    origin: null,
    ...said,
  };
}

/** A record of `domain/a.example`, or of the zone that is given. */
export function record(
  name: string,
  action: Change["action"],
  { before = null, after = null, zone = "a.example" }: { before?: Values | null; after?: Values | null; zone?: string },
): Change {
  const addressOf = (values: Values | null, named: string) => `domain/${zone}/${named || "@"}/${values?.["type"]}`;
  const address = addressOf(after ?? before, name);
  const former = addressOf(before, String(before?.["name"]));
  const previousAddress = before === null || former === address ? null : former;
  return change({ address, previousAddress, action, kind: "domain_record", before, after });
}

export function a(name: string, target: string, ttl_sec = 0): Values {
  return { type: "A", name, target, ttl_sec };
}

function kindOf(address: string): Kind {
  const [root, , child] = address.split("/");
  if (root === "vpc") return child === undefined ? "vpc" : "vpc_subnet";
  if (root === "image") return "image";
  return child === undefined ? "domain" : "domain_record";
}

function unitOf(kind: Kind): UnitName {
  if (kind === "image") return "image";
  return kind === "vpc" || kind === "vpc_subnet" ? "network" : "zone";
}

export function declared(address: string, protect: boolean): Declared {
  const [, key = ""] = address.split("/");
  const unit = unitOf(kindOf(address));
  return { unit, address, key, id: null, movedFrom: null, protect, note: null, span: SPAN, spec: {} };
}

export function desired(...entries: Declared[]): Desired {
  return { owner: null, account: null, declared: entries, removed: [], allow: [], lintOff: [] };
}

/** Facts of which each is there or absent, down to the members of each. */
export type SomeFacts = {
  readonly [Name in keyof Facts]?: Facts[Name] extends readonly unknown[] ? Facts[Name] : Partial<Facts[Name]>;
};

export function planned(id: string, facts: SomeFacts = {}): PlannedStep {
  const step = {
    id,
    type: "request" as const,
    unit: "zone" as const,
    root: "domain/a.example",
    changes: [id],
    method: "PUT" as const,
    path: [],
    body: null,
    produces: null,
    lookup: null,
    expect: null,
  };
  const claims = { ...NO_FACTS.claims, ...facts.claims };
  const resolution = { ...NO_FACTS.resolution, ...facts.resolution };
  const rrsets = { ...NO_FACTS.rrsets, ...facts.rrsets };
  return { step, facts: { ...NO_FACTS, ...facts, claims, resolution, rrsets } };
}
