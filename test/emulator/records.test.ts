/** Records of domains: what each operation does, what API.md forbids, and what was chosen where it is silent. */

import { expect, test } from "vitest";
import { assumption, operation, rule } from "../support/emulated.ts";
import { type PlainAnswer, startTested, type Tested } from "../support/emulator.ts";
import { growth } from "../support/operations.ts";
import { expectRefused } from "./refused.ts";

const RECORDS = "/domains/5/records";
const CONFLICT = "Record conflict - CNAMES must be unique";
const HOST = "Invalid hostname";
const MX = { type: "MX", target: "mx.example.net" } as const;
const SRV = {
  type: "SRV",
  service: "sip",
  protocol: "tcp",
  target: "sip.example.com",
  priority: 10,
  weight: 5,
  port: 5060,
} as const;
const CAA = { type: "CAA", tag: "issue", target: "ca.example" } as const;

/** Domain 5 has the records 1 (MX), 2 (SRV) and 3 (CAA); domain 6 has none. */
function start(): Promise<Tested> {
  const records = [
    { id: 1, ...MX, priority: 10 },
    { id: 2, ...SRV },
    { id: 3, ...CAA },
  ];
  return startTested({
    seed: {
      domains: [
        { id: 5, domain: "example.com", records },
        { id: 6, domain: "b.example" },
      ],
    },
  });
}

function startEmpty(): Promise<Tested> {
  return startTested({ seed: { domains: [{ id: 5, domain: "example.com" }] } });
}

const add = ({ send }: Tested, body: object): Promise<PlainAnswer> => send("POST", RECORDS, body);

operation("Domain Records List", () => {
  test("lists the records by id, and finds them by a filter", async () => {
    const { send } = await start();
    const { body } = await send("GET", RECORDS);
    expect(body).toMatchObject({ results: 3, data: [{ id: 1 }, { id: 2 }, { id: 3 }] });
    expect(body.data[0]).toEqual((await send("GET", `${RECORDS}/1`)).body);
    const found = await send("GET", RECORDS, undefined, { "x-filter": '{"type":"MX"}' });
    expect(found.body.data).toMatchObject([{ id: 1 }]);
  });
});

operation("Domain Record Create", () => {
  test("adds a record with every key, and what does not apply is 0 or null", async () => {
    const tested = await start();
    for (const record of [
      { type: "TXT", name: "t", target: "é", ttl_sec: 3600 },
      { type: "A", name: "www", target: "192.0.2.1" },
    ]) {
      const { body } = await add(tested, record);
      expect(body).toEqual({
        id: expect.any(Number),
        ttl_sec: 0,
        ...record,
        priority: 0,
        weight: 0,
        port: 0,
        service: null,
        protocol: null,
        tag: null,
        created: expect.any(String),
        updated: body.created,
      });
      expect((await tested.send("GET", `${RECORDS}/${body.id}`)).body).toEqual(body);
    }
  });
});

operation("Domain Record View", () => {
  test("shows a record of its own domain only", async () => {
    const { send } = await start();
    expect((await send("GET", `${RECORDS}/1`)).body).toMatchObject({ id: 1, target: "mx.example.net" });
    for (const domain of [6, 9]) expect((await send("GET", `/domains/${domain}/records/1`)).status).toBe(404);
  });
});

operation("Domain Record Update", () => {
  test("changes what is sent and nothing else", async () => {
    const { send } = await start();
    const before = (await send("GET", `${RECORDS}/1`)).body;
    const { body } = await send("PUT", `${RECORDS}/1`, { priority: 20 });
    expect(body).toEqual({ ...before, priority: 20, updated: body.updated });
    expect((await send("GET", `${RECORDS}/1`)).body).toEqual(body);
    const caa = await send("PUT", `${RECORDS}/3`, { ttl_sec: 299 });
    expect(caa.body).toMatchObject({ ttl_sec: 300, tag: "issue" });
    expect((await send("PUT", `${RECORDS}/99`, {})).status).toBe(404);
  });

  test("keeps the type, and makes an SRV's name anew of what it is sent", async () => {
    const { send } = await start();
    expect((await send("PUT", `${RECORDS}/2`, { type: "SRV", weight: 7 })).body).toMatchObject({
      ...SRV,
      weight: 7,
    });
    expect((await send("PUT", `${RECORDS}/2`, { service: "sips", name: "x" })).body.name).toBe("_sips._tcp");
  });
});

