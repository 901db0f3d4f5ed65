/** Containment: whether one path lies within another, by its name or after its symbolic links are followed. */

import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";

/**
 * A file that comes with the package.
 * @param path from the package's folder; every file of code lies two folders below that: in src/ or dist/ by part, or in dist/bin
 */
export function packageFile(path: string): URL {
  return new URL(`../../${path}`, import.meta.url);
}

/** Compares paths as text: both absolute, with links resolved where links matter. A folder is within itself. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Both absolute. A folder is not below itself. */
export function isBelow(path: string, folder: string): boolean {
  return relative(folder, path) !== "" && isWithin(path, folder);
}

/**
 * Folders of a project that are not the project: a checkout keeps its credentials in the one, journals keep what the
 * account held in the other, and what is wrong with a file is shown with its lines.
 */
const PRIVATE_FOLDERS: readonly string[] = [".git", ".tenon"];

/** Whether a file within the folder belongs to git or to Tenon itself. Both are real paths. */
export function isPrivate(path: string, folder: string): boolean {
  const parts = relative(folder, path).toLowerCase().split(sep);
  return parts.some((part) => PRIVATE_FOLDERS.includes(part));
}

/**
 * Where symbolic links lead from a path that lies in the folder by its name: what is checked out there may be hostile.
 * @param path of a file or folder, which need not be there yet; a link that leads nowhere counts as its folder
 * @returns "outside" of the folder; "private": to what is git's or Tenon's; null: to neither, or the name is of another place
 */
export async function ledAway(path: string, folder: string = process.cwd()): Promise<"outside" | "private" | null> {
  const named = resolve(path);
  if (!isWithin(named, folder)) return null;
  const [real, root] = await Promise.all([realpathOfNearest(named), realpath(folder)]);
  if (!isWithin(real, root)) return "outside";
  return isPrivate(real, root) && !isPrivate(named, folder) ? "private" : null;
}

/** The real path of the path itself, or of the nearest folder above it that exists. */
async function realpathOfNearest(path: string): Promise<string> {
  return realpath(path).catch(() => (dirname(path) === path ? path : realpathOfNearest(dirname(path))));
}
