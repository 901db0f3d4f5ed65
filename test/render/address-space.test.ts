/** What a new range means for what is attached, and what is free in a VPC, in words and in JSON. */

import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import type { AttachedInterface, RangeChange } from "../../src/model/change.ts";
import type { FreeSpace } from "../../src/model/plan.ts";
import { freeSpaceText, rangeText } from "../../src/render/address-space.ts";
import { renderPlanMarkdown, renderPlanText } from "../../src/render/index.ts";
import { renderPlanJson } from "../../src/render/plan-json.ts";
import { parsePlanFile } from "../../src/saved/plan-file.ts";
import { change, everything, plan } from "./plans.ts";

function resized(to: string, becomes: RangeChange["becomes"], addresses: readonly (string | null)[] = []) {
  const interfaces = addresses.map(
    (address, index): AttachedInterface => ({
      ...{ subnet: "vpc/v/subnet/a", subnet_id: 5, node_id: 1, interface_id: index, active: false, config_id: null },
      address,
    }),
  );
  return change("vpc/v/subnet/a", "vpc_subnet", {
    before: { label: "a", ipv4: "10.0.1.0/24" },
    after: { label: "a", ipv4: to },
    action: "replace",
    range: { becomes, attached: addresses.length },
    blocked: interfaces.length === 0 ? null : { type: "interfaces", interfaces },
  });
}

describe("a new range of a subnet", () => {
  it.each([
    ["10.0.0.0/23", "grows", [], "It grows: the new range contains the old one. No interface is attached."],
    ["10.0.1.0/25", "shrinks", [], "It shrinks: the new range is a part of the old one. No interface is attached."],
    ["10.0.2.0/24", "moves", [], "It moves: the new range has no address of the old one. No interface is attached."],
  ] as const)("%s %s", (to, becomes, addresses, text) => {
    expect(rangeText(resized(to, becomes, addresses))).toBe(text);
  });

  it.each([
    [["10.0.1.5"], "The interface that is attached must be detached first. Of the addresses, none is outside"],
    [
      ["10.0.1.5", "10.0.1.200"],
      "The 2 interfaces that are attached must be detached first. Of the addresses, 1 of 2 is outside",
    ],
    [
      ["10.0.1.5", "10.0.1.96/27", null],
      "The 3 interfaces that are attached must be detached first. Of the addresses that are known, none is outside",
    ],
    [
      ["10.0.1.192/27", "10.0.1.200"],
      "The 2 interfaces that are attached must be detached first. Of the addresses, 2 of 2 are outside",
    ],
  ])("with the addresses %j", (addresses, text) => {
    expect(rangeText(resized("10.0.1.0/25", "shrinks", addresses))).toBe(
      `It shrinks: the new range is a part of the old one. ${text} the new range.`,
    );
  });

  it("says nothing of addresses that nobody knows, or that are none", () => {
    const text =
      "It shrinks: the new range is a part of the old one. The interface that is attached must be detached first.";
    expect(rangeText(resized("10.0.1.0/25", "shrinks", [null]))).toBe(text);
    expect(rangeText(resized("10.0.1.0/25", "shrinks", ["\u001b[31m"]))).toBe(text);
  });

  it("stands below its line in text, and in a list of its own in markdown", () => {
    const grown = plan([resized("10.0.0.0/23", "grows")]);
    const lines = renderPlanText(grown, { colour: false, width: 80 }).split("\n");
    expect(lines.slice(1, 3)).toEqual([
      "  -/+ subnet a 10.0.1.0/24 → 10.0.0.0/23",
      "      It grows: the new range contains the old one. No interface is attached.",
    ]);
    expect(renderPlanMarkdown(grown)).toContain("**Address space:**\n\n```text\nvpc/v/subnet/a: It grows:");
  });
});

describe("the free space of a VPC", () => {
  const space: FreeSpace = {
    ...{ root: "vpc/prod", within: "10.0.0.0/21", addresses: 2048, free: 1280, largest: "10.0.4.0/22" },
    next: [{ prefix: 24, ranges: ["10.0.4.0/24", "10.0.5.0/24"] }],
  };

  it("is one sentence on the next ranges and one on where the subnets lie", () => {
    expect(freeSpaceText(space)).toBe(
      "Free in vpc prod: next /24 10.0.4.0/24, 10.0.5.0/24. Its subnets lie within 10.0.0.0/21, where 1,280 of 2,048 addresses are free; the largest free block is 10.0.4.0/22.",
    );
  });

  it("is told where nothing is left", () => {
    const full = { ...space, free: 0, largest: null, next: [{ prefix: 8, ranges: [] }] };
    expect(freeSpaceText(full)).toBe(
      "Free in vpc prod: no /8 is left. Its subnets lie within 10.0.0.0/21, which is full.",
    );
  });

  it("shows the label of a VPC escaped", () => {
    expect(freeSpaceText({ ...space, root: "vpc/\u001b[31mx" })).toContain("Free in vpc \\u{1b}[31mx:");
  });
});

it("JSON has both as data, within its schema, and they are read back; a file of an older version has none", async () => {
  const schema = JSON.parse(readFileSync(new URL("../../schemas/plan.schema.json", import.meta.url), "utf8"));
  const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);
  const text = renderPlanJson(everything());
  const { tenon } = JSON.parse(text);
  validate(JSON.parse(text));
  expect(validate.errors).toBeNull();
  expect(tenon.changes["vpc/prod/subnet/db"].range).toEqual({ becomes: "moves", attached: 0 });
  expect(tenon.changes["vpc/prod/subnet/web"]).not.toHaveProperty("range");
  expect(tenon.free_space).toEqual(everything().freeSpace);
  const parsed = await parsePlanFile(text);
  expect(parsed.ok && renderPlanText(parsed.plan as never, { colour: false })).toBe(
    renderPlanText(everything(), { colour: false }),
  );
  expect(JSON.parse(renderPlanJson(plan([]))).tenon).not.toHaveProperty("free_space");
  const { free_space: _, ...older } = tenon;
  validate({ ...JSON.parse(text), tenon: older });
  expect(validate.errors).toBeNull();
});
