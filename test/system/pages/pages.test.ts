/** The pages of `--format html` in Debian's Chromium: what a person sees, presses and prints. */

import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Change } from "../../../src/model/change.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { driftOf } from "../../../src/plan/drift.ts";
import { renderFleetHtml } from "../../../src/render/html/fleet-page.ts";
import { renderDriftHtml, renderPlanHtml, renderReportHtml } from "../../../src/render/index.ts";
import { emulator, envOf, folder, run } from "../../cli/run.ts";
import { fleetReport } from "../../render/fleets.ts";
import { change, everything, plan, record } from "../../render/plans.ts";
import { PARTIAL } from "../../render/reports.ts";
import { openBrowser, type Watched, watched } from "../../support/browser.ts";

let browser: Browser;
const pages = mkdtempSync(join(tmpdir(), "tenon-pages-"));

beforeAll(async () => {
  browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
  await rm(pages, { recursive: true, force: true });
});

let number = 0;

/** As a file on the disk, as people open it. A request for anything but the page is a complaint, too. */
async function open(html: string, options: BrowserContextOptions = {}, hash = ""): Promise<Watched> {
  number += 1;
  const file = join(pages, `${number}.html`);
  writeFileSync(file, html);
  const { page, complaints } = await watched(browser, options);
  const url = pathToFileURL(file).href;
  page.on("request", (request) => {
    if (!request.url().startsWith(url)) complaints.push(`request: ${request.url()}`);
  });
  await page.goto(url + hash);
  return { page, complaints };
}

/** Zones of records that are alike in nothing, so that nothing is folded. */
function zonesOf(zones: number, records: number): Change[] {
  return Array.from({ length: zones }, (_, zone) =>
    Array.from({ length: records }, (_, index) => {
      const root = `domain/zone${zone}.example`;
      if (index % 10 === 9) {
        const before = record(`old${index}`, "TXT", `text ${zone} ${index}`);
        return change(`${root}/old${index}/TXT`, "domain_record", { before });
      }
      const after = record(`host${index}`, "A", `10.${zone}.${index >> 8}.${index & 255}`);
      return change(`${root}/host${index}/A`, "domain_record", { after });
    }),
  ).flat();
}

const small = (): Promise<string> => renderPlanHtml(everything(), { full: true });

async function count(page: Page): Promise<string> {
  return (await page.locator("output[name=count]").textContent()) ?? "";
}

/** Waits until the page has filtered, which it does a moment after the last letter. */
async function search(page: Page, text: string): Promise<void> {
  await page.fill("[name=search]", text);
  await page.press("[name=search]", "Enter");
}

const visibleLines = (page: Page) => page.locator(".change:not([hidden])").filter({ visible: true });

describe("search and filters", () => {
  it("find changes by all of their words, mark what was found, and show everything again", async () => {
    const { page, complaints } = await open(await renderPlanHtml(plan(zonesOf(5, 40))));
    expect(await count(page)).toBe("200 changes");
    await search(page, "zone3 HOST7");
    expect(await count(page)).toBe("1 of 200 changes");
    await expect(visibleLines(page).allTextContents()).resolves.toEqual([expect.stringContaining("host7")]);
    expect(await page.locator(".unit:visible").count()).toBe(1);
    expect(await page.evaluate(() => CSS.highlights.get("found")?.size)).toBe(1);
    await search(page, "nothing-like-this");
    expect(await count(page)).toBe("0 of 200 changes");
    expect(await page.locator(".unit:visible").count()).toBe(0);
    await page.keyboard.press("Escape");
    expect(await count(page)).toBe("200 changes");
    expect(await page.locator(".unit:visible").count()).toBe(5);
    expect(complaints).toEqual([]);
  });

  it("narrow by kind, by action and by zone, alone and together", async () => {
    const { page } = await open(await renderPlanHtml(plan([...zonesOf(5, 40), ...everything().changes])));
    const all = Number.parseInt(await count(page), 10);
    await page.check("[value=delete]");
    const deleted = Number.parseInt(await count(page), 10);
    expect(deleted).toBeGreaterThanOrEqual(20);
    expect(deleted).toBeLessThan(all);
    await page.selectOption("[name=root]", "domain/zone2.example");
    expect(await count(page)).toBe(`4 of ${all} changes`);
    await page.uncheck("[value=delete]");
    await page.check("[value=create]");
    expect(await count(page)).toBe(`36 of ${all} changes`);
    await page.selectOption("[name=kind]", "vpc_subnet");
    expect(await count(page)).toBe(`0 of ${all} changes`);
    await page.selectOption("[name=root]", "");
    await page.uncheck("[value=create]");
    const subnets = everything().changes.filter(({ kind, action }) => kind === "vpc_subnet" && action !== "no-op");
    expect(await count(page)).toBe(`${subnets.length} of ${all} changes`);
  });

  it("find a zone by its name where many are one entry, and count what that stands for", async () => {
    const zones = Array.from({ length: 39 }, (_, index) => {
      const after = record("www", "A", "192.0.2.7");
      return change(`domain/brand${index}.example/www/A`, "domain_record", { after });
    });
    const { page } = await open(await renderPlanHtml(plan(zones)));
    await search(page, "brand17.example");
    expect(await count(page)).toBe("39 of 39 changes");
    await page.selectOption("[name=root]", "domain/brand17.example");
    expect(await page.locator(".unit:visible").count()).toBe(1);
  });

  it("work in tables of a list, on the page of the whole account", async () => {
    const service = await emulator({
      seed: {
        vpcs: [{ label: "prod", region: "us-east", subnets: [{ label: "web", ipv4: "10.0.0.0/24" }] }],
        domains: [
          {
            domain: "a.example",
            type: "master",
            soa_email: "a@a.example",
            records: [{ type: "A", name: "w", target: "192.0.2.1" }],
          },
          {
            domain: "b.example",
            type: "master",
            soa_email: "b@b.example",
            records: [{ type: "CNAME", name: "w", target: "w.a.example" }],
          },
        ],
      } as never,
    });
    const cwd = await folder({});
    const listed = await run(["list", "--format", "html"], { cwd, env: envOf(service) });
    expect(listed).toMatchObject({ code: 0 });
    const { page, complaints } = await open(listed.stdout);
    expect(await page.locator("h1").textContent()).toBe("The account: 1 VPC, 1 subnet, 2 domains, 2 records, 0 images");
    expect(await count(page)).toBe("6 rows");
    await search(page, "a.example");
    expect(await count(page)).toBe("3 of 6 rows");
    await page.selectOption("[name=kind]", "records");
    expect(await count(page)).toBe("2 of 6 rows");
    expect(complaints).toEqual([]);
  });
});

