/** The judge of two runs that met: what each of them must have said, and what one more plan and apply must come to. */

import {
  type Api,
  applyPlan,
  type Change,
  type Diagnostic,
  type Plan,
  planProject,
  type Report,
} from "../../src/index.ts";
import type { JsonObject } from "../../src/model/resource.ts";
import { ALL_CONSENTS } from "../support/account.ts";
import { differences, readRoots, remains } from "./interleave-account.ts";
import type { Passed } from "./interleave-gate.ts";
import type { Manifest } from "./interleave-manifest.ts";
import type { Projects } from "./interleave-projects.ts";
import { type Run, type World, worldClock } from "./interleave-run.ts";
import type { Pair, Work } from "./interleave-scenarios.ts";

/** The manifests are sound, so that every refusal is the other run's doing. Answers that told a run of the other's work, and of which its report says nothing. */
export function unsaid(run: Run): readonly string[] {
  const { ending } = run;
  if (ending?.type !== "applied") return [];
  const { notices } = ending.report;
  const lost = new Set(run.passed.filter((passed) => passed.lost).map((passed) => passed.path));
  return run.passed.filter(tells).flatMap((passed) => {
    // A request of the planning is of no step; one that was lost before may have been the reason itself.
    const step = run.intents.find((intent) => isOf(passed, intent))?.step;
    if (step === undefined || lost.has(passed.path)) return [];
    const isSaid = notices.some((notice) => notice.startsWith(`${step}: `));
    return isSaid ? [] : [`${step} was answered with ${passed.status}, and the report does not say so`];
  });
}

function tells({ method, status }: Passed): boolean {
  return method !== "GET" && (status === 404 || status === 400);
}

function isOf(passed: Passed, intent: Run["intents"][number]): boolean {
  return intent.method === passed.method && intent.path === passed.path && intent.body === passed.body;
}

/** Whether the command would have ended with 0. */
export function isClean({ ending }: Run): boolean {
  if (ending?.type !== "applied") return false;
  const { failed, skipped, unknown, blocked, duplicates } = ending.report;
  return failed + skipped + unknown + blocked + duplicates === 0;
}

/** After a run that ended with 0, another plan of the same manifest is empty. */
export async function nextPlanProblems(
  api: Api,
  work: Work,
  projects: Projects,
  world: World,
): Promise<readonly string[]> {
  const { desired, goal } = await projects.side(work);
  const planned = await planProject({ desired, api, goal, nowMilliseconds: world.now });
  if (!planned.ok) return [`the next plan cannot be made: ${planned.failure.message}`];
  const { changes, refusals } = planned.plan;
  const left = changes.filter(({ action }) => action !== "no-op").map(({ action, key }) => `${action} ${key}`);
  return [...left, ...refusals.map(({ summary }) => summary)].map((text) => `a run ended with 0, and then: ${text}`);
}

export interface Converged {
  /** Equal objects that a person had to choose from. */
  readonly duplicates: number;
  /** Objects that the other owner came to have. */
  readonly yielded: number;
  readonly problems: readonly string[];
}

/** How often a person is asked in a row: once for each label that repeats, and once for the other owner. */
const MAX_QUESTIONS = 6;

/** One more plan and apply by one of the two, with a person who answers what is asked. */
export async function converge(api: Api, pair: Pair, work: Work, projects: Projects, world: World): Promise<Converged> {
  return new Convergence(api, pair, work, projects, world).converge();
}

class Convergence {
  readonly #api: Api;
  readonly #pair: Pair;
  readonly #projects: Projects;
  readonly #world: World;
  readonly #takenFrom: string[] = [];
  #work: Work;
  #duplicates = 0;

  constructor(api: Api, pair: Pair, work: Work, projects: Projects, world: World) {
    this.#api = api;
    this.#pair = pair;
    this.#projects = projects;
    this.#world = world;
    this.#work = work;
  }

  async converge(): Promise<Converged> {
    const repeated = await repeatedLabels(this.#api, this.#work.manifest);
    const converged = await this.#ask();
    // Of equal ones of ours that nobody uses the plan itself takes the oldest.
    if (converged.duplicates <= repeated.length || converged.problems.length > 0) return converged;
    return { ...converged, problems: [`a person was asked about ${converged.duplicates} of ${repeated.join(", ")}`] };
  }

  async #ask(): Promise<Converged> {
    for (let question = 0; question <= MAX_QUESTIONS; question += 1) {
      const plan = await this.#plan();
      const [refusal] = plan.refusals;
      const unclear = plan.changes.find(({ blocked }) => blocked?.type === "ambiguous");
      const isAsked = refusal !== undefined || unclear !== undefined;
      const problems =
        refusal !== undefined
          ? await this.#answer(refusal)
          : unclear !== undefined
            ? await this.#chooseDuplicate(unclear)
            : await this.#apply(plan);
      if (problems.length > 0 || !isAsked) return this.#converged(problems);
    }
    return this.#converged(["the next plan never stops asking"]);
  }

