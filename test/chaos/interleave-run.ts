/** One run of two: plans and applies as the command line does, behind a gate, on a clock that jumps. */

import {
  type Api,
  applyPlan,
  type ClientApi,
  type Clock,
  createApi,
  type Desired,
  type Goal,
  type Journal,
  type Plan,
  planProject,
  type Report,
} from "../../src/index.ts";
import { ALL_CONSENTS } from "../support/account.ts";
import { Gate, type Held, type Passed } from "./interleave-gate.ts";

/** What both runs and the service live by. */
export interface World {
  /** Milliseconds since the epoch. */
  now: number;
  /** How many runs have ended. */
  ended: number;
}

/** A project on disk and what it comes to. */
export interface Side {
  readonly desired: Desired;
  readonly folder: string;
  readonly goal: Goal;
}

export type Ending =
  | { readonly type: "applied"; readonly plan: Plan; readonly report: Report }
  /** Exit code 4: nothing was done. */
  | { readonly type: "refused"; readonly plan: Plan }
  /** Exit code 1: the account changed under the reading. */
  | { readonly type: "unread"; readonly what: string };

export interface PassedAt extends Passed {
  /** When it was let through, in milliseconds since the epoch. */
  readonly at: number;
}

export interface Intended {
  readonly step: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** How often the event loop must turn without anything new before a run counts as waiting. */
const QUIET_TURNS = 3;
const STALL_MILLISECONDS = 8_000;

export class Run {
  readonly side: Side;
  readonly intents: Intended[] = [];
  readonly passed: PassedAt[] = [];
  readonly #world: World;
  readonly #gate: Gate;
  #api: ClientApi | null = null;
  #sent = 0;
  #answered = 0;
  #runningSteps = 0;
  ending: Ending | null = null;
  /** How many runs of this meeting had ended before; null while it goes on. */
  endedAs: number | null = null;
  #failure: { readonly error: unknown } | null = null;

  private constructor(side: Side, world: World, gate: Gate) {
    this.side = side;
    this.#world = world;
    this.#gate = gate;
  }

  /** Begins at once, and stops at its first request. */
  static async start(side: Side, world: World, port: number, concurrency: number): Promise<Run> {
    const run = new Run(side, world, await Gate.open(port));
    await run.#start(concurrency);
    return run;
  }

  get held(): readonly Held[] {
    return this.#gate.held;
  }

  async pass(held: Held, lose: boolean): Promise<Passed> {
    const at = this.#world.now;
    const passed = await this.#gate.pass(held, lose);
    this.passed.push({ ...passed, at });
    await until(
      () => this.#sent - this.#answered === this.held.length,
      () => `${held.method} ${held.path} to be heard`,
    );
    return passed;
  }

  /** Until everything it does waits at the gate, or it has ended. */
  async waitUntilQuiet(): Promise<void> {
    let quiet = 0;
    await until(
      () => {
        quiet = this.#isWaiting() ? quiet + 1 : 0;
        return quiet > QUIET_TURNS;
      },
      () => `a run with ${this.held.length} of ${this.#runningSteps} steps at the gate`,
    );
    if (this.#failure !== null) throw this.#failure.error;
  }

  async close(): Promise<void> {
    await this.#api?.close();
    await this.#gate.close();
  }

  #isWaiting(): boolean {
    if (this.ending !== null || this.#failure !== null) return true;
    const waiting = this.held.length;
    return waiting > 0 && waiting === this.#sent - this.#answered && waiting >= this.#runningSteps;
  }

  async #start(concurrency: number): Promise<void> {
    const api = await createApi({
      baseUrl: this.#gate.baseUrl,
      token: "emulator-token",
      concurrency: Math.max(4, concurrency),
      clock: worldClock(this.#world),
      random: () => 0.5,
      observe: ({ type }) => {
        if (type === "sent") this.#sent += 1;
        if (type === "answered") this.#answered += 1;
      },
    });
    this.#api = api;
    this.#work(api, concurrency).then(
      (ending) => {
        this.ending = ending;
        this.endedAs = this.#world.ended;
        this.#world.ended += 1;
      },
      (error: unknown) => {
        this.#failure = { error };
      },
    );
  }

  async #work(api: Api, concurrency: number): Promise<Ending> {
    const { desired, folder, goal } = this.side;
    const now = this.#world.now;
    const planned = await planProject({ desired, api, goal, nowMilliseconds: now, consents: ALL_CONSENTS });
    if (!planned.ok) return { type: "unread", what: `${planned.what}: ${planned.failure.message}` };
    const { plan } = planned;
    if (plan.refusals.length > 0) return { type: "refused", plan };
    this.intents.length = 0;
    const report = await applyPlan({
      plan,
      api,
      root: folder,
      concurrency,
      clock: worldClock(this.#world),
      journal: this.#journal(),
      emit: ({ type }) => {
        if (type === "step-started") this.#runningSteps += 1;
        if (type === "step-done" || type === "step-failed") this.#runningSteps -= 1;
      },
    });
    return { type: "applied", plan, report };
  }

  /** Tells which request is of which step. */
  #journal(): Journal {
    return {
      path: "",
      conceal: () => {},
      close: async () => {},
      record: async (entry) => {
        if (entry.type !== "intent") return null;
        const { step, method, path, body } = entry;
        const encoded = path.map((segment) => `/${encodeURIComponent(segment)}`).join("");
        this.intents.push({ step, method, path: encoded, body: body === null ? "" : JSON.stringify(body) });
        return null;
      },
    };
  }
}

/** Waits are over at once; the time they would have taken has passed for everybody. */
export function worldClock(world: World): Clock {
  return {
    now: () => world.now,
    sleep: async (milliseconds) => {
      world.now += milliseconds;
      await turn();
    },
  };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function until(done: () => boolean, what: () => string): Promise<void> {
  const deadline = Date.now() + STALL_MILLISECONDS;
  while (!done()) {
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${what()}.`);
    await turn();
  }
}
