/** Reads zone files from memory, and says where something is found in terms of lines and columns. */

import type { DnsRecord, SourceRecord } from "../../../src/dns/record.ts";
import { readZoneFile, type ZoneFileReading } from "../../../src/dns/zone-file/read.ts";
import type { Diagnostic, Span } from "../../../src/model/diagnostic.ts";

export type Files = Readonly<Record<string, string>>;

/** @param files what can be included, by path */
export async function read(text: string, zone = "example.com", files: Files = {}): Promise<ZoneFileReading> {
  return readZoneFile(text, {
    zone,
    file: "main.zone",
    include: async (path) => {
      const found = files[path];
      return found === undefined
        ? { ok: false, detail: "there is no such file" }
        : { ok: true, file: path, text: found };
    },
  });
}

/** What is read from lines in a zone with a TTL of an hour; anything wrong fails. */
export async function recordsOf(...lines: readonly string[]): Promise<DnsRecord[]> {
  const { records, diagnostics } = await read(["$TTL 1h", ...lines, ""].join("\n"));
  if (diagnostics.length > 0) throw new Error(JSON.stringify(diagnostics, null, 2));
  return records.map(plain);
}

/** What is set aside of lines: `type reason detail`. */
export async function asideOf(...lines: readonly string[]): Promise<string[]> {
  const { records, skipped, diagnostics } = await read(["$TTL 1h", ...lines, ""].join("\n"));
  if (diagnostics.length + records.length > 0) throw new Error(JSON.stringify([diagnostics, records], null, 2));
  return skipped.map(({ type, name, reason }) => `${type} ${name === "" ? "@" : name} ${reason}`);
}

/** What is wrong, one line each: `line:column code "the very text"`. */
export function problemsIn(text: string, diagnostics: readonly Diagnostic[], files: Files = {}): string[] {
  return diagnostics.map(({ code, span }) => {
    if (span === undefined) return code;
    const source = files[span.file] ?? text;
    const where = files[span.file] === undefined ? "" : `${span.file}:`;
    return `${where}${position(source, span)} ${code} ${JSON.stringify(source.slice(span.start, span.end))}`;
  });
}

export async function problemsOf(text: string): Promise<string[]> {
  return problemsIn(text, (await read(text)).diagnostics);
}

export function position(text: string, { start }: Span): string {
  const before = text.slice(0, start).split("\n");
  return `${before.length}:${(before.at(-1) ?? "").length + 1}`;
}

export function plain({ span: _, ...record }: SourceRecord): DnsRecord {
  return record;
}
