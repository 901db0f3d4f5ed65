/** A folder of octoDNS (YamlProvider, split zones too) → the domains that declare its zones. */

import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { SetAside, SourceRecord } from "../dns/plain-record.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { compareText } from "../model/group.ts";
import { Sources } from "../model/source.ts";
import { takeZone } from "./foreign.ts";
import { readOctodns } from "./octodns-records.ts";
import { readYaml, type Yaml } from "./octodns-yaml.ts";
import { readSource, unreadable } from "./source-text.ts";
import type { Import, TakenDomain } from "./taken.ts";
import { type ForeignRequest, zoneName } from "./zone-files.ts";

/** Files in all folders together. */
const MAX_FILES = 20_000;

/** A zone with its files: one, or in a split zone one for each name. */
interface ZoneFolder {
  readonly zone: string;
  readonly files: readonly string[];
}

export async function importOctodns(request: ForeignRequest): Promise<Import> {
  const sources = new Sources();
  const diagnostics: Diagnostic[] = [];
  const setAside: SetAside[] = [];
  const domains: TakenDomain[] = [];
  const yaml = await import("yaml");
  for (const { zone, files } of await findZones(request, diagnostics)) {
    const records: SourceRecord[] = [];
    for (const file of files) {
      const read = await readFile(file, zone, sources, yaml);
      for (const record of read.records) records.push(record);
      for (const one of read.setAside) setAside.push(one);
      for (const diagnostic of read.diagnostics) diagnostics.push(diagnostic);
    }
    const foreign = { zone, file: files[0] ?? zone, email: request.soaEmail, records };
    const taken = takeZone(foreign, request.unit, request.allowedSeconds);
    for (const one of taken.setAside) setAside.push(one);
    for (const diagnostic of taken.diagnostics) diagnostics.push(diagnostic);
    if (taken.domain !== null) domains.push(taken.domain);
  }
  domains.sort((a, b) => compareText(a.name, b.name));
  return { taken: { owner: null, vpcs: [], domains, images: [] }, diagnostics, setAside, sources };
}

async function readFile(
  file: string,
  zone: string,
  sources: Sources,
  yaml: Yaml,
): Promise<ReturnType<typeof readOctodns>> {
  const nothing = { records: [], setAside: [] };
  const source = await readSource(file, file, sources);
  if (!source.ok) return { ...nothing, diagnostics: [unreadable(file, source)] };
  const read = readYaml(source.text, file, yaml);
  return read.ok ? readOctodns(read.value, zone) : { ...nothing, diagnostics: read.diagnostics };
}

/** `ZONE.yaml`, and `ZONE./NAME.yaml` where zones are split. What is named twice is one zone. */
async function findZones(request: ForeignRequest, diagnostics: Diagnostic[]): Promise<ZoneFolder[]> {
  const zones = new Map<string, string[]>();
  const add = (written: string, file: string): void => {
    const zone = zoneName(written);
    if (zone === null) diagnostics.push(notZone(file));
    else if (request.domain === null || zone === zoneName(request.domain))
      zones.set(zone, [...(zones.get(zone) ?? []), file]);
  };
  for (const path of request.paths) {
    const isFolder = await stat(path).then(
      (status) => status.isDirectory(),
      () => null,
    );
    if (isFolder === null)
      diagnostics.push(unreadable(path, { ok: false, detail: "there is no such file", offset: null }));
    else if (!isFolder) add(nameOf(path), path);
    else await findIn(path, add, diagnostics);
  }
  const total = [...zones.values()].reduce((sum, files) => sum + files.length, 0);
  if (total === 0 && diagnostics.length === 0) diagnostics.push(noZones(request.paths));
  return [...zones].map(([zone, files]) => ({ zone, files })).sort((a, b) => compareText(a.zone, b.zone));
}

async function findIn(
  folder: string,
  add: (zone: string, file: string) => void,
  diagnostics: Diagnostic[],
): Promise<void> {
  const entries = (await readdir(folder, { withFileTypes: true })).sort((a, b) => compareText(a.name, b.name));
  let files = 0;
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const isSplit = entry.isDirectory() && entry.name.endsWith(".");
    const inner = isSplit ? (await readdir(path)).sort(compareText).map((name) => join(path, name)) : [path];
    for (const file of inner.filter(isYaml)) {
      files += 1;
      if (files > MAX_FILES) {
        diagnostics.push(tooMany(folder));
        return;
      }
      if (isSplit || entry.isFile()) add(isSplit ? entry.name : nameOf(file), file);
    }
  }
}

function isYaml(file: string): boolean {
  return /\.ya?ml$/.test(file);
}

function nameOf(file: string): string {
  return basename(file).replace(/\.ya?ml$/, "");
}

function problem(code: string, summary: string, detail: string, fix: string): Diagnostic {
  return { code, severity: "error", summary, detail, fix };
}

function notZone(file: string): Diagnostic {
  const detail = "octoDNS names a file after its zone, as in example.com.yaml.";
  return problem("unknown-zone", `which zone is ${file}?`, detail, "Rename it, or name the zones' files one by one.");
}

function noZones(paths: readonly string[]): Diagnostic {
  return problem("no-zones", `no zone is in ${paths.join(", ")}`, "", "Name the folder that holds ZONE.yaml files.");
}

function tooMany(folder: string): Diagnostic {
  return problem("too-many-files", `too many files in ${folder}`, "", "Import it in parts.");
}
