/** Builds dist/ once before the tests, because the command line is tested as the process that users run. */

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

export default function setup(): void {
  const changed = Math.max(newest(join(ROOT, "src"), ".ts"), newest(join(ROOT, "src"), ".css"));
  if (newest(join(ROOT, "dist/bin"), ".js") > changed) return;
  const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  // What tsc remembers lies in dist/, so that it never outlives what it remembers.
  const memory = ["--incremental", "--tsBuildInfoFile", "dist/.tsbuildinfo"];
  const args = [tsc, "-p", "tsconfig.build.json", ...memory];
  const built = spawnSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
  // Types are checked by `npm run check`; tsc writes JavaScript all the same, and that is what is tested.
  if (built.status !== 0) process.stderr.write(`tsc reports problems; testing what it wrote\n${built.stdout}\n`);
  const bundled = spawnSync(process.execPath, ["build.mjs"], { cwd: ROOT, stdio: "inherit" });
  if (bundled.status !== 0) throw new Error("build.mjs failed");
}

/** The latest modification time of the files with this extension, in milliseconds; 0 if there are none. */
function newest(folder: string, extension: string): number {
  if (!existsSync(folder)) return 0;
  let latest = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(extension)) continue;
    latest = Math.max(latest, statSync(join(entry.parentPath, entry.name)).mtimeMs);
  }
  return latest;
}
