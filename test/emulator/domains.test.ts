/** Domains: what each operation does, what API.md forbids, and what was chosen where it is silent. Their zone files have a chapter of their own. */

import { expect, test } from "vitest";
import { assumption, operation, rule } from "../support/emulated.ts";
import { startTested, type Tested } from "../support/emulator.ts";
import { expectRefused } from "./refused.ts";

const MASTER = { domain: "new.example", type: "master", soa_email: "host.master@new.example" };
const TOO_LONG = `${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.example.co`;

/** Domain 5 has two records, domain 6 is a slave; another account has `theirs.example`. */
function start(options: Parameters<typeof startTested>[0] = {}): Promise<Tested> {
  const records = [
    { id: 1, type: "A" as const, name: "www", target: "192.0.2.1" },
    { id: 2, type: "MX" as const, target: "mx.example.net", priority: 10 },
  ];
  return startTested({
    seed: {
      domains: [
        {
          ...{ id: 5, domain: "old.example", group: "g", tags: ["web"] },
          ...{ ttl_sec: 300, axfr_ips: ["192.0.2.1"], records },
        },
        { id: 6, domain: "copy.example", type: "slave", master_ips: ["192.0.2.53"] },
      ],
      other_accounts: { rival: { domains: [{ id: 7, domain: "theirs.example" }] } },
    },
    ...options,
  });
}

operation("Domains List", () => {
  test("lists the domains, and finds them by a filter", async () => {
    const { send } = await start();
    expect((await send("GET", "/domains")).body).toMatchObject({ page: 1, pages: 1, results: 2 });
    const found = await send("GET", "/domains", undefined, { "x-filter": JSON.stringify({ domain: "copy.example" }) });
    expect(found.body.data).toMatchObject([{ id: 6, type: "slave", status: "active" }]);
  });
});

operation("Domain Create", () => {
  test("makes a domain that is active, and whose every other field is empty, none null", async () => {
    const { send } = await start();
    const { status, body } = await send("POST", "/domains", MASTER);
    expect([status, body]).toEqual([
      200,
      {
        id: expect.any(Number),
        ...MASTER,
        status: "active",
        description: "",
        group: "",
        master_ips: [],
        axfr_ips: [],
        refresh_sec: 0,
        retry_sec: 0,
        expire_sec: 0,
        ttl_sec: 0,
        tags: [],
        created: body.updated,
        updated: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/),
        errors: "",
      },
    ]);
    expect((await send("GET", `/domains/${body.id}`)).body).toEqual(body);
  });
});

operation("Domain View", () => {
  test("shows one domain, as the list does", async () => {
    const { send } = await start();
    const { body } = await send("GET", "/domains/5");
    expect(body).toMatchObject({ id: 5, domain: "old.example", tags: ["web"], errors: "" });
    expect((await send("GET", "/domains")).body.data).toContainEqual(body);
    expect((await send("GET", "/domains/9")).status).toBe(404);
  });
});

operation("Domain Update", () => {
  test("changes what is sent and nothing else", async () => {
    const { send } = await start();
    const before = (await send("GET", "/domains/5")).body;
    const { body } = await send("PUT", "/domains/5", { status: "disabled", description: "d" });
    expect(body).toEqual({ ...before, status: "disabled", description: "d", updated: body.updated });
    const set = { group: "h", tags: ["bbb"], axfr_ips: ["192.0.2.2"], ttl_sec: 3_600, status: "active" };
    const changed = (await send("PUT", "/domains/5", set)).body;
    expect(changed).toEqual({ ...body, ...set, updated: changed.updated });
    expect((await send("GET", "/domains/5")).body).toEqual(changed);
  });

  test("renames, and makes a master a slave of servers that are named", async () => {
    const { send } = await start();
    for (const domain of ["OLD.example", "next.example"]) {
      expect((await send("PUT", "/domains/5", { domain })).body.domain).toBe(domain);
    }
    expect((await send("POST", "/domains", { ...MASTER, domain: "old.example" })).status).toBe(200);
    const slave = { type: "slave", master_ips: ["192.0.2.1", "2001:db8::1"] };
    expect((await send("PUT", "/domains/5", slave)).body).toMatchObject(slave);
  });
});

