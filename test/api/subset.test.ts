import { describe, expect, it } from "vitest";
import { filterHeader, MAX_FILTER_BYTES, subsetFilters } from "../../src/api/lists.ts";
import type { JsonObject } from "../../src/model/resource.ts";
import { error, json, open, type Received, type Script, serve } from "./scripted.ts";

const zones = (count: number): JsonObject[] =>
  Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    domain: `zone-${index + 1}.example`,
    group: index % 2 ? "a" : "b",
  }));

type Condition = Record<string, unknown>;

function matches(item: JsonObject, condition: Condition): boolean {
  return Object.entries(condition).every(([key, value]) => {
    if (key === "+and") return (value as Condition[]).every((one) => matches(item, one));
    if (key === "+or") return (value as Condition[]).some((one) => matches(item, one));
    return item[key] === value;
  });
}

/** A service that filters letter by letter. */
function filtering(all: readonly JsonObject[]): Script {
  return (request, response) => {
    const query = new URL(request.url, "http://x").searchParams;
    const [page, size] = [Number(query.get("page")), Number(query.get("page_size"))];
    const list = all.filter((item) => matches(item, JSON.parse(String(request.headers["x-filter"] ?? "{}"))));
    const pages = Math.max(1, Math.ceil(list.length / size));
    json(response, 200, { data: list.slice((page - 1) * size, page * size), page, pages, results: list.length });
  };
}

const filtered = (requests: readonly Received[]): number => requests.filter((one) => one.headers["x-filter"]).length;
const names = (answer: unknown): unknown[] => (answer as { items: JsonObject[] }).items.map((item) => item["domain"]);

