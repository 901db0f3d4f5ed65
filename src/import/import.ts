/** `tenon import`: turns a source into the files of a project, or reports every reason why it cannot. */

import type { Failure, ReadApi } from "../model/api.ts";
import { type Diagnostic, hasErrors } from "../model/diagnostic.ts";
import type { Address, JsonObject } from "../model/resource.ts";
import type { ReadWatch, Unit } from "../model/unit.ts";
import { countImported, type Import, type ImportedCount, notMissed } from "./collect.ts";
import { importDnscontrol } from "./dnscontrol.ts";
import { type Existing, withoutDeclared } from "./into.ts";
import { importLive, type LiveRequest, type Selection } from "./live.ts";
import { importOctodns } from "./octodns.ts";
import { filesInto, type ProjectFile, projectFiles } from "./project.ts";
import { importTerraform } from "./terraform.ts";
import { type ForeignRequest, importZoneFiles } from "./zone-files.ts";

export type ImportSource =
  | {
      readonly from: "live";
      readonly api: ReadApi;
      readonly selection: Selection;
      /** Imports the objects that carry this owner's tag; null: those that carry none. */
      readonly owner: string | null;
      readonly watch: ReadWatch;
    }
  | {
      readonly from: "terraform";
      readonly paths: readonly string[];
      readonly selection: Selection;
      /** As of a live account. */
      readonly owner: string | null;
    }
  | {
      readonly from: "dnscontrol";
      readonly paths: readonly string[];
      /** Globs of names, with a tag (`example.com!inside`) or without; none: all. */
      readonly domains: readonly string[];
      /** As of zone files. */
      readonly soaEmail: string | null;
      readonly owner: string | null;
    }
  | {
      readonly from: "zone" | "octodns";
      readonly paths: readonly string[];
      /** The zone of the file, if one file is imported and --domain names it; null: as the file says. */
      readonly domain: string | null;
      /** The SOA address for zones whose source names none; null: none was given. */
      readonly soaEmail: string | null;
      /** The owner of the project; null: none. */
      readonly owner: string | null;
    };

export interface RunRequest {
  readonly source: ImportSource;
  readonly units: readonly Unit[];
  readonly violationsOf: LiveRequest["violationsOf"];
  /** Seconds that the service keeps as they are, ascending, without 0. */
  readonly allowedSeconds: readonly number[];
  readonly split: boolean;
  /** Records that the service cannot hold are left out, not an error. */
  readonly skipUnsupported: boolean;
  /** The project that the files are added to. Absent: a new one. */
  readonly into?: Into;
}

export interface Into {
  /** Absolute path of the project's folder. */
  readonly folder: string;
  readonly existing: Existing;
  /** The manifest to which everything is added. Absent: new files are made. */
  readonly target?: ManifestText;
}

/** A manifest of a project, as it was read. */
export interface ManifestText {
  /** Relative to the project's folder, forward slashes. */
  readonly file: string;
  readonly text: string;
  readonly tree: JsonObject;
}

export type ImportResult =
  | ({
      readonly ok: true;
      readonly files: readonly ProjectFile[];
      readonly counts: readonly ImportedCount[];
      readonly already: readonly Address[];
    } & Import)
  /** `imported` is null if the account could not be read. */
  | { readonly ok: false; readonly imported: Import }
  | { readonly ok: false; readonly imported: null; readonly what: string; readonly failure: Failure };

/** Writes nothing. */
export async function runImport(request: RunRequest): Promise<ImportResult> {
  const read = await readFrom(request);
  if ("failure" in read) return { ok: false, imported: null, what: read.what, failure: read.failure };
  const { into, units } = request;
  const undeclared = into === undefined ? null : withoutDeclared(read.taken, into.existing, units);
  const { taken } = undeclared ?? read;
  const already = [...(read.already ?? []), ...(undeclared?.already ?? [])].sort();
  const missed = request.skipUnsupported ? 0 : read.skipped.filter((one) => notMissed(one) === null).length;
  const isEmpty = taken.domains.length === 0 && Object.keys(taken.others).length === 0;
  const diagnostics = [
    ...read.diagnostics,
    ...(missed === 0 ? [] : [unsupported(missed)]),
    ...(isEmpty && already.length === 0 && !hasErrors(read.diagnostics) ? [nothingTaken()] : []),
  ];
  const imported = { ...read, taken, diagnostics };
  if (hasErrors(diagnostics)) return { ok: false, imported };
  const files = isEmpty ? [] : await filesOf(taken, request);
  if (files === null) return { ok: false, imported: { ...imported, diagnostics: [...diagnostics, onlyByHand(into)] } };
  return { ...imported, ok: true, files, counts: countImported(taken, units), already };
}

/** null: the manifest that is to have it all is written in a way in which only a person can extend it. */
async function filesOf(
  taken: Import["taken"],
  { into, units, split }: RunRequest,
): Promise<readonly ProjectFile[] | null> {
  if (into === undefined) return projectFiles(taken, units, { split, lifts: true });
  const { folder, existing, target } = into;
  if (target === undefined) return filesInto(folder, taken, units, { split, existing });
  const { entriesInto } = await import("./into-file.ts");
  const text = await entriesInto(target, taken, units, existing);
  return text === null ? null : [{ file: target.file, text }];
}

function onlyByHand(into: Into | undefined): Diagnostic {
  return {
    code: "file-unwritable",
    severity: "error",
    summary: `${into?.target?.file} is written in a way that only a person can extend`,
    detail:
      "Nothing was written. Entries are put behind those of a list that has a line for each, or behind the last section.",
    fix: "Run tenon fmt on it first, or give --into the folder of the project: then a new file is written.",
  };
}

type Read = Import | { readonly what: string; readonly failure: Failure };

async function readFrom({ source, units, allowedSeconds, violationsOf, into }: RunRequest): Promise<Read> {
  const declared = into === undefined ? {} : { declared: into.existing.declared };
  if (source.from === "live") {
    const { api, selection, owner, watch } = source;
    const request = { api, units, selection, owner, allowedSeconds, violationsOf, watch, ...declared };
    const { ok: _, ...read } = await importLive(request);
    return read;
  }
  if (source.from === "terraform") {
    const { paths, selection, owner } = source;
    return importTerraform({ paths, units, selection, owner, allowedSeconds, violationsOf, ...declared });
  }
  if (source.from === "dnscontrol") {
    const { paths, domains, soaEmail, owner } = source;
    const read = await importDnscontrol({ paths, domains, soaEmail, unit: zoneUnit(units), allowedSeconds });
    return { ...read, taken: { ...read.taken, owner } };
  }
  const { paths, domain, soaEmail, owner } = source;
  const request: ForeignRequest = { paths, domain, soaEmail, unit: zoneUnit(units), allowedSeconds };
  const read = await (source.from === "zone" ? importZoneFiles(request) : importOctodns(request));
  return { ...read, taken: { ...read.taken, owner } };
}

export function zoneUnit(units: readonly Unit[]): Unit {
  return units.find(({ name }) => name === "zone") as Unit;
}

function unsupported(count: number): Diagnostic {
  const what = count === 1 ? "a record cannot" : `${count} records cannot`;
  return {
    code: "unsupported-records",
    severity: "error",
    summary: `${what} be held by the service`,
    detail: "They are listed above; nothing was written.",
    fix: "Give --skip-unsupported to leave them out.",
  };
}

function nothingTaken(): Diagnostic {
  return {
    code: "nothing-to-import",
    severity: "error",
    summary: "there is nothing to import",
    detail: "No domain, VPC or image was taken.",
    fix: "Check what was asked for.",
  };
}
