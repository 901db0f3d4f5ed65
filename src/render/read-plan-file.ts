/** Reads a plan file back, and says by name what is wrong with one that cannot be used. */

import { readFile } from "node:fs/promises";
import type { Change } from "../model/change.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Plan } from "../model/plan.ts";
import type { Json, JsonObject, ObjectId } from "../model/resource.ts";
import { isJsonObject } from "../model/resource.ts";
import { escapeText } from "./escape.ts";
import {
  type ChangeExtra,
  PLAN_FORMAT_VERSION,
  type PlanAction,
  type PlanFile,
  type ResourceChange,
} from "./plan-file.ts";

/** The same relative to src/render and to dist/render. */
const SCHEMA = new URL("../../schemas/plan.schema.json", import.meta.url);
const MAX_PROBLEMS_SHOWN = 5;

export type PlanFileResult =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/**
 * @returns the plan, or a diagnostic: `plan-file-truncated`, `plan-file-damaged`, `plan-file-newer` or `plan-file-foreign`
 * @throws if the schema that is shipped with the package cannot be read
 */
export async function parsePlanFile(text: string): Promise<PlanFileResult> {
  const parsed = parseJson(text);
  if (!parsed.ok) return parsed;
  const foreign = recogniseOthers(parsed.value);
  if (foreign !== null) return { ok: false, diagnostic: foreign };
  const problems = await schemaProblems(parsed.value);
  if (problems.length > 0) return { ok: false, diagnostic: damaged(problems) };
  const file = parsed.value as unknown as PlanFile;
  const strangers = file.resource_changes.filter(({ address }) => !Object.hasOwn(file.tenon.changes, address));
  if (strangers.length > 0) {
    return {
      ok: false,
      diagnostic: damaged(strangers.map(({ address }) => `${address} is missing under tenon.changes`)),
    };
  }
  return { ok: true, plan: toPlan(file) };
}

type Parsed = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly diagnostic: Diagnostic };

function parseJson(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    return { ok: false, diagnostic: isCutOff(text, message) ? truncated(text) : damaged([message]) };
  }
}

/** Whether JSON ends where more had to come; V8 says so, or names a position at the very end. */
function isCutOff(text: string, message: string): boolean {
  if (text.trim() === "" || message.includes("Unexpected end of JSON input")) return true;
  const position = /at position (\d+)/.exec(message)?.[1];
  return position !== undefined && Number(position) >= text.trimEnd().length;
}

function truncated(text: string): Diagnostic {
  return {
    code: "plan-file-truncated",
    severity: "error",
    summary: text.trim() === "" ? "the plan file is empty" : "the plan file is truncated: its end is missing",
    detail: "It was probably not written or copied to the end.",
    fix: "Write it again with tenon plan --out FILE.",
  };
}

function damaged(problems: readonly string[]): Diagnostic {
  const shown = problems.slice(0, MAX_PROBLEMS_SHOWN).map(escapeText);
  const more = problems.length > shown.length ? [`and ${problems.length - shown.length} more`] : [];
  return {
    code: "plan-file-damaged",
    severity: "error",
    summary: "the plan file is damaged: it is not what tenon plan --out writes",
    detail: `${[...shown, ...more].join("; ")}.`,
    fix: "Write it again with tenon plan --out FILE.",
  };
}

function recogniseOthers(value: Json): Diagnostic | null {
  const tenon = isJsonObject(value) ? value["tenon"] : undefined;
  const version = isJsonObject(tenon) ? tenon["format_version"] : undefined;
  if (typeof version === "number" && version > PLAN_FORMAT_VERSION) {
    return {
      code: "plan-file-newer",
      severity: "error",
      summary: `the plan file has format version ${version}; this version of tenon reads up to ${PLAN_FORMAT_VERSION}`,
      detail: "It was written by a newer tenon, and may say what this one does not understand.",
      fix: "Use the same version of tenon for plan and apply.",
    };
  }
  if (isJsonObject(value) && value["format_version"] !== undefined && tenon === undefined) {
    return {
      code: "plan-file-foreign",
      severity: "error",
      summary: "the file is a plan, but not one of tenon",
      detail: "It has a format_version, and nothing under tenon.",
      fix: "Write one with tenon plan --out FILE.",
    };
  }
  return null;
}

async function schemaProblems(value: Json): Promise<string[]> {
  const [{ Ajv2020 }, schema] = await Promise.all([import("ajv/dist/2020.js"), readFile(SCHEMA, "utf8")]);
  const validate = new Ajv2020({ allErrors: false, strict: true, allowUnionTypes: true }).compile(
    JSON.parse(schema) as JsonObject,
  );
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${instancePath || "/"} ${message ?? "is not valid"}`,
  );
}

function toPlan(file: PlanFile): Plan {
  const { tenon } = file;
  return {
    goal: tenon.goal,
    owner: tenon.owner,
    changes: file.resource_changes.map((change) => toChange(change, tenon.changes[change.address] as ChangeExtra)),
    steps: tenon.steps,
    barriers: tenon.barriers,
    guards: tenon.guards,
    refusals: tenon.refusals,
    gaps: tenon.gaps,
    strategies: tenon.strategies,
    warnings: tenon.warnings,
    leftAlone: tenon.left_alone,
    requestCount: tenon.requests,
    pace: tenon.pace,
    base: tenon.base,
  };
}

function toChange(resource: ResourceChange, extra: ChangeExtra): Change {
  const { address: key, previous_address, index, type, change } = resource;
  const suffix = index === undefined ? "" : `[${index}]`;
  return {
    key,
    address: suffix !== "" && key.endsWith(suffix) ? key.slice(0, -suffix.length) : key,
    previousAddress: previous_address ?? null,
    unit: extra.unit,
    root: extra.root,
    kind: type,
    action: toAction(change.actions),
    labels: extra.labels,
    id: (change.before?.["id"] ?? null) as ObjectId | null,
    before: withoutId(change.before),
    after: withoutId(change.after),
    replaceFields: extra.replace_fields,
    blocked: extra.blocked,
    note: extra.note,
    span: extra.span,
    origin: extra.origin,
  };
}

function toAction(actions: readonly PlanAction[]): Change["action"] {
  return actions.length > 1 ? "replace" : (actions[0] ?? "no-op");
}

function withoutId(values: JsonObject | null): JsonObject | null {
  if (values === null) return null;
  const { id: _, ...rest } = values;
  return rest;
}
