/** Domain records of all nine types, as the service's own client makes, lists, changes and deletes them. */

import type { DomainRecord, Filter, ResourcePage } from "@linode/api-v4";
import {
  baseRequest,
  createDomain,
  createDomainRecord,
  deleteDomainRecord,
  getDomainRecord,
  getDomainRecords,
  updateDomainRecord,
} from "@linode/api-v4";
import { expect, test } from "vitest";
import { connect, refusal } from "./client.ts";

const EMPTY = { priority: 0, weight: 0, port: 0, service: null, protocol: null, tag: null, ttl_sec: 0 } as const;

async function newDomain(): Promise<number> {
  const domain = await createDomain({ domain: "example.com", type: "master", soa_email: "admin@example.com" });
  return domain.id;
}

/** The client has no function for a filtered record list, but the way it sends a filter elsewhere. */
async function filtered(domainId: number, filter: Filter): Promise<DomainRecord[]> {
  const url = `https://api.linode.com/v4/domains/${domainId}/records`;
  const headers = { "X-Filter": JSON.stringify(filter) };
  const answer = await baseRequest.get<ResourcePage<DomainRecord>>(url, { headers });
  return answer.data.data;
}

/** What is sent → what comes back, beside id and times. */
const RECORDS: readonly (readonly [Partial<DomainRecord>, Partial<DomainRecord>])[] = [
  [
    { type: "A", target: "192.0.2.1" },
    { name: "", target: "192.0.2.1" },
  ],
  [
    { type: "AAAA", name: "example.com", target: "2001:db8::1", ttl_sec: 300 },
    { name: "", target: "2001:db8::1", ttl_sec: 300 },
  ],
  [
    { type: "NS", name: "sub", target: "ns1.example.net." },
    { name: "sub", target: "ns1.example.net" },
  ],
  [
    { type: "MX", target: "mail.example.com", priority: 10 },
    { name: "", target: "mail.example.com", priority: 10 },
  ],
  [{ type: "CNAME", name: "shop.example.com", target: "stores.example.net" }, { name: "shop" }],
  [{ type: "TXT", name: "_dmarc", target: 'v=DMARC1; p=reject; "é"' }, { target: 'v=DMARC1; p=reject; "é"' }],
  [
    // What the web client sends: no name.
    { type: "SRV", service: "sip", protocol: "tcp", target: "sip.example.com", priority: 10, weight: 5, port: 5060 },
    { name: "_sip._tcp", service: "sip", protocol: "tcp", priority: 10, weight: 5, port: 5060 },
  ],
  [
    { type: "PTR", name: "host", target: "host.example.net" },
    { name: "host", target: "host.example.net" },
  ],
  [
    { type: "CAA", target: "letsencrypt.org", tag: "issue" },
    { name: "", target: "letsencrypt.org", tag: "issue" },
  ],
];

test.each(RECORDS)("a record is created, viewed and listed: %o", async (sent, received) => {
  await connect();
  const domainId = await newDomain();
  const record = await createDomainRecord(domainId, sent);
  const { id, created, updated, ...values } = record;
  expect(values).toEqual({ ...EMPTY, ...sent, ...received });
  expect(updated).toBe(created);
  expect(await getDomainRecord(domainId, id)).toEqual(record);
  expect(await getDomainRecords(domainId)).toEqual({ data: [record], page: 1, pages: 1, results: 1 });
});

test("the default records of the web client are all accepted at once", async () => {
  await connect();
  const domainId = await newDomain();
  const addresses = (["", "www", "mail"] as const).flatMap((name): Partial<DomainRecord>[] => {
    const place = name === "" ? {} : { name };
    return [
      { type: "A", target: "192.0.2.1", ...place },
      { type: "AAAA", target: "2001:db8::1", ...place },
    ];
  });
  const all: Partial<DomainRecord>[] = [...addresses, { type: "MX", priority: 10, target: "mail.example.com" }];
  await Promise.all(all.map((record) => createDomainRecord(domainId, record)));
  expect((await getDomainRecords(domainId)).results).toBe(7);
});

test("an update changes what it names, and a deleted record is gone", async () => {
  await connect();
  const domainId = await newDomain();
  const record = await createDomainRecord(domainId, { type: "MX", target: "mx1.example.com", priority: 10 });
  const other = await createDomainRecord(domainId, { type: "A", name: "www", target: "192.0.2.1" });
  const changed = await updateDomainRecord(domainId, record.id, {
    name: "",
    target: "mx2.example.com",
    ttl_sec: 3_600,
  });
  expect(changed).toEqual({ ...record, target: "mx2.example.com", ttl_sec: 3_600, updated: changed.updated });
  expect(await updateDomainRecord(domainId, record.id, { priority: 0 })).toMatchObject({ priority: 0, ttl_sec: 3_600 });
  expect((await updateDomainRecord(domainId, other.id, { type: "A", name: "web" })).name).toBe("web");
  expect(await deleteDomainRecord(domainId, record.id)).toEqual({});
  expect((await getDomainRecords(domainId)).data.map(({ id }) => id)).toEqual([other.id]);
  expect(await refusal(getDomainRecord(domainId, record.id))).toMatchObject({ status: 404 });
  expect(await refusal(deleteDomainRecord(domainId, record.id))).toMatchObject({ status: 404 });
});

