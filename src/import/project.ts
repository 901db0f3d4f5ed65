/** The imported domains → the files of a project, in the form that `tenon fmt` keeps; and writing those files. */

import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type FolderFile, type FolderRequest, findInTheWay, zoneFileName } from "../files/folder.ts";
import { MANIFEST_SCHEMA } from "../files/package-files.ts";
import { escapeReferences, writeManifest } from "../format/write.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import { compareText } from "../model/text.ts";
import type { Unit } from "../model/unit.ts";
import type { ImportedDomains } from "./collect.ts";
import { type Existing, freeName } from "./into.ts";
import { withDefaults } from "./live.ts";
import { type DomainWithRecordSets, extractRecordSets } from "./record-sets.ts";

const ROOT_FILE = "tenon.yaml";
const ZONES_FOLDER = "zones";
/** The pattern under `files:` in the root file of a project with a file for each domain. */
const ZONES_PATTERN: string = `${ZONES_FOLDER}/*.yaml`;

export type ProjectFile = FolderFile;

interface ProjectOptions {
  /** A file for each domain. */
  readonly split: boolean;
  /** Whether values that repeat move into defaults and record sets. */
  readonly lifts: boolean;
}

/** The root file comes first. */
export async function projectFiles(
  imported: ImportedDomains,
  units: readonly Unit[],
  { split, lifts }: ProjectOptions,
): Promise<ProjectFile[]> {
  const { sets, domains } = lifts ? extractRecordSets(imported.domains) : { sets: {}, domains: plainDomains(imported) };
  const isSplit = split && domains.length > 0;
  const root = manifest(isSplit ? [] : domains, sets, {
    ...(imported.owner === null ? {} : { owner: imported.owner }),
    ...(isSplit ? { files: [ZONES_PATTERN] } : {}),
    ...(escapeReferences(imported.others) as JsonObject),
  });
  const files = [{ file: ROOT_FILE, text: await write(root, MANIFEST_SCHEMA, units) }];
  if (!isSplit) return files;
  for (const domain of domains) {
    const file = `${ZONES_FOLDER}/${zoneFileName(domain.name, "yaml")}`;
    files.push({ file, text: await write(manifest([domain], {}, {}), `../${MANIFEST_SCHEMA}`, units) });
  }
  return files;
}

/** The one file of the domains and entries, or with `split` one for each domain and one for the rest, for a project that has a root file. */
export async function filesInto(
  folder: string,
  imported: ImportedDomains,
  units: readonly Unit[],
  { split, existing }: { readonly split: boolean; readonly existing: Existing },
): Promise<ProjectFile[]> {
  const { sets, domains } = extractRecordSets(imported.domains, existing.recordSets);
  const others = escapeReferences(imported.others) as JsonObject;
  const isRest = Object.keys(sets).length > 0 || Object.keys(others).length > 0;
  const zoneFile = (name: string): Promise<string> => freeName(folder, `${ZONES_FOLDER}/${zoneFileName(name, "yaml")}`);
  const [first] = domains;
  if (first !== undefined && domains.length === 1 && !isRest) {
    const text = await write(manifest(domains, {}, {}), `../${MANIFEST_SCHEMA}`, units);
    return [{ file: await zoneFile(first.name), text }];
  }
  const inOne = split ? [] : domains;
  const files: ProjectFile[] = [];
  if (isRest || inOne.length > 0) {
    const text = await write(manifest(inOne, sets, others), MANIFEST_SCHEMA, units);
    files.push({ file: await freeName(folder, IMPORTED_FILE), text });
  }
  for (const domain of split ? domains : []) {
    const text = await write(manifest([domain], {}, {}), `../${MANIFEST_SCHEMA}`, units);
    files.push({ file: await zoneFile(domain.name), text });
  }
  return files;
}

const IMPORTED_FILE = "imported.yaml";

function plainDomains({ domains }: ImportedDomains): DomainWithRecordSets[] {
  return domains.map(({ name, entry, records }) => ({
    name,
    entry: escapeReferences(entry) as JsonObject,
    use: [],
    records: records?.map((record) => escapeReferences(record) as JsonObject) ?? null,
  }));
}

