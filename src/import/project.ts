/** The imported domains → the files of a project, in the form that `tenon fmt` keeps; and writing those files. */

import { createHash, randomUUID } from "node:crypto";
import { lstat, mkdir, open, readdir, readFile, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { whereLinkLeads } from "../files/paths.ts";
import { escapeReferences, writeManifest } from "../format/write.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import { compareText } from "../model/text.ts";
import type { Unit } from "../model/unit.ts";
import type { ImportedDomains } from "./collect.ts";
import { withDefaults } from "./live.ts";
import { type DomainWithRecordSets, extractRecordSets } from "./record-sets.ts";

/** Where an editor finds the schema, from the project folder. */
const SCHEMA = "node_modules/tenon/schemas/manifest.schema.json";

const ROOT_FILE = "tenon.yaml";
const ZONES_FOLDER = "zones";
/** The pattern under `files:` in the root file of a project with a file for each domain. */
const ZONES_PATTERN: string = `${ZONES_FOLDER}/*.yaml`;

export interface ProjectFile {
  /** Relative to the project folder, with at most one slash, a forward one. */
  readonly file: string;
  readonly text: string;
}

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
  const files = [{ file: ROOT_FILE, text: await write(root, SCHEMA, units) }];
  if (!isSplit) return files;
  for (const domain of domains) {
    const file = `${ZONES_FOLDER}/${fileName(domain.name)}`;
    files.push({ file, text: await write(manifest([domain], {}, {}), `../${SCHEMA}`, units) });
  }
  return files;
}

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

/** Names that mean a device on some systems, with any extension. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/;
/** File systems take 255 octets. */
const MAX_NAME_CHARACTERS = 200;
const DIGEST_CHARACTERS = 12;

/**
 * `example.com.yaml`. Domain names have letters, digits, hyphens and dots; a name with anything else gets a digest, so that it stays
 * unique.
 */
export function fileName(zone: string): string {
  const plain = zone.replace(/[^a-z0-9.-]/g, "_").replace(/^\.+/, "_");
  const isPlain = plain === zone && zone.length <= MAX_NAME_CHARACTERS;
  const digest = createHash("sha256").update(zone).digest("hex").slice(0, DIGEST_CHARACTERS);
  const stem = isPlain ? plain : `${plain.slice(0, MAX_NAME_CHARACTERS)}-${digest}`;
  return `${DEVICE.test(stem) ? `zone-${stem}` : stem}.yaml`;
}

// Writing a project: all of its files or none, and over existing files only with `force`.

export interface WriteRequest {
  /** The project folder; made if it is not there. */
  readonly out: string;
  readonly files: readonly ProjectFile[];
  /** Existing files are overwritten. */
  readonly force: boolean;
}

/** At most this many files are named; the rest is counted. */
const MAX_NAMED_EXISTING_FILES = 5;
/** Readable by whoever may read the folder: a project belongs into git. */
const FILE_MODE = 0o644;

/** Reads the list under `files` in the text of a root file; empty if it cannot be read. */
type FilesIn = (text: string) => Promise<readonly Json[]>;

/** What prevents the writing of a project; empty if nothing does. Writes nothing. */
export async function obstacles({ out, files, force }: WriteRequest, filesIn: FilesIn): Promise<Diagnostic[]> {
  const led = await whereLinkLeads(out);
  if (led !== null) {
    const where = led === "private" ? "into a folder of git or of Tenon" : "out of this folder";
    return [problem("symbolic-link", `${out} leads ${where} by a symbolic link`, LINK_DETAIL)];
  }
  const folders = [out, ...new Set(files.map(({ file }) => dirname(join(out, file))))];
  for (const folder of folders) {
    const found = await lstat(folder).catch(() => null);
    if (found?.isSymbolicLink() === true)
      return [problem("symbolic-link", `${folder} is a symbolic link`, LINK_DETAIL)];
    if (found !== null && !found.isDirectory()) return [problem("not-a-folder", `${folder} is not a folder`, "")];
  }
  const existing: string[] = [];
  for (const { file } of files) {
    const found = await lstat(join(out, file)).catch(() => null);
    if (found === null) continue;
    if (!found.isFile()) return [problem("not-a-file", `${join(out, file)} is not a regular file`, LINK_DETAIL)];
    existing.push(file);
  }
  return [
    ...(existing.length === 0 || force ? [] : [alreadyThere(out, existing)]),
    ...(await findLeftovers(out, files, filesIn)),
  ];
}

const LINK_DETAIL = "What is written stays in the folder that was named.";

function problem(code: string, summary: string, detail: string): Diagnostic {
  return { code, severity: "error", summary, detail, fix: "Name another folder with --out." };
}

function alreadyThere(out: string, existing: readonly string[]): Diagnostic {
  const named = existing.slice(0, MAX_NAMED_EXISTING_FILES).join(", ");
  const more =
    existing.length > MAX_NAMED_EXISTING_FILES ? ` and ${existing.length - MAX_NAMED_EXISTING_FILES} more` : "";
  return {
    code: "file-exists",
    severity: "error",
    summary: `${out} has ${existing.length === 1 ? "this file" : "these files"} already: ${named}${more}`,
    detail: "Nothing was written.",
    fix: "Name another folder with --out, or give --force to overwrite.",
  };
}

/**
 * All files are first written and synced under temporary names, and then renamed. After a failure new files are removed again; an existing
 * file stays as it was unless its replacement was renamed already.
 * @throws the file system's error
 */
export async function writeProject({ out, files, force }: WriteRequest): Promise<void> {
  const made = await makeFolders(out, files);
  const mark = `.${randomUUID()}.new`;
  const placed: string[] = [];
  try {
    for (const { file, text } of files) await writeNew(join(out, file) + mark, text);
    for (const { file } of files) {
      const path = join(out, file);
      const isNew = (await lstat(path).catch(() => null)) === null;
      if (!isNew && !force) throw Object.assign(new Error(`${path} appeared meanwhile`), { code: "EEXIST" });
      await rename(path + mark, path);
      if (isNew) placed.push(path);
    }
  } catch (error) {
    for (const { file } of files) await rm(join(out, file) + mark, { force: true });
    for (const path of placed) await rm(path, { force: true });
    for (const folder of made.reverse()) await rmdir(folder).catch(() => undefined);
    throw error;
  }
}

/** @returns the folders that were made */
async function makeFolders(out: string, files: readonly ProjectFile[]): Promise<string[]> {
  const made: string[] = [];
  for (const folder of new Set([out, ...files.map(({ file }) => dirname(join(out, file)))])) {
    await makeFolder(resolve(folder), made);
  }
  return made;
}

/** Makes folders one by one: where the system refuses folders with an odd error (`/proc`), Node's own recursion never ends. */
async function makeFolder(folder: string, made: string[]): Promise<void> {
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() === true) return;
  if (dirname(folder) !== folder) await makeFolder(dirname(folder), made);
  await mkdir(folder);
  made.push(folder);
}

async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", FILE_MODE);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
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
