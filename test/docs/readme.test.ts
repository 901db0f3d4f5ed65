/** What README.md shows is what happens: its files are written, its commands run, its output compared. */

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Emulator, startEmulator } from "../../src/emulator/index.ts";

const README = new URL("../../README.md", import.meta.url);
const PROGRAM = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const BLOCK = /<!-- (file: (?<file>\S+)|run) -->\n```\w+\n(?<text>.*?)```/gs;

let emulator: Emulator;
let folder: string;
beforeAll(async () => {
  emulator = await startEmulator();
  folder = await mkdtemp(join(tmpdir(), "tenon-readme-"));
});
afterAll(async () => {
  await emulator.close();
  await rm(folder, { recursive: true, force: true });
});

test("the commands of the README print what it shows", { timeout: 60_000 }, async () => {
  const readme = await readFile(README, "utf8");
  let rewritten = readme;
  let commands = 0;
  for (const block of readme.matchAll(BLOCK)) {
    const { file, text = "" } = block.groups ?? {};
    if (file !== undefined) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text);
      continue;
    }
    const lines = text.split("\n").filter((line) => line.startsWith("$ "));
    commands += lines.length;
    const shown: string[] = [];
    for (const line of lines) shown.push(`${line}\n${await run(line.slice("$ tenon ".length).split(" "))}`);
    const expected = block[0].replace(text, () => `${shown.join("\n").trimEnd()}\n`);
    rewritten = rewritten.replace(block[0], () => expected);
  }
  expect(commands).toBeGreaterThan(2);
  // `npm run golden` writes it anew; the diff is for a person to read.
  if (process.env["TENON_GOLDEN"] === "write") await writeFile(README, rewritten);
  else expect(readme).toBe(rewritten);
});

/** Results and, where there are none, messages: a run of `validate` that fails has its say on stderr. */
function run(args: readonly string[]): Promise<string> {
  const env = { ...process.env, TENON_BASE_URL: emulator.baseUrl, TENON_TOKEN: "emulator-token", NO_COLOR: "1" };
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...args], { cwd: folder, env }, (_, stdout, stderr) => {
      resolve(stdout === "" ? stderr : stdout);
    });
  });
}
