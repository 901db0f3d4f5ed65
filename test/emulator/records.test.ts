/** Records: normalisation, one bad request per rule, conflicts, limits. */

import { expect, test } from "vitest";
import type { Tested } from "../support/emulator.ts";
import { startTested } from "../support/emulator.ts";
import { growth } from "../support/operations.ts";

const CONFLICT = { reason: "Record conflict - CNAMES must be unique", field: "name" };
const SRV = {
  type: "SRV",
  service: "sip",
  protocol: "tcp",
  target: "sip.example.com",
  priority: 10,
  weight: 5,
  port: 5060,
};

async function withZone(domain = "example.com"): Promise<Tested & { path: string }> {
  const tested = await startTested({ seed: { domains: [{ id: 9, domain }] } });
  return { ...tested, path: "/domains/9/records" };
}

test("a record has every key, and what does not apply is 0 or null", async () => {
  const { send, path } = await withZone();
  const { body } = await send("POST", path, { type: "A", name: "www", target: "192.0.2.1" });
  expect(body).toEqual({
    id: body.id,
    type: "A",
    name: "www",
    target: "192.0.2.1",
    ttl_sec: 0,
    priority: 0,
    weight: 0,
    port: 0,
    service: null,
    protocol: null,
    tag: null,
    created: body.updated,
    updated: body.updated,
  });
  expect((await send("GET", `${path}/${body.id}`)).body).toEqual(body);
  expect((await send("GET", path)).body.data).toEqual([body]);
  expect((await send("GET", `/domains/10/records/${body.id}`)).status).toBe(404);
});

const NORMALISED: [Record<string, unknown>, Record<string, unknown>][] = [
  [{ type: "A", target: "192.0.2.1" }, { name: "" }],
  [{ type: "A", name: "", target: "192.0.2.1" }, { name: "" }],
  [{ type: "A", name: "Example.com", target: "192.0.2.1" }, { name: "" }],
  [{ type: "A", name: "www.example.com", target: "192.0.2.1" }, { name: "www" }],
  [{ type: "A", name: "wwwexample.com", target: "192.0.2.1" }, { name: "wwwexample.com" }],
  [{ type: "A", name: "*.dev", target: "192.0.2.1" }, { name: "*.dev" }],
  [{ type: "A", target: "[remote_addr]" }, { target: "127.0.0.1" }],
  [{ type: "AAAA", target: "[remote_addr]" }, { target: "::ffff:127.0.0.1" }],
  [{ type: "AAAA", target: "2001:DB8::1" }, { target: "2001:DB8::1" }],
  [{ type: "CNAME", name: "a", target: "b.example.net." }, { target: "b.example.net" }],
  [{ type: "CNAME", name: "a", target: "b" }, { target: "b" }],
  [{ type: "NS", name: "sub", target: "ns1.example.net." }, { target: "ns1.example.net" }],
  [{ type: "PTR", name: "1", target: "host.example.net." }, { target: "host.example.net" }],
  [
    { type: "MX", target: "mx.example.net." },
    { target: "mx.example.net", priority: 0 },
  ],
  [
    { type: "MX", target: "." },
    { target: "", priority: 0 },
  ],
  [
    { type: "TXT", name: "_dmarc", target: "v=DMARC1; p=none." },
    { name: "_dmarc", target: "v=DMARC1; p=none." },
  ],
  [{ type: "TXT", target: "x".repeat(65_535) }, { target: "x".repeat(65_535) }],
  [
    { type: "CAA", tag: "issue", target: "letsencrypt.org; x=y" },
    { tag: "issue", target: "letsencrypt.org; x=y" },
  ],
  [
    { ...SRV, name: "ignored" },
    { name: "_sip._tcp", service: "sip", protocol: "tcp" },
  ],
  [
    { ...SRV, protocol: "tcp.sub" },
    { name: "_sip._tcp.sub", protocol: "tcp.sub" },
  ],
  [{ ...SRV, target: "sip" }, { target: "sip.example.com" }],
  [
    { ...SRV, target: ".", priority: 0, weight: 0, port: 0 },
    { target: "", priority: 0 },
  ],
  [
    { type: "A", target: "192.0.2.1", weight: 55, tag: "iodef", service: "x" },
    { weight: 55, tag: "iodef", service: "x" },
  ],
];

test.each(NORMALISED)("%j reads back with %j", async (sent, kept) => {
  const { send, path } = await withZone();
  const { status, body } = await send("POST", path, sent);
  expect([status, body]).toMatchObject([200, kept]);
});

