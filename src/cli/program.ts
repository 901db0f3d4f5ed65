/** The program: commands, their flags and their help. What they do is loaded only when one is run. */

import { Command, InvalidArgumentError, Option } from "commander";
import {
  addConnectionFlags,
  addPlanFlags,
  addProjectFlags,
  collect,
  failOnFlag,
  formatFlag,
  parseCount,
  parseDuration,
} from "./args.ts";
import { EXIT_CODES_HELP, type ExitCode } from "./exit-codes.ts";
import type { Terminal } from "./terminal.ts";
import { readVersion } from "./version.ts";

const HELP_WIDTH_COLUMNS = 80;
const DIRECTORY = "the project's folder or root file (default: here)";
const MAX_PORT = 65_535;

/** @param finish told how the command that was run ended */
export function buildProgram(terminal: Terminal, finish: (code: ExitCode) => void): Command {
  const program = new Command("tenon")
    .description("Keep a cloud account's VPCs, subnets, DNS zones and machine images\nas YAML in git.")
    .version(readVersion(), "-V, --version", "show the version")
    .helpOption("-h, --help", "show this help")
    .configureHelp({ helpWidth: HELP_WIDTH_COLUMNS })
    .exitOverride()
    .showHelpAfterError("(tenon --help shows what there is)")
    .addHelpText("after", `\n${PROGRAM_EXAMPLES}\n\n${EXIT_CODES_HELP}`);
  addValidate(program, terminal, finish);
  addPlan(program, terminal, finish);
  addApply(program, terminal, finish);
  addDestroy(program, terminal, finish);
  addShow(program, terminal, finish);
  addEmulate(program, terminal, finish);
  addDemo(program, terminal, finish);
  return program;
}

type Finish = (code: ExitCode) => void;

const PROGRAM_EXAMPLES = `Examples:
  tenon validate                         check the manifests, all errors at once
  tenon plan                             show what would change
  tenon apply                            show it, ask, and do it
  tenon demo                             see all of it, without an account
  tenon emulate --port 8080              a service to try it on

Environment:
  TENON_BASE_URL   the service's address, with /v4 (or --base-url)
  TENON_TOKEN      the access token (or --token-file)
  TENON_ACCOUNT    must equal the project's account, if it names one
  TENON_DIALECT    the service's word for node (or --dialect)
  TENON_DEBUG      not empty: unexpected errors show where they come from`;

function addValidate(program: Command, terminal: Terminal, finish: Finish): void {
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
      const { validate } = await import("./commands/validate.ts");
      finish(await validate(terminal, directory, flags));
    });
  addProjectFlags(command);
}

