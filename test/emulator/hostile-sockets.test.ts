/** Connections that mean no good: slow ones, broken HTTP, and very many. */

import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { startEmulator } from "../../src/emulator/index.ts";
import type { Tested } from "../support/emulator.ts";
import { tested } from "../support/emulator.ts";
import { answersIn, exchange, expectError } from "../support/raw-http.ts";
import { seedOf, shown } from "./hostile-world.ts";

const TIMEOUTS = { headersMilliseconds: 300, bodyMilliseconds: 300, idleMilliseconds: 300, checkMilliseconds: 50 };
const LINES = "host: localhost\r\nauthorization: Bearer mine-token\r\n";
const JSON_TYPE = "content-type: application/json\r\n";

async function start(timeouts: Partial<typeof TIMEOUTS> = TIMEOUTS): Promise<Tested> {
  const emulator = await startEmulator({ seed: seedOf("mine", 0) }, { timeouts });
  onTestFinished(() => emulator.close());
  return tested(emulator);
}

function bitByBit(text: string, milliseconds: number): (socket: Socket) => void {
  return async (socket) => {
    for (const character of text) {
      if (socket.destroyed) return;
      socket.write(character);
      await delay(milliseconds);
    }
  };
}

const GET = `GET /v4/vpcs HTTP/1.1\r\n${LINES}connection: close\r\n\r\n`;
const POST = `POST /v4/vpcs HTTP/1.1\r\n${LINES}${JSON_TYPE}`;
const NEW = '{"label":"new","region":"us-east"}';

const SLOW: [string, string][] = [
  ["header that comes bit by bit", `GET /v4/vpcs HTTP/1.1\r\nx-slow: ${"a".repeat(1000)}`],
  ["connection that says nothing", ""],
  ["body that comes bit by bit", `${POST}content-length: 10000\r\n\r\n{${" ".repeat(1000)}`],
  ["body in chunks that comes bit by bit", `${POST}transfer-encoding: chunked\r\n\r\n${"1\r\n \r\n".repeat(1000)}`],
  ["body that ends half-way", `${POST}content-length: ${NEW.length + 1}\r\n\r\n${NEW}`],
];

test.each(SLOW)("a %s is given up with 408, and others are served meanwhile", async (_, text) => {
  const { send, emulator } = await start();
  const end = text.indexOf("\r\n\r\n");
  const whole = end === -1 ? 0 : end + 4;
  const clients = Array.from({ length: 20 }, () =>
    exchange(emulator.port, (socket) => {
      socket.write(text.slice(0, whole));
      return bitByBit(text.slice(whole), 10)(socket);
    }),
  );
  for (let count = 0; count < 5; count += 1) {
    expect((await send("GET", "/vpcs", undefined, { authorization: "Bearer mine-token" })).body.results).toBe(1);
  }
  for (const { text: said, closed } of await Promise.all(clients)) {
    expect(closed).toBe(true);
    const [answer] = answersIn(said);
    if (answer !== undefined) expectError(answer, [408]);
  }
});

test("a body that goes on after its answer, and one to no path at all, are cut off", async () => {
  const { emulator } = await start();
  for (const path of ["/v4/nothing", "/%zz", "/v4/vpcs"]) {
    const text = `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${JSON_TYPE}content-length: 99999\r\n\r\n`;
    const { text: said, closed } = await exchange(emulator.port, bitByBit(`${text}${" ".repeat(500)}`, 2), 5_000);
    expect([path, closed]).toEqual([path, true]);
    for (const answer of answersIn(said)) expectError(answer, [401, 404, 408]);
  }
});