const HOST = "Invalid hostname";
const BAD_RECORDS: [string, Record<string, unknown>, string, string][] = [
  ["no type", { target: "192.0.2.1" }, "type", "type is required"],
  ["another type", { type: "ALIAS", target: "x" }, "type", "Must be one of A, AAAA, NS, MX, CNAME, TXT, SRV, PTR, CAA"],
  ["no target", { type: "A" }, "target", "target is required"],
  ["an empty target", { type: "CNAME", name: "a", target: "" }, "target", "target is required"],
  ["an IPv6 address in an A", { type: "A", target: "::1" }, "target", "Must be an IPv4 address"],
  ["a trailing dot in an A", { type: "A", target: "192.0.2.1." }, "target", "Must be an IPv4 address"],
  ["an IPv4 address in an AAAA", { type: "AAAA", target: "192.0.2.1" }, "target", "Must be an IPv6 address"],
  ["a zone index in an AAAA", { type: "AAAA", target: "fe80::1%1" }, "target", "Must be an IPv6 address"],
  ["a trailing dot in a CAA", { type: "CAA", tag: "issue", target: "a.test." }, "target", "Must not end with a period"],
  ["a lone dot in a CNAME", { type: "CNAME", name: "a", target: "." }, "target", HOST],
  ["a space in a host", { type: "MX", target: "a b.test" }, "target", HOST],
  ["a wildcard host", { type: "NS", name: "a", target: "*.test" }, "target", HOST],
  ["an IDN host", { type: "CNAME", name: "a", target: "bücher.test" }, "target", HOST],
  ["a host label of 64", { type: "CNAME", name: "a", target: `${"a".repeat(64)}.test` }, "target", HOST],
  ["a long target", { type: "TXT", target: "x".repeat(65_536) }, "target", "Length must be at most 65535 characters"],
  [
    "a long name",
    { type: "A", name: `${"a.".repeat(50)}a`, target: "192.0.2.1" },
    "name",
    "Length must be 1-100 characters",
  ],
  ["a trailing dot in the name", { type: "A", name: "www.", target: "192.0.2.1" }, "name", HOST],
  ["an empty label in the name", { type: "A", name: "a..b", target: "192.0.2.1" }, "name", HOST],
  ["a name label of 64", { type: "A", name: "a".repeat(64), target: "192.0.2.1" }, "name", HOST],
  ["a star inside the name", { type: "A", name: "a.*", target: "192.0.2.1" }, "name", HOST],
  ["a wildcard NS", { type: "NS", name: "*", target: "ns1.test" }, "name", HOST],
  ["a priority of 256", { type: "MX", target: "mx.test", priority: 256 }, "priority", "Must be between 0 and 255"],
  ["a negative weight", { ...SRV, weight: -1 }, "weight", "Must be between 0 and 65535"],
  ["a port of 65536", { ...SRV, port: 65_536 }, "port", "Must be between 0 and 65535"],
  ["half a port", { ...SRV, port: 1.5 }, "port", "Must be an integer"],
  ["an SRV without service", { ...SRV, service: undefined }, "service", "service is required"],
  ["an SRV without priority", { ...SRV, priority: undefined }, "priority", "priority is required"],
  ["an SRV without weight", { ...SRV, weight: undefined }, "weight", "weight is required"],
  ["an SRV without port", { ...SRV, port: undefined }, "port", "port is required"],
  [
    "an underscored service",
    { ...SRV, service: "_sip" },
    "service",
    "Service must be a bare name, without an underscore before it",
  ],
  ["a protocol label of 63", { ...SRV, protocol: "a".repeat(63) }, "protocol", HOST],
  [
    "a protocol that makes a long name",
    { ...SRV, protocol: `tcp.${"a.".repeat(45)}a` },
    "protocol",
    "Length must be 1-100 characters",
  ],
  [
    "an underscored protocol",
    { ...SRV, protocol: "_tcp" },
    "protocol",
    "Protocol must be a bare name, without an underscore before it",
  ],
  ["a CAA without tag", { type: "CAA", target: "a.test" }, "tag", "tag is required"],
  [
    "a CAA with another tag",
    { type: "CAA", tag: "x", target: "a.test" },
    "tag",
    "Must be one of issue, issuewild, iodef",
  ],
  ["a CNAME at the apex", { type: "CNAME", target: "a.test" }, "name", CONFLICT.reason],
];

test.each(BAD_RECORDS)("a record with %s is refused", async (_name, record, field, reason) => {
  const { send, path } = await withZone();
  const answer = await send("POST", path, record);
  expect([answer.status, answer.body.errors]).toEqual([400, [{ reason, field }]]);
  expect((await send("GET", path)).body.results).toBe(0);
});

test("the name @ is two errors", async () => {
  const { send, path } = await withZone();
  expect((await send("POST", path, { type: "A", name: "@", target: "192.0.2.1" })).body.errors).toEqual([
    { reason: "Name contains invalid characters", field: "name" },
    { reason: "Invalid hostname", field: "name" },
  ]);
});