operation("Domain Delete", () => {
  test("deletes the domain and all of its records, and frees its name", async () => {
    const { send } = await start();
    expect(await send("DELETE", "/domains/5")).toMatchObject({ status: 200, body: {} });
    for (const path of ["/domains/5", "/domains/5/records", "/domains/5/records/1"]) {
      expect((await send("GET", path)).status).toBe(404);
    }
    expect((await send("DELETE", "/domains/5")).status).toBe(404);
    const { body: again } = await send("POST", "/domains", { ...MASTER, domain: "old.example" });
    expect(again.id).not.toBe(5);
    expect((await send("GET", `/domains/${again.id}/records`)).body.results).toBe(0);
  });
});

operation("Domain Clone", () => {
  test("copies all of the records under new ids, which outlive the source", async () => {
    const { send } = await start();
    const { body } = await send("POST", "/domains/5/clone", { domain: "clone.example" });
    const records = async (id: number): Promise<{ id: number }[]> =>
      (await send("GET", `/domains/${id}/records`)).body.data;
    const values = (rows: object[]): object[] => rows.map((row) => ({ ...row, id: 0, created: "", updated: "" }));
    const [source, copies] = [await records(5), await records(body.id)];
    expect(values(copies)).toEqual(values(source));
    expect(source.map(({ id }) => id)).toEqual([1, 2]);
    for (const { id } of copies) expect([1, 2]).not.toContain(id);
    expect((await send("DELETE", "/domains/5")).status).toBe(200);
    expect(await records(body.id)).toEqual(copies);
    expect((await send("POST", "/domains/5/clone", { domain: "more.example" })).status).toBe(404);
  });
});

/** On create and on update; without a reason, whatever it is. */
async function expectFieldRefused(tested: Tested, change: object, field: string, reason?: string): Promise<void> {
  const refusal = { field, ...(reason === undefined ? {} : { reason }) };
  await expectRefused(tested, { method: "POST", path: "/domains", body: { ...MASTER, ...change }, ...refusal });
  await expectRefused(tested, { method: "PUT", path: "/domains/5", body: change, ...refusal });
}

const NOT_VALID = "Domain is not valid";
const LENGTH = "Length must be 1-253 characters";

rule(["Domain (DNS zone): domain", "Limits: Domain name"], async () => {
  const tested = await start();
  const clone = { method: "POST", path: "/domains/5/clone", field: "domain" };
  const required = { field: "domain", reason: "domain is required" };
  const body = { ...MASTER, domain: undefined };
  await expectRefused(tested, { method: "POST", path: "/domains", body, ...required });
  await expectRefused(tested, { ...clone, ...required, body: {} });
  expect(TOO_LONG.length).toBe(254);
  for (const [domain, reason] of [
    ["", LENGTH],
    [TOO_LONG, LENGTH],
    [5, "Must be a string"],
    ...[`${"a".repeat(64)}.example`, "a..com", "a_b.com", "-a.com", "*.example.com"].map((name) => [name, NOT_VALID]),
    ["theirs.example", "DNS zone already exists."],
    ["copy.example", "DNS zone already exists."],
  ] as [unknown, string][]) {
    await expectFieldRefused(tested, { domain }, "domain", reason);
    await expectRefused(tested, { ...clone, body: { domain }, reason });
  }
});

rule("Domain (DNS zone): type", async () => {
  const tested = await start();
  const body = { ...MASTER, type: undefined };
  await expectRefused(tested, { method: "POST", path: "/domains", body, field: "type", reason: "type is required" });
  for (const type of ["native", "primary"]) {
    await expectFieldRefused(tested, { type }, "type", "Must be one of master, slave");
  }
});

rule("Domain (DNS zone): status", async () => {
  await expectFieldRefused(await start(), { status: "off" }, "status", "Must be one of active, disabled");
});

rule(["Domain (DNS zone): description", "Limits: Domain description"], async () => {
  const reason = "Length must be at most 253 characters";
  await expectFieldRefused(await start(), { description: "x".repeat(254) }, "description", reason);
});

