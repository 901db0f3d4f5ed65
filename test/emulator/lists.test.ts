/** Lists: pages, the X-Filter header and the order of what is listed. */

import { expect, test } from "vitest";
import type { Seed } from "../../src/emulator/index.ts";
import { assumption, rule } from "../support/emulated.ts";
import { type PlainAnswer, startTested, type Tested } from "../support/emulator.ts";
import { expectRefused } from "./refused.ts";

const LABELS = ["alpha", "beta", "gamma", "delta", "Alphabet"];

const SEED: Seed = {
  vpcs: ["b", "a", "c"].map((label) => ({ label, region: "us-east" })),
  domains: ["z.example", "A.example", "m.example"].map((domain) => ({
    domain,
    tags: ["Web", `${domain.slice(0, 1)}-tag`],
  })),
  images: [{ label: "one" }, { label: "two" }],
};

async function find({ send }: Tested, path: string, filter: object | string): Promise<PlainAnswer> {
  return send("GET", path, undefined, { "x-filter": typeof filter === "string" ? filter : JSON.stringify(filter) });
}

async function names(tested: Tested, filter: object): Promise<string[]> {
  return (await find(tested, "/domains", filter)).body.data.map((domain: { domain: string }) => domain.domain);
}

function vpcs(count: number): { id: number; label: string; region: string }[] {
  return Array.from({ length: count }, (_, index) => ({ id: index + 1, label: `vpc-${index + 1}`, region: "us-east" }));
}

rule("Limits: Page splitting", async () => {
  const tested = await startTested({ seed: { vpcs: vpcs(230) } });
  const { send } = tested;
  const pages: [string, number, number, number, number][] = [
    ["", 1, 3, 1, 100],
    ["?page=3", 3, 3, 201, 30],
    ["?page_size=25", 1, 10, 1, 25],
    ["?page=2&page_size=500", 0, 0, 0, 0],
    ["?page=1&page_size=500", 1, 1, 1, 230],
  ];
  for (const [query, page, count, first, length] of pages) {
    const { status, body } = await send("GET", `/vpcs${query}`);
    if (page === 0) expect([status, body]).toEqual([404, { errors: [{ reason: "Not found" }] }]);
    else {
      expect([query, body.page, body.pages, body.results]).toEqual([query, page, count, 230]);
      expect([body.data[0].id, body.data.length]).toEqual([first, length]);
    }
  }
  for (const size of [0, 10_000]) {
    await expectRefused(tested, { method: "GET", path: `/vpcs?page_size=${size}`, field: "page_size" });
  }
});

test("an empty list has one page, that of images none, whether a filter left nothing or there is nothing", async () => {
  const { send } = await startTested();
  for (const path of ["/vpcs", "/domains", "/vpcs/ips"]) {
    expect((await send("GET", path)).body).toEqual({ data: [], page: 1, pages: 1, results: 0 });
  }
  expect((await send("GET", "/images")).body).toEqual({ data: [], page: 0, pages: 0, results: 0 });
  const { send: find } = await startTested({ seed: SEED });
  const nothing = { "x-filter": '{"label":"none"}' };
  expect((await find("GET", "/vpcs", undefined, nothing)).body).toMatchObject({ page: 1, pages: 1, results: 0 });
  expect((await find("GET", "/images", undefined, nothing)).body).toMatchObject({ page: 0, pages: 0, results: 0 });
});

assumption("A page past the end is 404; `page` and `page_size` out of their range are 400.", async () => {
  const { send } = await startTested({ seed: SEED });
  const past = await send("GET", "/vpcs?page=2");
  expect([past.status, past.body]).toEqual([404, { errors: [{ reason: "Not found" }] }]);
  for (const [field, ...values] of [
    ["page", "0", "-1", "x", "1.5", ""],
    ["page_size", "24", "501", "1e2"],
  ] as const) {
    for (const value of values) {
      const { status, body } = await send("GET", `/vpcs?${field}=${value}`);
      expect([value, status, body.errors.map((error: { field: string }) => error.field)]).toEqual([
        value,
        400,
        [field],
      ]);
    }
  }
  expect((await send("GET", "/vpcs?page_size=25")).status).toBe(200);
});

