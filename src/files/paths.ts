/** Containment: whether one path lies within another, by its name or after its symbolic links are followed. */

import { lstat, readlink, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";

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

/** "outside" of the folder; "private": into a folder of git or of Tenon; "checkout": out of the checkout that holds the link. */
export type LinkLead = "outside" | "private" | "checkout";

/**
 * Where symbolic links lead from a path that by its name lies in the folder, whose checkout may be hostile.
 * @param path of a file or folder, which need not be there yet; a link that leads nowhere counts as its folder
 * @returns null: within the folder, or the path by its name lies elsewhere
 */
export async function whereLinkLeads(path: string, folder: string): Promise<LinkLead | null> {
  const named = resolve(path);
  if (!isWithin(named, folder)) return null;
  const [real, root] = await Promise.all([realpathOfNearest(named), realpath(folder)]);
  if (!isWithin(real, root)) return "outside";
  return isPrivate(real, root) && !isPrivate(named, folder) ? "private" : null;
}

/**
 * The same for a path that the user has named, wherever it lies: its links must stay in the working folder if its name does, and each of
 * them in the checkout that holds it. Links in a folder that is part of no checkout are the user's own.
 */
export async function whereUsedLinkLeads(path: string): Promise<LinkLead | null> {
  const named = resolve(path);
  // /dev/stdin, and what the shell passes as /dev/fd/N, is no file of a project.
  if (isWithin(named, "/dev")) return null;
  const led = await whereLinkLeads(named, process.cwd());
  if (led !== null) return led;
  const found = await findCheckoutLink(path);
  return found === null || found.led === "nowhere" ? null : found.led;
}

/**
 * The same for a path that a pull request may have brought, wherever it lies: its links must also stay in `folder`, or else in the path's
 * own folder.
 * @param folder absolute; of the file that names the path
 */
export async function whereNamedLinkLeads(path: string, folder?: string): Promise<LinkLead | null> {
  const named = resolve(path);
  const led = await whereUsedLinkLeads(path);
  if (led !== null || isWithin(named, "/dev") || isWithin(named, process.cwd())) return led;
  return whereLinkLeads(named, folder !== undefined && isWithin(named, folder) ? folder : dirname(named));
}

/** Links that a system follows in one path, as Linux bounds them; a path with more of them cannot be opened. */
const MAX_FOLLOWED_LINKS = 40;

/**
 * The first symbolic link of a path, in its own name or above it, that a checkout holds and that leads out of that checkout, into a folder
 * of git or of Tenon there, or nowhere. A link to a checkout is followed into it.
 */
export async function findCheckoutLink(path: string): Promise<{ link: string; led: LinkLead | "nowhere" } | null> {
  // A real path at all times, so that its parent is what `..` means, as for the system: behind a link it is not what the name says.
  let current = isAbsolute(path) ? parse(path).root : process.cwd();
  let followed = 0;
  let rest = path.split(sep);
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    const next = join(current, name);
    const target = await readlink(next).catch(() => null);
    if (target === null) {
      current = next;
      continue;
    }
    followed += 1;
    if (followed > MAX_FOLLOWED_LINKS) return null;
    const checkout = await checkoutAround(current);
    if (checkout === null) {
      if (isAbsolute(target)) current = parse(target).root;
      rest = [...target.split(sep), ...rest];
      continue;
    }
    const real = await realpath(next).catch(() => null);
    if (real === null) return { link: next, led: "nowhere" };
    if (!isWithin(real, checkout)) return { link: next, led: "checkout" };
    if (isPrivate(real, checkout) && !isPrivate(next, checkout)) return { link: next, led: "private" };
    current = real;
  }
  return null;
}

/**
 * The nearest folder at or above a real one that git has checked out. An archive's has no `.git`: then it is the outermost that holds a
 * project, in whose folders may be other projects.
 */
async function checkoutAround(folder: string): Promise<string | null> {
  let project: string | null = null;
  for (let at = folder; ; at = dirname(at)) {
    if (await isThere(join(at, ".git"))) return at;
    if (await isThere(join(at, "tenon.yaml"))) project = at;
    if (dirname(at) === at) return project;
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

/** @returns a clause on what was found */
export function linkText(path: string, led: LinkLead): string {
  return `${path} leads ${PLACES[led]} by a symbolic link`;
}

const PLACES: Readonly<Record<LinkLead, string>> = {
  outside: "out of this folder",
  private: "into a folder of git or of Tenon",
  checkout: "out of its checkout",
};

/** The real path of the path itself, or of the nearest folder above it that exists. */
async function realpathOfNearest(path: string): Promise<string> {
  return realpath(path).catch(() => (dirname(path) === path ? path : realpathOfNearest(dirname(path))));
}