operation("Domain Record Delete", () => {
  test("removes one record", async () => {
    const { send } = await start();
    expect(await send("DELETE", `${RECORDS}/1`)).toMatchObject({ status: 200, body: {} });
    expect((await send("GET", RECORDS)).body).toMatchObject({ results: 2, data: [{ id: 2 }, { id: 3 }] });
    expect((await send("DELETE", `${RECORDS}/1`)).status).toBe(404);
  });
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
  const { status, body } = await add(await startEmpty(), sent);
  expect([status, body]).toMatchObject([200, kept]);
});

const create = (body: object, field: string, reason: string) => ({
  ...{ method: "POST", path: RECORDS, body },
  ...{ field, reason },
});
const update = (id: number, body: object, field: string, reason: string) => ({
  ...{ method: "PUT", path: `${RECORDS}/${id}`, body },
  ...{ field, reason },
});

rule("Domain record: type", async () => {
  const tested = await start();
  await expectRefused(tested, create({ target: "192.0.2.1" }, "type", "type is required"));
  for (const type of ["ALIAS", "SSHFP", "mx"]) {
    const reason = "Must be one of A, AAAA, NS, MX, CNAME, TXT, SRV, PTR, CAA";
    await expectRefused(tested, create({ ...MX, type }, "type", reason));
  }
  await expectRefused(tested, update(1, { type: "NS" }, "type", "type cannot be changed"));
  await expectRefused(tested, update(2, { type: "A" }, "type", "type cannot be changed"));
});

rule(["Domain record: name", "Limits: Record name"], async () => {
  const tested = await start();
  const length = "Length must be 1-100 characters";
  for (const [name, reason] of [
    [`${"a.".repeat(50)}a`, length],
    [`${"a".repeat(50)}.${"b".repeat(50)}`, length],
    ...["a..b", "a".repeat(64), "a.*"].map((wrong) => [wrong, HOST]),
  ] as [string, string][]) {
    await expectRefused(tested, create({ ...MX, name }, "name", reason));
    await expectRefused(tested, update(1, { name }, "name", reason));
  }
  await expectRefused(tested, create({ type: "NS", name: "*", target: "ns1.test" }, "name", HOST));
});

rule(["Domain record: target", "Limits: Record target"], async () => {
  const tested = await start();
  const length = "Length must be at most 65535 characters";
  await expectRefused(tested, create({ type: "TXT", target: "x".repeat(65_536) }, "target", length));
  for (const [type, reason, ...targets] of [
    ["A", "Must be an IPv4 address", "192.0.2.1.", "::1"],
    ["AAAA", "Must be an IPv6 address", "2001:db8::1.", "192.0.2.1", "fe80::1%1"],
    ["CAA", "Must not end with a period", "ca.example."],
    ["CNAME", HOST, ".", "bücher.test", `${"a".repeat(64)}.test`],
    ["MX", HOST, "a b.test"],
    ["NS", HOST, "*.test"],
  ] as [string, string, ...string[]][]) {
    for (const target of targets) {
      await expectRefused(tested, create({ type, name: "a", target, tag: "issue" }, "target", reason));
    }
  }
});

rule("Domain record: ttl_sec", async () => {
  const tested = await start();
  for (const ttl_sec of ["300", true]) {
    await expectRefused(tested, create({ ...MX, ttl_sec }, "ttl_sec", "Must be a number"));
    await expectRefused(tested, update(1, { ttl_sec }, "ttl_sec", "Must be a number"));
  }
});

/** What is not within the limits of a number, on create and on update. */
async function expectNumberRefused(tested: Tested, field: string, max: number): Promise<void> {
  for (const [value, reason] of [
    ...[-1, max + 1].map((number) => [number, `Must be between 0 and ${max}`]),
    ...[1.5, "1"].map((number) => [number, "Must be an integer"]),
  ] as [unknown, string][]) {
    await expectRefused(tested, create({ ...SRV, [field]: value }, field, reason));
    await expectRefused(tested, update(2, { [field]: value }, field, reason));
  }
}

