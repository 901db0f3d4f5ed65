/** Runs a command for each account of a fleet: workers take accounts from a queue until nothing waits, or something says stop. */

import { setMaxListeners } from "node:events";
import { type AccountResult, didWell, type NotRunReason, type Ran } from "../model/fleet.ts";
import { compareText } from "../model/text.ts";
import type { FleetAccount } from "./fleet-file.ts";
import { KeptOutcomes } from "./kept-outcomes.ts";
import type { FleetQueue } from "./queue.ts";

export interface FleetRun {
  /** Those that are selected, in the order in which they are begun. */
  readonly accounts: readonly FleetAccount[];
  readonly queue: FleetQueue;
  /** Accounts at a time. */
  readonly workers: number;
  /**
   * The command for one account. What goes wrong with the account is in the outcome; what is thrown is a bug, and ends the whole run.
   * null: it was taken back before it was begun, for the run was stopped.
   */
  runAccount(account: FleetAccount): Promise<Ran | null>;
  /** What accounts of the same key need, one at a time: the digest of the token. null: the account is held up by no other. Absent: none is. */
  turnOf?(account: FleetAccount): Promise<string | null>;
  /** Aborted: no further account is begun. */
  readonly signal: AbortSignal;
  /** This account goes first, and alone: the others are begun only if it does well. null: all are begun at once. */
  readonly canary: string | null;
  /** More accounts than this may not fail: then no further one is begun. null: any number may. */
  readonly maxFailures: number | null;
  /** No further account is begun after one that a guard refused. */
  readonly stopOnGuard: boolean;
  /** Called when an account is begun, left, and done. */
  observe?(event: FleetEvent): void;
}

export type FleetEvent =
  | { readonly type: "begun"; readonly account: string }
  /** It is put back, and begun once more. */
  | { readonly type: "left"; readonly account: string }
  | { readonly type: "done"; readonly account: string; readonly outcome: Ran; readonly left: number };

/** Refused by a guard, and nothing done. */
const REFUSED = 4;

/** @returns a result for each account, by name */
export async function runFleet(run: FleetRun): Promise<AccountResult[]> {
  const state = new FleetState(run);
  const canary = run.accounts.find(({ name }) => name === run.canary);
  if (canary !== undefined) {
    await state.work([canary], 1);
    if (!state.didWell(canary.name)) state.stop("canary");
  }
  await state.work(
    run.accounts.filter((account) => account !== canary),
    run.workers,
  );
  return state.results();
}

class FleetState {
  readonly #run: FleetRun;
  readonly #accounts: ReadonlyMap<string, FleetAccount>;
  readonly #outcomes: KeptOutcomes = new KeptOutcomes();
  readonly #stopped = new AbortController();
  /** Accounts whose turn has not come, by what they wait for; what is here is in use, or promised. */
  readonly #turns: Map<string, string[]> = new Map();
  /** What an account will find that was put at the end of the queue, for its turn has come. */
  readonly #promised: Map<string, string> = new Map();
  #reason: NotRunReason | null = null;
  #failures = 0;

  constructor(run: FleetRun) {
    this.#run = run;
    this.#accounts = new Map(run.accounts.map((account) => [account.name, account]));
    setMaxListeners(0, this.#stopped.signal);
  }

  stop(reason: NotRunReason): void {
    this.#reason ??= reason;
    this.#stopped.abort();
  }

  didWell(name: string): boolean {
    const code = this.#outcomes.get(name)?.code;
    return code !== undefined && didWell(code);
  }

  async work(accounts: readonly FleetAccount[], workers: number): Promise<void> {
    const { queue, signal } = this.#run;
    const interrupt = (): void => this.stop("interrupted");
    if (signal.aborted) interrupt();
    signal.addEventListener("abort", interrupt);
    try {
      for (const { name } of accounts) await queue.enqueue(name);
      const count = Math.min(workers, accounts.length);
      const ended = await Promise.allSettled(Array.from({ length: count }, () => this.#takeAll()));
      for (const one of ended) if (one.status === "rejected") throw one.reason;
    } finally {
      signal.removeEventListener("abort", interrupt);
    }
  }

  /** One worker. */
  async #takeAll(): Promise<void> {
    const { queue, observe } = this.#run;
    for (;;) {
      const lease = await queue.take(this.#stopped.signal);
      if (lease === null) return;
      const account = this.#accounts.get(lease.account);
      let turn: string | null = null;
      try {
        if (account === undefined) continue;
        const key = (await this.#run.turnOf?.(account)) ?? null;
        const promised = this.#promised.get(account.name) ?? null;
        this.#promised.delete(account.name);
        if (promised !== key) {
          // Its token is another one by now.
          if (promised !== null) await this.#passTurn(promised);
          if (key !== null && !this.#takeTurn(key, account.name)) continue;
        }
        turn = key;
        observe?.({ type: "begun", account: account.name });
        const outcome = await this.#run.runAccount(account);
        if (outcome === null) continue;
        this.#outcomes.set(account.name, outcome);
        this.#stopAfter(outcome);
        observe?.({ type: "done", account: account.name, outcome, left: this.#accounts.size - this.#outcomes.size });
      } catch (error) {
        this.stop("failures");
        throw error;
      } finally {
        if (turn !== null) await this.#passTurn(turn);
        await lease.done();
      }
    }
  }

  /** @returns false: it is in use, and the account is put back when its turn has come */
  #takeTurn(key: string, account: string): boolean {
    const waiting = this.#turns.get(key);
    if (waiting === undefined) this.#turns.set(key, []);
    else waiting.push(account);
    return waiting === undefined;
  }

  /** The one that has waited longest is put at the end of the queue, before the queue can seem empty. */
  async #passTurn(key: string): Promise<void> {
    const next = this.#turns.get(key)?.shift();
    if (next === undefined) {
      this.#turns.delete(key);
      return;
    }
    this.#promised.set(next, key);
    await this.#run.queue.enqueue(next);
  }

  #stopAfter({ code }: Ran): void {
    const { maxFailures, stopOnGuard } = this.#run;
    if (!didWell(code)) this.#failures += 1;
    if (stopOnGuard && code === REFUSED) this.stop("guard");
    if (maxFailures !== null && this.#failures > maxFailures) this.stop("failures");
  }

  results(): AccountResult[] {
    const reason = this.#reason ?? "interrupted";
    return this.#run.accounts
      .map(({ name, labels }): AccountResult => {
        return { name, labels, outcome: this.#outcomes.get(name) ?? { type: "not-run", reason } };
      })
      .sort((a, b) => compareText(a.name, b.name));
  }
}
