/** Asks the workers of a fleet to run a command for an account, and waits for what it comes to. */

import { AsyncResource } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Ran, UNANSWERED_MILLISECONDS } from "../model/fleet.ts";
import { escapeText } from "../render/terminal.ts";
import type { FleetAccount } from "./fleet-file.ts";
import {
  FLEET_KEY,
  MAX_PENDING_RUNS,
  NAMES_LIFETIME_MILLISECONDS,
  type PendingRun,
  pendingKey,
  printable,
  Records,
  type RunRequest,
  requestKey,
  stateKey,
  workerKey,
} from "./records.ts";
import { Slots } from "./slots.ts";
import type { Fence, FleetStore, StoredRecord } from "./store.ts";

const POLL_MILLISECONDS = 150;
/** Accounts that are asked for at a time: a store has few connections, and whoever waits for one gives up in the end. */
const MAX_ASKED_TOGETHER = 32;
/** Wake-ups are sent again: the server may have lost them with its data. */
const REPEAT_MILLISECONDS = 10_000;
/** When it is said that nobody takes anything. */
const IDLE_MILLISECONDS = 10_000;
/** So long nothing is heard of any account or its worker before what is waited for is given up. */
const MAX_SILENT_HOURS = 24;
const MAX_SILENT_MILLISECONDS = MAX_SILENT_HOURS * 60 * 60 * 1000;

/** What is worth saying while one waits. */
export type SubmissionEvent =
  | { readonly type: "no-worker" }
  /** A worker has begun to run it, or has put it back. */
  | { readonly type: "begun"; readonly account: string }
  | { readonly type: "left"; readonly account: string }
  | { readonly type: "refused"; readonly account: string; readonly reason: string };

export interface SubmissionOptions {
  readonly store: FleetStore;
  readonly request: RunRequest;
  /** Aborted: what was not begun is taken back. */
  readonly stop: AbortSignal;
  observe(event: SubmissionEvent): void;
  /** Called once after `stop` if the store does not answer, so that nothing can be taken back, and no apply has begun. Default: it is waited for. */
  unanswered?(): void;
}

/** The store as a submission uses it, which knows for how long it has not answered. */
class AskedStore implements Pick<FleetStore, "read" | "versions" | "write"> {
  readonly #store: FleetStore;
  #open = 0;
  /** When the last answer came or, if nothing was asked then, the first question after it. */
  #since = 0;

  constructor(store: FleetStore) {
    this.#store = store;
  }

  /** 0: nothing is asked. */
  get silentMilliseconds(): number {
    return this.#open === 0 ? 0 : performance.now() - this.#since;
  }

  read(key: string, maxOctets?: number): Promise<StoredRecord | null> {
    return this.#ask(() => this.#store.read(key, maxOctets));
  }

  versions(keys: readonly string[]): Promise<number[]> {
    return this.#ask(() => this.#store.versions(keys));
  }

  write(
    key: string,
    text: string,
    expected: number,
    fence: Fence | null,
    lifetimeMilliseconds?: number | null,
  ): Promise<boolean> {
    return this.#ask(() => this.#store.write(key, text, expected, fence, lifetimeMilliseconds));
  }

  enqueue(account: string): Promise<void> {
    return this.#ask(() => this.#store.queue.enqueue(account));
  }

  wakeUp(account: string): Promise<void> {
    return this.#ask(() => this.#store.queue.wakeUp(account));
  }

  async #ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    if (this.#open === 0) this.#since = performance.now();
    this.#open += 1;
    try {
      return await question();
    } finally {
      this.#open -= 1;
      this.#since = performance.now();
    }
  }
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
  /** Who runs it; null: nobody does. */
  worker: string | null;
  resolve(submitted: Submitted | null): void;
}

export class Submission {
  readonly #run: string = randomUUID();
  readonly #options: SubmissionOptions;
  readonly #store: AskedStore;
  readonly #records: Records;
  readonly #asking: Slots = new Slots(MAX_ASKED_TOGETHER);
  readonly #waiting: Map<string, Waiting> = new Map();
  /** What is done for all accounts is traced as a part of the command, and not of the account that happened to come first. */
  readonly #scope: AsyncResource = new AsyncResource("Submission");
  #polling: Promise<void> | null = null;
  #failure: unknown = null;
  #isTaken = false;
  #begunAt = 0;
  #repeatedAt = 0;
  /** Versions of all that is waited for, and since when they are the same. */
  #versionsBefore = "";
  #unchangedSince = 0;
  #watch: NodeJS.Timeout | null = null;

