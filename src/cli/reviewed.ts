/** Reads the plan file that bounds an apply, or that is to be shown. */

import { isDeepStrictEqual } from "node:util";
import { type Diagnostic, type Plan, type PlanInputs, parsePlanFile } from "../index.ts";
import type { PlanFlags } from "./args.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { readProblem } from "./file-problem.ts";
import { sayDiagnostics, sayError } from "./messages.ts";
import { readRegular } from "./read-regular.ts";
import type { Terminal } from "./terminal.ts";

/** Of a plan file: more than one of a million records has. */
const MAX_PLAN_BYTES = 384 * 1024 * 1024;

export type Reviewed<T> = { readonly ok: true; readonly plan: T } | { readonly ok: false; readonly code: ExitCode };

/** What a command was asked for beside a plan file, and what the file was made with. */
type Asked = Pick<PlanFlags, "env" | "target" | "exclude">;

/** With what the file says in the place of what was not given. */
export function asPlanned<Flags extends PlanFlags>(flags: Flags, { inputs }: Plan): Flags {
  const { environment, variables, targets, excludes } = inputs;
  const env = environment === null ? {} : { env: environment };
  return { ...flags, ...env, saved: variables, target: targets, exclude: excludes };
}

/** What is given beside a plan file must be what it was made with: else it is not that plan that would be carried out. */
export function differsFromPlan({ env, target, exclude }: Asked, { inputs }: Plan): Diagnostic | null {
  const { environment, targets, excludes } = inputs;
  if (env !== undefined && env !== environment)
    return differs("environment", `--env ${env}`, environment === null ? "none" : `--env ${environment}`);
  if (target !== undefined && !isSameSet(target, targets))
    return differs("targets", flagsOf("--target", target), flagsOf("--target", targets));
  if (exclude !== undefined && !isSameSet(exclude, excludes))
    return differs("excludes", flagsOf("--exclude", exclude), flagsOf("--exclude", excludes));
  return null;
}

/** The same of variables, once the project is loaded with both. Values are not shown: they may be confidential. */
export function variablesDiffer(loaded: PlanInputs["variables"], { inputs }: Plan): Diagnostic | null {
  const names = Object.keys(loaded).filter((name) => !isDeepStrictEqual(loaded[name], inputs.variables[name]));
  if (names.length === 0) return null;
  const known = names.filter((name) => Object.hasOwn(inputs.variables, name));
  const made =
    known.length === names.length ? "other values" : known.length === 0 ? "no values" : "other values, or none";
  return differs("variables", `--var or --var-file for ${names.sort().join(", ")}`, `${made} of these`);
}

function differs(what: string, given: string, made: string): Diagnostic {
  return {
    code: "plan-file-differs",
    severity: "error",
    summary: `the plan file was made with other ${what}`,
    detail: `Given is ${given}; the plan file was made with ${made}.`,
    fix: "Leave it out: the plan file knows. Or plan again.",
  };
}

function flagsOf(flag: string, globs: readonly string[]): string {
  return globs.length === 0 ? `no ${flag}` : globs.map((glob) => `${flag} ${glob}`).join(" ");
}

function isSameSet(left: readonly string[], right: readonly string[]): boolean {
  return isDeepStrictEqual(new Set(left), new Set(right));
}

/** @param file undefined: there is none, and that is all right */
export async function readPlanFile(terminal: Terminal, file: string | undefined): Promise<Reviewed<Plan | null>> {
  if (file === undefined) return { ok: true, plan: null };
  let text: string;
  try {
    text = await readRegular(file, MAX_PLAN_BYTES);
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
