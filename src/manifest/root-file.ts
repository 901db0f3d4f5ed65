/** The root file of a project: what makes a folder one. */

import { lstat, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Diagnostic } from "../model/diagnostic.ts";
import { fileProblem } from "./read.ts";

export const ROOT_FILE = "tenon.yaml";

/**
 * @param directory the project folder, or the path of its root file
 * @returns its path in the real folder; null if there is none, which is reported
 */
export async function findRootFile(
  directory: string,
  report: (diagnostic: Diagnostic) => void,
): Promise<string | null> {
  const given = resolve(directory);
  try {
    const path = (await stat(given)).isDirectory() ? join(await realpath(given), ROOT_FILE) : given;
    if (basename(path) !== ROOT_FILE) report(notRootFile(directory));
    else if ((await lstat(path).catch(() => null)) === null) report(noRootFile(directory));
    else return join(await realpath(dirname(path)), ROOT_FILE);
  } catch {
    const fix = "Name the project folder, or its root file tenon.yaml.";
    report({ ...fileProblem(directory, "missing"), code: "no-project", fix });
  }
  return null;
}

function noRootFile(given: string): Diagnostic {
  return {
    code: "no-project",
    severity: "error",
    summary: `there is no ${ROOT_FILE} in ${given}`,
    detail: `A project is a folder whose root file is ${ROOT_FILE}.`,
    fix: "Name another folder, or write one that begins with `tenon: 1`.",
  };
}

function notRootFile(given: string): Diagnostic {
  const detail = `The root file of a project is called ${ROOT_FILE}; other manifests are named under its \`files\`.`;
  return {
    code: "no-project",
    severity: "error",
    summary: `${given} is not the root file of a project`,
    detail,
    fix: "Name the project folder instead.",
  };
}
