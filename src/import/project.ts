/** What was taken → the files of a project: text, in the form that `tenon fmt` keeps. */

import { createHash } from "node:crypto";
import { escapeReferences } from "../format/manifest-entry.ts";
import { writeManifest } from "../format/write.ts";
import type { JsonObject } from "../model/resource.ts";
import { withDefaults } from "./defaults.ts";
import { type LiftedDomain, lift } from "./lift.ts";
import type { Taken } from "./taken.ts";

/** Where an editor finds the schema, from the project folder. */
const SCHEMA = "node_modules/tenon/schemas/manifest.schema.json";

export const ROOT_FILE = "tenon.yaml";
export const ZONES_FOLDER = "zones";
/** What the root file of a project with a file for each domain loads. */
export const ZONES_PATTERN: string = `${ZONES_FOLDER}/*.yaml`;

export interface ProjectFile {
  /** Relative to the project folder, forward slashes, at most one of them. */
  readonly file: string;
  readonly text: string;
}

export interface ProjectOptions {
  /** A file for each domain. */
  readonly split: boolean;
  /** Whether what repeats goes into defaults and record sets. */
  readonly lifts: boolean;
}

/** The root file comes first. */
export async function projectFiles(taken: Taken, { split, lifts }: ProjectOptions): Promise<ProjectFile[]> {
  const { sets, domains } = lifts ? lift(taken.domains) : { sets: {}, domains: plainDomains(taken) };
  const isSplit = split && domains.length > 0;
  const root = manifest(isSplit ? [] : domains, sets, {
    ...(taken.owner === null ? {} : { owner: taken.owner }),
    ...(isSplit ? { files: [ZONES_PATTERN] } : {}),
    ...(taken.vpcs.length === 0 ? {} : { vpcs: escapeReferences(taken.vpcs) }),
    ...(taken.images.length === 0 ? {} : { images: escapeReferences(taken.images) }),
  });
  const files = [{ file: ROOT_FILE, text: await write(root, SCHEMA) }];
  if (!isSplit) return files;
  for (const domain of domains) {
    const file = `${ZONES_FOLDER}/${fileName(domain.name)}`;
    files.push({ file, text: await write(manifest([domain], {}, {}), `../${SCHEMA}`) });
  }
  return files;
}

function plainDomains({ domains }: Taken): LiftedDomain[] {
  return domains.map(({ name, entry, records }) => ({
    name,
    entry: escapeReferences(entry) as JsonObject,
    use: [],
    records: records?.map((record) => escapeReferences(record) as JsonObject) ?? null,
  }));
}

/** @param rest sections other than defaults, record sets and domains */
function manifest(
  domains: readonly LiftedDomain[],
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
    // With a set in use, no records beside it are the same as an empty list of them.
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

function write(content: JsonObject, schema: string): Promise<string> {
  return writeManifest(content, { arrangesRecords: true, comment: `yaml-language-server: $schema=${schema}` });
}

/** Names that mean a device on some systems, whatever follows their dot. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/;
/** File systems take 255 octets. */
const MAX_NAME_CHARACTERS = 200;
const DIGEST_CHARACTERS = 12;

/** `example.com.yaml`. Domain names are of letters, digits, hyphens and dots; anything else would be told apart by a digest. */
export function fileName(zone: string): string {
  const plain = zone.replace(/[^a-z0-9.-]/g, "_").replace(/^\.+/, "_");
  const isPlain = plain === zone && zone.length <= MAX_NAME_CHARACTERS;
  const digest = createHash("sha256").update(zone).digest("hex").slice(0, DIGEST_CHARACTERS);
  const stem = isPlain ? plain : `${plain.slice(0, MAX_NAME_CHARACTERS)}-${digest}`;
  return `${DEVICE.test(stem) ? `zone-${stem}` : stem}.yaml`;
}
