/** What the units share: recognition by content, parallel reads, request steps, addresses and manifest entries. */

import isEqual from "fast-deep-equal";
import { ANNOTATION_KEYS, type Annotations, isDate } from "../model/annotations.ts";
import type { Change } from "../model/change.ts";
import type { Declared } from "../model/desired.ts";
import type { Diagnostic, Span } from "../model/diagnostic.ts";
import { endingWith } from "../model/ending.ts";
import type { PropertiesOf } from "../model/entry.ts";
import type { Lookup, PathPart, RequestStep } from "../model/plan.ts";
import type { Address, Json, JsonObject, ObjectId } from "../model/resource.ts";
import { compareIds, groupBy } from "../model/text.ts";
import type { LiveIdentity, LoadContext, Match, ReadResult, Recognition } from "../model/unit.ts";

// What every entry of a manifest may have.

/** `patternProperties` of an entry's schema. */
export const OWN_KEYS: JsonObject = { "^x-": { title: "Your own", description: "Keys that begin with x- are yours." } };

/** What an entry may say for people, beside its note. */
export interface AnnotationEntry {
  readonly owner?: string;
  readonly reason?: string;
  readonly review_by?: string;
  readonly expires?: string;
}

/** @param once what becomes of it when it has expired, as a sentence */
export function annotationProperties(once: string): PropertiesOf<AnnotationEntry> {
  return {
    owner: {
      title: "Owner of the entry",
      description:
        "The person or team that answers for it: text for people, shown in plans and lists. It is no owner's tag: that is the root file's `owner`.",
      type: "string",
      minLength: 1,
      maxLength: MAX_ENTRY_OWNER_LENGTH,
      pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]+$",
      examples: ["dns-team", "Ada Lovelace"],
    },
    reason: {
      title: "Reason",
      description: "Why it is there; shown in plans and lists.",
      type: "string",
      minLength: 1,
      maxLength: MAX_REASON_LENGTH,
      examples: ["spring campaign, ticket 4711"],
    },
    review_by: {
      title: "Review by",
      description: `${DATE} From the day after it, validate warns that it is to be looked at again.`,
      type: "string",
      examples: ["2027-01-31"],
    },
    expires: { title: "Expires", description: `${DATE} ${once}`, type: "string", examples: ["2027-03-31"] },
  };
}

const MAX_ENTRY_OWNER_LENGTH = 100;
const MAX_REASON_LENGTH = 500;
const DATE = "A day, YYYY-MM-DD, of UTC; the day itself still counts.";

/** What becomes of an expired object that is no record. */
export const ONLY_WARNED = "From the day after it, validate warns; nothing is deleted for it.";

/** A date that is none is reported, and left out. */
export function loadAnnotations(
  entry: AnnotationEntry,
  context: Pick<LoadContext, "span" | "report">,
): { readonly annotations?: Annotations } {
  const said = ANNOTATION_KEYS.flatMap((key): [string, string][] => {
    const text = entry[key];
    if (text === undefined) return [];
    const isWrong = (key === "review_by" || key === "expires") && !isDate(text);
    if (isWrong) context.report(badDate(key, text, context.span(entry, key)));
    return isWrong ? [] : [[key, text]];
  });
  return said.length === 0 ? {} : { annotations: Object.fromEntries(said) };
}

function badDate(key: string, text: string, span: Span): Diagnostic {
  const looksRight = /^\d{4}-\d{2}-\d{2}$/.test(text);
  return {
    code: "bad-date",
    severity: "error",
    summary: `bad \`${key}\``,
    detail: looksRight ? `\`${text}\` is no day of the calendar.` : `\`${text}\` is not a date of the form YYYY-MM-DD.`,
    fix: "For example: 2026-12-31.",
    span,
  };
}

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

/** What an entry says for people. */
export function forPeople({ note, annotations }: Pick<Declared, "note" | "annotations">): JsonObject {
  return { ...(note === null ? {} : { note }), ...annotations };
}

/** For what carries on what its entry says. */
export function annotationsOf(declared: { readonly annotations?: Annotations } | null | undefined): {
  readonly annotations?: Annotations;
} {
  return declared?.annotations === undefined ? {} : { annotations: declared.annotations };
}

// What is declared of an object that was read from the account: no manifest says anything of it yet.

export const NOWHERE: Span = { file: "", start: 0, end: 0 };

export const UNSTATED: Pick<Declared, "id" | "movedFrom" | "protect" | "note" | "span"> = {
  ...{ id: null, movedFrom: null, protect: false },
  ...{ note: null, span: NOWHERE },
};
