/** An account to test against: an emulator, a real client, and projects written to a temporary folder. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../src/emulator/index.ts";
import {
  type ApplyEvent,
  allowedSeconds,
  applyPlan,
  type ClientApi,
  type Clock,
  type Consent,
  createApi,
  type Desired,
  type Diagnostic,
  findUnreviewed,
  type Journal,
  type Live,
  loadProject,
  type Plan,
  type PlanRequest,
  type PlanResult,
  parsePlanFile,
  planProject,
  type Report,
  systemClock,
} from "../../src/index.ts";
import { renderPlanJson } from "../../src/render/plan-json.ts";
import { writeInto } from "./files.ts";

/** File (relative) → content. */
export type Project = Readonly<Record<string, string | Uint8Array>>;

/** Consent to everything that can be consented to. */
export const ALL_CONSENTS: readonly Consent[] = (["delete", "replace", "bulk", "ns"] as const).map((rule) => ({
  rule,
  address: "*",
  until: null,
  reason: null,
  span: null,
}));

/** Waits are over at once: for emulators, whose images become available by being looked at. */
export const HASTY_CLOCK: Clock = { now: Date.now, sleep: () => new Promise((resolve) => setImmediate(resolve)) };

export class Account {
  readonly emulator: Emulator;
  readonly api: ClientApi;
  readonly folder: string;

  private constructor(emulator: Emulator, api: ClientApi, folder: string) {
    this.emulator = emulator;
    this.api = api;
    this.folder = folder;
  }

  static async open(options: EmulatorOptions = {}): Promise<Account> {
    const emulator = await startEmulator(options);
    const token = options.seed?.tokens?.[0]?.token ?? "emulator-token";
    const dialect = options.dialect ?? "node";
    const api = await createApi({ baseUrl: emulator.baseUrl, token, dialect, retryForSeconds: 5 });
    return new Account(emulator, api, await mkdtemp(join(tmpdir(), "tenon-test-")));
  }

  async close(): Promise<void> {
    await this.api.close();
    await this.emulator.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Loads a project; a single text is its root file. */
  async load(
    project: Project | string,
    options: { environment?: string; allowedSeconds?: readonly number[] } = {},
  ): Promise<{ desired: Desired | null; diagnostics: readonly Diagnostic[] }> {
    const files = typeof project === "string" ? { "tenon.yaml": project } : project;
    await rm(this.folder, { recursive: true, force: true });
    await writeInto(this.folder, files);
    return loadFolder(this.folder, options);
  }

  async plan(desired: Desired, options: Partial<PlanRequest> = {}): Promise<Plan> {
    return (await this.planned(desired, options)).plan;
  }

  /** The plan with what it was made from. */
  async planned(
    desired: Desired,
    options: Partial<PlanRequest> = {},
  ): Promise<Extract<PlanResult, { readonly ok: true }>> {
    const request = { goal: "apply" as const, nowMilliseconds: Date.now(), ...options };
    const result = await planProject({ ...request, desired, api: this.api });
    if (!result.ok) throw new Error(`${result.what}: ${result.failure.message}`);
    return result;
  }

  /** @throws if the plan, written to a file and read back, is refused or does not cover itself */
  async apply(
    plan: Plan,
    options: {
      concurrency?: number;
      root?: string;
      clock?: Clock;
      journal?: Journal;
      live?: Live;
      emit?: (event: ApplyEvent) => void;
    } = {},
  ): Promise<Report> {
    const saved = await parsePlanFile(renderPlanJson(plan));
    if (!saved.ok) throw new Error(`${saved.diagnostic.code}: ${saved.diagnostic.detail}`);
    const unreviewed = findUnreviewed(plan, saved.plan);
    if (unreviewed.length > 0) throw new Error(`not reviewed: ${unreviewed.map(({ key }) => key).join(", ")}`);
    return applyPlan({
      plan,
      api: this.api,
      root: options.root ?? this.folder,
      concurrency: options.concurrency ?? 8,
      clock: options.clock ?? systemClock,
      journal: options.journal ?? null,
      ...(options.live === undefined ? {} : { live: options.live }),
      ...(options.emit === undefined ? {} : { emit: options.emit }),
    });
  }

  /** Loads, plans with every consent, and applies; throws on anything but success. */
  async converge(
    project: Project | string,
    options: Partial<PlanRequest> = {},
  ): Promise<{ plan: Plan; report: Report }> {
    const { desired, diagnostics } = await this.load(project);
    if (desired === null) throw new Error(JSON.stringify(diagnostics, null, 1));
    const plan = await this.plan(desired, { consents: ALL_CONSENTS, ...options });
    if (plan.refusals.length > 0) throw new Error(JSON.stringify(plan.refusals, null, 1));
    const report = await this.apply(plan);
    return { plan, report };
  }

  /** Moves the service's clock, and no other. */
  async advanceClock(seconds: number): Promise<void> {
    const body = JSON.stringify({ advance_seconds: seconds });
    const headers = { "content-type": "application/json", "x-tenon-emulator": "yes" };
    const url = new URL("/_emulator/clock", this.emulator.baseUrl);
    const answer = await fetch(url, { method: "POST", headers, body });
    if (!answer.ok) throw new Error(`the clock was not moved: ${answer.status}`);
  }

  /** Reads a list of the emulator, as the service would answer it. */
  async list<Item = Record<string, unknown>>(...path: string[]): Promise<Item[]> {
    const answer = await this.api.list({ path });
    if (!answer.ok) throw new Error(answer.failure.message);
    return answer.items as unknown as Item[];
  }

  /** The requests since the last call of this, as `METHOD path`, without queries. */
  takeRequests(): string[] {
    const taken = this.emulator.requests.map(({ method, path }) => `${method} ${path.replace(/^\/v4/, "")}`);
    this.emulator.clearRequests();
    return taken;
  }
}

export async function loadFolder(
  directory: string,
  options: { environment?: string; allowedSeconds?: readonly number[] } = {},
): Promise<{ desired: Desired | null; diagnostics: readonly Diagnostic[] }> {
  const { project, diagnostics } = await loadProject({
    directory,
    allowedSeconds: allowedSeconds("node"),
    ...options,
  });
  return { desired: project?.desired ?? null, diagnostics };
}

/** The changes of a plan that are not no-ops, as `action key`. */
export function changeList(plan: Plan): string[] {
  return plan.changes.filter((change) => change.action !== "no-op").map((change) => `${change.action} ${change.key}`);
}