/** What a type needs can be neither left out nor taken away. */
async function expectNeeded(tested: Tested, id: number, record: object, field: string): Promise<void> {
  await expectRefused(tested, create({ ...record, [field]: undefined }, field, `${field} is required`));
  await expectRefused(tested, update(id, { [field]: null }, field, `${field} is required`));
}

rule(["Domain record: priority", "Limits: Record priority"], async () => {
  const tested = await start();
  await expectNumberRefused(tested, "priority", 255);
  await expectRefused(tested, create({ ...MX, priority: 256 }, "priority", "Must be between 0 and 255"));
  await expectNeeded(tested, 2, SRV, "priority");
});

rule(["Domain record: weight", "Domain record: port", "Limits: Record weight and port"], async () => {
  const tested = await start();
  for (const field of ["weight", "port"]) {
    await expectNumberRefused(tested, field, 65_535);
    await expectNeeded(tested, 2, SRV, field);
  }
});

rule(["Domain record: protocol", "Domain record: service"], async () => {
  const tested = await start();
  await expectNeeded(tested, 2, SRV, "service");
  for (const [field, name] of [
    ["service", "Service"],
    ["protocol", "Protocol"],
  ] as const) {
    const reason = `${name} must be a bare name, without an underscore before it`;
    await expectRefused(tested, update(2, { [field]: "a b" }, field, reason));
  }
  await expectRefused(tested, create({ ...SRV, protocol: "a".repeat(63) }, "protocol", HOST));
  const long = "Service must be a bare name, without an underscore before it";
  await expectRefused(tested, create({ ...SRV, service: "a".repeat(63) }, "service", long));
  const protocol = `tcp.${"a.".repeat(45)}a`;
  await expectRefused(tested, create({ ...SRV, protocol }, "protocol", "Length must be 1-100 characters"));
});

rule("Domain record: tag", async () => {
  const tested = await start();
  await expectNeeded(tested, 3, CAA, "tag");
  for (const tag of ["contactemail", "x"]) {
    await expectRefused(tested, create({ ...CAA, tag }, "tag", "Must be one of issue, issuewild, iodef"));
  }
});

test("what an error already says of an update is not said again in other words", async () => {
  const { send } = await start();
  const { body } = await send("PUT", `${RECORDS}/2`, { port: "x", weight: null });
  expect(body.errors).toEqual([{ reason: "Must be an integer", field: "port" }]);
});

rule("Limits: Active records per domain", async () => {
  const startWith = (count: number) => {
    const records = Array.from({ length: count }, (_, index) => ({
      type: "A" as const,
      name: `h${index}`,
      target: "192.0.2.1",
    }));
    return startTested({ seed: { domains: [{ id: 5, domain: "example.com", records }] } });
  };
  // Whoever looked at every other record for each new one would do 16 times the work for 4 times the records.
  expect(await growth(500, 4, startWith)).toBeLessThan(5);
  const { send } = await startWith(12_000);
  const extra = { type: "A", name: "extra", target: "192.0.2.1" };
  expect((await send("POST", RECORDS, extra)).status).toBe(400);
  const ids: number[] = [];
  for (let page = 1; page <= 24; page += 1) {
    const { body } = await send("GET", `${RECORDS}?page=${page}&page_size=500`);
    expect([body.page, body.pages, body.results, body.data.length]).toEqual([page, 24, 12_000, 500]);
    ids.push(...body.data.map(({ id }: { id: number }) => id));
  }
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  expect((await send("DELETE", `${RECORDS}/${ids[0]}`)).status).toBe(200);
  expect((await send("POST", RECORDS, extra)).status).toBe(200);
  expect((await send("POST", RECORDS, extra)).status).toBe(400);
});

test("what is just within the limits of a record is taken", async () => {
  const { send } = await startEmpty();
  const name = `${"a".repeat(49)}.${"b".repeat(50)}`;
  for (const body of [
    { type: "TXT", name, target: "x".repeat(65_535) },
    { ...MX, priority: 255 },
    { ...SRV, service: "s".repeat(62), priority: 0, weight: 65_535, port: 65_535 },
    { ...CAA, tag: "iodef" },
  ]) {
    expect((await send("POST", RECORDS, body)).status).toBe(200);
  }
});

