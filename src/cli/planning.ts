/** Planning, as plan, apply and destroy share it: load, check the account, connect, read, plan. */

import {
  type Base,
  type ClientApi,
  type Connection,
  checkAccount,
  type Diagnostic,
  deletedInDoubt,
  type Goal,
  isUnmatched,
  MAX_LOOKED_AT_CHARACTERS,
  MAX_LOOKED_AT_ENVIRONMENTS,
  NEUTRAL_DIALECT,
  type OtherEnvironment,
  type Plan,
  type Project,
  planProject,
  renderPlanMarkdown,
  withEnvironments,
} from "../index.ts";
import type { PlanFlags } from "./args.ts";
import { withClient } from "./client.ts";
import { resolveDialect } from "./connection.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { sayDiagnostics, sayFailure } from "./messages.ts";
import { Progress } from "./progress.ts";
import { load, openProject } from "./project.ts";
import { tellMarkdown } from "./step-summary.ts";
import type { Terminal } from "./terminal.ts";

export interface Session {
  readonly project: Project;
  readonly connection: Connection;
  readonly api: ClientApi;
  readonly terminal: Terminal;
  readonly flags: PlanFlags;
  readonly goal: Goal;
  /** false: targets and excludes are those of a saved plan. */
  readonly checkSelection?: boolean;
}

/** What planning needs of a session, and what `plan` and `drift` may have beside it. */
export interface PlanSession extends Omit<Session, "connection"> {
  /** What the changes are compared with. */
  readonly base?: Base;
  /** What was found before planning, to be told with the plan. */
  readonly warnings?: readonly Diagnostic[];
  /** undefined: there is none, as nothing is sent. */
  readonly token?: string;
  /** Of a snapshot: when and of which account it was. Else it is now, and TENON_ACCOUNT. */
  readonly moment?: Moment;
}

export interface Moment {
  readonly nowMilliseconds: number;
  readonly account: string | null;
}

export type Planned =
  | { readonly ok: true; readonly plan: Plan }
  /** `refused`: the plan that may not be, if there is one. */
  | { readonly ok: false; readonly code: ExitCode; readonly refused: Plan | null };

/** Opens project and connection, hands them to `work`, and closes the connection whatever happens. */
export async function inSession(
  terminal: Terminal,
  directory: string | undefined,
  flags: PlanFlags,
  goal: Goal,
  work: (session: Session) => Promise<ExitCode>,
): Promise<ExitCode> {
  const opened = await openProject(terminal, directory, flags, resolveDialect(flags) ?? undefined);
  if (!opened.ok) return opened.code;
  const { project } = opened;
  const refusal = checkAccount(project.desired, accountOf(terminal));
  if (refusal !== null) {
    sayDiagnostics(terminal, [refusal], project.sources);
    return EXIT.refused;
  }
  return withClient(terminal, flags, (api, connection) => work({ project, connection, api, terminal, flags, goal }));
}

/** Reads and plans. Refusals are said, and end it. */
export async function planIn(session: PlanSession): Promise<Planned> {
  const { terminal, project, flags, goal, api, base } = session;
  const moment = session.moment ?? { nowMilliseconds: Date.now(), account: accountOf(terminal) };
  const progress = new Progress(terminal);
  progress.show("Reading the account");
  const result = await planProject({
    desired: project.desired,
    api,
    goal,
    ...moment,
    ...(base === undefined ? {} : { base }),
    targets: flags.target ?? [],
    excludes: flags.exclude ?? [],
    checkSelection: session.checkSelection ?? true,
    inputs: project.inputs,
    consents: flags.allow ?? [],
    maxChanges: flags.maxChanges ?? null,
    takeOwnershipFrom: flags.takeOwnershipFrom ?? [],
    clone: flags.clone,
    ...(flags.uploadTimeout === undefined ? {} : { uploadTimeoutSeconds: flags.uploadTimeout }),
    watch: {
      signal: terminal.interrupt.first,
      progress: (done, total) => progress.show(`Reading the account: ${done} of ${total} lists`),
    },
  }).finally(() => progress.end());
  const interrupted = terminal.interrupt.code();
  if (interrupted !== null) return { ok: false, code: interrupted, refused: null };
  if (!result.ok) {
    sayFailure(terminal, `cannot read ${result.what}`, result.failure);
    return { ok: false, code: EXIT.error, refused: null };
  }
  const plan = { ...result.plan, warnings: [...(session.warnings ?? []), ...result.plan.warnings] };
  if (plan.refusals.length === 0) return { ok: true, plan };
  sayDiagnostics(terminal, plan.refusals, project.sources);
  await tellMarkdown(terminal, flags.format, () => renderPlanMarkdown(plan));
  return { ok: false, code: plan.refusals.some(isUnmatched) ? EXIT.error : EXIT.refused, refused: plan };
}

/**
 * The plan with, on each deletion that lacks consent, the environments that declare what would go. Of an environment that the project
 * cannot be loaded with nothing is said: it is not what was asked for. Each is a project to be loaded, so those that are too many are
 * only counted, and nothing of one is kept but which of the addresses in question it declares.
 */
export async function tellEnvironments({ project, flags }: PlanSession, plan: Plan): Promise<Plan> {
  const inDoubt = deletedInDoubt(plan);
  if (inDoubt.size === 0) return plan;
  const dialect = resolveDialect(flags) ?? NEUTRAL_DIALECT;
  const names = nearestEnvironments(project);
  const others: OtherEnvironment[] = [];
  let looked = 0;
  let characters = 0;
  for (const name of names.slice(0, MAX_LOOKED_AT_ENVIRONMENTS)) {
    if (characters > MAX_LOOKED_AT_CHARACTERS) break;
    const loaded = await load(project.root, { ...flags, env: name }, dialect, { past: true });
    looked += 1;
    characters += loaded.characters;
    if (loaded.project === null) continue;
    const { owner, account, declared } = loaded.project.desired;
    const addresses = new Set(declared.map(({ address }) => address));
    const both = [...inDoubt].filter((address) => addresses.has(address)).map((address) => ({ address }));
    others.push({ name, desired: { owner, account, declared: both } });
  }
  return withEnvironments(plan, project.desired, others, names.length - looked);
}

/** All but the project's own, those first that stand beside it in the root file. */
function nearestEnvironments({ environments, inputs }: Project): string[] {
  const own = inputs.environment === null ? 0 : environments.indexOf(inputs.environment);
  const distances = environments.map((name, index) => ({ name, distance: Math.abs(index - own) }));
  const others = distances.filter(({ name }) => name !== inputs.environment);
  return others.sort((a, b) => a.distance - b.distance).map(({ name }) => name);
}

/** TENON_ACCOUNT; null if it is not set. */
export function accountOf({ environment }: Terminal): string | null {
  return environment["TENON_ACCOUNT"] || null;
}
