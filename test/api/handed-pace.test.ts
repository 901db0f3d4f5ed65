/** Limits that one client has seen and hands on to the next of the same token. */

import { expect, onTestFinished, test } from "vitest";
import type { SeenLimits } from "../../src/api/pace.ts";
import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { JumpingClock, json, open, serve } from "./scripted.ts";
import { LIMIT, Window } from "./window.ts";

const clock = new JumpingClock();

async function service(requests: number): Promise<Emulator> {
  const running = await startEmulator({ now: () => clock.now(), rateLimit: { requests, seconds: 10 } });
  onTestFinished(() => running.close());
  return running;
}

/** Sends so many requests of two endpoints, and hands on what was seen. */
async function use(baseUrl: string, count: number, seen: SeenLimits | null): Promise<SeenLimits | null> {
  const pace = { seen };
  const { api } = await open(baseUrl, { token: "emulator-token", clock, pace });
  await api.get({ path: ["domains"] });
  await Promise.all(Array.from({ length: count - 1 }, () => api.get({ path: ["vpcs"] })));
  await api.close();
  // As it is kept.
  return JSON.parse(JSON.stringify(pace.seen));
}

function refused({ requests }: Emulator): number {
  return requests.filter(({ status }) => status === 429).length;
}

test.each([20, 19, 15])(
  "of 20 requests in 10 s one client uses %i, and the next begins with what is left",
  async (used) => {
    const running = await service(20);
    const seen = await use(running.baseUrl, used, null);
    await use(running.baseUrl, 30, seen);
    expect([refused(running), running.requests.length]).toEqual([0, used + 30]);
  },
);

test("a limit of an endpoint of its own, and a pause that was ordered, are handed on", async () => {
  const window = new Window(Math.ceil);
  let isPaused = true;
  const { baseUrl } = await serve(({ url }, response) => {
    if (url.startsWith("/v4/vpcs")) {
      const { status, headers } = window.take(clock.now());
      return json(response, status, status === 200 ? { data: [] } : { errors: [] }, headers);
    }
    if (isPaused) return json(response, 429, { errors: [] }, { "retry-after": "120" });
    return json(response, 200, { data: [] });
  });
  const first = { seen: null as SeenLimits | null };
  const { api } = await open(baseUrl, { clock, pace: first });
  await Promise.all(Array.from({ length: LIMIT }, () => api.get({ path: ["vpcs"] })));
  const stop = new AbortController();
  const waiting = api.get({ path: ["domains"] }, stop.signal);
  // The client has taken the answer, and its pause has not passed.
  while (!clock.slept.some((milliseconds) => milliseconds >= 100_000)) await new Promise(setImmediate);
  stop.abort();
  await waiting;
  await api.close();
  expect(first.seen?.endpoints.map(({ endpoint, remaining }) => [endpoint, remaining])).toContainEqual([
    "GET /domains",
    0,
  ]);
  isPaused = false;
  const begun = clock.now();
  const second = await open(baseUrl, { clock, pace: first });
  await second.api.get({ path: ["vpcs"] });
  await second.api.get({ path: ["domains"] });
  expect(window.refused).toBe(0);
  expect(clock.now() - begun).toBeGreaterThanOrEqual(100_000);
});
