/** What needs more of the system than Node: named pipes, a shell, and /proc. */

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEmulator } from "../../src/emulator/index.ts";
import { loadProject } from "../../src/index.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tenon-posix-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a file of variables may be a pipe, as a shell makes one of <(a command)", async () => {
  const manifest = "tenon: 1\nvariables: { region: {} }\nvpcs: [{ label: a, region: '${var.region}' }]\n";
  writeFileSync(join(folder, "tenon.yaml"), manifest);
  const pipe = join(folder, "values");
  execFileSync("mkfifo", [pipe]);
  const writer = spawn("sh", ["-c", 'printf "region: eu-west\\n" > "$0"', pipe]);
  const result = await loadProject({ directory: folder, variableFiles: [pipe], allowedSeconds: [300] });
  writer.kill();
  expect(result.diagnostics).toEqual([]);
  expect(result.project?.desired.declared[0]?.spec).toMatchObject({ region: "eu-west" });
});

test("a manifest that is a pipe is refused without being read", async () => {
  writeFileSync(join(folder, "tenon.yaml"), "tenon: 1\nfiles: [pipe.yaml]\n");
  execFileSync("mkfifo", [join(folder, "pipe.yaml")]);
  const { diagnostics } = await loadProject({ directory: folder, allowedSeconds: [300] });
  expect(diagnostics.map(({ code }) => code)).toEqual(["unreadable-file"]);
});

test("the emulator listens on IPv6, and is called by that address", async () => {
  const emulator = await startEmulator({ host: "::1" });
  try {
    expect(emulator.baseUrl).toBe(`http://[::1]:${emulator.port}/v4`);
    const answer = await fetch(`${emulator.baseUrl}/vpcs`, { headers: { authorization: "Bearer emulator-token" } });
    expect(answer.status).toBe(200);
  } finally {
    await emulator.close();
  }
});

test("a lock of the emulator whose process number another process has now is taken over", async () => {
  const data = join(folder, "account.log");
  writeFileSync(`${data}.lock`, JSON.stringify({ pid: process.pid, start: "1" }));
  await (await startEmulator({ data })).close();
});
