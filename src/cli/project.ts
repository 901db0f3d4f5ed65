/** Loads the project that the arguments name, and reports its errors. */

import { open, stat } from "node:fs/promises";
import {
  allowedSeconds,
  type LoadOptions,
  type LoadResult,
  loadProject,
  NEUTRAL_DIALECT,
  type Project,
} from "../index.ts";
import { shellWord } from "../model/text.ts";
import { needDialect } from "./connection.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import type { ConnectionFlags, PresentProjectFlags, ProjectFlags } from "./flags.ts";
import { sayError, sayLoaded } from "./messages.ts";
import type { Terminal } from "./terminal.ts";

type Opened = { readonly ok: true; readonly project: Project } | { readonly ok: false; readonly code: ExitCode };

export function load(
  directory: string | undefined,
  flags: ProjectFlags,
  dialect: string,
  more: Pick<LoadOptions, "files" | "past" | "fillsOnly" | "parsed" | "keepParsed" | "today"> = {},
): Promise<LoadResult> {
  return loadProject({
    ...more,
    directory: directory ?? ".",
    ...(flags.env === undefined ? {} : { environment: flags.env }),
    variables: flags.var ?? {},
    variableFiles: flags.varFile ?? [],
    ...(flags.saved === undefined ? {} : { saved: flags.saved }),
    skipUnsupported: flags.skipUnsupported ?? false,
    allowedSeconds: allowedSeconds(dialect),
  });
}

/** The beginning of a plan file as `renderPlanJson` writes it. */
const PLAN_BEGINNING = /^\{\s*"format_version":\s*"[^"]{1,20}",\s*"(?:applyable|planned_values)"/;
const BEGINNING_BYTES = 256;

/** Whether a saved plan was given in place of a project, as Terraform has it. */
async function isSavedPlan(path: string): Promise<boolean> {
  const status = await stat(path).catch(() => null);
  if (status?.isFile() !== true) return false;
  const handle = await open(path).catch(() => null);
  if (handle === null) return false;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(BEGINNING_BYTES), 0, BEGINNING_BYTES, 0);
    return PLAN_BEGINNING.test(buffer.toString("utf8", 0, bytesRead));
  } finally {
    await handle.close();
  }
}

/** The exit code of a command whose project could not be used. */
export function exitOf(fault: LoadResult["fault"]): ExitCode {
  return fault === "request" ? EXIT.error : EXIT.invalid;
}

/** @param dialect decides which TTLs the service keeps as they are */
export async function openProject(
  terminal: Terminal,
  directory: string | undefined,
  flags: ProjectFlags,
  dialect: string = NEUTRAL_DIALECT,
  more: Pick<LoadOptions, "keepParsed" | "today"> = {},
): Promise<Opened> {
  const { project, fault, diagnostics, sources } = await load(directory, flags, dialect, more);
  if (project === null && directory !== undefined && (await isSavedPlan(directory))) {
    sayError(terminal, {
      code: "plan-file-as-project",
      summary: `${directory} is a saved plan, not a project`,
      fix: `Give it as --plan ${shellWord(directory)} beside the project; tenon show ${shellWord(directory)} shows it.`,
    });
    return { ok: false, code: EXIT.error };
  }
  sayLoaded(terminal, diagnostics, sources);
  return project === null ? { ok: false, code: exitOf(fault) } : { ok: true, project };
}

type Present =
  | { readonly ok: true; readonly project: Project | null }
  | { readonly ok: false; readonly code: ExitCode };

/**
 * The project of a command that can do without: null if `--no-project` is given, or if none is named and there is none here. One that is
 * there and cannot be read is an error: without it, what it declares would pass for nobody's.
 */
export async function openPresentProject(
  terminal: Terminal,
  flags: PresentProjectFlags & Pick<ConnectionFlags, "dialect">,
): Promise<Present> {
  const { project: directory } = flags;
  if (directory === false) return { ok: true, project: null };
  const dialect = needDialect(terminal, flags);
  if (dialect === null) return { ok: false, code: EXIT.error };
  if (directory === undefined && !(await isFile("tenon.yaml"))) return { ok: true, project: null };
  const opened = await openProject(terminal, directory, flags, dialect);
  if (!opened.ok && directory === undefined) terminal.say("  --no-project looks at the account alone.\n");
  return opened;
}

export async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() === true;
}
