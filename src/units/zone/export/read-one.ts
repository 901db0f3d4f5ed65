/** One zone of the account as a whole: the domain, its records, and the zone file that the service renders. */

import type { WireDomain, WireRecord } from "../../../api/wire/index.ts";
import type { PlainRecord } from "../../../dns/plain-record.ts";
import type { Diagnostic } from "../../../model/diagnostic.ts";
import type { Api } from "../../../model/exchange.ts";
import type { Failure } from "../../../model/failure.ts";
import { isJsonObject, type Json } from "../../../model/resource.ts";
import { liveDomain } from "../domain.ts";
import { type LiveZone, zoneName } from "../live.ts";
import { isKnownType, liveRecord } from "../values.ts";
import type { ExportedFrom } from "./export.ts";

export type ReadZone =
  /** `source` is null if the account has no such domain. */
  | { readonly ok: true; readonly source: ExportedFrom | null; readonly notes: readonly Diagnostic[] }
  | { readonly ok: false; readonly what: string; readonly failure: Failure };

/** @param zone lower-case ASCII without a final dot */
export async function readZone(api: Api, zone: string, signal?: AbortSignal): Promise<ReadZone> {
  const wanted = { field: "domain", values: [zone] };
  const domains = await api.list({ path: ["domains"], wanted }, signal);
  if (!domains.ok) return { ok: false, what: "the list of domains", failure: domains.failure };
  const domain = (domains.items as unknown as WireDomain[]).find((item) => zoneName(item) === zone);
  if (domain === undefined) return { ok: true, source: null, notes: [] };
  const path = ["domains", String(domain.id)];
  const list = await api.list({ path: [...path, "records"] }, signal);
  if (!list.ok) return { ok: false, what: `the records of ${domain.domain}`, failure: list.failure };
  const rendered = await api.send({ method: "GET", path: [...path, "zone-file"] }, signal);
  const live: LiveZone = { domain, records: list.items as unknown as WireRecord[] };
  const notes: Diagnostic[] = [];
  const records: PlainRecord[] = [];
  for (const record of live.records ?? []) {
    // The values of a record are a record.
    if (isKnownType(record.type)) records.push(liveRecord(record, zone) as unknown as PlainRecord);
    else notes.push(unknownType(record));
  }
  // Without it the zone can be written all the same; a right may be missing, or it is not rendered yet.
  const lines = rendered.ok ? linesOf(rendered.body) : [];
  return { ok: true, source: { zone, fields: liveDomain(live), records, rendered: lines }, notes };
}

function linesOf(body: Json): readonly string[] {
  const lines = isJsonObject(body) ? body["zone_file"] : null;
  return Array.isArray(lines) ? lines.filter((line: Json) => typeof line === "string") : [];
}

function unknownType({ type, name }: WireRecord): Diagnostic {
  return {
    code: "record-left-out",
    severity: "warning",
    summary: `a record is not in the file: ${name === "" ? "@" : name} ${String(type)}`,
    detail: "Its type is none that the API had when this was written.",
  };
}