  #converged(problems: readonly string[]): Converged {
    return { duplicates: this.#duplicates, yielded: this.#takenFrom.length, problems };
  }

  async #plan(): Promise<Plan> {
    const { desired, goal } = await this.#projects.side(this.#work);
    const result = await planProject({
      desired,
      api: this.#api,
      goal,
      nowMilliseconds: this.#world.now,
      consents: ALL_CONSENTS,
      takeOwnershipFrom: this.#takenFrom,
    });
    if (!result.ok) throw new Error(`${result.what}: ${result.failure.message}`);
    return result.plan;
  }

  /** @returns why no person could answer */
  async #answer({ code, summary, address }: Diagnostic): Promise<readonly string[]> {
    const subject = String(address);
    if (code !== "foreign-owner" || !this.#pair.contested.includes(subject.replace("domain/", ""))) {
      return [`the next plan is refused: ${code} ${summary}`];
    }
    this.#takenFrom.push(/belongs to the owner "([^"]+)"/.exec(summary)?.[1] ?? "");
    return [];
  }

  async #chooseDuplicate({ address, blocked }: Change): Promise<readonly string[]> {
    const ids = await candidates(this.#api, address);
    const said = blocked?.type === "ambiguous" ? blocked.candidates.map(({ id }) => id) : [];
    if (ids.length < 2 || ids.some((id) => !said.includes(id)))
      return [`${address} could be ${ids.join(", ")}, and is said to be ${said.join(", ")}`];
    this.#duplicates += 1;
    // A person takes one that is whole: those come first.
    this.#work = { ...this.#work, manifest: choosing(this.#work.manifest, address, ids[0] as string | number) };
    return [];
  }

  async #apply(plan: Plan): Promise<readonly string[]> {
    const { folder } = await this.#projects.side(this.#work);
    const clock = worldClock(this.#world);
    const report = await applyPlan({ plan, api: this.#api, root: folder, concurrency: 8, clock, journal: null });
    const { failed, skipped, unknown, blocked } = report;
    if (failed + skipped + unknown + blocked > 0) return [`the next apply is incomplete: ${undone(plan, report)}`];
    const last = await this.#plan();
    const left = last.changes.filter(({ action }) => action !== "no-op").map(({ action, key }) => `${action} ${key}`);
    const { manifest, goal } = this.#work;
    const account = await readRoots(this.#api);
    return [
      ...(left.length > 0 ? [`the plan after it is not empty: ${left.join(", ")}`] : []),
      ...last.refusals.map(({ summary }) => `the plan after it is refused: ${summary}`),
      ...(goal === "apply" ? await differences(this.#api, manifest, account) : remains(manifest, account)),
    ];
  }
}

function undone({ changes }: Plan, { steps }: Report): string {
  const failures = steps.flatMap(({ step, failure }) => (failure === null ? [] : [`${step}: ${failure.message}`]));
  const blocked = changes.flatMap((change) =>
    change.blocked === null ? [] : [`${change.key} ${change.blocked.type}`],
  );
  return [...failures, ...blocked].join("; ");
}

/** Declared labels that more than one object carries. */
async function repeatedLabels(api: Api, manifest: Manifest): Promise<readonly string[]> {
  const account = await readRoots(api);
  const repeated = (items: readonly JsonObject[], entries: readonly { readonly label: string }[]) =>
    entries.filter((entry) => items.filter(({ label }) => label === entry.label).length > 1).map(({ label }) => label);
  return [...repeated(account.vpcs, manifest.vpcs ?? []), ...repeated(account.images, manifest.images ?? [])];
}

async function candidates(api: Api, address: string): Promise<(string | number)[]> {
  const { vpcs, images } = await readRoots(api);
  const [kind, label] = address.split("/");
  const items = (kind === "vpc" ? vpcs : images).filter((item) => item["label"] === label);
  const isWhole = (item: JsonObject) => item["status"] !== "pending_upload";
  return [...items.filter(isWhole), ...items.filter((item) => !isWhole(item))].map(({ id }) => id as string | number);
}

/** The manifest with `id:` written where a person chose. */
function choosing(manifest: Manifest, address: string, id: string | number): Manifest {
  const [kind, label] = address.split("/");
  const chosen = <Entry extends { readonly label: string }>(entries: readonly Entry[]): Entry[] =>
    entries.map((entry) => (entry.label === label ? { ...entry, id } : entry));
  return kind === "vpc"
    ? { ...manifest, vpcs: chosen(manifest.vpcs ?? []) }
    : { ...manifest, images: chosen(manifest.images ?? []) };
}
