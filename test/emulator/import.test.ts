/** `POST /domains/import`, against nameservers that answer by a script, and what a transferred zone becomes in the API. */

import type { Answer as DnsAnswer } from "dns-packet";
import { describe, expect, it, vi } from "vitest";
import type { RecordData } from "../../src/dns/message.ts";
import { TRANSFER_LIMITS, type TransferredRecord } from "../../src/dns/transfer.ts";
import { importDomain, importRecords, mailboxOf } from "../../src/emulator/domain-import.ts";
import { secondsRounding } from "../../src/emulator/fields.ts";
import { parseSeed } from "../../src/emulator/index.ts";
import type { Call, Service } from "../../src/emulator/route.ts";
import { Store } from "../../src/emulator/store.ts";
import { assumption, operation, rule } from "../support/emulated.ts";
import { startTested, type Tested } from "../support/emulator.ts";
import {
  address,
  message,
  rawName,
  rawRecord,
  type ScriptedNameserver,
  soa,
  startScripted,
  ZONE,
} from "../support/scripted-nameserver.ts";

const FAILED = "The zone could not be transferred from the nameserver: ";

/** A nameserver that gives a zone of these records, in messages of 100. */
function serving(
  answers: readonly DnsAnswer[],
  raw: readonly Buffer[] = [],
  first = soa(),
): Promise<ScriptedNameserver> {
  return startScripted((socket, { id }) => {
    socket.write(message({ id, answers: [first], raw }));
    for (let index = 0; index < answers.length; index += 100)
      socket.write(message({ id, answers: answers.slice(index, index + 100) }));
    socket.end(message({ id, answers: [first] }));
  });
}

function importFrom(tested: Tested, { host, port }: ScriptedNameserver, domain = ZONE) {
  return tested.send("POST", "/domains/import", { domain, remote_nameserver: `${host}:${port}` });
}

/** The records of the first domain as `name type …`, without what is the same everywhere. */
async function recordsOf(tested: Tested, id: number): Promise<readonly Record<string, unknown>[]> {
  const records: Record<string, unknown>[] = [];
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const { body } = await tested.send("GET", `/domains/${id}/records?page=${page}&page_size=500`);
    pages = body.pages;
    records.push(...body.data);
  }
  return records;
}

async function nothingLeft(tested: Tested): Promise<void> {
  const { body } = await tested.send("GET", "/domains");
  expect(body.results).toBe(0);
}

