import { describe, expect, it } from "vitest";
import { renderPlanMarkdown } from "../../../src/render/index.ts";
import { change, everything, going, NO_INPUTS, plan, record } from "../plans.ts";
import { statedIn } from "./anatomy.ts";

const WWW = change("domain/a.example/www/A", "domain_record", { after: record("www", "A", "192.0.2.1") });

describe("a plan as markdown", () => {
  it("shows everything there is to a plan", async () => {
    await expect(renderPlanMarkdown(everything())).toMatchFileSnapshot("../../golden/plan-everything.md");
  });

  it("shows many objects that only go as one fold, with a line for each and for what is in it", async () => {
    const text = renderPlanMarkdown(going());
    expect(text.match(/<details>/g)).toHaveLength(5);
    const { lines, counted, destroy, blocked } = statedIn(text);
    expect({ lines, counted, destroy, blocked }).toEqual({ lines: 53, counted: 0, destroy: 52, blocked: 1 });
    await expect(text).toMatchFileSnapshot("../../golden/plan-going.md");
  });

  it("tells this change from what was pending already, and what it takes back", async () => {
    const whole = everything();
    const changes = whole.changes.map((each, index) => ({
      ...each,
      origin: index % 3 === 0 ? ("already-pending" as const) : ("this-change" as const),
    }));
    const base = { name: "origin/main", withdrawn: [{ key: "domain/away.example", action: "delete" as const }] };
    const text = renderPlanMarkdown({ ...whole, changes, base, pace: { requests: 10, seconds: 10 } });
    expect(statedIn(text)).toMatchObject({
      changes: changes.filter(({ action }) => action !== "no-op").length,
      counted: 0,
    });
    await expect(text).toMatchFileSnapshot("../../golden/plan-base.md");
  });

  it("unfolds what this change brings, unless it is of many objects, and folds what was pending", () => {
    const zones = (many: number, origin: "this-change" | "already-pending") =>
      Array.from({ length: many }, (_, index) => {
        const address = `domain/${origin}-${index}.example/www/A`;
        return { ...change(address, "domain_record", { after: record("www", "A", `192.0.2.${index}`) }), origin };
      });
    const base = { name: "origin/main", withdrawn: [] };
    const folds = (own: number): (string | undefined)[] => {
      const text = renderPlanMarkdown(plan([...zones(own, "this-change"), ...zones(2, "already-pending")], { base }));
      const [, mine = "", pending = ""] = text.split("### ");
      expect([mine, pending]).toEqual([expect.stringMatching(/^This/), expect.stringMatching(/^Already/)]);
      return [mine, pending].map((part) => [...new Set(part.match(/<details.*>/g))].join());
    };
    expect(folds(10)).toEqual(["<details open>", "<details>"]);
    expect(folds(11)).toEqual(["<details>", "<details>"]);
  });

  it("names the base that it was narrowed by as code, whatever the name", () => {
    const name = "x`](https://evil.example) @admin <b>\u202e";
    const changedSince = { name, addresses: ["domain/a.example", "vpc/a", "vpc/b"] };
    const text = renderPlanMarkdown(plan([WWW], { inputs: { ...NO_INPUTS, changedSince } }));
    expect(text).toContain(
      "Only what is declared otherwise than at ``x`](https://evil.example) @admin <b>\\u{202e}`` was read: 2 VPCs, 1 domain.",
    );
    const long = { ...changedSince, name: "y".repeat(5_000), addresses: [] };
    expect(renderPlanMarkdown(plan([], { inputs: { ...NO_INPUTS, changedSince: long } })).length).toBeLessThan(500);
  });

  it("says in its heading that nothing is to be done", () => {
    const unchanged = change("vpc/a", "vpc", { action: "no-op", before: { label: "a" }, after: { label: "a" } });
    expect(
      renderPlanMarkdown(plan([unchanged], { leftAlone: [{ kind: "vpc", count: 1, reason: "undeclared" }] })),
    ).toBe("## No changes. Your infrastructure matches the configuration.\n\nLeft alone: 1 VPC (not declared).\n");
  });

  it("folds warnings after the changes, what is the same for several of them once, and counts them", () => {
    const kept = (name: string) => ({
      code: "cached-target",
      severity: "warning" as const,
      summary: `caches keep the old ${name}`,
      detail: "Resolvers go on giving it.",
    });
    const text = renderPlanMarkdown(plan([WWW], { warnings: [kept("a"), kept("b")] }));
    expect(text).toContain(
      "+ www A 192.0.2.1\n```\n\n</details>\n\n<details>\n<summary><b>Warnings</b> (2)</summary>\n\n```text\ncaches keep the old a\ncaches keep the old b\n  Resolvers go on giving it.\n```\n\n</details>\n",
    );
  });

  it("calls a plan that destroys by its name", () => {
    const gone = change("vpc/a", "vpc", { before: { label: "a" } });
    expect(renderPlanMarkdown(plan([gone], { goal: "destroy" }))).toMatch(
      /^## Destroy plan: 0 to add, 0 to change, 1 to destroy\.\n/,
    );
  });

  it("says whose changes there are none of", () => {
    const pending = { ...WWW, origin: "already-pending" as const };
    const text = renderPlanMarkdown(plan([pending], { base: { name: "main", withdrawn: [] } }));
    expect(text).toContain("Compared with `main`, this change brings: nothing. Pending without it: 1 to add.");
    expect(text).not.toContain("### This change");
  });

  it("counts the records of a copy, which are those of its source", () => {
    const copy = change("domain/b.example", "domain", { after: { domain: "b.example" } });
    const copied = change("domain/b.example/www/A", "domain_record", { after: record("www", "A", "192.0.2.1") });
    const source = change("domain/a.example", "domain", { after: { domain: "a.example" } });
    const strategies = [
      {
        type: "clone" as const,
        source: "domain/a.example",
        copies: ["domain/b.example"],
        requests: 3,
        requestsWithout: 4,
      },
    ];
    const text = renderPlanMarkdown(plan([source, WWW, copy, copied], { strategies }));
    expect(text).toContain("```diff\n+ domain b.example\n+   1 record as in domain a.example\n```");
    // The source's records stand nowhere else if it is there already.
    const beside = renderPlanMarkdown(plan([copy, copied], { strategies }));
    expect(beside).toContain("192.0.2.1");
    expect(beside).not.toContain("as in domain");
  });

  it("shows the sides of a long value as lines that are coloured", () => {
    const [from, to] = ["x".repeat(150), "y".repeat(150)];
    const before = record("t", "TXT", from);
    const text = renderPlanMarkdown(
      plan([change("domain/a.example/t/TXT", "domain_record", { before, after: record("t", "TXT", to) })]),
    );
    expect(text).toMatch(/^! t TXT\n- {6}"x+\n {8}│ x+"\n\+ {6}"y+\n {8}│ y+"$/m);
    expect(text.match(/y{2,}/g)?.join("").length).toBe(150);
  });

  it("says that a part of a value is not shown, where each change has one line", () => {
    const changes = Array.from({ length: 150 }, (_, index) =>
      change(`domain/a.example/t${index}/TXT`, "domain_record", {
        before: record(`t${index}`, "TXT", `a${"x".repeat(300)}b`),
        after: record(`t${index}`, "TXT", `c${"x".repeat(300)}d`),
      }),
    );
    const text = renderPlanMarkdown(plan(changes));
    expect(text.length).toBeLessThanOrEqual(65_536);
    expect(text).toContain("! t7 TXT (part of the value not shown)\n");
  });
});
