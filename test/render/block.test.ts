/** What stops a change, in words: records that others keep. */

import { describe, expect, it } from "vitest";
import { blockText } from "../../src/render/blocks.ts";
import { renderPlanText } from "../../src/render/index.ts";
import { change, plan, record } from "./plans.ts";

const REGISTRY = record("a-app", "TXT", `heritage=external-dns,external-dns/owner=k,${"x".repeat(300)}`);

describe("records that must be kept", () => {
  it("of external-dns's registry are a reason to take the record out of the manifest", () => {
    const claimed = blockText({ type: "kept-records", records: [REGISTRY], claimed: true });
    expect(claimed.fix).toBe(
      "Remove it from the manifest, as external-dns keeps it; or narrow the preset under `ignore`.",
    );
    expect(claimed.reason).toContain("external-dns");
    const other = blockText({ type: "kept-records", records: [record("kept", "A", "192.0.2.4")] });
    expect(other.fix).toContain("stop ignoring them");
    expect(other.items).toEqual(["kept A 192.0.2.4"]);
  });

  it("are shortened as in rows, and say how long they are", () => {
    const { items } = blockText({ type: "kept-records", records: [REGISTRY] });
    expect(items[0]).toMatch(/^a-app TXT "heritage=external-dns.*….* \(343 bytes\)$/);
    expect(items[0]?.length).toBeLessThanOrEqual(72);
    const blocked = { type: "kept-records" as const, records: [REGISTRY], claimed: true as const };
    const app = change("domain/a.example/app/A", "domain_record", { after: record("app", "A", "192.0.2.6"), blocked });
    const lines = renderPlanText(plan([app]), { colour: false, width: 80 }).split("\n");
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });
});
