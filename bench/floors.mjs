/** The least that a measured command could do, each as a process of its own: `node bench/floors.mjs NAME ARGUMENTS...`. */

import { readFileSync, writeFileSync } from "node:fs";

const CONCURRENCY = 8;
const PAGE_SIZE = 500;
const TOKEN = { authorization: "Bearer emulator-token" };

const floors = {
  /** Manifests as documents with positions, one after another; none is kept. */
  "parse-document": async (...files) => {
    const { parseDocument } = await import("yaml");
    for (const file of files) parseDocument(readFileSync(file, "utf8"));
  },
  /** The lists that a plan needs, and the manifest by the fastest parser that keeps positions. */
  reads,
  creates: async (baseUrl, id, count) => {
    const send = await opened(baseUrl);
    await inTurns(numbers(count), (index) =>
      send("POST", `/domains/${id}/records`, { type: "A", name: `host-${index}`, target: "192.0.2.1", ttl_sec: 300 }),
    );
  },
  changes: async (baseUrl, id, count) => {
    const send = await opened(baseUrl);
    const records = await listed(send, `/domains/${id}/records`);
    await inTurns(records.slice(0, Number(count)).values(), (record) =>
      send("PUT", `/domains/${id}/records/${record.id}`, { target: "192.0.2.2" }),
    );
  },
  deletes: async (baseUrl, id) => {
    const send = await opened(baseUrl);
    const records = await listed(send, `/domains/${id}/records`);
    await inTurns(records.values(), (record) => send("DELETE", `/domains/${id}/records/${record.id}`));
  },
  /** A saved plan into memory and out again: JSON.parse, JSON.stringify, and the file written. */
  "write-json": writeJson,
  /** All that a plan must do beside deciding: `reads`, and the plan written. */
  "reads-and-write-json": async (baseUrl, file, saved, to) => {
    await reads(baseUrl, file);
    writeJson(saved, to);
  },
};

const [name, ...rest] = process.argv.slice(2);
await floors[name](...rest);

async function reads(baseUrl, file) {
  const get = await opened(baseUrl);
  const domains = await listed(get, "/domains");
  await inTurns(domains.values(), ({ id }) => listed(get, `/domains/${id}/records`));
  const { parseEvents } = await import("js-yaml");
  parseEvents(readFileSync(file, "utf8"), {});
}

function writeJson(saved, to) {
  writeFileSync(to, JSON.stringify(JSON.parse(readFileSync(saved, "utf8"))));
}

async function opened(baseUrl) {
  const { Pool } = await import("undici");
  const { origin, pathname } = new URL(baseUrl);
  const pool = new Pool(origin, { connections: CONCURRENCY, pipelining: 1 });
  process.once("beforeExit", () => pool.close());
  return async (method, path, body) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = text === undefined ? TOKEN : { ...TOKEN, "content-type": "application/json" };
    const answer = await pool.request({ method, path: pathname + path, headers, body: text });
    const said = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode} ${said}`);
    return JSON.parse(said);
  };
}

async function listed(send, path) {
  const page = (number) => send("GET", `${path}?page=${number}&page_size=${PAGE_SIZE}`);
  const first = await page(1);
  const items = [first.data];
  await inTurns(numbers(first.pages - 1), async (index) => {
    items[index + 1] = (await page(index + 2)).data;
  });
  return items.flat();
}

function numbers(count) {
  return Array.from({ length: Number(count) }, (_, index) => index).values();
}

async function inTurns(items, act) {
  const lane = async () => {
    for (const item of items) await act(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
}
