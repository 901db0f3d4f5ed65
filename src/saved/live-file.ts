/** Writes a snapshot as a file, and reads it back: the same lists always give the same bytes, one object a line. */

import { readPackageFile } from "../files/package-files.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Snapshot, UnreadList } from "../model/live.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";
import { jsonText } from "../model/text.ts";
import { sortKeys } from "../render/view.ts";
import { damaged, newer, parseSavedJson, type SavedKind, schemaProblems } from "./read-json.ts";

export const LIVE_KIND = "tenon-live";
/** A reader refuses a file of a higher version. */
const LIVE_FORMAT_VERSION = 2;
const LIVE_SCHEMA = "schemas/live.schema.json";

/**
 * Newline-terminated. Of each object only the fields that the schema names are kept: any other field of the service may be meant for the
 * token's holder alone.
 * @throws if the schema that is shipped with the package cannot be read
 */
export async function renderLiveFile(snapshot: Snapshot): Promise<string> {
  const schema = JSON.parse(readPackageFile(LIVE_SCHEMA)) as JsonObject;
  const { readAt, servedAt, host, dialect, account, lists, unread } = snapshot;
  const forms = formsOf(schema);
  const times = { read_at: readAt, served_at: servedAt };
  const head = { kind: LIVE_KIND, format_version: LIVE_FORMAT_VERSION, ...times, host, dialect, account };
  const parts = [
    ...Object.entries(head).map(([key, value]) => `${jsonText(key)}:${jsonText(value)}`),
    `"lists":${enclose(
      "{",
      [...lists].map(([path, items]) => listText(path, items, forms(path), schema)),
      "}",
    )}`,
    `"unread":${enclose(
      "[",
      unread.map((list) => jsonText(sortKeys(list as unknown as Json))),
      "]",
    )}`,
  ];
  return `{\n${parts.join(",\n")}\n}\n`;
}

function listText(path: string, items: readonly JsonObject[], form: Json | undefined, schema: JsonObject): string {
  const lines = items.map((item) => jsonText(sortKeys(pick(item, form, schema))));
  return `${jsonText(path)}:${enclose("[", lines, "]")}`;
}

function enclose(open: string, lines: readonly string[], close: string): string {
  return lines.length === 0 ? open + close : `${open}\n${lines.join(",\n")}\n${close}`;
}

/** The schema of the objects of a list, by its path. */
function formsOf(schema: JsonObject): (path: string) => Json | undefined {
  const lists = at(at(schema, "properties"), "lists");
  const properties = at(lists, "properties");
  const patterns = Object.entries(at(lists, "patternProperties")).map(
    ([pattern, form]) => [new RegExp(pattern, "u"), form] as const,
  );
  return (path) => {
    const form = at(properties, path)["items"];
    return form ?? at(patterns.find(([pattern]) => pattern.test(path))?.[1], "items");
  };
}

/** The part of a value that its schema names. A value of another type stays: the check of the file reports it. */
function pick(value: Json, form: Json | undefined, schema: JsonObject): Json {
  const resolved = resolve(form, schema);
  if (Array.isArray(value)) return value.map((item: Json) => pick(item, resolved["items"], schema));
  const named = resolved["properties"];
  if (!isJsonObject(value) || !isJsonObject(named)) return value;
  const kept = Object.entries(value).filter(([key]) => Object.hasOwn(named, key));
  return Object.fromEntries(kept.map(([key, item]) => [key, pick(item, named[key], schema)]));
}

function resolve(form: Json | undefined, schema: JsonObject): JsonObject {
  const reference = isJsonObject(form) ? form["$ref"] : undefined;
  if (typeof reference !== "string") return isJsonObject(form) ? form : {};
  return at(at(schema, "$defs"), reference.replace("#/$defs/", ""));
}

function at(value: Json | undefined, key: string): JsonObject {
  const inner = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return isJsonObject(inner) ? inner : {};
}

// Reading a snapshot back; a file that cannot be used has a diagnostic code for each cause.

const KIND: SavedKind = { noun: "snapshot", code: "live-file", command: "tenon live --out FILE" };

export type LiveFileResult =
  | { readonly ok: true; readonly snapshot: Snapshot }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** The file as its schema describes it. */
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

/** Problems that a schema cannot express. */
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
