/** What the units share: recognition by content, parallel reads, request steps, addresses and manifest entries. */

import isEqual from "fast-deep-equal";
import type { Change } from "../model/change.ts";
import type { Declared } from "../model/desired.ts";
import type { Span } from "../model/diagnostic.ts";
import { endingWith } from "../model/ending.ts";
import type { Lookup, PathPart, RequestStep } from "../model/plan.ts";
import type { Address, Json, JsonObject, ObjectId } from "../model/resource.ts";
import { compareIds, groupBy } from "../model/text.ts";
import type { LiveIdentity, Match, ReadResult, Recognition } from "../model/unit.ts";

// What every entry of a manifest may have.

/** `patternProperties` of an entry's schema. */
export const OWN_KEYS: JsonObject = { "^x-": { title: "Your own", description: "Keys that begin with x- are yours." } };

// Recognition by content: the one object that was not there before and has exactly the content that the request sent.

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

// Reads many lists at once: the first list that fails ends all the others, whether their requests are sent or not.

type Failed = Extract<ReadResult<never>, { ok: false }>;

/**
 * Parts in the order of the items, or the failure that came first. The reads that this failure aborts fail as well, and are not reported.
 * @param read gets the signal that ends it, and must not throw
 */
export async function readEach<Item, Part extends object>(
  items: readonly Item[],
  outer: AbortSignal | undefined,
  read: (item: Item, signal: AbortSignal) => Promise<Part | Failed>,
): Promise<{ readonly ok: true; readonly parts: readonly Part[] } | Failed> {
  const stop = endingWith(outer);
  let failed: Failed | null = null;
  const parts = await Promise.all(
    items.map(async (item): Promise<Part | null> => {
      const result = await read(item, stop.signal);
      if (!isFailed(result)) return result;
      failed ??= result;
      stop.abort();
      return null;
    }),
  ).finally(stop.release);
  return failed ?? { ok: true, parts: parts.filter((part) => part !== null) };
}

function isFailed(result: object): result is Failed {
  return "failure" in result;
}

// The one form of a request step, before it is ordered.

export type UnorderedRequest = Omit<RequestStep, "after" | "afterEnd">;

/** A request that carries out one change. A caller that needs more fields spreads it: `{ ...request(…), lookup }`. */
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

// Live objects that share a label: each gets an address of its own, so that no two are mistaken for one object.

/**
 * Finds the address of each match. A declared object gets the address of its label, unless an undo deletes it. If no declared object has it, the undeclared object
 * with the lowest id gets it; the others get their id appended: `vpc/prod:123`. If several objects of one label are to be pruned, each gets
 * its id: otherwise the consent to prune one would later hold for another that gets its address.
 */
export function rootAddresses<Spec, Live>(
  matches: readonly Match<Spec, Live>[],
  identify: (live: Live) => LiveIdentity,
): ReadonlyMap<Match<Spec, Live>, Address> {
  const addresses = new Map<Match<Spec, Live>, Address>();
  const rest: { match: Match<Spec, Live>; identity: LiveIdentity }[] = [];
  for (const match of matches) {
    if (match.declared !== null && match.declared.goes !== true) addresses.set(match, match.declared.address);
    else if (match.live !== null) rest.push({ match, identity: identify(match.live) });
  }
  const taken = new Set(addresses.values());
  const pruned = groupBy(rest.filter(isUndeclared), ({ identity }) => identity.address);
  for (const [address, ofLabel] of pruned) if (ofLabel.length > 1) taken.add(address);
  for (const { match, identity } of rest.sort((a, b) => compareIds(a.identity.id, b.identity.id))) {
    const address = taken.has(identity.address)
      ? `${identity.address}:${encodeURIComponent(identity.id)}`
      : identity.address;
    taken.add(address);
    addresses.set(match, address);
  }
  return addresses;
}

function isUndeclared({ match }: { readonly match: Match }): boolean {
  return match.intent === "delete" && match.label !== null;
}

// What units share when they write a spec back as a manifest entry.

/** The entry without the keys that are undefined. null stays: in a manifest it resets the field. */
export function stated(entry: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)) as JsonObject;
}

export function noteOf(note: string | null): JsonObject {
  return note === null ? {} : { note };
}

// What is declared of an object that was read from the account: no manifest says anything of it yet.

export const NOWHERE: Span = { file: "", start: 0, end: 0 };

export const UNSTATED: Pick<Declared, "id" | "movedFrom" | "protect" | "note" | "span"> = {
  ...{ id: null, movedFrom: null, protect: false },
  ...{ note: null, span: NOWHERE },
};
