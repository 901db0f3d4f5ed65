/** `tenon plan`: shows what apply would do, and saves it for review. */

import { type Command, Option } from "commander";
import { whyUnwritable } from "../../files/files.ts";
import { type Plan, summarise } from "../../index.ts";
import { renderPlanHtml } from "../../render/index.ts";
import { renderPlanJsonParts } from "../../render/plan-json.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import {
  ALL_FORMATS,
  addConnectionFlags,
  addPlanFlags,
  addProjectFlags,
  CHANGED_SINCE,
  DIRECTORY,
  type FailOn,
  failOnFlag,
  formatFlag,
  htmlIntoFlag,
  jsonIntoFlag,
  neverDestroyFlag,
  planOutFlag,
  refuseServiceBesideLive,
} from "../flags.ts";
import { sayError } from "../messages.ts";
import {
  givePage,
  markdownOf,
  pageLook,
  showPlan,
  withJsonErrors,
  withPage,
  writeGithubSummary,
  writeJson,
} from "../output.ts";
import { inReading, nameOtherEnvironments, type PlanSession, planIn, type ReadingFlags } from "../session.ts";
import { folding, type Terminal } from "../terminal.ts";

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
    .description("Show what apply would do. Nothing is changed.")
    .argument("[dir]", DIRECTORY)
    .addOption(formatFlag("text is for people, json for programs, markdown for a comment, html a page", ALL_FORMATS))
    .addOption(jsonIntoFlag())
    .addOption(htmlIntoFlag())
    .addOption(planOutFlag())
    .option("--destroy", "show what tenon destroy would do")
    .addOption(neverDestroyFlag().conflicts("destroy"))
    .option("--base <ref|dir>", "tell this change from what was pending there")
    .addOption(new Option("--changed-since <ref|dir>", CHANGED_SINCE).conflicts(["base", "destroy"]))
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
  tenon plan --format html > plan.html
  tenon plan --base refs/remotes/origin/main --live live.json
  tenon plan --changed-since refs/remotes/origin/main
  tenon plan --destroy --out destroy.plan && tenon apply --plan destroy.plan
  tenon plan --detailed-exitcode --fail-on refused,blocked`,
    )
    .action(async (directory, flags) => {
      refuseServiceBesideLive(command);
      finish(await plan(folding(terminal, flags), directory, flags));
    });
  addPlanFlags(addConnectionFlags(addProjectFlags(command)));
}

interface PlanCommandFlags extends ReadingFlags {
  readonly out?: string;
  readonly detailedExitcode?: boolean;
  readonly failOn?: readonly FailOn[];
}

export function plan(terminal: Terminal, directory: string | undefined, flags: PlanCommandFlags): Promise<ExitCode> {
  const { format, jsonInto } = flags;
  return withJsonErrors(terminal, { format, stream: false, jsonInto }, (inner) =>
    withPage(inner, flags, (paged) => makePlan(paged, directory, flags)),
  );
}

async function makePlan(terminal: Terminal, directory: string | undefined, flags: PlanCommandFlags): Promise<ExitCode> {
  const problem = flags.out === undefined ? null : await whyUnwritable(flags.out, "json");
  if (problem !== null) {
    sayError(terminal, { code: "file-unwritable", summary: `the plan file cannot be written: ${problem}` });
    return EXIT.error;
  }
  return inReading(terminal, directory, flags, async (session) => {
    const planned = await nameOtherEnvironments(session, await planIn(session));
    if (!planned.ok) {
      // A refused plan is printed as data, too. A wrong request (exit code 1) has no plan to print.
      if (planned.code === EXIT.refused && planned.refused !== null) {
        const { refused } = planned;
        if (flags.format === "json") await showPlan(terminal, refused, "json", session.token);
        else {
          terminal.document?.(renderPlanJsonParts(refused), session.token);
          await givePage(terminal, () => renderPlanHtml(refused, pageLook(terminal)), session.token);
        }
      }
      return planned.code;
    }
    const made = planned.plan;
    const { fleet } = flags;
    const saved = fleet === undefined ? made : { ...made, inputs: { ...made.inputs, fleet } };
    const written = flags.out === undefined || (await writePlan(session, saved, flags.out));
    await showPlan(terminal, made, flags.format, session.token);
    await writeGithubSummary(terminal, markdownOf(made), session.token);
    return written ? exitCode(made, flags) : EXIT.error;
  });
}

function writePlan({ terminal, token }: PlanSession, plan: Plan, file: string): Promise<boolean> {
  return writeJson(terminal, { file, parts: renderPlanJsonParts(plan), token, noun: "plan file" });
}

type EndFlags = Pick<PlanCommandFlags, "failOn" | "detailedExitcode">;

export function exitCode(plan: Plan, { failOn = [], detailedExitcode }: EndFlags): ExitCode {
  const { add, change, destroy, blocked } = summarise(plan.changes);
  const isRefused = plan.guards.some((guard) => guard.consent !== "given");
  if ((failOn.includes("refused") && isRefused) || (failOn.includes("blocked") && blocked > 0)) return EXIT.refused;
  return detailedExitcode === true && add + change + destroy + blocked > 0 ? EXIT.pending : EXIT.done;
}
