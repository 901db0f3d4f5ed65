/** `shared_with` and `part`: what they may say, and that what they may not is told at its place. */

import { expect, test } from "vitest";
import { writeZone } from "../../src/units/zone/manifest.ts";
import { MAX_SHARED_NAMES } from "../../src/units/zone/sharing.ts";
import { declaredZone, loadText, places } from "./support.ts";

const MASTER = "type: master, soa_email: h@a.example";

function shared(names: string, rest = ""): string {
  return `owner: edge\ndomains:\n  - { domain: a.example, ${MASTER}, shared_with: [{ owner: shop, names: ${names} }]${rest} }\n`;
}

function part(names: string, rest = ", records: []"): string {
  return `owner: shop\ndomains:\n  - { domain: a.example, part: { names: ${names} }${rest} }\n`;
}

function ofTwoOwners(names: string): string {
  const [one, other] = names.slice(1, -1).split(", ");
  const shares = `[{ owner: blog, names: [${one}] }, { owner: shop, names: [${other}] }]`;
  return `domains:\n  - { domain: a.example, ${MASTER}, shared_with: ${shares} }\n`;
}

test("names come down to one form, however they are written, and are written back", async () => {
  const written = '["@", "*.Shop.a.example.", "Bücher", "\\\\*.dev", "*.xn--bcher-kva"]';
  const names = ["*.shop", "*.xn--bcher-kva", "@", "\\*.dev", "xn--bcher-kva"];
  const [owner, other] = [await loadText(shared(written)), await loadText(part(written))];
  expect([owner.diagnostics, other.diagnostics]).toEqual([[], []]);
  expect(declaredZone(owner).spec.sharedWith).toEqual([{ owner: "shop", names }]);
  expect(declaredZone(other)).toMatchObject({ part: true, spec: { part: names, fields: {}, records: [] } });
  expect(writeZone(declaredZone(owner).spec).body).toMatchObject({ shared_with: [{ owner: "shop", names }] });
  expect(writeZone(declaredZone(other).spec).body).toEqual({ part: { names }, records: [] });
});

test("a star takes in the apex, and every record of a part may be anywhere then", async () => {
  const records = '[{ type: A, target: 192.0.2.1 }, { type: A, name: "*", target: 192.0.2.1 }]';
  expect((await loadText(part('["*"]', `, records: ${records}`))).diagnostics).toEqual([]);
});

test("what defaults say of domains does not hold for a part, and what they say of records does", async () => {
  const defaults = `defaults:\n  domain: { ${MASTER}, tags: [web], protect: true, ignore: [{ type: TXT }], records_policy: additive }\n  record: { ttl_sec: 3600 }\n`;
  const result = await loadText(defaults + part("[shop]", ", records: [{ type: A, name: shop, target: 192.0.2.1 }]"));
  expect(result.diagnostics).toEqual([]);
  const { protect, spec } = declaredZone(result);
  expect([protect, spec.fields, spec.ignore, spec.policy]).toEqual([false, {}, [{ type: "TXT" }], "additive"]);
  expect(spec.records?.[0]?.ttl_sec).toBe(3600);
});

test.each([
  ["status: active", "not-in-part"],
  ["tags: [web]", "not-in-part"],
  ["type: slave", "not-in-part"],
  ["protect: true", "not-in-part"],
  ["create_from: { clone: b.example }", "not-in-part"],
  ["shared_with: [{ owner: blog, names: [blog] }]", "not-in-part"],
])("beside a part, %s is refused", async (key, code) => {
  const found = places(await loadText(part("[shop]", `, records: [], ${key}`)));
  expect(found).toEqual([`${code} tenon.yaml:4:${64 + key.indexOf(":") + 2}`]);
});

test("a part needs records, by whichever key, and an owner", async () => {
  const mail = "record_sets: { mail: [{ type: A, name: shop, target: 192.0.2.1 }] }\n";
  expect(places(await loadText(part("[shop]", "")))).toEqual(["missing-key tenon.yaml:4:32"]);
  expect(places(await loadText(mail + part("[shop]", ", use: [mail]")))).toEqual([]);
  expect(places(await loadText(part("[shop]").replace("owner: shop\n", "")))).toEqual([
    "part-without-owner tenon.yaml:3:32",
  ]);
});

test("records of a part's record set and zone file are held to its names as well", async () => {
  const set = "record_sets: { mail: [{ type: MX, target: mx.example.net. }] }\n";
  expect(places(await loadText(set + part("[shop]", ", use: [mail]")))).toEqual(["outside-part tenon.yaml:2:23"]);
});

