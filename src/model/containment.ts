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
