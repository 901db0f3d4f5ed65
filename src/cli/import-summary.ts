/** The summary of an import: the objects that were imported, and those that were left out. */

import type { ImportResult } from "../import/index.ts";
import type { Diagnostic, Sources, Span } from "../index.ts";
import { mapKey } from "../model/map-key.ts";
import { jsonText, shellWord } from "../model/text.ts";
import { escapeText, paragraph } from "../render/terminal.ts";

type Imported = Extract<ImportResult, { ok: true }>;
type SkippedRecord = Imported["skipped"][number];

/** Why nobody misses a skipped record; null: it is a loss. */
type NotMissed = (record: SkippedRecord) => "service" | "signing" | null;

/** Signing records are many, and all of them are left out: only this many ranges of lines are named for each type. */
const MAX_SIGNING_RANGES = 10;
/** From this many consecutive lines on, only the first and the last are named. */
const MIN_RANGE_LINES = 3;
/** Records that nobody misses are told by file and line of at most this many files, and of more in one sentence. */
const MAX_FILES_TOLD_APART = 10;
const MAX_FILES_NAMED = 3;

/** Everything that was not imported, with its lines: first, by file, what nobody misses, then each lost record. */
export function skippedLines(
  { skipped, elsewhere, remarks, sources }: Pick<Imported, "skipped" | "elsewhere" | "remarks" | "sources">,
  notMissed: NotMissed,
  width: number,
): string {
  const service = skipped.filter((one) => notMissed(one) === "service");
  const signing = skipped.filter((one) => notMissed(one) === "signing");
  const lost = skipped.filter((one) => notMissed(one) === null);
  const sentences = [
    ...remarkLines(remarks, sources),
    ...elsewhereLines(elsewhere, sources),
    ...typeLines(service, sources, Number.POSITIVE_INFINITY, ["belongs", "belong", "to the old service"]),
    ...typeLines(signing, sources, MAX_SIGNING_RANGES, ["comes", "come", "from the old service's signing"]),
    ...lost.map((one) => lossLine(one, sources)),
  ];
  return sentences.map((text) => paragraph(text, width)).join("");
}

/** `FILE: SOA (line 4) and NS (lines 7, 8) belong to the old service and are left out` */
function typeLines(
  skipped: readonly SkippedRecord[],
  sources: Sources,
  most: number,
  [one, several, why]: readonly [string, string, string],
): string[] {
  const byFile = grouped(skipped, ({ span }) => span.file);
  if (byFile.size > MAX_FILES_TOLD_APART) {
    const counts = [...grouped(skipped, ({ type }) => type)].map(
      ([type, { length }]) => `${length.toLocaleString("en")} ${type}`,
    );
    const named = [...byFile.keys()].slice(0, MAX_FILES_NAMED).join(", ");
    const files = `${byFile.size.toLocaleString("en")} files (${named} and ${(byFile.size - MAX_FILES_NAMED).toLocaleString("en")} more)`;
    return [`${files}: ${joined(counts)} ${several} ${why} and are left out`];
  }
  return [...byFile].map(([file, list]) => {
    const byType = [...grouped(list, ({ type }) => type)];
    const types = byType.map(([type, those]) => {
      const count = those.length > most ? `${those.length} ` : "";
      return `${count}${type} (${linesOf(those, sources, most)})`;
    });
    const isOne = list.length === 1;
    return `${file}: ${joined(types)} ${isOne ? one : several} ${why} and ${isOne ? "is" : "are"} left out`;
  });
}

/** Equal remarks about a file are one line. */
function remarkLines(remarks: Imported["remarks"], sources: Sources): string[] {
  const alike = grouped(remarks, ({ file, what, detail }) => mapKey(JSON.stringify([file, what, detail])));
  return [...alike.values()].map((list) => {
    const { file = "", what = "", detail = "" } = list[0] ?? {};
    const placed = list.flatMap(({ span }) => (span === null || what === "" ? [] : [{ span }]));
    const place = placed.length === 0 ? "" : ` (${linesOf(placed, sources, Number.POSITIVE_INFINITY)})`;
    return what === "" ? `${file} ${detail}` : `${file}: ${what}${place}: ${detail}`;
  });
}

/** `FILE: left out (data sources are only read): data.aws_ami.base (line 4) and data.aws_vpc.main (line 9)` */
function elsewhereLines(elsewhere: Imported["elsewhere"], sources: Sources): string[] {
  const alike = grouped(elsewhere, ({ span, detail }) => mapKey(JSON.stringify([span.file, detail])));
  return [...alike.values()].map((list) => {
    const { span, detail } = list[0] as (typeof list)[0];
    // What Terraform prints is one line.
    const hasLines = list.some((one) => sources.position(one.span.file, one.span.start).line > 1);
    const named = list.map((one) => (hasLines ? `${one.address} (${linesOf([one], sources, 1)})` : one.address));
    return `${span.file}: left out (${detail}): ${joined(named)}`;
  });
}