test.each([
  ["[]", "too-short"],
  ['[""]', "too-short"],
  ["[shop..a]", "bad-name"],
  ["[.shop]", "bad-name"],
  ["[shop.other.example.]", "bad-name"],
  ["[shop.a.example]", "bad-name"],
  ["[a.example]", "bad-name"],
  ['["sh op"]', "bad-name"],
  ['["bü*"]', "bad-name"],
  ['["a.\\\\*"]', "bad-name"],
  ['["\\u202eshop"]', "bad-name"],
  [`[${"a".repeat(64)}]`, "bad-name"],
  ["[1, 2]", ""],
])("names %s", async (names, code) => {
  for (const text of [shared(names), part(names)]) {
    const found = (await loadText(text)).diagnostics.map((diagnostic) => diagnostic.code);
    expect(found).toEqual(code === "" ? [] : [code]);
  }
});

test.each([
  ["[shop, shop]"],
  ["[shop, SHOP.a.example.]"],
  ['["*", "@"]'],
  ['["*", x]'],
  ['["*.shop", a.b.shop]'],
  ['["a*", "*b"]'],
  ['["*.shop", "a.*"]'],
  ['["*", "*"]'],
  ['["*.shop", "\\\\*.shop"]'],
  ["[bücher, xn--bcher-kva]"],
])("%s overlap where they are two owners', and not in one list", async (names) => {
  for (const text of [shared(names), part(names)]) expect((await loadText(text)).diagnostics).toEqual([]);
  expect((await loadText(ofTwoOwners(names))).diagnostics.map(({ code }) => code)).toEqual(["overlapping-names"]);
});

test.each([
  ["[shop, shops]"],
  ['[shop, "*.shop"]'],
  ['["@", "*.shop"]'],
  ['["a*", "b*"]'],
  ['["*.a", "*.b"]'],
  ['["\\\\*", x]'],
])("%s do not overlap", async (names) => {
  expect((await loadText(ofTwoOwners(names))).diagnostics).toEqual([]);
});

test("names that overlap are told at the place of the later one, with that of the earlier one", async () => {
  const result = await loadText(
    `domains:\n  - domain: a.example\n    type: master\n    soa_email: h@a.example\n    shared_with:\n      - { owner: shop, names: ["*.shop"] }\n      - { owner: blog, names: [blog, a.shop] }\n`,
  );
  expect(places(result)).toEqual(["overlapping-names tenon.yaml:8:38"]);
  expect(result.diagnostics[0]?.related?.[0]).toMatchObject({ message: "the other one" });
});

test("a domain has one entry in a project, whether it is all of it or a part", async () => {
  const entries = ["part: { names: [a] }, records: []", "part: { names: [b] }, records: []", MASTER];
  for (const [one, other] of [
    [0, 1],
    [0, 2],
    [2, 0],
  ] as const) {
    const text = `owner: shop\ndomains:\n  - { domain: a.example, ${entries[one]} }\n  - { domain: A.example., ${entries[other]} }\n`;
    expect(places(await loadText(text))).toEqual(["duplicate-entry tenon.yaml:5:15"]);
  }
});

test("a declared record in a shared name is refused, but not beside it", async () => {
  const records =
    ", records: [{ type: A, name: shop, target: 192.0.2.1 }, { type: A, name: shops, target: 192.0.2.1 }]";
  expect((await loadText(shared("[shop]", records))).diagnostics.map(({ code }) => code)).toEqual([
    "declared-and-shared",
  ]);
});

test.each([
  ["{ owner: Shop, names: [a] }", "bad-format"],
  ["{ owner: 'a b', names: [a] }", "bad-format"],
  ["{ owner: edge, names: [a] }", "shared-with-self"],
  ["{ names: [a] }", "missing-key"],
  ["{ owner: shop }", "missing-key"],
])("shared_with: [%s]", async (entry, code) => {
  const text = `owner: edge\ndomains:\n  - { domain: a.example, ${MASTER}, shared_with: [${entry}] }\n`;
  expect((await loadText(text)).diagnostics.map((diagnostic) => diagnostic.code)).toEqual([code]);
});

test("a tag that says who may manage a part is no tag of a user", async () => {
  for (const tag of ["Tenon-Part:shop", "  tenon-part:shop", "\\ttenon:shop "]) {
    const text = `domains: [{ domain: a.example, ${MASTER}, tags: ["${tag}"] }]\n`;
    expect((await loadText(text)).diagnostics.map(({ code }) => code)).toEqual(["reserved-tag"]);
  }
});

test("so many names are enough, and one more is too many", async () => {
  const names = (count: number) => `[${Array.from({ length: count }, (_, index) => `n${index}-x`).join(", ")}]`;
  expect((await loadText(shared(names(MAX_SHARED_NAMES)))).diagnostics).toEqual([]);
  expect((await loadText(shared(names(MAX_SHARED_NAMES + 1)))).diagnostics.map(({ code }) => code)).toEqual([
    "too-many-patterns",
  ]);
});
