/** Zone files (RFC 1035, 5) → the domains that declare them. */

import { readZoneFile, type ZoneFileReading } from "../dns/zone-file/read.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { Gathered, type GatheringOptions } from "./gathered.ts";
import { includeWithin } from "./include.ts";
import type { NamedEmail } from "./soa-email.ts";
import { readSource, unreadable } from "./source-text.ts";
import type { Import } from "./taken.ts";
import { zoneOf } from "./zone-of.ts";

export interface ForeignRequest extends GatheringOptions {
  readonly paths: readonly string[];
  /** The zone, if there is one file and it is known; null: as the file says. */
  readonly domain: string | null;
}

/** With so many errors, more than there are records, a file was hardly meant to be a zone file; so many are shown. */
const MIN_ERRORS = 3;

export async function importZoneFiles(request: ForeignRequest): Promise<Import> {
  const gathered = new Gathered(request);
  const known = new Map<string, string>();
  for (const path of request.paths) {
    const zone = await readOne(path, request, gathered, known);
    if (zone !== null) known.set(zone, path);
  }
  return gathered.result();
}

/**
 * @param known zones and the files that they were read from
 * @returns the zone, or null for a file that is of none
 */
async function readOne(
  path: string,
  { domain }: ForeignRequest,
  gathered: Gathered,
  known: ReadonlyMap<string, string>,
): Promise<string | null> {
  const { sources } = gathered;
  const source = await readSource(path, path, sources);
  if (!source.ok) {
    gathered.report(unreadable(path, source, source.isFolder ? NAME_FILES : undefined));
    return null;
  }
  const of = zoneOf(path, source.text, domain);
  if (!of.ok) {
    gathered.report(of.diagnostic);
    return null;
  }
  const { zone } = of;
  const first = known.get(zone);
  if (first !== undefined) {
    gathered.report(secondFile(zone, path, first));
    return null;
  }
  const reading = await readZoneFile(source.text, { zone, file: path, include: includeWithin(path, sources) });
  const isForeign = looksForeign(reading);
  for (const diagnostic of isForeign ? firstErrors(path, reading) : reading.diagnostics) gathered.report(diagnostic);
  if (isForeign) return null;
  const { records, setAside, inheriting, soa } = reading;
  const ttl = soa !== null && soa.ttl_sec === soa.minimum ? soa.minimum : null;
  gathered.take({ zone, file: path, named: namedBy(reading), records, setAside, inheriting, ttl });
  return zone;
}

const NAME_FILES = "Name the files in it, for example dir/*.zone.";

function namedBy({ soa, setAside }: ZoneFileReading): NamedEmail | null {
  const place = setAside.find(({ reason }) => reason === "soa");
  return soa === null || place === undefined ? null : { email: soa.email, span: place.span };
}

function looksForeign({ records, setAside, diagnostics }: ZoneFileReading): boolean {
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  return errors >= MIN_ERRORS && errors > records.length + setAside.length;
}

function firstErrors(path: string, { diagnostics }: ZoneFileReading): Diagnostic[] {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const more = errors.length - MIN_ERRORS;
  const summary: Diagnostic = {
    code: "no-zone-file",
    severity: "error",
    summary: `${path} does not look like a zone file`,
    detail: `There are more errors than records${more > 0 ? `; ${more} more are not shown` : ""}.`,
    fix: "Name zone files (RFC 1035) only, as BIND has them; YAML of octoDNS is read with --from octodns.",
  };
  return [...errors.slice(0, MIN_ERRORS), summary];
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