test("an upload may take as long as it wants while data comes, and is given up when none does", async () => {
  const { send, emulator } = await start();
  const token = { authorization: "Bearer mine-token" };
  const upload = async (length: number): Promise<string> => {
    const { body } = await send("POST", "/images/upload", { label: "a", region: "us-east" }, token);
    const { pathname, search } = new URL(body.upload_to);
    const type = "content-type: application/octet-stream";
    return `PUT ${pathname}${search} HTTP/1.1\r\nhost: localhost\r\n${type}\r\nconnection: close\r\ncontent-length: ${length}\r\n\r\n`;
  };
  const data = gzipSync(Buffer.alloc(50_000, "x"));
  const header = await upload(data.length);
  const slow = await exchange(emulator.port, async (socket) => {
    socket.write(header);
    for (let index = 0; index < data.length; index += 8) {
      socket.write(data.subarray(index, index + 8));
      await delay(100);
    }
  });
  expect(answersIn(slow.text).map(({ status }) => status)).toEqual([200]);
  const stalled = await exchange(emulator.port, await upload(data.length));
  expect(stalled.closed).toBe(true);
  for (const answer of answersIn(stalled.text)) expectError(answer, [408]);
});

const CHUNKED = `${POST}transfer-encoding: chunked\r\n`;
const BROKEN: [string, string | Buffer, number[]][] = [
  ["nonsense", "NONSENSE\r\n\r\n", [400]],
  ["HTTP/0.9", "GET /v4/vpcs\r\n\r\n", [400, 401]],
  ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [400]],
  ["TLS", Buffer.from("16030100c8010000c40303", "hex"), [400]],
  ["no Host", "GET /v4/vpcs HTTP/1.1\r\nconnection: close\r\n\r\n", [400]],
  ["two lengths", `${POST}content-length: 5\r\ncontent-length: 6\r\n\r\n${NEW}`, [400]],
  ["a length and chunks", `${CHUNKED}content-length: 5\r\n\r\n0\r\n\r\nGET /v4/vpcs HTTP/1.1\r\n\r\n`, [400]],
  ["a length that is no number", `${POST}content-length: 1e1\r\n\r\n${NEW}`, [400]],
  ["a length below 0", `${POST}content-length: -1\r\n\r\n${NEW}`, [400]],
  ["a length without an end", `${POST}content-length: 99999999999999999999999\r\n\r\n${NEW}`, [400]],
  ["a chunk size that is no number", `${CHUNKED}\r\nzz\r\n${NEW}\r\n0\r\n\r\n`, [400]],
  ["a chunk size that is too small", `${CHUNKED}\r\n3\r\n${NEW}\r\n0\r\n\r\n`, [400]],
  ["a chunk size without an end", `${CHUNKED}\r\n${"f".repeat(40)}\r\n${NEW}`, [400]],
  ["a huge chunk extension", `${CHUNKED}\r\n1;${"x".repeat(40_000)}\r\n{\r\n0\r\n\r\n`, [400, 413]],
  ["a body that is longer than its length", `${POST}content-length: 5\r\nconnection: close\r\n\r\n${NEW}`, [400]],
  ["a huge length", `${POST}content-length: ${5 * 1024 ** 2}\r\nconnection: close\r\n\r\n`, [413]],
  ["an expectation", `${POST}expect: tea\r\ncontent-length: 2\r\n\r\n{}`, [417]],
  ["a line folded", "GET /v4/vpcs HTTP/1.1\r\nhost: localhost\r\n folded\r\n\r\n", [400, 401]],
  ["a NUL in a header", "GET /v4/vpcs HTTP/1.1\r\nhost: localhost\r\nx-filter: \u0000\r\n\r\n", [400]],
  ["a NUL in the path", "GET /v4/\u0000 HTTP/1.1\r\nhost: localhost\r\n\r\n", [400]],
  ["a small letter in the method", `get ${GET.slice(4)}`, [400]],
  ["long headers", `GET /v4/vpcs HTTP/1.1\r\nhost: localhost\r\nx-filter: ${"x".repeat(40_000)}\r\n\r\n`, [431]],
  [
    "binary data",
    Buffer.from(`${POST}connection: close\r\ncontent-length: 4\r\n\r\n\xff\xfe\x00\x80`, "latin1"),
    [400],
  ],
  [
    "gzip",
    Buffer.concat([
      Buffer.from(
        `${POST}content-encoding: gzip\r\nconnection: close\r\ncontent-length: ${gzipSync(NEW).length}\r\n\r\n`,
      ),
      gzipSync(NEW),
    ]),
    [400],
  ],
  [
    "broken UTF-8",
    Buffer.from(
      `${POST}connection: close\r\ncontent-length: 35\r\n\r\n{"label":"n\xffew","region":"us-east"}`,
      "latin1",
    ),
    [400],
  ],
  ["an unknown path", `GET /nothing HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`, [404]],
  ["a path that cannot be decoded", `GET /%zz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`, [404]],
  ["TRACE", `TRACE ${GET.slice(4)}`, [404, 405]],
  ["PROPFIND", `PROPFIND ${GET.slice(4)}`, [404, 405]],
  ["another method", `PATCH ${GET.slice(4)}`, [405]],
  ["no token", GET.replace("Bearer", "Basic"), [401]],
];

