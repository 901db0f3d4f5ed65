/**
 * A worker of a fleet: takes accounts from the queue and carries out what is asked for them. The queue says when; the lock of the account says
 * who; the records say what.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { Admission, PaceCell } from "../api/index.ts";
import type { Ran } from "../model/fleet.ts";
import type { FleetAccount } from "./fleet-file.ts";
import { fitOutcome } from "./kept-outcomes.ts";
import type { Lease } from "./queue.ts";
import {
  type Found,
  MAX_LINE_CHARACTERS,
  type PendingRun,
  pendingKey,
  Records,
  type RunRequest,
  type RunState,
  requestKey,
  SCHEDULE_KEY,
  scheduledKey,
  stateKey,
} from "./records.ts";
import { NAME } from "./schema.ts";
import type { Fence, FleetStore } from "./store.ts";
import { TokenTurn, TokenWaits } from "./token.ts";

/** How long an account waits that another worker holds, or that this worker cannot run. */
const LATER_MILLISECONDS = 1_000;
/** A run that ended so many workers is not begun once more. */
const MAX_ATTEMPTS = 10;
/** So many lease times workers refuse a run before it fails: another worker may have what it needs. */
const REFUSED_LEASES = 4;
/** A run that only reads is put back for the service's sake for so long in all; then it keeps its slot, and waits as a command alone does. */
const MAX_POSTPONED_MILLISECONDS = 7_200_000;
/** The longest wait that a service is believed to ask for: a record that says more is not Tenon's. */
const MAX_WAIT_MILLISECONDS = 3_600_000;
/** For so much of the lease a request may begin to be sent: the rest is for its way, and for the service to carry it out. */
const ADMITTED_PART = 0.75;
/** A wake-up may come a little before its time. */
const DUE_PART = 0.9;

/** The right to act for an account, as a run holds it. */
export interface Hold {
  /**
   * Asked before each attempt of a request that changes something. Waits while the store does not answer.
   * @returns null: another worker has the account; nothing may be sent
   */
  admit(signal: AbortSignal | undefined): Promise<Admission | null>;
  /** Aborted when another worker has got the account. */
  readonly lost: AbortSignal;
  /** What the last run with this token saw of the limits; this one leaves there what it has seen. */
  readonly pace: PaceCell;
  /** Whether the run is given up when the service asks for a long wait. */
  readonly mayPostpone: boolean;
}

/** What this worker has of an account now. */
export type FoundAccount =
  | { readonly type: "found"; readonly account: FleetAccount }
  | { readonly type: "refused"; readonly reason: string };

export interface WorkerOptions {
  readonly store: FleetStore;
  /** In records and messages. */
  readonly name: string;
  /** Accounts at a time. */
  readonly slots: number;
  readonly leaseMilliseconds: number;
  /** Aborted: no further account is taken; what runs is finished. */
  readonly stop: AbortSignal;
  /** The account as the worker's own fleet file has it now. */
  find(name: string): Promise<FoundAccount>;
  /** @returns the digest of the account's token (`tokenDigestOf`); null: the command sends nothing, or there is no token */
  tokenOf(account: FleetAccount, request: RunRequest): Promise<string | null>;
  /** @returns why this worker should leave the run to another one; null: it need not */
  refuses(account: FleetAccount, request: RunRequest, pending: PendingRun | null): Promise<string | null>;
  /** Runs the command; secrets are taken out of what it returns, with the digest of the plan that it saved. @param pending null: scheduled */
  run(account: FleetAccount, request: RunRequest, pending: PendingRun | null, hold: Hold): Promise<RunResult>;
  /** What to report of a run that no worker could or should run. */
  fail(reason: string): Ran;
  observe(event: WorkerEvent): void;
}

export type RunResult = RunEnd | Postponed;

interface RunEnd {
  readonly outcome: Ran;
  /** Digest of the plan that was saved; null: none was. */
  readonly plan: string | null;
}

/** The service asks for so long a wait, and the run was given up. */
interface Postponed {
  readonly postponedMilliseconds: number;
}

