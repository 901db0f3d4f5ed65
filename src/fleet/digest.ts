/** Digests by which whoever asks for a run and the worker that carries it out see whether they have the same account, project and plan. */

import { createHash } from "node:crypto";
import { readdir, readlink } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { readContent } from "../files/files.ts";
import { compareText } from "../model/text.ts";
import type { FleetAccount } from "./fleet-file.ts";

/** A folder with more is hardly a project alone. */
const MAX_PROJECT_FILES = 100_000;

/** What runs leave in a project's folder, and what other tools do. */
function isPartOfProject(name: string): boolean {
  return !name.startsWith(".") && name !== "node_modules" && !name.endsWith(".plan") && !name.endsWith(".jsonl");
}

/** `problem`: why a folder cannot be read as a whole, as a clause. Two of them may be the same or not: nobody can tell. */
export type Digest = { readonly ok: true; readonly digest: string } | { readonly ok: false; readonly problem: string };

/** Projects that have been read, by their paths: accounts share them. */
export type ProjectDigests = Map<string, Promise<Digest>>;

/**
 * SHA-256 of the account's entry, but for its token and labels, and of every file in the project's folder. A link counts by what it says, and what
 * is no regular file by its name.
 */
export async function digestOf(account: FleetAccount, projects: ProjectDigests = new Map()): Promise<Digest> {
  const { name, environment, variables, baseUrl, dialect, account: id, project } = account;
  const sorted = Object.entries(variables).sort(([a], [b]) => compareText(a, b));
  const reading = projects.get(project) ?? projectDigestOf(project);
  projects.set(project, reading);
  const read = await reading;
  if (!read.ok) return read;
  const parts = [name, environment, sorted, baseUrl, dialect, id, read.digest];
  return { ok: true, digest: createHash("sha256").update(JSON.stringify(parts)).digest("hex") };
}

async function projectDigestOf(project: string): Promise<Digest> {
  const hash = createHash("sha256");
  try {
    const folder = /\.ya?ml$/.test(project) ? dirname(project) : project;
    hash.update(JSON.stringify(relative(folder, project)));
    for (const path of await filesIn(folder)) {
      const target = await readlink(join(folder, path)).catch(() => null);
      const content = target === null ? await readContent(join(folder, path)).catch(() => null) : null;
      hash.update(JSON.stringify([path.split(sep).join("/"), content?.sha256 ?? null, target]));
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { ok: false, problem: code === undefined ? String((error as Error).message) : `the system says ${code}` };
  }
  return { ok: true, digest: hash.digest("hex") };
}

/** Sorted. @throws the file system's error, or that there are too many */
async function filesIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  const left = [""];
  for (let below = left.pop(); below !== undefined; below = left.pop()) {
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      if (!isPartOfProject(entry.name)) continue;
      const path = join(below, entry.name);
      if (entry.isDirectory()) left.push(path);
      else found.push(path);
      if (found.length > MAX_PROJECT_FILES) {
        throw new Error(`it has more than ${MAX_PROJECT_FILES.toLocaleString("en")} files`);
      }
    }
  }
  return found.sort(compareText);
}

/** SHA-256 of a saved plan; of nothing, if it cannot be read: the apply says so. */
export async function planDigestOf(file: string): Promise<string> {
  const content = await readContent(file).catch(() => null);
  return content?.sha256 ?? createHash("sha256").digest("hex");
}