test("a CNAME shares its name with nothing, in either direction, in any letters", async () => {
  const { send, path } = await withZone();
  const { body: cname } = await send("POST", path, { type: "CNAME", name: "a", target: "x.test" });
  const { body: other } = await send("POST", path, { type: "A", name: "b", target: "192.0.2.1" });
  const clashes: [string, string, object][] = [
    ["POST", path, { type: "A", name: "A", target: "192.0.2.1" }],
    ["POST", path, { type: "CNAME", name: "a", target: "y.test" }],
    ["POST", path, { type: "CNAME", name: "B.example.com", target: "y.test" }],
    ["PUT", `${path}/${cname.id}`, { name: "b" }],
    ["PUT", `${path}/${other.id}`, { name: "a" }],
  ];
  for (const [method, at, body] of clashes) {
    const answer = await send(method, at, body);
    expect([body, answer.status, answer.body.errors]).toEqual([body, 400, [CONFLICT]]);
  }
  expect((await send("PUT", `${path}/${cname.id}`, { target: "z.test" })).status).toBe(200);
  expect((await send("DELETE", `${path}/${cname.id}`)).body).toEqual({});
  expect((await send("PUT", `${path}/${other.id}`, { name: "a" })).status).toBe(200);
  expect((await send("POST", path, { type: "CNAME", name: "b", target: "y.test" })).status).toBe(200);
});

test("a null MX is the only MX of its name", async () => {
  const { send, path } = await withZone();
  const { body: nullMx } = await send("POST", path, { type: "MX", target: "." });
  for (const target of ["mx.test", "."]) {
    expect((await send("POST", path, { type: "MX", target })).body.errors[0].field).toBe("target");
  }
  expect((await send("POST", path, { type: "A", target: "192.0.2.1" })).status).toBe(200);
  expect((await send("POST", path, { type: "MX", name: "sub", target: "mx.test" })).status).toBe(200);
  expect((await send("POST", path, { type: "MX", name: "sub", target: "." })).status).toBe(400);
  expect((await send("PUT", `${path}/${nullMx.id}`, { target: "mx.test" })).body.target).toBe("mx.test");
  expect((await send("POST", path, { type: "MX", target: "mx2.test" })).status).toBe(200);
  expect((await send("PUT", `${path}/${nullMx.id}`, { target: "." })).status).toBe(400);
});

test("an update is partial, keeps its type, and cannot take away what the type needs", async () => {
  const { send, path } = await withZone();
  const { body: srv } = await send("POST", path, SRV);
  const at = `${path}/${srv.id}`;
  expect((await send("PUT", at, { type: "SRV", weight: 7 })).body).toMatchObject({ weight: 7, port: 5060 });
  expect((await send("PUT", at, { service: "sips", name: "x" })).body.name).toBe("_sips._tcp");
  expect((await send("PUT", at, { type: "A" })).body.errors).toEqual([
    { reason: "type cannot be changed", field: "type" },
  ]);
  for (const field of ["service", "priority", "weight", "port", "target"]) {
    const answer = await send("PUT", at, { [field]: null });
    expect([field, answer.status, answer.body.errors]).toEqual([
      field,
      400,
      [{ reason: `${field} is required`, field }],
    ]);
  }
  const { body: caa } = await send("POST", path, { type: "CAA", tag: "issue", target: "a.test" });
  expect((await send("PUT", `${path}/${caa.id}`, { tag: null })).body.errors).toEqual([
    { reason: "tag is required", field: "tag" },
  ]);
  // One mistake at a time: what an error already says is not said again in other words.
  expect((await send("PUT", at, { port: "x", weight: null })).body.errors).toEqual([
    expect.objectContaining({ field: "port" }),
  ]);
  expect((await send("PUT", `${path}/${caa.id}`, { ttl_sec: 299 })).body).toMatchObject({ ttl_sec: 300, tag: "issue" });
  expect((await send("PUT", `${path}/1`, {})).status).toBe(404);
  expect((await send("DELETE", `${path}/1`)).status).toBe(404);
});

test("equal records may repeat", async () => {
  const { send, path } = await withZone();
  const record = { type: "TXT", name: "a", target: "x" };
  expect([(await send("POST", path, record)).status, (await send("POST", path, record)).status]).toEqual([200, 200]);
});

test("a zone takes 12,000 records, lists them in pages, and takes not one more", async () => {
  const startWith = (count: number) => {
    const records = Array.from({ length: count }, (_, index) => ({
      type: "A" as const,
      name: `h${index}`,
      target: "192.0.2.1",
    }));
    return startTested({ seed: { domains: [{ id: 9, domain: "example.com", records }] } });
  };
  // Whoever looked at every other record for each new one would do 16 times the work for 4 times the records.
  expect(await growth(500, 4, startWith)).toBeLessThan(5);
  const { send } = await startWith(12_000);
  const path = "/domains/9/records";
  const extra = { type: "A", name: "extra", target: "192.0.2.1" };
  expect((await send("POST", path, extra)).status).toBe(400);
  const ids: number[] = [];
  for (let page = 1; page <= 24; page += 1) {
    const { body } = await send("GET", `${path}?page=${page}&page_size=500`);
    expect([body.page, body.pages, body.results, body.data.length]).toEqual([page, 24, 12_000, 500]);
    ids.push(...body.data.map(({ id }: { id: number }) => id));
  }
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  expect((await send("DELETE", `${path}/${ids[0]}`)).status).toBe(200);
  expect((await send("POST", path, extra)).status).toBe(200);
  expect((await send("POST", path, extra)).status).toBe(400);
});
