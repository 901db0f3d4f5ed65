/** What every request meets: unknown paths, bodies, headers, limits, logs, and who is answered at all. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { asHost, hostName, RequestLog, refusePage } from "../../src/emulator/http.ts";
import { startEmulator } from "../../src/emulator/index.ts";
import { assumption } from "../support/emulated.ts";
import { type PlainAnswer, startTested } from "../support/emulator.ts";
import { answersIn, exchange } from "../support/raw-http.ts";

const NOT_FOUND = { errors: [{ reason: "Not found" }] };
const INTERNAL_ERROR = { errors: [{ reason: "Internal server error" }] };
const REQUEST = { method: "GET", path: "/v4/vpcs", query: "", status: 200 };

/** A device that is always full. */
const FULL = "/dev/full";

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

assumption("A body of another content type, of broken JSON, or that is no object is 400.", async () => {
  const { send } = await startTested({ seed: { vpcs: [{ id: 5, label: "a", region: "us-east" }] } });
  const json = "application/json";
  const good = '{"label":"b","region":"us-east"}';
  for (const [body, type] of [
    ...["{", "[]", "null", '"text"', "12", "{'a':1}", "\u0000"].map((text) => [text, json]),
    ...["text/plain", "multipart/form-data; boundary=x", "nonsense", "a/b"].map((other) => [good, other]),
    [good, "application/x-www-form-urlencoded"],
    ["a=b", "application/x-www-form-urlencoded"],
  ]) {
    const answer = await send("POST", "/vpcs", body, { "content-type": type ?? "" });
    expect([body, type, answer.status, Object.keys(answer.body)]).toEqual([body, type, 400, ["errors"]]);
  }
  expect((await send("GET", "/vpcs")).body.results).toBe(1);
  const charset = { "content-type": "application/json; charset=utf-8" };
  expect((await send("PUT", "/vpcs/5", '{"description":"é"}', charset)).body.description).toBe("é");
});

assumption("A body above 4 MiB is 413, headers above 32 KiB are 431.", async () => {
  const { send } = await startTested();
  const sized = (size: number) => send("POST", "/vpcs", { label: "x".repeat(size) });
  const large = await sized(4 * 1024 ** 2);
  expect([large.status, large.body]).toEqual([413, { errors: [{ reason: "Request body too large" }] }]);
  expect((await sized(4 * 1024 ** 2 - 100)).status).toBe(400);
  const headed = (size: number) => send("GET", "/vpcs", undefined, { "x-filter": `{"label":"${"x".repeat(size)}"}` });
  const { status, body } = await headed(33 * 1024);
  expect([status, body.errors.length]).toEqual([431, 1]);
  expect((await headed(31 * 1024)).status).toBe(200);
});

assumption("An empty body is `{}`.", async () => {
  const { send } = await startTested({ seed: { vpcs: [{ id: 5, label: "a", region: "us-east" }] } });
  const type = { "content-type": "application/json; charset=utf-8" };
  for (const body of ["", undefined]) expect((await send("PUT", "/vpcs/5", body, type)).status).toBe(200);
  expect((await send("PUT", "/vpcs/5")).status).toBe(200);
  expect((await send("POST", "/vpcs", "")).body.errors).toContainEqual({ field: "label", reason: "label is required" });
  expect((await send("DELETE", "/vpcs/5", undefined, type)).body).toEqual({});
});