rule(["Domain (DNS zone): group", "Limits: Domain group"], async () => {
  const reason = "Length must be at most 50 characters";
  await expectFieldRefused(await start(), { group: "x".repeat(51) }, "group", reason);
});

rule("Domain (DNS zone): soa_email", async () => {
  const tested = await start();
  for (const soa_email of ["no address", "example.com"]) {
    await expectFieldRefused(tested, { soa_email }, "soa_email", "soa_email must be an email address");
  }
  const soa_email = `a@${"b".repeat(253)}`;
  await expectFieldRefused(tested, { soa_email }, "soa_email", "Length must be at most 254 characters");
  const missing = { field: "soa_email", reason: "soa_email required when type=master" };
  await expectFieldRefused(tested, { soa_email: "" }, missing.field, missing.reason);
  const body = { ...MASTER, soa_email: undefined };
  await expectRefused(tested, { method: "POST", path: "/domains", body, ...missing });
});

rule("Domain (DNS zone): master_ips", async () => {
  const tested = await start();
  const refusal = {
    field: "master_ips",
    reason: "You need at least one master DNS server IP address for this zone.",
  };
  await expectFieldRefused(tested, { type: "slave" }, refusal.field, refusal.reason);
  const body = { domain: "new.example", type: "slave" };
  await expectRefused(tested, { method: "POST", path: "/domains", body, ...refusal });
  await expectRefused(tested, { method: "PUT", path: "/domains/6", body: { master_ips: [] }, ...refusal });
  await expectFieldRefused(tested, { master_ips: ["ns.example"] }, "master_ips[0]", "Must be an IP address");
});

rule(["Domain (DNS zone): axfr_ips", "Limits: axfr_ips"], async () => {
  const tested = await start();
  await expectFieldRefused(tested, { axfr_ips: ["::1", "any"] }, "axfr_ips[1]", "Must be an IP address");
  await expectFieldRefused(tested, { axfr_ips: "::1" }, "axfr_ips", "Must be an array of strings");
  const reason = "Combined length must be at most 1000 characters";
  await expectFieldRefused(tested, { axfr_ips: Array(91).fill("192.0.2.111") }, "axfr_ips", reason);
});

rule(
  [
    "Domain (DNS zone): refresh_sec",
    "Domain (DNS zone): retry_sec",
    "Domain (DNS zone): expire_sec",
    "Domain (DNS zone): ttl_sec",
  ],
  async () => {
    const tested = await start();
    for (const field of ["refresh_sec", "retry_sec", "expire_sec", "ttl_sec"]) {
      for (const value of ["300", [300]])
        await expectFieldRefused(tested, { [field]: value }, field, "Must be a number");
    }
  },
);

rule("Domain (DNS zone): tags", async () => {
  const tested = await start();
  for (const tags of ["web", [1]]) await expectFieldRefused(tested, { tags }, "tags", "Must be an array of strings");
});

rule("Domains: rule 4", async () => {
  const tested = await start();
  const gone = { field: null, status: 404 };
  for (const id of ["old.example", "5.0", "05", "%205", "5x"]) {
    const body = { domain: "c.example" };
    await expectRefused(tested, { method: "DELETE", path: `/domains/${id}`, ...gone });
    await expectRefused(tested, { method: "GET", path: `/domains/${id}/zone-file`, ...gone });
    await expectRefused(tested, { method: "POST", path: `/domains/${id}/clone`, body, ...gone });
    await expectRefused(tested, { method: "DELETE", path: `/domains/5/records/${id}`, ...gone });
  }
});

test("what is just within the limits of a domain is taken", async () => {
  const { send } = await start();
  const body = {
    ...MASTER,
    domain: TOO_LONG.slice(1),
    description: "x".repeat(253),
    group: "x".repeat(50),
    axfr_ips: Array(90).fill("192.0.2.111"),
  };
  expect((await send("POST", "/domains", body)).body).toMatchObject(body);
});

