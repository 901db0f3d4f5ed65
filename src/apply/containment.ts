/** Containment: whether one path lies below another. */

import path from "node:path";

/** Both absolute. Says nothing about symlinks: resolve them first where they matter. */
export function isInside(target: string, folder: string): boolean {
  const relative = path.relative(folder, target);
  return relative !== "" && relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}
