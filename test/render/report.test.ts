import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import type { Report } from "../../src/model/report.ts";
import { failureText, renderReportJson, renderReportText } from "../../src/render/report.ts";
import { change, everything, plan } from "./plans.ts";
import { CLASH, PARTIAL, report, step } from "./reports.ts";

const PLAIN = { colour: false, width: 80 };

describe("a report as text", () => {
  it("says what failed, why, and what was left because of it", async () => {
    await expect(renderReportText(PARTIAL, everything(), PLAIN)).toMatchFileSnapshot("../golden/report-partial.txt");
  });

  it("says what the service said once, as the message holds it", () => {
    const text = renderReportText(PARTIAL, everything(), { ...PLAIN, width: 1000 });
    expect(text.split("CNAMES must be unique")).toHaveLength(2);
    expect(failureText({ ...CLASH, attempts: 2, message: "a \u001b" })).toBe("a \\u{1b} (after 2 attempts)");
  });

  it("does not tell a failure as its own cause, and tells other causes beside it", () => {
    const own = step("create image/a", { changes: ["image/a"], outcome: "failed", failure: CLASH });
    const after = (because: string[]) => step("tag image/a", { changes: ["image/a"], outcome: "skipped", because });
    const text = (because: string[]) =>
      renderReportText(
        report({ steps: [own, after(because)], changes: [{ key: "image/a", outcome: "failed" }] }),
        plan([]),
        PLAIN,
      );
    expect(text(["create image/a"])).not.toContain("needs what failed");
    expect(text(["create image/a", "create vpc/b"])).toContain("  needs what failed: create vpc/b\n");
  });

  it("fits 80 columns but for words that are longer", () => {
    const text = renderReportText(PARTIAL, everything(), PLAIN);
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(text).toContain("Apply incomplete:");
  });

  it("is one line when all went well, as Terraform's", () => {
    const done = report({ changes: [{ key: "vpc/a", outcome: "done" }], added: 1 });
    expect(renderReportText(done, plan([]), PLAIN)).toBe(
      "Apply complete! Resources: 1 added, 0 changed, 0 destroyed.\n",
    );
    expect(renderReportText(done, plan([], { goal: "destroy" }), PLAIN)).toMatch(/^Destroy complete! /);
  });

  const cut = (rest: Partial<Report> = {}): Report => {
    const keys = Array.from({ length: 13 }, (_, zone) =>
      Array.from({ length: 25 }, (_, index) => `domain/z${String(zone).padStart(2, "0")}.example/n${index}/A`),
    ).flat();
    return report({
      steps: keys.map((key) => step(`create ${key}`, { changes: [key], outcome: "skipped" })),
      changes: [...keys.map((key) => ({ key, outcome: "skipped" as const })), { key: "vpc/a", outcome: "done" }],
      added: 1,
      skipped: keys.length,
      interrupted: true,
      ...rest,
    });
  };

  it("counts what an interrupted run did not begin, by what it belongs to, and says to run it again", () => {
    const text = renderReportText(cut(), plan([]), PLAIN);
    expect(text).toBe(`325 changes were not begun when the run was interrupted:
${[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((zone) => `  domain/z0${zone}.example (25)\n`).join("")}  and in 3 more networks, zones or images

Run it again: what is done is not done twice.
Apply interrupted: 325 skipped. Resources: 1 added, 0 changed, 0 destroyed.
`);
    expect(JSON.parse(renderReportJson(cut(), plan([]))).changes).toHaveLength(326);
  });

  it("still tells what failed, what needs it, and what is done in part, each by itself", () => {
    const whole = cut();
    const failed = step("create vpc/b", { changes: ["vpc/b"], outcome: "failed", failure: CLASH });
    const needs = step("create vpc/c", { changes: ["vpc/c"], outcome: "skipped", because: ["create vpc/b"] });
    const half = [
      step("create vpc/d", { changes: ["vpc/d"] }),
      step("tag vpc/d", { changes: ["vpc/d"], outcome: "skipped" }),
    ];
    const more = [
      { key: "vpc/b", outcome: "failed" as const },
      { key: "vpc/c", outcome: "skipped" as const },
      { key: "vpc/d", outcome: "partial" as const },
    ];
    const mixed = cut({
      steps: [...whole.steps.slice(0, 1), failed, needs, ...half],
      changes: [...whole.changes.slice(0, 1), ...more],
      failed: 1,
    });
    expect(renderReportText(mixed, plan([]), PLAIN).split("\n").slice(0, 10)).toEqual([
      "failed vpc/b",
      "  create vpc/b: name: Record conflict - CNAMES must be unique (400)",
      "skipped vpc/c",
      "  needs what failed: create vpc/b",
      "done in part vpc/d",
      "  not begun when the run was interrupted",
      "1 change was not begun when the run was interrupted:",
      "  domain/z00.example/n0/A",
      "",
      "Run it again when the cause is mended: what is done is not done twice.",
    ]);
  });

  it("never calls a run complete that was interrupted or left something blocked", () => {
    expect(renderReportText(report({ interrupted: true }), plan([]), PLAIN)).toContain(
      "Apply interrupted: Resources: 0 added",
    );
    const blocked = report({ blocked: 1, changes: [{ key: "vpc/prod/subnet/web", outcome: "blocked" }] });
    expect(renderReportText(blocked, everything(), PLAIN)).toContain("Apply incomplete: 1 blocked. ");
  });
});

describe("a report as JSON", () => {
  it("is one line that fits its published schema", async () => {
    const text = renderReportJson(PARTIAL, plan([change("vpc/a", "vpc", { after: { label: "a" } })]));
    expect(text.split("\n")).toHaveLength(2);
    const schema = JSON.parse(readFileSync(new URL("../../schemas/report.schema.json", import.meta.url), "utf8"));
    const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);
    validate(JSON.parse(text));
    expect(validate.errors).toBeNull();
    await expect(`${JSON.stringify(JSON.parse(text), null, 2)}\n`).toMatchFileSnapshot("../golden/report-partial.json");
  });
});
