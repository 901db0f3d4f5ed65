/** What entries say for people: owner, reason and dates, of every kind of entry; and records that have expired. */

import { describe, expect, test } from "vitest";
import { lintProject } from "../../src/lint/index.ts";
import { findChangedSince } from "../../src/plan/changed-since.ts";
import type { NetworkSpec } from "../../src/units/network/manifest.ts";
import type { ZoneSpec } from "../../src/units/zone/spec.ts";
import { codes, loadText, places } from "./support.ts";

const TODAY = "2026-11-25";
const SAID = "owner: Ada Lovelace, reason: ticket 4711, review_by: 2027-01-31, expires: 2027-03-31";
const ANNOTATIONS = {
  owner: "Ada Lovelace",
  reason: "ticket 4711",
  review_by: "2027-01-31",
  expires: "2027-03-31",
};
const DEFAULTS = "defaults: { domain: { type: master, soa_email: hostmaster@example.com } }\n";

async function declaredIn(text: string, today = TODAY) {
  const { project, diagnostics } = await loadText(text, { today });
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  return project?.desired.declared ?? [];
}

async function zoneOf(text: string, today = TODAY): Promise<ZoneSpec> {
  const [zone] = await declaredIn(DEFAULTS + text, today);
  return zone?.spec as ZoneSpec;
}

function targetsOf({ records, expired = [] }: ZoneSpec) {
  return { declared: records?.map(({ target }) => target), expired: expired.map(({ target }) => target) };
}

describe("an entry says for people", () => {
  test("whose it is, why it is there and until when: VPCs, subnets, domains, records, those of sets and builders, images", async () => {
    const text = `${DEFAULTS}record_sets: { web: [{ type: A, target: 198.51.100.1, ${SAID} }] }
vpcs: [{ label: a, region: us-east, ${SAID}, subnets: [{ label: s, ipv4: 10.0.0.0/24, ${SAID} }] }]
domains:
  - domain: example.com
    owner: Ada Lovelace
    reason: ticket 4711
    review_by: 2027-01-31
    expires: 2027-03-31
    use: [web]
    records:
      - { type: A, name: www, targets: [198.51.100.2, 198.51.100.3], ${SAID} }
      - { spf: { mx: true, all: fail }, ${SAID} }
images: [{ label: golden, ${SAID} }]
`;
    const [vpc, domain, image] = await declaredIn(text);
    const subnets = (vpc?.spec as NetworkSpec | undefined)?.subnets ?? [];
    const records = (domain?.spec as ZoneSpec | undefined)?.records ?? [];
    expect(records).toHaveLength(4);
    for (const entry of [vpc, ...subnets, domain, ...records, image]) expect(entry?.annotations).toEqual(ANNOTATIONS);
  });

  test("by the defaults of domains, too, those of a part included, and nothing if it says nothing", async () => {
    const text = `owner: shop
defaults: { domain: { owner: dns-team, review_by: 2027-01-31 } }
domains:
  - { domain: a.example, part: { names: [shop] }, records: [] }
  - { domain: b.example, type: master, soa_email: a@b.example, owner: Ada, records: [{ type: A, target: 198.51.100.1 }] }
`;
    const [part, own] = await declaredIn(text);
    expect(part?.annotations).toEqual({ owner: "dns-team", review_by: "2027-01-31" });
    expect(own?.annotations).toEqual({ owner: "Ada", review_by: "2027-01-31" });
    expect((own?.spec as ZoneSpec | undefined)?.records?.[0]).not.toHaveProperty("annotations");
  });

  test("and a change of that alone is no change", async () => {
    const entry = (said: string) =>
      `${DEFAULTS}vpcs: [{ label: a, region: us-east, ${said} }]
domains: [{ domain: example.com, ${said}, records: [{ type: A, target: 198.51.100.1, ${said} }] }]
`;
    const [one, other] = await Promise.all([entry("owner: Ada"), entry(SAID)].map((text) => loadText(text)));
    const [before, now] = [one?.project?.desired, other?.project?.desired];
    if (before === undefined || now === undefined) throw new Error("not loaded");
    expect(findChangedSince("main", now, before).addresses).toEqual([]);
  });
});

