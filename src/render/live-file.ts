/** The snapshot as a file: the same lists always give the same bytes, one object a line. */

import { readFile } from "node:fs/promises";
import { jsonText } from "../model/json-text.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import { isJsonObject } from "../model/resource.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { sortKeys } from "./view.ts";

export const LIVE_KIND = "tenon-live";
/** A reader refuses a file of a higher one. */
export const LIVE_FORMAT_VERSION = 2;
/** The same relative to src/render and to dist/render. */
export const LIVE_SCHEMA: URL = new URL("../../schemas/live.schema.json", import.meta.url);

/**
 * Newline-terminated. Of each object only the fields that the schema names are kept: whatever else a service says, it may be
 * meant for the token's holder alone.
 * @throws if the schema that is shipped with the package cannot be read
 */
export async function renderLiveFile(snapshot: Snapshot): Promise<string> {
  const schema = JSON.parse(await readFile(LIVE_SCHEMA, "utf8")) as JsonObject;
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

/** What of a value its schema names. A value of another type stays: it is told when the file is checked. */
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
