/** `tenon drift`, its flags and its help. */

import type { Command } from "commander";
import type { Finish } from "../exit.ts";
import {
  ALL_FORMATS,
  addConnectionFlags,
  addProjectFlags,
  collect,
  DIRECTORY,
  formatFlag,
  refuseServiceBesideLive,
} from "../flags.ts";
import type { Terminal } from "../terminal.ts";

export function addDrift(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command("drift")
    .summary("say what differs from the manifests")
    .description(
      "Say, object by object, what the account has otherwise than the manifests\ndeclare. Nothing is changed. Exits with 2 if there is drift.",
    )
    .argument("[dir]", DIRECTORY)
    .addOption(formatFlag("text is for people, json for programs, markdown for an issue", ALL_FORMATS))
    .option("--live <file>", "look at a file of tenon live, without a token")
    .option("--target <address>", "only this address and beneath, * globs; repeatable", collect)
    .option("--exclude <address>", "all but this address; repeatable", collect)
    .addHelpText(
      "after",
      `
changed     it is there, with other values than declared
missing     it is declared, and not there
unexpected  it is there, and apply would delete it
unadopted   it is there as declared, without the owner's tag: no drift

Examples:
  tenon drift
  tenon drift infra --env production --format json
  tenon drift --target 'domain/*'`,
    )
    .action(async (directory, flags) => {
      refuseServiceBesideLive(command);
      const { drift } = await import("../commands/drift.ts");
      finish(await drift(terminal, directory, flags));
    });
  addConnectionFlags(addProjectFlags(command));
}
