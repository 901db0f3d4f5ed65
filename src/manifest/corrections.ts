/** What was most likely meant by a value of the wrong type, or by a key in the wrong place: for the fix of a violation. */

import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";

/** A longer value is not put into a suggestion. */
const MAX_SUGGESTED_CHARACTERS = 60;

interface WrongValue {
  readonly value: Json;
  /** The key that it stands under; of an entry of a list that of the list. */
  readonly key: string;
  readonly isEntry: boolean;
  /** Of what is wanted in its place. */
  readonly schema: JsonObject;
  /** The keys that may stand beside its own, with their schemas. */
  readonly siblings: JsonObject;
  /** The whole schema. */
  readonly manifest: JsonObject;
}

export interface SuggestedValue {
  /** A sentence. */
  readonly fix: string;
  /** What to write in place of the value, as YAML. */
  readonly replacement?: string;
  /** The key that the value belongs under. */
  readonly key?: string;
}

/** @returns null: nothing better than the type's name can be said */
export function suggestValue({ value, key, isEntry, schema, siblings, manifest }: WrongValue): SuggestedValue | null {
  const types = [schema["type"]].flat();
  if (Array.isArray(value)) {
    const plural = `${key}s`;
    const isPlural = !isEntry && types.includes("string") && isList(siblings[plural]);
    return isPlural ? { fix: `Did you mean \`${plural}\`?`, key: plural } : null;
  }
  if (isJsonObject(value)) return types.includes("array") ? suggestDashes(value, schema, manifest) : null;
  if (typeof value !== "string" && typeof value !== "number") return null;
  if (types.includes("integer") && typeof value === "string") return suggestNumber(value, key);
  if (String(value).length > MAX_SUGGESTED_CHARACTERS) return null;
  if (types.includes("array") && !isEntry) return suggestList(value, key, schema, siblings);
  const entry = types.includes("object") && isEntry ? suggestEntry(value, schema) : null;
  return entry === null ? null : { fix: entry };
}

function isList(schema: Json | undefined): boolean {
  return isJsonObject(schema) && [schema["type"]].flat().includes("array");
}

