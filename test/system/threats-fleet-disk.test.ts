/** What lies on the disk of a fleet's queue: reports are not encrypted there, and a Redis that writes nothing has none. */

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { run } from "../cli/run.ts";
import { fleetOf } from "../support/fleet.ts";
import { startedWorker } from "../support/fleet-worker.ts";
import { startRedis } from "../support/stores.ts";

/** Runs a plan whose report holds `a1.example`. @returns what the server has on its disk then, and in its memory */
async function keptBy(args: readonly string[]): Promise<{ readonly disk: string; readonly memory: string }> {
  const server = await startRedis({ args });
  onTestFinished(() => server.stop());
  const client = new Redis(server.url);
  onTestFinished(() => client.disconnect());
  const { cwd, env } = await fleetOf(1);
  const options = { cwd, env: { ...env, TENON_QUEUE: server.url } };
  await startedWorker(options, []);
  const planned = await run(["fleet", "plan"], options);
  expect([planned.code, planned.stdout]).toEqual([0, expect.stringContaining("a1.example")]);
  const [, folder = ""] = (await client.config("GET", "dir")) as string[];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), "latin1")));
  const memory: string[] = [];
  for (const key of await client.keys("*")) memory.push((await client.dump(key))?.toString() ?? "");
  return { disk: texts.join("\n"), memory: memory.join("\n") };
}

test("a Redis that writes nothing to its disk keeps no report that was fetched, and one with a log has them as they are", async () => {
  const without = await keptBy(["--appendonly", "no", "--save", ""]);
  expect([without.memory.includes("a1.example"), without.disk.includes("a1.example")]).toEqual([false, false]);
  expect((await keptBy([])).disk).toContain("a1.example");
});
