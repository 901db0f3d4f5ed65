/** Import (`tenon/import`): makes a project from the account, or from what another tool holds. */

import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { writeFolder } from "../files/folder.ts";
import type { LoadOptions, LoadResult } from "../manifest/load.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import { units } from "../units/index.ts";
import { isSoaEmail as isEmail } from "./collect.ts";
import { type ImportResult, type ImportSource, type Into, type ManifestText, runImport, zoneUnit } from "./import.ts";
import { extendFiles, recordSetsOf } from "./into.ts";
import { listImportable as findImportable } from "./live.ts";
import { obstacles as findObstacles, type WriteRequest } from "./project.ts";

export type { SkippedRecord, SkipReason } from "../dns/record.ts";
export type { FolderFile, FolderRequest } from "../files/folder.ts";
export type { KindFacts } from "../model/kind.ts";
export type { Import, ImportedCount, ImportedDomain, ImportedDomains, LeftElsewhere, Remark } from "./collect.ts";
export { notMissed } from "./collect.ts";
export type { ImportResult, ImportSource, Into, ManifestText } from "./import.ts";
export type { Existing, KnownRecordSet } from "./into.ts";
export type { Importable, Selection } from "./live.ts";
export type { ProjectFile, WriteRequest } from "./project.ts";

export interface ImportRequest {
  readonly source: ImportSource;
  /** Seconds that the service keeps as they are, ascending, without 0. */
  readonly allowedSeconds: readonly number[];
  readonly split: boolean;
  /** Records that the service cannot hold are left out, not an error. */
  readonly skipUnsupported: boolean;
  /** The project that the files are added to, of `openExisting`. Absent: a new one. */
  readonly into?: Into;
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
 * @returns takes back what was placed
 * @throws the file system's error
 */
export function writeProject(request: WriteRequest): Promise<() => Promise<void>> {
  return writeFolder(request);
}

/** What `importProject` would take of the account into the project, by names alone. Requests lists, none of records. */
export function listImportable(
  request: Omit<Parameters<typeof findImportable>[0], "units">,
): ReturnType<typeof findImportable> {
  return findImportable({ ...request, units });
}

/** At most this many environments of a project are looked through for what is declared: each is a project to load. */
const MAX_SEARCHED_ENVIRONMENTS = 20;

export type ExistingProject =
  | ({
      readonly ok: true;
      readonly owner: string | null;
      readonly rootText: string;
      /** The root file first. */
      readonly manifests: readonly ManifestText[];
    } & Into)
  | ({ readonly ok: false } & Pick<LoadResult, "fault" | "diagnostics" | "sources">);

/** Loads a project that an import is added to, in each of its environments; its owner is that of the one that is given, if one is. */
export async function openExisting(options: LoadOptions): Promise<ExistingProject> {
  const { loadProject, readManifests } = await import("../manifest/load.ts");
  const first = await loadProject(options, units);
  // Without an environment, variables may have no values.
  const names = first.fault === "manifest" ? [] : first.environments.slice(0, MAX_SEARCHED_ENVIRONMENTS);
  const loaded = first.project === null ? [] : [first.project];
  for (const environment of names) {
    const { project } = await loadProject({ ...options, environment }, units);
    if (project !== null) loaded.push(project);
  }
  const [project] = loaded;
  const texts = await readManifests({
    ...options,
    ...(first.project === null && names[0] !== undefined ? { environment: names[0] } : {}),
  });
  if (project === undefined || texts.manifests === null) return { ...first, ok: false };
  const manifests = await Promise.all(
    texts.manifests.map(async ({ file }): Promise<ManifestText> => {
      const text = texts.sources.text(file) ?? "";
      return { file, text, tree: await treeOf(text) };
    }),
  );
  return {
    ok: true,
    folder: project.root,
    owner: project.desired.owner,
    rootText: texts.sources.text("tenon.yaml") ?? "",
    manifests,
    existing: {
      declared: new Set(loaded.flatMap(({ desired }) => desired.declared.map(({ address }) => address))),
      recordSets: recordSetsOf(manifests.map(({ tree }) => tree)),
    },
  };
}

/**
 * The text of the root file by which the project has the new files, too.
 * @returns `text`: as it was if its patterns find them already; null: only a person can extend it
 */
export async function rootWith(
  { rootText, folder }: { readonly rootText: string; readonly folder: string },
  files: readonly string[],
): Promise<{ readonly text: string | null; readonly added: readonly string[] }> {
  const patterns = await filesIn(rootText);
  const missing = await unfound(patterns, files);
  const zones = missing.filter((file) => /^zones\/[^/]+\.yaml$/.test(file));
  const isAlone = zones.length > 1 && (await readdir(join(folder, "zones")).catch(() => [])).length === 0;
  const added = isAlone ? [...missing.filter((file) => !zones.includes(file)), "zones/*.yaml"] : missing;
  return { text: added.length === 0 ? rootText : await extendFiles(rootText, added), added };
}

/** Of files that are not there yet, those that the patterns would not find: looked for in a folder of empty ones. */
async function unfound(patterns: readonly Json[], files: readonly string[]): Promise<string[]> {
  const { findFiles } = await import("../manifest/files.ts");
  const folder = await realpath(await mkdtemp(join(tmpdir(), "tenon-files-")));
  try {
    for (const file of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), "");
    }
    const texts = patterns.map((pattern) => (typeof pattern === "string" ? pattern : ""));
    const found = await findFiles(folder, join(folder, "tenon.yaml"), texts);
    const names = new Set(found.files.map(({ file }) => file));
    return files.filter((file) => !names.has(file));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What prevents the writing of a project; empty if nothing does. Writes nothing. */
export function obstacles(request: WriteRequest): Promise<Diagnostic[]> {
  return findObstacles(request, filesIn);
}

/** Reads `files` within the limits of manifests. Errors in the text are not reported here: loading that project reports them. */
async function filesIn(text: string): Promise<readonly Json[]> {
  const { files } = await treeOf(text);
  return Array.isArray(files) ? (files as readonly Json[]) : [];
}

async function treeOf(text: string): Promise<JsonObject> {
  const [{ parseFile }, { Budget }, { Places }] = await Promise.all([
    import("../manifest/parse.ts"),
    import("../manifest/limits.ts"),
    import("../manifest/positions.ts"),
  ]);
  const context = { places: new Places(), budget: new Budget(), report: () => {} };
  return (await parseFile("tenon.yaml", text, context)).tree ?? {};
}
