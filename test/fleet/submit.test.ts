/** Whoever asks workers for accounts, beside a store in memory that answers at a chosen moment. The real ones are in test/system. */

import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { EmbeddedQueue, type FleetAccount, type FleetStore, Submission } from "../../src/fleet/index.ts";

const DIGEST = "0".repeat(64);
const LOOK = { width: 80, colour: false };
const DONE = JSON.stringify({
  ...{ state: "done", plan: null },
  outcome: { type: "ran", code: 0, headline: "no changes", text: "", markup: "plain", document: null },
});

function accountOf(name: string): FleetAccount {
  return {
    ...{ name, project: "/p", environment: null, variables: {}, baseUrl: "https://a.example/v4", dialect: "node" },
    ...{ account: null, token: { env: "T" }, labels: {} },
  };
}

/** Each account is done once it is asked for. @param collected is called when an outcome was fetched @param turn what the wake-up of b waits for */
function storeOf(collected: () => void, turn: Promise<void>): FleetStore {
  const records = new Map<string, { version: number; text: string }>();
  class Queue extends EmbeddedQueue {
    override async wakeUp(account: string): Promise<void> {
      if (account === "b") await turn;
      const run = [...records.keys()].find((key) => key.startsWith("run/"))?.slice("run/".length);
      records.set(`state/${run}/${account}`, { version: 1, text: DONE });
    }
  }
  return {
    queue: new Queue(),
    read: async (key) => records.get(key) ?? null,
    versions: async (keys) => keys.map((key) => records.get(key)?.version ?? 0),
    write: async (key, text, expected) => {
      if ((records.get(key)?.version ?? 0) !== expected) return false;
      records.set(key, { version: expected + 1, text });
      if (text.includes("collected")) collected();
      return true;
    },
    renew: async () => true,
    lock: async () => null,
    extend: async () => false,
    unlock: async () => {},
    schedule: async () => {},
    scheduled: async () => [],
    close: async () => {},
  };
}

test("an account that is asked for while the last answer arrives is waited for, at whatever moment", async () => {
  const found = await Promise.all(
    Array.from({ length: 60 }, async (_, microtasks) => {
      let begin = (): void => {};
      const turn = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const collected = async (): Promise<void> => {
        for (let count = 0; count < microtasks; count += 1) await null;
        begin();
      };
      const request = { command: "plan", flags: { format: "text" }, results: LOOK, messages: LOOK } as const;
      const submission = new Submission({
        store: storeOf(() => void collected(), turn),
        request: { ...request, saves: false, documents: false },
        ...{ stop: new AbortController().signal, observe: () => {} },
      });
      await submission.open();
      const both = ["a", "b"].map((name) => submission.submit(accountOf(name), DIGEST, null));
      return Promise.race([Promise.all(both), sleep(20_000, `nobody polls, ${microtasks} microtasks later`)]);
    }),
  );
  expect(found.filter((one) => typeof one === "string")).toEqual([]);
});

test("a store that is slow, and answers each time, is waited for after a signal; one that does not is said to be silent", async () => {
  const records = new Map<string, { version: number; text: string }>();
  const request = { command: "plan", flags: { format: "text" }, results: LOOK, messages: LOOK } as const;
  const running = JSON.stringify({ state: "running", attempts: 1, worker: "host:1" });
  let isSilent = false;
  const own = storeOf(() => {}, new Promise(() => {}));
  const answer = async <Answer>(value: () => Answer): Promise<Answer> => {
    await sleep(12);
    return isSilent ? new Promise(() => {}) : value();
  };
  const store: FleetStore = {
    ...own,
    queue: new EmbeddedQueue(),
    read: (key) =>
      answer(() => (key.startsWith("state/") ? { version: 1, text: running } : (records.get(key) ?? null))),
    versions: (keys) => answer(() => keys.map(() => 1)),
    write: (key, text, expected) => {
      return answer(() => {
        records.set(key, { version: expected + 1, text });
        return true;
      });
    },
  };
  const stop = new AbortController();
  let said = 0;
  const submission = new Submission({
    ...{ store, request: { ...request, saves: false, documents: false }, stop: stop.signal, observe: () => {} },
    unanswered: () => {
      said += 1;
    },
  });
  await submission.open();
  // To look at all of them takes two seconds and more.
  for (let index = 0; index < 200; index += 1) void submission.submit(accountOf(`a${index}`), DIGEST, null);
  await sleep(200);
  stop.abort();
  await sleep(3_000);
  expect(said).toBe(0);
  isSilent = true;
  // By now all the others may have been taken back.
  void submission.submit(accountOf("late"), DIGEST, null);
  await expect.poll(() => said, { timeout: 30_000 }).toBe(1);
  submission.close();
});