export type WorkerEvent =
  /** `run`: as in `PendingRun`; null: scheduled. */
  | { readonly type: "begun"; readonly account: string; readonly request: RunRequest; readonly run: string | null }
  | { readonly type: "done"; readonly account: string; readonly request: RunRequest; readonly outcome: Ran }
  | { readonly type: "refused"; readonly account: string; readonly reason: string }
  | { readonly type: "postponed"; readonly account: string; readonly milliseconds: number }
  | { readonly type: "overtaken"; readonly account: string }
  | { readonly type: "failed"; readonly account: string; readonly error: unknown };

/** Until `stop` is aborted, and what runs then is finished. */
export async function serveFleet(options: WorkerOptions): Promise<void> {
  const running = new Set<Promise<void>>();
  const waits = new TokenWaits();
  let wake = (): void => {};
  while (!options.stop.aborted) {
    if (running.size >= options.slots) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      continue;
    }
    const lease = await options.store.queue.take(options.stop);
    if (lease === null) break;
    const serving = new AccountTurn(options, lease, waits).serve().finally(() => {
      running.delete(serving);
      wake();
    });
    running.add(serving);
  }
  await Promise.all(running);
}

const ACCOUNT_NAME = new RegExp(NAME);

interface OwnRun {
  readonly pending: PendingRun;
  readonly request: RunRequest;
  readonly found: Found<RunState>;
  readonly own: FoundAccount;
}

/** One turn of an account, from the wake-up to the end of what was asked for. */
class AccountTurn {
  readonly #options: WorkerOptions;
  readonly #records: Records;
  readonly #lease: Lease;
  readonly #waits: TokenWaits;
  /** Something is left for another worker, or for later. */
  #isLeft = false;
  /** It is put back for so long, unless it is taken sooner for another reason. */
  #backMilliseconds = Number.POSITIVE_INFINITY;
  /** What waited for the account when it was taken. */
  #known: ReadonlySet<string> = new Set();

  constructor(options: WorkerOptions, lease: Lease, waits: TokenWaits) {
    this.#options = options;
    this.#records = new Records(options.store);
    this.#lease = lease;
    this.#waits = waits;
  }

  /** Never throws: an error of Tenon's own is this account's, and the others go on. */
  async serve(): Promise<void> {
    const { account } = this.#lease;
    try {
      // What Tenon has not put there is dropped.
      if (ACCOUNT_NAME.test(account)) await this.#serveLocked();
    } catch (error) {
      this.#options.observe({ type: "failed", account, error });
      this.#isLeft = true;
    }
    const milliseconds = this.#isLeft ? Math.min(LATER_MILLISECONDS, this.#backMilliseconds) : this.#backMilliseconds;
    if (!Number.isFinite(milliseconds)) return this.#lease.done();
    await this.#lease.later(milliseconds);
    if (milliseconds > LATER_MILLISECONDS) await this.#wakeUpForNews();
  }

  /** What was asked for while the account was taken does not wait for as long as what was put back. */
  async #wakeUpForNews(): Promise<void> {
    const { account } = this.#lease;
    try {
      const { value } = await this.#records.read("pending", pendingKey(account));
      const isNew = value?.runs.some(({ run }) => !this.#known.has(run)) ?? false;
      if (isNew) await this.#options.store.queue.wakeUp(account);
    } catch (error) {
      this.#options.observe({ type: "failed", account, error });
    }
  }

  async #serveLocked(): Promise<void> {
    const { account } = this.#lease;
    const { store, leaseMilliseconds } = this.#options;
    const pending = await this.#records.read("pending", pendingKey(account));
    this.#known = new Set(pending.value?.runs.map(({ run }) => run));
    const schedule = await this.#dueSchedule(account);
    if ((pending.value?.runs ?? []).length === 0 && schedule === null) return;
    const fence = await store.lock(account, leaseMilliseconds);
    if (fence === null) {
      this.#isLeft = true;
      return;
    }
    const hold = new LockHold(store, fence, this.#lease, leaseMilliseconds);
    try {
      for (const run of pending.value?.runs ?? []) {
        if (hold.lost.aborted) return;
        await this.#runPending(run, fence, hold);
      }
      if (schedule !== null && !hold.lost.aborted) await this.#runScheduled(schedule, fence, hold);
    } finally {
      await hold.end();
      if (hold.lost.aborted) {
        // The token alone may have been lost: then nobody else has the account.
        this.#isLeft = true;
        this.#options.observe({ type: "overtaken", account });
      }
      await store.unlock(fence);
    }
  }

