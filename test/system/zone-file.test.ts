/** Zone files of every hard shape, judged by named-checkzone and by what a nameserver answers. Needs bind9-utils, dig and nsd. */

import { expect, test } from "vitest";
import { compare, setsOf } from "./zone-compare.ts";
import { checkZone, type Made, makeZone, type Served, serveZone, zoneText } from "./zone-judge.ts";

/** Accepted, served, and every record answered as the API lists it. */
async function expectServed(made: Made): Promise<Served> {
  const { domain } = made;
  const zone = await made.zone();
  const { ok, said } = await checkZone(domain.domain, zone);
  expect([ok, said.split("\n").filter((line) => / TTL set to prior TTL/.test(line))]).toEqual([true, []]);
  const served = await serveZone(domain.domain, zone);
  expect(await compare(served, domain, await made.records())).toEqual([]);
  return served;
}

const SRV = { type: "SRV", service: "sip", protocol: "tcp", priority: 0, weight: 0, port: 0, target: "sip" };

test("every type, at the apex, below it and as a wildcard", async () => {
  const made = await makeZone();
  for (const name of ["", "a", "deep.er", "*", "*.wild", "*.deep.er"]) {
    await made.add(
      { type: "A", name, target: "192.0.2.1" },
      { type: "A", name, target: "192.0.2.2" },
      { type: "AAAA", name, target: "2001:DB8:0:0::1" },
      { type: "AAAA", name, target: "::ffff:192.0.2.1" },
      { type: "MX", name, target: "mx.example.net." },
      { type: "MX", name, target: "mx2.example.net", priority: 255 },
      { type: "TXT", name, target: "v=spf1 -all" },
      { type: "PTR", name, target: "host.example.net" },
      { type: "CAA", name, tag: "issue", target: "letsencrypt.org" },
    );
  }
  await made.add(
    { type: "NS", target: "NS.Example.Net" },
    { type: "NS", name: "sub", target: "ns.example.net" },
    { type: "CNAME", name: "alias", target: "a.example.com" },
    { type: "CNAME", name: "*.alias-wild", target: "example.net" },
    { type: "CNAME", name: "below.alias", target: "example.net." },
    SRV,
    { ...SRV, protocol: "tcp.sub-domain", priority: 255, weight: 65_535, port: 65_535, target: "sip.example.net" },
    { ...SRV, service: "none", target: "." },
    { type: "MX", name: "nomail", target: "." },
    { type: "MX", name: "nomail.else", target: ".", priority: 255 },
    { type: "A", name: "me", target: "[remote_addr]" },
    { type: "AAAA", name: "me", target: "[remote_addr]" },
  );
  expect(setsOf(made.domain, await made.records())).toBe(6 * 6 + 12);
  await expectServed(made);
});

test("names that a zone file's reader could take for something else", async () => {
  const made = await makeZone();
  const words = ["IN", "in", "CH", "HS", "ANY", "A", "AAAA", "NS", "SOA", "TXT", "CNAME", "TTL", "ORIGIN", "INCLUDE"];
  const numbers = ["0", "300", "3600", "1h", "1W2D", "TYPE1", "CLASS1", "192", "00", "0x10"];
  const odd = ["-", "-a", "a-", "_", "__", "_dmarc", "a_b", "0/25", "128-255/25", "a+b", "+", "/", "xn--bcher-kva"];
  const long = ["x".repeat(63), `${"y".repeat(63)}.${"z".repeat(36)}`, "UPPER.Case", "com", "example", "example.com.x"];
  const names = [...words, ...numbers, ...odd, ...long];
  for (const [index, name] of names.entries()) {
    await made.add(
      { type: "A", name, target: `192.0.2.${index}`, ttl_sec: index % 2 === 0 ? 300 : 0 },
      { type: "TXT", name, target: name, ttl_sec: index % 3 === 0 ? 3_600 : 0 },
    );
  }
  await made.add(
    { type: "A", name: "example.com.example.com", target: "192.0.2.250" },
    { type: "CNAME", name: "word.alias", target: "IN" },
    { type: "CNAME", name: "number.alias", target: "3600" },
    { type: "PTR", name: "7.0", target: "a/b.c_d.example.net" },
    { type: "MX", name: "mx.alias", target: "10", priority: 10 },
  );
  const served = await expectServed(made);
  expect(await served.resolver.resolve4("example.com.example.com")).toEqual(["192.0.2.250"]);
});

const CONTROLS = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join("");

const TEXTS = [
  "",
  " ",
  "  both ends  ",
  '"',
  '""',
  '"quoted"',
  "\\",
  "\\\\",
  '\\"',
  "ends with \\",
  "\\010 \\# 4 00",
  ";",
  "a ; comment",
  "(",
  ")",
  "( open\nline )",
  "$ORIGIN example.net.",
  "$TTL 5",
  "@",
  "* . @ $",
  "\t",
  "\r\n",
  CONTROLS,
  "\u007f\u0080\u00ff",
  "é",
  "emoji 🦦 日本語 \u202e",
  "v=DKIM1; k=rsa; p=MIGf+/=",
  "0",
  "IN TXT",
];

test("texts of every kind, octet by octet", async () => {
  const made = await makeZone();
  for (const [index, target] of TEXTS.entries()) await made.add({ type: "TXT", name: `t${index}`, target });
  for (const target of TEXTS) await made.add({ type: "TXT", name: "all", target });
  await made.add({ type: "TXT", name: "twice", target: "same" }, { type: "TXT", name: "twice", target: "same" });
  const served = await expectServed(made);
  expect(await served.resolver.resolveTxt("t0.example.com")).toEqual([[""]]);
  expect(await served.resolver.resolveTxt("twice.example.com")).toEqual([["same"]]);
  const octets = Buffer.from((await served.resolver.resolveTxt("t25.example.com"))[0]?.join("") ?? "", "latin1");
  expect(octets.toString("utf8")).toBe("emoji 🦦 日本語 \u202e");
});

