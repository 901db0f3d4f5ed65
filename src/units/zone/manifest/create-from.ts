/** `create_from:` of a domain entry: what a domain begins with that is not there yet. */

import { parseNameserver } from "../../../dns/transfer-address.ts";
import type { Json, JsonObject } from "../../../model/resource.ts";
import { isJsonObject } from "../../../model/resource.ts";
import type { CreateFrom } from "../shape.ts";
import type { ZoneContext } from "./context.ts";
import { readDomainName } from "./domain-name.ts";

/** Keys that say which records there are: with `create_from` that is unknown until the domain is there. */
const RECORD_KEYS = ["records", "use", "zone_file"] as const;

/** @returns null if there is none, or none that can be used; what is wrong is reported */
export function loadCreateFrom(entry: JsonObject, context: ZoneContext): CreateFrom | null {
  const from = entry["create_from"];
  if (!isJsonObject(from)) return null;
  const beside = RECORD_KEYS.find((key) => (entry[key] ?? null) !== null);
  if (beside !== undefined) context.error({ ...besideRecords(), span: context.span(entry, "create_from") });
  if (entry["type"] === "slave") context.error({ ...onSlave(context.zone), span: context.span(entry, "create_from") });
  const [clone, axfr] = [textOrNull(from["clone"]), textOrNull(from["axfr"])];
  // Both, or neither, is what the schema refuses.
  if ((clone === null) === (axfr === null)) return null;
  return clone === null ? loadServer(axfr ?? "", from, context) : loadSource(clone, from, context);
}

/** The way back: the value of `create_from:`. */
export function writeCreateFrom(from: CreateFrom): JsonObject {
  return from.type === "clone" ? { clone: from.domain } : { axfr: from.server };
}

function loadSource(text: string, from: JsonObject, context: ZoneContext): CreateFrom | null {
  const { name, problem } = readDomainName(text);
  const span = context.span(from, "clone");
  if (problem !== null) context.error({ ...problem, span });
  else if (name === context.zone) {
    const detail = `${context.zone} cannot be made from itself.`;
    context.error({ code: "bad-create-from", summary: "a clone of itself", detail, fix: "Name another domain.", span });
  } else return { type: "clone", domain: name };
  return null;
}

function loadServer(text: string, from: JsonObject, context: ZoneContext): CreateFrom | null {
  if (parseNameserver(text) !== null) return { type: "axfr", server: text };
  context.error({
    code: "bad-create-from",
    summary: "not a name server",
    detail: `\`${text}\` is neither a host name nor an address.`,
    fix: "Write a server that lets the service transfer the zone, for example ns1.example.net.",
    span: context.span(from, "axfr"),
  });
  return null;
}

function besideRecords() {
  return {
    code: "conflicting-keys",
    summary: "`create_from` beside records",
    detail: "What the domain begins with is unknown until it is there, so its records cannot be declared as well.",
    fix: "Remove one of them; once the domain is there, tenon import writes its records down.",
  };
}

function onSlave(zone: string) {
  return {
    code: "create-from-slave",
    summary: "a slave domain is not made from another one",
    detail: `${zone} is of type slave: its records come from its masters, so there is nothing to begin with.`,
    fix: "Remove `create_from`, or make the domain a master.",
  };
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}