  async #runPending(pending: PendingRun, fence: Fence, hold: LockHold): Promise<void> {
    const { account: name } = this.#lease;
    const key = stateKey(pending.run, name);
    const { version, value: request } = await this.#records.read("request", requestKey(pending.run));
    const found = await this.#records.read("state", key);
    // A state that cannot be read is nobody's to overwrite: whoever asked says so.
    const isUnreadable = found.version > 0 && found.value === null;
    const ended = isUnreadable || ["done", "cancelled", "collected"].includes(found.value?.state ?? "");
    if (ended || (request === null && version === 0)) return this.#forget(pending.run);
    if (request === null) {
      // Of another release of Tenon, perhaps, which another worker has.
      const reason = `what is asked for cannot be read by worker ${this.#options.name}: use the same Tenon everywhere`;
      if (await this.#leave(key, found, reason, fence)) return;
      const done: RunState = { state: "done", outcome: this.#options.fail(reason), plan: null };
      if (await this.#records.write("state", key, done, found.version, fence)) await this.#forget(pending.run);
      return;
    }
    const wait = found.value?.state === "postponed" ? found.value.until - Date.now() : 0;
    if (wait > 0 && wait <= MAX_WAIT_MILLISECONDS) return this.#putBack(wait);
    await this.#withToken(request, hold, (own) => this.#runOwn({ pending, request, found, own }, fence, hold));
  }

  #putBack(milliseconds: number): void {
    this.#backMilliseconds = Math.min(this.#backMilliseconds, milliseconds);
  }

  /** Takes the account as this worker has it, and the token's turn: an entry whose token is in use is put back. */
  async #withToken(request: RunRequest, hold: LockHold, work: (own: FoundAccount) => Promise<void>): Promise<void> {
    const { account } = this.#lease;
    const { store, leaseMilliseconds } = this.#options;
    const own = await this.#options.find(account);
    const digest = own.type === "found" ? await this.#options.tokenOf(own.account, request) : null;
    const turn = await TokenTurn.take(store, digest, leaseMilliseconds);
    if (turn === null) {
      this.#putBack(this.#waits.put(digest ?? "", account, Date.now()));
      return;
    }
    if (digest !== null) this.#waits.clear(digest);
    await hold.cover(turn);
    try {
      await work(own);
    } finally {
      await hold.cover(null);
      await turn.end();
    }
  }

