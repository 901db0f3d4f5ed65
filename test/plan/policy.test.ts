/** Guards and consents, to the last percent and the last day. */

import { expect, test } from "vitest";
import type { Change } from "../../src/model/change.ts";
import type { Consent, ConsentRule } from "../../src/model/desired.ts";
import { expiredConsents, guardsOf, type PolicyOptions } from "../../src/plan/policy.ts";
import { a, change, declared, desired, record } from "./changes.ts";

const TODAY = "2026-07-01";

function consent(rule: ConsentRule, address: string, until: string | null = null): Consent {
  return { rule, address, until, reason: null, span: null };
}

function guards(changes: Change[], options: Partial<PolicyOptions> = {}, entries = desired()): string[] {
  const kept = new Set(entries.declared.filter(({ protect }) => protect).map(({ address }) => address));
  const found = guardsOf(changes, kept, {
    goal: "apply",
    owner: entries.owner,
    today: TODAY,
    consents: [],
    maxChanges: null,
    ...options,
  });
  return found.map(
    ({ rule, address, consent: state, count, of }) =>
      `${rule} ${address} ${state}${count === null ? "" : ` ${count}/${of}`}`,
  );
}

const active = { domain: "a.example", status: "active" };
const zone = change({ address: "domain/a.example", action: "no-op", before: active, after: active });

function records(kept: number, removed: number): Change[] {
  return [
    ...Array.from({ length: kept }, (_, index) =>
      record(`k${index}`, "no-op", { before: a(`k${index}`, "x"), after: a(`k${index}`, "x") }),
    ),
    ...Array.from({ length: removed }, (_, index) => record(`r${index}`, "delete", { before: a(`r${index}`, "x") })),
  ];
}

test.each([
  [7, 3, []],
  [6, 3, ["bulk domain/a.example missing 3/9"]],
  [70, 30, []],
  [69, 30, ["bulk domain/a.example missing 30/99"]],
  [0, 1, ["bulk domain/a.example missing 1/1"]],
  [5, 0, []],
  [8_400, 3_600, []],
  [8_399, 3_601, ["bulk domain/a.example missing 3601/12000"]],
] as const)("%d kept and %d removed", (kept, removed, expected) => {
  expect(guards([zone, ...records(kept, removed)])).toEqual(expected);
});

test("updates in place and creates do not count, renames do, blocked ones do not", () => {
  const moved = record("new", "update", { before: a("old", "x"), after: a("new", "x") });
  expect(
    guards([
      zone,
      record("www", "update", { before: a("www", "x"), after: a("www", "y") }),
      record("n", "create", { after: a("n", "x") }),
    ]),
  ).toEqual([]);
  expect(guards([zone, { ...moved, labels: ["rename"] }])).toEqual(["bulk domain/a.example missing 1/1"]);
  expect(guards([zone, { ...moved, labels: ["rename"], blocked: { type: "depends", on: [] } }])).toEqual([]);
});

test("each zone is counted for itself; one that is made or deleted is not counted", () => {
  const other = change({ address: "domain/b.example", action: "create", after: active });
  expect(
    guards([zone, ...records(9, 1), other, record("x", "create", { after: a("x", "x"), zone: "b.example" })]),
  ).toEqual([]);
});

test("of a zone that is being adopted no record goes without consent", () => {
  const untagged = { ...active, owner: null };
  const adopted: Change = { ...zone, action: "update", before: untagged, labels: ["adopt"] };
  expect(guards([adopted, ...records(99, 1)], { owner: "me" })).toEqual(["bulk domain/a.example missing 1/100"]);
  expect(guards([adopted, ...records(99, 0)], { owner: "me" })).toEqual([]);
  // A run that is narrowed to the records leaves the domain as it is, and is no way around.
  const narrowed: Change = { ...zone, before: untagged, after: untagged };
  expect(guards([narrowed, ...records(99, 1)], { owner: "me" })).toEqual(["bulk domain/a.example missing 1/100"]);
});

test("the apex name servers of an active zone need consent, whether one comes, goes or changes", () => {
  const ns = (target: string) => ({ type: "NS", name: "", target, ttl_sec: 0 });
  const came = record("", "create", { after: ns("x") });
  expect(guards([zone, came])).toEqual(["ns domain/a.example missing"]);
  expect(guards([zone, record("", "update", { before: ns("x"), after: ns("y") })])).toEqual([
    "ns domain/a.example missing",
  ]);
  expect(guards([zone, ...records(9, 0), record("", "delete", { before: ns("x") })])).toEqual([
    "ns domain/a.example missing",
  ]);
  expect(guards([zone, record("", "no-op", { before: ns("x"), after: ns("x") })])).toEqual([]);
  expect(guards([zone, record("sub", "create", { after: { ...ns("x"), name: "sub" } })])).toEqual([]);
  expect(guards([{ ...zone, before: { ...active, status: "disabled" } }, came])).toEqual([]);
});

