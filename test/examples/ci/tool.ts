/** What a repository has in ci/tool: tenon as a package, and its lock file, both made by a real npm. The package runs what is built here. */

import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { MAIN } from "../../cli/run.ts";

const run = promisify(execFile);
const PACKAGE = { name: "tenon", version: "0.0.1", type: "module", bin: { tenon: "dist/bin/tenon.js" } };
const BUILT = `#!/usr/bin/env node\nawait import(${JSON.stringify(pathToFileURL(MAIN).href)});\n`;
let tool: Promise<string> | undefined;

/** Puts package.json, package-lock.json and the tarball there. They are made once. */
export async function addTool(folder: string): Promise<void> {
  tool ??= makeTool(BUILT);
  await cp(await tool, folder, { recursive: true });
}

/** @returns a folder with the same of a package whose command is this program */
export async function makeTool(program: string): Promise<string> {
  const place = await mkdtemp(join(tmpdir(), "tenon-tool-"));
  process.once("exit", () => rmSync(place, { recursive: true, force: true }));
  const [source, made] = [join(place, "source"), join(place, "tool")];
  const main = join(source, PACKAGE.bin.tenon);
  await Promise.all([mkdir(dirname(main), { recursive: true }), mkdir(made)]);
  await writeFile(main, program);
  await chmod(main, 0o755);
  await writeFile(join(source, "package.json"), JSON.stringify(PACKAGE));
  await writeFile(join(made, "package.json"), '{ "private": true }\n');
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", made], { cwd: source });
  await run("npm", ["install", "--ignore-scripts", "--offline", "--no-audit", "./tenon-0.0.1.tgz"], { cwd: made });
  await rm(join(made, "node_modules"), { recursive: true });
  return made;
}
