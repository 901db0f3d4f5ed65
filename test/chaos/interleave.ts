/** Two runs on one account, their requests let through one at a time in an order that a seed decides. */

import { type Emulator, type Seed, startEmulator } from "../../src/emulator/index.ts";
import { type ClientApi, createApi } from "../../src/index.ts";
import { copyOf, readForeign, readRoots } from "./interleave-account.ts";
import { deletedOnAGuess, duplicatesOf } from "./interleave-duplicates.ts";
import { type Held, type Passed, template } from "./interleave-gate.ts";
import { type Converged, converge, isClean, nextPlanProblems, unsaid } from "./interleave-judge.ts";
import type { Projects } from "./interleave-projects.ts";
import { Run, type World } from "./interleave-run.ts";
import { PAIRS, type Pair, type Work } from "./interleave-scenarios.ts";
import { oneOf, type Random, randomOf, type Temper, temperOf } from "./interleave-seed.ts";

export interface Outcome {
  readonly seed: number;
  readonly pair: string;
  /** One line per request: the run, the method and the path with its ids replaced. */
  readonly sequence: readonly string[];
  /** What both runs were answered, and how they ended: the same for the same seed. */
  readonly trace: string;
  readonly notices: readonly string[];
  /** Of the two runs: how many carried their plan out, at least in part. */
  readonly applied: number;
  /** Equal objects that a person had to choose from; objects that another owner came to have. */
  readonly duplicates: number;
  readonly yielded: number;
  /** Images of the account that a run deleted. */
  readonly imagesGone: number;
  /** What ought not to have happened; empty if the pair survived. */
  readonly problems: readonly string[];
}

const START = Date.UTC(2026, 2, 1);
/** Then an upload that was begun is taken for abandoned, and what was being made is there. */
const AFTERWARDS_MILLISECONDS = 2 * 3_600_000;
const UPLOAD_NOT_READY = "the older one cannot be used yet";
const SECONDS_UNTIL_AVAILABLE = { creating: 4, pendingUpload: 8 };

/** Every pair has its turn: seeds that follow each other are of different pairs. */
export async function play(seed: number, projects: Projects): Promise<Outcome> {
  const random = randomOf(seed);
  const pair = PAIRS[seed % PAIRS.length] as Pair;
  const world: World = { now: START, ended: 0 };
  const service = await open(pair.seed, world);
  const meeting = new Meeting(pair, temperOf(random), random, world, service, projects);
  try {
    await meeting.run();
    return { seed, pair: pair.name, ...(await meeting.outcome()) };
  } finally {
    await meeting.close();
    await service.close();
  }
}

interface Service {
  readonly emulator: Emulator;
  /** Past the gates. */
  readonly api: ClientApi;
  close(): Promise<void>;
}

async function open(seed: Seed, world: World): Promise<Service> {
  const now = () => world.now;
  const emulator = await startEmulator({ seed, now, secondsUntilAvailable: SECONDS_UNTIL_AVAILABLE });
  const api = await createApi({ baseUrl: emulator.baseUrl, token: "emulator-token" });
  const close = async (): Promise<void> => {
    await api.close();
    await emulator.close();
  };
  return { emulator, api, close };
}

class Meeting {
  readonly #pair: Pair;
  readonly #temper: Temper;
  readonly #random: Random;
  readonly #world: World;
  readonly #service: Service;
  readonly #projects: Projects;
  readonly #sequence: string[] = [];
  readonly #problems: string[] = [];
  readonly #posts = [0, 0];
  #lastToWrite = 0;
  #imagesGone = 0;
  #runs: readonly Run[] = [];
  #foreign: readonly string[] = [];

  constructor(pair: Pair, temper: Temper, random: Random, world: World, service: Service, projects: Projects) {
    this.#pair = pair;
    this.#temper = temper;
    this.#random = random;
    this.#world = world;
    this.#service = service;
    this.#projects = projects;
  }

