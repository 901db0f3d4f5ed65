/** The queue of one process: at most one worker for an account, and none is forgotten. */

import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { EmbeddedQueue } from "../../src/fleet/index.ts";

const NEVER = new AbortController().signal;

test("whatever wakes accounts up, each runs alone, and once more after its last wake-up", async () => {
  const wakeUp = fc.record({ account: fc.constantFrom("a", "b", "c"), at: fc.nat(20) });
  const runs = fc.array(fc.record({ turns: fc.nat(4), later: fc.boolean() }), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(wakeUp, { maxLength: 20 }),
      runs,
      fc.integer({ min: 1, max: 4 }),
      async (ups, how, workers) => {
        const queue = new EmbeddedQueue();
        const [last, begun, active] = [new Map<string, number>(), new Map<string, number>(), new Set<string>()];
        let clock = 0;
        let run = 0;
        const pending = ups.toSorted((one, other) => one.at - other.at);
        const wake = async (): Promise<void> => {
          clock += 1;
          while (pending[0] !== undefined && pending[0].at <= clock) {
            const { account } = pending.shift() as { account: string };
            last.set(account, clock);
            await queue.enqueue(account);
          }
        };
        const work = async (): Promise<void> => {
          for (;;) {
            const lease = await queue.take(NEVER);
            if (lease === null) return;
            expect(active.has(lease.account)).toBe(false);
            active.add(lease.account);
            begun.set(lease.account, clock);
            const { turns, later } = how[run] ?? { turns: 1, later: false };
            run += 1;
            for (let turn = 0; turn < turns; turn += 1) {
              await wake();
              await sleep(0);
            }
            active.delete(lease.account);
            if (later) await lease.later(1);
            else await lease.done();
          }
        };
        while (pending.length > 0) {
          await wake();
          await Promise.all(Array.from({ length: workers }, work));
        }
        for (const [account, at] of last) expect(begun.get(account)).toBeGreaterThanOrEqual(at);
        expect(await queue.take(NEVER)).toBeNull();
      },
    ),
    { numRuns: 60 },
  );
});

test("an account that waits is there once, in the order in which it came first", async () => {
  const queue = new EmbeddedQueue();
  for (const account of ["b", "a", "b", "c", "a"]) await queue.enqueue(account);
  const taken: (string | undefined)[] = [];
  for (let index = 0; index < 3; index += 1) {
    const lease = await queue.take(NEVER);
    taken.push(lease?.account);
    await lease?.done();
  }
  expect(taken).toEqual(["b", "a", "c"]);
  expect(await queue.take(NEVER)).toBeNull();
});

test("a worker that waits ends when it is told to, and when the last account is done", async () => {
  const queue = new EmbeddedQueue();
  await queue.enqueue("a");
  const lease = await queue.take(NEVER);
  const stop = new AbortController();
  const [stopped, idle] = [queue.take(stop.signal), queue.take(NEVER)];
  stop.abort();
  expect(await stopped).toBeNull();
  await lease?.done();
  expect(await idle).toBeNull();
});

test("an account that is put back is not taken before its time, however often it is enqueued", async () => {
  const queue = new EmbeddedQueue();
  await queue.enqueue("a");
  const lease = await queue.take(NEVER);
  let isTime = false;
  await lease?.later(30);
  await queue.enqueue("a");
  const timer = sleep(20).then(() => {
    isTime = true;
  });
  const again = await queue.take(NEVER);
  expect([again?.account, isTime]).toEqual(["a", true]);
  await timer;
  await queue.close();
});
