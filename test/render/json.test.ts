import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { renderPlanJson } from "../../src/render/json.ts";
import type { PlanFile } from "../../src/render/plan-file.ts";
import { parsePlanFile } from "../../src/render/read-plan-file.ts";
import { renderPlanText } from "../../src/render/text.ts";
import { change, everything, plan, record } from "./plans.ts";

function fileOf(text: string): PlanFile {
  return JSON.parse(text) as PlanFile;
}

async function problemOf(text: string): Promise<string> {
  const parsed = await parsePlanFile(text);
  return parsed.ok ? "none" : parsed.diagnostic.code;
}

describe("a plan as JSON", () => {
  it("has Terraform's shape, and everything of ours under one key", async () => {
    const text = renderPlanJson(everything());
    expect(Object.keys(fileOf(text))).toEqual(["format_version", "planned_values", "resource_changes", "tenon"]);
    await expect(text).toMatchFileSnapshot("../golden/plan-everything.json");
  });

  it("fits its published schema", () => {
    const schema = JSON.parse(readFileSync(new URL("../../schemas/plan.schema.json", import.meta.url), "utf8"));
    const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);
    validate(fileOf(renderPlanJson(everything())));
    expect(validate.errors).toBeNull();
  });

  it("names actions, ids and what is not known yet as Terraform does", () => {
    const replaced = change("vpc/a", "vpc", {
      before: { label: "a", region: "x" },
      after: { label: "a", region: "y" },
      action: "replace",
    });
    const { resource_changes } = fileOf(renderPlanJson(plan([replaced])));
    expect(resource_changes[0]).toEqual({
      address: "vpc/a",
      mode: "managed",
      type: "vpc",
      name: "a",
      provider_name: "tenon",
      change: {
        actions: ["delete", "create"],
        before: { id: 7, label: "a", region: "x" },
        after: { label: "a", region: "y" },
        after_unknown: { id: true },
      },
    });
  });

  it("tells changes of one address apart by index", () => {
    const file = fileOf(renderPlanJson(everything()));
    const www = file.resource_changes.filter(({ name }) => name === "www");
    expect(www.map(({ address, index }) => [address, index])).toEqual([
      ["domain/example.com/www/A[1]", 1],
      ["domain/example.com/www/A[2]", 2],
    ]);
  });

  it("is the same bytes for the same plan, however its changes and keys were ordered", () => {
    const first = change("vpc/a", "vpc", { after: { label: "a", region: "x" } });
    const second = change("vpc/b", "vpc", { after: { label: "b", region: "x" } });
    const turned = { ...first, after: { region: "x", label: "a" } };
    expect(renderPlanJson(plan([second, turned]))).toBe(renderPlanJson(plan([first, second])));
  });

  it("keeps whatever characters values have", async () => {
    const target = "\u001b[2J\u2028\ud83d\ude00\u202e__proto__";
    const changes = [change("domain/a/x/TXT", "domain_record", { after: record("x", "TXT", target) })];
    const parsed = await parsePlanFile(renderPlanJson(plan(changes)));
    expect(parsed.ok && parsed.plan.changes[0]?.after?.["target"]).toBe(target);
  });
});

describe("reading a plan file back", () => {
  it("gives the plan that was written", async () => {
    const written = everything();
    const parsed = await parsePlanFile(renderPlanJson(written));
    if (!parsed.ok) throw new Error(parsed.diagnostic.detail);
    expect(parsed.plan.steps).toEqual(written.steps);
    expect(new Set(parsed.plan.changes)).toEqual(new Set(written.changes));
    expect(renderPlanText(parsed.plan, { colour: false })).toBe(renderPlanText(written, { colour: false }));
    expect(renderPlanJson(parsed.plan)).toBe(renderPlanJson(written));
  });

  it("calls a file that ends too early truncated, wherever it was cut", async () => {
    const text = renderPlanJson(everything());
    for (let length = 0; length < text.length - 2; length += 97) {
      expect(await problemOf(text.slice(0, length))).toBe("plan-file-truncated");
    }
  });

  it("calls a file damaged that is not JSON, or not a plan", async () => {
    const text = renderPlanJson(everything());
    expect(await problemOf(text.replace('"create"', '"erase"'))).toBe("plan-file-damaged");
    expect(await problemOf(text.replace("{", "{{"))).toBe("plan-file-damaged");
    expect(await problemOf(text.replace('"requests":14', '"requests":"many"'))).toBe("plan-file-damaged");
    expect(await problemOf("[]")).toBe("plan-file-damaged");
    expect(await problemOf("null")).toBe("plan-file-damaged");
    expect(await problemOf("a recipe for soup")).toBe("plan-file-damaged");
  });

  it("calls a file damaged whose changes and what is said about them do not belong together", async () => {
    const file = fileOf(renderPlanJson(plan([change("vpc/a", "vpc", { after: { label: "a" } })])));
    expect(await problemOf(JSON.stringify({ ...file, tenon: { ...file.tenon, changes: {} } }))).toBe(
      "plan-file-damaged",
    );
  });

  it("refuses what a newer version wrote, before it looks for damage", async () => {
    const file = fileOf(renderPlanJson(everything()));
    expect(await problemOf(JSON.stringify({ tenon: { format_version: 2 } }))).toBe("plan-file-newer");
    expect(await problemOf(JSON.stringify({ ...file, tenon: { ...file.tenon, format_version: 99 } }))).toBe(
      "plan-file-newer",
    );
  });

  it("knows another tool's plan", async () => {
    expect(await problemOf('{"format_version":"1.2","resource_changes":[]}')).toBe("plan-file-foreign");
  });

  it("takes a plan of 12,000 records", async () => {
    const changes = Array.from({ length: 12_000 }, (_, index) =>
      change(`domain/big.example/host-${index}/A`, "domain_record", {
        after: record(`host-${index}`, "A", "192.0.2.1"),
      }),
    );
    const parsed = await parsePlanFile(renderPlanJson(plan(changes)));
    expect(parsed.ok && parsed.plan.changes.length).toBe(12_000);
  });
});
