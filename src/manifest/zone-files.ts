/** Zone files that domains name. A file is loaded only from inside the project and only once; it is parsed anew for each domain. */

import { dirname, posix } from "node:path";
import { nameProblem } from "../dns/name.ts";
import {
  SIGNING_TYPES,
  type SkippedRecord,
  type SourceRecord,
  ZONE_FILE_APEX_NS_CODE,
  ZONE_FILE_SIGNING_CODE,
  ZONE_FILE_SOA_CODE,
  ZONE_FILE_UNSUPPORTED_CODE,
} from "../dns/record.ts";
import { TOO_MANY_RECORDS_CODE } from "../dns/zone-file/accept.ts";
import { MAX_RECORDS } from "../dns/zone-file/lexer.ts";
import { type IncludedFile, readZoneFile, type ZoneFileReading } from "../dns/zone-file/read.ts";
import type { Diagnostic, Sources, Span } from "../model/diagnostic.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import {
  type Budget,
  explainRecordLimit,
  MAX_FILE_BYTES,
  MAX_PROJECT_BYTES,
  MAX_ZONE_FILE_OCTETS,
  recordLimit,
} from "./limits.ts";
import type { Places } from "./positions.ts";
import { fileProblem, ON_DISK, type ProjectFiles, resolveInside } from "./read.ts";
import { identity, type LayerRecord, objectAt } from "./record-sets.ts";

export interface ZoneFilesOptions {
  /** Real path of the project folder. */
  readonly root: string;
  /** Where to read them; default: on the disk. */
  readonly files?: ProjectFiles;
  readonly sources: Sources;
  readonly places: Places;
  /** --skip-unsupported: a record that the service cannot hold is a warning, not an error. */
  readonly skipUnsupported: boolean;
  /** Codes of rules that the project switches off. */
  readonly lintOff: readonly string[];
  readonly budget: Budget;
  report(diagnostic: Diagnostic): void;
}

type Text =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: Omit<Diagnostic, "severity"> & { readonly fix: string } };

export class ZoneFiles {
  readonly #options: ZoneFilesOptions;
  /** By path: many domains may name one file, and many files may include it. */
  readonly #texts: Map<string, Promise<Text>> = new Map();
  #characters = 0;
  /** Records of all zone files, counted for each domain that a file is parsed for. Skipped and duplicate records count, too. */
  #recordCount = 0;
  #octets = 0;

  constructor(options: ZoneFilesOptions) {
    this.#options = options;
  }

  /**
   * The records of the file that a domain names. Errors and skipped records are reported by line.
   * @param domain the domain's entry; its `zone_file` is a string, the path
   * @param zone lower-case ASCII without a final dot
   * @param stated the records that the manifest has for the domain
   * @param sharing how many domains, this one included, the same manifest entry declares with this file
   */
  async records(
    domain: JsonObject,
    zone: string,
    stated: readonly LayerRecord[],
    sharing: number,
  ): Promise<readonly SourceRecord[]> {
    // The zone unit reports an invalid name, and a slave domain, which has no records of its own.
    if (zone === "" || nameProblem(zone, true) !== null || domain["type"] === "slave") return [];
    const file = posix.normalize(String(domain["zone_file"]));
    const { places, report } = this.#options;
    if (this.#isFull()) return [];
    const text = await this.#read(file);
    if (!text.ok) {
      report({ span: places.span(domain, "zone_file"), ...text.problem, severity: "error" });
      return [];
    }
    const include = (path: string, from: string): Promise<IncludedFile> => this.#include(path, from);
    const reading = await readZoneFile(text.text, { zone, file, include });
    // All domains of one entry read the same file, so the first of them shows what all of them will add.
    this.#recordCount = Math.max(this.#recordCount + reading.entryCount, reading.entryCount * sharing);
    this.#options.budget.noteRead(reading.octets);
    this.#octets = Math.max(this.#octets + reading.octets, reading.octets * sharing);
    if (this.#isFull()) {
      const limit = recordLimit(this.#options.sources);
      const problem = this.#recordCount > limit ? tooManyRecords(limit) : tooMuchText();
      report({ ...problem, span: places.span(domain, "zone_file") });
      return [];
    }
    for (const diagnostic of reading.diagnostics) report(diagnostic);
    const hasApexNs = stated.some((record) => identity(record, zone) === "NS ");
    this.#reportSkipped(reading, [...listedCodes(domain), ...(hasApexNs ? [ZONE_FILE_APEX_NS_CODE] : [])]);
    const isTooMany = reading.diagnostics.some(({ code }) => code === TOO_MANY_RECORDS_CODE);
    // The excess has been reported at its line. Only so many records are returned that, with the stated ones, the domain stays within its
    // limit: it would be reported a second time otherwise.
    const most = isTooMany ? Math.max(0, MAX_RECORDS - stated.length) : MAX_RECORDS;
    return reading.records.slice(0, most);
  }

  #isFull(): boolean {
    return this.#recordCount > recordLimit(this.#options.sources) || this.#octets > MAX_ZONE_FILE_OCTETS;
  }

  #read(file: string): Promise<Text> {
    const known = this.#texts.get(file) ?? this.#open(file);
    this.#texts.set(file, known);
    return known;
  }

