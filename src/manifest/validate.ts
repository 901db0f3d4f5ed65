/** Validation against the published schema: each violation becomes one diagnostic, and the value that it concerns is removed. */

import type { ErrorObject, ValidateFunction } from "ajv";
import { compiledSchema } from "../files/schemas.ts";
import { type Correction, type Diagnostic, suggest } from "../model/diagnostic.ts";
import { mapKey } from "../model/map-key.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";
import { nearest, shortened } from "../model/text.ts";
import type { EntryViolation } from "../model/unit.ts";
import { homesOf, keysAt, type SuggestedValue, suggestValue, withSpace, wordOfOthers } from "./corrections.ts";
import { Places } from "./positions.ts";
import { isOwnKey, manifestSchema, type UnitForm } from "./schema.ts";

export interface Validator {
  readonly schema: JsonObject;
  readonly validate: ValidateFunction;
}

const validators: WeakMap<readonly UnitForm[], Promise<Validator>> = new WeakMap();

/** The schema of a registry of units, compiled once. */
export function validatorOf(units: readonly UnitForm[]): Promise<Validator> {
  const known = validators.get(units) ?? createValidator(units);
  validators.set(units, known);
  return known;
}

async function createValidator(units: readonly UnitForm[]): Promise<Validator> {
  const schema = manifestSchema(units);
  return { schema, validate: await compiledSchema(schema, "all") };
}

/**
 * Reports every violation in `tree` and removes what is wrong. An element of a list within an entry, such as a record or a subnet, is
 * removed as a whole; an entry, or the file, loses only the wrong key. Later checks look at what remains, so that all errors are reported
 * at once.
 * @returns objects that lack a required key, or lost a wrong one: later checks must not report what they lack
 */
export function validateTree(
  tree: JsonObject,
  validator: Validator,
  places: Places,
  report: (diagnostic: Diagnostic) => void,
): ReadonlySet<object> {
  const incomplete = new Set<object>();
  const indicesToRemove = new Map<Json[], Set<number>>();
  // All violations are located before the first removes anything: two may concern one value.
  const violations = violationsIn(tree, validator);
  const misspelt = misspeltKeys(violations);
  for (const violation of violations) {
    if (!isAlreadyReported(violation, places) && !isMisspelt(violation, misspelt))
      report(violationDiagnostic(violation, validator.schema, places));
  }
  for (const violation of violations) discardInvalid(violation, incomplete, indicesToRemove);
  if (places.hasBroken) removeBroken(tree, places, incomplete, indicesToRemove);
  for (const [list, indices] of indicesToRemove) compact(list, indices, places);
  return incomplete;
}

/**
 * What is wrong with an entry that no file holds yet.
 * @param section the key that it is to stand under, for example `domains`
 */
export function violationsOf(entry: JsonObject, section: string, validator: Validator): EntryViolation[] {
  return violationsIn({ tenon: 1, [section]: [entry] }, validator).map((violation) => {
    const places = new Places();
    const objects = [violation.value, ...violation.way.map(({ container }) => container)];
    for (const object of objects) if (typeof object === "object" && object !== null) places.put(object, "", [0, 0]);
    const { span: _, ...diagnostic } = violationDiagnostic(violation, validator.schema, places);
    const [, , list, index] = violation.way.map(({ key }) => key);
    return { diagnostic, record: list === "records" && index !== undefined ? Number(index) : null };
  });
}

function violationsIn(tree: JsonObject, { validate }: Validator): Violation[] {
  const errors = validate(tree) ? [] : (validate.errors ?? []);
  return onePerPlace(errors)
    .map((error) => locate(tree, error))
    .filter((violation) => !fitsOnceExpanded(violation));
}

/** In domains and record sets `$${` still stands for `${`, which is shorter. */
function fitsOnceExpanded({ error, value }: Violation): boolean {
  if (error.keyword !== "maxLength" || typeof value !== "string") return false;
  return [...value.replaceAll("$${", () => "${")].length <= Number(error.params["limit"]);
}

