/** `tenon apply` and `tenon destroy`, their flags and their help. */

import type { Command } from "commander";
import type { Finish } from "../exit.ts";
import {
  ALL_FORMATS,
  addConnectionFlags,
  addPlanFlags,
  addProjectFlags,
  addVerifyFlags,
  DIRECTORY,
  failOnFlag,
  formatFlag,
  parseDuration,
} from "../flags.ts";
import type { Terminal } from "../terminal.ts";

export function addApply(program: Command, terminal: Terminal, finish: Finish): void {
  const command = addRunFlags(program.command("apply"))
    .summary("make the account fit the manifests")
    .description("Make the account fit the manifests. Shows the plan and asks first.")
    .option("--verify", "then ask nameservers for the changed records")
    .addHelpText(
      "after",
      `
Examples:
  tenon apply
  tenon apply --yes --plan production.plan
  tenon apply --yes --pin --plan production.plan --env production
  tenon apply --allow delete=vpc/legacy
  tenon apply --allow 'bulk=domain/*.example' --max-changes 50
  tenon apply --wait-detached 10m
  tenon apply --yes --verify --delegation

A saved plan knows its goal, environment, variables, targets and flags: what is
given beside it must be the same. With --pin nothing is taken from it: a plan of
another goal, or made with flags that are not given here, is an error.

Run again, it goes on where it was interrupted.`,
    )
    .action(async (directory, flags) => {
      const { apply } = await import("../commands/apply.ts");
      finish(await apply(terminal, directory, flags));
    });
  addPlanFlags(addConnectionFlags(addProjectFlags(addVerifyFlags(command, "default: 5m"))));
}

export function addDestroy(program: Command, terminal: Terminal, finish: Finish): void {
  const command = addRunFlags(program.command("destroy"))
    .summary("delete what is declared")
    .description("Delete what is declared; with an owner, only what carries its tag.\nShows the plan and asks first.")
    .addHelpText(
      "after",
      `
Examples:
  tenon destroy --env staging
  tenon destroy --target image/golden --yes
  tenon destroy --yes --plan destroy.plan

--plan takes a plan of tenon plan --destroy only.`,
    )
    .action(async (directory, flags) => {
      const { destroy } = await import("../commands/apply.ts");
      finish(await destroy(terminal, directory, flags));
    });
  addPlanFlags(addConnectionFlags(addProjectFlags(command)));
}

/** What apply and destroy share. */
function addRunFlags(command: Command): Command {
  return command
    .argument("[dir]", DIRECTORY)
    .option("--yes", "do not ask")
    .option("--plan <file>", "carry out this saved plan, and nothing that it does not show")
    .option("--pin", "with --plan: its goal and flags must be those given here")
    .addOption(
      formatFlag("text is for people, json streams events and the report, markdown is for a comment", ALL_FORMATS),
    )
    .addOption(failOnFlag("do nothing and exit with 4 if a change is: refused, blocked, or either (refused,blocked)"))
    .option("--journal <path>", "where to keep the evidence (default: .tenon/journal)")
    .option("--wait-detached <time>", "wait so long for interfaces to go: 10m", parseDuration);
}
