/** Files of a project that an import would leave beside its own: nothing is removed, as somebody may have written them. */

import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Diagnostic } from "../model/diagnostic.ts";
import { compareText } from "../model/group.ts";
import { type ProjectFile, ROOT_FILE, ZONES_FOLDER, ZONES_PATTERN } from "./project.ts";

/** So many are named; the rest is counted. */
const MAX_NAMED_FILES = 50;
/** What an import writes for 12,000 records is smaller. */
const MAX_ROOT_BYTES: number = 4 * 1024 * 1024;

/** An obstacle if there are such files; whether files may be overwritten is another question. */
export async function staleFiles(out: string, files: readonly ProjectFile[]): Promise<Diagnostic[]> {
  const written = new Set(files.map(({ file }) => file));
  const isSplit = files.some(({ file }) => file !== ROOT_FILE);
  if (!isSplit && !(await loadsZones(join(out, ROOT_FILE)))) return [];
  const stale = (await zoneManifests(out)).filter((file) => !written.has(file));
  return stale.length === 0 ? [] : [leftBehind(out, stale, isSplit)];
}

/** What the pattern of a root file finds. */
async function zoneManifests(out: string): Promise<string[]> {
  const names = await readdir(join(out, ZONES_FOLDER)).catch(() => []);
  return names
    .filter((name) => name.endsWith(".yaml") && !name.startsWith("."))
    .sort(compareText)
    .map((name) => `${ZONES_FOLDER}/${name}`);
}

/** Whether the root file that would be replaced is that of a project with a file for each domain. */
async function loadsZones(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  if (found === null || !found.isFile() || found.size > MAX_ROOT_BYTES) return false;
  const text = await readFile(path, "utf8").catch(() => "");
  if (!text.includes(ZONES_PATTERN)) return false;
  const { isScalar, isSeq, parseDocument } = await import("yaml");
  const list = parseDocument(text, { logLevel: "silent" }).get("files");
  return isSeq(list) && list.items.some((item) => isScalar(item) && item.value === ZONES_PATTERN);
}

function leftBehind(out: string, stale: readonly string[], isSplit: boolean): Diagnostic {
  const isOne = stale.length === 1;
  const named = stale.slice(0, MAX_NAMED_FILES).join(", ");
  const more = stale.length > MAX_NAMED_FILES ? ` and ${stale.length - MAX_NAMED_FILES} more` : "";
  const why = isSplit
    ? `The root file loads ${ZONES_PATTERN}, so what stands in ${isOne ? "it" : "them"} would belong to the project.`
    : `Nothing would load ${isOne ? "it" : "them"} any more: the root file that does would be replaced.`;
  return {
    code: "stale-file",
    severity: "error",
    summary: `${out} has ${isOne ? "a file" : `${stale.length} files`} that this import does not write`,
    detail: `${named}${more}. ${why} Nothing was written.`,
    fix: `Remove ${isOne ? "it" : "them"} if nobody needs ${isOne ? "it" : "them"}, or name another folder with --out.`,
  };
}
