/** Reads the plan file that bounds an apply or that is shown, and the snapshot of `--live`. */

import { isDeepStrictEqual } from "node:util";
import { readProblem, readSaved } from "../files/files.ts";
import {
  asciiAddress,
  type ChangedSince,
  type Diagnostic,
  type Goal,
  type Plan,
  type PlanInputs,
  parsePlanFile,
} from "../index.ts";
import type { Snapshot } from "../model/live.ts";
import type { FleetInput } from "../model/plan.ts";
import { listNames, shellWord } from "../model/text.ts";
import { escapeText } from "../render/terminal.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import type { ChangedSinceFlags, PlanFlags } from "./flags.ts";
import { sayDiagnostics, sayError } from "./messages.ts";
import type { Terminal } from "./terminal.ts";

/** The most octets of a plan file: more than the plan of a million records has. */
const MAX_PLAN_BYTES = 384 * 1024 * 1024;

type Reviewed<T> = { readonly ok: true; readonly plan: T } | { readonly ok: false; readonly code: ExitCode };

/** The flags that were given beside a plan file. */
type Asked = Pick<
  PlanFlags,
  "env" | "target" | "exclude" | "skipUnsupported" | "takeOwnershipFrom" | "clone" | "neverDestroy" | "fleet"
> & {
  readonly changedSince?: string;
  /** A journal. */
  readonly undo?: string;
  /** Which run of the journal. */
  readonly run?: string;
  /** Nothing is taken from the file: a flag that is not given must be absent there, too. */
  readonly pin?: boolean;
};

/** The flags, completed with those that the plan file was made with. */
export function asPlanned<Flags extends PlanFlags & ChangedSinceFlags>(flags: Flags, { inputs }: Plan): Flags {
  const { environment, variables, targets, excludes, skipUnsupported, takeOwnershipFrom, clone, neverDestroy } = inputs;
  const env = environment === null ? {} : { env: environment };
  const undone = inputs.journal === undefined ? {} : { undo: inputs.journal.file, run: inputs.journal.started };
  const selection = { target: targets, exclude: excludes, savedChangedSince: inputs.changedSince };
  return {
    ...flags,
    ...env,
    ...undone,
    ...selection,
    saved: variables,
    skipUnsupported,
    takeOwnershipFrom,
    clone,
    neverDestroy,
  };
}

/**
 * The error if a flag that is given beside a plan file differs from those that it was made with: another plan would be carried out.
 * @param command `destroy` takes plans of its own goal only; with `--pin`, `apply` does, too
 */
export function differsFromPlan(asked: Asked, command: Goal, { goal, inputs }: Plan): Diagnostic | null {
  const { pin = false, env, target, exclude, takeOwnershipFrom, skipUnsupported, clone, neverDestroy } = asked;
  if (goal !== command && (pin || command === "destroy")) return OTHER_GOAL[goal];
  if (asked.fleet !== undefined && !isDeepStrictEqual(asked.fleet, inputs.fleet))
    return otherAccount(asked.fleet, inputs.fleet);
  const isGiven = (value: unknown): boolean => pin || value !== undefined;
  if (isGiven(asked.undo) && asked.undo !== inputs.journal?.file) {
    const flagOf = (file: string | undefined) => (file === undefined ? "no --undo" : `--undo ${shellWord(file)}`);
    return differs("journal", flagOf(asked.undo), `with ${flagOf(inputs.journal?.file)}`, pin);
  }
  if (asked.run !== undefined && asked.run !== inputs.journal?.started) {
    const made = inputs.journal === undefined ? "of no journal" : `of the run of ${inputs.journal.started}`;
    return differs("run", `--run ${shellWord(asked.run)}`, made, pin);
  }
  const { environment, targets, excludes } = inputs;
  if (isGiven(env) && (env ?? null) !== environment)
    return differs("environment", nameOf(env ?? null), `with ${nameOf(environment)}`, pin);
  for (const [what, flag, given, made] of [
    ["targets", "--target", target, targets],
    ["excludes", "--exclude", exclude, excludes],
    ["owners to take from", "--take-ownership-from", takeOwnershipFrom, inputs.takeOwnershipFrom],
  ] as const) {
    if (isGiven(given) && !isSameSet((given ?? []).map(asciiAddress), made.map(asciiAddress)))
      return differs(what, flagsOf(flag, given ?? []), `with ${flagsOf(flag, made)}`, pin);
  }
  const [since, asSince] = [asked.changedSince ?? null, inputs.changedSince?.name ?? null];
  // With `--pin` the ref may have another name: `narrowingDiffers` compares what it comes to.
  const isOther = pin ? (since === null) !== (asSince === null) : since !== asSince;
  if (isGiven(since ?? undefined) && isOther) {
    const flagOf = (name: string | null) =>
      name === null ? "no --changed-since" : `--changed-since ${shellWord(name)}`;
    return differs("options", flagOf(since), `with ${flagOf(asSince)}`, pin);
  }
  for (const [flag, given, made] of [
    ["--skip-unsupported", skipUnsupported, inputs.skipUnsupported],
    ["--no-clone", clone ? undefined : true, !inputs.clone],
    ["--never-destroy", neverDestroy, inputs.neverDestroy],
  ] as const) {
    if (isGiven(given) && (given ?? false) !== made)
      return differs("options", made ? `no ${flag}` : flag, made ? "with it" : "without it", pin);
  }
  return null;
}

