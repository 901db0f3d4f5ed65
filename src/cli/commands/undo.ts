/** `tenon undo`: shows what would take back what an apply did, as its journal says, and saves it for review. */

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
  htmlIntoFlag,
  jsonIntoFlag,
  neverDestroyFlag,
  planOutFlag,
  runFlag,
} from "../flags.ts";
import { folding, type Terminal } from "../terminal.ts";
import { plan } from "./plan.ts";

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description("Show what would take back what an apply did, as its journal says.\nNothing is changed.")
    .argument("<journal>", "what the apply wrote, below .tenon/journal")
    .argument("[dir]", DIRECTORY)
    .addOption(runFlag())
    .addOption(formatFlag("text is for people, json for programs, markdown for a comment, html a page", ALL_FORMATS))
    .addOption(jsonIntoFlag())
    .addOption(htmlIntoFlag())
    .addOption(planOutFlag())
    .addOption(neverDestroyFlag())
    .option("--detailed-exitcode", "exit with 2 if changes are pending")
    .addOption(failOnFlag("exit with 4 if a change is: refused, blocked, or either (refused,blocked)"))
    .addHelpText(
      "after",
      `
The account is read anew. What somebody has changed since the run is blocked and
stays as it is; what the run made is deleted, with consent as in every plan:
give it to the apply by --allow, as a saved plan holds none.
What an image held and the ids of objects do not come back. The manifests stay
as they are: revert them, too, or the next apply does the same again.

Examples:
  tenon undo .tenon/journal/2026-11-22T10-00-00.000Z.jsonl
  tenon undo .tenon/journal/2026-11-22T10-00-00.000Z.jsonl --out undo.plan
  tenon apply --plan undo.plan
  tenon apply --undo .tenon/journal/2026-11-22T10-00-00.000Z.jsonl
  tenon apply --yes --verify --undo-on-failure`,
    )
    .action(async (journal, directory, flags) => {
      finish(await plan(folding(terminal, flags), directory, { ...flags, undo: journal }));
    });
  addPlanFlags(addConnectionFlags(addProjectFlags(command)));
}