const SEVERAL: [string, Record<string, unknown>, string[]][] = [
  ["a master without an address", { soa_email: undefined, status: "off" }, ["status", "soa_email"]],
  ["a slave without a server", { type: "slave", group: 1 }, ["group", "master_ips"]],
  ["too many addresses", { tags: 1, axfr_ips: Array(100).fill("192.168.100.1") }, ["tags", "axfr_ips"]],
  // What is wrong already is not missing as well.
  ["a type that is none", { type: "other", soa_email: undefined }, ["type"]],
  ["an address that is none", { soa_email: 5 }, ["soa_email"]],
  ["a server that is none", { type: "slave", master_ips: "::1" }, ["master_ips"]],
];

test.each(SEVERAL)("of %s all is said at once, and nothing twice", async (_name, change, fields) => {
  const { send } = await startTested();
  const { status, body } = await send("POST", "/domains", { ...MASTER, ...change });
  expect([status, body.errors.map(({ field }: { field: string }) => field)]).toEqual([400, fields]);
});

assumption("A taken domain name is refused with `DNS zone already exists.`, in any letter case.", async () => {
  const tested = await start();
  for (const domain of ["COPY.example", "Theirs.Example"]) {
    const refusal = { field: "domain", reason: "DNS zone already exists." };
    await expectFieldRefused(tested, { domain }, refusal.field, refusal.reason);
    await expectRefused(tested, { method: "POST", path: "/domains/5/clone", body: { domain }, ...refusal });
  }
  // Its own name is no other one's, except for a copy of it.
  expect((await tested.send("PUT", "/domains/5", { domain: "OLD.example" })).status).toBe(200);
  expect((await tested.send("POST", "/domains/5/clone", { domain: "old.EXAMPLE" })).status).toBe(400);
});

assumption("A domain's name is ASCII letters, digits and hyphens, and has no trailing dot.", async () => {
  const tested = await start();
  for (const domain of ["bücher.example", "a_b.example", "new.example."]) {
    await expectFieldRefused(tested, { domain }, "domain", NOT_VALID);
  }
  expect((await tested.send("PUT", "/domains/5", { domain: "xn--bcher-kva.example" })).status).toBe(200);
});

assumption("Tags come back sorted, and of two that differ in letter case only the first stays.", async () => {
  const { send } = await start();
  const body = { ...MASTER, tags: ["bbb", "Aaa", "Bbb", "aaa"] };
  expect((await send("POST", "/domains", body)).body.tags).toEqual(["Aaa", "bbb"]);
});

assumption(
  "A tag has 3 to 50 characters; the error of one that has not is about `tags[INDEX]`, whatever other tags are there.",
  async () => {
    const tested = await start();
    for (const tag of ["", "ab", "x".repeat(51), "é".repeat(51)]) {
      await expectFieldRefused(tested, { tags: ["fine", tag] }, "tags[1]", "Length must be 3-50 characters");
    }
    const owner = `tenon:${"o".repeat(32)}`;
    for (const tag of ["abc", "x".repeat(50), "é".repeat(50), "😀😀😀", owner]) {
      expect((await tested.send("PUT", "/domains/5", { tags: [tag] })).body.tags).toEqual([tag]);
    }
  },
);

assumption(
  "Null resets a domain's field: texts and lists to empty ones, seconds to 0, status to `active`. The `type` and the name cannot be null.",
  async () => {
    const tested = await start();
    const set = { description: "d", group: "g", tags: ["web"], axfr_ips: ["192.0.2.1"], ttl_sec: 300 };
    const empty = { description: "", group: "", tags: [], axfr_ips: [], ttl_sec: 0 };
    const nulls = Object.fromEntries(Object.keys(set).map((field) => [field, null]));
    for (const reset of [empty, { ...nulls, status: null }]) {
      expect((await tested.send("PUT", "/domains/5", { ...set, status: "disabled" })).body).toMatchObject(set);
      const status = "status" in reset ? "active" : "disabled";
      expect((await tested.send("PUT", "/domains/5", reset)).body).toMatchObject({ ...empty, status });
    }
    for (const field of ["type", "domain"]) {
      await expectFieldRefused(tested, { [field]: null }, field, `${field} is required`);
    }
  },
);