function nameOf(environment: string | null): string {
  return environment === null ? "no --env" : `--env ${shellWord(environment)}`;
}

function otherAccount(asked: FleetInput, made: FleetInput | undefined): Diagnostic {
  const shown = ({ name, service, account }: FleetInput): string =>
    `${escapeText(name)}, ${account === null ? "an account" : `account ${escapeText(account)}`} at ${escapeText(service)}`;
  const then = made === undefined ? "no account of a fleet" : shown(made);
  return {
    code: "plan-file-differs",
    severity: "error",
    summary: "the plan file is not of this account of the fleet",
    detail: `This is ${shown(asked)}; the plan file was made for ${then}.`,
    fix: "Save it with tenon fleet plan --out.",
  };
}

/** The error by the goal of the plan file. */
const OTHER_GOAL: Readonly<Record<Goal, Diagnostic>> = {
  apply: otherGoal("apply"),
  destroy: otherGoal("destroy"),
  undo: otherGoal("undo"),
};

function otherGoal(goal: Goal): Diagnostic {
  const purpose = {
    apply: "make the account fit the manifests",
    destroy: "delete what is declared",
    undo: "take back what another run did",
  }[goal];
  return {
    code: "plan-file-differs",
    severity: "error",
    summary: `the plan file is a plan for \`${goal}\``,
    detail: `Its steps ${purpose}.`,
    fix: `tenon ${goal === "destroy" ? goal : "apply"} --plan FILE carries it out.`,
  };
}

/**
 * The same for variables, once the project is loaded with those given and those of the file. Values are not shown, as they may be
 * confidential.
 * @param pin whether the project was loaded without the file's variables
 */
export function variablesDiffer(loaded: PlanInputs["variables"], { inputs }: Plan, pin: boolean): Diagnostic | null {
  const missing = pin ? Object.keys(inputs.variables).filter((name) => !Object.hasOwn(loaded, name)) : [];
  if (missing.length > 0)
    return differs("variables", `no --var or --var-file for ${missing.sort().join(", ")}`, "with values of these", pin);
  const names = Object.keys(loaded).filter((name) => !isDeepStrictEqual(loaded[name], inputs.variables[name]));
  if (names.length === 0) return null;
  const known = names.filter((name) => Object.hasOwn(inputs.variables, name));
  const made =
    known.length === names.length ? "other values" : known.length === 0 ? "no values" : "other values, or none";
  return differs("variables", `--var or --var-file for ${names.sort().join(", ")}`, `with ${made} of these`, pin);
}

/**
 * The error if a run with `--pin` is narrowed to other objects than the plan file was: it would do something that the file does not show, or
 * leave out something that it shows.
 */