/** A wrong type also fails `enum`. Report only the type error. */
function onePerPlace(errors: readonly ErrorObject[]): ErrorObject[] {
  const chosen = new Map<string, ErrorObject>();
  for (const error of errors) {
    // An error of a `oneOf` branch repeats the error of the `oneOf` itself.
    if (/\/oneOf\/\d+\//.test(error.schemaPath)) continue;
    const { missingProperty, additionalProperty } = error.params as Readonly<Record<string, string | undefined>>;
    const place = mapKey(JSON.stringify([error.instancePath, missingProperty, additionalProperty]));
    if (error.keyword === "type" || !chosen.has(place)) chosen.set(place, error);
  }
  return [...chosen.values()];
}

/** Takes elements out of `list`; what stays keeps its place in the source. */
function compact(list: Json[], indices: ReadonlySet<number>, places: Places): void {
  const kept = [...list.keys()].filter((index) => !indices.has(index));
  const items = kept.map((index) => list[index] as Json);
  places.reindex(list, kept);
  list.length = 0;
  for (const item of items) list.push(item);
}

function locate(tree: JsonObject, error: ErrorObject): Violation {
  const way: Violation["way"][number][] = [];
  let value: Json = tree;
  for (const part of error.instancePath.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const container: object = value as object;
    way.push({ container, key });
    value = (container as Record<string, Json>)[key] as Json;
  }
  return { error, way, value };
}

/** Whether the value was reported already, as a syntax error or a variable without a value. */
function isAlreadyReported({ way, error }: Violation, places: Places): boolean {
  if (error.keyword === "required" || error.keyword === "additionalProperties") return false;
  return way.some(({ container, key }) => places.brokenKeys(container).has(key));
}

/** Objects with unknown keys → the known keys that these were most likely meant to be. */
function misspeltKeys(violations: readonly Violation[]): ReadonlyMap<Json, ReadonlySet<string>> {
  const meant = new Map<Json, Set<string>>();
  for (const { error, value } of violations) {
    if (error.keyword !== "additionalProperties") continue;
    const key = nearest(String(error.params["additionalProperty"]), knownKeys(error));
    if (key !== null) meant.set(value, (meant.get(value) ?? new Set()).add(key));
  }
  return meant;
}

/** Whether the missing key is there, but misspelt: the report of the unknown key suggests the right one. */
function isMisspelt({ error, value }: Violation, misspelt: ReadonlyMap<Json, ReadonlySet<string>>): boolean {
  const meant = misspelt.get(value);
  if (meant === undefined) return false;
  if (error.keyword === "required") return meant.has(String(error.params["missingProperty"]));
  if (error.keyword !== "oneOf" || !isJsonObject(error.parentSchema)) return false;
  const choice = choiceOf(error.parentSchema);
  return !choice.some((key) => Object.hasOwn(value as object, key)) && choice.some((key) => meant.has(key));
}

/** Removes the invalid key, or puts the element of a list that it makes useless into `indicesToRemove`. */
function discardInvalid(
  violation: Violation,
  incomplete: Set<object>,
  indicesToRemove: Map<Json[], Set<number>>,
): void {
  const { way, value, error } = violation;
  if (error.keyword === "additionalProperties") {
    const key = String(error.params["additionalProperty"]);
    delete (value as Record<string, Json>)[key];
    // The key that was most likely meant is there, only misspelt.
    const meant = nearest(key, knownKeys(error));
    if (!isJsonObject(value) || meant === null) return;
    incomplete.add(value);
    if (isElement(way, way.length) && !Object.hasOwn(value, meant))
      removeAt(way, way.length, incomplete, indicesToRemove);
  } else if (error.keyword === "required" || error.keyword === "oneOf") {
    if (isJsonObject(value)) incomplete.add(value);
    if (isElement(way, way.length)) removeAt(way, way.length, incomplete, indicesToRemove);
  } else {
    removeAt(way, way.length, incomplete, indicesToRemove);
  }
}

type Way = Violation["way"];

/** Whether the way ends at an element of a list inside an entry. An entry of a section is none: it only loses keys. */
function isElement(way: Way, depth: number): boolean {
  return depth > 2 && Array.isArray(way[depth - 1]?.container);
}

/** Removes the innermost list element around the violation, or else the key itself. */
function removeAt(way: Way, length: number, incomplete: Set<object>, indicesToRemove: Map<Json[], Set<number>>): void {
  let depth = length;
  while (depth > 0 && !isElement(way, depth)) depth -= 1;
  const at = way[depth > 0 ? depth - 1 : length - 1];
  if (at === undefined) return;
  if (Array.isArray(at.container)) {
    const indices = indicesToRemove.get(at.container) ?? new Set();
    indicesToRemove.set(at.container, indices.add(Number(at.key)));
  } else {
    delete (at.container as Record<string, Json>)[at.key];
    incomplete.add(at.container);
  }
}

/** Removes the values that were marked as broken before validation: the schema may have accepted them. */
function removeBroken(
  tree: JsonObject,
  places: Places,
  incomplete: Set<object>,
  indicesToRemove: Map<Json[], Set<number>>,
): void {
  const visit = (value: Json, way: Way): void => {
    if (typeof value !== "object" || value === null) return;
    for (const key of places.brokenKeys(value)) {
      const steps = [...way, { container: value as object, key }];
      removeAt(steps, steps.length, incomplete, indicesToRemove);
    }
    if (Array.isArray(value))
      for (const [index, item] of value.entries()) visit(item, [...way, { container: value, key: String(index) }]);
    else for (const [key, item] of Object.entries(value)) visit(item, [...way, { container: value, key }]);
  };
  visit(tree, []);
}

// Schema-directed scalars: a field that is text in the schema gets the number or boolean as it was written.

/** Changes `tree` in place. */
export function coerceScalars(tree: JsonObject, schema: JsonObject, places: Places): void {
  new Coercion(schema, places).walk(tree, schema);
}

class Coercion {
  readonly #definitions: JsonObject;
  readonly #places: Places;

  constructor(schema: JsonObject, places: Places) {
    this.#definitions = isJsonObject(schema["$defs"]) ? schema["$defs"] : {};
    this.#places = places;
  }

  walk(value: Json, unresolved: JsonObject): void {
    const schema = this.#resolve(unresolved);
    if (Array.isArray(value)) {
      const items = schema["items"];
      if (isJsonObject(items)) for (const index of value.keys()) this.#child(value, index, items);
    } else if (isJsonObject(value)) {
      for (const key of Object.keys(value)) {
        const child = this.#schemaOf(schema, key);
        if (child !== null) this.#child(value, key, child);
      }
    }
  }

  #child(container: object, key: string | number, unresolved: JsonObject): void {
    const schema = this.#resolve(unresolved);
    const values = container as Record<string | number, Json>;
    const value = values[key] as Json;
    if (typeof value !== "number" && typeof value !== "boolean") {
      this.walk(value, schema);
      return;
    }
    const types = [schema["type"]].flat();
    const fits = types.includes(typeof value) || (typeof value === "number" && types.includes("integer"));
    if (!fits && types.includes("string")) values[key] = this.#places.source(container, key) ?? String(value);
  }

  #schemaOf(schema: JsonObject, key: string): JsonObject | null {
    const properties = schema["properties"];
    const own = isJsonObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
    const child = own ?? schema["additionalProperties"];
    return isJsonObject(child) && !isOwnKey(key) ? child : null;
  }

  #resolve(schema: JsonObject): JsonObject {
    const reference = schema["$ref"];
    if (typeof reference !== "string") return schema;
    const target = this.#definitions[reference.slice("#/$defs/".length)];
    if (!isJsonObject(target)) throw new Error(`The schema refers to ${reference}, which is not there`);
    return this.#resolve(target);
  }
}