assumption("Unknown keys of a body, and those that only the service writes, are ignored.", async () => {
  const { send } = await startTested({ seed: { domains: [{ id: 5, domain: "a.example" }] } });
  const { body } = await send("PUT", "/domains/5", {
    id: 99,
    created: "2000-01-01T00:00:00",
    colour: "red",
    group: "g",
  });
  expect(body).toMatchObject({ id: 5, group: "g" });
  expect(body).not.toHaveProperty("colour");
  expect(body.created).not.toBe("2000-01-01T00:00:00");
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

test("the content type of every answer is application/json, without a charset", async () => {
  const { send, control, emulator } = await startTested({ rateLimit: { requests: 9, seconds: 600 } });
  const types: [string, number, string | null][] = [];
  const ask = async (name: string, answer: Promise<PlainAnswer>): Promise<void> => {
    const { status, headers } = await answer;
    types.push([name, status, headers.get("content-type")]);
  };
  await ask("list", send("GET", "/vpcs"));
  await ask("not JSON", send("POST", "/vpcs", "{"));
  await ask("refused", send("POST", "/vpcs", {}));
  await ask("unknown path", send("GET", "/nothing"));
  await ask("no token", send("GET", "/vpcs", undefined, { authorization: "" }));
  await ask("method", send("PATCH", "/vpcs"));
  await ask("undecodable", send("GET", "/vpcs/%E0%A4%A"));
  await ask("control", control("GET", "/events"));
  await control("POST", "/faults", { faults: ["status=503,times=1"] });
  await ask("fault", send("GET", "/vpcs"));
  await control("POST", "/faults", { faults: ["slow-headers=1,times=1"] });
  await ask("slow", send("GET", "/vpcs"));
  await ask("limited", send("GET", "/vpcs"));
  expect(types).toEqual(
    [
      ["list", 200],
      ["not JSON", 400],
      ["refused", 400],
      ["unknown path", 404],
      ["no token", 401],
      ["method", 405],
      ["undecodable", 404],
      ["control", 200],
      ["fault", 503],
      ["slow", 200],
      ["limited", 429],
    ].map(([name, status]) => [name, status, "application/json"]),
  );
  const { text: unreadable } = await exchange(emulator.port, "nonsense\r\n\r\n");
  expect(answersIn(unreadable)).toMatchObject([{ status: 400, body: { errors: [{ reason: "Bad Request" }] } }]);
  expect(unreadable).toMatch(/^content-type: application\/json\r$/im);
});

assumption(
  "The headers X-Spec-Version, Cache-Control and Vary are on every answer below `/v4`, X-Accepted-OAuth-Scopes on those of a known operation, and X-OAuth-Scopes where the token is known.",
  async () => {
    const tokens = [{ token: "emulator-token", scopes: ["domains:read_only", "linodes:*", "images:read_write"] }];
    const { send } = await startTested({ dialect: "linode", seed: { tokens } });
    const shown = async (method: string, path: string, headers = {}): Promise<unknown> => {
      const answer = await send(method, path, method === "POST" ? {} : undefined, headers);
      const of = (name: string): string | null => answer.headers.get(name);
      expect([of("x-spec-version"), of("cache-control"), of("vary")]).toEqual([
        "4.176.0",
        "private, max-age=0, no-cache, no-store",
        "Authorization, X-Filter",
      ]);
      return [answer.status, of("x-accepted-oauth-scopes"), of("x-oauth-scopes")];
    };
    const own = "domains:read_only linodes:* images:read_write";
    expect(await shown("GET", "/domains")).toEqual([200, "domains:read_only", own]);
    expect(await shown("POST", "/domains")).toEqual([403, "domains:read_write", own]);
    expect(await shown("POST", "/images")).toEqual([400, "images:read_write linodes:read_only", own]);
    expect(await shown("GET", "/domains", { authorization: "Bearer no" })).toEqual([401, "domains:read_only", null]);
    expect(await shown("GET", "/images", { authorization: "" })).toEqual([200, "images:read_only", null]);
    expect(await shown("GET", "/nothing")).toEqual([404, null, null]);
    expect(await shown("PATCH", "/domains")).toEqual([405, null, null]);
  },
);

test("GET /node/types, in the dialect's word, answers an empty list, with or without a token", async () => {
  const empty = { data: [], page: 1, pages: 1, results: 0 };
  for (const [dialect, other] of [
    ["node", "linode"],
    ["linode", "node"],
  ] as const) {
    const { send } = await startTested({ dialect });
    expect(await send("GET", `/${dialect}/types?page=1`)).toMatchObject({ status: 200, body: empty });
    expect((await send("GET", `/${dialect}/types`, undefined, { authorization: "" })).body).toEqual(empty);
    expect((await send("GET", `/${dialect}/types`, undefined, { authorization: "Bearer no" })).status).toBe(401);
    expect((await send("GET", `/${other}/types`)).status).toBe(404);
    expect((await send("POST", `/${dialect}/types`, {})).status).toBe(405);
  }
});

assumption("Without a rate limit the headers say 800 per 120 seconds, and that all of them remain.", async () => {
  const { send } = await startTested();
  for (let time = 0; time < 3; time += 1) {
    const { headers } = await send("GET", "/vpcs");
    expect([headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")]).toEqual(["800", "800"]);
  }
});

test("with a rate limit, all endpoints and tokens share it", async () => {
  const { send } = await startTested({ rateLimit: { requests: 3, seconds: 60 } });
  const paths = ["/vpcs", "/domains", "/images", "/domains"];
  const answers = [];
  for (const path of paths) answers.push(await send("GET", path, undefined, { authorization: "Bearer other" }));
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 429]);
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

test.runIf(existsSync(FULL))("once its log is full, the emulator answers 500 and goes on doing so", async () => {
  const { send, control, emulator } = await startTested({ requestLog: FULL, seed: { images: [{ label: "a" }] } });
  const origin = new URL(emulator.baseUrl).origin;
  const requests: [string, string][] = [
    ["POST", "/domains"],
    ["GET", "/vpcs"],
    ["PATCH", "/vpcs"],
    ["GET", "/nothing"],
    ["GET", "/vpcs/%zz"],
    ["PUT", "/../_upload/private/1"],
  ];
  for (const [method, path] of requests) {
    const { status, body, headers } = await send(method, path);
    expect([path, status, body]).toEqual([path, 500, INTERNAL_ERROR]);
    expect(headers.get("content-type")).toContain("application/json");
  }
  expect((await fetch(`${origin}/nothing`)).status).toBe(500);
  expect((await control("GET", "/events")).status).toBe(200);
});

test.runIf(existsSync(FULL))("a fault does not hide that the log is full", async () => {
  const { send } = await startTested({ requestLog: FULL, faults: [{ effect: { type: "html", status: 502 } }] });
  expect(await send("GET", "/vpcs")).toMatchObject({ status: 500, body: INTERNAL_ERROR });
});

test.runIf(existsSync(FULL))("a log says that it failed, and takes no more", () => {
  const log = new RequestLog(FULL);
  expect(log.failed).toBe(false);
  for (let time = 0; time < 2; time += 1) log.add(REQUEST);
  expect([log.failed, log.all().length]).toEqual([true, 2]);
  expect(() => log.close()).not.toThrow();
});

test("a log without a file never fails", () => {
  const log = new RequestLog(null);
  log.add(REQUEST);
  log.close();
  expect(log.failed).toBe(false);
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

function isAnswered(host: string, localAddress: string, names: readonly string[] = []): boolean {
  return refusePage({ headers: { host }, socket: { localAddress } }, new Set(names)) === null;
}

test("the address that was reached is a host, in every spelling of it, and no other address is", () => {
  expect(isAnswered("172.17.0.2:8080", "::ffff:172.17.0.2")).toBe(true);
  expect(isAnswered("172.17.0.2", "172.17.0.2")).toBe(true);
  expect(isAnswered("[FD00:0:0::2]:8080", "fd00::2")).toBe(true);
  expect(isAnswered("172.17.0.3:8080", "172.17.0.2")).toBe(false);
  expect(isAnswered("[fd00::3]", "fd00::2")).toBe(false);
});

test("a name is taken in any letter case, with any port and with a final dot, and whole", () => {
  for (const host of ["emulator", "EMULATOR:1", "emulator.", "emulator.:80"]) {
    expect([host, isAnswered(host, "172.17.0.2", ["emulator"])]).toEqual([host, true]);
  }
  for (const host of ["emulator.example", "xemulator", "emulator@x", "emulator/x", "", "[emulator]"]) {
    expect([host, isAnswered(host, "172.17.0.2", ["emulator"])]).toEqual([host, false]);
  }
});

test("an address stands in a URL as it must", () => {
  expect(["127.0.0.1", "::1", "::ffff:10.0.0.1"].map(asHost)).toEqual(["127.0.0.1", "[::1]", "10.0.0.1"]);
  expect([hostName("LocalHost.:80"), hostName("[0:0::1]"), hostName("a b")]).toEqual(["localhost", "[::1]", null]);
});

test("the clock goes on for no more than 100 years in all", async () => {
  const { send, control, emulator } = await startTested();
  for (const wrong of [{}, { advance_seconds: -1 }, { advance_seconds: 1.5 }, { advance_seconds: "1" }]) {
    expect((await control("POST", "/clock", wrong)).status).toBe(400);
  }
  expect((await control("POST", "/clock", { advance_seconds: 3_155_760_000 })).status).toBe(200);
  const { status, body } = await control("POST", "/clock", { advance_seconds: 1 });
  expect({ status, body }).toEqual({
    status: 400,
    body: { errors: [{ reason: "Must be at most 3155760000 in all", field: "advance_seconds" }] },
  });
  for (const seconds of [1, -1, Number.NaN]) await expect(emulator.advanceClock(seconds)).rejects.toThrow("Must be");
  expect((await send("GET", "/images")).status).toBe(200);
});
