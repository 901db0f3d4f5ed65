/** Threats by what the workers of a fleet keep of an account's limits. */

import { expect, onTestFinished, test } from "vitest";
import { MAX_HANDED_MILLISECONDS, type SeenLimits } from "../../src/api/pace.ts";
import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { JumpingClock, open } from "../api/scripted.ts";

const clock = new JumpingClock();

async function service(requests: number): Promise<Emulator> {
  const running = await startEmulator({ now: () => clock.now(), rateLimit: { requests, seconds: 10 } });
  onTestFinished(() => running.close());
  return running;
}

async function use(baseUrl: string, count: number, seen: SeenLimits | null): Promise<void> {
  const { api } = await open(baseUrl, { token: "emulator-token", clock, pace: { seen } });
  await api.get({ path: ["domains"] });
  await Promise.all(Array.from({ length: count }, () => api.get({ path: ["vpcs"] })));
}

function forged(remaining: number, milliseconds: number): SeenLimits {
  const window = { limit: 20, remaining, resetAt: clock.now() + milliseconds };
  const endpoints = ["GET /vpcs", "GET /domains"].map((endpoint) => ({ endpoint, ...window }));
  return { common: { ...window, isShared: true }, endpoints };
}

test("a forged record of limits delays an account by five minutes at most, and makes none faster", async () => {
  expect(MAX_HANDED_MILLISECONDS).toBe(300_000);
  const wide = await service(1_000);
  for (const milliseconds of [MAX_HANDED_MILLISECONDS, MAX_HANDED_MILLISECONDS + 1, 1e12]) {
    const begun = clock.now();
    await use(wide.baseUrl, 20, forged(0, milliseconds));
    expect(clock.now() - begun).toBe(milliseconds > MAX_HANDED_MILLISECONDS ? 0 : milliseconds);
  }
  const refused = [];
  for (const seen of [null, forged(1e9, MAX_HANDED_MILLISECONDS)]) {
    const narrow = await service(20);
    await use(narrow.baseUrl, 60, seen);
    refused.push(narrow.requests.filter(({ status }) => status === 429).length);
  }
  expect(refused[1]).toBeLessThanOrEqual(refused[0] ?? 0);
});
