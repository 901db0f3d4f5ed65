/** What each fault looks like on the wire, and what it leaves behind. */

import { expect, test } from "vitest";
import type { Fault, LoggedRequest } from "../../src/emulator/index.ts";
import { assumption } from "../support/emulated.ts";
import { startTested } from "../support/emulator.ts";
import { type OpenExchange, openExchange, type RawAnswer, rawExchange } from "./raw-exchange.ts";

const DOMAIN = JSON.stringify({ domain: "example.com", type: "master", soa_email: "a@example.com" });

/** Longer than any test may take. */
const LONG_MILLISECONDS = 300_000;

interface Struck {
  readonly answer: RawAnswer;
  readonly logged: LoggedRequest | undefined;
  /** How many domains there are afterwards. */
  readonly domains: number;
}

/** Creates a domain while the fault is in force. */
async function strike(effect: Fault["effect"], headers?: Readonly<Record<string, string>>): Promise<Struck> {
  const { emulator, send } = await startTested({ faults: [{ effect }] });
  const request = { method: "POST", path: "/v4/domains", body: DOMAIN, ...(headers === undefined ? {} : { headers }) };
  const answer = await rawExchange(emulator.port, request);
  const logged = emulator.requests[0];
  expect(emulator.requests).toHaveLength(1);
  emulator.setFaults([]);
  return { answer, logged, domains: (await send("GET", "/domains")).body.results };
}

/** The same with an answer that does not end within the test: what has come of it once the domain is there. */
async function strikeForLong(effect: Fault["effect"]): Promise<OpenExchange> {
  const { emulator, send } = await startTested({ faults: [{ effect, method: "POST" }] });
  const exchange = openExchange(emulator.port, { method: "POST", path: "/v4/domains", body: DOMAIN });
  await expect.poll(async () => (await send("GET", "/domains")).body.results, { timeout: 10_000 }).toBe(1);
  return exchange;
}

function headerOf(answer: RawAnswer, name: string): string | undefined {
  return new RegExp(`^${name}: (.*)$`, "m").exec(answer.head)?.[1]?.trim();
}

test("a status is an error in the service's shape, and nothing is done", async () => {
  for (const [status, reason] of [
    [408, "Request Timeout"],
    [429, "Too many requests"],
    [500, "Internal server error"],
    [503, "Service Unavailable"],
  ] as const) {
    const { answer, logged, domains } = await strike({ type: "status", status });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([status, { errors: [{ reason }] }]);
    expect(headerOf(answer, "content-type")).toMatch(/^application\/json/);
    expect(headerOf(answer, "x-ratelimit-limit")).toBe("800");
    expect(logged).toMatchObject({ method: "POST", path: "/v4/domains", status, fault: "status" });
    expect(domains).toBe(0);
  }
});

test("a status can order how long to wait, or say nothing of it", async () => {
  const ordered = await strike({ type: "status", status: 429, retryAfterSeconds: 7 });
  expect(headerOf(ordered.answer, "retry-after")).toBe("7");
  const silent = await strike({ type: "status", status: 429, retryAfterSeconds: null });
  expect(headerOf(silent.answer, "retry-after")).toBeUndefined();
  const usual = await strike({ type: "status", status: 429 });
  expect(headerOf(usual.answer, "retry-after")).toMatch(/^\d+$/);
});

test("html is a page of a load balancer, and nothing is done", async () => {
  for (const status of [200, 429, 502]) {
    const { answer, domains, logged } = await strike({ type: "html", status });
    expect(answer.status).toBe(status);
    expect(headerOf(answer, "content-type")).toBe("text/html");
    expect(answer.body).toMatch(new RegExp(`^<html>[^]*<h1>${status} [^]*</html>\\r\\n$`));
    expect([domains, logged?.fault, logged?.status]).toEqual([0, "html", status]);
  }
});

test("busy is 400 and maintenance 503 with its header, and nothing is done", async () => {
  const busy = await strike({ type: "busy" });
  expect([busy.answer.status, JSON.parse(busy.answer.body)]).toEqual([400, { errors: [{ reason: "Linode busy." }] }]);
  expect([busy.domains, busy.logged?.fault]).toEqual([0, "busy"]);
  const maintenance = await strike({ type: "maintenance" });
  expect(maintenance.answer.status).toBe(503);
  expect(headerOf(maintenance.answer, "x-maintenance-mode")).toBeTruthy();
  expect(JSON.parse(maintenance.answer.body).errors).toHaveLength(1);
  expect([maintenance.domains, maintenance.logged?.fault]).toEqual([0, "maintenance"]);
});

test("a drop before is a reset with nothing done, a drop after one with all of it done", async () => {
  for (const [type, left] of [
    ["drop-before", 0],
    ["drop-after", 1],
  ] as const) {
    const { answer, logged, domains } = await strike({ type });
    expect([type, answer.text, answer.reset, domains]).toEqual([type, "", true, left]);
    expect(logged).toMatchObject({ status: 0, fault: type });
  }
});

test("half a body promises the whole, ends in a reset, and the work is done", async () => {
  const { answer, logged, domains } = await strike({ type: "half-body" });
  const promised = Number(headerOf(answer, "content-length"));
  expect(promised).toBeGreaterThan(100);
  expect([answer.status, Buffer.byteLength(answer.body), answer.reset]).toEqual([200, Math.floor(promised / 2), true]);
  expect(headerOf(answer, "x-ratelimit-limit")).toBe("800");
  expect(headerOf(answer, "content-type")).toMatch(/^application\/json/);
  expect(logged).toMatchObject({ status: 200, fault: "half-body" });
  expect(domains).toBe(1);
});

