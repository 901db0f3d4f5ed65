/** Every rule speaks where it must, is silent where it must be, and can be switched off for a record, a domain and the project. */

import { describe, expect, test } from "vitest";
import { CACHED_TARGET, COMES_BACK } from "../../src/lint/changes.ts";
import { ALL_RULES, ZONE_RULES } from "../../src/lint/lint.ts";
import { UNKNOWN_LINT_CODE, ZONE_FILE_APEX_NS, ZONE_FILE_SIGNING, ZONE_FILE_SOA } from "../../src/lint/rule.ts";
import { EXPIRED_ENTRY, REVIEW_DUE } from "../../src/lint/rules/dates.ts";
import { DELEGATION_CASES } from "./cases/delegations.ts";
import { NAME_CASES } from "./cases/names.ts";
import { TEXT_CASES } from "./cases/texts.ts";
import { linesOf, lint, project, withRecords, withZones } from "./projects.ts";

const CASES = { ...NAME_CASES, ...DELEGATION_CASES, ...TEXT_CASES };

test("every rule has cases, and every case a rule", () => {
  expect(Object.keys(CASES).toSorted()).toEqual(ZONE_RULES.map(({ code }) => code).toSorted());
  expect(ALL_RULES).toEqual([
    ...ZONE_RULES,
    ZONE_FILE_SOA,
    ZONE_FILE_APEX_NS,
    ZONE_FILE_SIGNING,
    CACHED_TARGET,
    REVIEW_DUE,
    EXPIRED_ENTRY,
    COMES_BACK,
    UNKNOWN_LINT_CODE,
  ]);
  expect(new Set(ALL_RULES.map(({ code }) => code)).size).toBe(ALL_RULES.length);
});

test("every rule says what it finds, why it matters with a source, and what to do", () => {
  for (const { code, finds, why, fix } of ALL_RULES) {
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(finds, code).toMatch(/^[a-zA-Z][^\n|]*[^.\n|]$/);
    expect(fix, code).toMatch(/^[A-Z`][^\n|]*\.$/);
    expect(why, code).toMatch(/^[A-Z`][^\n|]*\.$/);
  }
});

describe.each(ZONE_RULES.map(({ code, severity }) => ({ code, severity })))("$code", ({ code, severity }) => {
  const cases = (CASES[code] ?? []).map(project);
  const speaking = cases.filter(({ marked }) => marked.length > 0);

  test("speaks of the marked lines, and of no others", () => {
    expect(speaking.length).toBeGreaterThan(0);
    expect(cases.length).toBeGreaterThan(speaking.length);
    for (const one of cases) {
      const found = lint(one);
      expect(linesOf(code, found, one)).toEqual(one.marked);
      for (const diagnostic of found.filter((each) => each.code === code)) {
        expect(diagnostic).toMatchObject({
          severity,
          summary: expect.stringMatching(/^[^\n.]+$/),
          fix: expect.any(String),
        });
        expect(diagnostic.detail).toMatch(/^[A-Z`\d][^\n]*\.$/);
      }
    }
  });

  test("is silent about a record that switches it off", () => {
    for (const one of speaking) {
      const { sources, marked } = one;
      const isMarked = (start: number, end: number) =>
        marked.includes(sources.text("zones.txt")?.slice(start, end) ?? "");
      const off = withRecords(one, (record) =>
        isMarked(record.span.start, record.span.end) ? { ...record, lintOff: ["unrelated", code] } : record,
      );
      expect(linesOf(code, lint(off), off)).toEqual([]);
      const elsewhere = withRecords(one, (record) =>
        isMarked(record.span.start, record.span.end) ? { ...record, lintOff: ["mixed-tll"] } : record,
      );
      expect(linesOf(code, lint(elsewhere), elsewhere)).toEqual(marked);
    }
  });

  test("is silent about a domain that switches it off", () => {
    for (const one of speaking) {
      const off = withZones(one, (zone) => ({ ...zone, off: [code] }));
      expect(linesOf(code, lint(off), off)).toEqual([]);
    }
  });

  test("is silent in a project that switches it off", () => {
    for (const one of speaking) expect(linesOf(code, lint(one, [code]), one)).toEqual([]);
  });
});
