/** Format (`tenon/format`): formats manifests, writes a desired state as one manifest, and exports zones as master files. */

import { type LoadOptions, type ManifestsResult, readManifests } from "../manifest/load.ts";
import type { Failure, ReadApi } from "../model/api.ts";
import type { Desired } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { units } from "../units/index.ts";
import {
  type ExportedZone,
  type ExportOptions,
  exportZone,
  readZone,
  selectZones,
  unknownZone,
  zoneNameOf,
} from "../units/zone/export.ts";
import { reformat } from "./reformat.ts";
import { renderDesired as render } from "./write.ts";

export type { ManifestFile, ManifestsResult } from "../manifest/load.ts";
export type { ExportedZone, ExportOptions } from "../units/zone/export.ts";

/** One manifest that has this desired state, newline-terminated. */
export function renderDesired(desired: Desired, format: "text" | "json"): Promise<string> {
  return render(desired, units, format);
}

export interface FormattedFile {
  /** Relative to the project, forward slashes. */
  readonly file: string;
  /** Real path. */
  readonly path: string;
  readonly text: string;
}

export interface FormatResult extends Pick<ManifestsResult, "fault" | "diagnostics" | "sources"> {
  /** The files whose formatted text differs, in the order of the files; null if a manifest has errors. */
  readonly differing: readonly FormattedFile[] | null;
}

/** Writes nothing. Variables are resolved only for the names under `files:`. */
export async function formatProject(options: LoadOptions): Promise<FormatResult> {
  const { manifests, fault, diagnostics, sources } = await readManifests(options);
  if (manifests === null) return { differing: null, fault, diagnostics, sources };
  const differing: FormattedFile[] = [];
  const found: Diagnostic[] = [];
  for (const { file, path } of manifests) {
    const text = sources.text(file) ?? "";
    const formatted = await reformat(text, units);
    if (!formatted.ok) found.push(leftAsItIs(file, formatted.loses));
    else if (formatted.text !== text) differing.push({ file, path, text: formatted.text });
  }
  return { differing, fault, diagnostics: [...diagnostics, ...found], sources };
}

function leftAsItIs(file: string, loses: "comment" | "value"): Diagnostic {
  const what =
    loses === "comment" ? "A comment stands where it would be lost." : "A value would not come out the same.";
  return {
    code: "not-formatted",
    severity: "warning",
    summary: `${file} is left as it is`,
    detail: what,
    fix: "Move comments to a line of their own, or to the end of an entry.",
    span: { file, start: 0, end: 0 },
  };
}

// Zones as master files.

export type NameserversResult =
  | { readonly ok: true; readonly names: readonly string[] }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** Names of servers as they go into an export: in lower-case ASCII, without a final dot. */
export function readNameservers(texts: readonly string[]): NameserversResult {
  const names: string[] = [];
  for (const text of texts) {
    const name = zoneNameOf(text);
    if (name === null) {
      const detail = `\`${text}\` is not the name of a host.`;
      const summary = "a name server has no name";
      return { ok: false, diagnostic: { code: "nameserver-invalid", severity: "error", summary, detail } };
    }
    names.push(name);
  }
  return { ok: true, names };
}

export type ZoneExport =
  | { readonly ok: true; readonly exported: ExportedZone }
  | { readonly ok: false; readonly diagnostic: Diagnostic }
  /** `what` could not be read. */
  | { readonly ok: false; readonly what: string; readonly failure: Failure };

/** Exports the live zone, read by list calls and from the zone file that the service renders. */
export async function exportLive(
  api: ReadApi,
  name: string,
  options: ExportOptions,
  signal?: AbortSignal,
): Promise<ZoneExport> {
  const zone = zoneNameOf(name);
  if (zone === null) return { ok: false, diagnostic: unknownZone(name, "It is not the name of a domain.") };
  const read = await readZone(api, zone, signal);
  if (!read.ok) return read;
  if (read.source === null) return { ok: false, diagnostic: unknownZone(name, "The account has no such domain.") };
  return exported(read.source, options, read.notes);
}

/** Exports the zone as it is declared. */
export function exportDeclared(desired: Desired, name: string, options: ExportOptions): ZoneExport {
  const selected = selectZones(desired, [name]);
  if (!selected.ok) return selected;
  const [declared] = selected.zones;
  if (declared === undefined) throw new Error("a zone was selected, and is not there");
  if (declared.records === null && declared.fields["type"] !== "slave") {
    const detail = `The records of ${name} are not managed: the manifest does not say what they are.`;
    return {
      ok: false,
      diagnostic: {
        code: "records-not-managed",
        severity: "error",
        summary: "there is nothing to export",
        detail,
        fix: "Export the live zone: leave --from-manifest out.",
      },
    };
  }
  if (declared.isPart) {
    const detail = `Of ${name} the manifest declares a part only, and no zone file can be that.`;
    return {
      ok: false,
      diagnostic: {
        code: "part-of-zone",
        severity: "error",
        summary: "only a part of the zone is declared",
        detail,
        fix: "Export the live zone: leave --from-manifest out.",
      },
    };
  }
  const { zone, fields, records } = declared;
  return exported({ zone, fields, records: records ?? [], rendered: [] }, options, []);
}

function exported(
  source: Parameters<typeof exportZone>[0],
  options: ExportOptions,
  notes: readonly Diagnostic[],
): ZoneExport {
  if (source.fields["type"] === "slave") {
    const detail = `${source.zone} is a copy of its master's zone: its records are not kept by the service.`;
    return {
      ok: false,
      diagnostic: { code: "zone-is-slave", severity: "error", summary: "there is nothing to export", detail },
    };
  }
  const result = exportZone(source, options);
  return { ok: true, exported: { ...result, notes: [...notes, ...result.notes] } };
}
