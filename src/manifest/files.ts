/** `files:` patterns → the manifests they name, in a fixed order and never outside the project folder. */

import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { MAX_DIRECTORY_ENTRIES, MAX_FILE_PATTERNS, MAX_FILES } from "./limits.ts";
import { type FileProblem, resolveInside } from "./read.ts";

export interface FoundFile {
  /** Relative to the project, forward slashes. */
  readonly file: string;
  /** Real path. */
  readonly path: string;
  /** Index of the pattern that named it first. */
  readonly pattern: number;
}

export type PatternProblem =
  | { readonly pattern: number; readonly type: "outside" | "no-match" | "too-many" | "too-many-patterns" }
  | { readonly pattern: number; readonly type: "file"; readonly file: string; readonly problem: FileProblem };

export interface FoundFiles {
  readonly files: readonly FoundFile[];
  readonly problems: readonly PatternProblem[];
}

/** What one search has seen. */
class Walk {
  /** Directory entries that were compared with a segment, each time. */
  entries = 0;
  readonly #listed: Map<string, Promise<readonly Dirent[]>> = new Map();
  readonly #resolved: Map<string, ReturnType<typeof resolveInside>> = new Map();
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** Each folder is read once, however many patterns lead there. */
  list(folder: string): Promise<readonly Dirent[]> {
    return remembered(this.#listed, folder, () => list(join(this.#root, folder)));
  }

  resolve(file: string): ReturnType<typeof resolveInside> {
    return remembered(this.#resolved, file, () => resolveInside(this.#root, file));
  }
}

/**
 * `*` and `?` stay within a path segment, `**` spans any number of them, and at the end means every file below;
 * a leading dot must be written out. After the first "too many" nothing more is looked for.
 * @param root real path of the project folder
 * @param rootFile real path of the root file, which is never found again
 */
export async function findFiles(root: string, rootFile: string, patterns: readonly string[]): Promise<FoundFiles> {
  const found = new Map<string, FoundFile>();
  const problems: PatternProblem[] = [];
  const walk = new Walk(root);
  for (const [pattern, text] of patterns.entries()) {
    if (pattern === MAX_FILE_PATTERNS) {
      problems.push({ pattern, type: "too-many-patterns" });
      break;
    }
    const segments = segmentsOf(text);
    if (text.startsWith("/") || /^[a-z]:/i.test(text) || text.includes("\\") || segments.includes("..")) {
      problems.push({ pattern, type: "outside" });
      continue;
    }
    const names = await matches(segments, walk);
    if (names?.length === 0) problems.push({ pattern, type: "no-match" });
    for (const file of names ?? []) {
      const resolved = await walk.resolve(file);
      if (!resolved.ok) problems.push({ pattern, type: "file", file, problem: resolved.problem });
      else if (resolved.path !== rootFile && !found.has(resolved.path)) {
        found.set(resolved.path, { file, path: resolved.path, pattern });
      }
    }
    if (names === null || found.size > MAX_FILES) {
      problems.push({ pattern, type: "too-many" });
      break;
    }
  }
  const files = [...found.values()].sort((a, b) => (a.file < b.file ? -1 : 1));
  return { files: files.slice(0, MAX_FILES), problems };
}

/** Of several `**` in a row each says what the first one does. */
function segmentsOf(pattern: string): string[] {
  const segments = pattern.split("/").filter((segment) => segment !== "" && segment !== ".");
  return segments.filter((segment, index) => segment !== "**" || segments[index - 1] !== "**");
}

function remembered<Value>(known: Map<string, Value>, key: string, make: () => Value): Value {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

export function isGlob(pattern: string): boolean {
  return /[*?]/.test(pattern);
}

/** @returns null if there is too much to look at */
async function matches(segments: readonly string[], walk: Walk): Promise<string[] | null> {
  if (!segments.some(isGlob)) return segments.length === 0 ? [] : [segments.join("/")];
  const found = new Set<string>();
  const complete = segments.at(-1) === "**" ? [...segments, "*"] : segments;
  const last = complete.length - 1;
  // `at`: the segment that the folder's entries are compared with.
  const pending: { folder: string; at: number }[] = [{ folder: "", at: 0 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { folder, at } = next;
    const segment = complete[at];
    if (segment === undefined) continue;
    if (segment === "**") pending.push({ folder, at: at + 1 });
    for (const entry of await walk.list(folder)) {
      walk.entries += 1;
      if (walk.entries > MAX_DIRECTORY_ENTRIES) return null;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      // Links to folders are not walked: they are what loops and ways out are made of.
      if (segment === "**") {
        if (entry.isDirectory() && !isSkipped(entry.name)) pending.push({ folder: path, at });
      } else if (segmentMatches(segment, entry.name)) {
        if (at < last && entry.isDirectory()) pending.push({ folder: path, at: at + 1 });
        if (at === last && !entry.isDirectory()) found.add(path);
      }
    }
  }
  return [...found].sort();
}

async function list(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function isSkipped(name: string): boolean {
  return name.startsWith(".") || name === "node_modules";
}

function segmentMatches(pattern: string, name: string): boolean {
  if (name.startsWith(".") && !pattern.startsWith(".")) return false;
  return wildcardMatches(pattern, name);
}

/** Greedy with one point to return to: no pattern makes it slow, as a regular expression could be made. */
function wildcardMatches(pattern: string, text: string): boolean {
  let [p, t, star, mark] = [0, 0, -1, 0];
  while (t < text.length) {
    if (pattern[p] === "*") {
      star = p;
      mark = t;
      p += 1;
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === text[t])) {
      p += 1;
      t += 1;
    } else if (star !== -1) {
      p = star + 1;
      mark += 1;
      t = mark;
    } else return false;
  }
  while (pattern[p] === "*") p += 1;
  return p === pattern.length;
}
