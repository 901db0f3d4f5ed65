/** A worker's turns of an account on real engines: what is locked, how often a run is tried, and how long it is put back. */

import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import {
  type FleetAccount,
  type FleetStore,
  type Hold,
  type RunResult,
  Submission,
  serveFleet,
} from "../../src/fleet/index.ts";
import {
  Records,
  type RunRequest,
  type RunState,
  SCHEDULE_KEY,
  scheduledKey,
  stateKey,
} from "../../src/fleet/records.ts";
import type { Fence } from "../../src/fleet/store.ts";
import type { SubmissionEvent, Submitted } from "../../src/fleet/submit.ts";
import type { WorkerEvent } from "../../src/fleet/worker.ts";
import type { Ran } from "../../src/model/fleet.ts";
import { eachEngine, openedStore } from "../support/stores.ts";

const LEASE_MILLISECONDS = 60_000;
const HOUR_MILLISECONDS = 3_600_000;
const DIGEST = "0".repeat(64);
const LOOK = { width: 80, colour: false };

const ACCOUNT: FleetAccount = {
  ...{ name: "a", project: "/p", environment: null, variables: {}, baseUrl: "https://a.example/v4", dialect: "node" },
  ...{ account: null, token: { env: "T" }, labels: {} },
};

function ran(code: number, headline: string): Ran {
  return { type: "ran", code, headline, text: "", markup: "plain", document: null };
}

const DONE: RunResult = { outcome: ran(0, "done"), plan: null };

interface Asked {
  readonly run: string;
  readonly outcome: Promise<Submitted | null>;
}

async function opened(
  store: FleetStore,
  command: RunRequest["command"],
  observe: (event: SubmissionEvent) => void = () => {},
): Promise<Submission> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const request: RunRequest = {
    command,
    flags: { format: "text" },
    results: LOOK,
    messages: LOOK,
    saves: false,
    documents: false,
  };
  const submission = new Submission({ store, request, stop: stop.signal, observe });
  await submission.open();
  return submission;
}

async function ask(store: FleetStore, command: RunRequest["command"] = "plan"): Promise<Asked> {
  const submission = await opened(store, command);
  const outcome = submission.submit(ACCOUNT, DIGEST, null);
  const pending = async () => (await new Records(store).read("pending", "pending/a")).value?.runs.at(-1)?.run;
  await expect.poll(pending).toBeDefined();
  return { run: (await pending()) ?? "", outcome };
}

/** @param before is called with the method and its arguments before each call */
function watched(store: FleetStore, before: (method: string, args: readonly unknown[]) => Promise<void>): FleetStore {
  return new Proxy(store, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== "function") return value;
      return async (...args: readonly unknown[]) => {
        await before(String(key), args);
        return value.apply(target, args);
      };
    },
  });
}

/** As other workers have left it. */
async function leave(store: FleetStore, { run }: Asked, state: RunState): Promise<void> {
  const { version } = await new Records(store).read("state", stateKey(run, "a"));
  expect(await new Records(store).write("state", stateKey(run, "a"), state, version)).toBe(true);
}

async function lockWhenFree(store: FleetStore): Promise<Fence> {
  for (;;) {
    const fence = await store.lock("a", LEASE_MILLISECONDS);
    if (fence !== null) return fence;
    await sleep(20);
  }
}

interface ServeOptions {
  readonly leaseMilliseconds: number;
  /** Its digest. */
  readonly token: string | null;
  /** Why each run is left to others. */
  readonly refusal: string | null;
  observe(event: WorkerEvent): void;
}

/** Serves until the test ends, or what is returned is called. */
function serve(
  store: FleetStore,
  run: (hold: Hold) => RunResult | Promise<RunResult>,
  {
    leaseMilliseconds = LEASE_MILLISECONDS,
    token = null,
    refusal = null,
    observe = () => {},
  }: Partial<ServeOptions> = {},
): () => Promise<void> {
  const stop = new AbortController();
  const serving = serveFleet({
    ...{ store, name: "w", slots: 1, leaseMilliseconds, stop: stop.signal },
    find: async (name) => ({ type: "found", account: { ...ACCOUNT, name } }),
    tokenOf: async () => token,
    refuses: async () => refusal,
    run: async (_account, _request, _pending, hold) => run(hold),
    fail: (...parts) => ran(1, `${parts.at(-1)}`),
    observe,
  });
  const end = async (): Promise<void> => {
    stop.abort();
    await serving;
  };
  onTestFinished(end);
  return end;
}

