/** Asks the workers of a fleet to run a command for an account, and waits for what it comes to. */

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Ran } from "../model/fleet.ts";
import type { FleetAccount } from "./fleet-file.ts";
import {
  FLEET_KEY,
  MAX_PENDING_RUNS,
  type PendingRun,
  printable,
  Records,
  type RunRequest,
  requestKey,
  stateKey,
} from "./records.ts";
import { Slots } from "./slots.ts";
import type { FleetStore } from "./store.ts";

const POLL_MILLISECONDS = 150;
/** Accounts that are asked for at a time: a store has few connections, and whoever waits for one gives up in the end. */
const MAX_ASKED_TOGETHER = 32;
/** Wake-ups are sent again: the server may have lost them with its data. */
const REPEAT_MILLISECONDS = 10_000;
/** When it is said that nobody takes anything. */
const IDLE_MILLISECONDS = 10_000;

/** What is worth saying while one waits. */
export type SubmissionEvent =
  | { readonly type: "no-worker" }
  | { readonly type: "refused"; readonly account: string; readonly reason: string };

export interface SubmissionOptions {
  readonly store: FleetStore;
  readonly request: RunRequest;
  /** Aborted: what was not begun is taken back. */
  readonly stop: AbortSignal;
  observe(event: SubmissionEvent): void;
}

/** What came of an account, and the digest of its saved plan if there is one. */
export interface Submitted {
  readonly outcome: Ran;
  readonly plan: string | null;
}

interface Waiting {
  readonly account: string;
  readonly pending: PendingRun;
  version: number;
  /** Said so far. */
  reason: string | null;
  resolve(submitted: Submitted | null): void;
}

export class Submission {
  readonly #run: string = randomUUID();
  readonly #options: SubmissionOptions;
  readonly #records: Records;
  readonly #asking: Slots = new Slots(MAX_ASKED_TOGETHER);
  readonly #waiting: Map<string, Waiting> = new Map();
  #polling: Promise<void> | null = null;
  #failure: unknown = null;
  #isTaken = false;
  #begunAt = 0;
  #repeatedAt = 0;

  constructor(options: SubmissionOptions) {
    this.#options = options;
    this.#records = new Records(options.store);
  }

  /** To be called once, before accounts are submitted. */
  async open(): Promise<void> {
    await this.#records.write("request", requestKey(this.#run), this.#options.request, 0);
    this.#begunAt = Date.now();
    this.#repeatedAt = Date.now();
  }

  /** @returns null: it was taken back before it was begun */
  async submit(account: FleetAccount, digest: string, plan: string | null): Promise<Submitted | null> {
    const pending = { run: this.#run, digest, plan, at: Date.now() };
    await this.#asking.use(async () => {
      await this.#ask(account.name, pending);
      await this.#options.store.queue.wakeUp(account.name);
    });
    return new Promise((resolve, reject) => {
      this.#waiting.set(account.name, { account: account.name, pending, version: 0, reason: null, resolve });
      this.#polling ??= this.#poll().finally(() => {
        this.#polling = null;
      });
      this.#polling.catch((error: unknown) => {
        this.#failure ??= error;
        reject(this.#failure);
      });
    });
  }

  async #ask(account: string, pending: PendingRun): Promise<void> {
    await this.#records.changePending(account, ({ runs }) => {
      if (runs.some(({ run }) => run === pending.run)) return null;
      // What was forgotten by whoever asked is dropped before what is asked now.
      return { runs: [...runs, pending].slice(-MAX_PENDING_RUNS) };
    });
  }

  async #poll(): Promise<void> {
    const { stop, store } = this.#options;
    while (this.#waiting.size > 0) {
      const waiting = [...this.#waiting.values()];
      const versions = await store.versions(waiting.map(({ account }) => stateKey(this.#run, account)));
      for (const [index, one] of waiting.entries()) {
        if (versions[index] !== one.version) await this.#look(one);
      }
      if (stop.aborted) for (const one of this.#waiting.values()) await this.#takeBack(one);
      await this.#repeat();
      if (this.#waiting.size > 0) await sleep(POLL_MILLISECONDS);
    }
  }

  async #look(one: Waiting): Promise<void> {
    const { version, value } = await this.#records.read("state", stateKey(this.#run, one.account));
    one.version = version;
    this.#isTaken = true;
    if (value?.state === "refused" && value.reason !== one.reason) {
      one.reason = value.reason;
      this.#options.observe({ type: "refused", account: one.account, reason: value.reason });
    }
    if (value?.state !== "done") return;
    this.#waiting.delete(one.account);
    one.resolve({ outcome: printable(value.outcome), plan: value.plan });
    // Reports do not lie about for longer than they are needed.
    await this.#records.write("state", stateKey(this.#run, one.account), { state: "collected" }, version);
  }

  /** Whoever writes first wins: a worker that begins the run, or this. */
  async #takeBack(one: Waiting): Promise<void> {
    const key = stateKey(this.#run, one.account);
    const { version, value } = await this.#records.read("state", key);
    if (value?.state === "running" || value?.state === "done") return;
    if (!(await this.#records.write("state", key, { state: "cancelled" }, version))) return;
    this.#waiting.delete(one.account);
    one.resolve(null);
    await this.#records.changePending(one.account, ({ runs }) => {
      return { runs: runs.filter(({ run }) => run !== this.#run) };
    });
  }

  async #repeat(): Promise<void> {
    const now = Date.now();
    if (!this.#isTaken && now - this.#begunAt > IDLE_MILLISECONDS) {
      this.#isTaken = true;
      this.#options.observe({ type: "no-worker" });
    }
    if (now - this.#repeatedAt < REPEAT_MILLISECONDS) return;
    this.#repeatedAt = now;
    await this.#records.write("request", requestKey(this.#run), this.#options.request, 0);
    for (const { account, pending } of this.#waiting.values()) {
      await this.#ask(account, pending);
      await this.#options.store.queue.enqueue(account);
    }
  }
}

/**
 * Enters the names of a fleet's accounts for a prefix. A fleet may grow and shrink; one that has no account in common with the one before is
 * another one.
 * @returns false: the prefix is another fleet's
 */
export async function claimPrefix(store: FleetStore, names: readonly string[]): Promise<boolean> {
  const records = new Records(store);
  for (;;) {
    const { version, value } = await records.read("names", FLEET_KEY);
    const known = new Set(value?.names ?? []);
    if (known.size > 0 && !names.some((name) => known.has(name))) return false;
    if (await records.write("names", FLEET_KEY, { names: [...names] }, version)) return true;
  }
}