assumption("master_ips and axfr_ips are single addresses, without prefix lengths.", async () => {
  const tested = await start();
  for (const field of ["master_ips", "axfr_ips"]) {
    await expectFieldRefused(tested, { [field]: ["192.0.2.0/24"] }, `${field}[0]`, "Must be an IP address");
  }
  expect((await tested.send("PUT", "/domains/5", { axfr_ips: ["192.0.2.0", "2001:db8::1"] })).status).toBe(200);
});

/** Sends seconds in every field of a domain, and as the TTL of a record. */
async function expectKept({ send }: Tested, sent: number, kept: number): Promise<void> {
  const seconds = { ttl_sec: sent, expire_sec: sent, retry_sec: sent, refresh_sec: sent };
  const all = { ttl_sec: kept, expire_sec: kept, retry_sec: kept, refresh_sec: kept };
  expect((await send("PUT", "/domains/5", seconds)).body).toMatchObject(all);
  const record = await send("POST", "/domains/5/records", { type: "TXT", target: "t", ttl_sec: sent });
  expect([sent, record.body.ttl_sec]).toEqual([sent, kept]);
}

assumption(
  "Any number of seconds is rounded, and what is no number is 400. All but 0 that is below the least allowed value becomes that value, negative numbers too; of two equally near values the greater is taken.",
  async () => {
    const tested = await start();
    for (const ttl_sec of ["300", true, [300], {}]) {
      await expectFieldRefused(tested, { ttl_sec }, "ttl_sec", "Must be a number");
    }
    for (const [sent, kept] of [
      [1, 300],
      [-1, 300],
      [-1e300, 300],
      [0.5, 300],
      [0, 0],
      [3_600.4, 3_600],
      [5_400, 7_200],
      [1e21, 2_419_200],
    ] as const) {
      await expectKept(tested, sent, kept);
    }
  },
);

type Pairs = readonly (readonly [number, number])[];

const NEAREST: Pairs = [
  [299, 300],
  [600, 300],
  [1949, 300],
  [1950, 3600],
  [3601, 3600],
  [30, 300],
  [120, 300],
  [99_999_999, 2_419_200],
];
const UP: Pairs = [
  [0, 0],
  [299, 300],
  [600, 3600],
  [3601, 7200],
  [30, 300],
  [3_000_000, 2_419_200],
];
const NEAREST_ELSEWHERE: Pairs = [
  [0, 0],
  [1, 30],
  [30, 30],
  [75, 120],
  [120, 120],
  [200, 120],
  [300, 300],
  [3_601, 3_600],
  [9_999_999, 2_419_200],
];
const UP_ELSEWHERE: Pairs = [
  [31, 120],
  [121, 300],
];

test.each([
  ["node", "nearest", NEAREST],
  ["node", "up", UP],
  ["linode", "nearest", NEAREST_ELSEWHERE],
  ["linode", "up", UP_ELSEWHERE],
] as const)("seconds are rounded in the dialect %s to the value that is %s", async (dialect, ttlRounding, pairs) => {
  const tested = await start({ dialect, ttlRounding });
  for (const [sent, kept] of pairs) await expectKept(tested, sent, kept);
});

assumption("A clone copies every value but the name and the times.", async () => {
  const { send, emulator } = await start();
  await send("PUT", "/domains/5", { status: "disabled" });
  const source = (await send("GET", "/domains/5")).body;
  await emulator.advanceClock(60);
  const { body } = await send("POST", "/domains/5/clone", { domain: "clone.example" });
  const { id, created, updated } = body;
  expect(body).toEqual({ ...source, domain: "clone.example", id, created, updated });
  expect([id === 5, created > source.created, updated]).toEqual([false, true, created]);
});

assumption("A change of a record does not change its domain's `updated`.", async () => {
  const { send, emulator } = await start();
  const before = (await send("GET", "/domains/5")).body.updated;
  await emulator.advanceClock(60);
  expect((await send("POST", "/domains/5/records", { type: "TXT", target: "t" })).body.updated > before).toBe(true);
  await send("PUT", "/domains/5/records/1", { target: "192.0.2.9" });
  await send("DELETE", "/domains/5/records/2");
  expect((await send("GET", "/domains/5")).body.updated).toBe(before);
});