  async #open(file: string): Promise<Text> {
    const fix = "Name a file inside the project folder.";
    const { root, files = ON_DISK } = this.#options;
    const resolved = await resolveInside(root, file, files);
    if (!resolved.ok) return { ok: false, problem: { ...fileProblem(file, resolved.problem), fix } };
    const read = await files.read(resolved.path);
    if (!read.ok) {
      const problem =
        read.problem === "too-large" ? tooLarge(file, read.size) : { ...fileProblem(file, read.problem), fix };
      return { ok: false, problem };
    }
    const { text, badOffset } = read;
    this.#characters += text.length;
    if (this.#characters > MAX_PROJECT_BYTES) return { ok: false, problem: allTooLarge(file) };
    this.#options.sources.add(file, text);
    return badOffset === null ? { ok: true, text } : { ok: false, problem: notUtf8(file, badOffset) };
  }

  /** `$INCLUDE path` in the file `from`. */
  async #include(path: string, from: string): Promise<IncludedFile> {
    const file = path.startsWith("/") ? path : posix.normalize(posix.join(dirname(from), path));
    const read = await this.#read(file);
    if (read.ok) return { ok: true, file, text: read.text };
    const { summary, detail, span } = read.problem;
    const clause = span === undefined ? detail : `${summary}: see ${file}, ${this.#where(span)}`;
    return { ok: false, detail: clause.replace(/\.$/, "") };
  }

  #where(span: Span): string {
    const { line, column } = this.#options.sources.position(span.file, span.start);
    return `line ${line}, column ${column}`;
  }

  /** @param unreported codes that are not reported for this domain */
  #reportSkipped(reading: ZoneFileReading, unreported: readonly Json[]): void {
    const off = new Set([...this.#options.lintOff, ...unreported]);
    for (const record of reading.skipped) {
      const diagnostic = skippedDiagnostic(record, this.#options.skipUnsupported);
      if (!off.has(diagnostic.code) || diagnostic.code === ZONE_FILE_UNSUPPORTED_CODE) this.#options.report(diagnostic);
    }
  }
}

function skippedDiagnostic({ reason, type, name, detail, span }: SkippedRecord, skip: boolean): Diagnostic {
  const owner = name === "" ? "at the apex" : `at ${name}`;
  switch (reason) {
    case "soa": {
      const fix = "Remove it, or say so: `lint: { off: [zone-file-soa] }` at the domain.";
      return {
        code: ZONE_FILE_SOA_CODE,
        severity: "warning",
        summary: "the SOA record is not taken over",
        detail,
        fix,
        span,
      };
    }
    case "apex-ns": {
      const fix = "Declare name servers under `records` to manage them, or add `lint: { off: [zone-file-apex-ns] }`.";
      const summary = "an NS record at the apex is not taken over";
      return { code: ZONE_FILE_APEX_NS_CODE, severity: "warning", summary, detail, fix, span };
    }
    case "unsupported-type":
    case "not-holdable": {
      if (SIGNING_TYPES.has(type)) return signingDiagnostic(type, owner, span);
      const summary = `${skip ? "skipped" : "cannot be kept"}: ${type} ${owner}`;
      const fix = skip
        ? "Remove it from the file if nobody needs it."
        : "Remove it, or leave such records out: --skip-unsupported.";
      return { code: ZONE_FILE_UNSUPPORTED_CODE, severity: skip ? "warning" : "error", summary, detail, fix, span };
    }
  }
}

function signingDiagnostic(type: string, owner: string, span: Span): Diagnostic {
  return {
    code: ZONE_FILE_SIGNING_CODE,
    severity: "warning",
    summary: `the ${type} record ${owner} is not taken over`,
    detail: "It was made by whoever signed the zone, and is worth nothing without the keys.",
    fix: "Name the file that is not signed, or say so: `lint: { off: [zone-file-signing] }` at the domain.",
    span,
  };
}

function listedCodes(domain: JsonObject): readonly Json[] {
  const off = objectAt(domain, "lint")["off"];
  return Array.isArray(off) ? off : [];
}

function tooLarge(file: string, bytes: number): Extract<Text, { ok: false }>["problem"] {
  const detail = `It has ${(bytes / 1024 ** 2).toFixed(1)} MiB; a zone file may have ${MAX_FILE_BYTES / 1024 ** 2}.`;
  return { code: "file-too-large", summary: `${file} is too large`, detail, fix: "Divide the zone." };
}

function tooManyRecords(limit: number): Diagnostic {
  const detail = `Those of all zone files count for each domain that names them. ${explainRecordLimit(limit)}`;
  return {
    code: "too-many-records",
    severity: "error",
    summary: "too many records in zone files",
    detail,
    fix: "Divide the project.",
  };
}

function tooMuchText(): Diagnostic {
  const detail = `A zone file is read for each domain that names it, with all that it includes and generates. All that is to be read may have ${MAX_ZONE_FILE_OCTETS / 1024 ** 2} MiB; the rest is not checked.`;
  return {
    code: "project-too-large",
    severity: "error",
    summary: "too much text in zone files",
    detail,
    fix: "Let fewer domains share a long file, or put what they share under `record_sets`.",
  };
}

function allTooLarge(file: string): Extract<Text, { ok: false }>["problem"] {
  const summary = "the zone files of the project are too large together";
  const detail = `With ${file} they have more than ${MAX_PROJECT_BYTES / 1024 ** 2} MiB.`;
  return { code: "project-too-large", summary, detail, fix: "Divide the project." };
}

function notUtf8(file: string, offset: number): Extract<Text, { ok: false }>["problem"] {
  const detail = "Here is a byte that is no part of a UTF-8 text.";
  const span = { file, start: offset, end: offset + 1 };
  return { code: "not-utf8", summary: "the file is not UTF-8", detail, fix: "Save the file as UTF-8.", span };
}
