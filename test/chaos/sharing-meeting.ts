/** The owner of a shared zone and the team it is shared with, at work at once: whose requests go through in which order, and what they touch. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { type ClientApi, createApi } from "../../src/index.ts";
import type { JsonObject } from "../../src/model/resource.ts";
import { loadFolder } from "../support/account.ts";
import type { Held } from "./interleave-gate.ts";
import { Run, type World } from "./interleave-run.ts";
import { oneOf, type Random } from "./interleave-seed.ts";
import { isOfPart, PART_TAG, type Role, rowText, type SharedWorld } from "./sharing-world.ts";

const START = Date.UTC(2026, 2, 1);
const RECORD_PATH = /^\/domains\/(\d+)\/records(?:\/(\d+))?$/;

export interface Moves {
  /** Requests of each run that go through before it is killed; absent: all. */
  readonly killedAfter?: Readonly<Partial<Record<Role, number>>>;
  /** How likely it is that a write's answer is lost. */
  readonly loses?: number;
}

/** One account in which the two meet, possibly more than once. */
export class SharedAccount {
  readonly #world: World;
  readonly #shared: SharedWorld;
  readonly #emulator: Emulator;
  readonly #api: ClientApi;
  readonly #folders: string[] = [];
  /** What was touched that ought not to have been. */
  readonly problems: string[] = [];
  /** Whose request went through, in order. */
  readonly order: Role[] = [];
  /** Writes of either. */
  readonly writes: Record<Role, number> = { owner: 0, part: 0 };

  private constructor(shared: SharedWorld, emulator: Emulator, api: ClientApi, world: World) {
    this.#shared = shared;
    this.#emulator = emulator;
    this.#api = api;
    this.#world = world;
  }

  static async open(shared: SharedWorld): Promise<SharedAccount> {
    const world: World = { now: START, ended: 0 };
    const emulator = await startEmulator({ seed: shared.seed, now: () => world.now });
    const api = await createApi({ baseUrl: emulator.baseUrl, token: "emulator-token" });
    return new SharedAccount(shared, emulator, api, world);
  }

  async close(): Promise<void> {
    await this.#api.close();
    await this.#emulator.close();
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true });
  }

  /** Runs the given manifests at once; each of the orders of their requests has its chance. */
  async meet(
    manifests: Readonly<Partial<Record<Role, object>>>,
    random: Random,
    { killedAfter = {}, loses = 0 }: Moves = {},
  ): Promise<Readonly<Partial<Record<Role, Run>>>> {
    const runs: Partial<Record<Role, Run>> = {};
    for (const role of ["owner", "part"] as const) {
      const manifest = manifests[role];
      if (manifest === undefined) continue;
      const side = { ...(await this.#load(manifest)), goal: "apply" as const };
      runs[role] = await Run.start(side, this.#world, this.#emulator.port, oneOf(random, [1, 2, 8]));
    }
    const left: Record<Role, number> = {
      owner: killedAfter.owner ?? Number.POSITIVE_INFINITY,
      part: killedAfter.part ?? Number.POSITIVE_INFINITY,
    };
    for (const run of Object.values(runs)) await run.waitUntilQuiet();
    for (;;) {
      const open = (["owner", "part"] as const).filter((role) => left[role] > 0 && (runs[role]?.held.length ?? 0) > 0);
      if (open.length === 0) break;
      const role = oneOf(random, open);
      const run = runs[role] as Run;
      this.#world.now += oneOf(random, [20, 1_000]);
      const held = oneOf(random, run.held);
      await this.#judge(role, held);
      await run.pass(held, held.method !== "GET" && random() < loses);
      left[role] -= 1;
      this.order.push(role);
      await run.waitUntilQuiet();
    }
    for (const run of Object.values(runs)) await run.close();
    return runs;
  }

  /** `name type target` of what is there, by whose it is. */
  async held(): Promise<Record<Role, string[]>> {
    const { records } = await this.#read();
    const texts: Record<Role, string[]> = { owner: [], part: [] };
    for (const record of records) texts[this.#roleOf(String(record["name"]))].push(rowText(record));
    return texts;
  }

  async tags(): Promise<readonly string[]> {
    const { domain } = await this.#read();
    return (domain?.["tags"] ?? []) as readonly string[];
  }

  #roleOf(name: string): Role {
    return isOfPart(name === "@" ? "" : name, this.#shared.names) ? "part" : "owner";
  }

  /** What the request is about must be of whoever sends it, at the moment at which it arrives. */
  async #judge(role: Role, { method, path, body }: Held): Promise<void> {
    if (method === "GET") return;
    this.writes[role] += 1;
    const [, , id] = RECORD_PATH.exec(path) ?? [];
    if (!RECORD_PATH.test(path)) {
      if (role === "part" || method !== "PUT") this.problems.push(`${role} sent ${method} ${path}`);
      return;
    }
    const { domain, records } = await this.#read();
    const tags = (domain?.["tags"] ?? []) as readonly string[];
    if (tags.includes(PART_TAG)) {
      const sent = (body === "" ? {} : JSON.parse(body)) as JsonObject;
      const there = records.filter((record) => String(record["id"]) === id);
      const names = [...there, sent].flatMap(({ name }) => (name === undefined ? [] : [String(name)]));
      for (const name of id === undefined && names.length === 0 ? [""] : names)
        if (this.#roleOf(name) !== role) this.problems.push(`${role} sent ${method} for the name "${name}"`);
    } else if (role === "part" && !this.#isWithdrawn) this.problems.push("the team wrote without being let");
  }

  /** Set where the owner may take the tag off between the team's look and its writes. */
  #isWithdrawn = false;
  expectWithdrawal(): void {
    this.#isWithdrawn = true;
  }

  async #read(): Promise<{ readonly domain: JsonObject | undefined; readonly records: readonly JsonObject[] }> {
    const domains = await this.#list(["domains"]);
    const [domain] = domains;
    return {
      domain,
      records: domain === undefined ? [] : await this.#list(["domains", String(domain["id"]), "records"]),
    };
  }

  async #list(path: readonly string[]): Promise<readonly JsonObject[]> {
    const answer = await this.#api.list({ path });
    if (!answer.ok) throw new Error(answer.failure.message);
    return answer.items;
  }

  async #load(manifest: object) {
    const folder = await mkdtemp(join(tmpdir(), "tenon-sharing-"));
    this.#folders.push(folder);
    await writeFile(join(folder, "tenon.yaml"), JSON.stringify(manifest, null, 1));
    const { desired, diagnostics } = await loadFolder(folder);
    if (desired === null) throw new Error(JSON.stringify(diagnostics, null, 1));
    return { desired, folder };
  }
}
