/** The pictures of a page in Debian's Chromium: panned, zoomed and walked through by mouse, touch and keys, and printed whole. */

import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RequestStep } from "../../../src/model/plan.ts";
import { renderPlanHtml } from "../../../src/render/index.ts";
import { change, plan, record } from "../../render/plans.ts";
import { openBrowser, type Watched, watched } from "../../support/browser.ts";

let browser: Browser;
const pages = mkdtempSync(join(tmpdir(), "tenon-pictures-"));

beforeAll(async () => {
  browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
  await rm(pages, { recursive: true, force: true });
});

const ZONE = "domain/a.example";

function step(id: string, after: readonly string[]): RequestStep {
  return {
    ...{ type: "request", id, unit: "zone", root: ZONE, changes: [], after, method: "POST", path: ["domains"] },
    ...{ body: null, produces: null, lookup: null, expect: null },
  };
}

/** A zone, ten records after it, one of which the activation waits for, and further steps, so that the picture is larger than a screen. */
const CHAIN = Array.from({ length: 8 }, (_, index) =>
  step(`check ${ZONE}/c${index}/A`, [index === 0 ? `activate ${ZONE}` : `check ${ZONE}/c${index - 1}/A`]),
);
const STEPS = [
  step(`create ${ZONE}`, []),
  ...Array.from({ length: 10 }, (_, index) => step(`create ${ZONE}/n${index}/A`, [`create ${ZONE}`])),
  step(`activate ${ZONE}`, [`create ${ZONE}/n4/A`]),
  ...CHAIN,
];
const CHANGES = [
  change(ZONE, "domain", { after: { domain: "a.example", type: "master" } }),
  ...Array.from({ length: 10 }, (_, index) =>
    change(`${ZONE}/n${index}/A`, "domain_record", { after: record(`n${index}`, "A", `192.0.2.${index}`) }),
  ),
];

async function open(options: BrowserContextOptions = {}): Promise<Watched> {
  const file = join(pages, "plan.html");
  writeFileSync(file, await renderPlanHtml(plan(CHANGES, { steps: STEPS }), { full: true }));
  const { page, complaints } = await watched(browser, { viewport: { width: 1000, height: 700 }, ...options });
  await page.goto(pathToFileURL(file).href);
  await frame(page).scrollIntoViewIfNeeded();
  return { page, complaints };
}

function frame(page: Page) {
  return page.locator(".picture-frame").first();
}

/** How large the picture is beside its original size, and where it is scrolled to. */
function seen(page: Page): Promise<{ scale: number; left: number; top: number }> {
  return frame(page).evaluate((element) => {
    const drawing = element.querySelector("svg");
    const scale = (drawing?.getBoundingClientRect().width ?? 0) / (drawing?.viewBox.baseVal.width ?? 1);
    return { scale, left: element.scrollLeft, top: element.scrollTop };
  });
}

it("keys and buttons zoom about the middle, pan, and show the whole again", async () => {
  const { page, complaints } = await open({ reducedMotion: "reduce" });
  await frame(page).focus();
  await page.keyboard.press("+");
  expect((await seen(page)).scale).toBeCloseTo(1.25, 2);
  await page.keyboard.press("-");
  expect((await seen(page)).scale).toBeCloseTo(1, 2);
  await page.keyboard.press("0");
  expect(await seen(page)).toMatchObject({ left: 0, top: 0 });
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowLeft");
  expect(await seen(page)).toMatchObject({ left: 80, top: 0 });
  await page.getByRole("button", { name: "Zoom in (+)" }).first().click();
  expect((await seen(page)).scale).toBeCloseTo(1.25, 2);
  await page.getByRole("button", { name: "Whole picture" }).first().click();
  const fits = await frame(page).evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth);
  expect(fits).toBe(true);
  expect(await page.locator(".picture-scale").first().textContent()).toMatch(/^\d\d %$/);
  await page
    .getByRole("button", { name: /^100 %/ })
    .first()
    .click();
  expect(await seen(page)).toEqual({ scale: 1, left: 0, top: 0 });
  expect(complaints).toEqual([]);
});