describe("what is no date, or too long, is an error at its place:", () => {
  test.each([
    ["a day that there is not", "expires: 2026-02-30", "bad-date", "`2026-02-30` is no day of the calendar."],
    ["a month that there is not", "review_by: 2026-13-01", "bad-date", "`2026-13-01` is no day of the calendar."],
    ["another form", "expires: 31.12.2026", "bad-date", "`31.12.2026` is not a date of the form YYYY-MM-DD."],
    ["a time of day", 'review_by: "2026-12-31T00:00:00Z"', "bad-date", "is not a date of the form YYYY-MM-DD."],
    ["a number", "expires: 20261231", "bad-date", "`20261231` is not a date of the form YYYY-MM-DD."],
    ["nothing", "expires:", "empty-value", "null is not allowed here"],
    ["an owner of two lines", 'owner: "a\\nb"', "bad-format", ""],
    ["an owner of 101 characters", `owner: ${"a".repeat(101)}`, "too-long", ""],
    ["a reason of 501 characters", `reason: ${"a".repeat(501)}`, "too-long", ""],
    ["an owner that is a list", "owner: [a, b]", "wrong-type", ""],
  ])("%s", async (_, said, code, detail) => {
    const texts = [
      `vpcs:\n  - label: a\n    region: us-east\n    ${said}\n`,
      `vpcs:\n  - label: a\n    region: us-east\n    subnets:\n      - label: s\n        ipv4: 10.0.0.0/24\n        ${said}\n`,
      `${DEFAULTS}domains:\n  - domain: example.com\n    ${said}\n    records: []\n`,
      `${DEFAULTS}domains:\n  - domain: example.com\n    records:\n      - type: A\n        target: 198.51.100.1\n        ${said}\n`,
      `${DEFAULTS}record_sets:\n  web:\n    - type: A\n      target: 198.51.100.1\n      ${said}\ndomains: [{ domain: [a.example, b.example], use: [web] }]\n`,
      `images:\n  - label: a\n    ${said}\n`,
    ];
    for (const text of texts) {
      const result = await loadText(text, { today: TODAY });
      expect(codes(result)).toEqual([code]);
      expect(result.diagnostics[0]?.detail).toContain(detail);
      const line = `tenon: 1\n${text}`.split("\n").findIndex((one) => one.includes(said)) + 1;
      expect(places(result)[0]).toMatch(new RegExp(`^${code} tenon.yaml:${line}:`));
    }
  });
});

