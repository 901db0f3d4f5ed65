/** Of zone files, commands that are about something else tell one line of each kind, for all of the project. */

import { describe, expect, it } from "vitest";
import type { Diagnostic, Severity } from "../../src/model/diagnostic.ts";
import { countSkipped } from "../../src/render/diagnostics.ts";

function found(code: string, severity: Severity = "warning"): Diagnostic {
  return { code, severity, summary: code, detail: "" };
}

describe("what zone files hold and nobody takes over", () => {
  it("is counted, and errors and all other warnings stay", () => {
    const kept = [found("ttl-rounded"), found("zone-file-unsupported", "error")];
    const [soa, ns, unsupported] = ["zone-file-soa", "zone-file-apex-ns", "zone-file-unsupported"].map((code) =>
      found(code),
    ) as [Diagnostic, Diagnostic, Diagnostic];
    const { others, notes } = countSkipped([soa, ns, ...kept, ns, unsupported]);
    expect(others).toEqual(kept);
    expect(notes).toEqual([
      "Note: 3 SOA and apex NS records are set aside: see tenon validate.",
      "Note: 1 unsupported record is left out: see tenon validate.",
    ]);
    expect(countSkipped([ns]).notes).toEqual(["Note: 1 SOA or apex NS record is set aside: see tenon validate."]);
    expect(countSkipped([found("zone-file-signing"), found("zone-file-signing")]).notes).toEqual([
      "Note: 2 records that signing adds are set aside: see tenon validate.",
    ]);
    expect(countSkipped(kept)).toEqual({ others: kept, notes: [] });
  });

  it("takes one line of 80 columns, however much it is", () => {
    const many = Array.from({ length: 100_000 }, (_, index) =>
      found(index % 2 ? "zone-file-soa" : "zone-file-unsupported"),
    );
    const { notes } = countSkipped(many);
    expect(notes.filter((note) => note.length > 80)).toEqual([]);
    expect(notes).toHaveLength(2);
  });
});
