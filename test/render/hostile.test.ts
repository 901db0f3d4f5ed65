import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { jsonText } from "../../src/model/text.ts";
import { renderPlanText } from "../../src/render/index.ts";
import { renderReportText } from "../../src/render/report.ts";
import { escapeText, escapeYaml, isPlainlyVisible } from "../../src/render/terminal.ts";
import { change, NO_INPUTS, plan, record } from "./plans.ts";

const ESC = "\u001b";
const HOSTILE = `${ESC}[2J${ESC}]0;title\u0007\r\nPlan: 0 to add\u202e\u2066\u200b\u0085\u2028\ud800`;
/** Anything that a terminal would act on or hide; newlines are ours. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

function unsafeCharacters(text: string): string[] {
  return [...text.replaceAll("\n", "")].filter((character) => UNSAFE.test(character));
}

describe("text from the service or a manifest", () => {
  it("cannot steer the terminal, hide, or begin a line", () => {
    expect(escapeText(HOSTILE)).toBe(
      "\\u{1b}[2J\\u{1b}]0;title\\u{7}\\r\\nPlan: 0 to add\\u{202e}\\u{2066}\\u{200b}\\u{85}\\u{2028}\\u{d800}",
    );
    expect(escapeText("Grüße aus 東京, naïve café")).toBe("Grüße aus 東京, naïve café");
  });

  it("cannot hide behind characters without a shape, but keeps what makes an emoji", () => {
    const shapeless = [
      "\u00ad",
      "\u034f",
      "\u115f",
      "\u2065",
      "\u3164",
      "\ufeff",
      "\ufffc",
      "\ue000",
      "\u{e0041}",
      "\u{e0100}",
    ];
    for (const character of shapeless) expect(escapeText(character)).toMatch(/^\\u\{[0-9a-f]+\}$/);
    const emoji = "\u2764\ufe0f \u{1f600} e\u0301 1\ufe0f\u20e3";
    expect(escapeText(emoji)).toBe(emoji);
    expect(escapeText("v=spf1\ufe0f a\ufe0e 1\ufe0f \u2764\ufe0f\ufe0f")).toBe(
      "v=spf1\\u{fe0f} a\\u{fe0e} 1\\u{fe0f} \u2764\ufe0f\\u{fe0f}",
    );
  });

  it("has escapes that YAML and JSON read back, with lines that stay lines", () => {
    const hidden = `a\u0085${ESC}\u202e\u{e0041}`;
    expect(escapeYaml(`${hidden}\nb`)).toBe("a\\u0085\\u001b\\u202e\\U000e0041\nb");
    expect(parse(`"${escapeYaml(hidden)}"`)).toBe(hidden);
    expect(JSON.parse(jsonText(hidden))).toBe(hidden);
    expect(jsonText([hidden], 1)).toBe('[\n "a\\u0085\\u001b\\u202e\\udb40\\udc41"\n]');
    expect([isPlainlyVisible("a\nb"), isPlainlyVisible(hidden)]).toEqual([true, false]);
  });

  it("is escaped in every place of a plan", () => {
    const text = renderPlanText(
      plan(
        [
          change(`image/${HOSTILE}`, "image", {
            before: { label: HOSTILE, description: HOSTILE, [HOSTILE]: HOSTILE, tags: [HOSTILE], owner: HOSTILE },
            after: { label: HOSTILE, description: "", tags: [], owner: HOSTILE, nested: { [HOSTILE]: [HOSTILE] } },
            labels: ["rename", "take-over"],
            previousAddress: `image/${HOSTILE}`,
            note: HOSTILE,
            blocked: { type: "upload-of-others", id: HOSTILE, address: HOSTILE },
          }),
          change("domain/a.example/x/TXT", "domain_record", {
            before: record(HOSTILE, HOSTILE, HOSTILE),
            after: record(HOSTILE, "TXT", `${HOSTILE}${"x".repeat(300)}`),
            blocked: { type: "kept-records", records: [record(HOSTILE, "CAA", HOSTILE, 0, { tag: HOSTILE })] },
          }),
          change("vpc/a/subnet/x", "vpc_subnet", {
            before: { label: HOSTILE, ipv4: HOSTILE },
            blocked: {
              type: "interfaces",
              interfaces: [
                {
                  subnet: "",
                  subnet_id: 1,
                  node_id: 1,
                  interface_id: 1,
                  active: true,
                  config_id: 1,
                  address: HOSTILE,
                },
              ],
            },
          }),
          change("vpc/b", "vpc", { before: { label: "b" }, blocked: { type: "depends", on: [HOSTILE] } }),
        ],
        {
          guards: [
            { rule: "delete", address: `vpc/${HOSTILE}`, consent: "missing", count: null, of: null, origin: null },
          ],
          gaps: [{ what: HOSTILE, wanted: HOSTILE, before: HOSTILE, root: HOSTILE }],
          warnings: [{ code: "x", severity: "warning", summary: HOSTILE, detail: HOSTILE, fix: HOSTILE }],
          refusals: [{ code: "x", severity: "error", summary: HOSTILE, detail: HOSTILE }],
        },
      ),
      { colour: false },
    );
    expect(unsafeCharacters(text)).toEqual([]);
    expect(text.split("\n").filter((line) => line.startsWith("Plan:"))).toEqual([
      "Plan: 0 to add, 0 to change, 0 to destroy. 4 blocked.",
    ]);
  });

  it("is escaped where much goes as one entry, and where another environment declares it", () => {
    const going = [1, 2, 3, 4].map((number) => {
      const address = `image/${number}${HOSTILE}`;
      return change(address, "image", { root: address, before: { label: HOSTILE } });
    });
    const guard = {
      rule: "delete",
      consent: "missing",
      count: null,
      of: null,
      origin: null,
      declaredUnder: [HOSTILE],
    } as const;
    const guards = going.map(({ address }) => ({ ...guard, address }));
    const inputs = { ...NO_INPUTS, environment: HOSTILE };
    const text = renderPlanText(plan(going, { guards, inputs, owner: HOSTILE }), { colour: false });
    expect(text).toMatch(/^- 4 images$/m);
    expect(text).toContain("they carry our tag and are declared with --env");
    expect(unsafeCharacters(text)).toEqual([]);
    expect(text.split("\n").filter((line) => line.startsWith("Plan:"))).toHaveLength(1);
  });

  it("is escaped in a report", () => {
    const failure = {
      type: "refused",
      effect: "none",
      status: 400,
      errors: [{ reason: HOSTILE, field: HOSTILE }],
      message: HOSTILE,
      maintenance: false,
      attempts: 1,
    } as const;
    const step = { changes: ["vpc/a"], id: null, recovered: false } as const;
    const text = renderReportText(
      {
        steps: [
          { ...step, step: HOSTILE, outcome: "failed", failure, because: [] },
          { ...step, step: HOSTILE, outcome: "skipped", failure: null, because: [HOSTILE] },
        ],
        changes: [
          { key: "vpc/a", outcome: "failed" },
          { key: HOSTILE, outcome: "unknown" },
        ],
        added: 0,
        changed: 0,
        destroyed: 0,
        failed: 1,
        skipped: 0,
        unknown: 1,
        blocked: 0,
        duplicates: 0,
        requestCount: 1,
        interrupted: false,
        notices: [HOSTILE],
      },
      plan([]),
      { colour: false },
    );
    expect(unsafeCharacters(text)).toEqual([]);
  });
});
