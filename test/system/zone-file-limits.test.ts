/** Zone files at their limits: long texts, many records, TTLs that differ, what lies below a delegation, what no zone can hold. */

import { expect, test } from "vitest";
import { compare } from "./zone-compare.ts";
import { checkZone, heldIn, type Made, makeZone, serveZone } from "./zone-judge.ts";

const TEXT = { type: "TXT", name: "t" };

/** 250 characters. */
const LONG_HOST = ["h".repeat(63), "h".repeat(63), "h".repeat(63), "h".repeat(58)].join(".");

const AT_ONCE = 100;

async function addAll(made: Made, records: readonly object[]): Promise<void> {
  for (let start = 0; start < records.length; start += AT_ONCE) {
    await Promise.all(records.slice(start, start + AT_ONCE).map((record) => made.add(record)));
  }
}

test.each([255, 256, 510, 511, 4_000, 65_000])("a text of %i octets, in strings of at most 255", async (octets) => {
  for (const target of ["x".repeat(octets), "\u0001é".repeat(octets / 3) + "x".repeat(octets % 3)]) {
    const made = await makeZone();
    await made.add({ ...TEXT, target });
    expect(await checkZone("example.com", await made.zone())).toMatchObject({ ok: true });
    const served = await serveZone("example.com", await made.zone());
    expect(await compare(served, made.domain, await made.records())).toEqual([]);
    const { resolver } = await serveZone("example.com", await made.zone(), "bind");
    const [strings = []] = await resolver.resolveTxt("t.example.com");
    expect(Buffer.from(strings.join(""), "latin1").toString("utf8") === target).toBe(true);
    expect(strings.every(({ length }) => length <= 255)).toBe(true);
  }
});

/** By how much more it would not be rendered, one can see in test/emulator/zone-file.test.ts. */
test("the longest text and the longest CAA that are rendered are answered in whole", async () => {
  const made = await makeZone();
  const found: string[] = [];
  for (const fields of [TEXT, { type: "CAA", name: "c", tag: "issue" }]) {
    const { body: record } = await made.send("POST", `/domains/${made.domain.id}/records`, { ...fields, target: "x" });
    let [fits, breaks] = [60_000, 65_535];
    while (breaks - fits > 1) {
      const length = Math.floor((fits + breaks) / 2);
      await made.send("PUT", `/domains/${made.domain.id}/records/${record.id}`, { target: "x".repeat(length) });
      if ((await made.zone()).includes("is left out")) breaks = length;
      else fits = length;
    }
    await made.send("PUT", `/domains/${made.domain.id}/records/${record.id}`, { target: "x".repeat(fits) });
    found.push(`${record.type} ${fits}`);
  }
  expect(found).toEqual(["TXT 65108", "CAA 65357"]);
  expect(await checkZone("example.com", await made.zone())).toMatchObject({ ok: true });
  const served = await serveZone("example.com", await made.zone());
  expect(await compare(served, made.domain, await made.records())).toEqual([]);
  // BIND wants room for its NS records, too, unless recursion is desired: as c-ares does, and dig here does not.
  const { resolver } = await serveZone("example.com", await made.zone(), "bind");
  expect((await resolver.resolveTxt("t.example.com"))[0]?.join("").length).toBe(65_108);
  expect((await resolver.resolveCaa("c.example.com"))[0]?.issue?.length).toBe(65_357);
});

test("a set of records is in the zone as far as it fits a message", async () => {
  const made = await makeZone();
  await made.add({ ...TEXT, target: "a".repeat(40_000) }, { ...TEXT, target: "b".repeat(40_000) });
  await made.add({ ...TEXT, target: "a".repeat(40_000) }, { type: "A", name: "t", target: "192.0.2.1" });
  const addresses = Array.from({ length: 4_500 }, (_, index) => `10.4.${index >> 8}.${index & 255}`);
  await addAll(
    made,
    addresses.map((target) => ({ type: "A", name: "many", target })),
  );
  const srv = { type: "SRV", service: "s", protocol: "tcp", priority: 1, weight: 1, target: LONG_HOST };
  await addAll(
    made,
    Array.from({ length: 300 }, (_, port) => ({ ...srv, port })),
  );
  const zone = await made.zone();
  expect(await checkZone("example.com", zone)).toMatchObject({ ok: true });
  const held = heldIn(zone, await made.records());
  expect(["TXT", "A", "SRV"].map((type) => held.filter((record) => record.type === type).length)).toEqual([
    2, 4_086, 242,
  ]);
  const served = await serveZone("example.com", zone);
  expect(await compare(served, made.domain, held)).toEqual([]);
});

