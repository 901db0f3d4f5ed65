/** Import (`tenon/import`): makes a project from the account, or from what another tool holds. */

import { writeFolder } from "../files/folder.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json } from "../model/resource.ts";
import { units } from "../units/index.ts";
import { isSoaEmail as isEmail } from "./collect.ts";
import { type ImportResult, type ImportSource, runImport, zoneUnit } from "./import.ts";
import { obstacles as findObstacles, type WriteRequest } from "./project.ts";

export type { SkippedRecord, SkipReason } from "../dns/record.ts";
export type { FolderFile, FolderRequest } from "../files/folder.ts";
export type { KindFacts } from "../model/kind.ts";
export type { Import, ImportedCount, ImportedDomain, ImportedDomains, LeftElsewhere, Remark } from "./collect.ts";
export { notMissed } from "./collect.ts";
export type { ImportResult, ImportSource } from "./import.ts";
export type { Selection } from "./live.ts";
export type { ProjectFile, WriteRequest } from "./project.ts";

export interface ImportRequest {
  readonly source: ImportSource;
  /** Seconds that the service keeps as they are, ascending, without 0. */
  readonly allowedSeconds: readonly number[];
  readonly split: boolean;
  /** Records that the service cannot hold are left out, not an error. */
  readonly skipUnsupported: boolean;
}

/** Whether the service accepts `address` as the address of an SOA. */
export function isSoaEmail(address: string): boolean {
  return isEmail(address, zoneUnit(units));
}

/** Reads a source and makes the texts of a project's files from it. Writes nothing. */
export async function importProject(request: ImportRequest): Promise<ImportResult> {
  const { validatorOf, violationsOf } = await import("../manifest/validate.ts");
  const validator = await validatorOf(units);
  return runImport({ ...request, units, violationsOf: (entry, section) => violationsOf(entry, section, validator) });
}

/**
 * All files are first written and synced under temporary names, and then renamed. After a failure new files are removed again; an existing
 * file stays as it was unless its replacement was renamed already.
 * @throws the file system's error
 */
export function writeProject(request: WriteRequest): Promise<void> {
  return writeFolder(request);
}

/** What prevents the writing of a project; empty if nothing does. Writes nothing. */
export function obstacles(request: WriteRequest): Promise<Diagnostic[]> {
  return findObstacles(request, filesIn);
}

/** Reads `files` within the limits of manifests. Errors in the text are not reported here: loading that project reports them. */
async function filesIn(text: string): Promise<readonly Json[]> {
  const [{ parseFile }, { Budget }, { Places }] = await Promise.all([
    import("../manifest/parse.ts"),
    import("../manifest/limits.ts"),
    import("../manifest/positions.ts"),
  ]);
  const context = { places: new Places(), budget: new Budget(), report: () => {} };
  const files = (await parseFile("tenon.yaml", text, context)).tree?.["files"];
  return Array.isArray(files) ? (files as readonly Json[]) : [];
}
