import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import type { Plan } from "../../src/model/plan.ts";
import { tellOrigins } from "../../src/plan/origin.ts";
import { renderPlanJson } from "../../src/render/json.ts";
import { parsePlanFile } from "../../src/render/read-plan-file.ts";
import { renderPlanText } from "../../src/render/text.ts";
import { change, everything, plan, record } from "./plans.ts";

const PLAIN = { colour: false, width: 80 };
const www = change("domain/a.example/www/A", "domain_record", { after: record("www", "A", "192.0.2.1") });
const old = change("domain/a.example/old/A", "domain_record", { before: record("old", "A", "192.0.2.1") });

/** Everything there is, of which every other change is this one's. */
function halfPending(): Plan {
  const all = everything();
  const gone = change("vpc/gone", "vpc", { before: { label: "gone" } });
  return tellOrigins(
    all,
    { ...all, changes: [gone, ...all.changes.filter((_, index) => index % 2 === 0)] },
    "origin/main",
  );
}

describe("a plan compared with a base, as text", () => {
  it("shows this change, then what was pending, then what is withdrawn", async () => {
    await expect(renderPlanText(halfPending(), PLAIN)).toMatchFileSnapshot("../golden/plan-base.txt");
  });

  it("is the same with colours, but for the colours, and stays within 80 columns", () => {
    const text = renderPlanText(halfPending(), PLAIN);
    expect(stripVTControlCharacters(renderPlanText(halfPending(), { colour: true, width: 80 }))).toBe(text);
    expect(text.split("\n").filter((line) => [...line].length > 80)).toEqual([]);
  });

  it("shows every change once", () => {
    const text = renderPlanText(tellOrigins(plan([old, www]), plan([old]), "main"), PLAIN);
    expect(text).toBe(`This change, compared with main:

  domain a.example
  + www A 192.0.2.1

Already pending before this change (drift, or not yet applied):

  domain a.example
  - old A 192.0.2.1

Applying this takes 2 requests.

This change: 1 to add, 0 to change, 0 to destroy. Already pending: 0 to add, 0
to change, 1 to destroy.
Plan: 1 to add, 0 to change, 1 to destroy.
`);
  });

  it("says so where this change brings nothing, or nothing at all is to be done", () => {
    const pending = renderPlanText(tellOrigins(plan([old]), plan([old]), "main"), PLAIN);
    expect(pending.split("\n")[0]).toBe("This change, compared with main: nothing.");
    const undone = renderPlanText(tellOrigins(plan([]), plan([old]), "main"), PLAIN);
    expect(undone).toBe(`This change, compared with main: nothing.

Withdrawn: main would do this, and no longer with this change:
  delete domain/a.example/old/A

No changes. Your infrastructure matches the configuration.
`);
  });

  it("shows the name of the base escaped, and not beyond measure", () => {
    const name = `\u001b[2J\u202e${"x".repeat(500)}`;
    const text = renderPlanText(tellOrigins(plan([www]), plan([]), name), PLAIN);
    expect(text).not.toMatch(/[^\P{C}\n]/u);
    expect(text.split("\n")[0]?.length).toBeLessThan(90);
  });

  it("is read back from its file as it was", async () => {
    const told = halfPending();
    const parsed = await parsePlanFile(renderPlanJson(told));
    expect(parsed.ok && renderPlanText(parsed.plan, PLAIN)).toBe(renderPlanText(told, PLAIN));
  });
});
