/** Which name servers of a zone lack their address in it: for one of them, a strict nameserver loads nothing of the zone. */

import { relativeName } from "../dns/name.ts";
import type { RecordRow } from "./rows.ts";

type TypesByName = ReadonlyMap<string, ReadonlySet<string>>;

/** @returns the NS records of the apex whose host is a name of the zone without an A or AAAA record */
export function serversWithoutAddress(records: readonly RecordRow[], domain: string): ReadonlySet<RecordRow> {
  const zone = domain.toLowerCase();
  const within = new Map<RecordRow, string>();
  for (const record of records) {
    if (record.type !== "NS" || record.name !== "") continue;
    const host = relativeName(record.target.toLowerCase(), zone);
    if (host !== null) within.set(record, host);
  }
  if (within.size === 0) return new Set();
  const types = typesByName(records);
  return new Set(
    [...within].filter(([, host]) => !isDelegated(types, host) && !hasAddress(types, host)).map(([row]) => row),
  );
}

/** Names that have nothing but names below them exist, too (RFC 4592, 2.2.2). */
function typesByName(records: readonly RecordRow[]): TypesByName {
  const types = new Map<string, Set<string>>([["", new Set()]]);
  const add = (name: string): Set<string> => {
    const known = types.get(name);
    if (known !== undefined) return known;
    const made = new Set<string>();
    types.set(name, made);
    add(parentOf(name));
    return made;
  };
  for (const { name, type } of records) add(name.toLowerCase()).add(type);
  return types;
}

function parentOf(name: string): string {
  const dot = name.indexOf(".");
  return dot === -1 ? "" : name.slice(dot + 1);
}

/** It, or a name above it but the apex, is another zone's. */
function isDelegated(types: TypesByName, host: string): boolean {
  for (let name = host; name !== ""; name = parentOf(name)) if (types.get(name)?.has("NS")) return true;
  return false;
}

/** Its own, or that of the wildcard below the nearest name that exists (RFC 4592, 3.3.1). */
function hasAddress(types: TypesByName, host: string): boolean {
  let encloser = host;
  while (!types.has(encloser)) encloser = parentOf(encloser);
  const found = types.get(encloser === host ? host : encloser === "" ? "*" : `*.${encloser}`);
  return found !== undefined && (found.has("A") || found.has("AAAA"));
}