function addPlan(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command("plan")
    .summary("show what apply would do")
    .description("Show what apply would do. Nothing is changed.")
    .argument("[dir]", DIRECTORY)
    .addOption(formatFlag("text for people, json for programs and --plan"))
    .option("--out <file>", "save the plan, as the bound of a later apply")
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
  tenon plan --detailed-exitcode --fail-on refused,blocked`,
    )
    .action(async (directory, flags) => {
      const { plan } = await import("./commands/plan.ts");
      finish(await plan(terminal, directory, flags));
    });
  addPlanFlags(addConnectionFlags(addProjectFlags(command)));
}

function addApply(program: Command, terminal: Terminal, finish: Finish): void {
  const command = addRunFlags(program.command("apply"))
    .summary("make the account fit the manifests")
    .description("Make the account fit the manifests. Shows the plan and asks first.")
    .option("--plan <file>", "do nothing that this reviewed plan does not show")
    .addHelpText(
      "after",
      `
Examples:
  tenon apply
  tenon apply --yes --plan production.plan
  tenon apply --allow delete=vpc/legacy
  tenon apply --allow 'bulk=domain/*.example' --max-changes 50
  tenon apply --wait-detached 10m

Run again, it goes on where it was interrupted.`,
    )
    .action(async (directory, flags) => {
      const { apply } = await import("./commands/apply.ts");
      finish(await apply(terminal, directory, flags));
    });
  addPlanFlags(addConnectionFlags(addProjectFlags(command)));
}

function addDestroy(program: Command, terminal: Terminal, finish: Finish): void {
  const command = addRunFlags(program.command("destroy"))
    .summary("delete what is declared")
    .description("Delete what is declared; with an owner, only what carries its tag.\nShows the plan and asks first.")
    .addHelpText(
      "after",
      `
Examples:
  tenon destroy --env staging
  tenon destroy --target image/golden --yes`,
    )
    .action(async (directory, flags) => {
      const { destroy } = await import("./commands/apply.ts");
      finish(await destroy(terminal, directory, flags));
    });
  addPlanFlags(addConnectionFlags(addProjectFlags(command)));
}

/** What apply and destroy share. */
function addRunFlags(command: Command): Command {
  return command
    .argument("[dir]", DIRECTORY)
    .option("--yes", "do not ask")
    .addOption(formatFlag("text for people, json for events and report"))
    .addOption(failOnFlag("do nothing and exit with 4: refused,blocked"))
    .option("--journal <path>", "where to keep the evidence (default: .tenon/journal)")
    .option("--wait-detached <time>", "wait so long for interfaces to go: 10m", parseDuration);
}

function addShow(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command("show")
    .summary("show a saved plan, or the expanded manifests")
    .description("Show a saved plan, or with --expanded what the manifests come down to.")
    .argument("[path]", "a plan file; with --expanded a project")
    .option("--expanded", "variables, defaults and record sets in place")
    .addOption(formatFlag("how to show it"))
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
      const { show } = await import("./commands/show.ts");
      finish(await show(terminal, path, flags));
    });
  addProjectFlags(command);
}

function addEmulate(program: Command, terminal: Terminal, finish: Finish): void {
  program
    .command("emulate")
    .summary("serve the whole API on this machine")
    .description("Serve the whole API on this machine, from memory or a file.")
    .option("--port <n>", "where to listen; 0: any free port", parsePort, 0)
    .option("--data <file>", "keep the account in this file")
    .option("--seed <file>", "what a new account holds, as YAML")
    .option("--dialect <word>", "say this word where the API says node")
    .option("--latency <ms>", "wait before each answer", parseCount)
    .option("--rate-limit <n/seconds>", "refuse more requests than that", parseRateLimit)
    .addOption(
      new Option("--ttl-rounding <how>", "for TTLs that are not allowed").choices(["nearest", "up"]).default("nearest"),
    )
    .option("--unique-labels", "refuse a label that is in use")
    .option("--zone-render <seconds>", "show a change in the zone file that much later", parseCount)
    .option("--image-delay <seconds>", "until a new image is available", parseCount)
    .option("--fault <spec>", "let something go wrong; repeatable", collect)
    .option("--fault-seed <n>", "of the faults that happen by chance", parseCount)
    .option("--request-log <file>", "a JSON line for each request")
    .addHelpText(
      "after",
      `
The first line on stdout is "listening on http://127.0.0.1:PORT/v4". Without
--seed the account is empty, and the token emulator-token may do everything.

Examples:
  tenon emulate --port 8080 --data account.log
  tenon emulate --seed account.yaml --rate-limit 800/120 --latency 50
  tenon emulate --fault status=503,nth=2 --fault drop=after,rate=0.1`,
    )
    .action(async (flags) => {
      const { emulate } = await import("./commands/emulate.ts");
      finish(await emulate(terminal, flags));
    });
}

function addDemo(program: Command, terminal: Terminal, finish: Finish): void {
  program
    .command("demo")
    .summary("plan and apply an example, without an account")
    .description(
      "Plan and apply an example project against an emulated account, with the\ncommands you would type. Nothing outside a temporary folder is touched.",
    )
    .addHelpText(
      "after",
      `
Examples:
  tenon demo`,
    )
    .action(async () => {
      const { demo } = await import("./commands/demo.ts");
      finish(await demo(terminal));
    });
}

function parsePort(value: string): number {
  const port = parseCount(value);
  if (port > MAX_PORT) throw new InvalidArgumentError(`Write a number up to ${MAX_PORT}.`);
  return port;
}

function parseRateLimit(value: string): { requests: number; seconds: number } {
  const match = /^(\d{1,9})\/(\d{1,9})$/.exec(value);
  if (match === null || Number(match[1]) < 1 || Number(match[2]) < 1) {
    throw new InvalidArgumentError("Write N/SECONDS, as in 800/120.");
  }
  return { requests: Number(match[1]), seconds: Number(match[2]) };
}