it("a mouse pans by dragging, zooms with ctrl and its wheel at its place, and scrolls the page without", async () => {
  const { page } = await open();
  const box = await frame(page).boundingBox();
  const [x, y] = [(box?.x ?? 0) + 700, (box?.y ?? 0) + 12];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 150, y, { steps: 4 });
  await page.mouse.up();
  expect((await seen(page)).left).toBe(150);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -100);
  await page.keyboard.up("Control");
  await expect.poll(async () => (await seen(page)).scale).toBeCloseTo(1.25, 2);
  // What was beneath the mouse is there still.
  const { left } = await seen(page);
  expect(Math.abs((left + 550) / 1.25 - (150 + 550))).toBeLessThan(2);
});

it("two fingers zoom, and one scrolls as everywhere", async () => {
  const { page } = await open({ viewport: { width: 375, height: 700 }, hasTouch: true, isMobile: true });
  const box = await frame(page).boundingBox();
  const [x, y] = [(box?.x ?? 0) + 150, (box?.y ?? 0) + 60];
  const client = await page.context().newCDPSession(page);
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", apart: number | null) => {
    const touchPoints = apart === null ? [] : [-1, 1].map((side, id) => ({ x: x + (side * apart) / 2, y, id }));
    return client.send("Input.dispatchTouchEvent", { type, touchPoints });
  };
  await touch("touchStart", 60);
  for (const apart of [70, 90, 110, 120]) await touch("touchMove", apart);
  await touch("touchEnd", null);
  expect((await seen(page)).scale).toBeGreaterThan(1.6);
  expect(await frame(page).evaluate((element) => getComputedStyle(element).touchAction)).toBe("pan-x pan-y");
});

it("a box that has the focus shows what is before and behind it, and arrows lead from box to box", async () => {
  const { page, complaints } = await open();
  await frame(page).focus();
  await page.keyboard.press("Tab");
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");
  expect(await focused()).toMatch(/^1\.1 create domain a\.example; arrows to it: 0, from it: 10$/);
  const near = () =>
    page
      .locator(".layered")
      .first()
      .locator(".box.near .detail")
      .evaluateAll((lines) => lines.map(({ textContent }) => textContent));
  expect(await near()).toHaveLength(STEPS.length);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  expect(await focused()).toContain("create record a.example/n");
  // The record that something waits for: before it is the zone, behind it all of the chain.
  await page.locator(".layered").first().locator(".box", { hasText: "a.example/n4/A" }).click();
  expect(await focused()).toContain("a.example/n4/A; arrows to it: 1, from it: 1");
  expect(await near()).toEqual([
    ...["a.example", "a.example/n4/A", "a.example"],
    ...CHAIN.map(({ id }) => id.replace("check domain/", "")),
  ]);
  await page.keyboard.press("Escape");
  expect(await page.locator(".box.near").count()).toBe(0);
  expect(await frame(page).evaluate((element) => element === document.activeElement)).toBe(true);
  expect(complaints).toEqual([]);
});

it("on paper the picture is whole, whatever part of it was seen before", async () => {
  const { page } = await open();
  await frame(page).focus();
  for (let times = 0; times < 4; times += 1) await page.keyboard.press("+");
  await page.emulateMedia({ media: "print" });
  const fits = await frame(page).evaluate((element) => {
    const drawing = element.querySelector("svg");
    return (drawing?.getBoundingClientRect().width ?? 0) <= element.getBoundingClientRect().width + 1;
  });
  expect(fits).toBe(true);
  expect(await frame(page).evaluate((element) => getComputedStyle(element).overflow)).toBe("visible");
  expect(await page.locator(".picture-tools").first().isVisible()).toBe(false);
});

it("without a script the picture is one image with a name, in a frame that scrolls", async () => {
  const { page } = await open({ javaScriptEnabled: false });
  expect(await page.getByRole("img", { name: "The order of 20 steps in 11 layers" }).count()).toBe(1);
  expect(await frame(page).evaluate((element) => getComputedStyle(element).overflow)).toBe("auto");
  expect(await page.locator(".picture-tools").count()).toBe(0);
});
