/** The `removed:` entries of all files. */

import type { Declared, IgnorePattern, Removed } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json, JsonObject, ObjectId } from "../model/resource.ts";
import { isJsonObject } from "../model/resource.ts";
import { type AssembleContext, type Loaded, sectionEntries } from "./entries.ts";
import { tooLongIgnore } from "./ignore-limit.ts";
import type { UnitForm } from "./schema.ts";

export function loadRemoved(
  trees: readonly JsonObject[],
  units: readonly UnitForm[],
  loaded: readonly Loaded[],
  context: AssembleContext,
): Removed[] {
  const declared = new Map(loaded.map((one) => [one.declared.address, one.declared]));
  const moved = new Map(
    loaded
      .filter((one) => one.declared.movedFrom !== null)
      .map((one) => [`${one.declared.unit} ${one.declared.movedFrom}`, one.declared]),
  );
  const removed = new Map<string, Removed>();
  for (const entry of sectionEntries(trees, "removed")) {
    const one = loadEntry(entry, units, context);
    if (one === null) continue;
    const identity = `${one.address} ${one.id ?? ""}`;
    const first = removed.get(identity);
    if (first !== undefined) context.report(removedTwice(one, first));
    else removed.set(identity, one);
    const rival = declared.get(one.address) ?? moved.get(`${one.unit} ${one.key}`);
    if (rival !== undefined && !areDistinct(rival, one)) context.report(alsoDeclared(one, rival));
  }
  return [...removed.values()];
}

/** Labels may repeat: two ids are two objects. */
function areDistinct(declared: Declared, removed: Removed): boolean {
  return declared.id !== null && removed.id !== null && declared.id !== removed.id;
}

function loadEntry(entry: JsonObject, units: readonly UnitForm[], context: AssembleContext): Removed | null {
  const named = units.filter(({ spec }) => Object.hasOwn(entry, spec.removedKey));
  const [unit] = named;
  const keys = units.map(({ spec }) => `\`${spec.removedKey}\``).join(", ");
  if (unit === undefined || named.length > 1) {
    if (unit === undefined && context.incomplete.has(entry)) return null;
    const summary = unit === undefined ? "what is removed?" : "more than one thing in an entry";
    const detail = `An entry of \`removed\` has exactly one of ${keys}.`;
    const span =
      unit === undefined
        ? context.places.firstKeySpan(entry)
        : context.places.keySpan(entry, named[1]?.spec.removedKey ?? "");
    context.report({ code: "bad-removed", severity: "error", summary, detail, fix: "Give each its own entry.", span });
    return null;
  }
  const name = entry[unit.spec.removedKey];
  if (typeof name !== "string") return null;
  checkKeys(entry, unit, context);
  const { address, key, problem } = unit.spec.removed(name);
  const span = context.places.span(entry, unit.spec.removedKey);
  if (problem !== null) {
    context.report({ ...problem, severity: "error", span });
    return null;
  }
  const ignore = entry["ignore"];
  return {
    unit: unit.name,
    address,
    key,
    id: idOf(entry["id"]),
    destroy: entry["destroy"] !== false,
    ignore: Array.isArray(ignore) ? ((ignore as readonly Json[]).filter(isJsonObject) as IgnorePattern[]) : [],
    span,
  };
}

function idOf(id: Json | undefined): ObjectId | null {
  return typeof id === "number" || typeof id === "string" ? id : null;
}

function checkKeys(entry: JsonObject, unit: UnitForm, context: AssembleContext): void {
  const { id, ignore } = entry as { id?: Json; ignore?: Json };
  const wanted = unit.name === "image" ? "string" : "number";
  if (id !== undefined && typeof id !== wanted) {
    const detail =
      unit.name === "image"
        ? "The id of an image is text, such as private/123."
        : `The id of a ${unit.spec.removedKey} is a whole number.`;
    context.report({
      code: "wrong-type",
      severity: "error",
      summary: "bad `id`",
      detail,
      fix: "Correct the id.",
      span: context.places.span(entry, "id"),
    });
  }
  const tooLong = tooLongIgnore(ignore, context.places);
  if (tooLong !== null) context.report(tooLong);
  if (ignore !== undefined && unit.name !== "zone") {
    const detail = "`ignore` names records, and only a domain has those.";
    context.report({
      code: "wrong-field",
      severity: "error",
      summary: "`ignore` has no meaning here",
      detail,
      fix: "Remove it.",
      span: context.places.keySpan(entry, "ignore"),
    });
  }
}

function removedTwice(one: Removed, first: Removed): Diagnostic {
  return {
    code: "duplicate-removed",
    severity: "error",
    summary: `\`${one.key}\` is removed twice`,
    detail: `${one.address} may be named once under \`removed\`.`,
    fix: "Remove one of the two.",
    span: one.span,
    related: [{ message: "first here", span: first.span }],
    address: one.address,
  };
}

function alsoDeclared(one: Removed, rival: Declared): Diagnostic {
  const how = rival.address === one.address ? "declared" : "named by `moved_from`";
  return {
    code: "declared-and-removed",
    severity: "error",
    summary: `\`${one.key}\` is both ${how} and removed`,
    detail: `${one.address} cannot be kept and deleted at once.`,
    fix: "Remove the entry under `removed`, or the declaration.",
    span: one.span,
    related: [{ message: `${how} here`, span: rival.span }],
    address: one.address,
  };
}
