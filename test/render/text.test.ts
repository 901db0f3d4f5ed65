import { describe, expect, it } from "vitest";
import { renderPlanText } from "../../src/render/text.ts";
import { change, DKIM, everything, plan, record } from "./plans.ts";

const GOLDEN = "../golden";
const PLAIN = { colour: false, width: 80 };

describe("a plan as text", () => {
  it("shows every action, label, block and guard", async () => {
    await expect(renderPlanText(everything(), PLAIN)).toMatchFileSnapshot(`${GOLDEN}/plan-everything.txt`);
  });

  it("is the same with colours, but for the colours", async () => {
    const coloured = renderPlanText(everything(), { colour: true, width: 80 });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for
    const stripped = coloured.replace(/\u001b\[\d+m/g, "");
    expect(coloured).not.toBe(stripped);
    expect(stripped).toBe(renderPlanText(everything(), PLAIN));
  });

  it("stays within 80 columns wherever text can be wrapped or shortened", () => {
    const wide = renderPlanText(everything(), PLAIN)
      .split("\n")
      .filter((line) => [...line].length > 80);
    expect(wide).toEqual([]);
  });

  it("says that there is nothing to do, at the start of its last line", () => {
    const nothing = plan([change("vpc/a", "vpc", { before: { label: "a" }, after: { label: "a" }, action: "no-op" })]);
    expect(renderPlanText(nothing, PLAIN)).toBe("No changes. Your infrastructure matches the configuration.\n");
  });

  it("ends with counts of resources in which a replace is one of each", () => {
    const replaced = change("vpc/a", "vpc", { before: { label: "a" }, after: { label: "a" }, action: "replace" });
    const text = renderPlanText(plan([replaced]), PLAIN);
    expect(text.trimEnd().split("\n").at(-1)).toBe("Plan: 1 to add, 0 to change, 1 to destroy.");
  });

  it("counts blocked changes after the period, and nowhere else", () => {
    const blocked = change("vpc/a", "vpc", { before: { label: "a" }, blocked: { type: "depends", on: ["vpc/b"] } });
    const text = renderPlanText(plan([blocked]), PLAIN);
    expect(text.trimEnd().split("\n").at(-1)).toBe("Plan: 0 to add, 0 to change, 0 to destroy. 1 blocked.");
  });

  it("shortens long values around the place where they differ, and says how long they are", () => {
    const text = renderPlanText(
      plan([
        change("domain/a.example/@/TXT", "domain_record", {
          before: record("", "TXT", `${DKIM}x`),
          after: record("", "TXT", `${DKIM}y`),
        }),
      ]),
      PLAIN,
    );
    expect(text).toContain(`x" (${DKIM.length + 1} bytes)`);
    expect(text).toContain(`y" (${DKIM.length + 1} bytes)`);
  });

  it("shows a long value in full where there is room for it", () => {
    const changes = [change("domain/a.example/@/TXT", "domain_record", { after: record("", "TXT", DKIM) })];
    expect(renderPlanText(plan(changes), { colour: false, width: 1000 })).toContain(`"${DKIM}"`);
  });

  it("renders 12,000 records in linear time and leaves none out", () => {
    const timeOf = (count: number): number => {
      const changes = Array.from({ length: count }, (_, index) =>
        change(`domain/big.example/host-${index}/A`, "domain_record", {
          after: record(`host-${index}`, "A", "192.0.2.1"),
        }),
      );
      const started = performance.now();
      const lines = renderPlanText(plan(changes), PLAIN).split("\n");
      expect(lines.filter((line) => line.startsWith("  + host-"))).toHaveLength(count);
      return performance.now() - started;
    };
    timeOf(3_000);
    const small = Math.min(timeOf(3_000), timeOf(3_000));
    // Four times as many may take eight times as long on a busy machine, but not sixteen.
    expect(timeOf(12_000)).toBeLessThan(Math.max(small * 12, 500));
  });
});
