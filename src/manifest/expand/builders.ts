/** Entries that are builders (spf, dmarc, dkim, caa, ptr) → the plain records that they come down to. */

import type { BuildProblem, Built, BuiltRecord, PartPath } from "../../dns/build/built.ts";
import { buildCaa, type CaaParts } from "../../dns/build/caa.ts";
import { buildDkim, type DkimParts } from "../../dns/build/dkim.ts";
import { buildDmarc, type DmarcParts } from "../../dns/build/dmarc.ts";
import { buildPtr, type PtrParts } from "../../dns/build/ptr.ts";
import { buildSpf, type SpfParts } from "../../dns/build/spf.ts";
import type { Diagnostic, Span } from "../../model/diagnostic.ts";
import type { Json, JsonObject } from "../../model/resource.ts";
import type { Places } from "../places.ts";
import { isOwnKey } from "../schema.ts";
import { textAt } from "./entry.ts";

export interface BuilderContext {
  readonly places: Places;
  report(diagnostic: Diagnostic): void;
}

const BUILDERS = ["spf", "dmarc", "dkim", "caa", "ptr"] as const;

type Builder = (typeof BUILDERS)[number];

/** What the records of a builder have from its entry. */
const PASSED_ON = ["ttl_sec", "override", "note", "lint"] as const;

/**
 * Builders in their place in the list, replaced by their records; a record stands where the part does that it comes from.
 * @param zone lower-case ASCII without a final dot
 */
export function expandBuilders(entries: readonly JsonObject[], zone: string, context: BuilderContext): JsonObject[] {
  return entries.flatMap((entry) => {
    const builder = BUILDERS.find((key) => Object.hasOwn(entry, key));
    return builder === undefined ? [entry] : expand(entry, builder, zone, context);
  });
}

/** Whether validation took something out of a builder, so that what is left means nothing. */
export function lacksParts(entry: JsonObject, incomplete: ReadonlySet<object>): boolean {
  const builder = BUILDERS.find((key) => Object.hasOwn(entry, key));
  return builder !== undefined && incomplete.has(entry[builder] as object);
}

function expand(entry: JsonObject, builder: Builder, zone: string, context: BuilderContext): JsonObject[] {
  checkFields(entry, builder, context);
  const parts = entry[builder] as JsonObject;
  const { records, problems } = build(builder, parts, textAt(entry, "name") ?? "", zone);
  for (const { path, ...problem } of problems) {
    context.report({ ...problem, span: spanOf(entry, builder, path, context.places) });
  }
  return problems.some(isFatal) ? [] : records.map((record) => plainRecord(record, entry, builder, context.places));
}

/** A record with a part that is wrong says what nobody meant. */
function isFatal({ severity }: BuildProblem): boolean {
  return severity === "error";
}

function build(builder: Builder, written: JsonObject, name: string, zone: string): Built {
  const parts: unknown = Object.fromEntries(Object.entries(written).filter(([key]) => !isOwnKey(key)));
  switch (builder) {
    case "spf":
      return buildSpf(parts as SpfParts, name, zone);
    case "dmarc":
      return buildDmarc(parts as DmarcParts, name);
    case "dkim":
      return buildDkim(parts as DkimParts, name);
    case "caa":
      return buildCaa(parts as CaaParts, name);
    case "ptr":
      return buildPtr(parts as PtrParts, zone);
  }
}

function checkFields(entry: JsonObject, builder: Builder, context: BuilderContext): void {
  const allowed: readonly string[] = [builder, ...PASSED_ON, ...(builder === "ptr" ? [] : ["name"])];
  for (const key of Object.keys(entry).filter((name) => !allowed.includes(name) && !isOwnKey(name))) {
    const detail = `\`${key}\` belongs to plain records; beside \`${builder}\` there may be: ${allowed.slice(1).join(", ")}.`;
    context.report({
      code: "wrong-field",
      severity: "error",
      summary: `\`${key}\` has no meaning here`,
      detail,
      fix: "Remove it.",
      span: context.places.keySpan(entry, key),
    });
  }
}

function plainRecord(built: BuiltRecord, entry: JsonObject, builder: Builder, places: Places): JsonObject {
  const record: Record<string, Json> = Object.create(null);
  record["type"] = built.type;
  record["name"] = built.name;
  if (built.tag !== undefined) record["tag"] = built.tag;
  record["target"] = built.target;
  const passed = PASSED_ON.filter((key) => Object.hasOwn(entry, key));
  for (const key of passed) record[key] = entry[key] as Json;
  const part = spanOf(entry, builder, built.path ?? [], places);
  places.make(record, built.path === undefined ? places.span(entry) : part, {
    type: places.keySpan(entry, builder),
    name: Object.hasOwn(entry, "name") ? places.span(entry, "name") : part,
    target: part,
    ...Object.fromEntries(passed.map((key) => [key, places.span(entry, key)])),
  });
  return record;
}

/** The part that a path leads to, or what of it there is; the builder's key for no part at all. */
function spanOf(entry: JsonObject, builder: Builder, path: PartPath, places: Places): Span {
  if (path.length === 0) return places.keySpan(entry, builder);
  let container = entry[builder] as object;
  for (const step of path.slice(0, -1)) {
    const next = (container as Record<string | number, unknown>)[step];
    if (typeof next !== "object" || next === null) return places.span(container, step);
    container = next;
  }
  return places.span(container, path.at(-1));
}
