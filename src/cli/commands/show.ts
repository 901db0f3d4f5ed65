/** `tenon show`: shows a saved plan, or the desired state with everything expanded. */

import type { Command } from "commander";
import { renderDesired } from "../../format/index.ts";
import { needDialect } from "../connection.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import { ALL_FORMATS, addDialectFlags, addProjectFlags, type Format, formatFlag, type ProjectFlags } from "../flags.ts";
import { sayError } from "../messages.ts";
import { showPlan, withJsonErrors } from "../output.ts";
import { openProject } from "../project.ts";
import { readPlanFile } from "../reviewed-plan.ts";
import type { Terminal } from "../terminal.ts";

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description("Show a saved plan, or with --expanded what the manifests come down to.")
    .argument("[path]", "a plan file; with --expanded a project")
    .option("--expanded", "variables, defaults and record sets in place")
    .addOption(formatFlag("how to show it; markdown is for plans", ALL_FORMATS))
    .addHelpText(
      "after",
      `
Examples:
  tenon show production.plan
  tenon show production.plan --format json
  tenon show --expanded infra --env staging`,
    )
    .action(async (path, flags) => {
      finish(await show(terminal, path, flags));
    });
  addDialectFlags(addProjectFlags(command), "with --expanded: the service's word for node");
}

interface ShowFlags extends ProjectFlags {
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
    sayError(terminal, { code: "missing-argument", summary: "no plan file is given", fix });
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