describe("the keyboard", () => {
  it("reaches, opens, closes and searches everything", async () => {
    const { page } = await open(await renderPlanHtml(plan(zonesOf(5, 40))));
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim().replace(/\s+/g, " ") ?? "");
    const opened = () => page.locator(".unit[open]").count();
    expect(await opened()).toBe(0);
    await page.keyboard.press("j");
    expect(await focused()).toContain("domain zone0.example");
    await page.keyboard.press("ArrowRight");
    expect(await opened()).toBe(1);
    await page.keyboard.press("ArrowRight");
    expect(await focused()).toContain("host0 A 10.0.0.0");
    await page.keyboard.press("ArrowDown");
    expect(await focused()).toContain("host1 A");
    await page.keyboard.press("k");
    await page.keyboard.press("ArrowLeft");
    expect(await focused()).toContain("domain zone0.example");
    await page.keyboard.press("ArrowLeft");
    expect(await opened()).toBe(0);
    await page.keyboard.press("End");
    expect(await focused()).toContain("domain zone4.example");
    await page.keyboard.press("Home");
    await page.keyboard.press("e");
    expect(await opened()).toBe(5);
    await page.keyboard.press("c");
    expect(await opened()).toBe(0);
    await page.keyboard.press("/");
    await page.keyboard.type("host7 zone1");
    await expect.poll(() => count(page)).toBe("1 of 200 changes");
    // Letters in the search are no commands.
    expect(await page.inputValue("[name=search]")).toBe("host7 zone1");
    await page.keyboard.press("Escape");
    await expect.poll(() => count(page)).toBe("200 changes");
    await page.keyboard.press("?");
    expect(await page.locator("dialog").isVisible()).toBe(true);
    await page.keyboard.press("Escape");
    expect(await page.locator("dialog").isVisible()).toBe(false);
  });

  it("walks by Tab through whatever can be operated, and shows where it is", async () => {
    const { page } = await open(await small());
    const seen = new Set<string>();
    for (let step = 0; step < 40; step += 1) {
      await page.keyboard.press("Tab");
      const { name, outline } = await page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        const shown = element.matches("[type=checkbox]") ? (element.parentElement as HTMLElement) : element;
        return { name: element.getAttribute("name") ?? element.tagName, outline: getComputedStyle(shown).outlineStyle };
      });
      expect({ name, outline }).not.toEqual({ name, outline: "none" });
      seen.add(name);
    }
    for (const name of ["search", "state", "kind", "root", "expand", "keys", "SUMMARY"])
      expect([...seen]).toContain(name);
  });

  it("opens what a link of a block leads to, although it is folded or filtered away", async () => {
    const { page } = await open(await small());
    await page.keyboard.press("c");
    await search(page, "nothing-like-this");
    const link = page.locator('#blocked a[href^="#change-"]').first();
    const key = await link.textContent();
    await link.click();
    const target = page.locator(`${(await link.getAttribute("href")) ?? ""}`);
    await expect.poll(() => target.isVisible()).toBe(true);
    expect(key).toContain("/");
    expect(await page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName)).not.toBe("BODY");
  });
});

