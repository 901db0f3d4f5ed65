/** Import (`tenon/import`): a project made of what is kept elsewhere: the account, zone files, octoDNS. */

import { units } from "../units/index.ts";
import { isSoaEmail as isEmail } from "./collect.ts";
import { type ImportResult, type ImportSource, runImport, zoneUnit } from "./import.ts";

export type { SkippedRecord, SkipReason } from "../dns/record.ts";
export type { KindFacts } from "../model/kind.ts";
export type { Import, ImportedCount, ImportedDomain, ImportedDomains, Remark } from "./collect.ts";
export { notMissed } from "./collect.ts";
export type { ImportResult, ImportSource } from "./import.ts";
export type { Selection } from "./live.ts";
export type { ProjectFile } from "./project.ts";
export { obstacles, type WriteRequest, writeProject } from "./project.ts";

export interface ImportRequest {
  readonly source: ImportSource;
  /** Seconds that the service keeps as they are, ascending, without 0. */
  readonly allowedSeconds: readonly number[];
  readonly split: boolean;
  /** Records that the service cannot hold are left out, not an error. */
  readonly skipUnsupported: boolean;
}

/** Whether the service takes it as the address of an SOA. */
export function isSoaEmail(address: string): boolean {
  return isEmail(address, zoneUnit(units));
}

/** Reads a source and makes the files of a project of it. Writes nothing. */
export async function importProject(request: ImportRequest): Promise<ImportResult> {
  const { validatorOf, violationsOf } = await import("../manifest/validate.ts");
  const validator = await validatorOf(units);
  return runImport({ ...request, units, violationsOf: (entry, section) => violationsOf(entry, section, validator) });
}