test("12,000 records", async () => {
  const made = await makeZone({ ttl_sec: 3_600 });
  const kinds = [
    (index: number) => ({ type: "A", name: `host-${index}`, target: `10.1.${index >> 8}.${index & 255}` }),
    (index: number) => ({ type: "AAAA", name: `host-${index}`, target: `2001:db8::${index.toString(16)}` }),
    (index: number) => ({ type: "TXT", name: `Host-${index}`, target: `"${index}"; \\`, ttl_sec: 300 }),
    (index: number) => ({ type: "A", name: `pool-${index % 40}`, target: `10.2.${index >> 8}.${index & 255}` }),
  ];
  const records = Array.from({ length: 3_000 }, (_, index) => kinds.map((kind) => kind(index))).flat();
  await addAll(made, records);
  expect(await checkZone("example.com", await made.zone())).toMatchObject({ ok: true });
  const served = await serveZone("example.com", await made.zone());
  const listed = await made.records();
  expect(listed.length).toBe(12_000);
  expect(await compare(served, made.domain, listed)).toEqual([]);
});

test("names with more addresses each than fit a message over UDP", async () => {
  const made = await makeZone();
  const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
  const records = names.flatMap((name, second) =>
    Array.from({ length: 120 }, (_, last) => ({ type: "A", name, target: `10.3.${second}.${last}` })),
  );
  await addAll(made, records);
  expect(await checkZone("example.com", await made.zone())).toMatchObject({ ok: true });
  const served = await serveZone("example.com", await made.zone());
  expect(await compare(served, made.domain, await made.records())).toEqual([]);
});

/** Of several TTLs, nsd gives each record its own and BIND all the first: RFC 2181, 5.2 wants one, and the lowest is rendered. */
test.each(["nsd", "bind"] as const)("TTLs that differ within one name and type, at %s", async (kind) => {
  const made = await makeZone({ ttl_sec: 7_200 });
  for (const [name, ttls] of Object.entries({ a: [3_600, 300, 0], b: [0, 300], c: [0, 86_400], d: [86_400, 14_400] })) {
    for (const [index, ttl_sec] of ttls.entries()) {
      await made.add({ type: "A", name: index === 0 ? name : name.toUpperCase(), target: `192.0.2.${index}`, ttl_sec });
    }
  }
  await made.add({ ...TEXT, target: "same", ttl_sec: 3_600 }, { ...TEXT, target: "same", ttl_sec: 300 });
  await made.add({ type: "NS", target: "ns.example.net", ttl_sec: 300 });
  const { ok, said } = await checkZone("example.com", await made.zone());
  expect([ok, said]).toEqual([true, expect.not.stringContaining("TTL")]);
  const served = await serveZone("example.com", await made.zone(), kind);
  expect(await compare(served, made.domain, await made.records())).toEqual([]);
});

/** The API takes them; they are in the zone, and a nameserver refers to the other one (RFC 1034, 4.2.1). */
test("what is at and below a delegation is answered with a referral", async () => {
  const made = await makeZone();
  for (const [index, name] of ["sub", "a.sub", "*.sub", "deep.er.sub"].entries()) {
    await made.add({ type: "A", name, target: `192.0.2.${index}` }, { type: "TXT", name, target: "unseen" });
  }
  await made.add(
    { type: "NS", name: "sub", target: "a.sub.example.com" },
    { type: "NS", name: "sub", target: "ns.example.net" },
    { type: "NS", name: "er.sub", target: "ns.example.net" },
    { type: "CNAME", name: "c.sub", target: "example.net" },
    { type: "A", name: "*", target: "192.0.2.9" },
  );
  const zone = await made.zone();
  expect(await checkZone("example.com", zone)).toMatchObject({ ok: true });
  for (const kind of ["nsd", "bind"] as const) {
    const served = await serveZone("example.com", zone, kind);
    expect(await compare(served, made.domain, await made.records())).toEqual([]);
    expect(await served.dig("whatever.sub.example.com", "A")).toContain("ANSWER: 0, AUTHORITY: 2, ADDITIONAL: 2");
  }
});

