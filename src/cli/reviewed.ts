/** Reads the plan file that bounds an apply, or that is to be shown. */

import { readFile } from "node:fs/promises";
import { type Plan, parsePlanFile } from "../index.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { sayDiagnostics, sayError } from "./messages.ts";
import type { Terminal } from "./terminal.ts";

export type Reviewed<T> = { readonly ok: true; readonly plan: T } | { readonly ok: false; readonly code: ExitCode };

/** @param file undefined: there is none, and that is all right */
export async function readPlanFile(terminal: Terminal, file: string | undefined): Promise<Reviewed<Plan | null>> {
  if (file === undefined) return { ok: true, plan: null };
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    sayError(terminal, `the plan file cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    return { ok: false, code: EXIT.error };
  }
  const parsed = await parsePlanFile(text);
  if (parsed.ok) return { ok: true, plan: parsed.plan };
  sayDiagnostics(terminal, [parsed.diagnostic]);
  return { ok: false, code: EXIT.error };
}
