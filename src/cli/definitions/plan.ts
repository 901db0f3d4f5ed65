/** `tenon plan`, its flags and its help. */

import type { Command } from "commander";
import type { Finish } from "../exit.ts";
import {
  ALL_FORMATS,
  addConnectionFlags,
  addPlanFlags,
  addProjectFlags,
  DIRECTORY,
  failOnFlag,
  formatFlag,
  refuseServiceBesideLive,
} from "../flags.ts";
import type { Terminal } from "../terminal.ts";

export function addPlan(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command("plan")
    .summary("show what apply would do")
    .description("Show what apply would do. Nothing is changed.")
    .argument("[dir]", DIRECTORY)
    .addOption(formatFlag("text is for people, json for programs, markdown for a comment", ALL_FORMATS))
    .option("--out <file>", "save the plan, as the bound of a later apply")
    .option("--destroy", "show what tenon destroy would do")
    .option("--base <ref|dir>", "tell this change from what was pending there")
    .option("--live <file>", "plan against a file of tenon live, without a token")
    .option("--detailed-exitcode", "exit with 2 if changes are pending")
    .addOption(failOnFlag("exit with 4 if a change is: refused, blocked, or either (refused,blocked)"))
    .addHelpText(
      "after",
      `
A base that is invalid is a warning: the plan is made without it, as the change
may be what mends it.

Examples:
  tenon plan
  tenon plan infra --env production --out production.plan
  tenon plan --target domain/example.com
  tenon plan --target 'vpc/*' --exclude vpc/legacy
  tenon plan --format json | jq .tenon.summary
  tenon plan --base refs/remotes/origin/main --format markdown
  tenon plan --base refs/remotes/origin/main --live live.json
  tenon plan --destroy --out destroy.plan && tenon apply --plan destroy.plan
  tenon plan --detailed-exitcode --fail-on refused,blocked`,
    )
    .action(async (directory, flags) => {
      refuseServiceBesideLive(command);
      const { plan } = await import("../commands/plan.ts");
      finish(await plan(terminal, directory, flags));
    });
  addPlanFlags(addConnectionFlags(addProjectFlags(command)));
}
