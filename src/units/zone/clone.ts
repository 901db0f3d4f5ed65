/** Which new domains are made as copies of one: a clone and a correction take two requests, however many records there are. */

import type { Change } from "../../model/change.ts";
import { mapKey } from "../../model/map-key.ts";
import type { Strategy } from "../../model/plan.ts";
import type { Address } from "../../model/resource.ts";
import { groupBy } from "../../model/text.ts";
import type { StepContext } from "../../model/unit.ts";
import { isUnset } from "./domain.ts";
import { contentKey, type RecordValues } from "./wire-record.ts";

/** Domains of the same records, of which all but the source are to be made as copies of it. */
export interface CloneGroup {
  readonly source: Address;
  /** In the order of the changes. */
  readonly copies: readonly Address[];
  readonly requests: number;
  readonly requestsWithout: number;
}

export type RecordsByRoot = ReadonlyMap<Address, readonly Change[]>;

/** POST of the clone, and the PUT that corrects, tags and activates it. */
const REQUESTS_OF_A_COPY = 2;
/** At the end of an apply, each zone that got records is listed once, to see whether another run added the same ones. */
const REQUESTS_OF_DUPLICATE_CHECK = 1;

/**
 * Groups the domains whose records are the same. The source is a domain that is not served: one that an interrupted run has left
 * unfinished, else a new one. Linear in the number of records.
 */
export function cloneGroups(domains: readonly Change[], records: RecordsByRoot, context: StepContext): CloneGroup[] {
  if (!context.clone) return [];
  const isFit = (domain: Change) => isCandidate(domain, records.get(domain.root) ?? [], context);
  const groups = groupBy(domains.filter(isFit), (domain) => contentOf(records.get(domain.root) ?? []));
  return [...groups.values()].flatMap((members) => groupOf(members, records) ?? []);
}

export function strategyOf({ source, copies, requests, requestsWithout }: CloneGroup): Strategy {
  return { type: "clone", source, copies: [...copies].sort(), requests, requestsWithout };
}

/** A new domain, or a disabled one that can be copied. */
function isCandidate(domain: Change, records: readonly Change[], context: StepContext): boolean {
  if (domain.blocked !== null || domain.after?.["create_from"] !== undefined) return false;
  if (domain.after?.["type"] !== "master") return false;
  if (records.some((record) => record.blocked !== null) || !records.some((record) => record.after !== null))
    return false;
  return domain.action === "create" || isUnserved(domain, context);
}

function isUnserved(domain: Change, context: StepContext): boolean {
  const stays = domain.action === "update" || domain.action === "no-op";
  const { status, type, owner } = domain.before ?? {};
  // A domain that is not ours yet gets our tag only after it was copied: until then its copies would carry another tag, or none.
  const isOurs = owner === domain.after?.["owner"];
  return stays && isOurs && status === "disabled" && type === "master" && !context.holdsUndeclared(domain.root);
}

/** The records as one key, without their zone: if two keys are equal, so are the records. */
function contentOf(records: readonly Change[]): string {
  const keys = records.flatMap(({ after }) => (after === null ? [] : [contentKey(after as RecordValues)]));
  return mapKey(JSON.stringify(keys.sort()));
}

/** null if copies would not take fewer requests. */
function groupOf(members: readonly Change[], records: RecordsByRoot): CloneGroup | null {
  const source = sourceOf(members, records);
  if (source === undefined) return null;
  const own = (member: Change) => requestsOf(member, records.get(member.root) ?? []);
  const copies = members.filter(
    (member) => member.action === "create" && member !== source && own(member) > REQUESTS_OF_A_COPY,
  );
  const fit = copies.filter((copy) => overrides(copy, source));
  if (fit.length === 0) return null;
  const isAddedTo = (records.get(source.root) ?? []).some((record) => record.action === "create");
  const begun = own(source) + (isAddedTo ? REQUESTS_OF_DUPLICATE_CHECK : 0);
  return {
    source: source.root,
    copies: fit.map((copy) => copy.root),
    requests: begun + REQUESTS_OF_A_COPY * fit.length,
    requestsWithout: begun + fit.reduce((sum, copy) => sum + own(copy) + REQUESTS_OF_DUPLICATE_CHECK, 0),
  };
}

/**
 * Whether the copy states all that is set on the source. If the PUT is never sent, the next run plans an update of the
 * stated fields: all others would stay as the clone brought them.
 */
function overrides(copy: Change, source: Change): boolean {
  return setFields(source).every((field) => copy.after?.[field] !== undefined);
}

function setFields({ after }: Change): string[] {
  return Object.keys(after ?? {}).filter(
    (field) => field !== "domain" && field !== "owner" && !isUnset(after?.[field]),
  );
}

function requestsOf(domain: Change, records: readonly Change[]): number {
  const filled = records.filter((record) => record.action !== "no-op").length;
  if (domain.action !== "create") return filled + (domain.action === "no-op" ? 0 : 1);
  return 1 + filled + (domain.after?.["status"] === "active" ? 1 : 0);
}

/**
 * The one in which least is missing, else the one of which least is set, else the first. A domain whose records name the domain itself
 * is no source: the service might rewrite them in a copy.
 */
function sourceOf(members: readonly Change[], records: RecordsByRoot): Change | undefined {
  const own = members[0] === undefined ? [] : (records.get(members[0].root) ?? []);
  const text = own.map(({ after }) => ` ${String(after?.["target"] ?? "").toLowerCase()} `).join("\n");
  const missing = (member: Change) => requestsOf(member, records.get(member.root) ?? []);
  const set = (member: Change) => setFields(member).length;
  const begun = members.filter((member) => member.action !== "create").sort((a, b) => missing(a) - missing(b));
  const fresh = members.filter((member) => member.action === "create").sort((a, b) => set(a) - set(b));
  return [...begun, ...fresh].find((member) => !names(text, String(member.after?.["domain"])));
}

/** Whether a text has the domain's name in it, or a name beneath it: not as a part of another label. */
function names(text: string, domain: string): boolean {
  for (let at = text.indexOf(domain); at !== -1; at = text.indexOf(domain, at + 1)) {
    const [before, after] = [text[at - 1] ?? " ", text[at + domain.length] ?? " "];
    if (!/[a-z0-9_-]/.test(before) && !/[a-z0-9_-]/.test(after)) return true;
  }
  return false;
}
