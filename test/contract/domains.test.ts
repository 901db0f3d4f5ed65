/** Domains, as the service's own client makes, lists, changes, copies and deletes them. */

import {
  cloneDomain,
  createDomain,
  createDomainRecord,
  deleteDomain,
  getDNSZoneFile,
  getDomain,
  getDomainRecords,
  getDomains,
  updateDomain,
} from "@linode/api-v4";
import { expect, test } from "vitest";
import { connect, refusal } from "./client.ts";

const MASTER = { domain: "example.com", type: "master", soa_email: "admin@example.com" } as const;

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `zone-${String(index).padStart(3, "0")}.example`);
}

test("a master is created with the service's defaults, and read back the same", async () => {
  await connect();
  const domain = await createDomain({ ...MASTER, tags: ["web", "Prod"] });
  expect(domain).toMatchObject({
    ...MASTER,
    status: "active",
    description: "",
    group: "",
    axfr_ips: [],
    master_ips: [],
  });
  expect(domain).toMatchObject({ refresh_sec: 0, retry_sec: 0, expire_sec: 0, ttl_sec: 0 });
  expect([...domain.tags].sort()).toEqual(["Prod", "web"]);
  expect(await getDomain(domain.id)).toEqual(domain);
  expect(await getDomains()).toEqual({ data: [domain], page: 1, pages: 1, results: 1 });
});

test("a slave is created from its masters", async () => {
  await connect();
  const master_ips = ["192.0.2.1", "2001:db8::1"];
  const domain = await createDomain({ domain: "copy.example", type: "slave", master_ips });
  expect(domain).toMatchObject({ type: "slave", master_ips, soa_email: "" });
  expect(await getDomain(domain.id)).toEqual(domain);
});

test("250 domains are three pages of 100, each domain on one of them", async () => {
  const names = numbered(250);
  await connect({ seed: { domains: names.map((domain) => ({ domain })) } });
  const found: string[] = [];
  for (const page of [1, 2, 3]) {
    const list = await getDomains({ page, page_size: 100 });
    expect([list.page, list.pages, list.results, list.data.length]).toEqual([page, 3, 250, page === 3 ? 50 : 100]);
    found.push(...list.data.map(({ domain }) => domain));
  }
  expect(found.sort()).toEqual(names);
  expect((await getDomains({ page_size: 500 })).data.length).toBe(250);
  expect((await getDomains()).data.length).toBe(100);
});

test("domains are filtered by name, group and tag, alone and combined", async () => {
  const domains = [
    { domain: "alpha.example", group: "one", tags: ["web"] },
    { domain: "beta.example", group: "one", tags: ["web", "mail"] },
    { domain: "gamma.test", group: "two", tags: ["mail"] },
  ];
  await connect({ seed: { domains } });
  const names = async (filter: object) => (await getDomains({}, { ...filter })).data.map(({ domain }) => domain);
  expect(await names({ domain: "beta.example" })).toEqual(["beta.example"]);
  expect(await names({ domain: { "+contains": ".example" } })).toEqual(["alpha.example", "beta.example"]);
  expect(await names({ "+and": [{ group: "one" }, { tags: "mail" }] })).toEqual(["beta.example"]);
  expect(await names({ "+or": [{ group: "two" }, { domain: "alpha.example" }] })).toEqual([
    "alpha.example",
    "gamma.test",
  ]);
  expect(await names({ domain: { "+neq": "alpha.example" }, group: "one" })).toEqual(["beta.example"]);
  expect(await refusal(getDomains({}, { foo: "bar" }))).toMatchObject({
    status: 400,
    errors: [{ field: "X-Filter", reason: "Cannot filter on foo" }],
  });
});

test("domains are ordered by every column of the service's web client", async () => {
  const { emulator } = await connect({
    seed: {
      domains: [
        { domain: "b.example", status: "disabled" },
        { domain: "c.example", type: "slave", master_ips: ["192.0.2.1"] },
        { domain: "a.example" },
      ],
    },
  });
  const first = async (by: string, order: "asc" | "desc") =>
    (await getDomains({}, { "+order_by": by, "+order": order })).data[0]?.domain;
  expect(await first("domain", "asc")).toBe("a.example");
  expect(await first("domain", "desc")).toBe("c.example");
  expect(await first("status", "desc")).toBe("b.example");
  expect(await first("type", "desc")).toBe("c.example");
  const { id } = (await getDomains({}, { domain: "b.example" })).data[0] ?? { id: 0 };
  expect(await first("updated", "desc")).not.toBe("b.example");
  // Times have no fractions.
  await emulator.advanceClock(1);
  await updateDomain(id, { group: "later" });
  expect(await first("updated", "desc")).toBe("b.example");
});

