import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/resource.ts";
import { error, failureOf, html, json, open, type Received, type Script, serve } from "./scripted.ts";

const items = (count: number): JsonObject[] => Array.from({ length: count }, (_, index) => ({ id: index + 1 }));
const RECORDS = { path: ["domains", "1", "records"] };

const asked = (request: Received): { page: number; size: number } => {
  const query = new URL(request.url, "http://x").searchParams;
  return { page: Number(query.get("page")), size: Number(query.get("page_size")) };
};

/** Serves what `all` returns at the time, page by page. */
function paged(all: (request: Received) => readonly JsonObject[]): Script {
  return (request, response) => {
    const { page, size } = asked(request);
    const list = all(request);
    const pages = Math.max(1, Math.ceil(list.length / size));
    json(response, 200, { data: list.slice((page - 1) * size, page * size), page, pages, results: list.length });
  };
}

describe("a list", () => {
  it("of 12,000 records takes 24 requests and keeps its order", async () => {
    const all = items(12_000);
    const server = await serve(paged(() => all));
    const { api } = await open(server.baseUrl);
    expect(await api.list(RECORDS)).toEqual({ ok: true, items: all, total: 12_000, pages: 24 });
    expect(server.requests).toHaveLength(24);
  });

  it("ends where all lists together are longer than they may be, each as it was read last", async () => {
    const server = await serve(paged(() => items(1_000)));
    const one = JSON.stringify(items(1_000)).length;
    const { api } = await open(server.baseUrl, { maxListCharacters: 2.5 * one });
    const other = { path: ["domains", "2", "records"] };
    for (const request of [RECORDS, RECORDS, RECORDS, other, RECORDS]) {
      expect(await api.list(request)).toMatchObject({ ok: true, total: 1_000 });
    }
    const third = await api.list({ path: ["domains", "3", "records"] });
    expect(failureOf(third)).toMatchObject({
      type: "malformed",
      message: expect.stringMatching(/^\/domains\/3\/records: the lists of this account are longer than .* altogether/),
      exceeds: "lists",
    });
    // Some callers go on without a list: no further one is asked for.
    const sent = server.requests.length;
    for (const id of ["4", "5", "6"]) {
      const more = await api.list({ path: ["domains", id, "records"] });
      expect(failureOf(more)).toMatchObject({ type: "malformed", exceeds: "lists" });
    }
    expect(server.requests).toHaveLength(sent);
  });

  it("sends its filter with every page", async () => {
    const server = await serve(paged(() => items(1_100)));
    const { api } = await open(server.baseUrl);
    await api.list({ ...RECORDS, filter: { type: "A" } });
    expect(server.requests.map((request) => request.headers["x-filter"])).toEqual(Array(3).fill('{"type":"A"}'));
  });

  it("tells when the service answered, by the Date of its first page", async () => {
    const dates = ["Sun, 01 Mar 2026 10:00:00 GMT", "Sun, 01 Mar 2026 10:05:00 GMT"];
    const server = await serve((request, response) => {
      const { page, size } = asked(request);
      const data = items(600).slice((page - 1) * size, page * size);
      json(response, 200, { data, page, pages: 2, results: 600 }, { date: dates[page - 1] ?? "" });
    });
    const { api } = await open(server.baseUrl);
    expect(await api.list(RECORDS)).toMatchObject({ total: 600, servedMilliseconds: Date.UTC(2026, 2, 1, 10) });
    const undated = await serve((_, response) =>
      json(response, 200, { data: [], page: 1, pages: 1, results: 0 }, { date: "yesterday" }),
    );
    const other = await open(undated.baseUrl);
    expect(await other.api.list(RECORDS)).toEqual({ ok: true, items: [], total: 0 });
  });

  it.each([
    ["a page without items", { data: [], page: 1, pages: 1, results: 0 }],
    ["page 0 of 0, as images answer", { data: [], page: 0, pages: 0, results: 0 }],
  ])("that is empty is %s", async (_name, body) => {
    const server = await serve((_request, response) => json(response, 200, body));
    const { api } = await open(server.baseUrl);
    expect(await api.list({ path: ["images"] })).toEqual({ ok: true, items: [], total: 0 });
    expect(server.requests).toHaveLength(1);
  });

  it("falls back to 100 items a page where 500 is refused, and remembers", async () => {
    const serveAll = paged(() => items(250));
    const server = await serve((request, response, socket) => {
      if (asked(request).size > 100) return error(response, 400, "Must be 25-100", "page_size");
      serveAll(request, response, socket);
    });
    const { api } = await open(server.baseUrl);
    expect(await api.list(RECORDS)).toEqual({ ok: true, items: items(250), total: 250, pages: 3 });
    expect(server.requests).toHaveLength(4);
    await api.list(RECORDS);
    expect(server.requests.map((request) => asked(request).size)).toEqual([500, 100, 100, 100, 100, 100, 100]);
  });

  it("does not blame the size for another refusal", async () => {
    const server = await serve((_request, response) => error(response, 400, "Cannot filter on foo", "X-Filter"));
    const { api } = await open(server.baseUrl);
    expect(failureOf(await api.list({ ...RECORDS, filter: { foo: 1 } }))).toMatchObject({
      type: "refused",
      status: 400,
    });
    expect(server.requests).toHaveLength(1);
  });

  it("of entries without ids keeps equal ones", async () => {
    const server = await serve(paged(() => Array.from({ length: 600 }, () => ({ address: "10.0.0.2" }))));
    const { api } = await open(server.baseUrl);
    expect(await api.list({ path: ["vpcs", "ips"] })).toMatchObject({ ok: true, total: 600 });
  });

  it("of thirty thousand pages' worth is refused, not read", async () => {
    const server = await serve((_request, response) =>
      json(response, 200, { data: [], page: 1, pages: 1e9, results: 1e12 }),
    );
    const { api } = await open(server.baseUrl);
    expect(failureOf(await api.list(RECORDS))).toMatchObject({ type: "malformed" });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ["no object", []],
    ["no data", { page: 1, pages: 1, results: 0 }],
    ["data that is no list", { data: {}, page: 1, pages: 1, results: 0 }],
    ["an item that is no object", { data: [7], page: 1, pages: 1, results: 1 }],
    ["counts that are text", { data: [], page: "1", pages: 1, results: 0 }],
    ["another page", { data: [{ id: 1 }], page: 2, pages: 2, results: 2 }],
    ["more pages than objects", { data: [], page: 1, pages: 9_999, results: 0 }],
  ])("with %s is malformed and says where", async (_name, body) => {
    const server = await serve((_request, response) => json(response, 200, body));
    const { api } = await open(server.baseUrl);
    const failure = failureOf(await api.list(RECORDS));
    expect(failure).toMatchObject({ type: "malformed", effect: "none" });
    expect(failure.message).toContain("/domains/1/records");
  });

  it("whose third page fails fails as a whole, at once", async () => {
    const serveAll = paged(() => items(12_000));
    const server = await serve((request, response, socket) => {
      if (asked(request).page === 3) return error(response, 403, "Unauthorized");
      serveAll(request, response, socket);
    });
    const { api } = await open(server.baseUrl);
    expect(failureOf(await api.list(RECORDS))).toMatchObject({ type: "refused", status: 403 });
    expect(server.requests.length).toBeLessThan(24);
  });

  it("that is given up after its first page asks for no other", async () => {
    const controller = new AbortController();
    const server = await serve(paged(() => items(12_000)));
    const { api } = await open(server.baseUrl, {
      observe: (event) => {
        if (event.type === "answered") controller.abort();
      },
    });
    expect(failureOf(await api.list(RECORDS, controller.signal))).toMatchObject({ type: "aborted", effect: "none" });
    expect(server.requests).toHaveLength(1);
  });

  it("meets a 429 and a 502 in the middle and is whole all the same", async () => {
    const serveAll = paged(() => items(3_000));
    const server = await serve((request, response, socket) => {
      if (request.number === 3) return html(response, 429);
      if (request.number === 5) return html(response, 502);
      serveAll(request, response, socket);
    });
    const { api } = await open(server.baseUrl);
    expect(await api.list(RECORDS)).toEqual({ ok: true, items: items(3_000), total: 3_000, pages: 6 });
    expect(server.requests).toHaveLength(8);
  });

  it("warns of no leak with a hundred pages in flight", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on("warning", note);
    const server = await serve(paged(() => items(10_000)));
    const { api } = await open(server.baseUrl, { pageSize: 100, concurrency: 64 });
    const controller = new AbortController();
    expect(await api.list(RECORDS, controller.signal)).toMatchObject({ ok: true, total: 10_000 });
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", note);
    expect(warnings).toEqual([]);
  });
});

