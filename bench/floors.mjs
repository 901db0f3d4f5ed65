/** The least that a measured command could do, each as a process of its own: `node bench/floors.mjs NAME ARGUMENTS...`. */

import { createHash } from "node:crypto";
import { createReadStream, fsync, openSync, readFileSync, write, writeFileSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";

const CONCURRENCY = 8;
const PAGE_SIZE = 500;
/** Bytes of a file that are read, hashed, sent or unpacked at once. */
const CHUNK_BYTES = 1024 ** 2;
const TOKEN = { authorization: "Bearer emulator-token" };

const floors = {
  /** Manifests as documents with positions, one after another; none is kept. */
  "parse-document": async (...files) => {
    const { parseDocument } = await import("yaml");
    for (const file of files) parseDocument(readFileSync(file, "utf8"));
  },
  /** The lists that a plan needs, and the manifest by the fastest parser that keeps positions. */
  reads,
  /** Those lists alone. */
  lists,
  creates: async (baseUrl, id, count, journal) => {
    const send = await opened(baseUrl, journal);
    await inTurns(numbers(count), (index) =>
      send("POST", `/domains/${id}/records`, { type: "A", name: `host-${index}`, target: "192.0.2.1", ttl_sec: 300 }),
    );
  },
  changes: async (baseUrl, id, count, journal) => {
    const send = await opened(baseUrl, journal);
    const records = await listed(send, `/domains/${id}/records`);
    await inTurns(records.slice(0, Number(count)).values(), (record) =>
      send("PUT", `/domains/${id}/records/${record.id}`, { target: "192.0.2.2" }),
    );
  },
  deletes: async (baseUrl, id, _count, journal) => {
    const send = await opened(baseUrl, journal);
    const records = await listed(send, `/domains/${id}/records`);
    await inTurns(records.values(), (record) => send("DELETE", `/domains/${id}/records/${record.id}`));
  },
  /** What an upload promises and nothing else: the file is read, unpacked and hashed, then read and hashed again as it is sent. */
  "check-and-upload": async (file, target) => {
    const { request } = await import("undici");
    const hashes = [createHash("sha256"), createHash("sha256")];
    const unpacked = async (chunks) => {
      for await (const _ of chunks);
    };
    await pipeline(hashed(file, hashes[0]), createGunzip({ chunkSize: CHUNK_BYTES }), unpacked);
    const headers = { "content-type": "application/octet-stream", "content-length": String((await stat(file)).size) };
    const answer = await request(target, { method: "PUT", headers, body: hashed(file, hashes[1]) });
    await answer.body.dump();
    const [checked, sent] = hashes.map((hash) => hash.digest("hex"));
    if (answer.statusCode !== 200 || checked !== sent)
      throw new Error(`the upload was answered with ${answer.statusCode}`);
  },
  /** A file hashed once. */
  hash: (file) => pipeline(createReadStream(file, { highWaterMark: CHUNK_BYTES }), createHash("sha256")),
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

async function lists(baseUrl) {
  const get = await opened(baseUrl);
  const domains = await listed(get, "/domains");
  await inTurns(domains.values(), ({ id }) => listed(get, `/domains/${id}/records`));
}

async function reads(baseUrl, file) {
  await lists(baseUrl);
  const { parseEvents } = await import("js-yaml");
  parseEvents(readFileSync(file, "utf8"), {});
}

/** A chunk is not used any more when the next one is taken. */
async function* hashed(file, hash) {
  const handle = await open(file);
  const buffers = [Buffer.allocUnsafeSlow(CHUNK_BYTES), Buffer.allocUnsafeSlow(CHUNK_BYTES)];
  for (let turn = 0; ; turn += 1) {
    const { buffer, bytesRead } = await handle.read(buffers[turn % 2], 0, CHUNK_BYTES, null);
    if (bytesRead === 0) break;
    hash.update(buffer.subarray(0, bytesRead));
    yield buffer.subarray(0, bytesRead);
  }
  await handle.close();
}

function writeJson(saved, to) {
  writeFileSync(to, JSON.stringify(JSON.parse(readFileSync(saved, "utf8"))));
}

/** @param journal a file: each writing request has a line on disk before it is sent, and one after its answer */
async function opened(baseUrl, journal) {
  const record = journal === undefined ? () => {} : openJournal(journal);
  const { Pool } = await import("undici");
  const { origin, pathname } = new URL(baseUrl);
  const pool = new Pool(origin, { connections: CONCURRENCY, pipelining: 1 });
  process.once("beforeExit", () => pool.close());
  return async (method, path, body) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = text === undefined ? TOKEN : { ...TOKEN, "content-type": "application/json" };
    const writes = method !== "GET";
    if (writes) await record({ type: "intent", time: new Date().toISOString(), method, path, body: body ?? null });
    const answer = await pool.request({ method, path: pathname + path, headers, body: text });
    const said = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode} ${said}`);
    const read = JSON.parse(said);
    if (writes) void record({ type: "outcome", time: new Date().toISOString(), method, path, id: read.id ?? null });
    return read;
  };
}

/** Lines that come while others are written go out together: one sync for all of them. */
function openJournal(file) {
  const descriptor = openSync(file, "w");
  let waiting = [];
  let isWriting = false;
  const writeAll = () => {
    const batch = waiting;
    waiting = [];
    isWriting = batch.length > 0;
    if (!isWriting) return;
    write(descriptor, batch.map(({ line }) => line).join(""), (failed) => {
      if (failed) throw failed;
      fsync(descriptor, (error) => {
        if (error) throw error;
        for (const { resolve } of batch) resolve();
        writeAll();
      });
    });
  };
  return (entry) =>
    new Promise((resolve) => {
      waiting.push({ line: `${JSON.stringify(entry)}\n`, resolve });
      if (!isWriting) writeAll();
    });
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
