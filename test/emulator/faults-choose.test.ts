/** Which requests meet a fault: counted, by chance, and the same each time. */

import { expect, test } from "vitest";
import { chooseFaults, type Fault, type FaultRequest } from "../../src/emulator/faults.ts";
import { parseFault } from "../../src/emulator/index.ts";

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
