/** `tenon show`: a saved plan, or the desired state with everything expanded. */

import { renderDesired } from "../../index.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import type { Format, ProjectFlags } from "../flags.ts";
import { showPlan, withJsonErrors } from "../output.ts";
import { readPlanFile } from "../plan-file.ts";
import { needDialect, openProject } from "../project.ts";
import { sayError, type Terminal } from "../terminal.ts";

export interface ShowFlags extends ProjectFlags {
  readonly expanded?: boolean;
  readonly format: Format;
  readonly dialect?: string;
}

/** @param path a plan file; with `--expanded` a project */
export function show(terminal: Terminal, path: string | undefined, flags: ShowFlags): Promise<ExitCode> {
  const work = flags.expanded === true ? showExpanded : showSaved;
  return withJsonErrors(terminal, { format: flags.format, stream: false }, (inner) => work(inner, path, flags));
}

async function showSaved(terminal: Terminal, path: string | undefined, flags: ShowFlags): Promise<ExitCode> {
  const read = await readPlanFile(terminal, path);
  if (!read.ok) return read.code;
  if (read.plan === null) {
    const fix = "Name a plan file, or give --expanded for the desired state.";
    sayError(terminal, { code: "missing-argument", summary: "which plan is to be shown?", fix });
    return EXIT.error;
  }
  showPlan(terminal, read.plan, flags.format);
  return EXIT.done;
}

async function showExpanded(terminal: Terminal, directory: string | undefined, flags: ShowFlags): Promise<ExitCode> {
  const { format } = flags;
  if (format === "markdown") {
    const fix = "Give --format text or json for the desired state.";
    sayError(terminal, { code: "conflicting-options", summary: "markdown is for plans", fix });
    return EXIT.error;
  }
  const dialect = needDialect(terminal, flags);
  if (dialect === null) return EXIT.error;
  const opened = await openProject(terminal, directory, flags, dialect);
  if (!opened.ok) return opened.code;
  terminal.print(await renderDesired(opened.project.desired, format));
  return EXIT.done;
}
