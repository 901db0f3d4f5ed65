/** The commands that people know from other tools, and `tenon version`. */

import { readFileSync } from "node:fs";
import { expect, it, test } from "vitest";
import { COMMANDS } from "../../src/cli/program.ts";
import { here } from "./here.ts";
import { expectPlain, run } from "./run.ts";

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

it.each([
  [["state"], "tenon list shows it"],
  [["state", "list"], "tenon list --whose here"],
  [["state", "mv", "vpc/a", "vpc/b"], "moved_from: old-label"],
  [["state", "nothing-known"], "tenon list shows it"],
  [["graph"], "tenon plan --format json"],
  [["taint", "vpc/prod"], "Nothing marks an object"],
  [["refresh"], "tenon drift"],
  [["workspace", "select", "prod"], "--env"],
  [["push"], "tenon apply"],
  [["preview"], "tenon plan"],
  [["octodns-sync", "--doit"], "tenon apply does it"],
  [["octodns-validate"], "tenon validate checks"],
  [["get-zones", "--format", "zone"], "tenon import --out DIR"],
])("%j is answered with what to use instead", async (args, words) => {
  expectPlain(await here(args, {}), 1, [`error: tenon has no command '${args[0]}'`, words]);
});

it("is so in a real process, and in JSON", async () => {
  expectPlain(await run(["state", "rm", "vpc/old"]), 1, ["`destroy: false` lets an object go"]);
  const { code, stdout } = await here(["refresh", "--format", "json"], {});
  expect([code, JSON.parse(stdout).diagnostics]).toEqual([
    1,
    [expect.objectContaining({ code: "unknown-command", fix: expect.stringContaining("tenon drift") })],
  ]);
});

it("is not so of a word that stands for nothing, of a name of every object, or behind a flag", async () => {
  expectPlain(await here(["plam"], {}), 1, ["unknown command 'plam'", "Did you mean plan?"]);
  expectPlain(await here(["constructor"], {}), 1, ["unknown command 'constructor'"]);
  expectPlain(await here(["--format", "state"], {}), 1, ["unknown option '--format'"]);
});

test("no advice names a command that is not there, or one of ours", async () => {
  const source = readFileSync(new URL("../../src/cli/other-tools.ts", import.meta.url), "utf8");
  const names = new Set(COMMANDS.map(({ name }) => name));
  const named = [...source.matchAll(/\btenon ([a-z]+)/g)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !names.has(name))).toEqual([]);
  const words = [...source.matchAll(/^ {2}"?([a-z-]+)"?:/gm)].map(([, word = ""]) => word);
  expect(words).toContain("get-zones");
  expect(words.filter((word) => names.has(word))).toEqual([]);
});

test("tenon version shows the version and what it runs on", async () => {
  const { code, stdout } = await run(["version"]);
  expect([code, stdout.split("\n")[0]]).toEqual([0, `tenon ${version}`]);
  expect(stdout).toContain(`node ${process.versions.node}, ${process.platform} ${process.arch}`);
  expect(JSON.parse((await here(["version", "--format", "json"], {})).stdout)).toMatchObject({
    ...{ version, node: process.versions.node, standalone: false },
  });
});