function lossLine({ type, name, detail, span }: SkippedRecord, sources: Sources): string {
  const { line } = sources.position(span.file, span.start);
  return `${span.file}:${line}: ${type} ${name === "" ? "@" : name}: not supported: ${detail}`;
}

/** `line 4`, `lines 7, 8, 10-20` */
function linesOf(placed: readonly { readonly span: Span }[], sources: Sources, most: number): string {
  const numbers = placed.map(({ span }) => sources.position(span.file, span.start).line);
  const lines = [...new Set(numbers)].sort((a, b) => a - b);
  const ranges = rangesOf(lines);
  const more = ranges.length > most ? ", …" : "";
  return `${lines.length === 1 ? "line" : "lines"} ${ranges.slice(0, most).join(", ")}${more}`;
}

/** @param lines ascending, each once */
function rangesOf(lines: readonly number[]): string[] {
  const ranges: string[] = [];
  let start = 0;
  for (let index = 1; index <= lines.length; index += 1) {
    if (lines[index] === (lines[index - 1] ?? 0) + 1) continue;
    const run = lines.slice(start, index);
    if (run.length >= MIN_RANGE_LINES) ranges.push(`${run[0]}-${run.at(-1)}`);
    else for (const line of run) ranges.push(String(line));
    start = index;
  }
  return ranges;
}

function joined(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

/** Groups in the order of their first items. */
function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** The version of schemas/import.schema.json. */
const IMPORT_FORMAT_VERSION = 1;

/** The same for programs: one document, newline-terminated. */
export function importJson(imported: Imported, out: string, notMissed: NotMissed): string {
  const leftOut = imported.skipped.map((record) => {
    const { type, name, detail, span } = record;
    const { line } = imported.sources.position(span.file, span.start);
    return { file: span.file, line, type, name, reason: notMissed(record) ?? "unsupported", detail };
  });
  const elsewhere = imported.elsewhere.map(({ type, address, detail, span }) => {
    const { line } = imported.sources.position(span.file, span.start);
    return {
      file: span.file,
      line,
      type,
      name: address,
      reason: "elsewhere",
      detail: `${detail[0]?.toUpperCase()}${detail.slice(1)}.`,
    };
  });
  const json = {
    format_version: IMPORT_FORMAT_VERSION,
    out,
    files: imported.files.map(({ file }) => file),
    imported: Object.fromEntries(imported.counts.map(({ list, count }) => [list, count])),
    already: imported.already,
    left_out: [...leftOut, ...elsewhere],
  };
  return `${jsonText(json, 2)}\n`;
}

/** @param manifest the one to which everything was added; absent: files were written */
export function importSummary(imported: Imported, out: string, manifest?: string): string {
  const { skipped, elsewhere, files, counts } = imported;
  const parts = counts.flatMap(({ count, words: [one, many] }) => (count === 0 ? [] : [counted(count, one, many)]));
  const what = [
    ...(skipped.length === 0 ? [] : [counted(skipped.length, "record", "records")]),
    ...(elsewhere.length === 0 ? [] : [counted(elsewhere.length, "object", "objects")]),
  ];
  const isOne = skipped.length + elsewhere.length === 1;
  const left = what.length === 0 ? "" : ` ${joined(what)} ${isOne ? "was" : "were"} left out; the messages say which.`;
  const place = escapeText(out);
  return [
    manifest === undefined
      ? `Imported ${parts.join(", ")} into ${place} (${counted(files.length, "file", "files")}).${left}\n`
      : `Imported ${parts.join(", ")} into ${escapeText(manifest)}.${left}\n`,
    `Next: tenon plan ${shellWord(place)}\n`,
  ].join("");
}

function counted(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** A warning of errors that were in the source, and are imported with its zones. */
export function refusedByValidate(linted: readonly Diagnostic[]): Diagnostic {
  const counts = new Map<string, number>();
  for (const { code } of linted) counts.set(code, (counts.get(code) ?? 0) + 1);
  const codes = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([code, count]) => `${code} (${count})`);
  return {
    code: "import-invalid",
    severity: "warning",
    summary: `validate refuses what was imported: ${codes.join(", ")}`,
    detail: "It was so where it comes from. It can be planned and applied as it is.",
    fix: "Run tenon validate to see the places; mend them, or switch a rule off with `lint: { off: [CODE] }`.",
  };
}