// One violation of the schema in words: what is wrong, why, and what to write.

interface Violation {
  readonly error: ErrorObject;
  /** The way from the root of the file to the value: each container with the key that leads on. */
  readonly way: readonly { readonly container: object; readonly key: string }[];
  readonly value: Json;
}

function violationDiagnostic(violation: Violation, manifest: JsonObject, places: Places): Diagnostic {
  const { error, way, value } = violation;
  const last = way.at(-1);
  const schema = isJsonObject(error.parentSchema) ? error.parentSchema : {};
  const name = nameOf(violation);
  const at = last === undefined ? places.span(value as object) : places.span(last.container, last.key);
  switch (error.keyword) {
    case "additionalProperties":
      return unknownKey(violation, schema, manifest, places);
    case "oneOf":
      return notOneKey(violation, schema, places);
    case "required":
      return missingKey(violation, schema, places);
    case "type":
      return value === null ? emptyValue(name, schema, at) : wrongType(name, violation, schema, manifest, places, at);
    case "const":
    case "enum": {
      const allowed = [...((schema["enum"] as Json[] | undefined) ?? [schema["const"] ?? null])].map(String);
      const detail = `${shown(value)} is not among the values of ${name.phrase}: ${allowed.join(", ")}.`;
      return {
        code: "unknown-value",
        severity: "error",
        summary: `unknown value of ${name.phrase}`,
        detail,
        ...choose(typeof value === "object" ? "" : String(value), allowed),
        span: at,
      };
    }
    case "minimum":
    case "maximum": {
      const range = [schema["minimum"] ?? "", schema["maximum"] ?? ""].join("..");
      const detail = `${shown(value)} is outside ${range}.`;
      return {
        code: "out-of-range",
        severity: "error",
        summary: `${name.phrase} is out of range`,
        detail,
        fix: `Write a number within ${range}.`,
        span: at,
      };
    }
    default:
      return badFormat(name, value, schema, error, at);
  }
}