operation("Domain Import", () => {
  it("makes an active master of the SOA", async () => {
    const tested = await startTested();
    const first = soa(ZONE, { rname: "Jane\\.doe.Example.com" });
    const { status, body } = await importFrom(tested, await serving([], [], first));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      domain: ZONE,
      type: "master",
      status: "active",
      soa_email: "Jane.doe@example.com",
      description: "",
      group: "",
      tags: [],
      master_ips: [],
      axfr_ips: [],
    });
    expect((await tested.send("GET", `/domains/${body.id}`)).body).toEqual(body);
  });

  it("makes a record of each one that the API knows", async () => {
    const tested = await startTested();
    const long = "ü".repeat(300);
    const octets = Buffer.from(long);
    const server = await serving([
      { type: "NS", name: ZONE, ttl: 300, data: "ns1.other.example" },
      { type: "NS", name: "sub.example.com", ttl: 300, data: "ns1.sub.example.com" },
      address("www.example.com"),
      { type: "AAAA", name: "www.example.com", ttl: 0, data: "2001:db8::1" },
      { type: "MX", name: ZONE, ttl: 3_600, data: { preference: 10, exchange: "mx.example.com" } },
      { type: "MX", name: "none.example.com", ttl: 300, data: { preference: 0, exchange: "." } },
      { type: "CNAME", name: "*.example.com", ttl: 300, data: "www.example.com" },
      {
        type: "TXT",
        name: ZONE,
        ttl: 300,
        data: [octets.subarray(0, 255), octets.subarray(255, 510), octets.subarray(510)],
      },
      {
        type: "SRV",
        name: "_sip._tcp.sub.example.com",
        ttl: 300,
        data: { priority: 1, weight: 2, port: 5_060, target: "localhost" },
      },
      { type: "PTR", name: "1.example.com", ttl: 300, data: "host.example.net" },
      { type: "CAA", name: ZONE, ttl: 300, data: { flags: 0, tag: "issue", value: "letsencrypt.org" } },
    ]);
    const { body } = await importFrom(tested, server);
    const found = await recordsOf(tested, body.id);
    const base = { ttl_sec: 300, priority: 0, weight: 0, port: 0, service: null, protocol: null, tag: null };
    expect(found.map(({ id: _, created: __, updated: ___, ...record }) => record)).toEqual([
      { ...base, type: "NS", name: "sub", target: "ns1.sub.example.com" },
      { ...base, type: "A", name: "www", target: "192.0.2.1" },
      { ...base, type: "AAAA", name: "www", target: "2001:db8::1" },
      { ...base, type: "MX", name: "", target: "mx.example.com", priority: 10, ttl_sec: 3_600 },
      { ...base, type: "MX", name: "none", target: "" },
      { ...base, type: "CNAME", name: "*", target: "www.example.com" },
      { ...base, type: "TXT", name: "", target: long },
      {
        ...base,
        type: "SRV",
        name: "_sip._tcp.sub",
        target: "localhost",
        priority: 1,
        weight: 2,
        port: 5_060,
        service: "sip",
        protocol: "tcp.sub",
      },
      { ...base, type: "PTR", name: "1", target: "host.example.net" },
      { ...base, type: "CAA", name: "", target: "letsencrypt.org", tag: "issue" },
    ]);
  });

  it("keeps a zone whose names repeat its own", async () => {
    const tested = await startTested();
    const server = await serving([address("example.com.example.com"), address("www.example.com.example.com")]);
    const { body } = await importFrom(tested, server);
    expect((await recordsOf(tested, body.id)).map(({ name }) => name)).toEqual(["example.com", "www.example.com"]);
  });

  it("keeps the spelling of the domain that was asked for", async () => {
    const tested = await startTested();
    const { body } = await importFrom(tested, await serving([address("www.example.com")]), "Example.COM");
    expect(body.domain).toBe("Example.COM");
    expect((await recordsOf(tested, body.id)).map(({ name }) => name)).toEqual(["www"]);
  });

  it("takes 12,000 records and not one more", async () => {
    const tested = await startTested();
    const hosts = Array.from({ length: 12_000 }, (_, index) => address(`h${index}.example.com`));
    const { body } = await importFrom(tested, await serving(hosts));
    expect(await recordsOf(tested, body.id)).toHaveLength(12_000);
    await tested.send("DELETE", `/domains/${body.id}`);
    const tooMany = await importFrom(tested, await serving([...hosts, address("more.example.com")]));
    expect(tooMany.status).toBe(400);
    expect(tooMany.body).toEqual({ errors: [{ reason: `${FAILED}it has more than 12000 records` }] });
    await nothingLeft(tested);
  });
});

