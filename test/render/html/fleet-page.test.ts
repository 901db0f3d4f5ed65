/** The page of a fleet says what its text says, within the size that a browser opens. */

import { describe, expect, it } from "vitest";
import type { AccountResult, FleetReport } from "../../../src/model/fleet.ts";
import { renderFleetTextParts } from "../../../src/render/fleet.ts";
import { renderFleetHtml } from "../../../src/render/html/fleet-page.ts";
import { fleetReport } from "../fleets.ts";
import { expectWords, startTags, textOf, unescaped } from "./page-text.ts";

const WIDE = { width: 100_000, full: true };

function reportOf(...texts: readonly string[]): FleetReport {
  const accounts = texts.map((text, index): AccountResult => {
    const outcome = {
      type: "ran",
      code: 2,
      text,
      headline: `${index} to add`,
      markup: "plain",
      document: null,
    } as const;
    return { name: `a${index}`, labels: {}, outcome };
  });
  return { command: "plan", accounts };
}

describe("the page of a fleet", () => {
  it("says every word that the text says, whether accounts are folded or not", () => {
    for (const count of [1, 7, 60]) {
      for (const full of [true, false]) {
        expectWords(
          renderFleetHtml(fleetReport(count), { full }),
          [...renderFleetTextParts(fleetReport(count), WIDE)].join(""),
        );
      }
    }
  });

  it("has an entry for each account with its outcome, those that need a person most first", () => {
    const page = renderFleetHtml(fleetReport(60), { full: false });
    const states = startTags(page, / data-state="/).map((tag) => / data-state="([^"]+)"/.exec(tag)?.[1] ?? "");
    expect(states).toHaveLength(60);
    expect([...new Set(states)]).toEqual(["failed", "refused", "pending", "not-run", "done"]);
    expect(textOf(page)).toContain("Fleet: 60 accounts: 18 done, 18 pending, 6 refused, 12 failed, 6 not run.");
    expect(startTags(page, /^<details class="unit /)).toHaveLength(5);
    expect(startTags(renderFleetHtml(fleetReport(60), { full: true }), /^<details class="unit /)).toHaveLength(60);
  });

  it("shows once what several accounts print, and leads to it from the others", () => {
    const page = renderFleetHtml(fleetReport(60), { full: false });
    expect(page.split("error[token-missing]")).toHaveLength(2);
    const links = [...page.matchAll(/<a class="same" href="#([^"]+)">([^<]*)<\/a>/g)];
    expect(links).toHaveLength(11);
    expect(new Set(links.map(([, , text]) => text))).toEqual(new Set(["prints the same as shop0"]));
    for (const [, id] of links) expect(startTags(page, new RegExp(` id="${id}"`))).toHaveLength(1);
  });

  it("offers the labels that accounts share, not those that tell them apart", () => {
    const page = renderFleetHtml(fleetReport(60), { full: false });
    const options = [...page.matchAll(/<option value="\d+">([^<]*)<\/option>/g)].map(([, text]) =>
      unescaped(text ?? ""),
    );
    expect(options).toEqual(["tier=gold", "tier=tin"]);
    expect(textOf(page)).toContain("customer=shop42");
  });

  it("holds text as text, in lines whose colour is that of their sign, without a terminal's colours", () => {
    const page = renderFleetHtml(reportOf("\u001b[32m+ domain <b>x</b>\u001b[39m\n  ~ www \u202e\nerror: y\n"), {
      full: false,
    });
    expect(page).toContain('<span class="create">+ domain &lt;b&gt;x&lt;/b&gt;</span>\n');
    expect(page).toContain('<span class="update">  ~ www \\u{202e}</span>\n<span class="failed">error: y</span>');
    expect(page).not.toContain("\u001b");
  });

  it("stays of a size that a browser opens, and says of which account it shows less", () => {
    const long = (name: string): string => `${`+ ${name} ${"x".repeat(90)}\n`.repeat(20_000)}`;
    const one = renderFleetHtml(reportOf(long("a"), "short\n"), { full: false });
    expect(one.length).toBeLessThan(700_000);
    expect(textOf(one)).toMatch(/There is no room for \d+ further lines:\s+tenon fleet plan --select name=a0/);
    expect(textOf(one)).toContain("short");
    const texts = Array.from({ length: 100 }, (_, index) => long(`zone${index}`));
    expect(renderFleetHtml(reportOf(...texts), { full: false }).length).toBeLessThan(40_000_000);
  });
});
