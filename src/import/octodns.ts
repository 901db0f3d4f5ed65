/** A folder of octoDNS (YamlProvider, split zones too) → the domains that declare its zones. */

import type { SetAside, SourceRecord } from "../dns/plain-record.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { Gathered } from "./gathered.ts";
import { OctodnsFiles, type OctodnsZone } from "./octodns-files.ts";
import { DEFAULT_TTL_SECONDS, readOctodns } from "./octodns-records.ts";
import { readYaml } from "./octodns-yaml.ts";
import { unreadable } from "./source-text.ts";
import type { Import } from "./taken.ts";
import type { ForeignRequest } from "./zone-files.ts";
import { zoneName } from "./zone-of.ts";

export async function importOctodns(request: ForeignRequest): Promise<Import> {
  const gathered = new Gathered(request);
  const yaml = await import("yaml");
  const files = new OctodnsFiles(gathered, yaml);
  for (const path of request.paths) await files.find(path);
  const asked = request.domain === null ? null : zoneName(request.domain);
  const zones = files.zones().filter(({ zone }) => request.domain === null || zone === asked);
  if (zones.length === 0 && !gathered.hasDiagnostics) gathered.report(noZones(request.paths));
  const reader = { files, gathered, parse: (text: string, file: string) => readYaml(text, file, yaml) };
  let withoutTtl = 0;
  for (const zone of zones) withoutTtl += await takeZone(zone, reader);
  if (withoutTtl > 0) gathered.report(defaultTtl(withoutTtl));
  return gathered.result();
}

interface ZoneReader {
  readonly files: OctodnsFiles;
  readonly gathered: Gathered;
  parse(text: string, file: string): ReturnType<typeof readYaml>;
}

/** @returns how many records have no TTL, of their own or by configuration */
async function takeZone({ zone, files }: OctodnsZone, reader: ZoneReader): Promise<number> {
  const { gathered } = reader;
  const records: SourceRecord[] = [];
  const setAside: SetAside[] = [];
  let withoutTtl = 0;
  for (const { path, defaultTtl } of files) {
    const source = await reader.files.text(path);
    const parsed = source.ok
      ? reader.parse(source.text, path)
      : { ok: false as const, diagnostics: [unreadable(path, source)] };
    if (!parsed.ok) {
      for (const diagnostic of parsed.diagnostics) gathered.report(diagnostic);
      continue;
    }
    const read = readOctodns(parsed.value, zone, defaultTtl ?? DEFAULT_TTL_SECONDS);
    for (const record of read.records) records.push(record);
    for (const one of read.setAside) setAside.push(one);
    for (const diagnostic of read.diagnostics) gathered.report(diagnostic);
    for (const remark of read.remarks) gathered.remark(remark);
    if (defaultTtl === null) withoutTtl += read.withoutTtl;
  }
  gathered.take({ zone, file: files[0]?.path ?? zone, named: null, records, setAside });
  return withoutTtl;
}

function defaultTtl(count: number): Diagnostic {
  return {
    code: "default-ttl",
    severity: "warning",
    summary: `${count === 1 ? "a record without a ttl gets" : `${count} records without a ttl get`} ${DEFAULT_TTL_SECONDS}, octoDNS's default`,
    detail: "No configuration with a `default_ttl` lies beside the zones.",
    fix: "If octoDNS's configuration sets one, name that file instead of the folder.",
  };
}

function noZones(paths: readonly string[]): Diagnostic {
  return {
    code: "no-zones",
    severity: "error",
    summary: `no zone is in ${paths.join(", ")}`,
    detail: "",
    fix: "Name the folder that holds ZONE.yaml files.",
  };
}
