/** Faults as text, and what is said of a text that is none. */

import { expect, test } from "vitest";
import { type Fault, parseFault } from "../../src/emulator/index.ts";

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
  const { startTested } = await import("../support/emulator.ts");
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
