/** A service that lies about a zone: whatever it says, a zone file holds the records that were accepted, and no line of its choosing. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalIpv4, canonicalIpv6 } from "../../src/dns/ip.ts";
import type { DnsRecord } from "../../src/dns/record.ts";
import { readZoneFile } from "../../src/dns/zone-file/read.ts";
import { exportZone } from "../../src/units/zone/export.ts";
import { here as run } from "../cli/here.ts";
import { oddService, respond } from "../cli/odd-service.ts";
import { folder } from "../cli/run.ts";
import { expectPlainText } from "./hostile.ts";

const DOMAIN = {
  ...{ id: 3, domain: "a.example", type: "master", status: "active", soa_email: "a@a.example", tags: [] },
  ...{ master_ips: [], axfr_ips: [], refresh_sec: 0, retry_sec: 0, expire_sec: 0, ttl_sec: 0, description: "" },
};
const EMPTY = { name: "www", target: "", ttl_sec: 0, priority: 0, weight: 0, port: 0, protocol: null, service: null };
/** Quick, so that all of them are always run. */
const RUNS = 500;
const LINES = "\n$INCLUDE /etc/passwd\nwww A 203.0.113.66\n;";

interface Lies {
  readonly records?: readonly object[];
  readonly domain?: object;
  readonly rendered?: readonly string[];
}

/** `tenon zone export a.example`, of a service that says this. */
async function exported({ records = [], domain = {}, rendered = [] }: Lies) {
  const { baseUrl } = await oddService((request, response) => {
    const last = new URL(request.url ?? "", "http://localhost").pathname.split("/").at(-1);
    const data = last === "domains" ? [{ ...DOMAIN, ...domain }] : records;
    const page = { data, page: 1, pages: 1, results: data.length };
    respond(response, { status: 200, body: JSON.stringify(last === "zone-file" ? { zone_file: rendered } : page) });
  });
  const cwd = await folder({});
  const env = { TENON_BASE_URL: baseUrl, TENON_TOKEN: "emulator-token" };
  return run(["zone", "export", "a.example", "--retry-for", "0s"], { cwd, env });
}

async function parsed(text: string): Promise<DnsRecord[]> {
  return (await read(text)).records;
}

/** `skipped` counts what a zone file can say and the service cannot hold: the SOA, the apex NS, texts with control characters. */
async function read(text: string): Promise<{ records: DnsRecord[]; skipped: number }> {
  const include = () => Promise.reject(new Error("The file includes another one."));
  const { records, skipped, diagnostics } = await readZoneFile(text, { zone: "a.example", file: "a.zone", include });
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  return { records: records.map(({ span: _, ...record }) => record as DnsRecord), skipped: skipped.length };
}

const OF_NO_TYPE: readonly (readonly [what: string, fields: object, said: RegExp])[] = [
  ["an A record with lines", { type: "A", target: `192.0.2.1${LINES}` }, /its target is no IPv4 address/],
  ["an A record with a blank", { type: "A", target: "192.0.2.1 ; x" }, /its target is no IPv4 address/],
  ["an AAAA record with lines", { type: "AAAA", target: `2001:db8::1${LINES}` }, /its target is no IPv6 address/],
  ["an AAAA record with a zone", { type: "AAAA", target: `fe80::1%${LINES}` }, /its target is no IPv6 address/],
  ["a CAA tag with lines", { type: "CAA", target: "ca.example", tag: `issue "x"${LINES}` }, /its tag is none/],
  ["a CAA tag that is null", { type: "CAA", target: "ca.example", tag: null }, /its tag is none/],
  ["half of a character", { type: "TXT", target: "a\ud800b" }, /its target has half of a character/],
  ["an empty CAA tag", { type: "CAA", target: "ca.example", tag: "" }, /its tag is none/],
  ["a priority out of range", { type: "MX", target: "mx.example", priority: 70_000 }, /its priority is no number from/],
  ["a priority between two", { type: "MX", target: "mx.example", priority: 0.5 }, /its priority is no number from/],
  ["a port below zero", { type: "SRV", name: "_sip._tcp", target: "sip.example", port: -1 }, /its port is no number/],
  ["a weight beyond all", { type: "SRV", name: "_sip._tcp", target: "sip.example", weight: 1e300 }, /its weight is/],
  ["a TTL below zero", { type: "A", target: "192.0.2.1", ttl_sec: -300 }, /its TTL is no number from/],
  ["a TTL between two", { type: "A", target: "192.0.2.1", ttl_sec: 1.5 }, /its TTL is no number from/],
  ["a label too long", { type: "CNAME", target: `${"x".repeat(64)}.example` }, /its target is no name that DNS has/],
];

test("an export leaves out a record whose values do not fit its type, and names it", async () => {
  for (const [what, fields, said] of OF_NO_TYPE) {
    const good = { ...EMPTY, id: 1, type: "TXT", target: "stays", tag: null };
    const ended = await exported({ records: [good, { ...EMPTY, id: 2, tag: null, ...fields }] });
    expect([what, ended.code]).toEqual([what, 0]);
    expect(ended.stderr.replace(/\s+/g, " "), what).toMatch(said);
    expect(ended.stderr, what).toContain("warning[record-left-out]");
    expectPlainText(ended.stdout + ended.stderr);
    expect(await parsed(ended.stdout)).toEqual([{ type: "TXT", name: "www", target: "stays", ttl_sec: 86_400 }]);
  }
});

