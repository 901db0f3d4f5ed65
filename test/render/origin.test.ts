import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import type { Change } from "../../src/model/change.ts";
import type { Diagnostic } from "../../src/model/diagnostic.ts";
import { Kinds } from "../../src/model/kind.ts";
import type { Guard, Plan } from "../../src/model/plan.ts";
import { parsePlanFile } from "../../src/pipeline.ts";
import { attributeOrigins } from "../../src/plan/compare-base.ts";
import { renderPlanMarkdown, renderPlanText } from "../../src/render/index.ts";
import { renderPlanJson } from "../../src/render/plan-json.ts";
import { units } from "../../src/units/index.ts";
import { change, everything, plan, record } from "./plans.ts";

const PLAIN = { colour: false, width: 80 };
const www = change("domain/a.example/www/A", "domain_record", { after: record("www", "A", "192.0.2.1") });
const old = change("domain/a.example/old/A", "domain_record", { before: record("old", "A", "192.0.2.1") });

/** Everything there is, of which every other change is this one's. */
function halfPending(): Plan {
  const all = everything();
  const gone = change("vpc/gone", "vpc", { before: { label: "gone" } });
  return attributeOrigins(
    all,
    { ...all, changes: [gone, ...all.changes.filter((_, index) => index % 2 === 0)] },
    "origin/main",
    new Kinds(units),
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
    const text = renderPlanText(attributeOrigins(plan([old, www]), plan([old]), "main", new Kinds(units)), PLAIN);
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
    const pending = renderPlanText(attributeOrigins(plan([old]), plan([old]), "main", new Kinds(units)), PLAIN);
    expect(pending.split("\n")[0]).toBe("This change, compared with main: nothing.");
    const undone = renderPlanText(attributeOrigins(plan([]), plan([old]), "main", new Kinds(units)), PLAIN);
    expect(undone).toBe(`This change, compared with main: nothing.

Withdrawn, or done otherwise: main would do this without this change:
  delete domain/a.example/old/A

No changes. Your infrastructure matches the configuration.
`);
  });

  it("says of a guard that this change has no part in it, and only then", () => {
    const guard = (rule: Guard["rule"], address: string): Guard => {
      return { rule, address, consent: "missing", count: 2, of: 4, origin: null };
    };
    const ns = change("domain/a.example/@/NS", "domain_record", { after: record("", "NS", "ns.example.net") });
    const vpc = change("vpc/a", "vpc", { before: { label: "a" }, after: { label: "a" }, action: "replace" });
    const subnet = change("vpc/a/subnet/s", "vpc_subnet", { after: { label: "s" } });
    const guards = [
      guard("bulk", "domain/a.example"),
      guard("ns", "domain/a.example"),
      guard("replace", "vpc/a"),
      guard("max-changes", "*"),
    ];
    const marked = (changes: readonly Change[], pending: readonly Change[]): string[] => {
      const markdown = renderPlanMarkdown(
        attributeOrigins(plan(changes, { guards }), plan(pending), "main", new Kinds(units)),
      );
      const text = renderPlanText(
        attributeOrigins(plan(changes, { guards }), plan(pending), "main", new Kinds(units)),
        {
          ...PLAIN,
          width: 200,
        },
      );
      const found = (all: string) =>
        [...all.matchAll(/^ *(.*) \(already pending before this change\)$/gm)].map(([, what]) => what ?? "");
      expect(found(text)).toEqual(found(markdown));
      return found(text).map((what) => /records of|NS|made anew|--max-changes/.exec(what)?.[0] ?? what);
    };
    // What is only added has no part in what goes.
    expect(marked([old, www, ns, vpc, subnet], [old, ns, vpc])).toEqual(["records of", "NS", "made anew"]);
    expect(marked([old, ns, vpc], [old, ns, vpc])).toEqual(["records of", "NS", "made anew", "--max-changes"]);
    expect(marked([old, ns, vpc], [vpc])).toEqual(["made anew"]);
    const adopts = change("domain/a.example", "domain", { before: { owner: null }, after: { owner: "e" } });
    expect(marked([adopts, old], [old])).toEqual([]);
    expect(renderPlanText(plan([old], { guards }), PLAIN)).not.toContain("already pending");
  });

  it("says the same of a warning, by where it is declared or else by its address", () => {
    const span = (start: number) => ({ file: "tenon.yaml", start, end: start + 1 });
    const warning = (summary: string, rest: Partial<Diagnostic>): Diagnostic => {
      return { code: "c", severity: "warning", summary, detail: "", ...rest };
    };
    const [pending, own] = [
      { ...old, span: span(1) },
      { ...www, span: span(2) },
    ];
    const address = "domain/a.example";
    const warnings = [
      warning("here", { address, span: span(1) }),
      warning("there", { address, span: span(2) }),
      warning("zone", { address }),
      warning("nowhere", {}),
    ];
    const marked = (changes: readonly Change[]): string[] => {
      const text = renderPlanText(
        attributeOrigins(plan(changes, { warnings }), plan([pending]), "main", new Kinds(units)),
        { ...PLAIN, full: true },
      );
      return [...text.matchAll(/^Warning: (\w+) \(already pending before this change\)$/gm)].map(
        ([, what = ""]) => what,
      );
    };
    expect(marked([pending, own])).toEqual(["here"]);
    expect(marked([pending])).toEqual(["here", "there", "zone"]);
    expect(marked([own])).toEqual([]);
  });

  it("tells many withdrawn changes by what they belong to, and leaves none out", () => {
    const gone = Array.from({ length: 11 }, (_, index) =>
      change(`domain/${index < 10 ? "a" : "b"}.example/n${index}/A`, "domain_record", {
        before: record(`n${index}`, "A", "192.0.2.1"),
      }),
    );
    const linesOf = (changes: readonly Change[]): string[] =>
      renderPlanText(attributeOrigins(plan([]), plan(changes), "main", new Kinds(units)), PLAIN)
        .split("\n")
        .slice(3);
    expect(linesOf(gone).slice(0, 3)).toEqual([
      "  domain/a.example: 10 changes",
      "    delete domain/a.example/n0/A",
      "    delete domain/a.example/n1/A",
    ]);
    expect(linesOf(gone).filter((line) => line.includes("delete"))).toHaveLength(11);
    expect(linesOf(gone)).toContain("  delete domain/b.example/n10/A");
    expect(linesOf(gone.slice(1))[0]).toBe("  delete domain/a.example/n1/A");
  });

  it("shows the name of the base escaped, and not beyond measure", () => {
    const name = `\u001b[2J\u202e${"x".repeat(500)}`;
    const text = renderPlanText(attributeOrigins(plan([www]), plan([]), name, new Kinds(units)), PLAIN);
    expect(text).not.toMatch(/[^\P{C}\n]/u);
    expect(text.split("\n")[0]?.length).toBeLessThan(90);
  });

  it("is read back from its file as it was", async () => {
    const told = halfPending();
    const parsed = await parsePlanFile(renderPlanJson(told));
    expect(parsed.ok && renderPlanText(parsed.plan, PLAIN)).toBe(renderPlanText(told, PLAIN));
    expect(parsed.ok && parsed.plan.guards).toEqual(told.guards);
    expect(new Set(told.guards.map(({ origin }) => origin))).toEqual(new Set(["already-pending", "this-change"]));
  });

  it("has no origin of a guard in its file, as it follows from the changes", () => {
    const { tenon } = JSON.parse(renderPlanJson(halfPending()));
    expect(tenon.guards.filter((guard: object) => "origin" in guard)).toEqual([]);
    expect(tenon.guards).toHaveLength(halfPending().guards.length);
  });
});
