/** The page of a fleet in Debian's Chromium: accounts are found by outcome, label and word, read without a mouse, and printed. */

import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { FleetReport } from "../../../src/model/fleet.ts";
import { renderFleetHtml } from "../../../src/render/html/fleet-page.ts";
import { fleetReport } from "../../render/fleets.ts";
import { openBrowser, type Watched, watched } from "../../support/browser.ts";

let browser: Browser;

beforeAll(async () => {
  browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
});

async function open(report: FleetReport): Promise<Watched> {
  const { page, complaints } = await watched(browser);
  await page.setContent(renderFleetHtml(report, { full: false }));
  return { page, complaints };
}

async function count(page: Page): Promise<string> {
  return (await page.locator("output[name=count]").textContent()) ?? "";
}

/** Waits until the page has filtered, which it does a moment after the last letter. */
async function search(page: Page, text: string): Promise<void> {
  await page.fill("[name=search]", text);
  await page.press("[name=search]", "Enter");
}

it("finds accounts by outcome, by label and by what they print, alone and together", async () => {
  const { page, complaints } = await open(fleetReport(60));
  expect(await count(page)).toBe("60 accounts");
  await page.check("[value=failed]");
  expect(await count(page)).toBe("12 of 60 accounts");
  await page.selectOption("[name=label]", { label: "tier=gold" });
  expect(await count(page)).toBe("6 of 60 accounts");
  await page.uncheck("[value=failed]");
  expect(await count(page)).toBe("30 of 60 accounts");
  await page.selectOption("[name=label]", "");
  // Eleven of them print the same as the first, below which it stands.
  await search(page, "where this account is run");
  expect(await count(page)).toBe("12 of 60 accounts");
  await search(page, "shop44.example");
  expect(await count(page)).toBe("1 of 60 accounts");
  await search(page, "customer=shop59");
  expect(await count(page)).toBe("1 of 60 accounts");
  await page.keyboard.press("Escape");
  expect(await count(page)).toBe("60 accounts");
  expect(complaints).toEqual([]);
});

it("opens what an account has printed by keys, and by a link from an account that has printed the same", async () => {
  const { page } = await open(fleetReport(60));
  const shown = () => page.locator(".output").filter({ visible: true }).count();
  await page.keyboard.press("j");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("shop0");
  expect(await shown()).toBe(0);
  await page.keyboard.press("ArrowRight");
  expect(await shown()).toBe(1);
  await page.keyboard.press("ArrowLeft");
  expect(await shown()).toBe(0);
  await page.keyboard.press("ArrowLeft");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("12 accounts");
  await search(page, "shop11");
  await page.locator("a.same").filter({ visible: true }).first().click();
  await expect.poll(() => page.locator("#account-1").isVisible()).toBe(true);
  expect(await page.locator("#account-1 .output").isVisible()).toBe(true);
});

it("puts on paper what is folded, and no controls", async () => {
  const { page } = await open(fleetReport(60));
  await page.emulateMedia({ media: "print" });
  expect(await page.locator(".output").filter({ visible: true }).count()).toBe(25);
  expect(await page.locator(".filters").isVisible()).toBe(false);
});

it("keeps hostile names, labels and output text", async () => {
  const hostile = "</script></pre><img src=x onerror=alert(1)>\"'><svg onload=alert(2)>";
  const outcome = {
    type: "ran",
    code: 1,
    headline: hostile,
    text: `${hostile}\n`,
    markup: "plain",
    document: null,
  } as const;
  const accounts = [1, 2, 3, 4, 5].map((number) => ({
    ...{ name: `${hostile}${number}`, labels: { [hostile]: hostile }, outcome },
  }));
  const { page, complaints } = await open({ command: "apply", accounts });
  expect(await page.locator("img, main svg").count()).toBe(0);
  expect(await page.locator("main").textContent()).toContain(hostile);
  await page.selectOption("[name=label]", { index: 1 });
  expect(await count(page)).toBe("5 of 5 accounts");
  expect(complaints).toEqual([]);
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(wider).toBe(0);
});

it("lays out of a thousand accounts what is looked at, with everything open, and axe finds nothing serious in it", async () => {
  const { page, complaints } = await open(fleetReport(1_000));
  expect(await count(page)).toBe("1,000 accounts");
  await page.click("[name=expand]");
  const laidOut = () =>
    page.evaluate(
      () =>
        [...document.querySelectorAll(".change")].filter((line) =>
          line.checkVisibility({ contentVisibilityAuto: true }),
        ).length,
    );
  expect(await laidOut()).toBeGreaterThan(10);
  expect(await laidOut()).toBeLessThan(300);
  await search(page, "shop777 ");
  expect(await count(page)).toBe("1 of 1,000 accounts");
  await page.evaluate(axe.source);
  const serious = await page.evaluate(async () => {
    const injected = (globalThis as unknown as { axe: typeof axe }).axe;
    return (await injected.run()).violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  });
  expect(serious.map(({ id }) => id)).toEqual([]);
  expect(complaints).toEqual([]);
});