test("an update changes what it names and nothing else", async () => {
  await connect();
  const domain = await createDomain({ ...MASTER, tags: ["web"] });
  // All that the web client sends from its form of a master.
  const form = { axfr_ips: ["192.0.2.9"], expire_sec: 604_800, refresh_sec: 14_400, retry_sec: 7_200, ttl_sec: 3_600 };
  const changed = await updateDomain(domain.id, {
    ...MASTER,
    ...form,
    soa_email: "root@example.com",
    status: "active",
  });
  expect(changed).toEqual({ ...domain, ...form, soa_email: "root@example.com", updated: changed.updated });
  expect(await updateDomain(domain.id, { status: "disabled" })).toMatchObject({ ...form, status: "disabled" });
  expect(await updateDomain(domain.id, { domain: "renamed.example" })).toMatchObject({ domain: "renamed.example" });
  expect(await updateDomain(domain.id, { tags: [], axfr_ips: [], ttl_sec: 0 })).toMatchObject({
    domain: "renamed.example",
    tags: [],
    axfr_ips: [],
    ttl_sec: 0,
  });
  expect(await getDomain(domain.id)).toMatchObject({ domain: "renamed.example", status: "disabled", tags: [] });
});

test("a clone has the values and records of its source, and a life of its own", async () => {
  await connect();
  const source = await createDomain({ ...MASTER, tags: ["web"] });
  await createDomainRecord(source.id, { type: "A", name: "www", target: "192.0.2.1" });
  await createDomainRecord(source.id, { type: "TXT", target: "v=spf1 -all" });
  const clone = await cloneDomain(source.id, { domain: "clone.example" });
  expect(clone).toMatchObject({ domain: "clone.example", type: "master", soa_email: MASTER.soa_email, tags: ["web"] });
  const values = async (id: number) =>
    (await getDomainRecords(id)).data.map(({ type, name, target }) => ({ type, name, target }));
  expect(await values(clone.id)).toEqual(await values(source.id));
  expect((await values(clone.id)).length).toBe(2);
  await deleteDomain(source.id);
  expect((await values(clone.id)).length).toBe(2);
  expect(await refusal(cloneDomain(clone.id, { domain: "clone.example" }))).toMatchObject({
    status: 400,
    errors: [{ field: "domain" }],
  });
});

test("a deleted domain is gone, with its records, and its name is free", async () => {
  await connect();
  const { id } = await createDomain(MASTER);
  await createDomainRecord(id, { type: "A", target: "192.0.2.1" });
  expect(await deleteDomain(id)).toEqual({});
  expect(await refusal(getDomain(id))).toMatchObject({ status: 404, errors: [{ reason: "Not found" }] });
  expect(await refusal(getDomainRecords(id))).toMatchObject({ status: 404 });
  expect(await getDomains()).toEqual({ data: [], page: 1, pages: 1, results: 0 });
  const again = await createDomain(MASTER);
  expect((await getDomainRecords(again.id)).results).toBe(0);
});

test("the zone file has the SOA, the name servers and the records", async () => {
  await connect();
  const { id } = await createDomain(MASTER);
  await createDomainRecord(id, { type: "A", name: "www", target: "192.0.2.1", ttl_sec: 300 });
  const { zone_file: lines } = await getDNSZoneFile(id);
  expect(lines.slice(0, 2)).toEqual([`; example.com [${id}]`, "$TTL 86400"]);
  expect(lines[2]).toMatch(/^@\s+IN\s+SOA\s+ns1\.linode\.com\. admin\.example\.com\. \d+ 14400 14400 1209600 86400$/);
  expect(lines.filter((line) => /^@\s+NS\s+ns\d\.linode\.com\.$/.test(line)).length).toBe(5);
  expect(lines.at(-1)).toMatch(/^www\s+300\s+A\s+192\.0\.2\.1$/);
  await updateDomain(id, { status: "disabled" });
  expect(await getDNSZoneFile(id)).toEqual({ zone_file: [] });
});

test("what the client lets pass and the service refuses is refused by field", async () => {
  await connect();
  const domain = await createDomain(MASTER);
  const reasons = async (promise: Promise<unknown>) => {
    const { status, errors } = await refusal(promise);
    expect(status).toBe(400);
    return errors.map(({ field, reason }) => [field, reason]);
  };
  expect(await reasons(createDomain(MASTER))).toEqual([["domain", "DNS zone already exists."]]);
  expect(await reasons(updateDomain(domain.id, { soa_email: "" }))).toEqual([
    ["soa_email", "soa_email required when type=master"],
  ]);
  expect(await reasons(updateDomain(domain.id, { axfr_ips: ["not an address"] }))).toEqual([
    ["axfr_ips[0]", "Must be an IP address"],
  ]);
  expect(await reasons(updateDomain(domain.id, { group: "x".repeat(51) }))).toEqual([
    ["group", "Length must be at most 50 characters"],
  ]);
  const slave = await createDomain({ domain: "copy.example", type: "slave", master_ips: ["192.0.2.1"] });
  expect(await reasons(updateDomain(slave.id, { master_ips: [] }))).toEqual([
    ["master_ips", "You need at least one master DNS server IP address for this zone."],
  ]);
  expect(await getDomain(domain.id)).toEqual(domain);
});
