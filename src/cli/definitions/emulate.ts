/** `tenon emulate`, its flags and its help. */

import { type Command, InvalidArgumentError, Option } from "commander";
import type { Finish } from "../exit.ts";
import { collect, parseCount } from "../flags.ts";
import type { Terminal } from "../terminal.ts";

const MAX_PORT = 65_535;

export function addEmulate(program: Command, terminal: Terminal, finish: Finish): void {
  program
    .command("emulate")
    .summary("serve the whole API on this machine")
    .description("Serve the whole API on this machine, from memory or a file.")
    .option("--port <n>", "where to listen; 0: any free port", parsePort, 0)
    .option("--host <address>", "listen there instead of on 127.0.0.1")
    .option("--host-name <name>", "a further name that clients may call it by; repeatable", collect)
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
      const { emulate } = await import("../commands/emulate.ts");
      finish(await emulate(terminal, flags));
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
