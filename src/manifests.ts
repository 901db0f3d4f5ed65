/** Manifests as texts: kept in one form, and made of what is kept elsewhere. */

import { reformat } from "./format/reformat.ts";
import { isSoaEmail as isEmail } from "./import/collect.ts";
import { type ImportResult, type ImportSource, runImport, zoneUnit } from "./import/index.ts";
import { type LoadOptions, type ManifestsResult, readManifests } from "./manifest/load.ts";
import type { Diagnostic } from "./model/diagnostic.ts";
import { units } from "./units/index.ts";

export type { Remark } from "./import/collect.ts";
export { notMissed } from "./import/collect.ts";
export type { ImportResult, ImportSource } from "./import/index.ts";
export type { ProjectFile } from "./import/project.ts";
export { obstacles, type WriteRequest, writeProject } from "./import/project.ts";

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
  const { validatorOf, violationsOf } = await import("./manifest/validate.ts");
  const validator = await validatorOf(units);
  return runImport({ ...request, units, violationsOf: (entry, section) => violationsOf(entry, section, validator) });
}

export interface FormattedFile {
  /** Relative to the project, forward slashes. */
  readonly file: string;
  /** Real path. */
  readonly path: string;
  readonly text: string;
}

export interface FormatResult extends Pick<ManifestsResult, "fault" | "diagnostics" | "sources"> {
  /** Those whose text differs, in the order of the files; null if a manifest has errors. */
  readonly differing: readonly FormattedFile[] | null;
}

/** Writes nothing. Variables matter only where they name files. */
export async function formatProject(options: LoadOptions): Promise<FormatResult> {
  const { manifests, fault, diagnostics, sources } = await readManifests(options);
  if (manifests === null) return { differing: null, fault, diagnostics, sources };
  const differing: FormattedFile[] = [];
  const found: Diagnostic[] = [];
  for (const { file, path } of manifests) {
    const text = sources.text(file) ?? "";
    const formatted = await reformat(text);
    if (!formatted.ok) found.push(leftAsItIs(file, formatted.loses));
    else if (formatted.text !== text) differing.push({ file, path, text: formatted.text });
  }
  return { differing, fault, diagnostics: [...diagnostics, ...found], sources };
}

function leftAsItIs(file: string, loses: "comment" | "value"): Diagnostic {
  const what =
    loses === "comment" ? "A comment stands where it would be lost." : "A value would not come out the same.";
  return {
    code: "not-formatted",
    severity: "warning",
    summary: `${file} is left as it is`,
    detail: what,
    fix: "Move comments to a line of their own, or to the end of an entry.",
    span: { file, start: 0, end: 0 },
  };
}