type At = NonNullable<Diagnostic["span"]>;

/** What a message calls the value. */
interface Name {
  /** The key, or for an entry of a list the list's key. */
  readonly key: string;
  readonly isEntry: boolean;
  /** `` `label` ``, `` an entry of `vpcs` ``. */
  readonly phrase: string;
}

function nameOf({ way }: Violation): Name {
  const key = way.findLast(({ container }) => !Array.isArray(container))?.key ?? "manifest";
  const isEntry = Array.isArray(way.at(-1)?.container);
  return { key, isEntry, phrase: isEntry ? `an entry of \`${key}\`` : `\`${key}\`` };
}

/** `spf` takes "an": it is pronounced letter by letter. */
function withArticle(title: string): string {
  return `${/^([aeiou]|spf\b)/.test(title) ? "an" : "a"} ${title}`;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The keys that the schema knows in the object that has the unknown key. */
function knownKeys({ parentSchema }: ErrorObject): string[] {
  const schema: unknown = parentSchema?.["properties"];
  return typeof schema === "object" && schema !== null ? Object.keys(schema) : [];
}

function unknownKey(
  { error, value, way }: Violation,
  schema: JsonObject,
  manifest: JsonObject,
  places: Places,
): Diagnostic {
  const key = String(error.params["additionalProperty"]);
  const span = places.keySpan(value as object, key);
  const known = knownKeys(error);
  if (known.length === 0) return badVariableName(key, span);
  const spaced = withSpace(key, known);
  if (spaced !== null) return missingSpace(key, spaced, span);
  const title = String(schema["title"] ?? "mapping").toLowerCase();
  const where = /^(?:defaults|lint)$/.test(title)
    ? `\`${title}\``
    : withArticle(way.length === 0 ? title.replace(/^tenon /, "") : title);
  const homes = homesOf(key, manifest);
  // A key that is right elsewhere is hardly misspelt: `region` of a domain is not `reason`, but `target` may be `targets`.
  const found = nearest(key, known);
  const near = found !== null && (homes.length === 0 || found.includes(key) || key.includes(found)) ? found : null;
  const best = wordOfOthers(key, known) ?? near;
  const elsewhere = homes.length === 0 || best !== null ? "" : `, but of ${listWords(homes)}`;
  const detail = `\`${key}\` is not a key of ${where}${elsewhere}.`;
  const merge = "Merge keys belong to YAML 1.1; use `defaults` or `record_sets`.";
  const list = `Known are: ${known.join(", ")}. Keys that begin with \`x-\` are yours.`;
  const fix = key === "<<" ? merge : best !== null ? `Did you mean \`${best}\`?` : list;
  const corrections = key === "<<" || best === null ? {} : { corrections: [{ from: key, to: best }] };
  return {
    code: "unknown-key",
    severity: "error",
    summary: `unknown key \`${key}\``,
    detail,
    fix,
    ...corrections,
    span,
  };
}

/** `target:192.0.2.1`, which is one long key. */
function missingSpace(key: string, spaced: string, span: At): Diagnostic {
  return {
    code: "unknown-key",
    severity: "error",
    summary: `unknown key \`${key}\``,
    detail: "In YAML a key ends at a colon with a space behind it.",
    fix: `Write \`${spaced}\`.`,
    corrections: spaced.endsWith("…") ? [] : [{ from: key, to: spaced }],
    span,
  };
}

/** Of the kinds of mapping that have a key: `lint` and `note` are at home in many. */
const MAX_LISTED_HOMES = 4;

function listWords(words: readonly string[]): string {
  const [shown, rest] = [words.slice(0, MAX_LISTED_HOMES), words.length - MAX_LISTED_HOMES];
  if (rest > 0) return `${shown.join(", ")} and ${rest} more`;
  return shown.length === 1 ? String(shown[0]) : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}

function badVariableName(key: string, span: At): Diagnostic {
  const detail = `\`${key}\` cannot be the name of a variable: letters, digits, \`_\` and \`-\`, beginning with a letter or \`_\`.`;
  return {
    code: "bad-format",
    severity: "error",
    summary: "bad variable name",
    detail,
    fix: "Choose another name.",
    span,
  };
}

function missingKey({ error, value }: Violation, schema: JsonObject, places: Places): Diagnostic {
  const key = String(error.params["missingProperty"]);
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const property = isJsonObject(properties[key]) ? properties[key] : {};
  const detail = `\`${key}\` is required. ${String(property["description"] ?? "")}`.trim();
  const example = [property["examples"]].flat()[0];
  const fix = example === undefined ? `Add \`${key}\`.` : `Add \`${key}: ${String(example)}\`.`;
  return {
    code: "missing-key",
    severity: "error",
    summary: `\`${key}\` is missing`,
    detail,
    fix,
    span: places.firstKeySpan(value as object),
  };
}

/** The keys of which the schema wants exactly one: each branch of its `oneOf` requires one of them. */
function choiceOf(schema: JsonObject): string[] {
  const branches = (schema["oneOf"] ?? []) as readonly { readonly required?: readonly string[] }[];
  return branches.flatMap(({ required }) => required ?? []);
}

function notOneKey({ value }: Violation, schema: JsonObject, places: Places): Diagnostic {
  const title = String(schema["title"] ?? "mapping").toLowerCase();
  const choice = choiceOf(schema);
  const list = choice.map((key) => `\`${key}\``).join(", ");
  const [first, second] = choice.filter((key) => Object.hasOwn(value as object, key));
  if (first === undefined || second === undefined) {
    return {
      code: "missing-key",
      severity: "error",
      summary: `\`${choice[0]}\` is missing`,
      detail: `${sentence(withArticle(title))} has one of: ${list}.`,
      fix: `Add \`${choice[0]}\`.`,
      span: places.firstKeySpan(value as object),
    };
  }
  return {
    code: "conflicting-keys",
    severity: "error",
    summary: `both \`${first}\` and \`${second}\``,
    detail: `${sentence(withArticle(title))} has one of: ${list}.`,
    fix: "Remove one of the two, or make two entries of them.",
    span: places.keySpan(value as object, second),
    related: [{ message: "the other one", span: places.keySpan(value as object, first) }],
  };
}

function emptyValue(name: Name, schema: JsonObject, span: At): Diagnostic {
  const what = name.isEntry ? "entry" : "key";
  const detail = `${sentence(name.phrase)} has no value: in YAML an empty ${what} is null, and null is not allowed here.`;
  const takesList = !name.isEntry && [schema["type"]].flat().includes("array");
  const empty = takesList ? `Write \`${name.key}: []\` for none` : "Write a value";
  return {
    code: "empty-value",
    severity: "error",
    summary: `${name.phrase} is empty`,
    detail,
    fix: `${empty}, or leave the ${what} out.`,
    span,
  };
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "a mapping",
};

function wrongType(
  name: Name,
  { way, value }: Violation,
  schema: JsonObject,
  manifest: JsonObject,
  places: Places,
  span: At,
): Diagnostic {
  const types = [schema["type"]]
    .flat()
    .map(String)
    .filter((type) => type !== "null");
  const wanted = types.map((type) => TYPE_WORDS[type] ?? type).join(" or ");
  const is = Array.isArray(value) ? "a list" : isJsonObject(value) ? "a mapping" : shown(value);
  const detail = `${sentence(name.phrase)} must be ${wanted}, but is ${is}.`;
  const quoted = value === "true" || value === "false";
  const path = way.map(({ key }) => key);
  const siblings = keysAt(path.slice(0, -1), manifest);
  const meant = suggestValue({ value, key: name.key, isEntry: name.isEntry, schema, siblings, manifest });
  const fix = meant?.fix ?? (quoted ? "Write it without quotes." : `Write ${wanted}.`);
  const corrections = meant === null ? [] : correctionsOf(meant, { way, value }, places);
  return {
    code: "wrong-type",
    severity: "error",
    summary: `${name.phrase} must be ${wanted}`,
    detail,
    fix,
    ...(corrections.length === 0 ? {} : { corrections }),
    span,
  };
}

function correctionsOf(
  { replacement, key }: SuggestedValue,
  { way, value }: Pick<Violation, "way" | "value">,
  places: Places,
): Correction[] {
  const last = way.at(-1);
  if (key !== undefined && last !== undefined && !Array.isArray(last.container)) {
    return [{ from: last.key, to: key, span: places.keySpan(last.container, last.key) }];
  }
  return replacement === undefined ? [] : [{ from: String(value), to: replacement, unquotes: true }];
}

function badFormat(name: Name, value: Json, schema: JsonObject, error: ErrorObject, span: At): Diagnostic {
  const about = schema["description"] === undefined ? "" : ` ${String(schema["description"])}`;
  const code = { maxLength: "too-long", minLength: "too-short", minItems: "too-short" }[error.keyword] ?? "bad-format";
  const summary =
    code === "bad-format"
      ? `bad ${name.phrase.replace(/^an /, "")}`
      : `${name.phrase} is ${code === "too-long" ? "too long" : "empty or too short"}`;
  const why = whyUnfit(error);
  const detail = `${shown(value)} ${why}.${about}`;
  const example = [schema["examples"]].flat()[0];
  const fix =
    example === undefined
      ? "Correct the value."
      : `For example: ${typeof example === "string" ? example : JSON.stringify(example)}.`;
  return { code, severity: "error", summary, detail, fix, span };
}

/** The rule that a value breaks, as the end of a sentence. */
function whyUnfit({ keyword, params, message }: ErrorObject): string {
  const limit = Number(params["limit"]);
  switch (keyword) {
    case "not":
      return "holds no condition";
    case "pattern":
      return `does not fit the pattern ${String(params["pattern"])}`;
    case "minLength":
      return limit === 1 ? "is empty" : `has fewer than ${limit} characters`;
    case "maxLength":
      return `has more than ${limit} characters`;
    case "minItems":
      return limit === 1 ? "is empty" : `has fewer than ${limit} entries`;
    default:
      return message ?? "does not fit";
  }
}

function choose(word: string, allowed: readonly string[]): Pick<Diagnostic, "fix" | "corrections"> {
  const { fix, ...rest } = suggest(word, allowed);
  return { fix: fix || "Correct the value.", ...rest };
}

function shown(value: Json): string {
  return `\`${shortened(typeof value === "number" ? String(value) : JSON.stringify(value))}\``;
}