function suggestNumber(text: string, key: string): SuggestedValue | null {
  if (/^-?\d+$/.test(text)) return { fix: "Write it without quotes.", replacement: text };
  const seconds = key.endsWith("_sec") ? parseSeconds(text) : null;
  return seconds === null ? null : { fix: `Write ${seconds}: seconds, without a unit.`, replacement: String(seconds) };
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { w: 604_800, d: 86_400, h: 3_600, m: 60, s: 1 };

/** Words for the units, singular or plural. */
const UNIT_WORDS = /^(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$/;
const AMOUNT = /(\d{1,9})\s*([a-z]+)\s*/y;

/** `1h`, `1h30m`, `2 days` → seconds; null: no such time. */
function parseSeconds(text: string): number | null {
  const words = text.trim().toLowerCase();
  let seconds = 0;
  AMOUNT.lastIndex = 0;
  while (AMOUNT.lastIndex < words.length) {
    const [, count, unit = ""] = AMOUNT.exec(words) ?? [];
    if (count === undefined || !UNIT_WORDS.test(unit)) return null;
    seconds += Number(count) * (UNIT_SECONDS[unit.charAt(0)] ?? 0);
  }
  return seconds > 0 ? seconds : null;
}

function suggestList(
  value: string | number,
  key: string,
  schema: JsonObject,
  siblings: JsonObject,
): SuggestedValue | null {
  const items = isJsonObject(schema["items"]) ? schema["items"] : {};
  if (items["$ref"] !== undefined || [items["type"]].flat().includes("object")) return null;
  const singular = key.replace(/s$/, "");
  const alone = singular !== key && Object.hasOwn(siblings, singular) ? `, or \`${singular}: ${flow(value)}\`` : "";
  return { fix: `Write \`${key}: [${flow(value)}]\`${alone}.`, replacement: `[${flow(value)}]` };
}

/** The keys by which entries of lists are named. */
const NAMING_KEYS = ["name", "domain", "label"] as const;

/** A mapping where a list of mappings is wanted: one entry without its dash, or entries under their names as octoDNS has them. */
function suggestDashes(value: JsonObject, schema: JsonObject, manifest: JsonObject): SuggestedValue | null {
  const properties = resolveReference(schema["items"], manifest)?.["properties"];
  const [first] = Object.keys(value);
  if (!isJsonObject(properties) || first === undefined || first.length > MAX_SUGGESTED_CHARACTERS) return null;
  const own = value[first];
  const shown = typeof own === "string" && own.length <= MAX_SUGGESTED_CHARACTERS ? flow(own) : "…";
  if (Object.hasOwn(properties, first)) return { fix: `Begin the entry with a dash: \`- ${first}: ${shown}\`.` };
  const naming = NAMING_KEYS.find((key) => Object.hasOwn(properties, key));
  const fix = `Begin each entry with a dash, and write its name inside: \`- { ${naming}: ${flow(first)}, … }\`.`;
  return naming === undefined ? null : { fix };
}

/** `type:A` or `type = A`, which YAML takes for one word, as `type: A`; null: no key that is known is before it. */
export function withSpace(text: string, known: readonly string[]): string | null {
  const [, key, value] = /^([a-z_]+)(?::|[ \t]*=[ \t]*)([^\s:=].*)$/.exec(text) ?? [];
  if (key === undefined || value === undefined || !known.includes(key)) return null;
  return text.length > MAX_SUGGESTED_CHARACTERS ? `${key}: …` : `${key}: ${value}`;
}

/** The schema's own example, with the value where something of its shape stands. */
function suggestEntry(value: string | number, schema: JsonObject): string | null {
  const properties = isJsonObject(schema["properties"]) ? Object.keys(schema["properties"]) : [];
  const spaced = withSpace(String(value).replace(/\s.*/s, ""), properties);
  if (spaced !== null) return `Write a space behind the colon: \`${spaced}\`.`;
  const example = [schema["examples"]].flat()[0];
  if (!isJsonObject(example)) return null;
  const shape = shapeOf(value);
  const names = [...NAMING_KEYS, ...Object.keys(example)].filter((name) => Object.hasOwn(example, name));
  const fitting = names.find((name) => shapeOf(example[name] as Json) === shape);
  const entry = fitting === undefined ? example : { ...example, [fitting]: value };
  return `Write a mapping, for example \`${flow(entry)}\`.`;
}

function shapeOf(value: Json): string {
  if (typeof value !== "string") return typeof value;
  if (/^[\d.]+\/\d+$/.test(value)) return "range";
  if (/^[\d.]+$/.test(value)) return "address";
  return value.includes(".") ? "name" : "word";
}

/** Texts that YAML reads as they are, also within brackets. */
const PLAIN = /^[A-Za-z0-9_/][\w./*@-]*$/;

function flow(value: Json): string {
  if (typeof value === "string") return PLAIN.test(value) ? value : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => flow(item as Json)).join(", ")}]`;
  if (!isJsonObject(value)) return String(value);
  // An empty list would be taken to mean none.
  const entries = Object.entries(value).filter(([, item]) => !(Array.isArray(item) && item.length === 0));
  return `{ ${entries.map(([key, item]) => `${key}: ${flow(item as Json)}`).join(", ")} }`;
}

// A key that is known by another word.

/** What other tools call a key → the keys that may be meant, of which one has to be known where it stands. */
const WORDS_OF_OTHERS: Readonly<Record<string, readonly string[]>> = {
  ...{ value: ["target"], content: ["target"], data: ["target"], rdata: ["target"], points_to: ["target"] },
  ...{ values: ["targets"], addresses: ["targets"], exchange: ["target"] },
  ...{ cidr: ["ipv4"], cidr_block: ["ipv4"], ip_range: ["ipv4"], range: ["ipv4"], subnet: ["ipv4"] },
  ...{ preference: ["priority"], prio: ["priority"], record_type: ["type"], hostname: ["name"], host: ["name"] },
  ...{ email: ["soa_email"], admin: ["soa_email"], zone: ["domain"], name: ["domain", "label"] },
  ...{ location: ["region"], datacenter: ["region"], masters: ["master_ips"], minimum: ["ttl_sec"] },
};

/** @returns null: nothing that is known here has such a name elsewhere */
export function wordOfOthers(key: string, known: readonly string[]): string | null {
  const meant = Object.hasOwn(WORDS_OF_OTHERS, key) ? (WORDS_OF_OTHERS[key] ?? []) : [];
  return meant.find((one) => known.includes(one)) ?? null;
}

// A key that is known, but not where it stands.

/** Schema of a manifest → key → what has it, for example `region` → a VPC. */
const homes: WeakMap<JsonObject, ReadonlyMap<string, readonly string[]>> = new WeakMap();

/** @returns what has such a key, with its article and sorted; empty: nothing has */
export function homesOf(key: string, manifest: JsonObject): readonly string[] {
  const known = homes.get(manifest) ?? collectHomes(manifest);
  homes.set(manifest, known);
  return known.get(key) ?? [];
}

function collectHomes(manifest: JsonObject): Map<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  const visit = (schema: Json): void => {
    if (typeof schema !== "object" || schema === null) return;
    if (isJsonObject(schema) && isJsonObject(schema["properties"]) && typeof schema["title"] === "string") {
      const title = schema === manifest ? "the manifest itself" : withArticle(schema["title"]);
      for (const key of Object.keys(schema["properties"])) found.set(key, (found.get(key) ?? new Set()).add(title));
    }
    for (const part of Object.values(schema)) visit(part as Json);
  };
  visit(manifest);
  return new Map([...found].map(([key, titles]) => [key, [...titles].sort()]));
}

function withArticle(title: string): string {
  const word = /^[A-Z]{2}/.test(title) ? title : title.toLowerCase();
  return `${/^[aeiou]/.test(word) ? "an" : "a"} ${word}`;
}

// The schema of what a value stands in.

/** The keys that a mapping at this place may have, with their schemas; empty if the place is none that the schema knows. */
export function keysAt(path: readonly string[], manifest: JsonObject): JsonObject {
  let schema: Json | undefined = manifest;
  for (const part of path) {
    const here = resolveReference(schema, manifest);
    if (here === null) return {};
    const properties: JsonObject = isJsonObject(here["properties"]) ? here["properties"] : {};
    schema = Object.hasOwn(properties, part) ? properties[part] : (here["items"] ?? here["additionalProperties"]);
  }
  const properties = resolveReference(schema, manifest)?.["properties"];
  return isJsonObject(properties) ? properties : {};
}

function resolveReference(schema: Json | undefined, manifest: JsonObject): JsonObject | null {
  if (!isJsonObject(schema)) return null;
  const reference = schema["$ref"];
  if (typeof reference !== "string") return schema;
  const definitions = isJsonObject(manifest["$defs"]) ? manifest["$defs"] : {};
  return resolveReference(definitions[reference.slice("#/$defs/".length)], manifest);
}