test("an SRV record takes its name from service and protocol, also when they change", async () => {
  await connect();
  const domainId = await newDomain();
  const numbers = { priority: 0, weight: 0, port: 443 };
  const record = await createDomainRecord(domainId, {
    type: "SRV",
    service: "xmpp",
    protocol: "tls",
    target: "chat",
    ...numbers,
  });
  expect(record).toMatchObject({ name: "_xmpp._tls", target: "chat.example.com", ...numbers });
  const changed = await updateDomainRecord(domainId, record.id, { service: "sip", protocol: "udp", name: "ignored" });
  expect(changed).toMatchObject({ name: "_sip._udp", service: "sip", protocol: "udp", target: "chat.example.com" });
});

test("records are filtered by name, type, target and tag, combined and ordered", async () => {
  await connect();
  const domainId = await newDomain();
  for (const record of [
    { type: "A", name: "www", target: "192.0.2.1" },
    { type: "A", name: "web", target: "192.0.2.2" },
    { type: "AAAA", name: "www", target: "2001:db8::1" },
    { type: "TXT", name: "*", target: "wild" },
    { type: "CAA", target: "letsencrypt.org", tag: "issuewild" },
  ] satisfies Partial<DomainRecord>[]) {
    await createDomainRecord(domainId, record);
  }
  const targets = async (filter: Filter) => (await filtered(domainId, filter)).map(({ target }) => target);
  expect(await targets({ name: "www" })).toEqual(["192.0.2.1", "2001:db8::1"]);
  expect(await targets({ "+and": [{ name: { "+contains": "w" } }, { type: "A" }] })).toEqual([
    "192.0.2.1",
    "192.0.2.2",
  ]);
  expect(await targets({ "+or": [{ tag: "issuewild" }, { target: { "+contains": "db8" } }] })).toEqual([
    "2001:db8::1",
    "letsencrypt.org",
  ]);
  expect(await targets({ type: "A", "+order_by": "target", "+order": "desc" })).toEqual(["192.0.2.2", "192.0.2.1"]);
  expect(await targets({ name: "*" })).toEqual([]);
});

/** What the client's own schema lets pass, and the service does not take. */
const REFUSED: readonly (readonly [Partial<DomainRecord>, readonly (readonly [string, string])[]])[] = [
  [
    { type: "A", name: "@", target: "192.0.2.1" },
    [
      ["name", "Name contains invalid characters"],
      ["name", "Invalid hostname"],
    ],
  ],
  [{ type: "CNAME", name: "www", target: "example.net" }, [["name", "Record conflict - CNAMES must be unique"]]],
  [{ type: "TXT", name: "alias", target: "text" }, [["name", "Record conflict - CNAMES must be unique"]]],
  [{ type: "A", name: "x", target: "2001:db8::1" }, [["target", "Must be an IPv4 address"]]],
  [{ type: "A", name: "x" }, [["target", "target is required"]]],
  [{ type: "CAA", target: "letsencrypt.org" }, [["tag", "tag is required"]]],
  [{ type: "CAA", target: "letsencrypt.org", tag: "other" }, [["tag", "Must be one of issue, issuewild, iodef"]]],
  [
    { type: "SRV", target: "sip.example.com" },
    ["service", "priority", "weight", "port"].map((field) => [field, `${field} is required`] as const),
  ],
  [{ type: "A", name: "x", target: "192.0.2.1", port: 65_536 }, [["port", "Must be between 0 and 65535"]]],
];

test.each(REFUSED)("a bad record is refused by field: %o", async (record, expected) => {
  await connect();
  const domainId = await newDomain();
  await createDomainRecord(domainId, { type: "A", name: "www", target: "192.0.2.1" });
  await createDomainRecord(domainId, { type: "CNAME", name: "alias", target: "example.net" });
  const { status, errors } = await refusal(createDomainRecord(domainId, record));
  expect(status).toBe(400);
  expect(errors.map(({ field, reason }) => [field, reason])).toEqual(expected);
  expect((await getDomainRecords(domainId)).results).toBe(2);
});

test("the client throws what the service answered, as an error that holds the answer", async () => {
  await connect();
  const domainId = await newDomain();
  const bad = createDomainRecord(domainId, { type: "A", target: "nowhere" });
  await expect(bad).rejects.toMatchObject({
    name: "AxiosError",
    response: { status: 400, data: { errors: [{ field: "target", reason: "Must be an IPv4 address" }] } },
  });
});
