import { describe, expect, it } from "vitest";
import { createLimiter } from "../../src/api/limiter.ts";
import { JumpingClock } from "./scripted.ts";
import { LIMIT, WINDOW_MILLISECONDS, Window } from "./window.ts";

const ENDPOINTS = ["POST /domains", "POST /domains/*/records", "PUT /domains/*"];

type Send = (endpoint: string) => Promise<void>;

/** Sends one request through a limiter of its own, with a latency between 20 and 180 ms, until it is served. */
function sender(windowOf: (endpoint: string) => Window, clock: JumpingClock): Send {
  const limiter = createLimiter({ concurrency: 8, clock, random: () => 0.5, reportThrottled: () => {} });
  let seed = 11;
  const latency = (): number => {
    seed = (seed * 16_807) % 2_147_483_647;
    return 10 + (seed % 80);
  };
  return async (endpoint) => {
    for (let place: number | null = null, status = 0; status !== 200; ) {
      const pass = await limiter.acquire(endpoint, place, undefined);
      if (pass === null) throw new Error("not aborted");
      place = pass.place;
      await clock.sleep(latency());
      const taken = windowOf(endpoint).take(clock.now());
      await clock.sleep(latency());
      pass.release(taken);
      status = taken.status;
    }
  };
}

/** Sends 400 requests to each endpoint, all at once; milliseconds it took. */
async function load(windowOf: (endpoint: string) => Window, clock: JumpingClock): Promise<number> {
  const send = sender(windowOf, clock);
  const begin = clock.now();
  await Promise.all(Array.from({ length: 1_200 }, (_, index) => send(ENDPOINTS[index % 3] ?? "")));
  return clock.now() - begin;
}

describe("a limit of 100 in 10 seconds", () => {
  it("that three endpoints have in common is found out: few 429s, little more than the least time", async () => {
    const window = new Window(Math.ceil);
    const took = await load(() => window, new JumpingClock("immediate"));
    expect(window.served).toBe(1_200);
    expect(window.refused).toBeLessThanOrEqual(12);
    expect(took).toBeLessThanOrEqual(11 * WINDOW_MILLISECONDS * 1.1 + 2_000);
  });

  it("that each of three endpoints has for itself is used to the full", async () => {
    const windows = new Map(ENDPOINTS.map((endpoint) => [endpoint, new Window(Math.ceil)]));
    const windowOf = (endpoint: string): Window => windows.get(endpoint) ?? new Window(Math.ceil);
    const took = await load(windowOf, new JumpingClock("immediate"));
    const all = [...windows.values()];
    expect(all.map((window) => window.served)).toEqual([400, 400, 400]);
    expect(all.reduce((sum, window) => sum + window.refused, 0)).toBeLessThanOrEqual(12);
    // 400 requests need four windows; three endpoints that waited for each other would need twelve.
    expect(took).toBeLessThanOrEqual((400 / LIMIT) * WINDOW_MILLISECONDS * 1.5);
  });

  it("that one endpoint has used up does not keep back another that has its own", async () => {
    const windows = new Map(ENDPOINTS.map((endpoint) => [endpoint, new Window(Math.ceil, true)]));
    const clock = new JumpingClock("immediate");
    const send = sender((endpoint) => windows.get(endpoint) ?? new Window(Math.ceil), clock);
    const begin = clock.now();
    const hundred = Array.from({ length: LIMIT });
    await Promise.all(hundred.map(() => send("POST /domains")));
    await Promise.all(hundred.map(() => send("PUT /domains/*")));
    expect(clock.now() - begin).toBeLessThan(WINDOW_MILLISECONDS);
  });
});
