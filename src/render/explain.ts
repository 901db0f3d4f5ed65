/** What a field of a manifest is, from the schema: as data, as text for `tenon explain`, and as the tables of the reference page. */

import { isRecordType, rulesOf, type TargetFormat } from "../dns/record.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";
import { nearest, suggestion } from "../model/text.ts";
import { columnsOf, escapeText, hang, padded, wrap } from "./terminal.ts";

export interface Explanation {
  /** From the root of a manifest, with the names that the schema has: `domains.records.ttl_sec`. Empty: the manifest itself. */
  readonly path: string;
  readonly title: string;
  readonly description: string;
  /** In words: `text`, `list of subnets`. */
  readonly type: string;
  readonly required: boolean;
  /** Every value that it can have; empty: too many to be listed. */
  readonly values: readonly Json[];
  /** What it must keep to beside its type, in words. */
  readonly limits: readonly string[];
  /** Absent: it has none. */
  readonly default?: Json;
  /** As lines of YAML. */
  readonly examples: readonly string[];
  /** Of an object, or of the objects of a list. */
  readonly fields: readonly FieldSummary[];
}

export interface FieldSummary {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

export type Explained =
  | { readonly ok: true; readonly explanation: Explanation }
  /** `word` of the path is not known. */
  | { readonly ok: false; readonly word: string; readonly where: string; readonly suggestion: string };

/** @param path `domain.records.A`: names of fields, in the plural or not; a type of record, behind records */
export function explainField(schema: JsonObject, path: string): Explained {
  return explainPath(
    schema,
    path.split(".").filter((part) => part !== ""),
  );
}

/** @param words of a path: names may hold dots */
export function explainPath(schema: JsonObject, words: readonly string[]): Explained {
  let place: Place = { path: [], node: schema, required: false };
  for (const word of words) {
    const type = typeOfRecord(schema, place.node, word);
    if (type !== null) return { ok: true, explanation: explainRecord(schema, place, type) };
    const next = step(schema, place, word);
    if (next === null) {
      const isRoot = place.path.length === 0;
      const known = [...propertiesOf(schema, place.node).keys(), ...(isRoot ? defined(schema) : [])];
      return {
        ok: false,
        word,
        where: isRoot ? "a manifest" : place.path.join("."),
        suggestion: suggestField(word, known),
      };
    }
    place = next;
  }
  return { ok: true, explanation: explainPlace(schema, place) };
}

/** Lists go by the singular, too. */
function suggestField(word: string, known: readonly string[]): string {
  const singular = nearest(
    word,
    known.flatMap((name) => (name.endsWith("s") ? [name.slice(0, -1)] : [])),
  );
  const plain = suggestion(word, known);
  return singular === null || plain.startsWith("Did") ? plain : `Did you mean \`${singular}\`?`;
}

/** Of all fields. The lists of records within record sets and elsewhere are left out: `domains` has them. */
function allPaths(schema: JsonObject): string[] {
  const found: string[] = [];
  const look = (path: string, depth: number): void => {
    const explained = explainField(schema, path);
    if (!explained.ok || depth > MAX_DEPTH) return;
    for (const field of explained.explanation.fields) {
      if (field.name.startsWith("<")) continue;
      const below = path === "" ? field.name : `${path}.${field.name}`;
      found.push(below);
      look(below, depth + 1);
    }
  };
  look("", 0);
  return found;
}

/**
 * The fields that a short path can mean: `ttl` is each `ttl_sec`, `record.ttl` only those of records. Names are in the plural or not.
 * @returns paths that `explainField` knows
 */
export function fieldsCalled(schema: JsonObject, path: string): readonly Explanation[] {
  const words = path
    .toLowerCase()
    .split(".")
    .filter((part) => part !== "");
  const last = words.at(-1);
  if (last === undefined) return [];
  const paths = allPaths(schema).map((one) => one.split("."));
  const isCalled = (name: string, word: string): boolean => name === word || name === `${word}s`;
  const fits = (ends: (name: string) => boolean): readonly (readonly string[])[] =>
    paths.filter((one) => {
      const tail = one.slice(-words.length);
      return (
        tail.length === words.length &&
        tail.every((name, index) => (index === words.length - 1 ? ends(name) : isCalled(name, words[index] ?? "")))
      );
    });
  const exact = fits((name) => isCalled(name, last));
  const found = exact.length > 0 || last.length < 2 ? exact : fits((name) => name.split("_").includes(last));
  return found.flatMap((one) => {
    const explained = explainField(schema, one.join("."));
    return explained.ok ? [explained.explanation] : [];
  });
}

/** What several fields of one name are, a few lines each. */
export function renderFields(word: string, found: readonly Explanation[], width: number): string {
  const blocks = found.map(({ path, type, description }) =>
    [`${path}  <${type}>`, ...wrap(description, width, 2)].join("\n"),
  );
  const head = `${found.length} fields fit ${escapeText(word)}; tenon explain PATH shows all of one.`;
  return `${[wrap(head, width, 0).join("\n"), ...blocks].join("\n\n")}\n`;
}

/** The fields below a path, all levels: `path type`, a line each. */
export function fieldTree(schema: JsonObject, { path, fields }: Explanation, depth = 0): string[] {
  return fields.flatMap(({ name, type }) => {
    const below = explainField(schema, path === "" ? name : `${path}.${name}`);
    const line = `${"  ".repeat(depth)}${name}  <${type}>`;
    return [line, ...(below.ok && depth < MAX_DEPTH ? fieldTree(schema, below.explanation, depth + 1) : [])];
  });
}

/** Deeper than any manifest's fields lie. */
const MAX_DEPTH = 8;

interface Place {
  readonly path: readonly string[];
  readonly node: JsonObject;
  readonly required: boolean;
}

function object(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function resolve(schema: JsonObject, node: JsonObject): JsonObject {
  const { $ref } = node;
  if (typeof $ref !== "string") return node;
  const name = $ref.replace("#/$defs/", "");
  return { ...object(object(schema["$defs"])[name]), ...without(node, "$ref") };
}

function without(node: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(node).filter(([name]) => name !== key));
}

/** What its fields are of: an object itself, or the objects of a list. */
function holder(schema: JsonObject, node: JsonObject): JsonObject {
  const own = resolve(schema, node);
  if (own["properties"] !== undefined || own["items"] === undefined) return own;
  return resolve(schema, object(own["items"]));
}

function propertiesOf(schema: JsonObject, node: JsonObject): Map<string, JsonObject> {
  const entries = Object.entries(object(holder(schema, node)["properties"]));
  return new Map(entries.map(([name, field]) => [name, resolve(schema, object(field))]));
}

/** What a name that the schema does not know is within the object, as those of variables are; null: there is none. */
function named(schema: JsonObject, node: JsonObject): JsonObject | null {
  const { additionalProperties, patternProperties } = holder(schema, node);
  if (isJsonObject(additionalProperties)) return resolve(schema, additionalProperties);
  const pattern = Object.entries(object(patternProperties)).find(([key]) => key !== "^x-");
  return pattern === undefined ? null : resolve(schema, object(pattern[1]));
}

function defined(schema: JsonObject): string[] {
  return Object.keys(object(schema["$defs"]));
}

function step(schema: JsonObject, { path, node }: Place, word: string): Place | null {
  const properties = propertiesOf(schema, node);
  const lower = word.toLowerCase();
  const name = [lower, `${lower}s`].find((candidate) => properties.has(candidate));
  const required = requiredOf(holder(schema, node));
  if (name !== undefined) {
    return { path: [...path, name], node: properties.get(name) as JsonObject, required: required.includes(name) };
  }
  const inner = named(schema, node);
  if (inner !== null) return { path: [...path, word], node: inner, required: false };
  const definitions = object(schema["$defs"]);
  const known = path.length === 0 && Object.hasOwn(definitions, lower) ? definitions[lower] : undefined;
  return isJsonObject(known) ? { path: [lower], node: resolve(schema, known), required: false } : null;
}

function requiredOf({ required }: JsonObject): readonly string[] {
  return Array.isArray(required) ? (required as readonly string[]) : [];
}

function explainPlace(schema: JsonObject, { path, node, required }: Place): Explanation {
  const own = resolve(schema, node);
  const name = path.at(-1) ?? "";
  const inner = named(schema, node);
  const needed = requiredOf(holder(schema, node));
  const fields = [...propertiesOf(schema, node)].map(
    ([field, value]): FieldSummary => ({
      name: field,
      type: typeText(schema, value),
      required: needed.includes(field),
      description: textOf(value["description"]),
    }),
  );
  const any = inner === null ? [] : [{ ...summaryOf(schema, inner), name: "<name>" }];
  return {
    path: path.join("."),
    title: textOf(own["title"]),
    description: textOf(own["description"]),
    type: typeText(schema, own),
    required,
    values: valuesOf(own),
    limits: limitsOf(own),
    ...(own["default"] === undefined ? {} : { default: own["default"] }),
    examples: examplesOf(own, name),
    fields: [...fields, ...any],
  };
}

function summaryOf(schema: JsonObject, node: JsonObject): FieldSummary {
  return {
    ...{ name: "", required: false },
    ...{ type: typeText(schema, node), description: textOf(node["description"]) },
  };
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function valuesOf(node: JsonObject): readonly Json[] {
  if (node["const"] !== undefined) return [node["const"]];
  return Array.isArray(node["enum"]) ? node["enum"] : [];
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  number: "number",
  boolean: "true or false",
  object: "object",
  null: "null",
};

function typeText(schema: JsonObject, node: JsonObject): string {
  const types = (Array.isArray(node["type"]) ? node["type"] : [node["type"] ?? "object"]).map(String);
  return types.map((type) => (type === "array" ? listText(schema, node) : (TYPE_WORDS[type] ?? type))).join(", or ");
}

/** `list of subnets`, by what the items are called where they are objects. */
function listText(schema: JsonObject, node: JsonObject): string {
  const items = resolve(schema, object(node["items"]));
  if (items["type"] === "object") return "list of objects";
  return `list of ${items["type"] === undefined ? "values" : (TYPE_WORDS[String(items["type"])] ?? "values")}`.replace(
    /text$/,
    "texts",
  );
}

function limitsOf(node: JsonObject): string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = node;
  const range = (low: Json | undefined, high: Json | undefined, unit: string): string[] => {
    const [from, to] = [low === undefined ? "" : `at least ${low}`, high === undefined ? "" : `at most ${high}`];
    const both = low !== undefined && high !== undefined ? `${low} to ${high}` : `${from}${to}`;
    return both === "" ? [] : [`${both}${unit}`];
  };
  return [
    ...range(minimum, maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum, ""),
    ...range(minLength === 1 ? undefined : minLength, maxLength, " characters"),
    ...(minLength === 1 ? ["not empty"] : []),
    ...range(minItems, maxItems, " of them"),
    ...(pattern === undefined ? [] : [`must match ${String(pattern)}`]),
  ];
}

function examplesOf(node: JsonObject, name: string): string[] {
  const { examples } = node;
  const values = Array.isArray(examples) ? examples : [];
  const isEntry = name === "" || node["type"] === undefined;
  return values.map((value) => (isEntry ? yaml(value) : `${name}: ${yaml(value)}`));
}

/** Plain for YAML, and no number, boolean or null. */
const PLAIN = /^(?!(?:true|false|null|yes|no|on|off|~)$)(?![\d.+-]+(?:e[\d+-]+)?$)[A-Za-z0-9_][\w./:-]*$/i;

/** In flow style, on one line. */
export function yaml(value: Json): string {
  if (typeof value === "string") return PLAIN.test(value) && !/:(?:$| )|:$/.test(value) ? value : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => yaml(item)).join(", ")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value);
  return entries.length === 0 ? "{}" : `{ ${entries.map(([key, inner]) => `${key}: ${yaml(inner)}`).join(", ")} }`;
}