const MISSHAPEN: readonly (readonly [what: string, fields: object, field: string])[] = [
  ["a priority that is a text", { type: "MX", target: "mx.example", priority: `10 x.${LINES}` }, "priority"],
  ["a port that is a list", { type: "SRV", target: "sip.example", port: [1] }, "port"],
  ["a tag that is an object", { type: "CAA", target: "ca.example", tag: {} }, "tag"],
  ["a service that is a number", { type: "SRV", target: "sip.example", service: 5 }, "service"],
  ["a TTL that is a text", { type: "A", target: "192.0.2.1", ttl_sec: `300${LINES}` }, "ttl_sec"],
];

test("a number or a word of a record's answer that is of another kind is an error that names the record", async () => {
  for (const [what, fields, field] of MISSHAPEN) {
    const ended = await exported({ records: [{ ...EMPTY, id: 41, tag: null, ...fields }] });
    expect([what, ended.code, ended.stdout]).toEqual([what, 1, ""]);
    const said = ended.stderr.replace(/\s+/g, " ");
    expect(said).toContain(`(the object 41) at /domains/3/records: \`${field}\` is missing or of another type`);
    expectPlainText(ended.stderr);
  }
});

test("neither a domain's fields nor the rendered zone file add lines to an export", async () => {
  const rendered = [`@ IN SOA evil.example${LINES}. a.b 1 2 3 4 5`, `@ NS ns1.x.example.`, `@ NS bad"(;ns.example.`];
  const ended = await exported({
    domain: { soa_email: `a@b.example${LINES}`, refresh_sec: 0.5, retry_sec: 1e300, expire_sec: -4, ttl_sec: 2 ** 40 },
    rendered,
  });
  expect(ended.code).toBe(0);
  expectPlainText(ended.stdout + ended.stderr);
  expect(await parsed(ended.stdout)).toEqual([]);
  expect(ended.stdout).toMatch(/^\$TTL 86400$/m);
  expect(ended.stdout).toMatch(/ 14400 14400 1209600 86400$/m);
  expect(ended.stdout.match(/^\$/gm)).toHaveLength(2);
});

const nasty = fc.constantFrom(
  "\n",
  "\r",
  '"',
  "(",
  ")",
  ";",
  "\\",
  " ",
  "\t",
  "$",
  "@",
  "\u001b[2J",
  "\u0000",
  ".",
  "é",
);
const odd = fc
  .array(fc.oneof(nasty, fc.constantFrom("a", "192.0.2.1", "2001:db8::1", "x.example", "-1", "01")), { maxLength: 5 })
  .map((parts) => parts.join(""));
const number = fc.oneof(fc.nat({ max: 70_000 }), fc.double({ noNaN: true }), fc.integer());
const anyRecord: fc.Arbitrary<DnsRecord> = fc
  .record({
    type: fc.constantFrom("A", "AAAA", "NS", "MX", "CNAME", "TXT", "SRV", "PTR", "CAA"),
    name: fc.oneof(odd, fc.constantFrom("", "www", "*", "a.b")),
    target: fc.oneof(odd, fc.constantFrom("192.0.2.7", "2001:db8::7", "mx.example", "")),
    ttl_sec: fc.oneof(number, fc.constantFrom(0, 300)),
    priority: fc.oneof(number, fc.constant(10)),
    weight: fc.oneof(number, fc.constant(1)),
    port: fc.oneof(number, fc.constant(25)),
    tag: fc.oneof(odd, fc.constantFrom("issue", "iodef")),
  })
  .map(({ type, name, target, ttl_sec, priority, weight, port, tag }) => {
    const own = { MX: { priority }, SRV: { priority, weight, port }, CAA: { tag } } as Record<string, object>;
    return { type, name, target, ttl_sec, ...own[type] } as DnsRecord;
  });

test("the server of the SOA is a name, whatever the rendered zone file says of it", async () => {
  for (const name of ["ns1.x.example.", ".", "a..b.example", `${"x".repeat(64)}.example`]) {
    const rendered = [`@ IN SOA ${name}. a.b 1 2 3 4 5`, "@ NS ns2.x.example."];
    const { code, stdout } = await exported({ rendered });
    expect([name, code, stdout]).toEqual([name, 0, expect.stringMatching(/ SOA +ns2\.x\.example\. /)]);
  }
});

test("an export parses to the accepted records and names the others, whatever the service says", async () => {
  let kept = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyRecord, { maxLength: 8 }), async (records) => {
      const source = { zone: "a.example", fields: { soa_email: "a@a.example" }, records, rendered: [] };
      const options = { nameservers: ["ns.other.example"], serial: 1, nowMilliseconds: 0 };
      const { text, notes } = exportZone(source, options);
      expectPlainText(text);
      const { records: found, skipped } = await read(text);
      const leftOut = notes.filter(({ code }) => code === "record-left-out");
      // Set aside are also the SOA and the given server.
      expect(found.length + skipped - 2 + leftOut.length).toBe(records.length);
      for (const { type, target } of found) {
        if (type === "A") expect(canonicalIpv4(target)).toBe(target);
        if (type === "AAAA") expect(canonicalIpv6(target)).toBe(target);
        expect(records.some((one) => one.type === type)).toBe(true);
      }
      kept += found.length;
    }),
    { numRuns: RUNS },
  );
  expect(kept).toBeGreaterThan(RUNS / 10);
});
