/** `tenon emulate`: serves the whole API until it is interrupted. */

import { readFile } from "node:fs/promises";
import { whyLedAway } from "../../files/files.ts";
import {
  type EmulatorOptions,
  escapeText,
  type Fault,
  parseFault,
  parseSeed,
  SeedError,
  startEmulator,
} from "../../index.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { sayError, type Terminal } from "../terminal.ts";

export interface EmulateFlags {
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

export function emulate(terminal: Terminal, flags: EmulateFlags): Promise<ExitCode> {
  return terminal.interrupt.heed(() => serve(terminal, flags));
}

async function serve(terminal: Terminal, flags: EmulateFlags): Promise<ExitCode> {
  const emulator = await start(terminal, flags);
  if (emulator === null) return EXIT.error;
  terminal.print(`listening on ${emulator.baseUrl}\n`);
  for (const notice of emulator.notices) terminal.say(`${escapeText(notice)}\n`);
  await new Promise((resolve) => terminal.interrupt.first.addEventListener("abort", resolve, { once: true }));
  await emulator.close();
  // To be stopped is how it is meant to end.
  return EXIT.done;
}

async function start(
  terminal: Terminal,
  flags: EmulateFlags,
): Promise<Awaited<ReturnType<typeof startEmulator>> | null> {
  const led = await whyAnyLedAway([flags.seed, flags.requestLog]);
  if (led !== null) {
    sayFailed(terminal, led);
    return null;
  }
  try {
    return await startEmulator(await toOptions(flags));
  } catch (error) {
    if (error instanceof SeedError) saySeedError(terminal, flags.seed ?? "", error);
    else sayFailed(terminal, error instanceof Error ? error.message : String(error));
    return null;
  }
}

/** A seed is shown where it is wrong, and the log is written to: both follow no link of a checkout. */
async function whyAnyLedAway(paths: readonly (string | undefined)[]): Promise<string | null> {
  for (const path of paths) {
    const led = path === undefined ? null : await whyLedAway(path);
    if (led !== null) return led;
  }
  return null;
}

function sayFailed(terminal: Terminal, why: string): void {
  sayError(terminal, { code: "emulator-failed", summary: `the emulator cannot start: ${why}` });
}

function saySeedError(terminal: Terminal, file: string, error: SeedError): void {
  sayFailed(terminal, "the seed cannot be used");
  for (const problem of error.message.split("\n")) terminal.say(`  ${escapeText(`${file}: ${problem}`)}\n`);
}

async function toOptions(flags: EmulateFlags): Promise<EmulatorOptions> {
  const { port, data, seed, dialect, latency, rateLimit, ttlRounding, uniqueLabels, requestLog, zoneRender } = flags;
  const { host, hostName, fault, faultSeed, imageDelay } = flags;
  return {
    port,
    ttlRounding,
    uniqueLabels: uniqueLabels === true,
    ...(host === undefined ? {} : { host }),
    ...(hostName === undefined ? {} : { hostNames: hostName }),
    ...(data === undefined ? {} : { data }),
    ...(seed === undefined ? {} : { seed: await parseSeed(await readFile(seed, "utf8"), dialect) }),
    ...(dialect ? { dialect } : {}),
    ...(latency === undefined ? {} : { latencyMilliseconds: latency }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(requestLog === undefined ? {} : { requestLog }),
    ...(fault === undefined ? {} : { faults: await readFaults(fault) }),
    ...(faultSeed === undefined ? {} : { faultSeed }),
    ...(imageDelay === undefined ? {} : { secondsUntilAvailable: { creating: imageDelay, pendingUpload: imageDelay } }),
    ...(zoneRender === undefined ? {} : { zoneRenderSeconds: zoneRender }),
  };
}

async function readFaults(specs: readonly string[]): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const spec of specs) {
    const parsed = await parseFault(spec);
    if (!parsed.ok) throw new Error(parsed.problem);
    faults.push(parsed.fault);
  }
  return faults;
}