describe("a record whose entry has expired", () => {
  const dated = (date: string) =>
    `domains: [{ domain: example.com, records: [{ type: A, targets: [198.51.100.1, 198.51.100.2], expires: ${date} }] }]\n`;

  test("is declared on the day itself, and no longer on the next one", async () => {
    expect(targetsOf(await zoneOf(dated("2026-11-25")))).toEqual({
      declared: ["198.51.100.1", "198.51.100.2"],
      expired: [],
    });
    expect(targetsOf(await zoneOf(dated("2026-11-24")))).toEqual({
      declared: [],
      expired: ["198.51.100.1", "198.51.100.2"],
    });
  });

  test("is declared for ever where no day is given", async () => {
    const { project } = await loadText(DEFAULTS + dated("2000-01-01"));
    expect(project?.desired).not.toHaveProperty("today");
    expect(project?.desired.declared[0]?.spec).toMatchObject({ records: [{}, {}] });
  });

  test("overrides nothing, and conflicts with nothing, from then on", async () => {
    const text = (date: string) => `record_sets: { web: [{ type: A, name: www, target: 198.51.100.1 }] }
domains:
  - domain: example.com
    use: [web]
    records:
      - { type: A, name: www, target: 198.51.100.9, override: true, expires: ${date} }
      - { type: CNAME, name: www, target: a.example.net., expires: 2026-11-24 }
`;
    expect(targetsOf(await zoneOf(text("2026-11-25")))).toEqual({
      declared: ["198.51.100.9"],
      expired: ["a.example.net"],
    });
    expect(targetsOf(await zoneOf(text("2026-11-24")))).toEqual({
      declared: ["198.51.100.1"],
      expired: ["198.51.100.9", "a.example.net"],
    });
  });

  test("is still checked for itself, and is none of the records that a domain may have", async () => {
    const broken =
      "domains: [{ domain: example.com, records: [{ type: A, target: nonsense, expires: 2026-11-24 }] }]\n";
    expect(codes(await loadText(DEFAULTS + broken, { today: TODAY }))).toEqual(["bad-address"]);
    const targets = Array.from(
      { length: 13_000 },
      (_, index) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
    );
    const many = `domains: [{ domain: example.com, records: [{ type: A, targets: [${targets.join(", ")}], expires: 2027-01-01 }] }]\n`;
    const [alive, gone] = await Promise.all(
      [many, many.replace("2027", "2020")].map((text) => loadText(DEFAULTS + text, { today: TODAY })),
    );
    expect(alive === undefined ? [] : codes(alive)).toContain("too-many-records");
    expect(gone === undefined ? [] : codes(gone)).toEqual([]);
  });
});

describe("lint", () => {
  async function lintedOf(text: string) {
    const result = await loadText(text, { today: TODAY });
    if (result.project === null) throw new Error(JSON.stringify(result.diagnostics));
    return (await lintProject(result.project, result.diagnostics)).map(({ code, summary }) => [code, summary]);
  }

  test("warns of what is past, each entry once, with its owner, and of an expired one not to review it", async () => {
    const text = `${DEFAULTS}record_sets: { web: [{ type: A, name: a, targets: [198.18.0.1, 198.18.0.2], expires: 2026-11-24 }] }
vpcs:
  - label: a
    region: us-east
    owner: Ada
    review_by: 2026-11-24
    subnets: [{ label: s, ipv4: 10.0.0.0/24, review_by: 2026-11-20, expires: 2026-11-24 }]
domains: [{ domain: [a.example, b.example], use: [web], records: [], review_by: 2026-11-25 }]
images: [{ label: golden, expires: 2026-11-24 }]
`;
    const found = (await lintedOf(text)).filter(([code]) => code === "review-due" || code === "expired-entry");
    expect(found).toEqual([
      ["expired-entry", "the entry expired on 2026-11-24"],
      ["review-due", "the entry was to be reviewed by 2026-11-24 (owner: Ada)"],
      ["expired-entry", "the entry expired on 2026-11-24"],
      ["expired-entry", "the entry expired on 2026-11-24"],
    ]);
  });

  test("is silent where the record, the domain or the project switches that off", async () => {
    const text = (project: string, domain: string, record: string) =>
      `${DEFAULTS}${project}domains: [{ domain: example.com, ${domain}review_by: 2020-01-01, records: [{ type: A, target: 203.0.114.1, ${record}expires: 2020-01-01 }] }]\n`;
    const off = "lint: { off: [expired-entry] }";
    const codesOf = async (...parts: [string, string, string]) =>
      (await lintedOf(text(...parts))).map(([code]) => code);
    expect(await codesOf("", "", "")).toEqual(["review-due", "expired-entry"]);
    expect(await codesOf(`${off}\n`, "", "")).toEqual(["review-due"]);
    expect(await codesOf("", `${off}, `, "")).toEqual(["review-due"]);
    expect(await codesOf("", "", `${off}, `)).toEqual(["review-due"]);
    expect(await codesOf("lint: { off: [review-due] }\n", "", `${off}, `)).toEqual([]);
  });
});
