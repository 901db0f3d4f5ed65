/** Why the object a unit is named after changes, beyond the change itself. */

import isEqual from "fast-deep-equal";
import type { Change, ChangeLabel } from "../model/change.ts";
import type { Span } from "../model/diagnostic.ts";
import type { Lookup, PathPart, RequestStep } from "../model/plan.ts";
import type { Address, Json, JsonObject, ObjectId, Values } from "../model/resource.ts";
import { compareIds } from "../model/text.ts";
import type { LiveIdentity, LoadContext, Match, PairContext, ReadResult, Recognition } from "../model/unit.ts";

/**
 * @param live its normalised values, with the `owner` of its tag
 * @param name the name it is declared under, in the field `label`; null if it has none to lose
 */
export function rootLabels(
  match: Match,
  live: Values | null,
  name: string | null,
  context: PairContext,
): ChangeLabel[] {
  switch (match.intent) {
    case "create":
      return [];
    case "delete":
      return match.label === null ? [] : [match.label];
    case "release":
      return ["release"];
    case "manage": {
      const labels: ChangeLabel[] = [];
      const owner = live?.["owner"] ?? null;
      if (owner === null && context.owner !== null) labels.push("adopt");
      if (owner !== null && owner !== context.owner) labels.push("take-over");
      if (name !== null && live?.["label"] !== name) labels.push("rename");
      return labels;
    }
  }
}

// What an object that stays may lose without consent.

/** The share of what is in a live object, of a zone's records or a VPC's subnets, that may be deleted without consent. */
const BULK_LIMIT_PERCENT = 30;

export function isBulk(count: number, of: number): boolean {
  return count * 100 > of * BULK_LIMIT_PERCENT;
}

// What every entry of a manifest may have.

/** `patternProperties` of an entry's schema. */
export const OWN_KEYS: JsonObject = { "^x-": { title: "Your own", description: "Keys that begin with x- are yours." } };

// What a description of a VPC or image may hold.

/** @param maxCharacters with the owner's tag; the service counts characters (code points), not UTF-16 units */
export function checkDescription(
  entry: { readonly description?: Json },
  maxCharacters: number,
  context: LoadContext,
): void {
  const text = entry.description;
  if (typeof text !== "string") return;
  const span = context.span(entry, "description");
  if (text.toLowerCase().includes("[tenon:")) {
    const detail = "`[tenon:…]` in a description is how Tenon marks what it owns, so your own text cannot hold it.";
    context.report({
      code: "reserved-tag",
      severity: "error",
      summary: "the description holds an ownership tag",
      detail,
      fix: "Remove it; set `owner` in the root file instead.",
      span,
    });
  }
  const length = characters(joinDescription(text, context.owner));
  if (length <= maxCharacters) return;
  const tag = length - characters(text);
  const counted = tag === 0 ? "" : `, ${tag} of them for the owner's tag`;
  context.report({
    code: "too-long",
    severity: "error",
    summary: "`description` is too long",
    detail: `It would have ${length} characters${counted}; the service takes ${maxCharacters}.`,
    fix: `Shorten it to ${maxCharacters - tag} characters.`,
    span,
  });
}

function characters(text: string): number {
  return [...text].length;
}

// Ownership tags: how an object in the account says which project made it or took it over.

/** What an owner may look like. */
const OWNER_PATTERN = "[a-z0-9-]{1,32}";

const TAG_PREFIX = "tenon:";
/** Letter case does not hide whose it is. */
const LAST_TAG = new RegExp(`\\[tenon:(${OWNER_PATTERN})\\]$`, "i");
const MAX_TAG_CHARACTERS = "[tenon:]".length + 32;

/** The owner in a domain's tags, null if none. Several owners are joined, so that none of them is taken for it. */
export function ownerOfTags(tags: readonly string[]): string | null {
  return joined(tags.filter(isOwnerTag).map((tag) => tag.slice(TAG_PREFIX.length)));
}

/** A domain's tags as its user wrote them. */
export function withoutOwnerTag(tags: readonly string[]): string[] {
  return tags.filter((tag) => !isOwnerTag(tag));
}

export function withOwnerTag(tags: readonly string[], owner: string | null): string[] {
  return owner === null ? [...tags] : [...tags, `${TAG_PREFIX}${owner}`];
}

/** Tags compare case-insensitively (OBSERVED: Domains). */
function isOwnerTag(tag: string): boolean {
  return tag.toLowerCase().startsWith(TAG_PREFIX);
}