/** All pages, by what makes them. */
async function everyPage(): Promise<Record<string, string>> {
  return {
    plan: await small(),
    alike: await renderPlanHtml(everything()),
    report: await renderReportHtml(PARTIAL, everything(), null),
    drift: await renderDriftHtml(driftOf(everything())),
    nothing: await renderPlanHtml(plan([])),
    fleet: renderFleetHtml(fleetReport(60), { full: false }),
    accounts: renderFleetHtml(fleetReport(7), { full: false }),
  };
}

const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  phone: { viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true },
};

describe("the look", () => {
  it.each(Object.keys(LOOKS))("of every page, %s: axe finds nothing serious, and nothing complains", async (look) => {
    for (const [name, html] of Object.entries(await everyPage())) {
      const { page, complaints } = await open(html, LOOKS[look]);
      await page.evaluate(axe.source);
      const found = await page.evaluate(async () => {
        const injected = (globalThis as unknown as { axe: typeof axe }).axe;
        return (await injected.run()).violations;
      });
      const serious = found.filter(({ impact }) => impact === "serious" || impact === "critical");
      const shown = serious.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html: tag }) => tag.slice(0, 200)).join(" ")}`,
      );
      expect({ name, shown, complaints }).toEqual({ name, shown: [], complaints: [] });
      await page.context().close();
    }
  });

  it("fits a phone: no page is wider than it, and no part of a line covers another", async () => {
    for (const [name, html] of Object.entries(await everyPage())) {
      for (const width of [320, 375, 1280]) {
        const { page } = await open(html, { viewport: { width, height: 812 } });
        const found = await page.evaluate(() => {
          const boxes = (line: Element) =>
            [...line.children]
              .flatMap((child) => [...child.getClientRects()].slice(0, 1))
              .filter((box) => box.width > 0 && box.height > 0);
          const overlaps = [...document.querySelectorAll(".change, summary")].filter((line) => {
            const all = boxes(line);
            return all.some((one, index) =>
              all
                .slice(index + 1)
                .some(
                  (other) =>
                    one.left < other.right - 1 &&
                    other.left < one.right - 1 &&
                    one.top < other.bottom - 1 &&
                    other.top < one.bottom - 1,
                ),
            );
          });
          const root = document.documentElement;
          return {
            wider: root.scrollWidth - root.clientWidth,
            overlaps: overlaps.map((line) => line.outerHTML.slice(0, 400)),
          };
        });
        expect({ name, width, ...found }).toEqual({ name, width, wider: 0, overlaps: [] });
        await page.context().close();
      }
    }
  });

  it("is dark at night in the same places, and twice the same", async () => {
    const html = await small();
    const [day, night] = [await open(html, LOOKS["light"]), await open(html, LOOKS["dark"])];
    const brightness = ({ page }: Watched) =>
      page.evaluate(() => {
        const canvas = document
          .createElement("canvas")
          .getContext("2d", { willReadFrequently: true }) as CanvasRenderingContext2D;
        const sum = (colour: string): number => {
          canvas.fillStyle = colour;
          canvas.fillRect(0, 0, 1, 1);
          return canvas
            .getImageData(0, 0, 1, 1)
            .data.slice(0, 3)
            .reduce((all, part) => all + part, 0);
        };
        const { color, backgroundColor } = getComputedStyle(document.body);
        return { text: sum(color), background: sum(backgroundColor) };
      });
    const [light, dark] = [await brightness(day), await brightness(night)];
    expect(light.background).toBeGreaterThan(light.text + 400);
    expect(dark.text).toBeGreaterThan(dark.background + 400);
    const places = ({ page }: Watched) =>
      page.evaluate(() =>
        [...document.querySelectorAll("h1, h2, summary, .change, .fields")].map((element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return [x, y, width, height].map(Math.round).join(" ");
        }),
      );
    expect(await places(night)).toEqual(await places(day));
    const picture = ({ page }: Watched) => page.screenshot({ animations: "disabled", caret: "hide" });
    const first = await picture(day);
    expect(first.equals(await picture(night))).toBe(false);
    // A search that is over leaves nothing behind.
    await search(day.page, "example.com");
    expect(first.equals(await picture(day))).toBe(false);
    await day.page.keyboard.press("Escape");
    await day.page.evaluate(() => scrollTo(0, 0));
    await expect.poll(async () => first.equals(await picture(day))).toBe(true);
    expect([...day.complaints, ...night.complaints]).toEqual([]);
  });

  it("prints everything, also what is folded, and no controls", async () => {
    const { page } = await open(await renderPlanHtml(plan(zonesOf(5, 40))));
    expect(await page.locator(".unit[open]").count()).toBe(0);
    await page.emulateMedia({ media: "print" });
    expect(await visibleLines(page).count()).toBe(200);
    expect(await page.locator("nav, .filters").filter({ visible: true }).count()).toBe(0);
    const paper = await page.pdf({ format: "A4" });
    expect(paper.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0).toBeGreaterThan(3);
  });

  it("says the essentials without a script, and can be unfolded", async () => {
    const made: Plan = { ...everything(), changes: [...everything().changes, ...zonesOf(5, 40)] };
    const { page, complaints } = await open(await renderPlanHtml(made), { javaScriptEnabled: false });
    expect(await page.locator("form.filters").isVisible()).toBe(false);
    for (const id of ["guards", "blocked", "gaps", "changes"]) {
      expect(await page.locator(`#${id}`).isVisible()).toBe(true);
    }
    const unit = page.locator('.unit[data-root="domain/zone1.example"]');
    expect(await unit.locator(".change").first().isVisible()).toBe(false);
    await unit.locator("summary").click();
    expect(await unit.locator(".change").first().isVisible()).toBe(true);
    expect(complaints).toEqual([]);
  });
});

