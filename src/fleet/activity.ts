/**
 * What workers do and did for each account, as records beside the queue: for people and monitoring. Nothing is decided by them, so that a
 * record that is lost, late or forged costs a look, and no change.
 */

import type { ApiEvent } from "../api/index.ts";
import {
  type AccountStatus,
  didWell,
  type FinishedRun,
  type FleetCommand,
  type FleetStatus,
  type RunningAccount,
  type WorkerStatus,
  type WorkerTotals,
} from "../model/fleet.ts";
import { compareText } from "../model/text.ts";
import type { FleetAccount } from "./fleet-file.ts";
import {
  type Activity,
  activityKey,
  MAX_HEADLINE_CHARACTERS,
  pendingKey,
  Records,
  type WorkerRecord,
  workerKey,
} from "./records.ts";
import type { FleetStore } from "./store.ts";
import type { WorkerEvent } from "./worker.ts";

/** How often a worker says that it is there. */
const ALIVE_MILLISECONDS = 10_000;
/** One that has said nothing for so long may have been killed. */
const SILENT_MILLISECONDS = 3 * ALIVE_MILLISECONDS;
/** A worker that ends does not wait longer for a store that does not answer. */
const END_MILLISECONDS = 400;
/** Records that are read at a time. */
const READ_TOGETHER = 64;

/** What a run has asked the service. */
interface Sent {
  readonly requests: number;
  readonly throttled: number;
}

/** What an account came to, beside what it came to before; null: that is not known. */
interface Transition {
  readonly account: string;
  readonly before: FinishedRun | null;
  readonly after: FinishedRun;
}

interface RecorderOptions {
  readonly store: FleetStore;
  readonly worker: string;
  now(): number;
  /** Called once the outcome of an account is known beside the one before. */
  ended(transition: Transition): void;
}

/** What a worker says of itself. It never throws and never waits: a store that does not answer is reported by what needs it. */
export class ActivityRecorder {
  readonly #options: RecorderOptions;
  readonly #began: Map<string, number> = new Map();
  readonly #sent: Map<string, Sent> = new Map();
  /** What is written, by key: one record after the other. */
  readonly #writing: Map<string, Promise<void>> = new Map();
  readonly #timer: NodeJS.Timeout;
  readonly #since: number;
  #totals: WorkerTotals = { done: 0, failed: 0, seconds: 0, requests: 0, throttled: 0 };

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#since = options.now();
    this.#timer = setInterval(() => this.#beat(false), ALIVE_MILLISECONDS).unref();
    this.#beat(false);
  }

  get totals(): WorkerTotals & { readonly running: number } {
    return { ...this.#totals, running: this.#began.size };
  }

  /** What the client of an account does that runs. */
  observe(account: string, event: ApiEvent): void {
    const isThrottled = event.type === "answered" && event.status === 429;
    if (event.type !== "sent" && !isThrottled) return;
    const key = isThrottled ? "throttled" : "requests";
    const sent = this.#sent.get(account) ?? { requests: 0, throttled: 0 };
    this.#sent.set(account, { ...sent, [key]: sent[key] + 1 });
    this.#totals = { ...this.#totals, [key]: this.#totals[key] + 1 };
  }

  report(event: WorkerEvent): void {
    switch (event.type) {
      case "begun":
        this.#begun(event.account, event.request.command, event.run);
        break;
      case "done":
        this.#done(event.account, event.request.command, event.outcome);
        break;
      case "overtaken":
        // Whoever has the account now says so.
        this.#began.delete(event.account);
        this.#sent.delete(event.account);
        break;
      case "postponed":
        this.#left(event.account);
        break;
      // What was begun comes to an outcome all the same.
      case "refused":
      case "failed":
        break;
    }
  }

  #begun(account: string, command: FleetCommand, run: string | null): void {
    const { worker, now } = this.#options;
    const since = now();
    this.#began.set(account, since);
    this.#sent.delete(account);
    this.#change(account, ({ last }) => ({ running: { command, worker, since, run }, last }));
  }

  /** Given up before it came to anything: it waits again. */
  #left(account: string): void {
    this.#began.delete(account);
    this.#sent.delete(account);
    const { worker } = this.#options;
    // Another worker may have the account by now.
    this.#change(account, ({ running, last }) => ({ running: running?.worker === worker ? null : running, last }));
  }

  #done(
    account: string,
    command: FleetCommand,
    { code, headline }: { readonly code: number; readonly headline: string },
  ) {
    const { worker, now, ended } = this.#options;
    const at = now();
    const milliseconds = at - (this.#began.get(account) ?? at);
    const sent = this.#sent.get(account) ?? { requests: 0, throttled: 0 };
    this.#began.delete(account);
    this.#sent.delete(account);
    const totals = this.#totals;
    const key = didWell(code) ? "done" : "failed";
    this.#totals = { ...totals, [key]: totals[key] + 1, seconds: totals.seconds + milliseconds / 1000 };
    const shown = headline.slice(0, MAX_HEADLINE_CHARACTERS);
    const after: FinishedRun = { command, worker, at, milliseconds, code, headline: shown, ...sent };
    let before: FinishedRun | null = null;
    this.#change(account, ({ last }) => {
      before = last;
      return { running: null, last: after };
    });
    void this.#writing.get(activityKey(account))?.then(() => ended({ account, before, after }));
    this.#beat(false);
  }

  #beat(hasEnded: boolean): void {
    const { store, worker, now } = this.#options;
    const value: WorkerRecord = { ...this.#totals, since: this.#since, alive: now(), hasEnded };
    this.#write(workerKey(worker), () => new Records(store).change("worker", workerKey(worker), () => value));
  }

  #change(account: string, change: (activity: Activity) => Activity): void {
    const key = activityKey(account);
    this.#write(key, () =>
      new Records(this.#options.store).change("activity", key, (activity) =>
        change(activity ?? { running: null, last: null }),
      ),
    );
  }

  #write(key: string, work: () => Promise<void>): void {
    const before = this.#writing.get(key) ?? Promise.resolve();
    const writing = before.then(work).catch(() => {});
    this.#writing.set(key, writing);
    void writing.then(() => {
      if (this.#writing.get(key) === writing) this.#writing.delete(key);
    });
  }

  /** To be called once, when the worker takes nothing any more. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    this.#beat(true);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, END_MILLISECONDS);
    });
    await Promise.race([Promise.all(this.#writing.values()), late]);
    clearTimeout(timer);
  }
}

/** How a fleet's accounts and workers are. What has not changed since the last look is not read again. */
export class StatusReader {
  readonly #store: FleetStore;
  readonly #accounts: readonly Pick<FleetAccount, "name" | "labels">[];
  /** By key. */
  readonly #known: Map<string, { readonly version: number; readonly value: unknown }> = new Map();