test("bad JSON has the length it promises and cannot be read, and the work is done", async () => {
  const { answer, logged, domains } = await strike({ type: "bad-json" });
  expect([answer.status, Buffer.byteLength(answer.body)]).toEqual([200, Number(headerOf(answer, "content-length"))]);
  expect(answer.reset).toBe(false);
  expect(() => JSON.parse(answer.body)).toThrow(SyntaxError);
  expect(JSON.parse(`${answer.body}}`)).toMatchObject({ domain: "example.com" });
  expect([logged?.fault, logged?.status, domains]).toEqual(["bad-json", 200, 1]);
});

test("slow headers come late and whole, and the work is done", async () => {
  const waiting = await strikeForLong({ type: "slow-headers", delayMilliseconds: LONG_MILLISECONDS });
  expect(waiting.received()).toBe("");
  const { answer, logged, domains } = await strike({ type: "slow-headers", delayMilliseconds: 50 });
  expect([answer.status, JSON.parse(answer.body).domain]).toEqual([200, "example.com"]);
  expect([logged?.fault, domains]).toEqual(["slow-headers", 1]);
});

test("a slow body comes in pieces behind its head, whole in the end", async () => {
  const waiting = await strikeForLong({ type: "slow-body", durationMilliseconds: LONG_MILLISECONDS });
  await expect.poll(waiting.received, { timeout: 10_000 }).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\n$/s);
  const { answer, logged, domains } = await strike({ type: "slow-body", durationMilliseconds: 200 });
  expect(answer.pieces).toBeGreaterThan(3);
  expect([answer.status, JSON.parse(answer.body).domain, answer.reset]).toEqual([200, "example.com", false]);
  expect([logged?.fault, domains]).toEqual(["slow-body", 1]);
});

test("a client that stops waiting does no harm, and an emulator that is closed waits for no slow answer", async () => {
  for (const effect of [
    { type: "slow-headers", delayMilliseconds: LONG_MILLISECONDS },
    { type: "slow-body", durationMilliseconds: LONG_MILLISECONDS },
  ] as const) {
    const { emulator } = await startTested({ faults: [{ effect, method: "POST" }] });
    const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
    const url = `${emulator.baseUrl}/domains`;
    const init = { method: "POST", headers, body: DOMAIN };
    await expect(
      fetch(url, { ...init, signal: AbortSignal.timeout(200) }).then((response) => response.text()),
    ).rejects.toThrow();
    const listed = await fetch(url, { headers });
    expect(((await listed.json()) as { results: number }).results).toBe(1);
    const waiting = rawExchange(emulator.port, { method: "POST", path: "/v4/domains", body: DOMAIN });
    await new Promise((resolve) => setTimeout(resolve, 100));
    // Would this wait for the answer, the test would not end in time.
    await emulator.close();
    await waiting;
  }
});

assumption("A fault that loses, breaks or delays an answer does so with refusals (401, 404, …) too.", async () => {
  const { emulator, send } = await startTested();
  const anonymous = { "content-type": "application/json" };
  const drop = await strike({ type: "drop-after" }, anonymous);
  expect([drop.answer.text, drop.answer.reset, drop.domains]).toEqual(["", true, 0]);
  const broken = await strike({ type: "bad-json" }, anonymous);
  expect(broken.answer.status).toBe(401);
  expect(() => JSON.parse(broken.answer.body)).toThrow(SyntaxError);
  const late = await strike({ type: "late", delayMilliseconds: 0 }, anonymous);
  expect([late.answer.status, late.domains]).toEqual([504, 0]);
  emulator.setFaults([{ effect: { type: "slow-body", durationMilliseconds: 50 } }]);
  expect((await send("GET", "/nowhere")).status).toBe(404);
  expect((await rawExchange(emulator.port, { method: "HEAD", path: "/v4/vpcs" })).status).toBe(405);
  emulator.setFaults([{ effect: { type: "half-body" } }]);
  const head = await rawExchange(emulator.port, { method: "HEAD", path: "/v4/vpcs" });
  expect([head.status, head.body, head.reset]).toEqual([405, "", true]);
});

test("a large answer is halved, broken and slowed as a small one is", async () => {
  const records = Array.from({ length: 500 }, (_, index) => ({
    type: "TXT",
    name: `n${index}`,
    target: "ü".repeat(500),
  }));
  const { emulator } = await startTested({ seed: { domains: [{ domain: "example.com", records }] } as never });
  const path = "/v4/domains/30001/records?page_size=500";
  const whole = await rawExchange(emulator.port, { path });
  const length = Buffer.byteLength(whole.body);
  expect([whole.status, length > 500_000]).toEqual([200, true]);
  emulator.setFaults([{ effect: { type: "slow-body", durationMilliseconds: 100 } }]);
  expect((await rawExchange(emulator.port, { path })).body).toBe(whole.body);
  emulator.setFaults([{ effect: { type: "bad-json" } }]);
  expect(`${(await rawExchange(emulator.port, { path })).body}}`).toBe(whole.body);
  emulator.setFaults([{ effect: { type: "half-body" } }]);
  const half = await rawExchange(emulator.port, { path });
  expect([half.reset, Number(headerOf(half, "content-length"))]).toEqual([true, length]);
  expect(half.text.length).toBeLessThan(whole.text.length * 0.6);
});
