/** Containment: whether one path lies within another. Says nothing about symbolic links: resolve them first where they matter. */

import { isAbsolute, relative, sep } from "node:path";

/** Both absolute. A folder is within itself. */
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
