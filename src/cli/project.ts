/** Loads the project that the arguments name, and says what is wrong with it. */

import {
  allowedSeconds,
  type LoadOptions,
  type LoadResult,
  loadProject,
  NEUTRAL_DIALECT,
  type Project,
} from "../index.ts";
import type { ProjectFlags } from "./args.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { sayLoaded } from "./messages.ts";
import type { Terminal } from "./terminal.ts";

export type Opened = { readonly ok: true; readonly project: Project } | { readonly ok: false; readonly code: ExitCode };

export function load(
  directory: string | undefined,
  flags: ProjectFlags,
  dialect: string,
  more: Pick<LoadOptions, "past"> = {},
): Promise<LoadResult> {
  return loadProject({
    ...more,
    directory: directory ?? ".",
    ...(flags.env === undefined ? {} : { environment: flags.env }),
    variables: flags.var ?? {},
    variableFiles: flags.varFile ?? [],
    skipUnsupported: flags.skipUnsupported ?? false,
    allowedSeconds: allowedSeconds(dialect),
  });
}

/** How a command ends whose project could not be used. */
export function exitOf(fault: LoadResult["fault"]): ExitCode {
  return fault === "request" ? EXIT.error : EXIT.invalid;
}

/** @param dialect decides which TTLs the service keeps as they are */
export async function openProject(
  terminal: Terminal,
  directory: string | undefined,
  flags: ProjectFlags,
  dialect: string = NEUTRAL_DIALECT,
): Promise<Opened> {
  const { project, fault, diagnostics, sources } = await load(directory, flags, dialect);
  sayLoaded(terminal, diagnostics, sources);
  return project === null ? { ok: false, code: exitOf(fault) } : { ok: true, project };
}