test("the name @ is two errors", async () => {
  const { send } = await startEmpty();
  expect((await send("POST", RECORDS, { type: "A", name: "@", target: "192.0.2.1" })).body.errors).toEqual([
    { reason: "Name contains invalid characters", field: "name" },
    { reason: "Invalid hostname", field: "name" },
  ]);
});

test("a CNAME shares its name with nothing, in either direction, in any letters", async () => {
  const { send } = await startEmpty();
  const { body: cname } = await send("POST", RECORDS, { type: "CNAME", name: "a", target: "x.test" });
  const { body: other } = await send("POST", RECORDS, { type: "A", name: "b", target: "192.0.2.1" });
  const clashes: [string, string, object][] = [
    ["POST", RECORDS, { type: "A", name: "A", target: "192.0.2.1" }],
    ["POST", RECORDS, { type: "CNAME", name: "a", target: "y.test" }],
    ["POST", RECORDS, { type: "CNAME", name: "B.example.com", target: "y.test" }],
    ["PUT", `${RECORDS}/${cname.id}`, { name: "b" }],
    ["PUT", `${RECORDS}/${other.id}`, { name: "a" }],
  ];
  for (const [method, at, body] of clashes) {
    const answer = await send(method, at, body);
    expect([body, answer.status, answer.body.errors]).toEqual([body, 400, [{ reason: CONFLICT, field: "name" }]]);
  }
  expect((await send("PUT", `${RECORDS}/${cname.id}`, { target: "z.test" })).status).toBe(200);
  expect((await send("DELETE", `${RECORDS}/${cname.id}`)).body).toEqual({});
  expect((await send("PUT", `${RECORDS}/${other.id}`, { name: "a" })).status).toBe(200);
  expect((await send("POST", RECORDS, { type: "CNAME", name: "b", target: "y.test" })).status).toBe(200);
});

test("a null MX is the only MX of its name", async () => {
  const { send } = await startEmpty();
  const { body: nullMx } = await send("POST", RECORDS, { type: "MX", target: "." });
  for (const target of ["mx.test", "."]) {
    expect((await send("POST", RECORDS, { type: "MX", target })).body.errors[0].field).toBe("target");
  }
  expect((await send("POST", RECORDS, { type: "A", target: "192.0.2.1" })).status).toBe(200);
  expect((await send("POST", RECORDS, { type: "MX", name: "sub", target: "mx.test" })).status).toBe(200);
  expect((await send("POST", RECORDS, { type: "MX", name: "sub", target: "." })).status).toBe(400);
  expect((await send("PUT", `${RECORDS}/${nullMx.id}`, { target: "mx.test" })).body.target).toBe("mx.test");
  expect((await send("POST", RECORDS, { type: "MX", target: "mx2.test" })).status).toBe(200);
  expect((await send("PUT", `${RECORDS}/${nullMx.id}`, { target: "." })).status).toBe(400);
});

assumption("A CNAME at the apex is a conflict: the service's own SOA and NS are there.", async () => {
  await expectRefused(await startEmpty(), create({ type: "CNAME", target: "a.test" }, "name", CONFLICT));
});

assumption(
  "A record's trailing dot in the name is refused; the name's limit of 100 characters holds after the domain is stripped.",
  async () => {
    const tested = await startEmpty();
    const name = `${"a".repeat(49)}.${"b".repeat(50)}`;
    await expectRefused(tested, create({ type: "A", target: "192.0.2.1", name: "www." }, "name", HOST));
    expect((await add(tested, { type: "TXT", target: "t", name: `${name}.example.com` })).body.name).toBe(name);
  },
);

