/** Projects as lines of text: zones with their records, and marks where a rule has to speak. */

import type { RecordType } from "../../src/dns/record.ts";
import { lintZones } from "../../src/lint/lint.ts";
import type { LintRecord, LintZone } from "../../src/lint/rule.ts";
import { type Diagnostic, Sources } from "../../src/model/diagnostic.ts";
import { domainAddress } from "../../src/model/resource.ts";

export interface Project {
  readonly zones: readonly LintZone[];
  readonly sources: Sources;
  /** The lines that begin with `!`, without it. */
  readonly marked: readonly string[];
}

const FILE = "zones.txt";
const EXTRA: Readonly<Partial<Record<RecordType, readonly string[]>>> = {
  MX: ["priority"],
  SRV: ["priority", "weight", "port"],
  CAA: ["tag"],
};
const NAMED: readonly string[] = ["CNAME", "MX", "NS", "PTR", "SRV"];

/**
 * `zone NAME [ttl=SECONDS] [additive] [unmanaged] [slave] [disabled] [ignore=NAME/TYPE]`, and below it `[! ]NAME [TTL] TYPE [VALUES] TARGET`.
 * Targets that are names are relative without a final dot; text begins after the type.
 */
export function project(text: string): Project {
  const zones: LintZone[] = [];
  const marked: string[] = [];
  let records: LintRecord[] = [];
  let offset = 0;
  for (const written of text.split("\n")) {
    const line = written.replace(/^\s*(!\s*)?/, "");
    const span = { file: FILE, start: offset + written.length - line.length, end: offset + written.length };
    offset += written.length + 1;
    if (line === "") continue;
    if (written.trim().startsWith("!")) marked.push(line);
    if (line.startsWith("zone ")) {
      records = [];
      zones.push({ ...zoneOf(line, records), span });
    } else {
      records.push({ ...recordOf(line, zones.at(-1)?.zone ?? ""), span, lintOff: [] });
    }
  }
  const sources = new Sources();
  sources.add(FILE, text);
  return { zones, sources, marked };
}

function zoneOf(line: string, records: readonly LintRecord[]): Omit<LintZone, "span"> {
  const [, zone = "", ...words] = line.split(" ");
  const wordOf = (key: string): string | undefined =>
    words.find((word) => word.startsWith(`${key}=`))?.slice(key.length + 1);
  const [name = "", type = "*"] = (wordOf("ignore") ?? "").split("/");
  const ttl = wordOf("ttl");
  return {
    zone,
    address: domainAddress(zone),
    type: words.includes("slave") ? "slave" : "master",
    status: words.includes("disabled") ? "disabled" : "active",
    ttl_sec: ttl === undefined ? null : Number(ttl),
    records: words.includes("unmanaged") || words.includes("slave") ? null : records,
    policy: words.includes("additive") ? "additive" : "authoritative",
    ignore: name === "" ? [] : [{ name, type }],
    off: [],
  };
}

function recordOf(line: string, zone: string): Omit<LintRecord, "span" | "lintOff"> {
  const [, written = "", ttl, type = "", rest = ""] = /^(\S+) (?:(\d+) )?([A-Z]+) (.*)$/.exec(line) ?? [];
  const fields = EXTRA[type as RecordType] ?? [];
  const words = rest.split(" ");
  const extra = Object.fromEntries(
    fields.map((field, index) => [field, field === "tag" ? words[index] : Number(words[index])]),
  );
  const target = words.slice(fields.length).join(" ");
  return {
    type: type as RecordType,
    name: written === "@" ? "" : written.toLowerCase(),
    target: NAMED.includes(type) ? absolute(target, zone) : target,
    ttl_sec: Number(ttl ?? 0),
    ...extra,
  };
}

function absolute(name: string, zone: string): string {
  if (name === "@") return zone;
  return name.endsWith(".") ? name.slice(0, -1) : `${name}.${zone}`;
}

export function lint({ zones, sources }: Project, projectOff: readonly string[] = []): Diagnostic[] {
  return lintZones(zones, projectOff, sources);
}

/** The lines that a rule speaks of, in their order. */
export function linesOf(code: string, diagnostics: readonly Diagnostic[], { sources }: Project): string[] {
  return diagnostics
    .filter((diagnostic) => diagnostic.code === code)
    .map(({ span }) => span)
    .toSorted((a, b) => (a?.start ?? 0) - (b?.start ?? 0))
    .map((span) => sources.text(FILE)?.slice(span?.start, span?.end) ?? "");
}

/** The project with changed zones. */
export function withZones(given: Project, change: (zone: LintZone) => LintZone): Project {
  return { ...given, zones: given.zones.map(change) };
}

/** The project with changed records. */
export function withRecords(given: Project, change: (record: LintRecord) => LintRecord): Project {
  return withZones(given, (zone) => ({ ...zone, records: zone.records?.map(change) ?? null }));
}