eachEngine((serverOf) => {
  let prefixes = 0;
  const open = (): Promise<FleetStore> => openedStore(serverOf().url, `t${++prefixes}`, LEASE_MILLISECONDS);

  test("an account is not unlocked while its lock is being extended", async () => {
    const store = await open();
    let extending = 0;
    const unlocked: { readonly account: string; readonly extending: number }[] = [];
    const slow = {
      extend: async (...args: Parameters<FleetStore["extend"]>) => {
        extending += 1;
        await sleep(500);
        const isOurs = await store.extend(...args);
        extending -= 1;
        return isOurs;
      },
      // That of the token comes first, and gives the next extension time to begin.
      unlock: async (fence: Fence) => {
        unlocked.push({ account: fence.account, extending });
        await sleep(400);
        await store.unlock(fence);
      },
    };
    const slowed = new Proxy(store, {
      get: (target, key) => {
        const value: unknown = Reflect.get(key in slow ? slow : target, key);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const { outcome } = await ask(store);
    const end = serve(slowed, () => DONE, { leaseMilliseconds: 300, token: DIGEST });
    expect(await outcome).toMatchObject({ outcome: { headline: "done" } });
    await end();
    expect(unlocked.map(({ account }) => account)).toEqual([`token/${DIGEST}`, "a"]);
    expect(unlocked.at(-1)).toEqual({ account: "a", extending: 0 });
  });

  test("a lock admits from when its extension was asked for, not from when the answer was read", async () => {
    const store = await open();
    const leaseMilliseconds = 4_000;
    let isLate = true;
    const late = new Proxy(store, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== "function") return value;
        if (key !== "extend") return value.bind(target);
        return async (...args: Parameters<FleetStore["extend"]>) => {
          const isOurs = await store.extend(...args);
          // As of a process that is stopped before it reads the answer.
          if (isLate) await sleep(leaseMilliseconds);
          return isOurs;
        };
      },
    });
    const lasted: (boolean | undefined)[] = [];
    const run = async (hold: Hold): Promise<RunResult> => {
      lasted.push((await hold.admit(undefined))?.lasts());
      isLate = false;
      const admission = await hold.admit(undefined);
      lasted.push(admission?.lasts());
      await sleep(leaseMilliseconds * 0.8);
      lasted.push(admission?.lasts());
      return DONE;
    };
    const { outcome } = await ask(store);
    serve(late, run, { leaseMilliseconds });
    expect(await outcome).toMatchObject({ outcome: { headline: "done" } });
    expect(lasted).toEqual([false, true, false]);
  });

  test("whoever asks sees when an account is begun and when it is left, and that what waits is neither", async () => {
    const store = await open();
    const seen: string[] = [];
    const submission = await opened(store, "plan", ({ type }) => seen.push(type));
    const waiting = submission.submit(ACCOUNT, DIGEST, null);
    await sleep(1_000);
    expect(seen).toEqual([]);
    let turns = 0;
    serve(store, async () => {
      turns += 1;
      // Whoever asks looks several times a second.
      await sleep(2_500);
      return turns === 1 ? { postponedMilliseconds: 2_000 } : DONE;
    });
    expect(await waiting).toMatchObject({ outcome: { headline: "done" } });
    expect(seen).toEqual(["begun", "left", "begun"]);
  });

  test("of many accounts some are asked for at a time", async () => {
    const store = await open();
    const [asking, done] = [new Set<string>(), new Set<string>()];
    let most = 0;
    const late = watched(store, async (method, [key]) => {
      const name = /^pending\/(.*)$/.exec(`${key}`)?.[1];
      if (name === undefined) return;
      if (method === "read") asking.add(name);
      if (method === "write") done.add(name);
      most = Math.max(most, asking.size - done.size);
      await sleep(10);
    });
    const submission = await opened(late, "plan");
    const outcomes = Array.from({ length: 200 }, (_, index) => {
      return submission.submit({ ...ACCOUNT, name: `a${index}` }, DIGEST, null);
    });
    await expect.poll(() => done.size, { timeout: 30_000 }).toBe(200);
    expect(most).toBe(32);
    serve(store, () => DONE);
    expect(await Promise.all(outcomes)).toHaveLength(200);
  });

  test("a run that ended ten workers is begun by no other, and fails", async () => {
    const store = await open();
    let runs = 0;
    const tried = await ask(store);
    await leave(store, tried, { state: "running", attempts: 9, worker: "killed" });
    const end = serve(store, () => {
      runs += 1;
      return DONE;
    });
    expect(await tried.outcome).toMatchObject({ outcome: { code: 0 } });
    await end();
    const spent = await ask(store);
    await leave(store, spent, { state: "running", attempts: 10, worker: "killed" });
    const ended: string[] = [];
    // Or the status would show the killed worker's run until the next one.
    const observe = (event: WorkerEvent): void => {
      if (event.type === "done") ended.push(event.outcome.headline);
    };
    const run = (): RunResult => {
      runs += 1;
      return DONE;
    };
    serve(store, run, { observe });
    const headline = "10 workers ended while they ran this account";
    expect(await spent.outcome).toEqual({ outcome: ran(1, headline), plan: null });
    expect(runs).toBe(1);
    await expect.poll(() => ended).toEqual([headline]);
  });

  test("a request that this release cannot read ends with words, and nobody waits for it", async () => {
    const store = await open();
    const asked = await ask(store);
    const key = `run/${asked.run}`;
    expect(await store.write(key, '{"command":"plan","of":"another release"}', 1, null)).toBe(true);
    const refused: string[] = [];
    const observe = (event: WorkerEvent): void => {
      if (event.type === "refused") refused.push(event.reason);
    };
    // Another worker may be of a release that can.
    serve(store, () => DONE, { leaseMilliseconds: 300, observe });
    expect(await asked.outcome).toMatchObject({
      outcome: { code: 1, headline: expect.stringContaining("cannot be read by worker w: use") },
    });
  });

  /** A comparison each hour, of which `last` was the last of account a. */
  async function scheduled(last: { readonly at: number; readonly refusedSince: number | null }) {
    const store = await open();
    const records = new Records(store);
    const request = { command: "drift", flags: { format: "text" }, results: LOOK, messages: LOOK } as const;
    const schedule = { request: { ...request, saves: false, documents: false }, everyMilliseconds: HOUR_MILLISECONDS };
    expect(await records.write("schedule", SCHEDULE_KEY, schedule, 0)).toBe(true);
    expect(await records.write("scheduled", scheduledKey("a"), last, 0)).toBe(true);
    await store.queue.enqueue("a");
    return { store, records };
  }

  test("a scheduled comparison that was refused long ago is left to others first", async () => {
    const { store, records } = await scheduled({ at: 0, refusedSince: Date.now() - HOUR_MILLISECONDS });
    const seen: string[] = [];
    const observe = ({ type }: WorkerEvent): void => void seen.push(type);
    serve(store, () => DONE, { leaseMilliseconds: 500, refusal: "no token", observe });
    await expect.poll(() => seen.at(-1), { timeout: 30_000 }).toBe("done");
    expect(seen.slice(0, 2)).toEqual(["refused", "refused"]);
    expect((await records.read("scheduled", scheduledKey("a"))).value).toMatchObject({ refusedSince: null });
  });

  test("a scheduled comparison is not kept waiting by a time to come, as a clock that was ahead has left it", async () => {
    const { store, records } = await scheduled({ at: Date.now() + 1_000 * HOUR_MILLISECONDS, refusedSince: null });
    const seen: string[] = [];
    serve(store, () => DONE, { observe: ({ type }: WorkerEvent): void => void seen.push(type) });
    await expect.poll(() => seen.at(-1), { timeout: 30_000 }).toBe("done");
    expect((await records.read("scheduled", scheduledKey("a"))).value?.at).toBeLessThanOrEqual(Date.now());
  });

  test("a run that is put back is taken again, and counts as no attempt", async () => {
    const store = await open();
    const asked = await ask(store);
    const holds: boolean[] = [];
    serve(store, ({ mayPostpone }) => {
      holds.push(mayPostpone);
      return holds.length < 15 ? { postponedMilliseconds: 20 } : DONE;
    });
    expect(await asked.outcome).toMatchObject({ outcome: { code: 0 } });
    expect(holds).toEqual(Array.from({ length: 15 }, () => true));
  });

  test("a run that has been put back for two hours keeps its slot, and an apply is never put back", async () => {
    const store = await open();
    const holds: boolean[] = [];
    serve(store, ({ mayPostpone }) => {
      holds.push(mayPostpone);
      return DONE;
    });
    for (const { hours, command } of [
      { hours: 1.9, command: "plan" },
      { hours: 2, command: "plan" },
      { hours: 0, command: "apply" },
    ] as const) {
      // No worker begins it before its record is as others have left it.
      const held = await lockWhenFree(store);
      const asked = await ask(store, command);
      const since = Date.now() - hours * HOUR_MILLISECONDS;
      await leave(store, asked, { state: "postponed", attempts: 0, since, until: Date.now() });
      await store.unlock(held);
      expect(await asked.outcome).toMatchObject({ outcome: { code: 0 } });
    }
    expect(holds).toEqual([true, false, false]);
  });
});
