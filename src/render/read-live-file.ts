/** Reads a snapshot back, and says by name what is wrong with one that cannot be used. */

import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import { isJsonObject } from "../model/resource.ts";
import type { Snapshot, UnreadList } from "../model/snapshot.ts";
import { LIVE_FORMAT_VERSION, LIVE_KIND, LIVE_SCHEMA } from "./live-file.ts";
import { damaged, newer, parseSavedJson, type SavedKind, schemaProblems } from "./saved-file.ts";

const KIND: SavedKind = { noun: "snapshot", code: "live-file", command: "tenon live --out FILE" };

export type LiveFileResult =
  | { readonly ok: true; readonly snapshot: Snapshot }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** As the schema describes it. */
interface LiveFile {
  readonly read_at: string;
  /** Absent in files of version 1. */
  readonly served_at?: string | null;
  readonly host: string;
  readonly dialect: string;
  readonly account: string | null;
  readonly lists: Readonly<Record<string, readonly JsonObject[]>>;
  readonly unread: readonly UnreadList[];
}

/**
 * @returns the snapshot, or a diagnostic: `live-file-truncated`, `live-file-damaged`, `live-file-newer` or `live-file-foreign`
 * @throws if the schema that is shipped with the package cannot be read
 */
export async function parseLiveFile(text: string): Promise<LiveFileResult> {
  const parsed = parseSavedJson(text, KIND);
  if (!parsed.ok) return parsed;
  const foreign = recogniseOthers(parsed.value);
  if (foreign !== null) return { ok: false, diagnostic: foreign };
  const misfits = await schemaProblems(parsed.value, LIVE_SCHEMA);
  const problems = misfits.length > 0 ? misfits : contradictions(parsed.value as unknown as LiveFile);
  if (problems.length > 0) return { ok: false, diagnostic: damaged(KIND, problems) };
  const { read_at, served_at = null, host, dialect, account, lists, unread } = parsed.value as unknown as LiveFile;
  return {
    ok: true,
    snapshot: {
      ...{ readAt: read_at, servedAt: served_at, host, dialect, account, unread },
      lists: new Map(Object.entries(lists)),
    },
  };
}

function recogniseOthers(value: Json): Diagnostic | null {
  if (!isJsonObject(value)) return null;
  const version = value["format_version"];
  if (value["kind"] === LIVE_KIND) {
    if (typeof version !== "number" || version <= LIVE_FORMAT_VERSION) return null;
    return newer(KIND, version, LIVE_FORMAT_VERSION, "Use the same version of tenon for live and plan.");
  }
  const isPlan = value["resource_changes"] !== undefined;
  return {
    code: "live-file-foreign",
    severity: "error",
    summary: isPlan ? "the file is a plan, not a snapshot of an account" : "the file is no snapshot of an account",
    detail: `A snapshot says "kind": "${LIVE_KIND}".`,
    fix: `Write one with ${KIND.command}.`,
  };
}

/** What no schema can say. */
function contradictions({ read_at, served_at = null, lists }: LiveFile): string[] {
  const problems = Number.isNaN(Date.parse(read_at)) ? ["/read_at is no time"] : [];
  if (served_at !== null && Number.isNaN(Date.parse(served_at))) problems.push("/served_at is no time");
  for (const [path, items] of Object.entries(lists)) {
    const seen = new Set<Json>();
    for (const { id } of items) {
      if (id === undefined) continue;
      if (seen.has(id)) problems.push(`/lists/${path} holds the id ${String(id)} twice`);
      seen.add(id);
    }
  }
  return problems;
}
