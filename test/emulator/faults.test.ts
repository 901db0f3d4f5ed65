/** Faults as text, what is said of a text that is none, and which requests meet a fault: counted, by chance, the same each time. */

import { expect, test } from "vitest";
import { chooseFaults, type FaultRequest } from "../../src/emulator/faults.ts";
import { type Fault, parseFault } from "../../src/emulator/index.ts";
import { startTested } from "../support/emulator.ts";

function problemOf(spec: string): string {
  const parsed = parseFault(spec);
  if (parsed.ok) throw new Error(`${spec} was read as ${JSON.stringify(parsed.fault)}`);
  return parsed.problem;
}

test("every effect has its text", () => {
  const effects: [string, Fault["effect"]][] = [
    ["status=503", { type: "status", status: 503 }],
    ["status=429,retry-after=2", { type: "status", status: 429, retryAfterSeconds: 2 }],
    ["status=429,retry-after=none", { type: "status", status: 429, retryAfterSeconds: null }],
    ["html=502", { type: "html", status: 502 }],
    ["html=200", { type: "html", status: 200 }],
    ["busy", { type: "busy" }],
    ["maintenance", { type: "maintenance" }],
    ["drop=before", { type: "drop-before" }],
    ["drop=after", { type: "drop-after" }],
    ["late=250", { type: "late", delayMilliseconds: 250 }],
    ["late=250,drop=before", { type: "late", delayMilliseconds: 250, status: "drop" }],
    ["half-body", { type: "half-body" }],
    ["bad-json", { type: "bad-json" }],
    ["slow-headers=100", { type: "slow-headers", delayMilliseconds: 100 }],
    ["slow-body=0", { type: "slow-body", durationMilliseconds: 0 }],
  ];
  for (const [spec, effect] of effects)
    expect([spec, parseFault(spec)]).toEqual([spec, { ok: true, fault: { effect } }]);
});

test("selectors stand in any order, with spaces around them", () => {
  const fault = {
    effect: { type: "busy" },
    method: "POST",
    path: "/domains/*/records",
    nth: [2, 5],
    every: 10,
    rate: 0.1,
    times: 3,
  };
  const spec = "times=3, rate=.1, nth=2;5 ,busy, every=10, path=/domains/*/records, method=post";
  expect(parseFault(spec)).toEqual({ ok: true, fault });
});

