/** Validation against the published schema: each violation becomes one diagnostic, and what it spoils is taken out. */

import type { ErrorObject, ValidateFunction } from "ajv";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import { isJsonObject } from "../model/resource.ts";
import { nearest } from "../model/suggest.ts";
import type { Places } from "./places.ts";
import { manifestSchema, type UnitForm } from "./schema.ts";
import { choiceOf, knownKeys, type Violation, violationDiagnostic } from "./violation.ts";

export interface Validator {
  readonly schema: JsonObject;
  readonly validate: ValidateFunction;
}

const validators: WeakMap<readonly UnitForm[], Promise<Validator>> = new WeakMap();

/** Loads ajv when it is first wanted, and compiles the schema of a registry once. */
export function validatorOf(units: readonly UnitForm[]): Promise<Validator> {
  const known = validators.get(units) ?? createValidator(units);
  validators.set(units, known);
  return known;
}

const COPIED_ERRORS = /vErrors\.concat\((\w+\.errors)\)/g;

async function createValidator(units: readonly UnitForm[]): Promise<Validator> {
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  const schema = manifestSchema(units);
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    strict: true,
    // A branch of a choice names keys whose properties stand beside the choice.
    strictRequired: false,
    allowUnionTypes: true,
    allowMatchingProperties: true,
    // The schema is ours and a test judges it: judging it anew in each run takes longer than compiling it.
    meta: false,
    validateSchema: false,
    // The errors of a part are joined to those before by a copy of all of them, which takes quadratic time.
    code: { process: (code) => code.replace(COPIED_ERRORS, "($1.forEach((error) => vErrors.push(error)), vErrors)") },
  });
  return { schema, validate: ajv.compile(schema) };
}

/**
 * Reports every violation in `tree` and removes what is wrong: a record, a subnet, a list's element as a whole,
 * of an entry or the file only the key. What remains can be looked at further, so that all errors come at once.
 * @returns objects that lack something required, or lost a key that was wrong: they are not to be blamed for what is absent
 */
export function validateTree(
  tree: JsonObject,
  validator: Validator,
  places: Places,
  report: (diagnostic: Diagnostic) => void,
): ReadonlySet<object> {
  const incomplete = new Set<object>();
  const doomed = new Map<Json[], Set<number>>();
  const errors = validator.validate(tree) ? [] : (validator.validate.errors ?? []);
  // All are located before the first takes something out: two may concern one value.
  const violations = onePerPlace(errors).map((error) => locate(tree, error));
  const misspelt = misspeltKeys(violations);
  for (const violation of violations) {
    if (!isKnown(violation, places) && !isMisspelt(violation, misspelt)) report(violationDiagnostic(violation, places));
  }
  for (const violation of violations) spoil(violation, incomplete, doomed);
  removeBroken(tree, places, incomplete, doomed);
  for (const [list, indices] of doomed) compact(list, indices, places);
  return incomplete;
}

/** A value of the wrong type is not among the allowed ones either: of what is wrong with a value the type says most. */
function onePerPlace(errors: readonly ErrorObject[]): ErrorObject[] {
  const chosen = new Map<string, ErrorObject>();
  for (const error of errors) {
    // Why each branch of a choice does not hold is said by the choice as a whole.
    if (/\/oneOf\/\d+\//.test(error.schemaPath)) continue;
    const { missingProperty, additionalProperty } = error.params as Readonly<Record<string, string | undefined>>;
    const place = JSON.stringify([error.instancePath, missingProperty, additionalProperty]);
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

/** Its value was reported already, as a syntax error or a variable without a value. */
function isKnown({ way, error }: Violation, places: Places): boolean {
  if (error.keyword === "required" || error.keyword === "additionalProperties") return false;
  return way.some(({ container, key }) => places.brokenKeys(container).has(key));
}

/** Objects with the keys that an unknown key of theirs was most likely meant to be. */
function misspeltKeys(violations: readonly Violation[]): ReadonlyMap<Json, ReadonlySet<string>> {
  const meant = new Map<Json, Set<string>>();
  for (const { error, value } of violations) {
    if (error.keyword !== "additionalProperties") continue;
    const key = nearest(String(error.params["additionalProperty"]), knownKeys(error));
    if (key !== null) meant.set(value, (meant.get(value) ?? new Set()).add(key));
  }
  return meant;
}

/** What is missing stands there under a name that is reported, with the right one. */
function isMisspelt({ error, value }: Violation, misspelt: ReadonlyMap<Json, ReadonlySet<string>>): boolean {
  const meant = misspelt.get(value);
  if (meant === undefined) return false;
  if (error.keyword === "required") return meant.has(String(error.params["missingProperty"]));
  if (error.keyword !== "oneOf" || !isJsonObject(error.parentSchema)) return false;
  const choice = choiceOf(error.parentSchema);
  return !choice.some((key) => Object.hasOwn(value as object, key)) && choice.some((key) => meant.has(key));
}

function spoil(violation: Violation, incomplete: Set<object>, doomed: Map<Json[], Set<number>>): void {
  const { way, value, error } = violation;
  if (error.keyword === "additionalProperties") {
    const key = String(error.params["additionalProperty"]);
    delete (value as Record<string, Json>)[key];
    // What it was most likely meant to be is there, only misspelt.
    const meant = nearest(key, knownKeys(error));
    if (!isJsonObject(value) || meant === null) return;
    incomplete.add(value);
    if (isElement(way, way.length) && !Object.hasOwn(value, meant)) removeAt(way, way.length, incomplete, doomed);
  } else if (error.keyword === "required" || error.keyword === "oneOf") {
    if (isJsonObject(value)) incomplete.add(value);
    if (isElement(way, way.length)) removeAt(way, way.length, incomplete, doomed);
  } else {
    removeAt(way, way.length, incomplete, doomed);
  }
}

type Way = Violation["way"];

/** Elements of lists inside an entry; the entries of a section themselves only lose their keys. */
function isElement(way: Way, depth: number): boolean {
  return depth > 2 && Array.isArray(way[depth - 1]?.container);
}

/** Removes the innermost list element around the violation, or else the key itself. */
function removeAt(way: Way, length: number, incomplete: Set<object>, doomed: Map<Json[], Set<number>>): void {
  let depth = length;
  while (depth > 0 && !isElement(way, depth)) depth -= 1;
  const at = way[depth > 0 ? depth - 1 : length - 1];
  if (at === undefined) return;
  if (Array.isArray(at.container)) {
    const indices = doomed.get(at.container) ?? new Set();
    doomed.set(at.container, indices.add(Number(at.key)));
  } else {
    delete (at.container as Record<string, Json>)[at.key];
    incomplete.add(at.container);
  }
}

/** Values that were broken before validation, wherever the schema did not mind them. */
function removeBroken(
  tree: JsonObject,
  places: Places,
  incomplete: Set<object>,
  doomed: Map<Json[], Set<number>>,
): void {
  const visit = (value: Json, way: Way): void => {
    if (typeof value !== "object" || value === null) return;
    for (const key of places.brokenKeys(value)) {
      const steps = [...way, { container: value as object, key }];
      removeAt(steps, steps.length, incomplete, doomed);
    }
    if (Array.isArray(value))
      for (const [index, item] of value.entries()) visit(item, [...way, { container: value, key: String(index) }]);
    else for (const [key, item] of Object.entries(value)) visit(item, [...way, { container: value, key }]);
  };
  visit(tree, []);
}