  async #runOwn(asked: OwnRun, fence: Fence, hold: LockHold): Promise<void> {
    const { pending, request, found, own: have } = asked;
    const { account: name } = this.#lease;
    const key = stateKey(pending.run, name);
    const attempts = found.value !== null && "attempts" in found.value ? found.value.attempts + 1 : 1;
    const own = await this.#accountToRun(have, request, pending);
    if (typeof own === "string") {
      if (await this.#leave(key, found, own, fence)) return;
      return this.#end(asked, found.version, { outcome: this.#options.fail(own), plan: null }, fence);
    }
    if (attempts > MAX_ATTEMPTS) {
      const reason = `${MAX_ATTEMPTS} workers ended while they ran this account`;
      const outcome = this.#options.fail(reason);
      return this.#end(asked, found.version, { outcome, plan: null }, fence);
    }
    const running: RunState = { state: "running", attempts, worker: this.#options.name };
    if (!(await this.#records.write("state", key, running, found.version, fence))) {
      // Taken back meanwhile, or another worker has the account.
      this.#isLeft = true;
      return;
    }
    const since = found.value?.state === "postponed" ? found.value.since : Date.now();
    hold.mayPostpone = request.command !== "apply" && Date.now() - since < MAX_POSTPONED_MILLISECONDS;
    const result = await this.#run(own, request, pending, hold);
    if (hold.lost.aborted) return;
    if (!("postponedMilliseconds" in result)) return this.#end(asked, found.version + 1, result, fence);
    const until = Date.now() + result.postponedMilliseconds;
    const postponed: RunState = { state: "postponed", attempts: attempts - 1, since, until };
    await this.#records.write("state", key, postponed, found.version + 1, fence);
    this.#putBack(result.postponedMilliseconds);
  }

  /** Leaves a run to other workers. @returns false: each has refused it for long */
  async #leave(key: string, { version, value }: Found<RunState>, reason: string, fence: Fence): Promise<boolean> {
    const since = value?.state === "refused" ? value.since : Date.now();
    if (this.#isRefusedForLong(since)) return false;
    this.#isLeft = true;
    this.#options.observe({ type: "refused", account: this.#lease.account, reason });
    const refused: RunState = { state: "refused", attempts: 0, since, reason: reason.slice(0, MAX_LINE_CHARACTERS) };
    await this.#records.write("state", key, refused, version, fence);
    return true;
  }

  async #run(account: FleetAccount, request: RunRequest, pending: PendingRun | null, hold: Hold): Promise<RunResult> {
    this.#options.observe({ type: "begun", account: account.name, request, run: pending?.run ?? null });
    let result: RunResult;
    try {
      result = await this.#options.run(account, request, pending, hold);
    } catch (error) {
      // What one account brings to light must not keep the worker from the others, nor be tried for ever.
      this.#options.observe({ type: "failed", account: account.name, error });
      const reason = `internal error: ${error instanceof Error ? error.message : "unknown"}`;
      result = { outcome: this.#options.fail(reason), plan: null };
    }
    if ("postponedMilliseconds" in result) {
      const milliseconds = result.postponedMilliseconds;
      this.#options.observe({ type: "postponed", account: account.name, milliseconds });
    }
    return result;
  }

  /** By compare-and-set: an overtaken worker's outcome is nobody's. */
  async #end({ pending: { run }, request }: OwnRun, version: number, result: RunEnd, fence: Fence): Promise<void> {
    const { account } = this.#lease;
    const { outcome, plan } = result;
    const key = stateKey(run, account);
    const done: RunState = { state: "done", outcome: fitOutcome(account, outcome), plan };
    const isWritten = await this.#records.write("state", key, done, version, fence);
    if (isWritten) await this.#forget(run);
    else this.#isLeft = true;
    // What nobody waits for any more was run all the same.
    const isOurs = isWritten || (await this.#records.read("state", key)).value?.state === "cancelled";
    // Not sooner: who looks at what the account came to must not find it waiting for the same run.
    this.#options.observe(isOurs ? { type: "done", account, request, outcome } : { type: "overtaken", account });
  }

  async #forget(run: string): Promise<void> {
    await this.#records.change("pending", pendingKey(this.#lease.account), (pending) => {
      const runs = pending?.runs ?? [];
      return runs.some((one) => one.run === run) ? { runs: runs.filter((one) => one.run !== run) } : null;
    });
  }

  /** @returns why not */
  async #accountToRun(
    found: FoundAccount,
    request: RunRequest,
    pending: PendingRun | null,
  ): Promise<FleetAccount | string> {
    if (found.type === "refused") return found.reason;
    return (await this.#options.refuses(found.account, request, pending)) ?? found.account;
  }

  async #dueSchedule(account: string): Promise<RunRequest | null> {
    const { value: schedule } = await this.#records.read("schedule", SCHEDULE_KEY);
    // Nothing but a comparison is run without somebody who waits for it.
    if (schedule === null || "isOff" in schedule || schedule.request.command !== "drift") return null;
    const { value: last } = await this.#records.read("scheduled", scheduledKey(account));
    // A time to come is of a clock that was ahead: the account is not kept waiting until then.
    const isDue = last === null || Math.abs(Date.now() - last.at) >= schedule.everyMilliseconds * DUE_PART;
    return isDue ? schedule.request : null;
  }

  async #runScheduled(request: RunRequest, fence: Fence, hold: LockHold): Promise<void> {
    await this.#withToken(request, hold, (own) => this.#runOwnScheduled(own, request, fence, hold));
  }

  async #runOwnScheduled(have: FoundAccount, request: RunRequest, fence: Fence, hold: LockHold): Promise<void> {
    const { account: name } = this.#lease;
    const key = scheduledKey(name);
    const { version, value: last } = await this.#records.read("scheduled", key);
    const own = await this.#accountToRun(have, request, null);
    let outcome: Ran;
    if (typeof own === "string") {
      const since = last?.refusedSince ?? 0;
      // Of an earlier time, after which nobody has tried.
      const isOld = this.#isRefusedForLong(since + REFUSED_LEASES * this.#options.leaseMilliseconds);
      const refusedSince = isOld ? Date.now() : since;
      if (!this.#isRefusedForLong(refusedSince)) {
        this.#isLeft = true;
        this.#options.observe({ type: "refused", account: name, reason: own });
        if (isOld) await this.#records.write("scheduled", key, { at: last?.at ?? 0, refusedSince }, version, fence);
        return;
      }
      // Nobody waits for it who would notice: whoever looks at the fleet must see it.
      outcome = this.#options.fail(own);
    } else {
      hold.mayPostpone = true;
      const result = await this.#run(own, request, null, hold);
      if ("postponedMilliseconds" in result) return this.#putBack(result.postponedMilliseconds);
      outcome = result.outcome;
    }
    await this.#records.write("scheduled", key, { at: Date.now(), refusedSince: null }, version, fence);
    if (!hold.lost.aborted) this.#options.observe({ type: "done", account: name, request, outcome });
  }

  /** So long that no other worker can be expected to have what this one lacks. */
  #isRefusedForLong(since: number): boolean {
    return Math.abs(Date.now() - since) >= REFUSED_LEASES * this.#options.leaseMilliseconds;
  }
}

