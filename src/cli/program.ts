/** The program: its commands, in the order of its help. What they do is loaded only when one is run. */

import { Command } from "commander";
import { addApply, addDestroy } from "./definitions/apply.ts";
import { addDemo } from "./definitions/demo.ts";
import { addDrift } from "./definitions/drift.ts";
import { addEmulate } from "./definitions/emulate.ts";
import { addFmt } from "./definitions/fmt.ts";
import { addImport } from "./definitions/import.ts";
import { addLive } from "./definitions/live.ts";
import { addPlan } from "./definitions/plan.ts";
import { addShow } from "./definitions/show.ts";
import { addValidate } from "./definitions/validate.ts";
import { addZone } from "./definitions/zone.ts";
import { EXIT_CODES_HELP, type Finish } from "./exit-codes.ts";
import type { Terminal } from "./terminal.ts";
import { readVersion } from "./version.ts";

const HELP_WIDTH_COLUMNS = 80;

/** @param finish told how the command that was run ended */
export function buildProgram(terminal: Terminal, finish: Finish): Command {
  const program = new Command("tenon")
    .description("Keep a cloud account's VPCs, subnets, DNS zones and machine images\nas YAML in git.")
    .version(readVersion(), "-V, --version", "show the version")
    .helpOption("-h, --help", "show this help")
    .configureHelp({ helpWidth: HELP_WIDTH_COLUMNS })
    .exitOverride()
    .addHelpText("after", `\n${PROGRAM_EXAMPLES}\n\n${EXIT_CODES_HELP}`);
  addValidate(program, terminal, finish);
  addPlan(program, terminal, finish);
  addApply(program, terminal, finish);
  addDestroy(program, terminal, finish);
  addDrift(program, terminal, finish);
  addLive(program, terminal, finish);
  addShow(program, terminal, finish);
  addZone(program, terminal, finish);
  addImport(program, terminal, finish);
  addFmt(program, terminal, finish);
  addEmulate(program, terminal, finish);
  addDemo(program, terminal, finish);
  pointToHelp(program, "tenon");
  return program;
}

/** Command → flags that people know from elsewhere, and what to do instead. */
const HABITS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  apply: { "--auto-approve": "use --yes", "-auto-approve": "use --yes", "-y": "use --yes" },
  destroy: { "--auto-approve": "use --yes", "-auto-approve": "use --yes", "-y": "use --yes" },
  drift: { "--detailed-exitcode": "drift always exits with 2 when there is drift" },
};

/** What is wrong with the arguments of a command is told with that command's own help. */
function pointToHelp(command: Command, called: string): void {
  command.showHelpAfterError(`(${called} --help shows what there is)`);
  const habits = HABITS[command.name()] ?? {};
  command.configureOutput({
    outputError: (text, write) => {
      const flag = /^error: unknown option '([^']+)'/.exec(text)?.[1] ?? "";
      write(Object.hasOwn(habits, flag) ? `error: unknown option '${flag}': ${habits[flag]}\n` : text);
    },
  });
  for (const inner of command.commands) pointToHelp(inner, `${called} ${inner.name()}`);
}

const PROGRAM_EXAMPLES = `Examples:
  tenon validate                         check the manifests, all errors at once
  tenon plan                             show what would change
  tenon apply                            show it, ask, and do it
  tenon drift                            say what differs from the manifests
  tenon import --out infra               write the manifests of what is there
  tenon demo                             see all of it, without an account
  tenon emulate --port 8080              a service to try it on

Environment:
  TENON_BASE_URL   the service's address, with /v4 (or --base-url)
  TENON_TOKEN      the access token (or --token-file)
  TENON_ACCOUNT    must equal the project's account, if it names one
  TENON_DIALECT    the service's word for node (or --dialect)
  TENON_DEBUG      not empty: unexpected errors show where they come from`;
