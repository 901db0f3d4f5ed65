import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import type { Change } from "../../src/model/change.ts";
import type { Plan } from "../../src/model/plan.ts";
import { parsePlanFile } from "../../src/pipeline.ts";
import { renderPlanText } from "../../src/render/index.ts";
import { type PlanFile, renderPlanJson, renderPlanJsonParts } from "../../src/render/plan-json.ts";
import { units } from "../../src/units/index.ts";
import { change, everything, going, NO_INPUTS, plan, record } from "./plans.ts";

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
    const keys = ["format_version", "applyable", "complete", "errored", "planned_values", "resource_changes", "tenon"];
    expect(Object.keys(fileOf(text))).toEqual(keys);
    await expect(text).toMatchFileSnapshot("../golden/plan-everything.json");
  });

  it("is written in parts of about a mebibyte, each of whole lines, that are made one after the other", () => {
    const records = Array.from({ length: 5_000 }, (_, index) =>
      change(`domain/a.example/n${index}/TXT`, "domain_record", { after: record(`n${index}`, "TXT", "x".repeat(300)) }),
    );
    const parts: string[] = [];
    for (const part of renderPlanJsonParts(plan(records))) parts.push(part);
    expect(parts.length).toBeGreaterThan(4);
    for (const part of parts) {
      expect(part.length).toBeLessThan(1024 * 1024 + 4096);
      expect(part.endsWith("\n")).toBe(true);
    }
    expect(fileOf(parts.join("")).resource_changes).toHaveLength(5_000);
  });

  it("fits its published schema", () => {
    const schema = JSON.parse(readFileSync(new URL("../../schemas/plan.schema.json", import.meta.url), "utf8"));
    const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);
    validate(fileOf(renderPlanJson(everything())));
    expect(validate.errors).toBeNull();
  });

  it("says what goes with a domain, and which consents would settle all that is missing", async () => {
    const schema = JSON.parse(readFileSync(new URL("../../schemas/plan.schema.json", import.meta.url), "utf8"));
    const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);
    const text = renderPlanJson(going());
    const { tenon } = fileOf(text);
    validate(fileOf(text));
    expect(validate.errors).toBeNull();
    expect(tenon.changes["domain/e1.test"]?.holds).toEqual({ records: 37, ignored: 4 });
    expect(tenon.changes["domain/parked-1.example"]?.holds).toEqual({ records: 12, ignored: null });
    expect(tenon.changes["image/base-1"]).not.toHaveProperty("holds");
    expect(tenon.missing_consent).toEqual([
      { rule: "delete", address: "domain/parked-*.example", guards: 39 },
      { rule: "delete", address: "domain/xn--bcher-kva.example", guards: 1 },
      { rule: "delete", address: "image/base*", guards: 4 },
      { rule: "delete", address: "vpc/*", guards: 4 },
    ]);
    expect(tenon.guards).toHaveLength(48);
    const parsed = await parsePlanFile(text);
    expect(parsed.ok && renderPlanJson(parsed.plan)).toBe(text);
    expect(parsed.ok && renderPlanText(parsed.plan, { colour: false })).toBe(
      renderPlanText(going(), { colour: false }),
    );
  });

  it("asks for no consent to what has it, or can have none", () => {
    const guard = { address: "vpc/a", count: null, of: null, origin: null };
    const given = { ...guard, rule: "delete", consent: "given" } as const;
    const impossible = { ...guard, rule: "protect", consent: "impossible" } as const;
    expect(fileOf(renderPlanJson(plan([], { guards: [given, impossible] }))).tenon.missing_consent).toEqual([]);
    const odd = { ...guard, address: "image/a*b\\", rule: "delete", consent: "missing" } as const;
    const asked = [{ rule: "delete", address: "image/a\\*b\\\\", guards: 1 }];
    expect(fileOf(renderPlanJson(plan([], { guards: [odd] }))).tenon.missing_consent).toEqual(asked);
  });

  it("names actions, ids and what is not known yet as Terraform does", () => {
    const replaced = change("vpc/a", "vpc", {
      before: { label: "a", region: "x" },
      after: { label: "a", region: "y" },
      action: "replace",
      replaceFields: ["region"],
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
        replace_paths: [["region"]],
      },
      action_reason: "replace_because_cannot_update",
    });
  });

  it("says why something goes or is made anew, in Terraform's words, and nothing of a destroy", () => {
    const gone = change("vpc/a", "vpc", { before: { label: "a" } });
    const undone = { before: { label: "g" }, after: { label: "g" }, action: "replace" as const };
    const unfinished = change("image/g", "image", { ...undone, labels: ["unfinished"] });
    const reasons = (goal: Plan["goal"]) =>
      fileOf(renderPlanJson(plan([gone, unfinished], { goal }))).resource_changes.map((one) => one.action_reason);
    expect(reasons("apply")).toEqual(["replace_because_tainted", "delete_because_no_resource_config"]);
    expect(reasons("destroy")).toEqual(["replace_because_tainted", undefined]);
  });

  it("shows what is blocked as what it is, with what was wanted beside the block", async () => {
    const block = { type: "depends", on: ["vpc/a"] } as const;
    const values = { label: "a", region: "x" };
    const changes = [
      change("vpc/a", "vpc", { before: values, blocked: block }),
      change("vpc/b", "vpc", { after: { label: "b", region: "x" }, blocked: block }),
      change("vpc/c", "vpc", {
        before: { label: "d" },
        after: { label: "c" },
        previousAddress: "vpc/d",
        blocked: block,
      }),
    ];
    const written = plan(changes);
    const { resource_changes, planned_values, tenon, ...flags } = fileOf(renderPlanJson(written));
    const there = { id: 7, ...values };
    expect(resource_changes.map(({ change }) => change)).toEqual([
      { actions: ["no-op"], before: there, after: there, after_unknown: {} },
      { actions: ["no-op"], before: null, after: null, after_unknown: {} },
      { actions: ["no-op"], before: { id: 7, label: "d" }, after: { id: 7, label: "d" }, after_unknown: {} },
    ]);
    expect(resource_changes.some((one) => "previous_address" in one || "action_reason" in one)).toBe(false);
    expect(planned_values.root_module.resources.map(({ address }) => address)).toEqual(["vpc/a", "vpc/c"]);
    expect(tenon.changes["vpc/a"]).toMatchObject({ blocked: block, wanted: { actions: ["delete"], before: there } });
    expect(flags).toMatchObject({ applyable: false, complete: false, errored: false });
    const parsed = await parsePlanFile(renderPlanJson(written));
    expect(parsed.ok && parsed.plan.changes).toEqual(changes);
  });

  it("says whether it can be applied, whether that completes it, and whether it is refused", () => {
    const some = [change("vpc/a", "vpc", { after: { label: "a" } })];
    const flagsOf = (changes: Change[], rest: Partial<Plan> = {}) => {
      const { applyable, complete, errored } = fileOf(renderPlanJson(plan(changes, rest)));
      return { applyable, complete, errored };
    };
    const refusals = [{ code: "x", severity: "error", summary: "no", detail: "" } as const];
    const inputs = { ...NO_INPUTS, targets: ["vpc/*"] };
    expect(flagsOf(some)).toEqual({ applyable: true, complete: true, errored: false });
    expect(flagsOf([])).toEqual({ applyable: false, complete: true, errored: false });
    expect(flagsOf(some, { inputs })).toEqual({ applyable: true, complete: false, errored: false });
    expect(flagsOf(some, { refusals })).toEqual({ applyable: false, complete: false, errored: true });
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
    expect(await problemOf(JSON.stringify({ tenon: { format_version: 3 } }))).toBe("plan-file-newer");
    expect(await problemOf(JSON.stringify({ ...file, tenon: { ...file.tenon, format_version: 99 } }))).toBe(
      "plan-file-newer",
    );
  });

  it("refuses what an older version wrote, by name", async () => {
    expect(await problemOf(JSON.stringify({ tenon: { format_version: 1 } }))).toBe("plan-file-older");
  });

  it("knows another tool's plan, and what is no plan", async () => {
    expect(await problemOf('{"format_version":"1.2","resource_changes":[]}')).toBe("plan-file-foreign");
    // Reports of either version are written, never read back.
    expect(await problemOf('{"type":"report","format_version":1,"surprises":[]}')).toBe("plan-file-foreign");
    expect(await problemOf('{"type":"report","format_version":2,"notices":[]}')).toBe("plan-file-foreign");
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

it("the published schemas name the kinds and units that there are, and no other", () => {
  const enums = (name: string, words: readonly string[]): string[] => {
    const text = readFileSync(join(import.meta.dirname, "../../schemas", `${name}.schema.json`), "utf8");
    const found = text.match(/"enum": \[[^\]]*\]/g) ?? [];
    return found.filter((list) => list.includes(`"${words[0]}"`));
  };
  const kinds = units.flatMap((unit) => unit.kinds.map(({ kind }) => kind));
  for (const [name, words] of [
    ["plan", kinds],
    ["plan", units.map((unit) => unit.name)],
    ["drift", kinds],
  ] as const) {
    const found = enums(name, words);
    expect(found).not.toEqual([]);
    for (const list of found) expect(list).toBe(`"enum": ["${words.join('", "')}"]`);
  }
});