describe("what others have written", () => {
  it("stays text: hostile labels do nothing, and are shown", async () => {
    const hostile = "</script><img src=x onerror=alert(1)>\"'><svg onload=alert(2)>\u202e\u009b31m";
    const long = "v=".padEnd(10_000, "0123456789");
    const changes = [
      change("vpc/x", "vpc", { after: { label: hostile, region: hostile }, note: hostile }),
      change("vpc/x/subnet/y", "vpc_subnet", { after: { label: hostile, ipv4: hostile } }),
      change("domain/a.example/t/TXT", "domain_record", {
        before: record("t", "TXT", `${hostile}1`),
        after: record("t", "TXT", `${hostile}2`),
      }),
      change("domain/a.example/l/TXT", "domain_record", { after: record("l", "TXT", long) }),
      change("domain/a.example/c/CNAME", "domain_record", { after: record("c", "CNAME", hostile) }),
    ];
    const made = plan(changes, {
      warnings: [{ code: "x", severity: "warning", summary: hostile, detail: hostile, fix: hostile }],
    });
    for (const html of [await renderPlanHtml(made), await renderDriftHtml(driftOf(made))]) {
      const { page, complaints } = await open(html);
      expect(await page.locator("img").count()).toBe(0);
      const text = await page.locator("main").textContent();
      expect(text).toContain("</script><img src=x onerror=alert(1)>");
      expect(text).toContain("\\u{202e}\\u{9b}31m");
      expect(text).toContain(long);
      await search(page, "onerror=alert");
      expect(complaints).toEqual([]);
      const { wider } = await page.evaluate(() => {
        const root = document.documentElement;
        return { wider: root.scrollWidth - root.clientWidth };
      });
      expect(wider).toBe(0);
    }
  });

  it("runs nothing but the page's own script, even if it were in the page as HTML", async () => {
    const html = (await small()).replace("<main", "<img src=x onerror=alert(1)><script>alert(2)</script><main");
    const { page, complaints } = await open(html);
    expect(await count(page)).toMatch(/\d+ changes/);
    expect(complaints.filter((text) => text.startsWith("dialog"))).toEqual([]);
    expect(complaints.filter((text) => text.includes("Content Security Policy")).length).toBeGreaterThan(1);
  });
});

describe("twelve thousand changes", () => {
  it("are laid out where somebody looks, whether in many zones or in one, and can be searched", async () => {
    for (const [zones, records] of [
      [40, 300],
      [1, 12_000],
    ] as const) {
      const { page, complaints } = await open(await renderPlanHtml(plan(zonesOf(zones, records)), { full: true }));
      expect(await count(page)).toBe("12,000 changes");
      await page.click("[name=expand]");
      const laidOut = () =>
        page.evaluate(
          () =>
            [...document.querySelectorAll(".change")].filter((line) =>
              line.checkVisibility({ contentVisibilityAuto: true }),
            ).length,
        );
      const near = await laidOut();
      expect(near).toBeGreaterThan(10);
      expect(near).toBeLessThan(1_000);
      const last = page.locator(".change").last();
      await last.scrollIntoViewIfNeeded();
      expect(await last.isVisible()).toBe(true);
      await expect.poll(laidOut).toBeLessThan(1_000);
      await search(page, `zone${zones - 1}.example 10.${zones - 1}.0.77`);
      expect(await count(page)).toBe("1 of 12,000 changes");
      expect(complaints).toEqual([]);
    }
  });
});