/** A VPC's or image's description, split into the user's text and the owner in the tag at its end; several are joined. */
export function splitDescription(description: string | null): { text: string; owner: string | null } {
  const whole = description ?? "";
  const owners: string[] = [];
  let start = whole.length;
  // Read from the end, tag by tag: a description may hold a million tags with other text behind them.
  for (;;) {
    const before = whole.slice(0, start).trimEnd();
    const tag = LAST_TAG.exec(before.slice(-MAX_TAG_CHARACTERS));
    if (tag === null) break;
    owners.push(tag[1] ?? "");
    start = before.length - tag[0].length;
  }
  if (owners.length === 0) return { text: whole, owner: null };
  return { text: whole.slice(0, whole[start - 1] === " " ? start - 1 : start), owner: joined(owners) };
}

/** null if there is none. */
function joined(owners: readonly string[]): string | null {
  const names = new Set(owners.map((owner) => owner.toLowerCase()));
  return names.size === 0 ? null : [...names].sort().join(",");
}

export function joinDescription(text: string, owner: string | null): string {
  if (owner === null) return text;
  const tag = `[${TAG_PREFIX}${owner}]`;
  return text === "" ? tag : `${text} ${tag}`;
}

// Recognition by content: the one object that was not there before and says exactly what the request said.

/** @param contentOf an item's content in the form of `lookup.match` */
export function recogniseOne(
  lookup: Lookup,
  items: readonly JsonObject[],
  contentOf: (item: JsonObject) => Json,
): Recognition {
  const known = new Set(lookup.known);
  const equal = items.filter((item) => !known.has(item["id"] as ObjectId) && isEqual(contentOf(item), lookup.match));
  const [first, second] = equal;
  if (first === undefined) return { type: "absent" };
  if (second === undefined) return { type: "found", item: first, id: first["id"] as ObjectId };
  return { type: "ambiguous", ids: equal.map((item) => item["id"] as ObjectId) };
}

// Many lists read at once, as one reading: the first that fails ends all others, sent or not.

type Failed = Extract<ReadResult<never>, { ok: false }>;

/**
 * Parts in the order of the items, or the failure that came first. What it cut short fails in its turn, and is not reported.
 * @param read gets the signal that ends it, and must not throw
 */
export async function readEach<Item, Part extends object>(
  items: readonly Item[],
  outer: AbortSignal | undefined,
  read: (item: Item, signal: AbortSignal) => Promise<Part | Failed>,
): Promise<{ readonly ok: true; readonly parts: readonly Part[] } | Failed> {
  const stop = new AbortController();
  const signal = outer === undefined ? stop.signal : AbortSignal.any([outer, stop.signal]);
  let failed: Failed | null = null;
  const parts = await Promise.all(
    items.map(async (item): Promise<Part | null> => {
      const result = await read(item, signal);
      if (!isFailed(result)) return result;
      failed ??= result;
      stop.abort();
      return null;
    }),
  );
  return failed ?? { ok: true, parts: parts.filter((part) => part !== null) };
}

function isFailed(result: object): result is Failed {
  return "failure" in result;
}

// The one form of a request step, before it is ordered.

export type UnorderedRequest = Omit<RequestStep, "after" | "afterEnd">;

/** A request that carries out one change; what more it does is spread over it. */
export function request(
  change: Change,
  id: string,
  method: RequestStep["method"],
  path: readonly PathPart[],
  body: JsonObject | null,
): UnorderedRequest {
  return {
    id,
    type: "request",
    unit: change.unit,
    root: change.root,
    changes: [change.key],
    method,
    path,
    body,
    produces: null,
    lookup: null,
    expect: null,
  };
}

// Live objects that carry one label: each gets an address of its own, so that no two are taken for one.

/**
 * The address of each match. What is declared keeps the address of its label; of the others only the first by id can have it,
 * and the rest are told apart by their ids: `vpc/prod:123`.
 */
export function rootAddresses<Spec, Live>(
  matches: readonly Match<Spec, Live>[],
  identify: (live: Live) => LiveIdentity,
): ReadonlyMap<Match<Spec, Live>, Address> {
  const addresses = new Map<Match<Spec, Live>, Address>();
  const rest: { match: Match<Spec, Live>; identity: LiveIdentity }[] = [];
  for (const match of matches) {
    if (match.declared !== null) addresses.set(match, match.declared.address);
    else rest.push({ match, identity: identify(match.live) });
  }
  const taken = new Set(addresses.values());
  for (const { match, identity } of rest.sort((a, b) => compareIds(a.identity.id, b.identity.id))) {
    const address = taken.has(identity.address)
      ? `${identity.address}:${encodeURIComponent(identity.id)}`
      : identity.address;
    taken.add(address);
    addresses.set(match, address);
  }
  return addresses;
}

// What units share when they write a spec back as a manifest entry.

/** Without the keys that are undefined; null stays, for it resets. */
export function stated(entry: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)) as JsonObject;
}

export function noteOf(note: string | null): JsonObject {
  return note === null ? {} : { note };
}

// The place of what no manifest has declared yet.

export const NOWHERE: Span = { file: "", start: 0, end: 0 };
