/** Guards and consents, to the last percent and the last day. */

import { expect, test } from "vitest";
import type { Change } from "../../src/model/change.ts";
import type { Consent, ConsentRule } from "../../src/model/desired.ts";
import { expiredConsents, guardsOf, type PolicyOptions } from "../../src/plan/guards.ts";
import { units } from "../../src/units/index.ts";
import { a, change, declared, desired, record } from "./changes.ts";

const TODAY = "2026-07-01";

function consent(rule: ConsentRule, address: string, until: string | null = null): Consent {
  return { rule, address, until, reason: null, span: null };
}

function guards(
  changes: Change[],
  options: Partial<PolicyOptions> = {},
  entries = desired(),
  whole: readonly Change[] = changes,
): string[] {
  const addresses = new Set(entries.declared.filter(({ protect }) => protect).map(({ address }) => address));
  const { guards: found } = guardsOf(
    changes,
    { changes: whole, withRemovals: whole },
    { addresses, takenFromProtected: new Map() },
    units,
    {
      goal: "apply",
      owner: entries.owner,
      today: TODAY,
      consents: [],
      maxChanges: null,
      ...options,
    },
  );
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
  [6, 4, ["bulk domain/a.example missing 4/10"]],
  [6, 3, []],
  [1, 8, []],
  [0, 8, ["bulk domain/a.example missing 8/8"]],
  [70, 30, []],
  [69, 30, ["bulk domain/a.example missing 30/99"]],
  [0, 1, ["bulk domain/a.example missing 1/1"]],
  [5, 0, []],
  [8_400, 3_600, []],
  [8_399, 3_601, ["bulk domain/a.example missing 3601/12000"]],
] as const)("%d kept and %d removed", (kept, removed, expected) => {
  expect(guards([zone, ...records(kept, removed)])).toEqual(expected);
});