assumption(
  "A target is required and not empty, except that TXT may be empty and that an empty MX is a null MX, as `.` is. A null SRV is sent as `.`; only where it is one already may an empty text, as which it reads, be sent back.",
  async () => {
    const tested = await start();
    const required = ["target", "target is required"] as const;
    await expectRefused(tested, create({ type: "A" }, ...required));
    await expectRefused(tested, create({ type: "TXT" }, ...required));
    await expectRefused(tested, update(2, { target: null }, ...required));
    for (const record of [SRV, { type: "CNAME", name: "c" }, { type: "NS", name: "n" }, { type: "A" }]) {
      await expectRefused(tested, create({ ...record, target: "" }, ...required));
    }
    expect((await add(tested, { type: "TXT", target: "" })).body.target).toBe("");
    await tested.send("DELETE", `${RECORDS}/1`);
    for (const record of [
      { type: "MX", target: "." },
      { type: "MX", target: "", name: "empty" },
      { type: "SRV", service: "sip", protocol: "tcp", target: ".", priority: 0, weight: 0, port: 0 },
    ]) {
      const { status, body } = await add(tested, record);
      expect([record, status, body.target]).toEqual([record, 200, ""]);
      const path = `${RECORDS}/${body.id}`;
      expect(await tested.send("PUT", path, body)).toMatchObject({ status: 200, body: { target: "" } });
      await tested.send("PUT", path, { target: "host.example" });
      if (record.type === "SRV") await expectRefused(tested, update(body.id, { target: "" }, ...required));
      else expect((await tested.send("PUT", path, { target: "" })).body.target).toBe("");
    }
    // It is a null MX indeed, beside which there is no other.
    expect((await add(tested, { ...MX, name: "empty" })).status).toBe(400);
  },
);

assumption("A CAA target with a trailing period is refused.", async () => {
  await expectRefused(await start(), update(3, { target: "ca.example." }, "target", "Must not end with a period"));
});

assumption("A service or protocol with a leading underscore is refused.", async () => {
  const tested = await start();
  for (const [field, name] of [
    ["service", "Service"],
    ["protocol", "Protocol"],
  ] as const) {
    const reason = `${name} must be a bare name, without an underscore before it`;
    await expectRefused(tested, create({ ...SRV, [field]: "_sip" }, field, reason));
    await expectRefused(tested, update(2, { [field]: "_sip" }, field, reason));
  }
});

assumption("Identical duplicates are allowed for every type.", async () => {
  const tested = await startEmpty();
  for (const record of [{ type: "A", target: "192.0.2.1" }, MX, { type: "TXT", name: "a", target: "x" }]) {
    expect((await add(tested, record)).status).toBe(200);
    expect((await add(tested, record)).status).toBe(200);
  }
});

assumption(
  "An SRV without a protocol keeps null as its protocol, and its name is `_service`; a later update may add the protocol or take it away.",
  async () => {
    const tested = await startEmpty();
    const { protocol: _, ...bare } = SRV;
    const { status, body } = await add(tested, { ...bare, service: "service_test", target: "rc_test" });
    expect([status, body]).toMatchObject([
      200,
      { name: "_service_test", service: "service_test", protocol: null, target: "rc_test.example.com" },
    ]);
    const path = `${RECORDS}/${body.id}`;
    expect((await tested.send("PUT", path, { protocol: "udp" })).body.name).toBe("_service_test._udp");
    expect((await tested.send("PUT", path, { protocol: null })).body).toMatchObject({
      name: "_service_test",
      protocol: null,
    });
    const { zone_file } = (await tested.send("GET", "/domains/5/zone-file")).body;
    expect(zone_file).toContainEqual(expect.stringMatching(/^_service_test\s+SRV\s+10\s+5\s+5060\s+rc_test\.example/));
    expect((await add(tested, { ...bare, service: "_sip" })).status).toBe(400);
    expect((await add(tested, { ...bare, service: "sip_" })).status).toBe(400);
  },
);

assumption(
  "An A target with leading zeros is kept as it was sent, and rendered in a zone file without them.",
  async () => {
    const tested = await startEmpty();
    const { body } = await add(tested, { type: "A", name: "old", target: "010.020.030.040" });
    expect(body.target).toBe("010.020.030.040");
    expect((await tested.send("GET", `${RECORDS}/${body.id}`)).body.target).toBe("010.020.030.040");
    const { zone_file } = (await tested.send("GET", "/domains/5/zone-file")).body;
    expect(zone_file).toContainEqual(expect.stringMatching(/^old\s+A\s+10\.20\.30\.40$/));
    for (const target of ["010.020.030.256", "0010.0.0.1", "10.1", "010.020.030.", "٠١٠.020.030.040"]) {
      expect([target, (await add(tested, { type: "A", target })).status]).toEqual([target, 400]);
    }
  },
);