test("a text that is no fault is answered with what is wrong and an example", () => {
  const wrong: [string, RegExp][] = [
    ["", /unknown key ""/],
    ["method=POST", /names no effect/],
    ["busy,maintenance", /busy and maintenance are two effects/],
    ["busy,busy", /busy is given twice/],
    ["busy,nth=1,nth=2", /nth is given twice/],
    ["status", /status must be a whole number, as in status=503$/],
    ["status=200", /status must be a whole number from 400 to 599, as in status=503$/],
    ["status=600", /400 to 599/],
    ["html=204", /200 or a whole number from 400 to 599, as in html=502$/],
    ["status=5e2", /whole number/],
    ["busy=1", /busy takes no value/],
    ["drop=maybe", /before or after, as in drop=after$/],
    ["late=10,drop=after", /late=500,drop=before$/],
    ["late=300001", /late must be a whole number from 0 to 300000/],
    ["slow-body=-1", /slow-body must be a whole number/],
    ["busy,retry-after=1", /retry-after goes with status alone, as in status=429,retry-after=1$/],
    ["status=429,retry-after=86401", /retry-after must be none or a whole number from 0 to 86400/],
    ["busy,method=", /method needs a value, as in busy,method=POST$/],
    ["busy,method=PO ST", /method must be one like POST/],
    ["busy,path", /path needs a value/],
    ["busy,path=domains", /path must begin with \/ or \*, as in status=503,path=\/domains/],
    ["busy,nth=0", /nth must be whole numbers from 1/],
    ["busy,nth=1;", /nth must be a whole number/],
    ["busy,every=0", /every must be a whole number from 1/],
    ["busy,rate=1.5", /rate must be a number from 0 to 1, as in status=500,rate=0.1$/],
    ["busy,rate=NaN", /rate must be a number/],
    ["busy,times=0", /times must be a whole number from 1/],
    ["__proto__=1", /unknown key "__proto__"/],
    ["constructor", /unknown key "constructor"/],
    [`busy,path=/${"x".repeat(5000)}`, /more than 4096 characters/],
    ["\u001b[2J", /"\\u001b\[2J"/],
  ];
  for (const [spec, problem] of wrong) expect(problemOf(spec)).toMatch(problem);
  for (const [spec] of wrong) expect(problemOf(spec)).toMatch(/^fault "/);
});

test("what no text can say is refused too when the emulator is given it", async () => {
  const { emulator } = await startTested();
  const busy = { type: "busy" } as const;
  const wrong: Fault[] = [
    { effect: { type: "late", delayMilliseconds: 0.5 } },
    { effect: { type: "status", status: 99 } },
    { effect: busy, rate: Number.NaN },
    { effect: busy, nth: [] },
    { effect: busy, nth: [1, 0] },
    { effect: busy, method: "post" },
    { effect: { type: "nonsense" } as never },
  ];
  for (const fault of wrong) expect(() => emulator.setFaults([fault]), JSON.stringify(fault)).toThrow(/^faults\[0\]: /);
  expect(() => emulator.setFaults([], -1)).toThrow(/seed/);
  await expect(startTested({ faults: [wrong[0] as Fault] })).rejects.toThrow(/^faults\[0\]: late/);
});

const GET: FaultRequest = { method: "GET", path: "/domains" };

function faults(...specs: string[]): Fault[] {
  return specs.map((spec) => {
    const parsed = parseFault(spec);
    if (!parsed.ok) throw new Error(parsed.problem);
    return parsed.fault;
  });
}

/** The effect of each request, `-` for none. */
function sequence(chosen: readonly Fault[], seed: number, requests: readonly FaultRequest[]): string[] {
  const choose = chooseFaults(chosen, seed);
  return requests.map((request) => choose(request)?.type ?? "-");
}

function many(count: number, request: FaultRequest = GET): FaultRequest[] {
  return Array.from({ length: count }, () => request);
}

/** The numbers, from 1, of the requests that are hit. */
function hits(spec: string, count: number, seed = 1): number[] {
  return sequence(faults(spec), seed, many(count)).flatMap((type, index) => (type === "-" ? [] : [index + 1]));
}

test("nth, every and times count the requests that match, and all must agree", () => {
  expect(hits("busy", 3)).toEqual([1, 2, 3]);
  expect(hits("busy,nth=2;5", 8)).toEqual([2, 5]);
  expect(hits("busy,every=3", 10)).toEqual([3, 6, 9]);
  expect(hits("busy,times=2", 5)).toEqual([1, 2]);
  expect(hits("busy,every=3,times=2", 20)).toEqual([3, 6]);
  expect(hits("busy,every=3,nth=2;6", 20)).toEqual([6]);
  expect(hits("busy,rate=0", 1000)).toEqual([]);
  expect(hits("busy,rate=1", 1000)).toHaveLength(1000);
  expect(hits("busy,rate=0.5,times=4", 1000)).toHaveLength(4);
});

test("method and path select, and only what they select is counted", () => {
  const requests = [GET, { method: "POST", path: "/domains" }, GET, { method: "POST", path: "/domains/1/records" }];
  expect(sequence(faults("busy,method=POST,nth=2"), 1, requests)).toEqual(["-", "-", "-", "busy"]);
  const matched = (path: string): string[] =>
    [
      "/domains",
      "/domains/1",
      "/domains/1/records",
      "/domains/1/records/2",
      "/images/private/3",
      "/_upload/p/1",
    ].filter((asked) => sequence(faults(`busy,path=${path}`), 1, [{ method: "GET", path: asked }])[0] === "busy");
  expect(matched("/domains")).toEqual(["/domains"]);
  expect(matched("/domains/*/records")).toEqual(["/domains/1/records"]);
  expect(matched("/domains*")).toEqual(["/domains", "/domains/1", "/domains/1/records", "/domains/1/records/2"]);
  expect(matched("*/records*")).toEqual(["/domains/1/records", "/domains/1/records/2"]);
  expect(matched("/*s/*/*s*")).toEqual(["/domains/1/records", "/domains/1/records/2"]);
  expect(matched("/_upload/*")).toEqual(["/_upload/p/1"]);
  expect(matched("*")).toHaveLength(6);
  expect(matched("/domains/.")).toEqual([]);
});

test("a glob needs its beginning and its end apart, and none takes long", () => {
  const hit = (path: string, asked: string): boolean =>
    sequence(faults(`busy,path=${path}`), 1, [{ method: "GET", path: asked }])[0] === "busy";
  expect(hit("/ab*ba", "/aba")).toBe(false);
  expect(hit("/ab*ba", "/abba")).toBe(true);
  expect(hit(`/${"a*".repeat(1000)}b`, `/${"a".repeat(16_000)}`)).toBe(false);
});

test("the same seed gives the same faults over 1,000 requests, another seed others", () => {
  const chosen = faults("busy,rate=0.1", "drop=after,rate=0.2,method=POST", "html=502,rate=0.05,path=/domains*");
  const requests = Array.from({ length: 1000 }, (_, index) => ({
    method: index % 3 === 0 ? "POST" : "GET",
    path: index % 2 === 0 ? "/domains" : "/vpcs",
  }));
  const first = sequence(chosen, 1, requests);
  expect(sequence(chosen, 1, requests)).toEqual(first);
  for (const seed of [0, 2, 3, 2 ** 31, 2 ** 32 - 1]) {
    expect(sequence(chosen, seed, requests)).not.toEqual(first);
  }
  expect(new Set(first)).toEqual(new Set(["-", "busy", "drop-after", "html"]));
});

test("a rate is about the share of the requests, whatever the seed", () => {
  for (let seed = 0; seed < 50; seed += 1) {
    const count = hits("busy,rate=0.1", 10_000, seed).length;
    expect(Math.abs(count - 1000), `seed ${seed}`).toBeLessThan(150);
  }
});

test("the first fault that hits wins, all count, and only what happens uses up times", () => {
  const chosen = faults("busy,nth=2", "html=502,nth=2;3", "maintenance,times=1,every=2");
  expect(sequence(chosen, 1, many(6))).toEqual(["-", "busy", "html", "maintenance", "-", "-"]);
});

test("one more fault at the end leaves the chances of the others alone", () => {
  const without = sequence(faults("busy,rate=0.3"), 9, many(500));
  const within = sequence(faults("busy,rate=0.3", "html=502,rate=0.3"), 9, many(500));
  expect(within.map((type) => (type === "html" ? "-" : type))).toEqual(without);
  expect(within).toContain("html");
  const html = sequence(faults("html=502,rate=0.3"), 9, many(500));
  expect(html.map((type) => type !== "-")).toEqual(without.map((type) => type !== "-"));
  expect(within.filter((type, index) => type === "html" && html[index] === "-").length).toBeGreaterThan(0);
});
