/** Record sets: collected from all files, and taken by the domains that name them under `use`. */

import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Json, JsonObject } from "../../model/resource.ts";
import { suggestion } from "../../model/suggest.ts";
import type { Places } from "../places.ts";
import { isOwnKey } from "../schema.ts";
import { listOf, objectAt, withDefaults } from "./entry.ts";

/** Name → records, with the defaults of their file. */
export type RecordSets = ReadonlyMap<string, RecordSet>;

export interface RecordSet {
  readonly records: readonly JsonObject[];
  readonly container: JsonObject;
}

export interface RecordSetContext {
  readonly places: Places;
  /** False if something could not be read, so that a set may exist all the same. */
  readonly setsKnown: boolean;
  report(diagnostic: Diagnostic): void;
}

export function collectRecordSets(
  files: readonly { readonly tree: JsonObject }[],
  context: RecordSetContext,
): RecordSets {
  const sets = new Map<string, RecordSet>();
  for (const { tree } of files) {
    const own = objectAt(tree, "record_sets");
    const defaults = objectAt(objectAt(tree, "defaults"), "record");
    for (const name of Object.keys(own).filter((key) => !isOwnKey(key))) {
      const first = sets.get(name);
      if (first !== undefined) context.report(duplicateSet(name, own, first.container, context.places));
      else
        sets.set(name, {
          records: listOf(own[name]).map((record) => withDefaults(record, defaults, context.places)),
          container: own,
        });
    }
  }
  return sets;
}

function duplicateSet(name: string, container: JsonObject, first: JsonObject, places: Places): Diagnostic {
  return {
    code: "duplicate-record-set",
    severity: "error",
    summary: `record set \`${name}\` is there twice`,
    detail: "Record sets belong to the whole project, so their names must differ.",
    fix: "Rename one of them, or join the two.",
    span: places.keySpan(container, name),
    related: [{ message: "first here", span: places.keySpan(first, name) }],
  };
}

export function reportUnused(sets: RecordSets, used: ReadonlySet<RecordSet>, context: RecordSetContext): void {
  for (const [name, set] of sets) {
    if (used.has(set)) continue;
    context.report({
      code: "unused-record-set",
      severity: "warning",
      summary: `record set \`${name}\` is not used`,
      detail: "No domain of the project names it under `use`.",
      fix: "Use it, or remove it.",
      span: context.places.keySpan(set.container, name),
    });
  }
}

export function usedSets(entry: JsonObject, sets: RecordSets, context: RecordSetContext): RecordSet[] {
  const used: RecordSet[] = [];
  const names = entry["use"];
  if (!Array.isArray(names)) return used;
  const known = [...sets.keys()];
  for (const [index, name] of (names as readonly Json[]).entries()) {
    const set = sets.get(String(name));
    const span = context.places.span(names, index);
    if (set !== undefined && used.includes(set)) context.report(usedTwice(String(name), span));
    else if (set !== undefined) used.push(set);
    else if (context.setsKnown) context.report(unknownSet(String(name), known, span));
  }
  return used;
}

function usedTwice(name: string, span: NonNullable<Diagnostic["span"]>): Diagnostic {
  const detail = "A record set can be used once in a domain.";
  return {
    code: "duplicate-use",
    severity: "error",
    summary: `\`${name}\` is used twice`,
    detail,
    fix: "Remove one of the two.",
    span,
  };
}

function unknownSet(name: string, known: readonly string[], span: NonNullable<Diagnostic["span"]>): Diagnostic {
  return {
    code: "unknown-record-set",
    severity: "error",
    summary: `unknown record set \`${name}\``,
    detail: `No file of the project has \`${name}\` under \`record_sets\`.`,
    fix: suggestion(name, known) || "Add it to `record_sets`.",
    span,
  };
}
