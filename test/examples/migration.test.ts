/** Each migration example: what `import` makes of its source is what is beside it, and plans empty once it is there. */

import { cp, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type EmulatorOptions, parseSeed, startEmulator } from "../../src/emulator/index.ts";
import { here } from "../cli/here.ts";
import { envOf } from "../cli/run.ts";

const MIGRATIONS = join(import.meta.dirname, "../../examples/migration");

/** Folder → the arguments of its import, as its README says them, and what is told on the way. */
const SOURCES = {
  "zone-file": {
    args: ["--from", "zone", "before/example.com.zone", "--skip-unsupported"],
    told: [
      "before/example.com.zone: SOA (line 4) and NS (lines 7, 8) belong",
      "before/example.com.zone:27: SSHFP fingerprint: not supported",
    ],
  },
  octodns: { args: ["--from", "octodns", "before", "--soa-email", "hostmaster@example.com"], told: [] },
  live: { args: ["--split"], told: [] },
} as const;

it("every migration has a test here, and is in the README", async () => {
  const entries = await readdir(MIGRATIONS, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  expect(folders.sort()).toEqual(Object.keys(SOURCES).sort());
  const readme = await readFile(join(MIGRATIONS, "README.md"), "utf8");
  for (const { args } of Object.values(SOURCES)) expect(readme).toContain(`tenon import ${args.join(" ")} --out`);
});

describe.each(Object.entries(SOURCES))("from %s", (source, { args, told }) => {
  it("becomes the project beside it, which plans empty once it is applied", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tenon-migration-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await cp(join(MIGRATIONS, source), folder, { recursive: true });
    const emulator = await startEmulator(await accountOf(folder));
    onTestFinished(() => emulator.close());
    const tenon = (...words: readonly string[]) => here(words, { cwd: folder, env: envOf(emulator) });
    const imported = await tenon("import", ...args, "--out", "imported");
    expect(imported).toMatchObject({ code: 0 });
    for (const line of told) expect(imported.stderr).toContain(line);
    await compare(join(folder, "imported"), join(MIGRATIONS, source, "after"));
    if (source === "live") expect((await tenon("plan", "--detailed-exitcode", "imported")).code).toBe(0);
    expect(await tenon("apply", "--yes", "imported")).toMatchObject({ code: 0 });
    expect((await tenon("plan", "--detailed-exitcode", "imported")).code).toBe(0);
  });
});

/** The account that is imported from, or an empty one. */
async function accountOf(folder: string): Promise<EmulatorOptions> {
  const seed = await readFile(join(folder, "before/account.yaml"), "utf8").catch(() => null);
  return seed === null ? {} : { seed: await parseSeed(seed) };
}

async function compare(written: string, beside: string): Promise<void> {
  if (process.env["TENON_GOLDEN"] === "write") {
    await rm(beside, { recursive: true, force: true });
    await mkdir(dirname(beside), { recursive: true });
    await cp(written, beside, { recursive: true });
  }
  expect(await contentsOf(written)).toEqual(await contentsOf(beside));
}

async function contentsOf(folder: string): Promise<Record<string, string>> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).sort();
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path.slice(folder.length), await readFile(path, "utf8")] as const)),
  );
}
