import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { driftOf } from "../../src/plan/drift.ts";
import { renderDriftText } from "../../src/render/drift.ts";
import { renderDriftJson } from "../../src/render/drift-json.ts";
import { renderDriftMarkdown } from "../../src/render/markdown/drift.ts";
import { MAX_BODY_CHARACTERS } from "../../src/render/markdown/fit.ts";
import { change, DKIM, everything, plan, record } from "./plans.ts";

const PLAIN = { colour: false, width: 80 };
const HOSTILE = '\u001b[2J\u202e`<img src=x onerror=alert(1)>` @everyone #1 ```\n"';

describe("drift", () => {
  it("shows every status, and every kind of change", async () => {
    await expect(renderDriftText(driftOf(everything()), PLAIN)).toMatchFileSnapshot("../golden/drift-everything.txt");
    await expect(renderDriftMarkdown(driftOf(everything()))).toMatchFileSnapshot("../golden/drift-everything.md");
  });

  it("is the same with colours, but for the colours, and stays within 80 columns", () => {
    const text = renderDriftText(driftOf(everything()), PLAIN);
    expect(stripVTControlCharacters(renderDriftText(driftOf(everything()), { colour: true, width: 80 }))).toBe(text);
    expect(text.split("\n").filter((line) => [...line].length > 80)).toEqual([]);
  });

  it("puts both of two long values around the place where they differ", () => {
    const [before, after] = [record("", "TXT", `${DKIM}x`), record("", "TXT", `${DKIM}y`)];
    const text = renderDriftText(driftOf(plan([change("domain/a/@/TXT", "domain_record", { before, after })])), PLAIN);
    expect(text).toMatch(/\n {6}in the account {2}….*x" \(\d+ bytes\)\n {6}declared {8}….*y" \(\d+ bytes\)\n/);
  });

  it("escapes what the account and the manifest say", () => {
    const before = { label: HOSTILE, region: HOSTILE, description: HOSTILE };
    const found = driftOf(
      plan([
        change("vpc/a", "vpc", { before, after: { ...before, description: `${HOSTILE}2` }, note: HOSTILE }),
        change("domain/a/b/TXT", "domain_record", { before: record(HOSTILE, "TXT", HOSTILE) }),
      ]),
    );
    expect(renderDriftText(found, PLAIN)).not.toMatch(/[^\P{C}\n]/u);
    const markdown = renderDriftMarkdown(found);
    expect(markdown).not.toMatch(/[^\P{C}\n]/u);
    // All of it is within fences that are longer than what it holds.
    expect(markdown.replace(/^(`{3,})text\n.*?\n\1$/gms, "")).not.toMatch(/everyone|img/);
  });

  it("of many thousand objects fits into a comment, and what has no room is counted", () => {
    const changes = Array.from({ length: 12_000 }, (_, index) =>
      change(`domain/a.example/h${index}/A`, "domain_record", { before: record(`h${index}`, "A", "192.0.2.1") }),
    );
    const found = driftOf(plan(changes));
    const markdown = renderDriftMarkdown(found);
    expect(markdown.length).toBeLessThanOrEqual(MAX_BODY_CHARACTERS);
    const shown = markdown.match(/^unexpected /gm)?.length ?? 0;
    expect(shown).toBeGreaterThan(100);
    expect(markdown).toContain(`And ${12_000 - shown} more, for which there is no room here.`);
    expect(renderDriftText(found, PLAIN).split("\n")).toHaveLength(2 * 12_000 + 3);
  });

  it("is the same bytes for the same plan, one object a line", () => {
    const json = renderDriftJson(driftOf(everything()));
    const turned = { ...everything(), changes: [...everything().changes].reverse() };
    expect(renderDriftJson(driftOf(turned))).toBe(json);
    const objects = JSON.parse(json).objects as unknown[];
    expect(json.split("\n").filter((line) => line.startsWith('{"address"'))).toHaveLength(objects.length);
  });
});