// A type of record: the fields that it takes, from the table of types.

/** @returns null if the word is no type, or the node holds no records */
function typeOfRecord(schema: JsonObject, node: JsonObject, word: string): RecordTypeName | null {
  const type = word.toUpperCase();
  const types = propertiesOf(schema, node).get("type")?.["enum"];
  const isType = isRecordType(type) && Array.isArray(types) && types.includes(type);
  // A builder goes by a name of lower-case letters, `caa`, and is a field like others.
  return isType && !(propertiesOf(schema, node).has(word) && word !== type) ? type : null;
}

type RecordTypeName = Parameters<typeof rulesOf>[0];

const TARGETS: Readonly<Record<TargetFormat, string>> = {
  ipv4: "an IPv4 address",
  ipv6: "an IPv6 address",
  name: "a name: relative to the zone, or absolute with a final dot",
  strings: "raw text: no quotes, no escapes, no chunks",
  octets: "text: for issue and issuewild the authority, for iodef an address to report to",
};

/** Within `records`. A type that the table of types has and this one has not is explained without an example. */
const RECORD_EXAMPLES: Readonly<Partial<Record<RecordTypeName, JsonObject>>> = {
  NS: { type: "NS", name: "dev", target: "ns1.example.net." },
  A: { type: "A", name: "www", target: "192.0.2.10" },
  AAAA: { type: "AAAA", name: "www", target: "2001:db8::10" },
  CNAME: { type: "CNAME", name: "shop", target: "stores.example.net." },
  MX: { type: "MX", target: "mx.example.net.", priority: 10 },
  TXT: { type: "TXT", target: "v=spf1 -all" },
  CAA: { type: "CAA", tag: "issue", target: "letsencrypt.org" },
  SRV: {
    ...{ type: "SRV", service: "sip", protocol: "tcp", target: "sip.example.net." },
    ...{ port: 5060, priority: 10, weight: 5 },
  },
  PTR: { type: "PTR", name: "10", target: "www.example.com." },
};

