/** One record entry of a manifest → its records, one for each target. */

import type { RecordType } from "../../../api/wire/index.ts";
import { absoluteName } from "../../../dns/name.ts";
import { ownerName, serviceOwner } from "../../../dns/owner.ts";
import type { Diagnostic } from "../../../model/diagnostic.ts";
import type { Json, JsonObject } from "../../../model/resource.ts";
import type { RecordSpec } from "../shape.ts";
import type { ZoneContext } from "./context.ts";
import { loadSeconds } from "./fields.ts";
import { lintOff } from "./lint-off.ts";
import { ownerProblem, serviceProblem } from "./name-problems.ts";
import { RECORD_TYPES } from "./schema-record.ts";
import { loadTarget } from "./target.ts";

/** Fields that only some types have: the service stores them on others, too, where they mean nothing. */
const ONLY_FOR: Readonly<Record<string, readonly RecordType[]>> = {
  priority: ["MX", "SRV"],
  weight: ["SRV"],
  port: ["SRV"],
  service: ["SRV"],
  protocol: ["SRV"],
  tag: ["CAA"],
};

const REQUIRED: Readonly<Partial<Record<RecordType, readonly string[]>>> = {
  SRV: ["priority", "weight", "port"],
  CAA: ["tag"],
};

/** @returns none if the record's identity cannot be told; everything found is reported either way */
export function loadRecord(entry: JsonObject, context: ZoneContext): RecordSpec[] {
  const type = RECORD_TYPES.find((known) => known === entry["type"]);
  if (type === undefined) return [];
  checkFields(entry, type, context);
  const name = loadName(entry, type, context);
  const ttl_sec = loadSeconds(entry, "ttl_sec", context);
  const extra = extraFields(entry, type);
  const own = { note: textOrNull(entry["note"]), lintOff: lintOff(entry["lint"]) };
  const records: RecordSpec[] = [];
  for (const { text, container, key } of targetsOf(entry, context)) {
    const target = loadTarget(text, type, context, () => context.span(container, key));
    const span = container === entry ? context.span(entry) : context.span(container, key);
    if (target !== null && name !== null) records.push({ type, name, target, ttl_sec, ...extra, span, ...own });
  }
  return records;
}

function checkFields(entry: JsonObject, type: RecordType, context: ZoneContext): void {
  for (const key of Object.keys(ONLY_FOR)) {
    const types = ONLY_FOR[key] ?? [];
    if (!Object.hasOwn(entry, key) || types.includes(type)) continue;
    const detail = `\`${key}\` belongs to ${types.join(" and ")} records; this is of type ${type}.`;
    context.error({
      code: "wrong-field",
      summary: `\`${key}\` has no meaning here`,
      detail,
      fix: "Remove it.",
      span: context.span(entry, key),
    });
  }
  const missing = (REQUIRED[type] ?? []).filter((key) => !Object.hasOwn(entry, key));
  if (missing.length === 0) return;
  const names = missing.map((key) => `\`${key}\``).join(", ");
  const verb = missing.length === 1 ? "is" : "are";
  const detail = `Records of type ${type} need ${names}.`;
  context.error({
    code: "missing-field",
    summary: `${names} ${verb} missing`,
    detail,
    fix: `Add ${names}.`,
    span: context.span(entry, "type"),
  });
}

function loadName(entry: JsonObject, type: RecordType, context: ZoneContext): string | null {
  const written = textOrNull(entry["name"]) ?? "";
  const owner = ownerName(written, context.zone);
  const span = context.span(entry, Object.hasOwn(entry, "name") ? "name" : "type");
  if (!owner.ok) {
    context.error({ ...ownerProblem(owner.problem, owner.name, context.zone), span });
    return null;
  }
  if (type !== "SRV") return checkPlace(owner.name, type, span, context);
  const service = serviceOwner(owner.name, textOrNull(entry["service"]), textOrNull(entry["protocol"]));
  if (!service.ok) {
    context.error({ ...serviceProblem(service.problem), span });
    return null;
  }
  const full = ownerName(service.name, context.zone);
  if (full.ok) return full.name;
  context.error({ ...ownerProblem(full.problem, full.name, context.zone), span });
  return null;
}

/** Where the service, or DNS itself, has no room for a type. */
function checkPlace(
  name: string,
  type: RecordType,
  span: NonNullable<Diagnostic["span"]>,
  context: ZoneContext,
): string {
  if (type === "CNAME" && name === "") {
    const detail = `The apex of ${context.zone} has SOA and NS records, and a CNAME cannot stand beside other data (RFC 1034, 3.6.2).`;
    context.error({
      code: "cname-at-apex",
      summary: "a CNAME cannot be at the apex",
      detail,
      fix: "Use A and AAAA records there.",
      span,
    });
  }
  if (type === "NS" && name.split(".")[0] === "*") {
    const detail = `${absoluteName(name, context.zone)} would delegate every name, which the service does not take.`;
    context.error({
      code: "wildcard-ns",
      summary: "an NS record cannot be a wildcard",
      detail,
      fix: "Delegate each name by itself.",
      span,
    });
  }
  return name;
}

function extraFields(
  entry: JsonObject,
  type: RecordType,
): { priority?: number; weight?: number; port?: number; tag?: string } {
  if (type === "MX") return { priority: numberOr0(entry["priority"]) };
  if (type === "SRV")
    return {
      priority: numberOr0(entry["priority"]),
      weight: numberOr0(entry["weight"]),
      port: numberOr0(entry["port"]),
    };
  if (type === "CAA") return { tag: textOrNull(entry["tag"]) ?? "" };
  return {};
}

interface WrittenTarget {
  readonly text: string;
  readonly container: object;
  readonly key: string | number;
}

function targetsOf(entry: JsonObject, context: ZoneContext): WrittenTarget[] {
  const { target, targets } = entry as { target?: Json; targets?: Json };
  if (typeof target === "string" && targets !== undefined) {
    context.error({
      code: "conflicting-keys",
      summary: "both `target` and `targets`",
      detail: "A record entry has one target, or a list of them.",
      fix: "Put all of them into `targets`.",
      span: context.span(entry, "targets"),
      related: [{ message: "the other one", span: context.span(entry, "target") }],
    });
  }
  if (Array.isArray(targets)) {
    return (targets as readonly Json[]).flatMap((text, index) =>
      typeof text === "string" ? [{ text, container: targets as object, key: index }] : [],
    );
  }
  if (typeof target === "string") return [{ text: target, container: entry, key: "target" }];
  const detail = "A record without a target says nothing.";
  context.error({
    code: "missing-field",
    summary: "`target` is missing",
    detail,
    fix: "Add `target`.",
    span: context.span(entry, "type"),
  });
  return [];
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function numberOr0(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}