export function narrowingDiffers(changedSince: ChangedSince | null, { inputs }: Plan): Diagnostic | null {
  const [now, then] = [changedSince?.addresses ?? [], inputs.changedSince?.addresses ?? []];
  if (isSameSet(now, then)) return null;
  const only = (some: readonly string[], others: readonly string[]): string => {
    const known = new Set(others);
    return listNames(some.filter((address) => !known.has(address)).map(escapeText));
  };
  const [added, left] = [only(now, then), only(then, now)];
  const parts = [...(added === "" ? [] : [`now also ${added}`]), ...(left === "" ? [] : [`no longer ${left}`])];
  return {
    code: "plan-file-differs",
    severity: "error",
    summary: "the plan file is about other objects than those that have changed since",
    detail: `Changed since ${escapeText(changedSince?.name ?? "")}: ${parts.join(", and ")}.`,
    fix: "Plan again.",
  };
}

function differs(what: string, given: string, made: string, pin: boolean): Diagnostic {
  return {
    code: "plan-file-differs",
    severity: "error",
    summary: `the plan file was made with other ${what}`,
    detail: `The command has ${given}; the plan file was made ${made}.`,
    fix: pin
      ? "Give what the plan file was made with, or plan again."
      : "Leave the flag out: its value is read from the plan file. Or plan again.",
  };
}

function flagsOf(flag: string, globs: readonly string[]): string {
  return globs.length === 0 ? `no ${flag}` : globs.map((glob) => `${flag} ${shellWord(glob)}`).join(" ");
}

function isSameSet(left: readonly string[], right: readonly string[]): boolean {
  return isDeepStrictEqual(new Set(left), new Set(right));
}

/** @param file undefined: none was given, which is no error */
export async function readPlanFile(terminal: Terminal, file: string | undefined): Promise<Reviewed<Plan | null>> {
  if (file === undefined) return { ok: true, plan: null };
  let text: string;
  try {
    text = await readSaved(file, MAX_PLAN_BYTES);
  } catch (error) {
    const summary = `the plan file cannot be read: ${readProblem(error, file)}`;
    sayError(terminal, { code: "plan-file-unreadable", summary });
    return { ok: false, code: EXIT.error };
  }
  const parsed = await parsePlanFile(text);
  if (parsed.ok) return { ok: true, plan: parsed.plan };
  sayDiagnostics(terminal, [parsed.diagnostic]);
  return { ok: false, code: EXIT.error };
}

// `--live FILE`: a snapshot in place of the service, for runners without a token.

/** The most octets of a snapshot: more than a snapshot of a million records has. */
const MAX_SNAPSHOT_BYTES = 384 * 1024 * 1024;
/** A snapshot that is older than this has a warning, as the account may have changed. */
const STALE_MILLISECONDS = 24 * 3600 * 1000;

type OpenedSnapshot =
  | { readonly ok: true; readonly snapshot: Snapshot }
  | { readonly ok: false; readonly code: ExitCode };

/** Reads a snapshot, and prints its age or its errors. */
export async function openSnapshotFile(
  terminal: Terminal,
  file: string,
  nowMilliseconds: number,
): Promise<OpenedSnapshot> {
  let text: string;
  try {
    text = await readSaved(file, MAX_SNAPSHOT_BYTES);
  } catch (error) {
    const summary = `the snapshot cannot be read: ${readProblem(error, file)}`;
    sayError(terminal, { code: "snapshot-unreadable", summary });
    return { ok: false, code: EXIT.error };
  }
  const { parseLiveFile } = await import("../live/index.ts");
  const parsed = await parseLiveFile(text);
  if (!parsed.ok) {
    sayDiagnostics(terminal, [parsed.diagnostic]);
    return { ok: false, code: EXIT.error };
  }
  terminal.say(`${ageText(parsed.snapshot, nowMilliseconds)}\n`);
  return parsed;
}

function ageText({ readAt, host }: Snapshot, nowMilliseconds: number): string {
  const age = nowMilliseconds - Date.parse(readAt);
  const what = `the account of ${escapeText(host)} as it was read at ${readAt}`;
  if (age < 0) return `warning: this is ${what}, which this machine's clock takes for the future`;
  const text = `this is ${what}, ${durationText(age)} ago`;
  return age > STALE_MILLISECONDS ? `warning: ${text}; it may have changed since` : `note: ${text}`;
}

function durationText(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return "less than a minute";
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}
