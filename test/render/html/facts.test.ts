/** A page says what text, markdown and JSON say. */

import { describe, expect, it } from "vitest";
import { driftOf } from "../../../src/plan/drift.ts";
import {
  renderDriftHtml,
  renderDriftText,
  renderPlanHtml,
  renderPlanText,
  renderReportHtml,
  renderReportText,
} from "../../../src/render/index.ts";
import { change, everything, going, plan, record } from "../plans.ts";
import { PARTIAL } from "../reports.ts";
import { expectWords, startTags, textOf, unescaped } from "./page-text.ts";

/** Nothing is wrapped, cut or folded. */
const WIDE = { colour: false, width: 100_000, full: true };

describe("the page of a plan", () => {
  it("says every word that the text says", async () => {
    expectWords(await renderPlanHtml(everything(), { full: true }), renderPlanText(everything(), WIDE), ["Warning"]);
    expectWords(await renderPlanHtml(going(), { full: true }), renderPlanText(going(), WIDE));
  });

  it("has a line for each change, and for a folded entry the number of changes that it stands for", async () => {
    const zones = Array.from({ length: 9 }, (_, index) => {
      const after = record("www", "A", "192.0.2.7");
      return change(`domain/brand${index}.example/www/A`, "domain_record", { after });
    });
    for (const made of [everything(), going(), plan(zones)]) {
      const changes = made.changes.filter(({ action }) => action !== "no-op");
      for (const full of [true, false]) {
        const tags = startTags(await renderPlanHtml(made, { full }), /data-state="/);
        const counts = tags.map((tag) => Number(/data-count="(\d+)"/.exec(tag)?.[1] ?? "1"));
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(changes.length);
      }
    }
  });

  it("puts refusals, guards, blocks and gaps before the changes, in this order", async () => {
    const refusals = [{ code: "x", severity: "error" as const, summary: "the account is another one", detail: "Why." }];
    const page = await renderPlanHtml({ ...everything(), refusals });
    const ids = [...page.matchAll(/<section id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids.slice(0, 5)).toEqual(["refused", "guards", "blocked", "gaps", "changes"]);
    expect(textOf(page)).toContain("the account is another one");
  });

  it("leads from each block to the change that is blocked", async () => {
    const page = await renderPlanHtml(everything(), { full: true });
    const blocked = everything().changes.filter((one) => one.blocked !== null);
    const links = [...page.matchAll(/<a href="#(change-\d+)"><b>([^<]*)<\/b>/g)];
    expect(links.map(([, , key]) => unescaped(key ?? ""))).toEqual(blocked.map(({ key }) => key));
    for (const [, id] of links) expect(startTags(page, new RegExp(` id="${id}"`))).toHaveLength(1);
  });

  it("marks the part of a value that differs, by whole words", async () => {
    const texts = async (before: string, after: string): Promise<string> => {
      const changed = change("domain/a.example/t/TXT", "domain_record", {
        before: record("t", "TXT", before),
        after: record("t", "TXT", after),
      });
      const page = await renderPlanHtml(plan([changed]));
      return [...page.matchAll(/<mark>([^<]*)<\/mark>/g)].map(([, text]) => unescaped(text ?? "")).join("|");
    };
    expect(await texts("192.0.2.10", "192.0.2.11")).toBe("10|11");
    expect(await texts("v=spf1 mx ~all", "v=spf1 mx a ~all")).toBe("a ");
    expect(await texts(`k=${"a".repeat(40)}b${"c".repeat(40)}`, `k=${"a".repeat(40)}d${"c".repeat(40)}`)).toBe("b|d");
    // Both of a pair, or neither.
    expect(await texts(`${"x".repeat(40)}\u{1f600}`, `${"x".repeat(40)}\u{1f601}`)).toBe("\u{1f600}|\u{1f601}");
    expect(await texts("one", "two")).toBe("one|two");
  });

  it("names each of many that are alike, and shows their changes once", async () => {
    const zones = Array.from({ length: 39 }, (_, index) => {
      const after = record("www", "A", "192.0.2.7");
      return change(`domain/brand${index}.example/www/A`, "domain_record", { after });
    });
    const page = await renderPlanHtml(plan(zones));
    for (const { root } of zones) expect(startTags(page, new RegExp(` data-root="${root}"`))).toHaveLength(1);
    expect(startTags(page, /data-state="create"/)).toEqual([expect.stringContaining('data-count="39"')]);
  });

  it("tells what a pull request brings from what was pending, and says what is withdrawn and left out", async () => {
    const [own, pending] = [record("a", "A", "192.0.2.1"), record("b", "A", "192.0.2.2")];
    const made = plan(
      [
        change("domain/a.example/a/A", "domain_record", { after: own, origin: "this-change" }),
        change("domain/a.example/b/A", "domain_record", { after: pending, origin: "already-pending" }),
      ],
      {
        base: { name: "main", withdrawn: [{ key: "domain/a.example/c/A", action: "delete" }] },
        withheld: [{ key: "domain/a.example/d/A", action: "delete" }],
      },
    );
    const page = await renderPlanHtml(made);
    expectWords(page, renderPlanText(made, WIDE));
    expect(textOf(page).indexOf("192.0.2.1")).toBeLessThan(textOf(page).indexOf("Already pending before this change"));
  });

  it("shows first what the reviewed plan does not", async () => {
    const [first] = everything().changes;
    if (first === undefined) throw new Error("no change");
    const page = await renderPlanHtml(everything(), { unreviewed: [first] });
    expect(/<section id="([^"]+)"/.exec(page)?.[1]).toBe("unreviewed");
    expect(textOf(page)).toContain(`${first.action} ${first.key}`);
  });

  it("says that there is nothing to do, and has nothing to search then", async () => {
    const page = await renderPlanHtml(plan([]));
    expect(textOf(page)).toContain("No changes. Your infrastructure matches the configuration.");
    expect(page).not.toContain("<form");
  });
});

describe("the page of a report", () => {
  it("says every word that the text says, and what was done", async () => {
    const page = await renderReportHtml(PARTIAL, everything(), null, { full: true });
    expectWords(page, renderReportText(PARTIAL, everything(), WIDE), ["Note", "Resources"]);
  });

  it("puts what is not done first, and gives each change its outcome", async () => {
    const page = await renderReportHtml(PARTIAL, everything(), null, { full: true });
    expect(/<section id="([^"]+)"/.exec(page)?.[1]).toBe("failed");
    for (const { key, outcome } of PARTIAL.changes) {
      if (!everything().changes.some((one) => one.key === key)) continue;
      expect(startTags(page, new RegExp(`data-state="${outcome}"`)).length).toBeGreaterThan(0);
    }
  });
});

describe("the page of a drift", () => {
  it("says every word that the text says", async () => {
    const drift = driftOf(everything());
    expectWords(await renderDriftHtml(drift), renderDriftText(drift, WIDE));
  });

  it("says that there is none", async () => {
    expect(textOf(await renderDriftHtml(driftOf(plan([]))))).toContain("No drift.");
  });
});

describe("any page", () => {
  it("is the same bytes for the same input", async () => {
    expect(await renderPlanHtml(everything())).toBe(await renderPlanHtml(everything()));
  });

  it("loads nothing, and its policy allows its own style and script alone", async () => {
    const page = await renderPlanHtml(everything());
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1] ?? "";
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; script-src 'sha256-[\w+/=]{44}'; base-uri 'none'; form-action 'none'$/,
    );
    expect(startTags(page, /\s(?:src|srcset|style|on\w+)=|href="(?!#)/)).toEqual([]);
    expect(page.match(/<(?:link|img|iframe|object|embed|base)\b/g)).toBeNull();
    expect([page.match(/<script>/g)?.length, page.match(/<style>/g)?.length]).toEqual([1, 1]);
  });
});
