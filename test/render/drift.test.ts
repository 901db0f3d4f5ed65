import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { driftOf } from "../../src/plan/drift.ts";
import { renderDriftJson } from "../../src/render/drift.ts";
import { renderDriftMarkdown, renderDriftText, renderNewsMessage } from "../../src/render/index.ts";
import { MAX_BODY_CHARACTERS } from "./markdown/anatomy.ts";
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

  it("indents what follows the first line of an object further than its address", () => {
    const [from, to] = ["domain/mail.shop.example.com/some-old-name/A", "domain/mail.shop.example.com/some-new-name/A"];
    const values = (name: string) => record(name, "A", "192.0.2.1");
    const renamed = change(to, "domain_record", {
      before: values("some-old-name"),
      after: values("some-new-name"),
      previousAddress: from,
      labels: ["rename"],
    });
    expect(
      renderDriftText(driftOf(plan([renamed])), PLAIN)
        .split("\n")
        .slice(0, 2),
    ).toEqual([`changed     ${to}, in the account`, `               ${from}`]);
  });

  it("tells a duplicate from a record that nothing declares, and shows names in Unicode", () => {
    const before = record("xn--strae-oqa", "A", "192.0.2.1");
    const key = "domain/a.example/xn--strae-oqa/A[1]";
    const found = driftOf(plan([change(key, "domain_record", { before, labels: ["duplicate"] })]));
    expect(renderDriftText(found, PLAIN)).toMatch(
      `unexpected  ${key} (straße.a.example) (duplicate:
               an equal record is declared and there)
    xn--strae-oqa (straße) A 192.0.2.1
`,
    );
    expect(renderDriftMarkdown(found)).toContain("(duplicate: an equal record is declared and there)");
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

  it("as a message of a chat has what nobody declared last, where it leaves out lines", () => {
    const foreign = Array.from({ length: 100 }, (_, index) =>
      change(`domain/a.example/a${index}/A`, "domain_record", { before: record(`a${index}`, "A", "192.0.2.1") }),
    );
    const moved = change("domain/a.example/www/A", "domain_record", {
      before: record("www", "A", "203.0.113.66"),
      after: record("www", "A", "192.0.2.1"),
    });
    const found = driftOf(plan([...foreign, moved]));
    const appeared = found.objects;
    expect(appeared.findIndex(({ status }) => status === "changed")).toBe(100);
    const message = renderNewsMessage({ type: "drift", drift: found, appeared, resolved: [], wasUnreadable: false });
    const lines = (JSON.parse(message) as { text: string }).text.split("\n");
    expect(lines[2]).toContain("changed     domain/a.example/www/A");
  });

  it("is the same bytes for the same plan, one object a line", () => {
    const json = renderDriftJson(driftOf(everything()));
    const turned = { ...everything(), changes: [...everything().changes].reverse() };
    expect(renderDriftJson(driftOf(turned))).toBe(json);
    const objects = JSON.parse(json).objects as unknown[];
    expect(json.split("\n").filter((line) => line.startsWith('{"address"'))).toHaveLength(objects.length);
  });
});