describe("a list that changes while it is read", () => {
  it("is read again, until it is whole", async () => {
    // An item goes after the first page was read: what was first on page 2 slips onto page 1.
    const all = items(1_200);
    const server = await serve(paged((request) => (request.number === 1 ? all : all.slice(1))));
    const { api, clock } = await open(server.baseUrl);
    expect(await api.list(RECORDS)).toEqual({ ok: true, items: all.slice(1), total: 1_199, pages: 3 });
    expect(clock.slept).toContain(500);
  });

  it("is noticed even if the count stays the same", async () => {
    const all = items(1_000);
    const moved = [{ id: 5_000 }, ...all.slice(0, -1)];
    const server = await serve(paged((request) => (request.number === 1 ? all : moved)));
    const { api } = await open(server.baseUrl);
    expect(await api.list(RECORDS)).toEqual({ ok: true, items: moved, total: 1_000, pages: 2 });
  });

  it("is noticed when its last page is gone", async () => {
    const serveAll = paged((request) => items(request.number === 1 ? 501 : 500));
    const server = await serve((request, response, socket) => {
      if (request.number === 2) return error(response, 404, "Not found");
      serveAll(request, response, socket);
    });
    const { api } = await open(server.baseUrl);
    expect(await api.list(RECORDS)).toMatchObject({ ok: true, total: 500 });
  });

  it("for ever ends in a failure that says so, after three reads", async () => {
    const server = await serve(paged((request) => items(600 + request.number)));
    const { api } = await open(server.baseUrl);
    const failure = failureOf(await api.list(RECORDS));
    expect(failure).toMatchObject({ type: "unavailable", effect: "none" });
    expect(failure.message).toBe("the list /domains/1/records kept changing while it was read (3 times)");
    expect(server.requests).toHaveLength(6);
  });
});
