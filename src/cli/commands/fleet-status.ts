/** `tenon fleet status`: what workers do and did for the accounts of a fleet, as a list, or as a page that is kept up to date. */

import { type Command, Option } from "commander";
import type { Fleet, FleetAccount } from "../../fleet/index.ts";
import type { ExitCode, Finish } from "../exit.ts";
import { collect, parseListen } from "../flags.ts";
import { addQueueFlags } from "../fleet-queue.ts";
import type { StatusFlags } from "../fleet-status.ts";
import { withJsonErrors } from "../output.ts";
import type { Terminal } from "../terminal.ts";

/** As `open` of the fleet's commands has it. */
export type OpenFleet = (
  terminal: Terminal,
  file: string | undefined,
  flags: { readonly select?: readonly string[] },
) => Promise<
  | { readonly ok: true; readonly fleet: Fleet; readonly all: readonly FleetAccount[] }
  | { readonly ok: false; readonly code: ExitCode }
>;

export function defineStatus(
  fleet: Command,
  fileDescription: string,
  open: OpenFleet,
  terminal: Terminal,
  finish: Finish,
): void {
  const command = fleet
    .command("status")
    .argument("[file]", fileDescription)
    .summary("say what workers do and did for the accounts")
    .description(
      "Say what workers do and did for the accounts: what waits and runs, and what each came to\nlast. Nothing is changed.",
    )
    .option(
      "--select <terms>",
      "only accounts that fit, name=GLOB and label.KEY=GLOB;\nwith commas all, repeated any",
      collect,
    )
    .option("--serve <[host:]port>", "serve a live page, /metrics and /healthz until a\nsignal comes", parseListen)
    .addOption(new Option("--format <format>", "how to show it").choices(["table", "json"]).default("table"))
    .addHelpText("after", EXAMPLES)
    .action(async (file: string | undefined, flags: StatusFlags) => {
      const { showStatus } = await import("../fleet-status.ts");
      const format = flags.format === "json" ? "json" : "text";
      const code = await withJsonErrors(terminal, { format, stream: false }, async (inner) => {
        const opened = await open(inner, file, flags);
        return opened.ok ? showStatus(inner, opened, flags) : opened.code;
      });
      finish(code);
    });
  addQueueFlags(command);
}

const EXAMPLES = `
Examples:
  tenon fleet status --queue redis://127.0.0.1
  tenon fleet status --select label.tier=gold --format json
  tenon fleet status --serve 9464`;
