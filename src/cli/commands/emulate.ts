/** `tenon emulate`: serves the whole API until it is interrupted. */

import { type Command, InvalidArgumentError, Option } from "commander";
import type { Emulator, EmulatorOptions, Fault, SeedError } from "../../emulator/index.ts";
import { readRegular, whyLinkRefused, whyUnwritable } from "../../files/files.ts";
import { escapeText } from "../../render/terminal.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import { collect, parseCount } from "../flags.ts";
import type { Terminal } from "../terminal.ts";

const MAX_PORT = 65_535;

export function define(command: Command, terminal: Terminal, finish: Finish): void {
  command
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
    .option("--zone-render <seconds>", "delay before a change appears in the rendered zone file", parseCount)
    .option("--image-delay <seconds>", "time until a new image is available", parseCount)
    .option("--fault <spec>", "let something go wrong; repeatable", collect)
    .option("--fault-seed <n>", "random seed for faults with rate", parseCount)
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

interface EmulateFlags {
  readonly port: number;
  readonly host?: string;
  readonly hostName?: readonly string[];
  readonly data?: string;
  readonly seed?: string;
  readonly dialect?: string;
  readonly latency?: number;
  readonly rateLimit?: { readonly requests: number; readonly seconds: number };
  readonly ttlRounding: "nearest" | "up";
  readonly uniqueLabels?: boolean;
  readonly requestLog?: string;
  readonly zoneRender?: number;
  readonly imageDelay?: number;
  readonly fault?: readonly string[];
  readonly faultSeed?: number;
}

function emulate(terminal: Terminal, flags: EmulateFlags): Promise<ExitCode> {
  return terminal.interrupt.whileHandlingSignals(() => serve(terminal, flags));
}

async function serve(terminal: Terminal, flags: EmulateFlags): Promise<ExitCode> {
  const emulator = await start(terminal, flags);
  if (emulator === null) return EXIT.error;
  terminal.print(`listening on ${emulator.baseUrl}\n`);
  for (const notice of emulator.notices) terminal.say(`${escapeText(notice)}\n`);
  await new Promise((resolve) => terminal.interrupt.first.addEventListener("abort", resolve, { once: true }));
  await emulator.close();
  // A signal is the usual way to end the emulator, so the exit code is 0.
  return EXIT.done;
}

async function start(terminal: Terminal, flags: EmulateFlags): Promise<Emulator | null> {
  const led = await whyAnyLinkRefused([flags.seed, flags.requestLog]);
  if (led !== null) {
    await sayFailed(terminal, led);
    return null;
  }
  const unwritable = flags.requestLog === undefined ? null : await whyUnwritable(flags.requestLog, "requests");
  if (unwritable !== null) {
    await sayFailed(terminal, unwritable);
    return null;
  }
  const tools = await import("../../emulator/index.ts");
  try {
    return await tools.startEmulator(await toOptions(flags, tools));
  } catch (error) {
    if (error instanceof tools.SeedError) await saySeedError(terminal, flags.seed ?? "", error);
    else await sayFailed(terminal, error instanceof Error ? error.message : String(error));
    return null;
  }
}

/** Lines of a wrong seed are shown, and the log is written: no symbolic link of a hostile checkout may lead either elsewhere. */
async function whyAnyLinkRefused(paths: readonly (string | undefined)[]): Promise<string | null> {
  for (const path of paths) {
    const led = path === undefined ? null : await whyLinkRefused(path);
    if (led !== null) return led;
  }
  return null;
}

async function sayFailed(terminal: Terminal, why: string): Promise<void> {
  const { sayError } = await import("../messages.ts");
  sayError(terminal, { code: "emulator-failed", summary: `the emulator cannot start: ${why}` });
}

async function saySeedError(terminal: Terminal, file: string, error: SeedError): Promise<void> {
  await sayFailed(terminal, "the seed cannot be used");
  for (const problem of error.message.split("\n")) terminal.say(`  ${escapeText(`${file}: ${problem}`)}\n`);
}

/** The most octets of a seed. */
const MAX_SEED_BYTES: number = 256 * 1024 ** 2;

type Tools = typeof import("../../emulator/index.ts");

async function toOptions(flags: EmulateFlags, tools: Tools): Promise<EmulatorOptions> {
  const { port, data, seed, dialect, latency, rateLimit, ttlRounding, uniqueLabels, requestLog, zoneRender } = flags;
  const { host, hostName, fault, faultSeed, imageDelay } = flags;
  return {
    port,
    ttlRounding,
    uniqueLabels: uniqueLabels === true,
    ...(host === undefined ? {} : { host }),
    ...(hostName === undefined ? {} : { hostNames: hostName }),
    ...(data === undefined ? {} : { data }),
    ...(seed === undefined ? {} : { seed: tools.parseSeed(await readRegular(seed, MAX_SEED_BYTES), dialect) }),
    ...(dialect ? { dialect } : {}),
    ...(latency === undefined ? {} : { latencyMilliseconds: latency }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(requestLog === undefined ? {} : { requestLog }),
    ...(fault === undefined ? {} : { faults: readFaults(fault, tools) }),
    ...(faultSeed === undefined ? {} : { faultSeed }),
    ...(imageDelay === undefined ? {} : { secondsUntilAvailable: { creating: imageDelay, pendingUpload: imageDelay } }),
    ...(zoneRender === undefined ? {} : { zoneRenderSeconds: zoneRender }),
  };
}

function readFaults(specs: readonly string[], { parseFault }: Tools): Fault[] {
  const faults: Fault[] = [];
  for (const spec of specs) {
    const parsed = parseFault(spec);
    if (!parsed.ok) throw new Error(parsed.problem);
    faults.push(parsed.fault);
  }
  return faults;
}