const v = { label: "v" };
const replaced = change({ address: "vpc/v", action: "replace", before: v, after: v });
const pruned = change({ address: "vpc/a*b", action: "delete", labels: ["prune"], before: v });

test("replaces and prunes of VPCs and domains need consent; what removed names, subnets and images do not", () => {
  expect(guards([replaced, pruned])).toEqual(["replace vpc/v missing", "delete vpc/a*b missing"]);
  expect(
    guards([
      change({ address: "vpc/v", action: "delete", before: v }),
      change({ address: "vpc/w/subnet/a", action: "replace", before: v, after: v }),
      change({ address: "image/i", action: "delete", labels: ["prune"], before: v }),
      change({ address: "image/j", action: "replace", labels: ["unfinished"], before: v, after: v }),
    ]),
  ).toEqual([]);
});

test.each([
  [consent("delete", "vpc/a\\*b"), "given"],
  [consent("delete", "vpc/*"), "given"],
  [consent("delete", "*"), "given"],
  [consent("delete", "vpc/a*b"), "given"],
  [consent("delete", "vpc/a\\*"), "missing"],
  [consent("delete", "vpc/axb"), "missing"],
  [consent("replace", "vpc/a\\*b"), "missing"],
  [consent("delete", "vpc/*", TODAY), "given"],
  [consent("delete", "vpc/*", "2026-06-30"), "missing"],
] as const)("the consent %j is %s", (given, state) => {
  expect(guards([pruned], { consents: [given] })).toEqual([`delete vpc/a*b ${state}`]);
});

test("an escaped star in a consent does not fit other addresses", () => {
  const other = change({ address: "vpc/axb", action: "delete", labels: ["prune"], before: v });
  expect(guards([other], { consents: [consent("delete", "vpc/a\\*b")] })).toEqual(["delete vpc/axb missing"]);
});

test("protect beats every consent, for apply and destroy alike, but does not stop an update", () => {
  const kept = desired(declared("vpc/v", true));
  const all = ["delete", "replace", "bulk", "ns"].map((rule) => consent(rule as ConsentRule, "*"));
  expect(guards([replaced], { consents: all }, kept)).toEqual(["protect vpc/v impossible", "replace vpc/v given"]);
  expect(
    guards([change({ address: "vpc/v", action: "delete", before: v })], { goal: "destroy", consents: all }, kept),
  ).toEqual(["protect vpc/v impossible"]);
  expect(guards([change({ address: "vpc/v", action: "update", before: v, after: v })], {}, kept)).toEqual([]);
  expect(guards([{ ...replaced, blocked: { type: "depends", on: [] } }], {}, kept)).toEqual([]);
});

test("destroy is its own consent, but not to more changes than the limit", () => {
  const gone = [
    change({ address: "vpc/v", action: "delete", before: v }),
    change({ address: "domain/a.example", action: "delete", before: active }),
  ];
  expect(guards(gone, { goal: "destroy" })).toEqual([]);
  expect(guards(gone, { goal: "destroy", maxChanges: 1 })).toEqual(["max-changes * impossible 2/1"]);
  expect(guards(gone, { goal: "destroy", maxChanges: 2 })).toEqual([]);
});

test("the limit counts changes that will be made, and 0 is a limit", () => {
  const changes = [zone, ...records(1, 0), replaced, { ...pruned, blocked: { type: "depends" as const, on: [] } }];
  expect(guards(changes, { maxChanges: 0, consents: [consent("replace", "*")] })).toEqual([
    "replace vpc/v given",
    "max-changes * impossible 1/0",
  ]);
  expect(guards([zone], { maxChanges: 0 })).toEqual([]);
});

test("only consents that have ended are warned about, with the place where they stand", () => {
  const span = { file: "tenon.yaml", start: 3, end: 9 };
  const found = expiredConsents(
    [
      consent("ns", "a", TODAY),
      { ...consent("bulk", "domain/x", "2026-06-30"), span },
      consent("delete", "b"),
      consent("replace", "c", "2025-12-31"),
    ],
    TODAY,
  );
  expect(found.map(({ summary, span: place, severity }) => [summary, place, severity])).toEqual([
    ["the consent to bulk domain/x ended on 2026-06-30", span, "warning"],
    ["the consent to replace c ended on 2025-12-31", undefined, "warning"],
  ]);
});