describe("an import that fails", () => {
  it("says why in one general text, and leaves nothing behind", async () => {
    const tested = await startTested();
    const cut = await startScripted((socket, { id }) => {
      socket.end(message({ id, answers: [soa(), address("a.example.com")] }));
    });
    expect((await importFrom(tested, cut)).body).toEqual({
      errors: [{ reason: `${FAILED}the server closed the connection before the zone's end` }],
    });
    await nothingLeft(tested);
    // The name is free: what failed may be tried again.
    expect((await importFrom(tested, await serving([]))).status).toBe(200);
  });

  it("looks at both fields first, and asks no nameserver", async () => {
    const tested = await startTested();
    const post = async (body: object) => (await tested.send("POST", "/domains/import", body)).body.errors;
    expect(await post({})).toEqual([
      { field: "domain", reason: "domain is required" },
      { field: "remote_nameserver", reason: "remote_nameserver is required" },
    ]);
    const wrong = { field: "remote_nameserver", reason: "Must be a hostname or an IP address, with or without a port" };
    expect(await post({ domain: "a_b", remote_nameserver: "a b" })).toEqual([
      { field: "domain", reason: "Domain is not valid" },
      wrong,
    ]);
    expect(await post({ domain: ZONE, remote_nameserver: "ns1.example.com:0" })).toEqual([wrong]);
    expect(await post({ domain: ZONE, remote_nameserver: 53 })).toEqual([
      { field: "remote_nameserver", reason: "Must be a string" },
    ]);
    await tested.send("POST", "/domains", { domain: ZONE, type: "master", soa_email: "a@example.com" });
    const server = await serving([]);
    const { body } = await importFrom(tested, server);
    expect(body.errors).toEqual([{ field: "domain", reason: "DNS zone already exists." }]);
    expect(server.queries).toHaveLength(0);
  });

  it("holds up nobody else while the nameserver is silent", async () => {
    const tested = await startTested();
    const server = await startScripted(() => {});
    const imported = importFrom(tested, server);
    await expect.poll(() => server.queries.length).toBe(1);
    expect((await tested.send("GET", "/domains")).status).toBe(200);
    server.drop();
    expect((await imported).status).toBe(400);
    await nothingLeft(tested);
  });

  it("needs domains:read_write", async () => {
    const tested = await startTested({ seed: parseSeed("tokens: [{ token: reader, scopes: ['domains:read_only'] }]") });
    const server = await serving([]);
    const body = { domain: ZONE, remote_nameserver: `${server.host}:${server.port}` };
    const answer = await tested.send("POST", "/domains/import", body, { authorization: "Bearer reader" });
    expect(answer.status).toBe(403);
    expect(server.queries).toHaveLength(0);
  });
});

rule("Domains: rule 1", async () => {
  const tested = await startTested();
  const refusing = await startScripted((socket, { id }) => socket.end(message({ id, rcode: 5 })));
  const { status, body } = await importFrom(tested, refusing);
  const reason = `${FAILED}the server answered REFUSED; transfers may not be allowed from here`;
  expect([status, body]).toEqual([400, { errors: [{ reason }] }]);
  await nothingLeft(tested);
});

assumption(
  "An import that fails is 400 with one text, about no field; a name that was taken meanwhile is an error of `domain`.",
  async () => {
    const tested = await startTested();
    const silent = await startScripted((socket) => socket.end());
    expect((await importFrom(tested, silent)).body.errors).toEqual([{ reason: expect.stringContaining(FAILED) }]);
    const sockets: (() => void)[] = [];
    const server = await startScripted((socket, { id }) => {
      sockets.push(() => socket.end(message({ id, answers: [soa(), address("a.example.com"), soa()] })));
    });
    const imported = importFrom(tested, server);
    await expect.poll(() => sockets.length).toBe(1);
    const body = { domain: "EXAMPLE.com", type: "master", soa_email: "a@example.com" };
    const { body: made } = await tested.send("POST", "/domains", body);
    sockets[0]?.();
    const answer = await imported;
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ errors: [{ field: "domain", reason: "DNS zone already exists." }] });
    expect(await recordsOf(tested, made.id)).toEqual([]);
  },
);

assumption(
  "An import takes the times of the SOA, rounded, 0 to the least allowed one; `ttl_sec` is the SOA's last field.",
  async () => {
    const tested = await startTested();
    const first = soa(ZONE, { refresh: 3_000, retry: 0, expire: 9_999_999, minimum: 60 });
    const { body } = await importFrom(tested, await serving([], [], first));
    expect(body).toMatchObject({ refresh_sec: 3_600, retry_sec: 300, expire_sec: 2_419_200, ttl_sec: 300 });
  },
);

assumption("An import makes `hostmaster@DOMAIN` the address if the SOA has none.", async () => {
  const tested = await startTested();
  const { body } = await importFrom(tested, await serving([], [], soa(ZONE, { rname: "." })));
  expect(body.soa_email).toBe(`hostmaster@${ZONE}`);
});

