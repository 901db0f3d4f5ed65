/** A domain's values in one form, and the request bodies made of them (API.md: Domain). */

import type { WireDomain, WireRecord } from "../../api/wire.ts";
import { canonicalIp } from "../../dns/ip.ts";
import type { Failure } from "../../model/api.ts";
import type { Change } from "../../model/change.ts";
import type { Declared } from "../../model/desired.ts";
import { mapKey } from "../../model/map-key.ts";
import type { RequestStep } from "../../model/plan.ts";
import type { Json, JsonObject, Values } from "../../model/resource.ts";
import { compareText } from "../../model/text.ts";
import type { PairContext } from "../../model/unit.ts";
import { ownerOfTags, sharedWithOf, wantedOwner, withoutReservedTags, withReservedTags } from "../owner-tag.ts";
import { type LiveZone, zoneName } from "./live.ts";
import { writeCreateFrom } from "./load-domain.ts";
import type { ZoneSpec } from "./spec.ts";
import { isKnownRecord, liveRecord } from "./wire-record.ts";

const TEXTS = ["type", "status", "description", "group", "soa_email"] as const;
const LISTS = ["master_ips", "axfr_ips", "tags"] as const;
const SECONDS = ["refresh_sec", "retry_sec", "expire_sec", "ttl_sec"] as const;

/** Every field that can be managed; the tags that Tenon sets are separate from the user's tags. `shared_with` is there if it is shared. */
export function liveDomain({ domain }: LiveZone): Values {
  const values: Record<string, Json> = { domain: zoneName(domain), owner: ownerOfTags(domain.tags) };
  // The service never answers null here, but a null would only mean empty (OBSERVED: Domains).
  for (const field of TEXTS) values[field] = domain[field] ?? "";
  for (const field of LISTS) values[field] = domain[field] ?? [];
  for (const field of SECONDS) values[field] = domain[field] ?? 0;
  values["tags"] = withoutReservedTags(domain.tags);
  const sharedWith = sharedWithOf(domain.tags);
  if (sharedWith.length > 0) values["shared_with"] = sharedWith;
  return values;
}

/** What the manifest does not say is kept as it is live; at creation it is left to the service. */
export function desiredDomain(declared: Declared<ZoneSpec>, live: Values | null, context: PairContext): Values {
  const { spec } = declared;
  const values: Record<string, Json> = { ...live, domain: spec.domain, owner: wantedOwner(declared, context) };
  // What is not shared any more is taken back, also where nothing is said of it: nobody else may write what this project manages.
  const owners = (spec.sharedWith ?? []).map((share) => share.owner);
  if (owners.length > 0 || live?.["shared_with"] !== undefined) values["shared_with"] = owners;
  // How it is made matters once.
  if (live === null && spec.createFrom !== null) values["create_from"] = writeCreateFrom(spec.createFrom);
  for (const [field, value] of Object.entries(spec.fields)) {
    const kept = live?.[field];
    values[field] = kept !== undefined && sameField(field, kept, value) ? kept : value;
  }
  return values;
}

/** Lists are sets; tags, besides, compare case-insensitively (OBSERVED: Domains), and addresses in their canonical form. */
function sameField(field: string, a: Json, b: Json): boolean {
  return setKey(field, a) === setKey(field, b);
}

function setKey(field: string, value: Json): string {
  if (!Array.isArray(value)) return JSON.stringify(value);
  const spelt = field === "tags" ? (text: string) => text.toLowerCase() : (text: string) => canonicalIp(text) ?? text;
  const texts = value.map((entry) => mapKey(spelt(String(entry))));
  return JSON.stringify([...new Set(texts)].sort(compareText));
}

/** @param status the one to create it with: a zone that is to be filled is not served half-built */
export function createBody(values: Values, status: string): JsonObject {
  const { owner: _owner, create_from: _from, shared_with: _shared, ...stated } = values;
  const body: Record<string, Json> = {};
  for (const [field, value] of Object.entries(stated)) {
    if (!isUnset(value)) body[field] = value;
  }
  body["status"] = status;
  const tags = tagsOf(values);
  if (tags.length > 0) body["tags"] = tags;
  return body;
}