  constructor(options: SubmissionOptions) {
    this.#options = options;
    this.#store = new AskedStore(options.store);
    this.#records = new Records(this.#store);
    if (options.stop.aborted) this.#watchAnswers();
    else options.stop.addEventListener("abort", this.#watchAnswers, { once: true });
  }

  readonly #watchAnswers = (): void => {
    const begun = performance.now();
    this.#watch = setInterval(() => {
      const { request, unanswered } = this.#options;
      const silent = Math.min(this.#store.silentMilliseconds, performance.now() - begun);
      const isApplying =
        request.command === "apply" && [...this.#waiting.values()].some(({ worker }) => worker !== null);
      if (isApplying || silent < UNANSWERED_MILLISECONDS) return;
      this.close();
      unanswered?.();
    }, UNANSWERED_MILLISECONDS / 4).unref();
  };

  /** Whether the store answers is not looked at any more. */
  close(): void {
    this.#options.stop.removeEventListener("abort", this.#watchAnswers);
    if (this.#watch !== null) clearInterval(this.#watch);
  }

  /** To be called once, before accounts are submitted. */
  async open(): Promise<void> {
    await this.#records.write("request", requestKey(this.#run), this.#options.request, 0);
    this.#begunAt = Date.now();
    this.#repeatedAt = Date.now();
  }

  /**
   * @param trace the span that waits for it, as the record of the run names it; null: none does
   * @returns null: it was taken back before it was begun
   */
  async submit(
    account: FleetAccount,
    digest: string,
    plan: string | null,
    trace: string | null = null,
  ): Promise<Submitted | null> {
    const own = trace === null ? {} : { trace };
    const pending: PendingRun = { run: this.#run, digest, plan, at: Date.now(), ...own };
    await this.#asking.use(async () => {
      await this.#ask(account.name, pending);
      await this.#store.wakeUp(account.name);
    });
    return new Promise((resolve, reject) => {
      this.#waiting.set(account.name, {
        account: account.name,
        pending,
        version: 0,
        reason: null,
        worker: null,
        resolve,
      });
      this.#polling ??= this.#scope.runInAsyncScope(() => this.#poll());
      this.#polling.catch((error: unknown) => {
        this.#failure ??= error;
        reject(this.#failure);
      });
    });
  }

  async #ask(account: string, pending: PendingRun): Promise<void> {
    await this.#records.change("pending", pendingKey(account), (value) => {
      const runs = value?.runs ?? [];
      if (runs.some(({ run }) => run === pending.run)) return null;
      // What was forgotten by whoever asked is dropped before what is asked now.
      return { runs: [...runs, pending].slice(-MAX_PENDING_RUNS) };
    });
  }

  async #poll(): Promise<void> {
    try {
      while (this.#waiting.size > 0) {
        await this.#pollOnce();
        if (this.#waiting.size > 0) await sleep(POLL_MILLISECONDS);
      }
    } finally {
      // At once: what is asked for a moment later begins to poll anew.
      this.#polling = null;
    }
  }

  async #pollOnce(): Promise<void> {
    const { stop } = this.#options;
    const waiting = [...this.#waiting.values()];
    const workers = new Set(waiting.flatMap(({ worker }) => worker ?? []));
    const keys = [...waiting.map(({ account }) => stateKey(this.#run, account)), ...[...workers].map(workerKey)];
    const versions = await this.#store.versions(keys);
    for (const [index, one] of waiting.entries()) {
      if (versions[index] !== one.version) await this.#look(one);
    }
    if (this.#isSilent(versions)) for (const one of this.#waiting.values()) await this.#giveUp(one);
    if (stop.aborted) {
      const all = [...this.#waiting.values()];
      await Promise.all(all.map((one) => this.#asking.use(() => this.#takeBack(one))));
    }
    await this.#repeat();
  }

  async #look(one: Waiting): Promise<void> {
    const { version, value } = await this.#records.read("state", stateKey(this.#run, one.account));
    one.version = version;
    this.#isTaken = true;
    const worker = value?.state === "running" ? value.worker : null;
    if (worker !== null && one.worker === null) this.#options.observe({ type: "begun", account: one.account });
    // What is done says so itself.
    if (worker === null && one.worker !== null && value?.state !== "done")
      this.#options.observe({ type: "left", account: one.account });
    one.worker = worker;
    if (value?.state === "refused" && value.reason !== one.reason) {
      one.reason = value.reason;
      this.#options.observe({ type: "refused", account: one.account, reason: value.reason });
    }
    const isUnreadable = version > 0 && value === null;
    if (value?.state !== "done" && !isUnreadable) return;
    this.#waiting.delete(one.account);
    one.resolve(
      value?.state === "done"
        ? { outcome: printable(value.outcome), plan: value.plan }
        : { outcome: failedOutcome("what it came to cannot be read from the queue"), plan: null },
    );
    // Reports do not lie about for longer than they are needed.
    await this.#records.write("state", stateKey(this.#run, one.account), { state: "collected" }, version);
  }

  /** Whoever writes first wins: a worker that begins an apply, or this. What only reads is not waited for, whoever runs it or writes its record. */
  async #takeBack(one: Waiting): Promise<void> {
    const { version, value } = await this.#records.read("state", stateKey(this.#run, one.account));
    const isApply = this.#options.request.command === "apply";
    if (value?.state === "done" || (value?.state === "running" && isApply)) return;
    const isCancelled = await this.#cancel(one, version);
    if (isCancelled || !isApply) this.#settle(one, null);
  }

  #isSilent(versions: readonly number[]): boolean {
    const [now, text] = [Date.now(), versions.join(" ")];
    if (text !== this.#versionsBefore) this.#unchangedSince = now;
    this.#versionsBefore = text;
    return now - this.#unchangedSince > MAX_SILENT_MILLISECONDS;
  }

  /** Also what is running: a worker that is there after all ends it, and reports to nobody. */
  async #giveUp(one: Waiting): Promise<void> {
    const { version, value } = await this.#records.read("state", stateKey(this.#run, one.account));
    if (value?.state === "done") return;
    const who =
      one.worker === null ? "no worker took it" : `nothing was heard of its worker, ${escapeText(one.worker)},`;
    const outcome = failedOutcome(`${who} for ${MAX_SILENT_HOURS} h`);
    if (await this.#cancel(one, version)) this.#settle(one, { outcome, plan: null });
  }

  /** @returns false: another was faster */
  async #cancel({ account }: Waiting, version: number): Promise<boolean> {
    const key = stateKey(this.#run, account);
    if (!(await this.#records.write("state", key, { state: "cancelled" }, version))) return false;
    await this.#records.change("pending", pendingKey(account), (pending) => {
      return { runs: (pending?.runs ?? []).filter(({ run }) => run !== this.#run) };
    });
    return true;
  }

  #settle(one: Waiting, submitted: Submitted | null): void {
    this.#waiting.delete(one.account);
    one.resolve(submitted);
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
      await this.#store.enqueue(account);
    }
  }
}

/** How a command ends that could not do what it was asked for. */
const ERROR = 1;

/** What an account comes to that could not be run, or of which nobody knows. @param reason a clause */
export function failedOutcome(reason: string): Ran {
  const headline = `error: ${reason}`;
  return { type: "ran", code: ERROR, headline, text: `${headline}\n`, markup: "plain", document: null };
}

/**
 * Enters the names of a fleet's accounts for a prefix. A fleet may grow and shrink; one that has no account in common with the one before is
 * another one.
 * @returns false: the prefix is another fleet's
 */
export async function claimPrefix(store: FleetStore, names: readonly string[]): Promise<boolean> {
  let isOurs = true;
  await new Records(store).change("names", FLEET_KEY, (value) => {
    isOurs = haveCommon(value?.names ?? [], names);
    const known = new Set(value?.names ?? []);
    const isKnown = known.size === names.length && names.every((name) => known.has(name));
    return isOurs && !isKnown ? { names: [...names] } : null;
  });
  if (isOurs) await store.renew(FLEET_KEY, NAMES_LIFETIME_MILLISECONDS);
  return isOurs;
}

/** Whether a prefix is free or the fleet's own. Nothing is written. */
export async function isPrefixOf(store: FleetStore, names: readonly string[]): Promise<boolean> {
  const { value } = await new Records(store).read("names", FLEET_KEY);
  return haveCommon(value?.names ?? [], names);
}

function haveCommon(entered: readonly string[], names: readonly string[]): boolean {
  const known = new Set(entered);
  return known.size === 0 || names.some((name) => known.has(name));
}

/** How often a worker renews its fleet's names: the server may have lost them with its data. */
const RENEW_MILLISECONDS = 10_000;

/** Keeps a prefix for the fleet of a worker as long as that serves, though nobody asks for anything. */
export class KeptPrefix {
  readonly #store: FleetStore;
  readonly #names: readonly string[];
  readonly #timer: NodeJS.Timeout;
  #isRenewing = false;

  constructor(store: FleetStore, names: readonly string[]) {
    this.#store = store;
    this.#names = names;
    this.#timer = setInterval(() => void this.#renew(), RENEW_MILLISECONDS).unref();
  }

  /** Without effect while the store does not answer, which whoever takes accounts reports. */
  async #renew(): Promise<void> {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    try {
      const isKnown = await this.#store.renew(FLEET_KEY, NAMES_LIFETIME_MILLISECONDS);
      if (!isKnown) await claimPrefix(this.#store, this.#names);
    } catch {
      // The next turn tries again.
    } finally {
      this.#isRenewing = false;
    }
  }

  end(): void {
    clearInterval(this.#timer);
  }
}
