/** A domain entry of a manifest → its declared zone, with everything the service would refuse reported. */

import { nameProblem, toAscii } from "../../dns/name.ts";
import { domainAddress } from "../../model/address.ts";
import type { Declared, IgnorePattern } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Json, JsonObject } from "../../model/resource.ts";
import { isJsonObject } from "../../model/resource.ts";
import type { LoadContext, NameProblem } from "../../model/unit.ts";
import { checkRecords } from "./check.ts";
import type { ZoneContext } from "./context.ts";
import { loadFields } from "./fields.ts";
import { lintOff } from "./lint-off.ts";
import { loadRecord } from "./record.ts";
import type { RecordSpec, ZoneSpec } from "./shape.ts";

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
      createFrom: null,
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

/** A domain's name as written → lower-case ASCII without a final dot; with a problem it is good for messages only. */
export function readDomainName(written: string): { readonly name: string; readonly problem: NameProblem | null } {
  const ascii = toAscii(written)?.replace(/\.$/, "") ?? null;
  const problem = ascii === null || ascii === "" ? "not-ascii" : nameProblem(ascii, true);
  const name = ascii ?? written.toLowerCase();
  if (problem === null) return { name, problem };
  const detail =
    problem === "long-name" || problem === "long-label"
      ? "A domain has at most 253 characters, and at most 63 between two dots (RFC 1035)."
      : `\`${written}\` is not a domain name: labels of letters, digits and hyphens, joined by dots (RFC 1035).`;
  const fix = "Write the name alone, without a scheme, path or wildcard; for example: example.com.";
  return { name, problem: { code: "bad-domain", summary: "bad domain name", detail, fix } };
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
    if (entries[0] !== undefined) context.error(recordsOnSlave(entries[0], context));
    return null;
  }
  const records = entries.flatMap((record) => loadRecord(record, context));
  checkRecords(records, ignore, context.span(entry, "domain"), context);
  return records;
}

function recordsOnSlave(first: JsonObject, context: ZoneContext): Omit<Diagnostic, "severity" | "address"> {
  return {
    code: "records-on-slave",
    summary: "a slave domain has no records of its own",
    detail: `${context.zone} is of type slave: its records are copied from its masters and cannot be written.`,
    fix: "Remove `records` and `use`, or make the domain a master.",
    span: context.span(first),
  };
}
