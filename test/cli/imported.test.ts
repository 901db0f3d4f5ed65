import { describe, expect, it } from "vitest";
import { skippedLines } from "../../src/cli/import-summary.ts";
import type { SkippedRecord, SkipReason } from "../../src/dns/record.ts";
import { notMissed, type Remark } from "../../src/import/index.ts";
import { Sources } from "../../src/model/diagnostic.ts";

const sources = new Sources();
for (const file of ["a.zone", "b.zone"]) sources.add(file, "x\n".repeat(100_000));

function aside(reason: SkipReason, type: string, file: string, lines: readonly number[]): SkippedRecord[] {
  return lines.map((line) => {
    const start = (line - 1) * 2;
    return { reason, type, name: "www", detail: "It is not kept.", span: { file, start, end: start + 1 } };
  });
}

function told(skipped: readonly SkippedRecord[], remarks: readonly Remark[] = [], width = 80): string {
  return skippedLines({ skipped, elsewhere: [], remarks, sources }, notMissed, width);
}

function range(first: number, last: number, step = 1): number[] {
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, index) => first + index * step);
}

describe("what an import leaves out", () => {
  it("is one line for a file's SOA and NS, and what is lost comes last", () => {
    const text = told([
      ...aside("soa", "SOA", "a.zone", [4]),
      ...aside("unsupported-type", "LOC", "a.zone", [5]),
      ...aside("apex-ns", "NS", "a.zone", [7, 8, 10, 11, 12]),
      ...aside("soa", "SOA", "b.zone", [1]),
    ]);
    expect(text.replace(/\n +/g, " ")).toBe(
      "a.zone: SOA (line 4) and NS (lines 7, 8, 10-12) belong to the old service and are left out\n" +
        "b.zone: SOA (line 1) belongs to the old service and is left out\n" +
        "a.zone:5: LOC www: not supported: It is not kept.\n",
    );
  });

  it("is summed up by type where signing made it, however much that is", () => {
    const text = told([
      ...aside("unsupported-type", "RRSIG", "a.zone", range(1, 99_999, 2)),
      ...aside("unsupported-type", "NSEC", "a.zone", range(2, 8, 2)),
      ...aside("unsupported-type", "DNSKEY", "a.zone", [10]),
    ]);
    expect(text.replace(/\n +/g, " ")).toBe(
      "a.zone: 50000 RRSIG (lines 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, …), NSEC (lines 2, 4, 6, 8) and DNSKEY (line 10) " +
        "come from the old service's signing and are left out\n",
    );
  });

  it("keeps to the width of the terminal", () => {
    const text = told([
      ...aside("apex-ns", "NS", "a.zone", range(1, 99, 2)),
      ...aside("not-holdable", "A", "b.zone", [9]),
    ]);
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(text).toContain("  and are left out\n".trimStart());
    expect(told(aside("not-holdable", "A", "b.zone", [9]), [], 200)).toBe(
      "b.zone:9: A www: not supported: It is not kept.\n",
    );
  });

  it("tells alike options once, and files without a line", () => {
    const at = (line: number): Remark["span"] => ({ file: "a.zone", start: (line - 1) * 2, end: line * 2 });
    const text = told(
      [],
      [
        { file: "a.zone", what: "`lenient`", detail: "is not heard", span: at(3) },
        { file: "skip.yaml", what: "", detail: "is named after no zone", span: null },
        { file: "a.zone", what: "`lenient`", detail: "is not heard", span: at(9) },
      ],
    );
    expect(text).toBe("a.zone: `lenient` (lines 3, 9): is not heard\nskip.yaml is named after no zone\n");
  });

  it("shows no character that a terminal would obey", () => {
    expect(told(aside("not-holdable", "\u001b[2J", "a.zone", [1]))).not.toContain("\u001b");
  });
});
