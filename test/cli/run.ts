/** Runs the command line as users do: the built file, in a process of its own, without a terminal. */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../src/emulator/index.ts";
import { writeInto } from "../support/files.ts";

/** Or what mistakes are planted in. */
export const MAIN: string = join(import.meta.dirname, "../..", process.env["TENON_TEST_MAIN"] ?? "dist/bin/tenon.js");

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Nothing of the environment but what a process needs. */
export function start(args: readonly string[], { cwd, env = {} }: RunOptions = {}): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, env: { PATH: process.env["PATH"], ...env } });
  // A test that fails must not leave a process behind.
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

export async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.end();
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, stdout, stderr };
}

export function run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return ended(start(args, options));
}

/** An expected problem: the right code, nothing on stdout, the words that help, and no trace of the code behind them. */
export function expectPlain(
  { code, stdout, stderr }: Ended,
  expected: number,
  words: readonly (string | RegExp)[],
): void {
  const text = stderr.replace(/\n +/g, " ");
  for (const word of words) expect(text).toMatch(word);
  expect(stderr).not.toMatch(/\n\s+at |unexpected: /);
  expect({ code, stdout }).toEqual({ code: expected, stdout: "" });
}

/** A folder that is gone after the test. */
export async function folder(files: Readonly<Record<string, string>>): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "tenon-cli-"));
  // A process that a test ends may still write into its folder.
  onTestFinished(() => rm(path, { recursive: true, force: true, maxRetries: 10 }));
  await writeInto(path, files);
  return path;
}

export async function emulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const started = await startEmulator(options);
  onTestFinished(() => started.close());
  return started;
}

export function envOf({ baseUrl }: { readonly baseUrl: string }): Record<string, string> {
  return { TENON_BASE_URL: baseUrl, TENON_TOKEN: "emulator-token" };
}

/** One of everything that needs no file. */
export const PROJECT = `tenon: 1
owner: edge
vpcs:
  - label: prod
    region: us-east
    subnets: [{ label: web, ipv4: 10.0.1.0/24 }]
domains:
  - domain: example.com
    type: master
    soa_email: hostmaster@example.com
    records:
      - { type: A, name: www, target: 192.0.2.1, ttl_sec: 300 }
      - { type: MX, target: mx.example.net., priority: 10, lint: { off: [mx-without-spf, mx-without-dmarc] } }
`;