test("what is broken gets its error with the limit's headers, or a closed connection, and changes nothing", async () => {
  const run = await start();
  const before = await shown(run, "mine-token");
  for (const [name, bytes, statuses] of BROKEN) {
    const { text, closed } = await exchange(run.emulator.port, bytes, 5_000);
    expect([name, closed]).toEqual([name, true]);
    const [answer] = answersIn(text);
    // What comes after the last request there is to be closes the connection, with or without an answer.
    if (name !== "a body that is longer than its length") expect(answer, name).toBeDefined();
    else if (answer === undefined) continue;
    expect([name, statuses]).toEqual([name, expect.arrayContaining([answer?.status])]);
    if (answer !== undefined) expectError(answer, statuses);
  }
  const tunnel = await exchange(run.emulator.port, "CONNECT x:80 HTTP/1.1\r\nhost: localhost\r\n\r\n", 5_000);
  expect(tunnel).toEqual({ text: "", closed: true });
  expect(await shown(run, "mine-token")).toEqual(before);
});

test("an older version, an upgrade and an expected 100 are served", async () => {
  const { emulator } = await start();
  const served = [
    `GET /v4/vpcs HTTP/1.0\r\nauthorization: Bearer mine-token\r\n\r\n`,
    GET.replace("connection: close", "connection: upgrade, close\r\nupgrade: websocket"),
    `PUT /v4/vpcs/1 HTTP/1.1\r\n${LINES}${JSON_TYPE}connection: close\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n{}`,
  ];
  for (const bytes of served) {
    const { text, closed } = await exchange(emulator.port, bytes);
    expect([closed, answersIn(text).map(({ status }) => status)]).toEqual([true, [200]]);
  }
});

test("requests in one piece are answered in order, and what is broken after them is answered for none of them", async () => {
  const { emulator } = await start();
  const many = GET.replace("connection: close\r\n", "").repeat(200) + GET;
  const { text } = await exchange(emulator.port, many);
  const answers = answersIn(text);
  expect(answers.map(({ status, body }) => [status, body.results])).toEqual(answers.map(() => [200, 1]));
  expect(answers).toHaveLength(201);
  const broken = await exchange(emulator.port, `${GET.replace("connection: close\r\n", "")}NONSENSE\r\n\r\n`);
  expect(broken.closed).toBe(true);
  const [first] = answersIn(broken.text);
  if (first !== undefined) expect(first.status).toBe(200);
});

test("a thousand connections at once are all served", async () => {
  const { emulator } = await start({});
  const all = await Promise.all(Array.from({ length: 1_000 }, () => exchange(emulator.port, GET, 30_000)));
  expect(all.filter(({ text }) => !text.startsWith("HTTP/1.1 200 ") || !text.includes('"results":1'))).toEqual([]);
});
