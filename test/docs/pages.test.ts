/** What README.md, the tutorial and the how-to guides show is what happens: their files are written, their commands run, their output compared. */

import { readdirSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { parseSeed, startEmulator } from "../../src/emulator/index.ts";
import { here, shown } from "../cli/here.ts";
import { storedGzip } from "../support/gzip.ts";

const ROOT = join(import.meta.dirname, "../..");
/** What is written to a file; what is run; and, hidden from readers, a compressed file, bytes, and what the account holds at the beginning. */
const BLOCK =
  /<!-- gzip: (?<gzip>\S+) (?<holds>[^\n]*) -->|<!-- (?:file: (?<file>\S+)|run) -->\n```\w+\n(?<text>.*?)```|<!-- base64: (?<binary>\S+) (?<bytes>\S+) -->/gs;
const ACCOUNT = /^<!-- account\n(.*?)^-->/ms;
/** Pages whose commands need more than an account: they have tests of their own. */
const ELSEWHERE = new Set(["pipeline.md"]);
const GUIDES = readdirSync(join(ROOT, "docs/how-to")).filter((file) => !ELSEWHERE.has(file));
const PAGES = ["README.md", "docs/tutorial.md", ...GUIDES.map((file) => `docs/how-to/${file}`)];

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-22T10:00:00Z") }));
afterEach(() => void vi.useRealTimers());

test.each(PAGES)("the commands of %s print what it shows", async (page) => {
  const text = await readFile(join(ROOT, page), "utf8");
  const seed = ACCOUNT.exec(text)?.[1];
  const emulator = await startEmulator(seed === undefined ? {} : { seed: parseSeed(seed) });
  const folder = await mkdtemp(join(tmpdir(), "tenon-page-"));
  try {
    const env = { TENON_BASE_URL: emulator.baseUrl, TENON_TOKEN: "emulator-token", NO_COLOR: "1" };
    const { rewritten, commands } = await play(text, folder, env);
    expect(commands).toBeGreaterThan(0);
    // `npm run golden` writes it anew; the diff is for a person to read.
    if (process.env["TENON_GOLDEN"] === "write") await writeFile(join(ROOT, page), rewritten);
    else expect(text).toBe(rewritten);
  } finally {
    await emulator.close();
    await rm(folder, { recursive: true, force: true });
  }
});

async function play(page: string, folder: string, env: Readonly<Record<string, string>>) {
  let rewritten = "";
  let end = 0;
  let commands = 0;
  for (const block of page.matchAll(BLOCK)) {
    const { file, text = "", gzip, holds = "", binary, bytes = "" } = block.groups ?? {};
    rewritten += page.slice(end, block.index);
    end = block.index + block[0].length;
    const written = file ?? gzip ?? binary;
    if (written !== undefined) {
      await mkdir(dirname(join(folder, written)), { recursive: true });
      const content = gzip === undefined ? Buffer.from(bytes, "base64") : storedGzip(holds);
      await writeFile(join(folder, written), file === undefined ? content : text);
      rewritten += block[0];
      continue;
    }
    const lines = text.split("\n").filter((line) => line.startsWith("$ tenon "));
    commands += lines.length;
    const outputs: string[] = [];
    for (const line of lines) {
      const output = await outputOf(line.slice("$ tenon ".length), { cwd: folder, env });
      // Paths as they are from the folder where the reader is.
      outputs.push(`${line}\n${output.replaceAll(`${folder}/`, "")}`);
    }
    rewritten += block[0].replace(text, () => `${outputs.join("\n").trimEnd()}\n`);
  }
  return { rewritten: rewritten + page.slice(end), commands };
}

/** Of a pipe into `tail -N` a terminal shows the messages, and the last N lines of the results. */
async function outputOf(line: string, options: Parameters<typeof shown>[1]): Promise<string> {
  const [, command = line, count] = /^(.*) \| tail -(\d+)$/.exec(line) ?? [];
  if (count === undefined) return (await shown(wordsOf(command), options)).output;
  const { stdout, stderr } = await here(wordsOf(command), options);
  return `${stderr}${stdout
    .split("\n")
    .slice(-1 - Number(count))
    .join("\n")}`;
}

/** As a shell splits a line: at blanks, but not within single quotes. What follows a `#` is for the reader. */
function wordsOf(line: string): string[] {
  const bare = line.replace(/\s+#\s.*$/, "");
  return [...bare.matchAll(/(?:[^\s']|'[^']*')+/g)].map(([word]) => word.replaceAll("'", ""));
}
