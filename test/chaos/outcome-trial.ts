/** One account in one process: the emulator and the library over HTTP, on a clock that jumps. */

import { type Emulator, type LoggedRequest, startEmulator } from "../../src/emulator/index.ts";
import {
  type ApplyEvent,
  applyPlan,
  type ClientApi,
  createApi,
  type Desired,
  type Plan,
  planProject,
  type Report,
} from "../../src/index.ts";
import type { Api } from "../../src/model/api.ts";
import type { JsonObject } from "../../src/model/resource.ts";
import { ALL_CONSENTS } from "../support/account.ts";
import { JumpingClock } from "./outcome-clock.ts";
import { FOREIGN, type OutcomeWorld, START_MILLISECONDS } from "./outcome-worlds.ts";

/** A world whose project was loaded. */
export interface Loaded {
  readonly world: OutcomeWorld;
  readonly desired: Desired;
  readonly folder: string;
}

export interface TrialOptions {
  /** Real milliseconds that the client waits for an answer; absent: as ever. */
  readonly patience?: number;
}

export interface ApplyOptions {
  readonly emit?: (event: ApplyEvent) => void;
  readonly api?: Api;
  readonly concurrency?: number;
}

/** Reads that show an image unfinished, at most. */
const READS_UNTIL_AVAILABLE = 3;
/** What differs between two accounts that hold the same. */
const OF_THE_MOMENT: ReadonlySet<string> = new Set(["id", "created", "updated", "expiry"]);

export class Trial {
  readonly clock: JumpingClock;
  readonly emulator: Emulator;
  readonly api: ClientApi;
  /** Meets no fault as long as it sends no request that a fault selects. */
  readonly other: ClientApi;
  readonly #loaded: Loaded;

  private constructor(loaded: Loaded, clock: JumpingClock, emulator: Emulator, api: ClientApi, other: ClientApi) {
    this.#loaded = loaded;
    this.clock = clock;
    this.emulator = emulator;
    this.api = api;
    this.other = other;
  }

  static async open(loaded: Loaded, { patience }: TrialOptions = {}): Promise<Trial> {
    const clock = new JumpingClock(START_MILLISECONDS);
    const emulator = await startEmulator(
      { seed: loaded.world.seed, now: () => clock.now() },
      { waitForLate: (milliseconds) => clock.waitForLate(milliseconds) },
    );
    const connection = { baseUrl: emulator.baseUrl, token: "emulator-token", clock, random: () => 0.5 };
    const timeouts = patience === undefined ? {} : { timeouts: { headers: patience, uploadStall: patience } };
    const api = await createApi({ ...connection, ...timeouts });
    return new Trial(loaded, clock, emulator, api, await createApi(connection));
  }

  async close(): Promise<void> {
    await this.api.close();
    await this.other.close();
    this.clock.releaseLate();
    await this.emulator.close();
  }

  async plan(): Promise<Plan> {
    const result = await planProject({
      desired: this.#loaded.desired,
      api: this.api,
      goal: "apply",
      nowMilliseconds: this.clock.now(),
      consents: ALL_CONSENTS,
    });
    if (!result.ok) throw new Error(`${result.what}: ${result.failure.message}`);
    return result.plan;
  }

  /** One step at a time, in the order of the plan, unless more may run at once. */
  apply(plan: Plan, { emit = () => {}, api = this.api, concurrency = 1 }: ApplyOptions = {}): Promise<Report> {
    const { folder: root } = this.#loaded;
    return applyPlan({ plan, api, root, concurrency, clock: this.clock, journal: null, emit });
  }

  /** The mutating requests among them. */
  mutations(from = 0): LoggedRequest[] {
    return this.emulator.requests.slice(from).filter(({ method }) => method !== "GET");
  }

  /** All that the account holds, sorted; what is nobody's but somebody else's in full. */
  async state(): Promise<readonly string[]> {
    for (let read = 0; read < READS_UNTIL_AVAILABLE; read += 1) await this.list("images");
    const [vpcs, domains, images] = [await this.list("vpcs"), await this.list("domains"), await this.list("images")];
    const zones: JsonObject[] = [];
    for (const domain of domains) {
      const records = await this.list("domains", String(domain["id"]), "records");
      zones.push({ ...domain, records });
    }
    const kinds = [...vpcs.map(said("vpc")), ...zones.map(said("domain")), ...images.map(said("image"))];
    return kinds.sort();
  }

  async list(...path: string[]): Promise<readonly JsonObject[]> {
    const answer = await this.other.list({ path });
    if (!answer.ok) throw new Error(answer.failure.message);
    return answer.items;
  }
}

function said(kind: string): (item: JsonObject) => string {
  return (item) => `${kind} ${JSON.stringify(isForeign(item) ? item : plain(item))}`;
}

function isForeign(item: JsonObject): boolean {
  return String(item["label"] ?? item["domain"]).startsWith(FOREIGN);
}

/** Without what is of the moment, and lists in one order. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (value === null || typeof value !== "object") return value;
  const kept = Object.entries(value).filter(([name]) => !OF_THE_MOMENT.has(name));
  return Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, inner]) => [name, plain(inner)]));
}