test("a run that is narrowed to some of what is removed is judged by all of it, and one that removes none of it is not", () => {
  const all = [zone, ...records(10, 30)];
  const only = (...removed: string[]) =>
    all.map((one) =>
      one.action === "delete" && !removed.includes(String(one.before?.["name"]))
        ? { ...one, action: "no-op" as const, after: one.before }
        : one,
    );
  expect(guards(only("r1"), {}, desired(), all)).toEqual(["bulk domain/a.example missing 30/40"]);
  expect(guards(only(), {}, desired(), all)).toEqual([]);
  expect(guards(only("r1"), {}, desired(), [zone, ...records(31, 9)])).toEqual([]);
  const consents = [consent("bulk", "domain/a.example")];
  expect(guards(only("r1"), { consents }, desired(), all)).toEqual(["bulk domain/a.example given 30/40"]);
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

test("replaces and prunes of VPCs, domains and images need consent; what removed names, and what was never finished, does not", () => {
  expect(guards([replaced, pruned])).toEqual(["replace vpc/v missing", "delete vpc/a*b missing"]);
  expect(
    guards([
      change({ address: "domain/a.example", action: "delete", labels: ["prune"], before: active }),
      change({ address: "image/i", action: "delete", labels: ["prune"], before: v }),
      change({ address: "image/j", action: "replace", before: v, after: v }),
    ]),
  ).toEqual(["delete domain/a.example missing", "delete image/i missing", "replace image/j missing"]);
  expect(
    guards([
      change({ address: "vpc/v", action: "delete", before: v }),
      change({ address: "image/i", action: "delete", before: v }),
      change({ address: "image/j", action: "replace", labels: ["unfinished"], before: v, after: v }),
      change({ address: "image/j:2", action: "delete", labels: ["prune", "unfinished"], before: v }),
    ]),
  ).toEqual([]);
});

test("a subnet's replace needs consent by its own address, unless its VPC is replaced as a whole", () => {
  const subnet = change({ address: "vpc/v/subnet/a", action: "replace", before: v, after: v });
  expect(guards([change({ address: "vpc/v", action: "no-op", before: v, after: v }), subnet])).toEqual([
    "replace vpc/v/subnet/a missing",
  ]);
  expect(guards([subnet], { consents: [consent("replace", "vpc/v/subnet/*")] })).toEqual([
    "replace vpc/v/subnet/a given",
  ]);
  expect(guards([replaced, subnet])).toEqual(["replace vpc/v missing"]);
});

const network = { label: "v", owner: "me" };
const kept = change({ address: "vpc/v", action: "no-op", before: network, after: network });
const unowned: Change = { ...kept, action: "update", before: { ...network, owner: null }, labels: ["adopt"] };

function subnets(staying: number, removed: number): Change[] {
  return [
    ...Array.from({ length: staying }, (_, index) =>
      change({ address: `vpc/v/subnet/k${index}`, action: "no-op", before: v, after: v }),
    ),
    ...Array.from({ length: removed }, (_, index) =>
      change({ address: `vpc/v/subnet/r${index}`, action: "delete", before: v }),
    ),
  ];
}

test.each([
  [0, 2, []],
  [1, 1, []],
  [2, 1, ["bulk vpc/v missing 1/3"]],
  [7, 3, []],
  [6, 3, ["bulk vpc/v missing 3/9"]],
  [0, 3, ["bulk vpc/v missing 3/3"]],
  [3, 0, []],
] as const)("of a VPC's subnets %d stay and %d are removed", (staying, removed, expected) => {
  expect(guards([kept, ...subnets(staying, removed)], { owner: "me" })).toEqual(expected);
});

test("of a VPC that is being adopted no subnet goes without consent", () => {
  expect(guards([unowned, ...subnets(9, 1)], { owner: "me" })).toEqual(["bulk vpc/v missing 1/10"]);
  expect(guards([unowned, ...subnets(9, 0)], { owner: "me" })).toEqual([]);
  expect(guards([unowned, ...subnets(1, 1)], { owner: null })).toEqual([]);
  expect(guards([unowned, ...subnets(0, 2)], { owner: "me", consents: [consent("bulk", "vpc/v")] })).toEqual([
    "bulk vpc/v given 2/2",
  ]);
  const held = subnets(1, 2).map((subnet) =>
    subnet.action === "delete" ? { ...subnet, blocked: { type: "depends" as const, on: [] } } : subnet,
  );
  expect(guards([unowned, ...held], { owner: "me" })).toEqual([]);
  // A VPC that is deleted or made anew takes its subnets with it.
  expect(guards([{ ...kept, action: "delete" }, ...subnets(0, 3)], { owner: "me" })).toEqual([]);
});

test("a removal counts only if its name and type are left without an answer", () => {
  const text = (name: string, target: string) => ({ type: "TXT", name, target, ttl_sec: 0 });
  const alias = (name: string) => ({ type: "CNAME", name, target: "x", ttl_sec: 0 });
  const many = records(8, 0);
  const gone = [1, 2, 3, 4].map((host) => record("www", "delete", { before: a("www", `192.0.2.${host}`) }));
  const stays = record("www", "no-op", { before: a("www", "y"), after: a("www", "y") });
  expect(guards([zone, ...many, ...gone])).toEqual(["bulk domain/a.example missing 4/12"]);
  expect(guards([zone, ...many, ...gone, stays])).toEqual([]);
  expect(guards([zone, ...many, ...gone, record("www", "create", { after: a("www", "z") })])).toEqual([]);
  expect(guards([zone, ...many, ...gone, record("www", "create", { after: alias("www") })])).toEqual([]);
  expect(guards([zone, ...many, ...gone, record("www", "create", { after: text("www", "z") })])).toEqual([
    "bulk domain/a.example missing 4/12",
  ]);
  // What is blocked does not come, and does not go.
  const blocked = { blocked: { type: "depends" as const, on: [] } };
  const coming = record("www", "create", { after: a("www", "z") });
  expect(guards([zone, ...many, ...gone, { ...coming, ...blocked }])).toEqual(["bulk domain/a.example missing 4/12"]);
  expect(
    guards([zone, ...many, ...gone.map((change, index) => (index === 0 ? { ...change, ...blocked } : change))]),
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
  expect(guards(changes, { maxChanges: Number.NaN })).toContain("max-changes * impossible 1/NaN");
});

test("only a destroy needs no consent: a goal that a program misspelt does", () => {
  for (const goal of ["Apply", "Destroy", ""]) {
    expect(guards([replaced], { goal: goal as "apply" })).toEqual(["replace vpc/v missing"]);
  }
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
    ["the consent `bulk: domain/x` ended on 2026-06-30", span, "warning"],
    ["the consent `replace: c` ended on 2025-12-31", undefined, "warning"],
  ]);
});