  constructor(store: FleetStore, accounts: readonly Pick<FleetAccount, "name" | "labels">[]) {
    this.#store = store;
    this.#accounts = accounts.toSorted((a, b) => compareText(a.name, b.name));
  }

  /** @param now milliseconds since the epoch */
  async read(now: number): Promise<FleetStatus> {
    const names = this.#accounts.map(({ name }) => name);
    const records = new Records(this.#store);
    // What an account came to before what waits for it: a worker writes them the other way around, so that no run that has ended seems to wait.
    const activities = await this.#fresh(
      names.map(activityKey),
      async (key) => (await records.read("activity", key)).value,
    );
    const pending = await this.#fresh(names.map(pendingKey), async (key) => (await records.read("pending", key)).value);
    const seen = activities.flatMap((activity) =>
      [activity?.running?.worker ?? [], activity?.last?.worker ?? []].flat(),
    );
    const workerNames = [...new Set(seen)].sort(compareText);
    const workers = await this.#fresh(
      workerNames.map(workerKey),
      async (key) => (await records.read("worker", key)).value,
    );
    const found = workerNames.flatMap((name, index): WorkerStatus[] => {
      const record = workers[index];
      return record == null ? [] : [workerStatus(name, record, now)];
    });
    const serving = new Set(found.flatMap(({ name, state }) => (state === "serving" ? [name] : [])));
    const accounts = this.#accounts.map(({ name, labels }, index): AccountStatus => {
      const { running = null, last = null } = activities[index] ?? {};
      const waiting = (pending[index]?.runs ?? []).filter(({ run }) => run !== running?.run);
      return {
        ...{ name, labels, waiting: waiting.length, waitingSince: waiting[0]?.at ?? null, last },
        running: running === null ? null : runningStatus(running, serving),
      };
    });
    return { at: now, accounts, queue: await this.#store.queue.counts(), workers: found };
  }

  async #fresh<Value>(
    keys: readonly string[],
    readOne: (key: string) => Promise<Value | null>,
  ): Promise<(Value | null)[]> {
    if (keys.length === 0) return [];
    const versions = await this.#store.versions(keys);
    const values: (Value | null)[] = [];
    for (let from = 0; from < keys.length; from += READ_TOGETHER) {
      const some = keys.slice(from, from + READ_TOGETHER).map(async (key, index) => {
        const version = versions[from + index] ?? 0;
        if (version === 0) return null;
        const known = this.#known.get(key);
        if (known?.version === version) return known.value as Value | null;
        const value = await readOne(key);
        this.#known.set(key, { version, value });
        return value;
      });
      for (const value of await Promise.all(some)) values.push(value);
    }
    return values;
  }
}

function runningStatus(
  { command, worker, since }: RunningAccount,
  serving: ReadonlySet<string>,
): NonNullable<AccountStatus["running"]> {
  return { command, worker, since, isSilent: !serving.has(worker) };
}

function workerStatus(name: string, { hasEnded, ...record }: WorkerRecord, now: number): WorkerStatus {
  const isSilent = now - record.alive > SILENT_MILLISECONDS;
  return { name, ...record, state: hasEnded ? "ended" : isSilent ? "silent" : "serving" };
}
