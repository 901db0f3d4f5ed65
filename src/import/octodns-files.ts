/** Which files octoDNS keeps zones in: `ZONE.yaml`, `ZONE./NAME.yaml` where zones are split, or as its configuration says. */

import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { isPrivate, isWithin } from "../model/containment.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { compareText } from "../model/group.ts";
import type { Gathered } from "./gathered.ts";
import { maybeConfig, type OctodnsConfig, readConfig, type YamlProvider } from "./octodns-config.ts";
import { readYaml, type Yaml } from "./octodns-yaml.ts";
import { noFile, readSource, type SourceText, unreadable } from "./source-text.ts";
import { zoneName } from "./zone-of.ts";

/** Files in one folder. */
const MAX_FILES = 20_000;

export interface ZoneFile {
  readonly path: string;
  /** Seconds, for records that say none; null: none is configured. */
  readonly defaultTtl: number | null;
}

/** A zone with its files: one, or in a split zone one for each name. */
export interface OctodnsZone {
  /** Lower-case ASCII without a final dot. */
  readonly zone: string;
  readonly files: readonly ZoneFile[];
}

/** What lies in a folder; the name is that of a zone, or meant to be. */
interface Listed {
  readonly name: string;
  readonly path: string;
  readonly isSplit: boolean;
  readonly isLink: boolean;
}

export class OctodnsFiles {
  readonly #gathered: Gathered;
  readonly #yaml: Yaml;
  /** Read already, to see whether they are configurations. */
  readonly #texts: Map<string, SourceText> = new Map();
  /** Zone → absolute path → file: the file of a zone may be named by itself and by a configuration, too. */
  readonly #zones: Map<string, Map<string, ZoneFile>> = new Map();

  constructor(gathered: Gathered, yaml: Yaml) {
    this.#gathered = gathered;
    this.#yaml = yaml;
  }

  /** In the order of their names. What was named twice is one zone. */
  zones(): OctodnsZone[] {
    return [...this.#zones]
      .map(([zone, files]) => ({ zone, files: [...files.values()] }))
      .sort((a, b) => compareText(a.zone, b.zone));
  }

  async text(path: string): Promise<SourceText> {
    const known = this.#texts.get(path) ?? (await readSource(path, path, this.#gathered.sources));
    this.#texts.set(path, known);
    return known;
  }

  /** @param path a folder, a configuration, or the file of a zone */
  async find(path: string): Promise<void> {
    const status = await stat(path).catch(() => null);
    if (status === null) this.#gathered.report(unreadable(path, noFile("there is no such file")));
    else if (status.isDirectory()) await this.#findIn(path, null);
    else {
      const config = await this.#configOf(path);
      if (config === null) this.#add(nameOf(path), { path, defaultTtl: null });
      else await this.#findByConfig(path, config);
    }
  }

  async #findByConfig(path: string, config: OctodnsConfig): Promise<void> {
    const providers = config.providers.filter(({ directory }) => directory !== null);
    if (providers.length === 0) this.#gathered.report(noFolder(path, config));
    for (const provider of providers) {
      const folder = await folderOf(path, provider.directory ?? "");
      if (folder === null) this.#gathered.report(missingFolder(provider, config));
      else await this.#findIn(folder, provider.defaultTtl);
    }
  }

  /** @param given the TTL that a configuration elsewhere says; null: none was read */
  async #findIn(folder: string, given: number | null): Promise<void> {
    const listed = await list(folder).catch(() => null);
    if (listed === null || listed.length > MAX_FILES) {
      this.#gathered.report(listed === null ? unreadable(folder, noFile("it cannot be read")) : tooMany(folder));
      return;
    }
    const files: Listed[] = [];
    let defaultTtl = given;
    for (const one of listed) {
      if (one.isLink) {
        this.#remark(
          one.path,
          "is a symbolic link and is left out; import the file that it leads to by its own name",
          null,
        );
        continue;
      }
      const config = one.isSplit ? null : await this.#configOf(one.path);
      if (config !== null) {
        const found = await ttlFor(folder, one.path, config);
        this.#remark(one.path, configured(found), config);
        defaultTtl ??= found;
      } else if (/^\.|^[^.]*$/.test(one.name)) this.#remark(one.path, "is named after no zone and is left out", null);
      else files.push(one);
    }
    for (const { name, path } of files) this.#add(name, { path, defaultTtl });
  }

  #remark(file: string, detail: string, config: OctodnsConfig | null): void {
    this.#gathered.remark({ file, what: "", detail, span: config?.span ?? null });
  }

  async #configOf(path: string): Promise<OctodnsConfig | null> {
    const source = await this.text(path);
    if (!source.ok || !maybeConfig(source.text)) return null;
    const read = readYaml(source.text, path, this.#yaml);
    return read.ok ? readConfig(read.value) : null;
  }

  #add(name: string, file: ZoneFile): void {
    const zone = zoneName(name);
    if (zone === null) {
      this.#gathered.report(notZone(file.path));
      return;
    }
    const files = this.#zones.get(zone) ?? new Map<string, ZoneFile>();
    const real = resolve(file.path);
    const known = files.get(real);
    files.set(real, { path: known?.path ?? file.path, defaultTtl: known?.defaultTtl ?? file.defaultTtl });
    this.#zones.set(zone, files);
  }
}

