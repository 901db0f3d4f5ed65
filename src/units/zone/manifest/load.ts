/** A domain entry of a manifest → its declared zone, with everything the service would refuse reported. */

import { domainAddress } from "../../../model/address.ts";
import type { Declared, IgnorePattern } from "../../../model/desired.ts";
import type { Diagnostic, Span } from "../../../model/diagnostic.ts";
import type { Json, JsonObject } from "../../../model/resource.ts";
import { isJsonObject } from "../../../model/resource.ts";
import type { LoadContext } from "../../../model/unit.ts";
import type { RecordSpec, ZoneSpec } from "../shape.ts";
import { checkRecords } from "./check.ts";
import type { ZoneContext } from "./context.ts";
import { loadCreateFrom } from "./create-from.ts";
import { readDomainName } from "./domain-name.ts";
import { loadFields } from "./fields.ts";
import { lintOff } from "./lint-off.ts";
import { loadRecord } from "./record.ts";

/** @returns null if the entry has no usable name */
export function loadZone(entry: JsonObject, context: LoadContext): Declared<ZoneSpec> | null {
  const written = entry["domain"];
  if (typeof written !== "string") return null;
  const zone = zoneName(written, entry, context);
  if (zone === null) return null;
  const address = domainAddress(zone);
  const zoneContext: ZoneContext = {
    ...context,
    zone,
    report: (diagnostic) => context.report({ address, ...diagnostic }),
    error: (problem) => context.report({ severity: "error", address, ...problem }),
  };
  const fields = loadFields(entry, zoneContext);
  const ignore = loadIgnore(entry);
  const createFrom = loadCreateFrom(entry, zoneContext);
  const records = loadRecords(entry, fields["type"] === "slave", ignore, zoneContext);
  return {
    unit: "zone",
    address,
    key: zone,
    id: typeof entry["id"] === "number" ? entry["id"] : null,
    movedFrom: null,
    protect: entry["protect"] === true,
    note: typeof entry["note"] === "string" ? entry["note"] : null,
    span: context.span(entry, "domain"),
    spec: {
      domain: zone,
      fields,
      records,
      ignore,
      policy: entry["records_policy"] === "additive" ? "additive" : "authoritative",
      createFrom,
      lintOff: lintOff(entry["lint"]),
    },
  };
}

function zoneName(written: string, entry: JsonObject, context: LoadContext): string | null {
  const { name, problem } = readDomainName(written);
  if (problem === null) return name;
  context.report({ ...problem, severity: "error", span: context.span(entry, "domain") });
  return null;
}

function loadIgnore(entry: JsonObject): IgnorePattern[] {
  const patterns = entry["ignore"];
  return Array.isArray(patterns) ? ((patterns as readonly Json[]).filter(isJsonObject) as IgnorePattern[]) : [];
}

function loadRecords(
  entry: JsonObject,
  isSlave: boolean,
  ignore: readonly IgnorePattern[],
  context: ZoneContext,
): RecordSpec[] | null {
  const written = entry["records"];
  if (!Array.isArray(written)) return null;
  const entries = (written as readonly Json[]).filter(isJsonObject);
  if (isSlave) {
    const first = entries[0] === undefined ? null : context.span(entries[0]);
    const span = first ?? (typeof entry["zone_file"] === "string" ? context.span(entry, "zone_file") : null);
    if (span !== null) context.error(recordsOnSlave(span, context));
    return null;
  }
  const records = entries.flatMap((record) => loadRecord(record, context));
  checkRecords(records, ignore, context.span(entry, "domain"), context);
  return records;
}

function recordsOnSlave(span: Span, context: ZoneContext): Omit<Diagnostic, "severity" | "address"> {
  return {
    code: "records-on-slave",
    summary: "a slave domain has no records of its own",
    detail: `${context.zone} is of type slave: its records are copied from its masters and cannot be written.`,
    fix: "Remove `records`, `use` and `zone_file`, or make the domain a master.",
    span,
  };
}