function explainRecord(schema: JsonObject, { path, node }: Place, type: RecordTypeName): Explanation {
  const { values, required = [], target, allowsRoot } = rulesOf(type);
  const own = new Set<string>([...(type === "SRV" ? ["service", "protocol"] : []), ...values]);
  const all = propertiesOf(schema, node);
  const names = ["name", "target", "targets", ...own, "ttl_sec"];
  const fields = names.map((name): FieldSummary => {
    const summary = summaryOf(schema, all.get(name) ?? {});
    const description = name === "target" ? sentence(TARGETS[target]) : summary.description;
    return { ...summary, name, description, required: (required as readonly string[]).includes(name) };
  });
  const example = RECORD_EXAMPLES[type];
  const root = allowsRoot === true ? " A target of `.` says that there is no such service." : "";
  return {
    path: [...path, type].join("."),
    title: `${type} record`,
    description: `The fields of a record of the type ${type}, beside override, note and lint. It has a target, or several under \`targets\`: one record each.${root}`,
    ...{ type: "object", required: false, values: [], limits: [] },
    examples: example === undefined ? [] : [yaml(example)],
    fields,
  };
}

function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}

// As text.

const INDENT = 2;

/** Newline-terminated; lines of at most `width` columns, as far as words fit. */
export function renderExplanation(explanation: Explanation, width: number): string {
  const { path, title, description, examples, fields } = explanation;
  const heading = path === "" ? title : `${escapeText(path)}${title === "" ? "" : ` (${title})`}`;
  const blocks = [
    [heading, ...wrap(factsText(explanation), width, INDENT)],
    wrap(description, width, INDENT),
    examples.length === 0 ? [] : ["Examples:", ...examples.map((example) => `  ${example}`)],
    fields.length === 0 ? [] : ["Fields:", ...fieldLines(fields, width)],
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

/** `text; one of a, b; required; default: a` */
export function factsText(explanation: Explanation): string {
  const { type, values, limits, required } = explanation;
  return [
    values.length === 0 ? type : `one of ${values.map((value) => yaml(value)).join(", ")}`,
    ...limits,
    ...(required ? ["required"] : []),
    ...(explanation.default === undefined ? [] : [`default: ${yaml(explanation.default)}`]),
  ].join("; ");
}

function fieldLines(fields: readonly FieldSummary[], width: number): string[] {
  const columns = fields.reduce((most, { name }) => Math.max(most, columnsOf(name)), 0);
  return fields.flatMap(({ name, type, required, description }) => {
    const text = `<${type}>${required ? " required" : ""} ${firstSentence(description)}`.trimEnd();
    return hang(`${" ".repeat(INDENT)}${padded(name, columns)}  `, text, width);
  });
}

/** Characters: a shorter first sentence says too little to stand alone. */
const MIN_SUMMARY_CHARACTERS = 25;

function firstSentence(description: string): string {
  const sentences = description.split(/(?<=[.]) (?=[A-Z])/);
  const [first = "", second] = sentences;
  return second !== undefined && first.length < MIN_SUMMARY_CHARACTERS ? `${first} ${second}` : first;
}
