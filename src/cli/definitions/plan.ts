/** `tenon plan`, its flags and its help. */

import type { Command } from "commander";
import {
  ALL_FORMATS,
  addConnectionFlags,
  addPlanFlags,
  addProjectFlags,
  DIRECTORY,
  failOnFlag,
  formatFlag,
} from "../args.ts";
import type { Finish } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";

export function addPlan(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command("plan")
    .summary("show what apply would do")
    .description("Show what apply would do. Nothing is changed.")
    .argument("[dir]", DIRECTORY)
    .addOption(formatFlag("json is for programs and --plan", ALL_FORMATS))
    .option("--out <file>", "save the plan, as the bound of a later apply")
    .option("--base <ref|dir>", "tell this change from what was pending there")
    .option("--live <file>", "plan against a file of tenon live, without a token")
    .option("--detailed-exitcode", "exit with 2 if changes are pending")
    .addOption(failOnFlag("exit with 4: refused,blocked"))
    .addHelpText(
      "after",
      `
Examples:
  tenon plan
  tenon plan infra --env production --out production.plan
  tenon plan --target domain/example.com
  tenon plan --target 'vpc/*' --exclude vpc/legacy
  tenon plan --format json | jq .tenon.summary
  tenon plan --base origin/main --format markdown
  tenon plan --base origin/main --live live.json
  tenon plan --detailed-exitcode --fail-on refused,blocked`,
    )
    .action(async (directory, flags) => {
      const { plan } = await import("../commands/plan.ts");
      finish(await plan(terminal, directory, flags));
    });
  addPlanFlags(addConnectionFlags(addProjectFlags(command)));
}
