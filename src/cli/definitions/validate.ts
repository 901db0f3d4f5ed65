/** `tenon validate`, its flags and its help. */

import { type Command, Option } from "commander";
import type { Finish } from "../exit.ts";
import { addProjectFlags, DIRECTORY, formatFlag } from "../flags.ts";
import type { Terminal } from "../terminal.ts";

export function addValidate(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command("validate")
    .summary("check the manifests, without a connection")
    .description("Check the manifests of a project, without a connection.")
    .argument("[dir]", DIRECTORY)
    .option("--strict", "warnings are errors")
    .addOption(formatFlag("how to show what was found"))
    .addOption(new Option("--dialect <word>", "the service's word for node").env("TENON_DIALECT"))
    .addHelpText(
      "after",
      `
Examples:
  tenon validate
  tenon validate infra --env staging
  tenon validate --strict --format json`,
    )
    .action(async (directory, flags) => {
      const { validate } = await import("../commands/validate.ts");
      finish(await validate(terminal, directory, flags));
    });
  addProjectFlags(command);
}
