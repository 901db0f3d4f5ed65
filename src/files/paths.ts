/** Containment: whether one path lies within another, by its name or after its symbolic links are followed. */

import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";

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
 * Folders within a project whose files must not be read as part of it, because an error in a file is shown with its lines: `.git` may hold
 * a checkout's credentials, and the journals in `.tenon` hold what the account held.
 */
const PRIVATE_FOLDERS: readonly string[] = [".git", ".tenon"];

/** Whether a file within the folder belongs to git or to Tenon itself. Both are real paths. */
export function isPrivate(path: string, folder: string): boolean {
  const parts = relative(folder, path).toLowerCase().split(sep);
  return parts.some((part) => PRIVATE_FOLDERS.includes(part));
}

/**
 * Where symbolic links lead from a path that by its name lies in the folder, whose checkout may be hostile.
 * @param path of a file or folder, which need not be there yet; a link that leads nowhere counts as its folder
 * @returns "outside" of the folder; "private": into a folder of git or of Tenon; null: neither, or the path by its name lies elsewhere
 */
export async function whereLinkLeads(
  path: string,
  folder: string = process.cwd(),
): Promise<"outside" | "private" | null> {
  const named = resolve(path);
  if (!isWithin(named, folder)) return null;
  const [real, root] = await Promise.all([realpathOfNearest(named), realpath(folder)]);
  if (!isWithin(real, root)) return "outside";
  return isPrivate(real, root) && !isPrivate(named, folder) ? "private" : null;
}

/**
 * The same for a path that a pull request may have brought, wherever it lies: its links must stay in the working folder; for a path elsewhere
 * in `folder`, or else in the path's own folder.
 * @param folder absolute; of the file that names the path
 */
export async function whereNamedLinkLeads(path: string, folder?: string): Promise<"outside" | "private" | null> {
  const named = resolve(path);
  // /dev/stdin, and what the shell passes as /dev/fd/N, is no file of a project.
  if (isWithin(named, "/dev")) return null;
  const around = [process.cwd(), ...(folder === undefined ? [] : [folder])].find((one) => isWithin(named, one));
  return whereLinkLeads(named, around ?? dirname(named));
}

/** @returns a clause on what `whereLinkLeads` found */
export function linkText(path: string, led: "outside" | "private"): string {
  const where = led === "private" ? "into a folder of git or of Tenon" : "out of this folder";
  return `${path} leads ${where} by a symbolic link`;
}

/** The real path of the path itself, or of the nearest folder above it that exists. */
async function realpathOfNearest(path: string): Promise<string> {
  return realpath(path).catch(() => (dirname(path) === path ? path : realpathOfNearest(dirname(path))));
}
