/** Zone files (RFC 1035, 5) → the domains that declare them. */

import { realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { nameProblem, toAscii } from "../dns/name.ts";
import type { SetAside } from "../dns/plain-record.ts";
import { findOrigin } from "../dns/zone-file/origin.ts";
import { type IncludedFile, readZoneFile } from "../dns/zone-file/read.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { compareText } from "../model/group.ts";
import { Sources } from "../model/source.ts";
import { takeZone } from "./foreign.ts";
import type { SettlingUnit } from "./settle.ts";
import { readSource, unreadable } from "./source-text.ts";
import type { Import, TakenDomain } from "./taken.ts";

export interface ForeignRequest {
  readonly paths: readonly string[];
  /** The zone, if there is one file and it is known; null: as the file says. */
  readonly domain: string | null;
  /** For sources that name nobody. */
  readonly soaEmail: string | null;
  readonly unit: SettlingUnit;
  readonly allowedSeconds: readonly number[];
}

export async function importZoneFiles(request: ForeignRequest): Promise<Import> {
  const sources = new Sources();
  const domains: TakenDomain[] = [];
  const diagnostics: Diagnostic[] = [];
  const setAside: SetAside[] = [];
  const known = new Map<string, string>();
  for (const path of request.paths) {
    const read = await readOne(path, request, sources);
    for (const diagnostic of read.diagnostics) diagnostics.push(diagnostic);
    for (const one of read.setAside) setAside.push(one);
    if (read.domain === null) continue;
    const { name } = read.domain;
    const first = known.get(name);
    if (first === undefined) domains.push(read.domain);
    else diagnostics.push(secondFile(name, path, first));
    known.set(name, path);
  }
  domains.sort((a, b) => compareText(a.name, b.name));
  return { taken: { owner: null, vpcs: [], domains, images: [] }, diagnostics, setAside, sources };
}

interface ReadZone {
  readonly domain: TakenDomain | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly setAside: readonly SetAside[];
}

async function readOne(path: string, request: ForeignRequest, sources: Sources): Promise<ReadZone> {
  const source = await readSource(path, path, sources);
  if (!source.ok) return { domain: null, diagnostics: [unreadable(path, source)], setAside: [] };
  const zone = zoneOf(path, source.text, request.domain);
  if (zone === null) return { domain: null, diagnostics: [whichZone(path)], setAside: [] };
  const include = includeWithin(path, sources);
  const reading = await readZoneFile(source.text, { zone, file: path, include });
  const email = reading.soa?.email || request.soaEmail;
  const foreign = { zone, file: path, email, records: reading.records };
  const taken = takeZone(foreign, request.unit, request.allowedSeconds);
  return {
    domain: taken.domain,
    diagnostics: [...reading.diagnostics, ...taken.diagnostics],
    setAside: [...reading.setAside, ...taken.setAside],
  };
}

/** Lower-case ASCII without a final dot; null if nothing tells it. */
function zoneOf(path: string, text: string, asked: string | null): string | null {
  return zoneName(asked ?? findOrigin(text) ?? nameOfFile(path));
}

/** `example.com.zone`, `db.example.com`, `example.com.db` and the like. */
function nameOfFile(path: string): string {
  return basename(path)
    .replace(/\.(zone|db|hosts|dns|txt)$/i, "")
    .replace(/^(db|zone|pri|master)\./i, "");
}

export function zoneName(written: string): string | null {
  const name = toAscii(written)?.replace(/\.$/, "") ?? "";
  return name === "" || nameProblem(name, true) !== null ? null : name;
}

/** `$INCLUDE` reaches files in the folder of the zone file and beneath it, wherever symbolic links lead. */
function includeWithin(path: string, sources: Sources): (wanted: string, from: string) => Promise<IncludedFile> {
  const folder = dirname(path);
  return async (wanted) => {
    const file = isAbsolute(wanted) ? wanted : join(folder, wanted);
    const [root, real] = await Promise.all([realpath(folder), realpath(resolve(file)).catch(() => null)]);
    // What lies outside is not looked at, so that not even its presence is told.
    if (real === null ? !isInside(resolve(folder), resolve(file)) : !isInside(root, real))
      return { ok: false, detail: `it lies outside ${folder}` };
    const source = await readSource(real ?? file, file, sources);
    return source.ok ? { ok: true, file, text: source.text } : { ok: false, detail: source.detail };
  };
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function whichZone(path: string): Diagnostic {
  return {
    code: "unknown-zone",
    severity: "error",
    summary: `which zone is ${path}?`,
    detail: "It has no absolute $ORIGIN and no SOA with an absolute name, and its file name is no domain.",
    fix: "Give --domain NAME with this file alone, or name the file after its zone.",
  };
}

function secondFile(zone: string, path: string, first: string): Diagnostic {
  return {
    code: "duplicate-entry",
    severity: "error",
    summary: `${zone} is in two files`,
    detail: `${first} and ${path} are both of this zone.`,
    fix: "Import one of them.",
  };
}