assumption(
  "Domains are listed by name, images by age, everything else by id as records and VPCs are, also where a seed gave the ids.",
  async () => {
    const ids = [12, 5, 7];
    const subnets = ids.map((id) => ({ id, label: "a", ipv4: `10.0.${id}.0/24` }));
    const records = ids.map((id) => ({ id, type: "TXT" as const, target: "t" }));
    const replies = ids.map((id) => ({ id, description: "d" }));
    const tested = await startTested({
      seed: {
        ...SEED,
        vpcs: ids.map((id) => ({ id, label: "v", region: "us-east", ...(id === 5 ? { subnets } : {}) })),
        domains: [...(SEED.domains ?? []), { id: 1, domain: "b.example", records }],
        images: ids.map((id) => ({ id: `private/${id}`, label: "i" })),
        tickets: ids.map((id) => ({ id, summary: "s", description: "d", ...(id === 5 ? { replies } : {}) })),
      },
    });
    const listed = async (path: string): Promise<(number | string)[]> =>
      (await tested.send("GET", path)).body.data.map(({ id }: { id: number | string }) => id);
    expect(await names(tested, {})).toEqual(["A.example", "b.example", "m.example", "z.example"]);
    expect(await listed("/images")).toEqual(["private/12", "private/5", "private/7"]);
    const byId = ["/vpcs", "/vpcs/5/subnets", "/domains/1/records", "/support/tickets", "/support/tickets/5/replies"];
    for (const path of byId) expect([path, await listed(path)]).toEqual([path, [5, 7, 12]]);
    const { subnets: shown } = (await tested.send("GET", "/vpcs/5")).body;
    expect(shown.map(({ id }: { id: number }) => id)).toEqual([5, 7, 12]);
    await tested.send("DELETE", "/vpcs/7");
    const { body } = await tested.send("POST", "/vpcs", { label: "new", region: "us-east" });
    expect(await listed("/vpcs")).toEqual([5, 12, body.id]);
  },
);

const FILTERS: [string, unknown, number[]][] = [
  ["equality", { label: "beta" }, [2]],
  ["two keys", { label: "beta", region: "us-east" }, []],
  ["two keys that fit", { label: "beta", region: "eu-west" }, [2]],
  ["+or", { "+or": [{ label: "beta" }, { label: "gamma" }] }, [2, 3]],
  ["+or beside a key", { region: "us-east", "+or": [{ label: "beta" }, { label: "gamma" }] }, [3]],
  ["+and", { "+and": [{ id: { "+gt": 1 } }, { id: { "+lt": 4 } }] }, [2, 3]],
  ["nesting", { "+or": [{ "+and": [{ id: 1 }, { label: "alpha" }] }, { "+or": [{ id: 5 }, { id: 99 }] }] }, [1, 5]],
  ["+gte and +lte", { id: { "+gte": 2, "+lte": 3 } }, [2, 3]],
  ["+contains", { label: { "+contains": "eta" } }, [2]],
  ["+neq", { label: { "+neq": "beta" } }, [1, 3, 4, 5]],
  ["comparison of texts", { label: { "+gt": "beta" } }, [3, 4]],
  ["an order", { "+order_by": "label" }, [5, 1, 2, 4, 3]],
  ["a falling order", { "+order_by": "id", "+order": "desc" }, [5, 4, 3, 2, 1]],
  ["an order of what is left", { region: "us-east", "+order_by": "id", "+order": "desc" }, [5, 3, 1]],
  ["an empty +or", { "+or": [] }, []],
  ["nothing", {}, [1, 2, 3, 4, 5]],
];

test.each(FILTERS)("a filter by %s selects what it says", async (_name, filter, ids) => {
  const seeds = LABELS.map((label, index) => ({
    id: index + 1,
    label,
    region: index % 2 === 0 ? "us-east" : "eu-west",
  }));
  const { send } = await startTested({ seed: { vpcs: seeds } });
  const { status, body } = await send("GET", "/vpcs", undefined, { "x-filter": JSON.stringify(filter) });
  expect(status).toBe(200);
  expect([body.data.map(({ id }: { id: number }) => id), body.results]).toEqual([ids, ids.length]);
});

