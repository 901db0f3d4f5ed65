/** The executable for machines without Node: built as `npm run build:binary` builds it, moved away from all that it was made of, and run without a path. */

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ended, folder, run } from "../cli/run.ts";
import { editor } from "../lsp/editor.ts";
import { startCollector } from "../support/collector.ts";
import { fleetOf } from "../support/fleet.ts";
import { expectWorking } from "./installed.ts";

const ROOT = join(import.meta.dirname, "../..");
const STANDALONE = join(ROOT, "dist/standalone");
const place = mkdtempSync(join(tmpdir(), "tenon-standalone-"));
const binary = join(place, "tenon");
const env = { PATH: "" };

beforeAll(() => {
  execFileSync(process.execPath, ["build.mjs", "--binary"], { cwd: ROOT, stdio: ["ignore", "ignore", "inherit"] });
  execFileSync("cp", [join(STANDALONE, "tenon"), binary]);
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

it("it validates, plans and applies against its own emulator", () => expectWorking({ command: [binary], env }));

it("it plays the demo, whose project is within it", () => {
  const { status, stdout, stderr } = spawnSync(binary, ["demo"], { cwd: place, env, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringContaining("error") });
  expect(stdout).toContain("The project is a copy of examples/demo.");
  expect(stdout).toContain("No changes. Your infrastructure matches the configuration.");
});

it("it says what the package says: help, and what is wrong in a manifest", async () => {
  const broken = "tenon: 1\ndomains: [{ domain: example.com, type: master, recrods: [] }]\nvpcs: [{ label: 7 }]\n";
  const cwd = await folder({ "tenon.yaml": broken });
  for (const args of [["--help"], ["validate"], ["validate", "--format", "json"], ["plan", "--live", "none.json"]]) {
    const { status: code, stdout, stderr } = spawnSync(binary, args, { cwd, env, encoding: "utf8" });
    expect({ code, stdout, stderr }).toEqual(await run(args, { cwd, env }));
  }
});

it("it serves an editor, and is the process beside it that checks projects, too", async () => {
  const broken = "tenon: 1\ndomains: [{ domain: example.com, type: master, recrods: [] }]\n";
  const server = (cwd: string) => spawn(binary, ["lsp", "--stdio"], { cwd, env });
  const ed = await editor({ "tenon.yaml": broken }, { server });
  await ed.codes("tenon.yaml", ["unknown-key"]);
  expect(await ed.quit()).toBe(0);
});

it("it sends traces of a fleet", async () => {
  const collector = await startCollector();
  const fleet = await fleetOf(1);
  const traced = { ...env, ...fleet.env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const { code, stderr } = await ended(spawn(binary, ["fleet", "plan"], { cwd: fleet.cwd, env: traced }));
  expect([code, stderr]).toEqual([0, ""]);
  expect(collector.spans().map(({ name }) => name)).toEqual(["fleet plan: account", "fleet plan: command"]);
});

it("the licences of its libraries and of Node lie beside it", () => {
  const licences = readFileSync(join(STANDALONE, "LICENSES.txt"), "utf8");
  for (const name of ["fastify", "undici", "yaml", "Node.js"])
    expect(licences).toMatch(new RegExp(`^${name} \\d`, "m"));
});