assumption(
  "An import leaves out the SOA and the NS at the apex, which are the old servers', other types, text that is not UTF-8, and whatever the API would refuse.",
  async () => {
    const tested = await startTested();
    const a = Buffer.from([192, 0, 2, 9]);
    const raw = [
      rawRecord(["example", "com"], 65, Buffer.alloc(9)),
      rawRecord(["a.b", "example", "com"], 1, a),
      rawRecord(["\xff", "example", "com"], 1, a),
      rawRecord(["x", "*", "example", "com"], 1, a),
      rawRecord(["www", "example", "com"], 5, rawName(["a.example", "net"])),
      rawRecord(["t", "example", "com"], 16, Buffer.from([2, 0xc3, 0x28])),
      rawRecord(["srv", "example", "com"], 33, Buffer.concat([Buffer.alloc(6), rawName(["a", "test"])])),
      rawRecord(["example", "com"], 257, Buffer.from("\0\x05otherca.example")),
      rawRecord(["example", "com"], 15, Buffer.concat([Buffer.from([1, 0]), rawName(["mx", "test"])])),
      rawRecord([...Array.from({ length: 60 }, () => "x"), "example", "com"], 1, a),
    ];
    const servers: DnsAnswer = { type: "NS", name: ZONE, ttl: 300, data: "ns1.other.example" };
    const { body } = await importFrom(tested, await serving([servers, address("kept.example.com")], raw));
    expect((await recordsOf(tested, body.id)).map(({ name }) => name)).toEqual(["kept"]);
  },
);

assumption(
  "An import drops the critical flag of a CAA record and keeps the record: without it every authority may issue.",
  async () => {
    const tested = await startTested();
    const critical = rawRecord(["example", "com"], 257, Buffer.from("\x80\x05issueca.example", "latin1"));
    const { body } = await importFrom(tested, await serving([], [critical]));
    expect(await recordsOf(tested, body.id)).toMatchObject([{ type: "CAA", tag: "issue", target: "ca.example" }]);
  },
);

it("is given up by an emulator that closes", async () => {
  const sockets = { asked: 0, closed: 0 };
  const silent = await startScripted((socket) => {
    sockets.asked += 1;
    socket.on("close", () => {
      sockets.closed += 1;
    });
  });
  const tested = await startTested();
  const answer = importFrom(tested, silent).catch(() => null);
  await vi.waitFor(() => expect(sockets.asked).toBe(1));
  await tested.emulator.close();
  await vi.waitFor(() => expect(sockets.closed).toBe(1));
  await answer;
});

// What a zone becomes, without a nameserver.

const CONTEXT = { domain: "example.com", roundSeconds: secondsRounding("node", "nearest") };

function record(name: string, data: RecordData, ttl = 300): TransferredRecord {
  return { name, ttl, data };
}

function imported(...records: readonly TransferredRecord[]) {
  const zone = importRecords(records, CONTEXT);
  if (!zone.ok) throw new Error(zone.detail);
  return zone;
}

/** Why the last of these records is left out; null if it is not. */
function reasonFor(...records: readonly TransferredRecord[]): string | null {
  const { leftOut } = imported(...records);
  expect(leftOut.length).toBeLessThanOrEqual(1);
  const last = records.at(-1);
  if (leftOut[0] !== undefined) expect(leftOut[0].name).toBe(last?.name);
  return leftOut[0]?.reason ?? null;
}

const mx = (target: string, priority = 10): RecordData => ({ type: "MX", priority, target });
const cname = (target: string): RecordData => ({ type: "CNAME", target });
const a: RecordData = { type: "A", target: "192.0.2.1" };
const text = (octets: string): RecordData => ({ type: "TXT", target: octets });
const caa = (tag: string, value: string, flags = 0): RecordData => ({
  type: "CAA",
  flags,
  tag,
  target: Buffer.from(value).toString("latin1"),
});
const srv = (target: string): RecordData => ({ type: "SRV", priority: 0, weight: 0, port: 0, target });

describe("the mailbox of an SOA", () => {
  it.each([
    ["hostmaster.example.com", "hostmaster@example.com"],
    ["jane\\.doe.Example.com", "jane.doe@example.com"],
    ["Jane\\+dns.example.com", "Jane+dns@example.com"],
    ["a\\092b.example.com", "a\\b@example.com"],
    ["root.localhost", "root@localhost"],
    ["", null],
    ["root", null],
    ["jane\\.doe", null],
    ["admin\\@example.com", null],
    ["two\\032words.example.com", null],
    ["u\\195\\164.example.com", null],
    ["admin.ex\\.ample.com", null],
  ])("%s is %s", (rname, mailbox) => {
    expect(mailboxOf(rname)).toBe(mailbox);
  });

  it("is read in one way only where there is none: in two for each octet, this would not end", () => {
    expect(mailboxOf("\\000".repeat(63))).toBeNull();
    expect(mailboxOf(`${"a\\.".repeat(80)}`)).toBeNull();
  });
});