const BAD_FILTERS: [string, string][] = [
  ['{"foo":1}', "Cannot filter on foo"],
  ['{"description":"x"}', "Cannot filter on description"],
  ['{"+or":[{"foo":1}]}', "Cannot filter on foo"],
  ['{"+or":{}}', "+or must be an array of objects"],
  ['{"+and":["x"]}', "+and must be an array of objects"],
  ['{"label":{"+like":"x"}}', "Unknown operator +like"],
  ['{"label":[1]}', "Invalid value for label"],
  ['{"label":{"+gt":{}}}', "Invalid value for label"],
  ['{"+order_by":"label","+order":"down"}', "+order must be one of asc, desc"],
  ['{"+order_by":"foo"}', "Cannot order by foo"],
];

test.each(BAD_FILTERS)("the filter %s is refused", async (filter, reason) => {
  const { send } = await startTested({ seed: { vpcs: vpcs(1) } });
  const { status, body } = await send("GET", "/vpcs", undefined, { "x-filter": filter });
  expect([status, body.errors]).toEqual([400, [{ reason, field: "X-Filter" }]]);
});

assumption(
  "An X-Filter that is no JSON is `Invalid JSON`, one that is no object `Must be a JSON object`.",
  async () => {
    const tested = await startTested({ seed: SEED });
    for (const [reason, ...filters] of [
      ["Invalid JSON", "{", "text"],
      ["Must be a JSON object", "[]", "null"],
    ] as const) {
      for (const filter of filters) {
        const { status, body } = await find(tested, "/vpcs", filter);
        expect([filter, status, body.errors]).toEqual([filter, 400, [{ reason, field: "X-Filter" }]]);
      }
    }
  },
);

assumption("Filters nest 32 levels deep and no deeper.", async () => {
  const tested = await startTested({ seed: SEED });
  const nested = (levels: number): string => `${'{"+and":['.repeat(levels)}{"label":"a"}${"]}".repeat(levels)}`;
  expect((await find(tested, "/vpcs", nested(32))).body.results).toBe(1);
  const { status, body } = await find(tested, "/vpcs", nested(33));
  expect([status, body.errors]).toEqual([400, [{ reason: "Filter is nested too deeply", field: "X-Filter" }]]);
});

assumption("In filters letter case matters, except for a domain's name and tags.", async () => {
  const tested = await startTested({ seed: SEED });
  expect(await names(tested, { domain: "a.EXAMPLE" })).toEqual(["A.example"]);
  expect(await names(tested, { domain: { "+contains": "a.EX" } })).toEqual(["A.example"]);
  expect(await names(tested, { tags: "WEB" })).toHaveLength(3);
  expect((await find(tested, "/vpcs", { label: "A" })).body.results).toBe(0);
});

assumption("In filters a number does not equal its text.", async () => {
  const tested = await startTested({ seed: { vpcs: [{ id: 7, label: "a", region: "us-east" }] } });
  expect((await find(tested, "/vpcs", { id: 7 })).body.results).toBe(1);
  expect((await find(tested, "/vpcs", { id: "7" })).body.results).toBe(0);
});

assumption("`+contains` on tags looks at each tag, and `+neq` finds what has no such tag.", async () => {
  const tested = await startTested({ seed: SEED });
  expect(await names(tested, { tags: { "+contains": "eb" } })).toHaveLength(3);
  expect(await names(tested, { tags: { "+neq": "z-tag" } })).toEqual(["A.example", "m.example"]);
  expect(await names(tested, { tags: { "+neq": "Z-TAG" } })).toEqual(["A.example", "m.example"]);
});

assumption(
  "`+order_by` takes the filterable fields, the columns of the web client and what clients were seen to order domains by, in the outermost object only.",
  async () => {
    const tested = await startTested({ seed: SEED });
    expect(await names(tested, { "+order_by": "domain", "+order": "desc" })).toEqual([
      "z.example",
      "m.example",
      "A.example",
    ]);
    expect((await find(tested, "/domains", { "+order_by": "retry_sec" })).status).toBe(400);
    for (const operator of ["+and", "+or"]) {
      const { status, body } = await find(tested, "/domains", { [operator]: [{ "+order_by": "domain" }] });
      expect([status, body.errors]).toEqual([400, [{ reason: "Cannot filter on +order_by", field: "X-Filter" }]]);
    }
  },
);

test("`+order` without `+order_by` does nothing, and is no error", async () => {
  const domains = ["b.test", "a.test"].map((domain) => ({ domain }));
  const { send } = await startTested({ seed: { domains } });
  for (const filter of ['{"+and":[],"+order":"asc"}', '{"+order":"desc"}']) {
    const { status, body } = await send("GET", "/domains", undefined, { "x-filter": filter });
    expect([status, body.data?.map(({ domain }: { domain: string }) => domain)]).toEqual([200, ["a.test", "b.test"]]);
  }
  expect((await send("GET", "/domains", undefined, { "x-filter": '{"+order":"up"}' })).status).toBe(400);
});

