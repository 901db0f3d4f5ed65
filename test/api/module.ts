/** Runs a script with the built client in a process of its own, because what is loaded and what Node's environment does show there only. */

import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export const MODULE: string = pathToFileURL(join(import.meta.dirname, "../../dist/api/index.js")).href;

/** @returns what it printed */
export function run(script: string, environment: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const args = ["--input-type=module", "-e", script];
    const env = { PATH: process.env["PATH"] ?? "", ...environment };
    execFile(process.execPath, args, { env }, (error, stdout, stderr) =>
      error ? reject(new Error(stderr)) : resolve(stdout),
    );
  });
}
