/** `tenon show`, its flags and its help. */

import { type Command, Option } from "commander";
import type { Finish } from "../exit.ts";
import { ALL_FORMATS, addProjectFlags, formatFlag } from "../flags.ts";
import type { Terminal } from "../terminal.ts";

export function addShow(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command("show")
    .summary("show a saved plan, or the expanded manifests")
    .description("Show a saved plan, or with --expanded what the manifests come down to.")
    .argument("[path]", "a plan file; with --expanded a project")
    .option("--expanded", "variables, defaults and record sets in place")
    .addOption(formatFlag("how to show it; markdown is for plans", ALL_FORMATS))
    .addOption(new Option("--dialect <word>", "with --expanded: the service's word for node").env("TENON_DIALECT"))
    .addHelpText(
      "after",
      `
Examples:
  tenon show production.plan
  tenon show production.plan --format json
  tenon show --expanded infra --env staging`,
    )
    .action(async (path, flags) => {
      const { show } = await import("../commands/show.ts");
      finish(await show(terminal, path, flags));
    });
  addProjectFlags(command);
}