test("domains can be ordered by created, id, soa_email, ttl_sec and description", async () => {
  let now = Date.UTC(2026, 0, 1);
  const { send } = await startTested({ now: () => now });
  const made = [
    { domain: "m.test", soa_email: "b@m.test", ttl_sec: 300, description: "z" },
    { domain: "a.test", soa_email: "c@m.test", ttl_sec: 86_400, description: "y" },
    { domain: "z.test", soa_email: "a@m.test", ttl_sec: 3_600, description: "x" },
  ];
  for (const domain of made) {
    expect((await send("POST", "/domains", { type: "master", ...domain })).status).toBe(200);
    now += 60_000;
  }
  const ordered = async (by: string, order: string): Promise<unknown> => {
    const filter = JSON.stringify({ "+order_by": by, "+order": order });
    const { body } = await send("GET", "/domains", undefined, { "x-filter": filter });
    return body.errors ?? body.data.map(({ domain }: { domain: string }) => domain.slice(0, 1)).join("");
  };
  for (const [by, ascending] of [
    ["created", "maz"],
    ["id", "maz"],
    ["soa_email", "zma"],
    ["ttl_sec", "mza"],
    ["description", "zam"],
  ] as const) {
    expect([by, await ordered(by, "asc")]).toEqual([by, ascending]);
    expect([by, await ordered(by, "desc")]).toEqual([by, [...ascending].reverse().join("")]);
  }
});

test("domains are found by their group, records by each of their fields, but not by the name *", async () => {
  const records = [
    { type: "A" as const, name: "*", target: "192.0.2.1" },
    { type: "CAA" as const, tag: "issue", target: "a.test" },
  ];
  const domains = [
    { id: 1, domain: "example.com", group: "g" },
    { id: 2, domain: "b.test", records },
  ];
  const { send } = await startTested({ seed: { domains } });
  const count = async (path: string, filter: unknown): Promise<number> =>
    (await send("GET", path, undefined, { "x-filter": JSON.stringify(filter) })).body.results;
  expect(await count("/domains", { group: "g" })).toBe(1);
  expect(await count("/domains/2/records", { type: "A" })).toBe(1);
  expect(await count("/domains/2/records", { name: "*" })).toBe(0);
  expect(await count("/domains/2/records", { name: { "+contains": "*" } })).toBe(0);
  expect(await count("/domains/2/records", { tag: "issue" })).toBe(1);
  expect(await count("/domains/2/records", { target: { "+contains": "192" } })).toBe(1);
});

test("a filter and pages work together", async () => {
  const { send } = await startTested({ seed: { vpcs: vpcs(230) } });
  const filter = { "x-filter": '{"id":{"+gt":100},"+order_by":"id","+order":"desc"}' };
  const { body } = await send("GET", "/vpcs?page=2&page_size=100", undefined, filter);
  expect([body.pages, body.results, body.data.length, body.data[0].id]).toEqual([2, 130, 30, 130]);
});

assumption("An X-Filter is UTF-8, or Latin-1 if it cannot be UTF-8.", async () => {
  const { send } = await startTested({ seed: { images: ["Größe 漢", "GrÃ¶Ãe"].map((label) => ({ label })) } });
  // As Node sends a header: one octet a character.
  const labels = async (filter: Buffer): Promise<string[]> =>
    (await send("GET", "/images", undefined, { "x-filter": filter.toString("latin1") })).body.data.map(
      ({ label }: { label: string }) => label,
    );
  expect(await labels(Buffer.from('{"label":"Größe 漢"}', "utf8"))).toEqual(["Größe 漢"]);
  expect(await labels(Buffer.from('{"label":{"+contains":"röß"}}', "utf8"))).toEqual(["Größe 漢"]);
  expect(await labels(Buffer.from('{"label":{"+contains":"röß"}}', "latin1"))).toEqual(["Größe 漢"]);
  expect(await labels(Buffer.from('{"label":"Gr\\u00f6\\u00dfe 漢"}', "utf8"))).toEqual(["Größe 漢"]);
});