  async run(): Promise<void> {
    const { api, emulator } = this.#service;
    this.#foreign = await readForeign(api, await readRoots(api));
    for (const [index, work] of this.#pair.sides.entries()) {
      const side = await this.#projects.side(work);
      const run = await Run.start(side, this.#world, emulator.port, this.#temper.concurrency[index] as number);
      this.#runs = [...this.#runs, run];
    }
    for (const run of this.#runs) await run.waitUntilQuiet();
    let last = 0;
    for (let open = this.#open(); open.length > 0; open = this.#open()) {
      last = this.#choose(open, last);
      await this.#step(last);
    }
  }

  /** The runs that have something at the gate. */
  #open(): number[] {
    return this.#runs.flatMap((run, index) => (run.held.length > 0 ? [index] : []));
  }

  #choose(open: readonly number[], last: number): number {
    const { share, stickiness, rivalry } = this.#temper;
    if (rivalry !== null) return this.#chooseRival(open, rivalry);
    const [sticks, drawn] = [this.#random() < stickiness, this.#random() < share ? 0 : 1];
    const wanted = sticks ? last : drawn;
    return open.includes(wanted) ? wanted : (open[0] as number);
  }

  /** Reads go first, so that both runs have planned before either of them writes. */
  #chooseRival(open: readonly number[], rivalry: number): number {
    const reading = open.filter((index) => !this.#runs[index]?.held.some(isWrite));
    if (reading.length > 0) return oneOf(this.#random, reading);
    const wanted = this.#random() < rivalry ? 1 - this.#lastToWrite : this.#lastToWrite;
    return open.includes(wanted) ? wanted : (open[0] as number);
  }

  async #step(index: number): Promise<void> {
    const run = this.#runs[index] as Run;
    this.#world.now += oneOf(this.#random, this.#temper.jumps);
    const held = oneOf(this.#random, run.held);
    this.#sequence.push(`${index} ${template(held)}`);
    const passed = await run.pass(held, this.#isLost(index, held.method));
    if (isWrite(passed)) {
      this.#lastToWrite = index;
      await this.#look(index, passed);
      await this.#lookForImages(index, passed);
    }
    await run.waitUntilQuiet();
  }

  #isLost(index: number, method: string): boolean {
    const { lost } = this.#temper;
    if (method !== "POST" || lost?.run !== index) return false;
    const count = (this.#posts[index] ?? 0) + 1;
    this.#posts[index] = count;
    return count === lost.post;
  }

  /** At every moment: what is others' is as it was, to the byte. */
  async #look(index: number, { method, path }: Passed): Promise<void> {
    const { api } = this.#service;
    const foreign = await readForeign(api, await readRoots(api));
    if (foreign.join("\n") === this.#foreign.join("\n")) return;
    this.#problems.push(`after ${method} ${path} of run ${index} what is others' has changed`);
    this.#foreign = foreign;
  }

  /** No image that was there goes before all that the manifest declares can be used. */
  async #lookForImages(index: number, { method, path, status }: Passed): Promise<void> {
    const { seed, sides } = this.#pair;
    const old = (seed.images ?? []).find(({ id }) => path === `/images/${encodeURIComponent(String(id))}`);
    if (method !== "DELETE" || status !== 200 || old === undefined) return;
    this.#imagesGone += 1;
    const { manifest, goal } = sides[index] as Work;
    if (goal !== "apply") return;
    const { images } = await readRoots(this.#service.api);
    const usable = new Set(images.filter((image) => image["status"] === "available").map(({ label }) => label));
    for (const { label } of manifest.images ?? []) {
      if (!usable.has(label))
        this.#problems.push(`run ${index} deleted image ${old.label} before ${label} can be used`);
    }
  }

  async outcome(): Promise<Omit<Outcome, "seed" | "pair">> {
    const facts = [this.#sequence, this.#runs.map(traceOf), await readRoots(this.#service.api)];
    // Every gate has a port of its own.
    const trace = JSON.stringify(facts).replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1");
    const problems = [
      ...this.#problems,
      ...this.#runs.flatMap(unsaid),
      ...this.#deletedOnAGuess(),
      ...(await this.#leftTwice()),
    ];
    const notices = this.#runs.flatMap(({ ending }) => (ending?.type === "applied" ? ending.report.notices : []));
    this.#world.now += AFTERWARDS_MILLISECONDS;
    const converged = await this.#convergeEither();
    return {
      sequence: this.#sequence,
      trace,
      notices,
      applied: this.#runs.filter(({ ending }) => ending?.type === "applied").length,
      duplicates: converged.reduce((sum, { duplicates }) => sum + duplicates, 0),
      yielded: converged.reduce((sum, { yielded }) => sum + yielded, 0),
      imagesGone: this.#imagesGone,
      problems: [...problems, ...converged.flatMap((found) => found.problems)],
    };
  }

  /** One more plan and apply by each of the two, each on a copy of what they left behind. */
  async #convergeEither(): Promise<readonly Converged[]> {
    const left = await copyOf(this.#service.api);
    const found: Converged[] = [];
    for (const work of this.#pair.sides) {
      const copy = await open(left, this.#world);
      try {
        const foreign = await readForeign(copy.api, await readRoots(copy.api));
        this.#world.now += AFTERWARDS_MILLISECONDS;
        const converged = await converge(copy.api, this.#pair, work, this.#projects, this.#world);
        const after = await readForeign(copy.api, await readRoots(copy.api));
        const touched = after.join("\n") === foreign.join("\n") ? [] : ["the next apply changed what is others'"];
        found.push({ ...converged, problems: [...converged.problems, ...touched] });
      } finally {
        await copy.close();
      }
    }
    return found;
  }

  /**
   * With nothing else done there is one of each, and the next plan is empty. There are two exceptions, in which the run that ended last,
   * which could see both, has not ended with 0: the answer to a POST was lost, so that nobody may know who made which of two equal
   * objects; and the clock jumped so far that a run has waited an hour for the other's upload in vain.
   */
  async #leftTwice(): Promise<readonly string[]> {
    const { api } = this.#service;
    const { sides } = this.#pair;
    const left = await duplicatesOf(api, sides);
    const last = this.#runs.find(({ endedAs }) => endedAs === this.#runs.length - 1);
    if (left.length > 0) {
      const notices = this.#runs.flatMap(({ ending }) => (ending?.type === "applied" ? ending.report.notices : []));
      const mayBeLeft = this.#temper.lost !== null || notices.some((text) => text.includes(UPLOAD_NOT_READY));
      const told = mayBeLeft ? [] : left.map((name) => `${name} is there twice`);
      return last !== undefined && isClean(last)
        ? [...told, `the last run ended with 0, and twice is: ${left.join()}`]
        : told;
    }
    const isOneCommit = JSON.stringify(sides[0].manifest) === JSON.stringify(sides[1].manifest);
    if (!isOneCommit || sides.some(({ goal }) => goal !== "apply") || !this.#runs.some(isClean)) return [];
    return nextPlanProblems(api, sides[0], this.#projects, this.#world);
  }

  #deletedOnAGuess(): readonly string[] {
    return deletedOnAGuess(this.#runs.map(({ passed }, index) => ({ work: this.#pair.sides[index] as Work, passed })));
  }

  async close(): Promise<void> {
    for (const run of this.#runs) await run.close();
  }
}

function isWrite({ method }: Pick<Held, "method">): boolean {
  return method !== "GET";
}

function traceOf({ passed, ending }: Run): unknown {
  const report = ending?.type === "applied" ? ending.report : null;
  return [passed.map((request) => `${template(request)} ${request.status}`), ending?.type, report];
}