describe("what an import leaves out", () => {
  it("is what the service has itself: SOA and NS of the apex, and no other NS", () => {
    const ns: RecordData = { type: "NS", target: "ns1.other.example" };
    expect(reasonFor(record("", ns))).toBe("the service has its own");
    expect(reasonFor(record("sub", ns))).toBeNull();
    expect(reasonFor(record("*", ns))).toBe("Invalid hostname");
  });

  it("is of a type that the service does not have", () => {
    const { leftOut } = imported(record("x", { type: "other", code: 44, mnemonic: "SSHFP" }));
    expect(leftOut).toEqual([{ name: "x", type: "SSHFP", reason: "the service has no records of this type" }]);
  });

  it("is text that is not UTF-8", () => {
    expect(reasonFor(record("t", text("\xc3\x28")))).toBe("its text is not UTF-8");
    expect(reasonFor(record("t", text("\xef\xbb\xbf")))).toBeNull();
    expect(imported(record("t", text("\xef\xbb\xbfx"))).records[0]?.target).toBe("\ufeffx");
    expect(imported(record("t", text("\xc3\xbc"))).records[0]?.target).toBe("ü");
  });

  it("is what the rules of the API refuse", () => {
    expect(reasonFor(record("", mx("mx.test", 256)))).toBe("Must be between 0 and 255");
    expect(reasonFor(record("a\\.b", a))).toBe("Name contains invalid characters; Invalid hostname");
    expect(reasonFor(record("x", cname("a\\.b.test")))).toBe("Invalid hostname");
    expect(reasonFor(record("x", cname("")))).toBe("Invalid hostname");
    expect(reasonFor(record("x".repeat(101), a))).not.toBeNull();
    expect(reasonFor(record("", caa("contactemail", "a@example.com")))).toMatch(/^Must be one of issue/);
    expect(reasonFor(record("sip", srv("a.test")))).toBe("its name does not begin with _service._protocol");
    expect(reasonFor(record("", cname("a.test")))).toBe("Record conflict - CNAMES must be unique");
    expect(reasonFor(record("X", a), record("x", cname("a.test")))).toBe("Record conflict - CNAMES must be unique");
    expect(reasonFor(record("x", cname("a.test")), record("x", a))).toBe("Record conflict - CNAMES must be unique");
    expect(reasonFor(record("x", mx("")), record("x", mx("mx.test")))).toMatch(/null MX/);
  });

  it("is not a CAA record with the critical flag: only the flag goes", () => {
    const { records, leftOut } = imported(record("", caa("issue", ";", 128)));
    expect(leftOut).toEqual([]);
    expect(records[0]).toMatchObject({ type: "CAA", tag: "issue", target: ";" });
  });
});

describe("the times of an import", () => {
  it("are rounded as the API rounds, and 0 becomes the least one, not the default", () => {
    const ttls = [0, 1, 299, 301, 2_000, 1_000_000_000];
    const { records } = imported(...ttls.map((ttl, index) => record(`h${index}`, a, ttl)));
    expect(records.map(({ ttl_sec }) => ttl_sec)).toEqual([300, 300, 300, 300, 3_600, 2_419_200]);
  });

  it("on which a client waits are limited as a whole", async () => {
    const server = await startScripted(() => {});
    const store = new Store();
    const service = { store, settings: { roundSeconds: CONTEXT.roundSeconds } } as unknown as Service;
    const body = { domain: "example.com", remote_nameserver: `${server.host}:${server.port}` };
    const limits = { ...TRANSFER_LIMITS, totalMilliseconds: 100 };
    const answer = await importDomain(service, { body } as unknown as Call, limits);
    const reason = "The zone could not be transferred from the nameserver: it took more than 100 ms";
    expect(answer).toEqual({ status: 400, body: { errors: [{ reason }] } });
    expect(store.size).toBe(0);
    await server.idle();
  });
});