test("CAA of every tag and value", async () => {
  const made = await makeZone();
  const values = [
    "ca.example.net; accounturi=https://ca.example.net/1; x=y",
    ";",
    'a "b" \\ c',
    " ",
    "(é) @ $",
    CONTROLS,
  ];
  for (const [index, target] of values.entries()) {
    for (const tag of ["issue", "issuewild", "iodef"]) await made.add({ type: "CAA", name: `c${index}`, tag, target });
  }
  await made.add({ type: "CAA", tag: "iodef", target: "mailto:security@example.com" });
  await made.add({ type: "CAA", name: "long", tag: "issue", target: "x".repeat(4_000) });
  await expectServed(made);
});

const SOAS: [object, object][] = [
  [{}, { hostmaster: "hostmaster.example.com", refresh: 14_400, retry: 14_400, expire: 1_209_600, minttl: 86_400 }],
  [
    { soa_email: "first.last@example.net", ttl_sec: 300 },
    { hostmaster: "first\\.last.example.net", minttl: 300 },
  ],
  [{ soa_email: "a+b_c@example.net" }, { hostmaster: "a+b_c.example.net" }],
  [
    { refresh_sec: 300, retry_sec: 3_600, expire_sec: 2_419_200, ttl_sec: 2_419_200 },
    { refresh: 300, retry: 3_600, expire: 2_419_200, minttl: 2_419_200 },
  ],
];

test.each(SOAS)("the SOA of %j", async (fields, expected) => {
  const made = await makeZone(fields);
  await made.add({ type: "A", target: "192.0.2.1" }, { type: "A", name: "own", target: "192.0.2.1", ttl_sec: 3_600 });
  const { resolver } = await expectServed(made);
  expect(await resolver.resolveSoa("example.com")).toMatchObject({ nsname: "ns1.node.com", ...expected });
});

/** Both programs read what is in the SOA as a name: whatever address the API takes, they must. */
test("any address that the API takes is a mailbox that loads", async () => {
  const made = await makeZone();
  const odd = ['a;b"c(d)\\$@example.com', "é@example.com", "a@b..c", "a@example.com.", `${"a".repeat(64)}@example.com`];
  let taken = 0;
  for (const soa_email of odd) {
    const { status } = await made.send("PUT", `/domains/${made.domain.id}`, { soa_email });
    if (status !== 200) continue;
    taken += 1;
    const { ok, said } = await checkZone("example.com", await made.zone());
    expect([soa_email, ok, said]).toEqual([soa_email, true, expect.stringContaining("OK")]);
    await expect(serveZone("example.com", await made.zone())).resolves.toBeDefined();
  }
  expect(taken).toBeGreaterThan(0);
});

test.each([
  "xn--mnchen-3ya.test",
  "UPPER.Example.COM",
  "2.0.192.in-addr.arpa",
  "8.b.d.0.1.0.0.2.ip6.arpa",
  "3600.test",
  "in.a.test",
])("the zone %s", async (domain) => {
  const made = await makeZone({ domain });
  await made.add(
    { type: "A", target: "192.0.2.1" },
    { type: "PTR", name: "1", target: "host.example.net" },
    { type: "NS", name: "0/25", target: "ns.example.net" },
    { type: "CNAME", name: "5", target: `5.0/25.${domain}` },
    { type: "A", name: `www.${domain}`, target: "192.0.2.2" },
    { ...SRV, target: "bare" },
  );
  await expectServed(made);
});

test("the longest names: 253 characters in a zone of 190", async () => {
  const domain = [63, 63, 62].map((length) => "d".repeat(length)).join(".");
  const made = await makeZone({ domain });
  const name = "n".repeat(253 - domain.length - 1);
  await made.add({ type: "A", name, target: "192.0.2.1" }, { type: "MX", name, target: `${name}.${domain}` });
  await expectServed(made);
});

test("the judge finds what is wrong", async () => {
  const made = await makeZone();
  await made.add(
    { type: "A", name: "a", target: "192.0.2.1" },
    { type: "TXT", name: "b", target: "text" },
    { type: "NS", name: "sub", target: "ns.example.net" },
    { type: "A", name: "x.sub", target: "192.0.2.1" },
  );
  const zone = await made.zone();
  const records = await made.records();
  const judged = async (text: string): Promise<string[]> => {
    const problems = await compare(await serveZone("example.com", text), made.domain, records);
    return [...new Set(problems.map((problem) => problem.split(":")[0] ?? ""))];
  };
  expect(await judged(zone.replace("192.0.2.1", "192.0.2.2"))).toEqual(["a.example.com A"]);
  expect(await judged(zone.replace('"text"', '"text" "more"'))).toEqual(["b.example.com TXT"]);
  expect(await judged(zone.replace("b\t\t\t", "b\t\t300\t"))).toEqual(["b.example.com TXT"]);
  expect(await judged(zone.replace(/^sub.*$/m, ""))).toEqual(["sub.example.com NS", "x.sub.example.com A"]);
  expect(await judged(`${zone}a A 192.0.2.9\n`)).toEqual(["a.example.com A"]);
  expect((await checkZone("example.com", zoneText("example.com", ["@ IN SOA oops"]))).ok).toBe(false);
});
