import { describe, expect, it } from "vitest";
import { renderReportMarkdown, renderUnreviewedMarkdown } from "../../../src/render/index.ts";
import { renderUnreviewedText } from "../../../src/render/plan-text.ts";
import { change, everything, plan, record } from "../plans.ts";
import { CLASH, PARTIAL, report, step } from "../reports.ts";
import { anatomyOf, MAX_BODY_CHARACTERS } from "./anatomy.ts";

const VPC = change("vpc/a", "vpc", { after: { label: "a" } });

describe("a report as markdown", () => {
  it("says what failed, why, what was left because of it, and what was done", async () => {
    await expect(renderReportMarkdown(PARTIAL, everything(), null)).toMatchFileSnapshot(
      "../../golden/report-partial.md",
    );
  });

  it("shows what was done, and ends there, if all was", () => {
    const done = report({ changes: [{ key: "vpc/a", outcome: "done" }], added: 1, requestCount: 1 });
    expect(renderReportMarkdown(done, plan([VPC]), null)).toBe(
      [
        "## Apply complete: 1 added, 0 changed, 0 destroyed.",
        "### Done: 1 added",
        "<details>\n<summary><code>vpc a</code>: 1 added</summary>\n\n```diff\n+ vpc a\n```\n\n</details>",
        "1 request was sent.\n",
      ].join("\n\n"),
    );
  });

  it("says that nothing was to be done, that it was interrupted, and what was destroyed", () => {
    expect(renderReportMarkdown(report({}), plan([]), null)).toBe(
      "## No changes. Your infrastructure matches the configuration.\n",
    );
    const stopped = report({ interrupted: true, skipped: 1, changes: [{ key: "vpc/a", outcome: "skipped" }] });
    const text = renderReportMarkdown(stopped, plan([VPC], { goal: "destroy" }), null);
    expect(text).toMatch(
      /^## Destroy interrupted: 0 added, 0 changed, 0 destroyed\. 1 skipped\.\n\n\*\*1 change was not begun when the run was interrupted:\*\*\n\n```text\nvpc\/a\n/,
    );
    expect(text).toContain("Run it again: what is done is not done twice.");
    expect(text).not.toContain("Skipped");
    const failed = { ...stopped, failed: 1 };
    expect(renderReportMarkdown(failed, plan([VPC]), null)).toContain("Run it again when the cause is mended: ");
  });

  it("puts the verdict of nameservers before what they said", () => {
    const verification = {
      zones: [{ zone: "a.example", servers: ["192.0.2.1"] }],
      asked: 2,
      there: 2,
      silent: [],
      problems: [],
      delegation: [],
      unasked: [{ zone: "b.example", detail: "it has no name servers" }],
      notes: [],
      interrupted: false,
    };
    const done = report({ changes: [{ key: "vpc/a", outcome: "done" }], added: 1 });
    expect(renderReportMarkdown(done, plan([VPC]), verification)).toContain(
      "```text\nNot verified: 1 zone could not be asked for at every server.\nnot asked b.example: it has no name servers\n```",
    );
  });

  it("fits however much failed, and counts what it has no room for", () => {
    const changes = Array.from({ length: 12_000 }, (_, index) =>
      change(`domain/a.example/n${index}/A`, "domain_record", { after: record(`n${index}`, "A", "192.0.2.1") }),
    );
    const isDone = (index: number): boolean => index % 2 === 0;
    const text = renderReportMarkdown(
      report({
        steps: changes.flatMap(({ key }, index) =>
          isDone(index) ? [] : [step(key, { changes: [key], outcome: "failed", failure: CLASH })],
        ),
        changes: changes.map(({ key }, index) => ({ key, outcome: isDone(index) ? "done" : "failed" })),
        added: 6_000,
        failed: 6_000,
        requestCount: 12_000,
      }),
      plan(changes),
      null,
    );
    expect(text.length).toBeLessThanOrEqual(MAX_BODY_CHARACTERS);
    expect(text).toMatch(/^## Apply incomplete: 6000 added, 0 changed, 0 destroyed\. 6000 failed\.\n/);
    const { prose, fenced } = anatomyOf(text);
    const shown = fenced.filter((line) => line.startsWith("domain/")).length;
    expect(Number(/^And (\d+) more, for which there is no room here\.$/m.exec(prose)?.[1])).toBe(6_000 - shown);
    expect(prose).toContain("<summary>·: 6000 added</summary>");
    expect(prose).toMatch(/\*\*\d+ changes are shown as numbers only\*\*/);
    // What failed weighs more than what was done.
    expect(fenced.join("\n").indexOf("+ n")).toBeGreaterThan(30_000);
  });

  it("says of a refused apply what the reviewed plan does not show", () => {
    expect(renderUnreviewedMarkdown([VPC])).toBe(
      "## Refused: the plan is not within the reviewed one.\n\n**The reviewed plan does not cover:**\n\n```text\ncreate vpc/a\n```\n\nNothing was done. Review a new plan: `tenon plan --out FILE`.\n",
    );
  });

  it("tells what the reviewed plan does not show by what it belongs to, all of it, as in the text", () => {
    const records = ["a", "b"].map((name) =>
      change(`domain/z.example/${name}/A`, "domain_record", { after: record(name, "A", "192.0.2.1") }),
    );
    const lines = [
      "domain/z.example: 2 changes",
      "  create domain/z.example/a/A",
      "  create domain/z.example/b/A",
      "create vpc/a",
    ];
    expect(renderUnreviewedText([...records, VPC])).toBe(lines.map((line) => `  ${line}\n`).join(""));
    expect(anatomyOf(renderUnreviewedMarkdown([...records, VPC])).fenced).toEqual(lines);
  });
});