/** A link is listed, and not followed: what was checked out may be hostile. */
async function list(folder: string): Promise<Listed[]> {
  const listed: Listed[] = [];
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (isZoneFile(entry)) listed.push({ name: nameOf(path), path, isSplit: false, isLink: entry.isSymbolicLink() });
    if (!entry.name.endsWith(".")) continue;
    if (entry.isSymbolicLink()) listed.push({ name: entry.name, path, isSplit: true, isLink: true });
    if (!entry.isDirectory()) continue;
    for (const inner of (await entriesOf(path)).filter(isZoneFile)) {
      const isLink = inner.isSymbolicLink();
      listed.push({ name: entry.name, path: join(path, inner.name), isSplit: true, isLink });
    }
  }
  return listed;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  return (await readdir(folder, { withFileTypes: true })).sort((a, b) => compareText(a.name, b.name));
}

function isZoneFile(entry: Dirent): boolean {
  return (entry.isFile() || entry.isSymbolicLink()) && /\.ya?ml$/.test(entry.name);
}

/**
 * octoDNS is run at the top of a project, which the configuration may lie beneath: as it would be found from here, or from there. What
 * lies elsewhere is not looked at: a configuration may be anybody's.
 */
async function folderOf(config: string, directory: string): Promise<string | null> {
  const beside = resolve(dirname(config));
  const candidates = [
    [directory, process.cwd()],
    [join(beside, directory), beside],
    [join(beside, "..", directory), join(beside, "..")],
  ] as const;
  for (const [candidate, root] of candidates) {
    const real = isWithin(resolve(candidate), root) ? await realpath(candidate).catch(() => null) : null;
    if (real === null || !isWithin(real, await realpath(root)) || isPrivate(real, await realpath(root))) continue;
    if ((await stat(real)).isDirectory()) return candidate;
  }
  return null;
}

/** Of the provider that keeps its zones in the folder, or of the only one. */
async function ttlFor(folder: string, path: string, { providers }: OctodnsConfig): Promise<number | null> {
  const real = await realpath(folder);
  for (const { directory, defaultTtl } of providers) {
    const found = directory === null ? null : await folderOf(path, directory);
    if (found !== null && (await realpath(resolve(found))) === real) return defaultTtl;
  }
  return providers.length === 1 ? (providers[0]?.defaultTtl ?? null) : null;
}

function configured(defaultTtl: number | null): string {
  const more = defaultTtl === null ? "" : `; records without a ttl get its default_ttl, ${defaultTtl}`;
  return `is octoDNS's configuration and no zone${more}`;
}

function nameOf(file: string): string {
  return basename(file).replace(/\.ya?ml$/, "");
}

function problem(code: string, summary: string, detail: string, fix: string): Diagnostic {
  return { code, severity: "error", summary, detail, fix };
}

function notZone(file: string): Diagnostic {
  const detail =
    "octoDNS names a file after its zone, as in example.com.yaml; names of domains have letters, digits and hyphens alone.";
  return problem("unknown-zone", `which zone is ${file}?`, detail, "Rename it, or name the zones' files one by one.");
}

function noFolder(file: string, { span }: OctodnsConfig): Diagnostic {
  const detail = "None of its providers is a octodns.provider.yaml.YamlProvider with a `directory`.";
  const fix = "Name the folder that holds the zones.";
  return { ...problem("no-zones", `${file} names no folder of zones`, detail, fix), span };
}

function missingFolder({ name, directory }: YamlProvider, { span }: OctodnsConfig): Diagnostic {
  const detail = `\`directory\` of the provider \`${name}\` is found neither within this folder nor beside the configuration; what lies elsewhere is not looked at.`;
  const fix = "Run the import where octoDNS is run, or name the folder that holds the zones itself.";
  return { ...problem("unreadable-file", `there is no folder ${directory}`, detail, fix), span };
}

function tooMany(folder: string): Diagnostic {
  return problem("too-many-files", `too many files in ${folder}`, "", "Import it in parts.");
}
