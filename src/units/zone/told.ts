/** What answers tell of a domain or record that somebody else has changed, or has made, since the plan. */

import type { WireDomain, WireRecord } from "../../api/wire/index.ts";
import type { Change } from "../../model/change.ts";
import type { Failure } from "../../model/failure.ts";
import type { JsonObject, Values } from "../../model/resource.ts";
import type { RequestStep } from "../../model/step.ts";
import { liveDomain } from "./domain.ts";
import { isKnownType, liveRecord } from "./values.ts";

export function toldOfZone(change: Change, answer: JsonObject): Values | null {
  return change.kind === "domain" ? toldOfDomain(answer) : toldOfRecord(change, answer);
}

/** Only the fields that the answer holds: what it leaves out has not become empty. */
function toldOfDomain(answer: JsonObject): Values | null {
  if (typeof answer["domain"] !== "string" || !Array.isArray(answer["tags"])) return null;
  const values = liveDomain({ domain: answer as unknown as WireDomain, records: [] });
  const held = Object.keys(values).filter((field) => field === "owner" || (answer[field] ?? null) !== null);
  return Object.fromEntries(held.map((field) => [field, values[field] ?? null]));
}

function toldOfRecord({ before, root }: Change, answer: JsonObject): Values | null {
  const { type, name, target, ttl_sec } = answer;
  if (typeof type !== "string" || !isKnownType(type) || type !== before?.["type"]) return null;
  if (typeof name !== "string" || typeof target !== "string" || typeof ttl_sec !== "number") return null;
  return liveRecord(answer as unknown as WireRecord, root.slice(root.indexOf("/") + 1));
}

/** What the service says of a name that is taken is not known for sure, so that the words are read loosely. */
const NAME_TAKEN = /already|exist|in use|taken|unique/i;
const RECORD_IN_THE_WAY = /conflict|already|duplicate|unique/i;

export function clashInZone({ lookup, path }: RequestStep, { errors }: Failure): string | null {
  const says = (words: RegExp) => errors.some(({ reason }) => words.test(reason));
  if (lookup?.kind === "domain") {
    return says(NAME_TAKEN)
      ? "the domain exists by now, made by somebody else since the plan or held by another account"
      : null;
  }
  const isRecord = path[2] === "records";
  return isRecord && says(RECORD_IN_THE_WAY)
    ? "a record stands in its way that was not there when it was planned"
    : null;
}
