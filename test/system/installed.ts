/** A Tenon that lies somewhere else than here, asked for what every user asks for. */

import { spawn } from "node:child_process";
import { expect, onTestFinished } from "vitest";
import { type Ended, ended, folder, PROJECT } from "../cli/run.ts";

const BROKEN = "tenon: 1\nvpcs: [{ lable: old, region: us-east }]\n";
const SEED = "vpcs: [{ label: old, region: us-east }]\n";

export interface Installed {
  /** Of the process, and what stands before each command. */
  readonly command: readonly [string, ...string[]];
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** Version, validate, plan and apply, against the emulator that it holds itself. */
export async function expectWorking({ command, env }: Installed): Promise<void> {
  const cwd = await folder({ "tenon.yaml": PROJECT, "seed.yaml": SEED, "broken/tenon.yaml": BROKEN });
  const start = (args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const [program, ...words] = command;
    const child = spawn(program, [...words, ...args], { cwd, env: { ...env, ...more } });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };
  const emulating = start(["emulate", "--seed", "seed.yaml"]);
  const emulated = ended(emulating);
  const first = await Promise.race([
    new Promise<string>((resolve) => emulating.stdout.once("data", (text) => resolve(String(text)))),
    emulated.then(({ stderr }) => stderr),
  ]);
  expect(first).toMatch(/^listening on http:/);
  const service = { TENON_BASE_URL: first.replace("listening on ", "").trim(), TENON_TOKEN: "emulator-token" };
  const run = (...args: readonly string[]): Promise<Ended> => ended(start(args, service));
  const done = { code: 0, stderr: "" };
  expect(await run("--version")).toEqual({ ...done, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  expect(await run("validate")).toMatchObject(done);
  expect(await run("plan", "--out", "plan.json")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("5 to add"),
  });
  const page = await run("plan", "--format", "html");
  expect(page).toMatchObject({
    ...done,
    stdout: expect.stringMatching(/^<!doctype html>.*<style>.{999}.*<script>.{999}/s),
  });
  const applied = await run("apply", "--yes", "--plan", "plan.json");
  expect(applied).toMatchObject({ code: 0, stdout: expect.stringContaining("5 added") });
  expect(await run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
  expect(await run("live", "--out", "live.json")).toMatchObject({ code: 0 });
  expect(await run("plan", "--live", "live.json", "--detailed-exitcode")).toMatchObject({ code: 0 });
  expect(await run("validate", "broken")).toMatchObject({ code: 3, stderr: expect.stringContaining("lable") });
  emulating.kill("SIGTERM");
  expect(await emulated).toMatchObject({ code: 0 });
}
