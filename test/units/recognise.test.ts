/** What a request of unknown outcome may be taken to have made: nothing that was there before, nothing on a guess. */

import { describe, expect, test } from "vitest";
import type { WireVpc } from "../../src/api/wire.ts";
import type { Declared, Desired } from "../../src/model/desired.ts";
import type { Lookup } from "../../src/model/plan.ts";
import { makePlan } from "../../src/plan/plan.ts";
import { image } from "../../src/units/image/index.ts";
import { units } from "../../src/units/index.ts";
import { network } from "../../src/units/network/index.ts";

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0);

describe("an image", () => {
  const lookup: Lookup = {
    kind: "image",
    path: ["images"],
    filter: null,
    match: { label: "golden", description: "base [tenon:me]" },
    known: ["private/1"],
  };
  const item = (more: object) => ({
    id: "private/2",
    label: "golden",
    description: "base [tenon:me]",
    status: "pending_upload",
    created: "2026-01-01T11:59:30",
    ...more,
  });

  test("whose upload began just now may be another run's, and is not deleted", () => {
    expect(image.recognise(lookup, [item({})], NOW)).toEqual({ type: "ambiguous", ids: ["private/2"] });
  });

  test("of ours that the service has canceled by now is useless", () => {
    const canceled = item({ created: "2025-12-31T11:54:59" });
    expect(image.recognise(lookup, [canceled], null)).toEqual({ type: "ambiguous", ids: ["private/2"] });
    expect(image.recognise(lookup, [canceled], NOW)).toEqual({ type: "useless", id: "private/2" });
  });

  test("without our tag is never deleted, however old it is", () => {
    const untagged = { ...lookup, match: { label: "golden", description: "base" } };
    const old = item({ description: "base", created: "2025-01-01T00:00:00" });
    expect(image.recognise(untagged, [old], NOW)).toEqual({ type: "ambiguous", ids: ["private/2"] });
  });

  test("that was there before is not it", () => {
    expect(image.recognise(lookup, [item({ id: "private/1" })], NOW)).toEqual({ type: "absent" });
  });
});

test("a VPC that was there before is not what a replace made, though nothing in the plan names it", () => {
  const vpc = (id: number, region: string): WireVpc => ({
    ...{ id, label: "prod", region, description: "", subnets: [] },
    ...{ created: "2026-01-01T00:00:00", updated: null },
  });
  const live = [vpc(1, "us-east"), vpc(2, "us-west")];
  const declared: Declared = {
    ...{ unit: "network", address: "vpc/prod", key: "prod", id: 1, movedFrom: null, protect: false, note: null },
    ...{ span: { file: "tenon.yaml", start: 0, end: 1 } },
    spec: { label: "prod", region: "us-west", description: undefined, subnets: null },
  };
  const desired: Desired = { owner: null, account: null, declared: [declared], removed: [], allow: [], lintOff: [] };
  const plan = makePlan(
    desired,
    { units: { network: { items: live.map((found) => ({ vpc: found })), total: 2 } } },
    units,
    {
      ...{ goal: "apply", nowMilliseconds: NOW, targets: [], excludes: [], consents: [] },
      ...{ maxChanges: null, takeOwnershipFrom: [], account: null, clone: true },
    },
  );
  const create = plan.steps.find((step) => step.id === "create vpc/prod");
  const lookup = create?.type === "request" ? create.lookup : null;
  expect(lookup?.known).toEqual([1, 2]);
  const items = [vpc(2, "us-west")] as unknown as Parameters<typeof network.recognise>[1];
  expect(network.recognise(lookup as Lookup, items, NOW)).toEqual({ type: "absent" });
  const made = [...items, { ...items[0], id: 3 }] as typeof items;
  expect(network.recognise(lookup as Lookup, made, NOW)).toMatchObject({ type: "found", id: 3 });
});
