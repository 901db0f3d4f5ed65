/** Queries, filters and ids of every wrong shape, on every route. */

import { expect, onTestFinished, test } from "vitest";
import { startEmulator } from "../../src/emulator/index.ts";
import { API_ROUTES } from "../../src/emulator/routes.ts";
import type { Tested } from "../support/emulator.ts";
import { tested } from "../support/emulator.ts";
import { answersIn, exchange, expectError } from "../support/raw-http.ts";
import { bodyOf, IDS, pathOf, seedOf, shown } from "./hostile-world.ts";

async function start(): Promise<Tested> {
  const emulator = await startEmulator({ seed: seedOf("mine", 0), now: () => 1_700_000_000_000 });
  onTestFinished(() => emulator.close());
  return tested(emulator);
}

const TOKEN = { authorization: "Bearer mine-token" };
const LISTS = [
  "/vpcs",
  "/vpcs/1/subnets",
  "/vpcs/ips",
  "/vpcs/1/ips",
  "/domains",
  "/domains/3/records",
  "/images",
  "/support/tickets",
  "/support/tickets/7/replies",
];

const BAD_QUERIES = [
  ...["page_size=0", "page_size=-1", "page_size=10000", "page_size=1e3", "page_size=NaN", "page_size=%2025"],
  ...["page_size=25.0", "page_size=0x19", "page_size=", "page_size=%00", "page_size=%D9%A2%D9%A5", "page=0", "page=-1"],
  ...["page=99999999999999999999", "page=1e0", "page=Infinity", "page=%ff", "page=[object]", "page=true"],
];

test("pages that are none are refused on every list", async () => {
  const { send } = await start();
  for (const path of LISTS) {
    for (const query of BAD_QUERIES) {
      const { status, body } = await send("GET", `${path}?${query}`, undefined, TOKEN);
      expect([path, query, status, body.errors?.[0].field]).toEqual([path, query, 400, query.split("=")[0]]);
    }
    expect((await send("GET", `${path}?page=999999999999999`, undefined, TOKEN)).status).toBe(404);
    expect((await send("GET", `${path}?page=1&page=0&x=1&__proto__=1`, undefined, TOKEN)).status).toBe(200);
  }
});

/** So that the header is still short enough. */
const DEEP = 2_000;
const BAD_FILTERS = [
  ...["[]", "null", "1", '"x"', "{", "nonsense", '{"label":"\xff"', '{"__proto__":"x"}', '{"constructor":{"+gt":1}}'],
  ...['{"prototype":1}', '{"hasOwnProperty":1}', '{"+order_by":"__proto__"}', '{"+order_by":{}}', '{"+order":"up"}'],
  ...['{"+and":{}}', '{"+or":[1]}', '{"+and":[{"__proto__":{"+or":[]}}]}', '{"+nonsense":1}'],
  `${'{"+and":['.repeat(DEEP)}{}${"]}".repeat(DEEP)}`,
  `{"+order_by":${"[".repeat(DEEP * 5)}${"]".repeat(DEEP * 5)}}`,
  `${"[".repeat(DEEP * 5)}${"]".repeat(DEEP * 5)}`,
];

test("filters that are none are refused on every list, with nothing but errors", async () => {
  const { emulator } = await start();
  for (const path of LISTS) {
    for (const filter of [...BAD_FILTERS, '{"x":1}\r\nx-filter: {"y":1}']) {
      const head = `GET /v4${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer mine-token\r\nconnection: close\r\n`;
      const { text } = await exchange(emulator.port, Buffer.from(`${head}x-filter: ${filter}\r\n\r\n`, "latin1"));
      const [answer] = answersIn(text);
      expect(answer, filter.slice(0, 40)).toBeDefined();
      if (answer === undefined) continue;
      expect([path, filter.slice(0, 40), answer.status]).toEqual([path, filter.slice(0, 40), 400]);
      expectError(answer, [400]);
    }
  }
});

test("a filter with half a surrogate finds nothing", async () => {
  const { send } = await start();
  const { status, body } = await send("GET", "/vpcs", undefined, { ...TOKEN, "x-filter": '{"label":"\\ud800"}' });
  expect([status, body.results]).toEqual([200, 0]);
});

const NO_IDS = [
  ...["0", "-1", "1.5", "1e0", "01", "+1", "0x1", "9007199254740993", "99999999999999999999", "%2e%2e", "%00", "1%00"],
  ...["%D9%A1", "%EF%BC%91", "%20", "1%20", "__proto__", "constructor", "NaN", "null", "1%2F2", "1;2", "%F0%9F%98%80"],
];

test("ids that are none are not found, on every route and in every place", async () => {
  const run = await start();
  const before = await shown(run, "mine-token");
  for (const route of API_ROUTES) {
    const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
    for (const name of names) {
      for (const id of NO_IDS) {
        const body = route.method === "GET" || route.method === "DELETE" || route.body ? undefined : bodyOf(route);
        const path = pathOf(route, { ...IDS, [name]: id });
        // What is sent must be what the server sees, so that `%2e%2e` is not taken away before.
        const text = body === undefined ? "" : JSON.stringify(body);
        const lines =
          "host: localhost\r\nauthorization: Bearer mine-token\r\nconnection: close\r\ncontent-type: application/json";
        const head = `${route.method} /v4${path} HTTP/1.1\r\n${lines}\r\ncontent-length: ${Buffer.byteLength(text)}`;
        const [answer] = answersIn((await exchange(run.emulator.port, `${head}\r\n\r\n${text}`)).text);
        expect([route.method, path, answer?.status]).toEqual([route.method, path, route.body ? 400 : 404]);
        if (answer !== undefined) expectError(answer, [400, 404]);
      }
    }
  }
  expect(await shown(run, "mine-token")).toEqual(before);
});