/** Whatever a copy brought with it, this makes it what a plain create would have made. */
export function copyBody(values: Values): JsonObject {
  const body: Record<string, Json> = {};
  for (const field of TEXTS) body[field] = values[field] ?? "";
  for (const field of LISTS) body[field] = values[field] ?? [];
  for (const field of SECONDS) body[field] = values[field] ?? 0;
  body["tags"] = tagsOf(values);
  return body;
}

/**
 * What is stated of a domain that begins as something else; the rest stays as it came. If tags are not stated, `tags` are those to add
 * to what came, and `amendBody` adds them.
 */
export function statedBody(values: Values): JsonObject {
  const body: Record<string, Json> = {};
  for (const field of [...TEXTS, ...LISTS, ...SECONDS]) {
    const value = values[field];
    if (value !== undefined) body[field] = value;
  }
  body["tags"] = tagsOf(values);
  return body;
}

/** Adds the tags that the new domain got from its source, without those that Tenon sets, in front of the tags of `body`. */
export function amendBody(body: JsonObject, earlier: JsonObject): JsonObject {
  const came = Array.isArray(earlier["tags"]) ? (earlier["tags"] as readonly Json[]).map(String) : [];
  const added = (body["tags"] ?? []) as readonly string[];
  return { ...body, tags: [...withoutReservedTags(came), ...added] };
}

/** The changed fields, the tags that Tenon sets among the tags. */
export function updateBody(before: Values, after: Values): JsonObject {
  const body: Record<string, Json> = {};
  for (const field of [...TEXTS, ...LISTS, ...SECONDS]) {
    const value = after[field];
    if (value !== undefined && value !== before[field]) body[field] = value;
  }
  const isShared = (values: Values) => setKey("shared_with", values["shared_with"] ?? []);
  if ("tags" in body || before["owner"] !== after["owner"] || isShared(before) !== isShared(after)) {
    body["tags"] = tagsOf(after);
  }
  return body;
}

function tagsOf(values: Values): string[] {
  const owner = values["owner"];
  return withReservedTags(
    (values["tags"] as readonly string[] | undefined) ?? [],
    typeof owner === "string" ? owner : null,
    (values["shared_with"] as readonly string[] | undefined) ?? [],
  );
}

/** What the service shows for a field that nobody set. */
export function isUnset(value: Json | undefined): boolean {
  return (
    value === undefined || value === "" || value === 0 || value === null || (Array.isArray(value) && value.length === 0)
  );
}

/** An object's content as far as a request body states it, in comparable form. */
export function statedContent(item: JsonObject | WireDomain, stated: JsonObject): JsonObject {
  const values = item as unknown as JsonObject;
  return Object.fromEntries(
    Object.keys(stated).map((field) => {
      const value = values[field] ?? null;
      return [field, field === "domain" ? String(value).toLowerCase() : setKey(field, value)];
    }),
  );
}

// Reads from answers how somebody else has changed, or made, a domain or record since the plan.

export function readBackOfZone(change: Change, answer: JsonObject): Values | null {
  return change.kind === "domain" ? readBackOfDomain(answer) : readBackOfRecord(change, answer);
}

/** Only the fields that the answer holds: what it leaves out has not become empty. */
function readBackOfDomain(answer: JsonObject): Values | null {
  const { domain, tags } = answer;
  if (typeof domain !== "string" || !Array.isArray(tags) || !tags.every((tag) => typeof tag === "string")) return null;
  const values = liveDomain({ domain: answer as unknown as WireDomain, records: [] });
  const held = Object.keys(values).filter(
    (field) => field === "owner" || field === "shared_with" || (answer[field] ?? null) !== null,
  );
  return Object.fromEntries(held.map((field) => [field, values[field] ?? null]));
}

function readBackOfRecord({ before, root }: Change, answer: JsonObject): Values | null {
  const { type, name, target, ttl_sec } = answer;
  if (typeof type !== "string" || type !== before?.["type"]) return null;
  if (typeof name !== "string" || typeof target !== "string" || typeof ttl_sec !== "number") return null;
  const record = answer as unknown as WireRecord;
  return isKnownRecord(record) ? liveRecord(record, root.slice(root.indexOf("/") + 1)) : null;
}

/** What the service says of a name that is taken is not known for sure, so that the words are read loosely. */
const NAME_TAKEN = /already|exist|in use|taken|unique/i;
const RECORD_IN_THE_WAY = /conflict|already|duplicate|unique/i;

export function conflictInZone({ lookup, path }: RequestStep, { errors }: Failure): string | null {
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
