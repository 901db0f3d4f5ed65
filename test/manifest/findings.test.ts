/** What is kept of many problems: each place once, texts of bounded length, and so many as can be shown. */

import { expect, test } from "vitest";
import { arrangeGroups, Findings } from "../../src/manifest/assemble.ts";
import type { Diagnostic } from "../../src/model/diagnostic.ts";

function problem(at: number, summary: string, severity: Diagnostic["severity"] = "error"): Diagnostic {
  return { code: "a", severity, summary, detail: "d", fix: "f", span: { file: "a.yaml", start: at, end: at + 1 } };
}

test("a text of any length is cut, and its corrections are left out", () => {
  const found = new Findings();
  const long = "x".repeat(1_000_000);
  found.add({ ...problem(0, long), corrections: [{ from: long, to: long }] });
  found.add({ ...problem(1, "short"), corrections: [{ from: "a", to: "b" }] });
  const [cut, kept] = found.groups().map(({ first }) => first);
  expect([cut?.summary.length, cut?.corrections]).toEqual([4_001, undefined]);
  expect(kept).toMatchObject({ summary: "short", corrections: [{ from: "a", to: "b" }] });
});

test("problems for which there is no room are counted, and keep their weight", () => {
  for (const [text, listed] of [
    ["x", 20],
    // JSON writes six characters for each.
    ["\u00ad", 3],
  ] as const) {
    const found = new Findings(20 * 50 + 45);
    for (let index = 0; index < 30; index += 1) found.add(problem(index, text.repeat(48), "warning"));
    const all = arrangeGroups(found.groups(), ["a.yaml"]);
    expect([text, all.length - 1]).toEqual([text, listed]);
    const rest = all.find(({ code }) => code === "not-listed");
    expect(rest).toMatchObject({ severity: "warning", summary: `${30 - listed} more problems are not listed` });
    found.add(problem(100, text.repeat(48)));
    expect(found.hasErrors).toBe(true);
    expect(found.groups().at(-1)?.first.severity).toBe("error");
  }
});