/** BIND loads nothing of a zone whose own name server is a name in it without an address. */
const SERVERS: [string, readonly object[], "served" | "left out"][] = [
  ["ns.example.com", [], "left out"],
  ["example.com", [], "left out"],
  ["ns.example.com", [{ type: "A", name: "NS", target: "192.0.2.1" }], "served"],
  ["ns.example.com", [{ type: "AAAA", name: "ns", target: "2001:db8::1" }], "served"],
  ["example.com", [{ type: "A", target: "192.0.2.1" }], "served"],
  ["ns.example.com", [{ type: "TXT", name: "ns", target: "x" }], "left out"],
  ["ns.example.com", [{ type: "CNAME", name: "ns", target: "ns.example.net" }], "left out"],
  ["ns.example.com", [{ type: "A", name: "*", target: "192.0.2.1" }], "served"],
  ["ns.example.com", [{ type: "TXT", name: "*", target: "x" }], "left out"],
  ["ns.example.com", [{ type: "CNAME", name: "*", target: "ns.example.net" }], "left out"],
  [
    "ns.example.com",
    [
      { type: "A", name: "*", target: "192.0.2.1" },
      { type: "A", name: "below.ns", target: "192.0.2.1" },
    ],
    "left out",
  ],
  ["a.w.example.com", [{ type: "A", name: "*.w", target: "192.0.2.1" }], "served"],
  [
    "a.w.example.com",
    [
      { type: "A", name: "*", target: "192.0.2.1" },
      { type: "TXT", name: "w", target: "x" },
    ],
    "left out",
  ],
  ["ns.sub.example.com", [{ type: "NS", name: "sub", target: "ns.example.net" }], "served"],
  ["sub.example.com", [{ type: "NS", name: "sub", target: "ns.example.net" }], "served"],
];

test.each(SERVERS)("the apex's name server %s beside %j is %s", async (target, beside, fate) => {
  const made = await makeZone();
  await made.add({ type: "NS", target }, ...beside);
  const zone = await made.zone();
  expect(zone.includes("its host has no address in the zone") ? "left out" : "served").toBe(fate);
  expect(await checkZone("example.com", zone)).toMatchObject({ ok: true });
  // It is left out only where it must be: with it, the zone would not load.
  const [before, after = ""] = zone.split(/^; record .*$/m);
  if (fate === "left out") {
    expect(await checkZone("example.com", `${before}@ NS ${target}.${after}`)).toMatchObject({ ok: false });
  }
});

test("what no zone can hold keeps nobody from the rest", async () => {
  const made = await makeZone();
  await made.add(
    { ...TEXT, target: "x".repeat(65_535) },
    { ...TEXT, target: "🦦".repeat(65_535) },
    { type: "CAA", name: "t", tag: "issue", target: "x".repeat(65_535) },
    { type: "A", name: "t", target: "192.0.2.1" },
    { type: "A", name: "n".repeat(63), target: "192.0.2.1" },
  );
  const longest = ["d".repeat(63), "d".repeat(63), "d".repeat(63)].join(".");
  const { body: domain } = await made.send("PUT", `/domains/${made.domain.id}`, { domain: longest });
  const zone = (await made.zone()).replace("$ORIGIN example.com.", `$ORIGIN ${longest}.`);
  expect(await checkZone(longest, zone)).toMatchObject({ ok: true });
  const served = await serveZone(longest, zone);
  expect(await compare(served, domain, heldIn(zone, await made.records()))).toEqual([]);
  expect(zone.match(/is left out/g)?.length).toBe(4);
});

test("an SRV whose protocol takes its name too far is refused, and one just within is served", async () => {
  const made = await makeZone();
  const srv = { type: "SRV", service: "s".repeat(35), priority: 1, weight: 1, port: 1, target: "sip.example.net" };
  const long = [`tcp.${["p", "p", "p"].map((letter) => letter.repeat(60)).join(".")}`, "p".repeat(63)];
  for (const protocol of long) {
    const { status } = await made.send("POST", `/domains/${made.domain.id}/records`, { ...srv, protocol });
    expect(status).toBe(400);
  }
  // 36 + 1 + 63 characters: as many as a record's name may have.
  const protocol = "p".repeat(62);
  await made.add({ ...srv, protocol });
  expect(await checkZone("example.com", await made.zone())).toMatchObject({ ok: true });
  const served = await serveZone("example.com", await made.zone());
  expect((await served.resolver.resolveSrv(`_${srv.service}._${protocol}.example.com`)).length).toBe(1);
});
