/** Kills: what was acknowledged outlives the process, whatever it was doing. */

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { Ledger } from "./crash-ledger.ts";

const WORKERS = 6;

function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "emulator-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "account.log");
}

/** Numbers of [0, 1), the same for the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function startCommand(data: string): ChildProcessWithoutNullStreams {
  return startNode(["dist/bin/tenon.js", "emulate", "--data", data]);
}

/** Rewrites its file after a few changes already. */
function startCompacting(data: string): ChildProcessWithoutNullStreams {
  const module = JSON.stringify(pathToFileURL("dist/emulator/index.js").href);
  const script = `
    const { startEmulator } = await import(${module});
    const emulator = await startEmulator(${JSON.stringify({ data })}, { minAppendedChanges: 40 });
    for (const notice of emulator.notices) console.error(notice);
    console.log("listening on " + emulator.baseUrl);`;
  return startNode(["--input-type=module", "-e", script]);
}

function startNode(args: readonly string[]): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, args);
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function kill(child: ChildProcessWithoutNullStreams): Promise<void> {
  const gone = child.exitCode === null && child.signalCode === null ? once(child, "exit") : null;
  child.kill("SIGKILL");
  await gone;
}

/** `npm run test:chaos` takes more. */
const ROUNDS = Number(process.env["TENON_CRASH_ROUNDS"] ?? 3);

interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly baseUrl: string;
  readonly said: () => string;
}

async function listening(child: ChildProcessWithoutNullStreams): Promise<Running> {
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const exited = once(child, "exit").then(() => {
    throw new Error(`the emulator ended: ${said}`);
  });
  const first = once(createInterface(child.stdout), "line") as Promise<[string]>;
  exited.catch(() => {});
  const [line] = await Promise.race([first, exited]);
  return { child, baseUrl: line.replace("listening on ", ""), said: () => said };
}

interface Rounds {
  readonly start: (data: string) => ChildProcessWithoutNullStreams;
  readonly rounds: number;
  readonly seed: number;
  readonly startMilliseconds: number;
}

/** @returns the least share of the acknowledged changes of a round that the file still had a line for */
async function survive({ start, rounds, seed, startMilliseconds }: Rounds): Promise<number> {
  const data = temporaryFile();
  const random = seeded(seed);
  const ledger = new Ledger(random);
  let leastShare = 1;
  for (let round = 0; round < rounds; round += 1) {
    const unfinished = start(data);
    await delay(random() * startMilliseconds);
    await kill(unfinished);
    const running = await listening(start(data));
    await ledger.check(running.baseUrl);
    const before = ledger.acknowledged;
    const work = Promise.all(Array.from({ length: WORKERS }, () => ledger.work(running.baseUrl)));
    // So many changes, however busy the machine; and then in the middle of one.
    const enough = before + 20 + random() * 60;
    while (ledger.acknowledged < enough && running.child.exitCode === null) await delay(5);
    await delay(random() * 10);
    await kill(running.child);
    await work;
    expect(running.said()).toMatch(/^(The last line of .* was incomplete and was dropped.*\n)?$/);
    const lines = readFileSync(data, "utf8").split("\n").length;
    leastShare = Math.min(leastShare, lines / Math.max(1, ledger.acknowledged - before));
  }
  const last = await listening(start(data));
  await ledger.check(last.baseUrl);
  expect(ledger.acknowledged).toBeGreaterThanOrEqual(20 * rounds);
  const stopped = once(last.child, "exit");
  last.child.kill("SIGTERM");
  await stopped;
  expect(readdirSync(join(data, "..")).filter((name) => name.includes("damaged"))).toEqual([]);
  return leastShare;
}

test("the command keeps all that it acknowledged through kills at work and on start", async () => {
  await survive({ start: startCommand, rounds: ROUNDS, seed: 20_26, startMilliseconds: 600 });
});

test("so it does through kills while the file is rewritten again and again", async () => {
  const share = await survive({ start: startCompacting, rounds: ROUNDS, seed: 11_21, startMilliseconds: 400 });
  expect(share).toBeLessThan(0.9);
});
