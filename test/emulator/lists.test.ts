/** Lists: pages and the X-Filter header. */

import { expect, test } from "vitest";
import { startTested } from "../support/emulator.ts";

const LABELS = ["alpha", "beta", "gamma", "delta", "Alphabet"];

function vpcs(count: number): { id: number; label: string; region: string }[] {
  return Array.from({ length: count }, (_, index) => ({ id: index + 1, label: `vpc-${index + 1}`, region: "us-east" }));
}

test("a list is split into pages of 100, or of what is asked for", async () => {
  const { send } = await startTested({ seed: { vpcs: vpcs(230) } });
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
});

test("an empty list has one page, that of images none", async () => {
  const { send } = await startTested();
  for (const path of ["/vpcs", "/domains", "/vpcs/ips"]) {
    expect((await send("GET", path)).body).toEqual({ data: [], page: 1, pages: 1, results: 0 });
  }
  expect((await send("GET", "/images")).body).toEqual({ data: [], page: 0, pages: 0, results: 0 });
});

const BAD_QUERIES: [string, string][] = [
  ["page=0", "page"],
  ["page=-1", "page"],
  ["page=x", "page"],
  ["page=1.5", "page"],
  ["page=", "page"],
  ["page_size=24", "page_size"],
  ["page_size=501", "page_size"],
  ["page_size=1e2", "page_size"],
];

test.each(BAD_QUERIES)("a list with %s is refused", async (query, field) => {
  const { send } = await startTested();
  const { status, body } = await send("GET", `/vpcs?${query}`);
  expect([status, body.errors.length, body.errors[0].field]).toEqual([400, 1, field]);
});

const FILTERS: [string, unknown, number[]][] = [
  ["equality", { label: "beta" }, [2]],
  ["letter case", { label: "Beta" }, []],
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
  ["another type", { id: "1" }, []],
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
  ["{", "Invalid JSON"],
  ["text", "Invalid JSON"],
  ["[]", "Must be a JSON object"],
  ["null", "Must be a JSON object"],
  ['{"+or":{}}', "+or must be an array of objects"],
  ['{"+and":["x"]}', "+and must be an array of objects"],
  ['{"label":{"+like":"x"}}', "Unknown operator +like"],
  ['{"label":[1]}', "Invalid value for label"],
  ['{"label":{"+gt":{}}}', "Invalid value for label"],
  ['{"+order_by":"label","+order":"down"}', "+order must be one of asc, desc"],
  ['{"+order_by":"foo"}', "Cannot order by foo"],
  ['{"+or":[{"+order_by":"id"}]}', "Cannot filter on +order_by"],
  [`${'{"+and":['.repeat(40)}{}${"]}".repeat(40)}`, "Filter is nested too deeply"],
];

test.each(BAD_FILTERS)("the filter %s is refused", async (filter, reason) => {
  const { send } = await startTested({ seed: { vpcs: vpcs(1) } });
  const { status, body } = await send("GET", "/vpcs", undefined, { "x-filter": filter });
  expect([status, body.errors]).toEqual([400, [{ reason, field: "X-Filter" }]]);
});

test("domains are found by name and tag in any letters, records not by the name *", async () => {
  const records = [
    { type: "A" as const, name: "*", target: "192.0.2.1" },
    { type: "CAA" as const, tag: "issue", target: "a.test" },
  ];
  const domains = [
    { id: 1, domain: "Example.com", tags: ["One", "two"], group: "g" },
    { id: 2, domain: "b.test", records },
  ];
  const { send } = await startTested({ seed: { domains } });
  const count = async (path: string, filter: unknown): Promise<number> =>
    (await send("GET", path, undefined, { "x-filter": JSON.stringify(filter) })).body.results;
  expect(await count("/domains", { domain: "example.COM" })).toBe(1);
  expect(await count("/domains", { domain: { "+contains": "EXAMPLE" } })).toBe(1);
  expect(await count("/domains", { tags: "one" })).toBe(1);
  expect(await count("/domains", { tags: { "+neq": "one" } })).toBe(1);
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
