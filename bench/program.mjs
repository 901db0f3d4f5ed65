/** Programs that are not Node: where they are, and what one takes together with all that it starts. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, readdirSync, readFileSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** What grows in the last moments of a process, after the last look, is not seen. */
const MEMORY_LOOK_MILLISECONDS = 5;
/** Of what a program says on its way to a failure. */
const SHOWN_CHARACTERS = 2_000;

/** @param name looked for on the PATH, or a path. @returns its path, undefined if there is no such program */
export function findProgram(name) {
  const folders = name.includes("/") ? [""] : (process.env.PATH ?? "").split(delimiter);
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * Runs a program to its end. The shell's `times` tells the CPU time of it and of all that it started and waited for; Linux tells the most
 * memory that a process ever had, as long as it lives.
 * @returns CPU and wall in seconds, peak memory of the largest process in MiB (null where there is no /proc)
 * @throws that it failed, and the end of what it said
 */
export async function runProgram(program, words, { cwd, env = process.env, succeeds = (code) => code === 0 } = {}) {
  const script = '"$@" 3>&-; code=$?; times >&3; exit $code';
  const begin = performance.now();
  const child = spawn("sh", ["-c", script, "sh", program, ...words], {
    ...{ cwd, env, stdio: ["ignore", "pipe", "pipe", "pipe"] },
  });
  const sizes = new Map();
  const look = setInterval(() => peakMemory(child.pid, sizes), MEMORY_LOOK_MILLISECONDS);
  const texts = child.stdio.slice(1).map((stream) => stream.setEncoding("utf8").toArray());
  const [parts, [code]] = await Promise.all([Promise.all(texts), once(child, "close")]);
  const wallSeconds = (performance.now() - begin) / 1000;
  clearInterval(look);
  const [output, errors, times] = parts.map((each) => each.join(""));
  if (!succeeds(code)) {
    throw new Error(`${program} ${words.join(" ")}: exit code ${code}\n${(output + errors).slice(-SHOWN_CHARACTERS)}`);
  }
  const [, ofPrograms = ""] = times.split("\n");
  const seconds = [...ofPrograms.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + 60 * m + Number(s), 0);
  // The shell itself is smaller than anything that it is to measure.
  return { seconds, wallSeconds, mebibytes: sizes.size === 0 ? null : Math.max(...sizes.values()) / 1024 };
}

/** Notes the peaks, in KiB, of a process and of all below it. */
function peakMemory(pid, sizes) {
  try {
    const [, peak] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    if (peak !== undefined) sizes.set(pid, Number(peak));
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const children = readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8");
      for (const child of children.split(" ").filter((text) => text !== "")) peakMemory(Number(child), sizes);
    }
  } catch {
    // It has ended meanwhile, or there is no /proc.
  }
}