/** @param rest sections other than defaults, record sets and domains */
function manifest(
  domains: readonly DomainWithRecordSets[],
  sets: Readonly<Record<string, readonly JsonObject[]>>,
  rest: JsonObject,
): JsonObject {
  const records = [...Object.values(sets).flat(), ...domains.flatMap((domain) => domain.records ?? [])];
  const shared = withDefaults(
    domains.map(({ entry }) => entry),
    records,
  );
  const written = domains.map((domain, index) => ({
    ...shared.domains[index],
    ...(domain.use.length === 0 ? {} : { use: domain.use }),
    // Where a set is in use, no own records mean the same as an empty list.
    ...(domain.records === null || (domain.records.length === 0 && domain.use.length > 0)
      ? {}
      : { records: domain.records.map(shared.record) }),
  }));
  const recordSets = Object.fromEntries(Object.entries(sets).map(([name, list]) => [name, list.map(shared.record)]));
  return {
    tenon: 1,
    ...rest,
    ...(Object.keys(shared.defaults).length === 0 ? {} : { defaults: shared.defaults }),
    ...(Object.keys(recordSets).length === 0 ? {} : { record_sets: recordSets }),
    ...(written.length === 0 ? {} : { domains: written }),
  };
}

function write(content: JsonObject, schema: string, units: readonly Unit[]): Promise<string> {
  return writeManifest(content, { units, arrangesRecords: true, comment: `yaml-language-server: $schema=${schema}` });
}

// Writing a project: all of its files or none, and over existing files only with `force`.

export type WriteRequest = FolderRequest;

/** Reads the list under `files` in the text of a root file; empty if it cannot be read. */
type FilesIn = (text: string) => Promise<readonly Json[]>;

/** What prevents the writing of a project; empty if nothing does. Writes nothing. */
export async function obstacles(request: WriteRequest, filesIn: FilesIn): Promise<Diagnostic[]> {
  const inTheWay = await findInTheWay(request);
  const isWrong = inTheWay.some(({ code }) => code !== "file-exists");
  return isWrong ? inTheWay : [...inTheWay, ...(await findLeftovers(request.out, request.files, filesIn))];
}

// Leftovers: files of a project that the import does not write. They are reported and not removed, as somebody may have written them.

/** At most this many are named; the rest is counted. */
const MAX_NAMED_STALE_FILES = 50;
/** An import of 12,000 records writes less. */
const MAX_ROOT_BYTES: number = 4 * 1024 * 1024;

/** Leftovers are an obstacle even if `force` allows files to be overwritten. */
async function findLeftovers(out: string, files: readonly ProjectFile[], filesIn: FilesIn): Promise<Diagnostic[]> {
  const written = new Set(files.map(({ file }) => file));
  const isSplit = files.some(({ file }) => file !== ROOT_FILE);
  if (!isSplit && !(await loadsZones(join(out, ROOT_FILE), filesIn))) return [];
  const stale = (await zoneManifests(out)).filter((file) => !written.has(file));
  return stale.length === 0 ? [] : [leftBehind(out, stale, isSplit)];
}

/** The files that ZONES_PATTERN finds. */
async function zoneManifests(out: string): Promise<string[]> {
  const names = await readdir(join(out, ZONES_FOLDER)).catch(() => []);
  return names
    .filter((name) => name.endsWith(".yaml") && !name.startsWith("."))
    .sort(compareText)
    .map((name) => `${ZONES_FOLDER}/${name}`);
}

/** Whether the existing root file belongs to a project with a file for each domain. */
async function loadsZones(path: string, filesIn: FilesIn): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  if (found === null || !found.isFile() || found.size > MAX_ROOT_BYTES) return false;
  const text = await readFile(path, "utf8").catch(() => "");
  if (!text.includes(ZONES_PATTERN)) return false;
  return (await filesIn(text)).includes(ZONES_PATTERN);
}

function leftBehind(out: string, stale: readonly string[], isSplit: boolean): Diagnostic {
  const isOne = stale.length === 1;
  const named = stale.slice(0, MAX_NAMED_STALE_FILES).join(", ");
  const more = stale.length > MAX_NAMED_STALE_FILES ? ` and ${stale.length - MAX_NAMED_STALE_FILES} more` : "";
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