/** Starts to count. Of two clocks the one counts that says more: one stands still while the machine sleeps, the other may be set back. */
function elapsedMilliseconds(): () => number {
  const [steady, wall] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - steady, Date.now() - wall);
}

/** Keeps locks and lease while a run lasts, and sees when they are lost. */
class LockHold implements Hold {
  readonly #store: FleetStore;
  readonly #fence: Fence;
  readonly #milliseconds: number;
  readonly #lost = new AbortController();
  readonly #ended = new AbortController();
  mayPostpone = false;
  #turn: TokenTurn | null = null;
  #extending: Promise<void> = Promise.resolve();

  constructor(store: FleetStore, fence: Fence, lease: Lease, milliseconds: number) {
    this.#store = store;
    this.#fence = fence;
    this.#milliseconds = milliseconds;
    void this.#keep(lease);
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get pace(): PaceCell {
    return this.#turn?.pace ?? { seen: null };
  }

  /** From now on the token's lock is kept, too; null: no longer, and nothing that would is under way. */
  async cover(turn: TokenTurn | null): Promise<void> {
    this.#turn = turn;
    await this.#extending;
  }

  /** The lock is extended by that: what is admitted now has all its time. */
  async admit(signal: AbortSignal | undefined): Promise<Admission | null> {
    const isStopped = (): boolean => this.lost.aborted || signal?.aborted === true;
    if (isStopped()) return null;
    // The lock lasts from when the store gets the question, not from when its answer is read.
    const elapsed = elapsedMilliseconds();
    if (!(await this.#extend()) || isStopped()) return null;
    return { lasts: () => elapsed() < this.#milliseconds * ADMITTED_PART };
  }

  async #extend(): Promise<boolean> {
    const turn = this.#turn;
    const fences = [this.#fence, ...(turn?.fence == null ? [] : [turn.fence])];
    const extending = Promise.all(fences.map((fence) => this.#store.extend(fence, this.#milliseconds)));
    this.#extending = Promise.allSettled([this.#extending, extending]).then(() => {});
    const extended = await extending;
    // A token's turn may have ended meanwhile, and be another one's by now.
    if (extended.every((isOurs, index) => isOurs || (index > 0 && this.#turn !== turn))) return true;
    this.#lost.abort();
    return false;
  }

  async #keep(lease: Lease): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted && !this.lost.aborted) {
      // A lost lease is no lost lock: whoever has the wake-up waits for the lock.
      await Promise.allSettled([this.#extend(), lease.extend()]);
      await sleep(this.#milliseconds / 3, undefined, { signal }).catch(() => {});
    }
  }

  /** An extension that is under way would lock anew what is unlocked. */
  async end(): Promise<void> {
    this.#ended.abort();
    await this.#extending;
  }
}