describe("the few wanted of many", () => {
  const subsetOf = (...values: string[]) => ({ path: ["domains"], subset: { field: "domain", values } });

  it("are asked for by name instead of reading every page", async () => {
    const server = await serve(filtering(zones(3_000)));
    const { api } = await open(server.baseUrl);
    const answer = await api.list(subsetOf("zone-2999.example", "zone-7.example"));
    expect(answer).toMatchObject({ ok: true, total: 3_000 });
    expect(names(answer)).toContain("zone-2999.example");
    expect(names(answer)).toContain("zone-7.example");
    expect(server.requests).toHaveLength(2);
    expect(filtered(server.requests)).toBe(1);
  });

  it("are asked for at once if the list is known to be long", async () => {
    const server = await serve(filtering(zones(3_000)));
    const { api } = await open(server.baseUrl);
    const known = (atLeast: number, ...values: string[]) => ({
      path: ["domains"],
      subset: { field: "domain", values, atLeast },
    });
    const answer = await api.list(known(3_000, "zone-2999.example", "zone-7.example"));
    expect(answer).toMatchObject({ ok: true, total: 2 });
    expect(names(answer)).toEqual(["zone-7.example", "zone-2999.example"]);
    expect(server.requests).toHaveLength(1);
    // One request at most is no more than the first page.
    expect(await api.list(known(1, "zone-7.example"))).toMatchObject({ ok: true, total: 1 });
    expect(server.requests).toHaveLength(2);
    // What takes more filters than so many objects have pages is decided by the first page, as ever.
    const many = Array.from({ length: 900 }, (_, index) => `zone-${index + 1}.example`);
    expect(await api.list(known(900, ...many))).toMatchObject({ ok: true, total: 3_000 });
    expect(server.requests[2]?.headers["x-filter"]).toBeUndefined();
  });

  it("are looked for on every page if a filter that was asked at once does not find one, or is refused", async () => {
    const all = zones(1_200).map((zone) => (zone["id"] === 999 ? { ...zone, domain: "Zone-999.Example" } : zone));
    const subset = { field: "domain", values: ["zone-999.example"], atLeast: 1_200 };
    const server = await serve(filtering(all));
    const { api } = await open(server.baseUrl);
    expect(await api.list({ path: ["domains"], subset })).toMatchObject({ ok: true, items: all, pages: 3 });
    const refusing: Script = (request, response, index) => {
      if (request.headers["x-filter"]) error(response, 400, "Cannot filter on domain");
      else filtering(all)(request, response, index);
    };
    const strict = await serve(refusing);
    const opened = await open(strict.baseUrl);
    expect(await opened.api.list({ path: ["domains"], subset })).toMatchObject({ ok: true, items: all, pages: 3 });
  });

  it("take one request if the first page has them", async () => {
    const server = await serve(filtering(zones(3_000)));
    const { api } = await open(server.baseUrl);
    expect(await api.list(subsetOf("zone-7.example", "ZONE-8.example"))).toMatchObject({ ok: true, total: 3_000 });
    expect(await api.list(subsetOf())).toMatchObject({ ok: true, total: 3_000 });
    expect(server.requests).toHaveLength(2);
  });

  it("are looked for on every page if one is not found by name: the filter may compare letter by letter", async () => {
    const all = zones(3_000).map((zone) => (zone["id"] === 2_999 ? { ...zone, domain: "Zone-2999.Example" } : zone));
    const server = await serve(filtering(all));
    const { api } = await open(server.baseUrl);
    expect(await api.list(subsetOf("zone-2999.example"))).toEqual({ ok: true, items: all, total: 3_000, pages: 6 });
    expect(server.requests).toHaveLength(7);
  });

  it("are read with all others where asking takes as many requests", async () => {
    const server = await serve(filtering(zones(1_000)));
    const { api } = await open(server.baseUrl);
    expect(await api.list(subsetOf("zone-999.example"))).toMatchObject({ ok: true, total: 1_000 });
    expect(filtered(server.requests)).toBe(0);
    expect(server.requests).toHaveLength(2);
  });

  it("are not asked for any more once the token is refused", async () => {
    const server = await serve((request, response, socket) => {
      if (request.number > 2) return error(response, 401, "Invalid Token");
      filtering(zones(40_000))(request, response, socket);
    });
    const { api } = await open(server.baseUrl, { pageSize: 100 });
    const values = Array.from({ length: 3_000 }, (_, index) => `zone-${10 * (index + 11)}.example`);
    expect(await api.list(subsetOf(...values))).toMatchObject({ ok: false, failure: { status: 401 } });
    expect(server.requests.length).toBeLessThanOrEqual(2 + 8);
  });

  it("in their hundreds are asked for in headers of bounded size", async () => {
    const server = await serve(filtering(zones(6_000)));
    const { api } = await open(server.baseUrl, { pageSize: 100 });
    const values = Array.from({ length: 300 }, (_, index) => `zone-${20 * (index + 1)}.example`);
    const answer = await api.list(subsetOf(...values));
    expect(answer).toMatchObject({ ok: true, total: 6_000 });
    const found = new Set(names(answer));
    expect(values.every((value) => found.has(value))).toBe(true);
    expect(found.size).toBe((answer as unknown as { items: unknown[] }).items.length);
    expect(server.requests.length).toBeLessThan(8);
    for (const { headers } of server.requests)
      expect(String(headers["x-filter"] ?? "").length).toBeLessThanOrEqual(MAX_FILTER_BYTES);
  });

  it("keep the filter of the list", async () => {
    const server = await serve(filtering(zones(6_000)));
    const { api } = await open(server.baseUrl);
    const answer = await api.list({ ...subsetOf("zone-5999.example"), filter: { group: "b" } });
    expect(answer).toMatchObject({ ok: true, total: 3_000 });
    const filter = '{"+and":[{"group":"b"},{"+or":[{"domain":"zone-5999.example"}]}]}';
    expect(server.requests.map((request) => request.headers["x-filter"])).toEqual(['{"group":"b"}', filter]);
  });

  it("by a label that repeats are all found, not just those on the first page", async () => {
    const vpcs = Array.from({ length: 3_000 }, (_, index) => ({
      id: index + 1,
      label: index % 2_000 === 5 ? "prod" : `v${index}`,
    }));
    const server = await serve(filtering(vpcs));
    const { api } = await open(server.baseUrl);
    const answer = await api.list({ path: ["vpcs"], subset: { field: "label", values: ["prod"] } });
    if (!answer.ok) throw new Error("not read");
    expect(answer.items.filter((item) => item["label"] === "prod")).toHaveLength(2);
    expect(server.requests).toHaveLength(2);
  });

  it("are read page by page where the service does not filter on the field", async () => {
    const serveAll = filtering(zones(3_000));
    const server = await serve((request, response, socket) => {
      if (request.headers["x-filter"]) return error(response, 400, "Cannot filter on domain", "X-Filter");
      serveAll(request, response, socket);
    });
    const { api } = await open(server.baseUrl);
    expect(await api.list(subsetOf("zone-2999.example"))).toEqual({
      ok: true,
      items: zones(3_000),
      total: 3_000,
      pages: 6,
    });
  });
});

describe("a filter", () => {
  it("is printable ASCII that reads back as the same", () => {
    const filter = { label: 'a"\\\n\u007f é 𝄞 \ud800' };
    expect(filterHeader(filter)).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(filterHeader(filter))).toEqual(filter);
  });

  it("counts the bytes that are sent, escapes included", () => {
    const values = Array.from({ length: 300 }, (_, index) => `é${"ü".repeat(40)}${index}`);
    const filters = subsetFilters({ field: "label", values }, { type: "manual" });
    for (const filter of filters) expect(filterHeader(filter).length).toBeLessThanOrEqual(MAX_FILTER_BYTES);
    const asked = filters.flatMap((filter) => JSON.stringify(filter).match(/"label"/g) ?? []);
    expect(asked).toHaveLength(300);
  });

  it("asks for a value once, and for a huge one alone", () => {
    const filters = subsetFilters({ field: "label", values: ["a", "a", "x".repeat(5_000), "b"] }, undefined);
    expect(filters).toEqual([
      { "+or": [{ label: "a" }] },
      { "+or": [{ label: "x".repeat(5_000) }] },
      { "+or": [{ label: "b" }] },
    ]);
  });
});
