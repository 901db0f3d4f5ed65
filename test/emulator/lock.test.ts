/** The lock of the data file: two emulators on one file would lose what one of them has answered. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { startEmulator } from "../../src/emulator/index.ts";

function dataFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "emulator-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "account.log");
}

/** In a process of its own, which the caller kills. */
async function startElsewhere(data: string): Promise<{ readonly pid: number; kill(): Promise<void> }> {
  const module = pathToFileURL("dist/emulator/index.js").href;
  const script = `
    const { startEmulator } = await import(${JSON.stringify(module)});
    console.log((await startEmulator(${JSON.stringify({ data })})).baseUrl);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(createInterface(child.stdout), "line");
  const kill = async (): Promise<void> => {
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  };
  return { pid: child.pid ?? 0, kill };
}

test("a file that another process uses is refused by that process's number, and free once it was killed", async () => {
  const data = dataFile();
  const other = await startElsewhere(data);
  const before = readFileSync(data, "utf8");
  await expect(startEmulator({ data })).rejects.toThrow(`${data} is in use by process ${other.pid}`);
  expect(readFileSync(data, "utf8")).toBe(before);
  await other.kill();
  expect(existsSync(`${data}.lock`)).toBe(true);
  const emulator = await startEmulator({ data });
  await expect(startEmulator({ data })).rejects.toThrow(`is in use by process ${process.pid}`);
  await emulator.close();
  expect(readdirSync(join(data, ".."))).toEqual(["account.log"]);
});

test.each([
  ["cut off", ""],
  ["of something else", "my lock\n"],
  ["of a process that is gone", JSON.stringify({ pid: 2 ** 31 - 1, start: "1" })],
])("a lock that is %s is taken over", async (_, text) => {
  const data = dataFile();
  writeFileSync(`${data}.lock`, text);
  const emulator = await startEmulator({ data });
  expect(JSON.parse(readFileSync(`${data}.lock`, "utf8"))).toMatchObject({ pid: process.pid });
  await emulator.close();
});

test("of several that start at once, over a stale lock too, one gets the file", async () => {
  for (const stale of [false, true]) {
    const data = dataFile();
    if (stale) writeFileSync(`${data}.lock`, JSON.stringify({ pid: 2 ** 31 - 1, start: "1" }));
    const started = await Promise.allSettled(Array.from({ length: 8 }, () => startEmulator({ data })));
    const running = started.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    await Promise.all(running.map((emulator) => emulator.close()));
    expect(running).toHaveLength(1);
    expect(readdirSync(join(data, ".."))).toEqual(["account.log"]);
  }
});

test("a start that fails lets go of the file", async () => {
  const data = dataFile();
  const seed = { domains: [{ domain: "not a name" }] };
  await expect(startEmulator({ data, seed })).rejects.toThrow("domains[0]");
  const busy = await startEmulator();
  onTestFinished(() => busy.close());
  await expect(startEmulator({ data, port: busy.port })).rejects.toThrow("EADDRINUSE");
  await (await startEmulator({ data })).close();
});
