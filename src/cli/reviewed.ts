/** Reads the plan file that bounds an apply, or that is to be shown. */

import { type Plan, parsePlanFile } from "../index.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { readProblem } from "./file-problem.ts";
import { sayDiagnostics, sayError } from "./messages.ts";
import { readRegular } from "./read-regular.ts";
import type { Terminal } from "./terminal.ts";

/** Of a plan file: more than one of a million records has. */
const MAX_PLAN_BYTES = 384 * 1024 * 1024;

export type Reviewed<T> = { readonly ok: true; readonly plan: T } | { readonly ok: false; readonly code: ExitCode };

/** @param file undefined: there is none, and that is all right */
export async function readPlanFile(terminal: Terminal, file: string | undefined): Promise<Reviewed<Plan | null>> {
  if (file === undefined) return { ok: true, plan: null };
  let text: string;
  try {
    text = await readRegular(file, MAX_PLAN_BYTES);
  } catch (error) {
    sayError(terminal, `the plan file cannot be read: ${readProblem(error, file)}`);
    return { ok: false, code: EXIT.error };
  }
  const parsed = await parsePlanFile(text);
  if (parsed.ok) return { ok: true, plan: parsed.plan };
  sayDiagnostics(terminal, [parsed.diagnostic]);
  return { ok: false, code: EXIT.error };
}
