/** What every request meets: credentials, unknown paths, bodies, limits, logs. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startEmulator } from "../../src/emulator/index.ts";
import { startTested } from "../support/emulator.ts";
import { answersIn, exchange } from "../support/raw-http.ts";

const NOT_FOUND = { errors: [{ reason: "Not found" }] };
const INVALID_TOKEN = { errors: [{ reason: "Invalid Token" }] };
const UNAUTHORIZED = { errors: [{ reason: "Unauthorized" }] };

test("a request without a known token is 401", async () => {
  const { send } = await startTested();
  for (const authorization of [
    "",
    "Bearer wrong",
    "Basic emulator-token",
    "Bearer",
    "emulator-token",
    "Bearer __proto__",
  ]) {
    for (const path of ["/vpcs", "/domains", "/domains/1/records", "/vpcs/ips", "/networking/vpcs/ips"]) {
      const answer = await send("GET", path, undefined, { authorization });
      expect([authorization, path, answer.status, answer.body]).toEqual([authorization, path, 401, INVALID_TOKEN]);
    }
  }
});

test("a token reaches only what its scopes hold", async () => {
  const scopes = ["vpc:read_only", "ips:read_only", "domains:read_write", "images:read_write"];
  const { send } = await startTested({ seed: { tokens: [{ token: "emulator-token", scopes }] } });
  const refused: [string, string][] = [
    ["POST", "/vpcs"],
    ["PUT", "/vpcs/1"],
    ["DELETE", "/vpcs/1"],
    ["POST", "/vpcs/1/subnets"],
    ["PUT", "/vpcs/1/subnets/1"],
    ["DELETE", "/vpcs/1/subnets/1"],
    ["POST", "/images"],
  ];
  for (const [method, path] of refused) {
    const answer = await send(method, path, method === "DELETE" ? undefined : {});
    expect([method, path, answer.status, answer.body]).toEqual([method, path, 403, UNAUTHORIZED]);
  }
  for (const path of ["/vpcs", "/vpcs/ips", "/domains", "/images"]) expect((await send("GET", path)).status).toBe(200);
});

test("an ips scope opens no VPCs, and a VPC scope no addresses", async () => {
  const tokens = [
    { token: "ips", scopes: ["ips:read_only"] },
    { token: "vpc", scopes: ["vpc:read_write"] },
  ];
  const { send } = await startTested({ seed: { tokens } });
  expect((await send("GET", "/vpcs", undefined, { authorization: "Bearer ips" })).status).toBe(403);
  expect((await send("GET", "/networking/vpcs/ips", undefined, { authorization: "Bearer vpc" })).status).toBe(403);
  expect((await send("GET", "/networking/vpcs/ips", undefined, { authorization: "bearer ips" })).status).toBe(200);
});

test("an unknown path is 404, and a known path with another method 405", async () => {
  const { send, emulator } = await startTested();
  for (const path of [
    "/",
    "/nothing",
    "/vpcs/",
    "/vpcs/abc",
    "/vpcs/1.5",
    "/vpcs/-1",
    "/vpcs/0",
    "/vpcs/1e3",
    "/vpcs/%zz",
  ]) {
    const answer = await send("GET", path);
    expect([path, answer.status, answer.body]).toEqual([path, 404, NOT_FOUND]);
    expect(answer.headers.get("x-ratelimit-limit")).toBe("800");
  }
  expect((await send("GET", `/vpcs/${"9".repeat(5000)}`)).body).toEqual(NOT_FOUND);
  const others: [string, string][] = [
    ["PATCH", "/vpcs"],
    ["DELETE", "/vpcs"],
    ["PUT", "/domains"],
    ["POST", "/domains/1"],
    ["POST", "/domains/1/zone-file"],
    ["GET", "/images/upload"],
    ["GET", "/domains/1/clone"],
    ["POST", "/networking/vpcs/ips"],
    ["OPTIONS", "/vpcs"],
  ];
  for (const [method, path] of others) {
    const answer = await send(method, path);
    expect([method, path, answer.status]).toEqual([method, path, 405]);
    expect(answer.body).toEqual({ errors: [{ reason: "Method Not Allowed" }] });
  }
  expect((await send("HEAD", "/vpcs")).status).toBe(405);
  // Which `fetch` does not send.
  const { text } = await exchange(
    emulator.port,
    "TRACE /v4/vpcs HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
  );
  const [traced] = answersIn(text);
  expect([traced?.status, traced?.body]).toEqual([405, { errors: [{ reason: "Method Not Allowed" }] }]);
});

test("a body that is no JSON object is refused in the service's shape", async () => {
  const { send } = await startTested();
  const bodies = ["{", "[]", "null", '"text"', "12", "{'a':1}", "\u0000"];
  for (const body of bodies) {
    const answer = await send("POST", "/vpcs", body);
    expect([body, answer.status, Object.keys(answer.body)]).toEqual([body, 400, ["errors"]]);
  }
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "nonsense",
    "a/b",
  ]) {
    const answer = await send("POST", "/vpcs", '{"label":"a","region":"us-east"}', { "content-type": type });
    expect([type, answer.status, Object.keys(answer.body)]).toEqual([type, 400, ["errors"]]);
  }
  const large = await send("POST", "/vpcs", `{"label":"${"x".repeat(5 * 1024 * 1024)}"}`);
  expect([large.status, large.body]).toEqual([413, { errors: [{ reason: "Request body too large" }] }]);
  expect((await send("GET", "/vpcs")).body.results).toBe(0);
});

test("an empty body and a charset are fine", async () => {
  const { send } = await startTested({ seed: { vpcs: [{ id: 5, label: "a", region: "us-east" }] } });
  const type = { "content-type": "application/json; charset=utf-8" };
  expect((await send("PUT", "/vpcs/5", '{"description":"é"}', type)).body.description).toBe("é");
  expect((await send("PUT", "/vpcs/5", "", type)).status).toBe(200);
  expect((await send("PUT", "/vpcs/5")).status).toBe(200);
  expect((await send("DELETE", "/vpcs/5", undefined, type)).body).toEqual({});
});

test("keys of a prototype do no harm in bodies and filters", async () => {
  const { send } = await startTested();
  const body = '{"__proto__":{"label":"x","polluted":1},"constructor":{"prototype":{"polluted":1}},"region":"us-east"}';
  const answer = await send("POST", "/vpcs", body);
  expect(answer.body.errors).toEqual([{ reason: "label is required", field: "label" }]);
  for (const key of ["__proto__", "constructor", "toString"]) {
    const filtered = await send("GET", "/vpcs", undefined, { "x-filter": `{"${key}":"x"}` });
    expect(filtered.body.errors).toEqual([{ reason: `Cannot filter on ${key}`, field: "X-Filter" }]);
  }
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test("headers that are too long, and what is no HTTP, get errors in the service's shape", async () => {
  const { send, emulator } = await startTested();
  const answer = await send("GET", "/vpcs", undefined, { "x-filter": `{"label":"${"x".repeat(40_000)}"}` });
  expect([answer.status, answer.body.errors.length]).toEqual([431, 1]);
  const text = await new Promise<string>((resolve) => {
    const socket = connect(emulator.port, "127.0.0.1", () => socket.write("NONSENSE\r\n\r\n"));
    socket.on("data", (data) => resolve(data.toString()));
  });
  expect(text).toContain("400 Bad Request");
  expect(text).toContain('{"errors":[{"reason":"Bad Request"}]}');
});

test("every answer carries the rate limit, and what exceeds it is 429 until the window ends", async () => {
  let now = 1_700_000_000_000;
  const { send } = await startTested({ rateLimit: { requests: 3, seconds: 60 }, now: () => now });
  const seen: unknown[] = [];
  for (const path of ["/vpcs", "/nothing", "/vpcs/9", "/vpcs", "/vpcs"]) {
    const { status, headers } = await send("GET", path);
    seen.push([status, headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")]);
    expect([headers.get("x-ratelimit-reset"), headers.get("retry-after")]).toEqual(["1700000060", "60"]);
  }
  expect(seen).toEqual([
    [200, "3", "2"],
    [404, "3", "1"],
    [404, "3", "0"],
    [429, "3", "0"],
    [429, "3", "0"],
  ]);
  now += 45_500;
  const refused = await send("GET", "/vpcs");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "15"]);
  expect(refused.body).toEqual({ errors: [{ reason: "Too many requests" }] });
  now += 15_000;
  expect((await send("GET", "/vpcs")).status).toBe(200);
});

test("requests are logged before they are answered, the emulator's own surface is not", async () => {
  const folder = mkdtempSync(join(tmpdir(), "emulator-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const requestLog = join(folder, "requests.jsonl");
  const { send, control, emulator } = await startTested({ requestLog });
  await send("GET", "/vpcs?page=1&page_size=25");
  const line = (): unknown[] =>
    readFileSync(requestLog, "utf8")
      .trimEnd()
      .split("\n")
      .map((text) => JSON.parse(text));
  expect(line()).toEqual([{ method: "GET", path: "/v4/vpcs", query: "page=1&page_size=25", status: 200 }]);
  await send("POST", "/vpcs", "{");
  await send("GET", "/%zz");
  await send("GET", "/images/private%2F1");
  const shown = await control("GET", "/requests");
  expect(shown.body.data).toEqual(emulator.requests);
  expect(line()).toEqual(emulator.requests);
  expect(emulator.requests.map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
    "GET /v4/vpcs 200",
    "POST /v4/vpcs 400",
    "GET /v4/%zz 404",
    "GET /v4/images/private%2F1 404",
  ]);
  emulator.clearRequests();
  expect(emulator.requests).toEqual([]);
});

test("latency is waited before the answer", async () => {
  const { send } = await startTested({ latencyMilliseconds: 150 });
  const order: string[] = [];
  // The timers of a process go off in their order, however busy it is.
  await Promise.all([
    send("GET", "/vpcs").then(() => order.push("the answer")),
    delay(100).then(() => order.push("a tenth of a second")),
  ]);
  expect(order).toEqual(["a tenth of a second", "the answer"]);
});

test("closing twice, and while a connection is kept alive, ends quickly", async () => {
  const { send, emulator } = await startTested();
  await send("GET", "/vpcs");
  await Promise.all([emulator.close(), emulator.close()]);
  await expect(send("GET", "/vpcs")).rejects.toThrow();
});

test("closing in the middle of requests leaves nothing behind that fails", async () => {
  const folder = mkdtempSync(join(tmpdir(), "emulator-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = { data: join(folder, "account.log"), requestLog: join(folder, "requests.jsonl") };
  const { send, emulator } = await startTested({ ...files, latencyMilliseconds: 500 });
  const pending = [1, 2, 3].map((number) => send("POST", "/vpcs", { label: `v${number}`, region: "us-east" }));
  const outcomes = Promise.allSettled(pending);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await emulator.close();
  expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  await new Promise((resolve) => setTimeout(resolve, 600));
  const { send: sendAgain, emulator: again } = await startTested(files);
  expect([again.notices, (await sendAgain("GET", "/vpcs")).body.results]).toEqual([[], 0]);
});

test("a port that is taken is an error, and the data file stays usable", async () => {
  const folder = mkdtempSync(join(tmpdir(), "emulator-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const data = join(folder, "account.log");
  const { emulator } = await startTested();
  await expect(startEmulator({ port: emulator.port, data })).rejects.toThrow("EADDRINUSE");
  const { send } = await startTested({ data });
  expect((await send("GET", "/vpcs")).status).toBe(200);
});
