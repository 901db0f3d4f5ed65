/** Pairs → changes: plain comparison, for the units have made both sides comparable. */

import isEqual from "fast-deep-equal";
import type { Action, Block, Change } from "../model/change.ts";
import type { Address } from "../model/resource.ts";
import { compareText, groupBy } from "../model/text.ts";
import type { Pair } from "../model/unit.ts";

/** Sorted by address; what shares an address is numbered in a stable order. */
export function diffPairs(pairs: readonly Pair[]): Change[] {
  const actions = new Map<Address, Action>();
  const drafts = pairs.map((pair) => {
    const action = actionOf(pair, pair.parent === null ? null : (actions.get(pair.parent) ?? null));
    // Only parents are looked up again, and their addresses are unique.
    if (pair.parent === null) actions.set(pair.address, action);
    return draft(pair, action);
  });
  return number(drafts);
}

function actionOf(pair: Pair, parent: Action | null): Action {
  if (pair.desired === null) return "delete";
  if (pair.live === null) return "create";
  if (parent === "replace" || pair.renew || replaceFields(pair).length > 0) return "replace";
  return isEqual(pair.desired, pair.live) ? "no-op" : "update";
}

function replaceFields({ desired, live, immutable }: Pair): string[] {
  if (desired === null || live === null) return [];
  return immutable.filter((field) => !isEqual(desired[field], live[field]));
}

type Draft = Omit<Change, "key">;

function draft(pair: Pair, action: Action): Draft {
  return {
    address: pair.address,
    previousAddress: pair.previousAddress,
    unit: pair.unit,
    root: pair.root,
    kind: pair.kind,
    action,
    labels: pair.labels,
    id: pair.id,
    before: pair.live,
    after: pair.desired,
    replaceFields: replaceFields(pair),
    blocked: blockOf(pair, action),
    note: pair.note,
    span: pair.span,
    origin: null,
    ...(pair.holds === undefined ? {} : { holds: pair.holds }),
  };
}

function blockOf(pair: Pair, action: Action): Block | null {
  if (action === "no-op") return null;
  if (pair.block !== null) return pair.block;
  const removes = action === "delete" || action === "replace";
  return removes && pair.heldBy.length > 0 ? { type: "interfaces", interfaces: pair.heldBy } : null;
}

function number(drafts: readonly Draft[]): Change[] {
  const groups = groupBy(drafts, (draft) => draft.address);
  const addresses = [...groups.keys()].sort(compareText);
  return addresses.flatMap((address) => {
    const group = groups.get(address) ?? [];
    if (group.length === 1) return group.map((draft) => ({ ...draft, key: address }));
    const keyed = group.map((draft) => ({ draft, text: sortText(draft) })).sort((a, b) => compareText(a.text, b.text));
    return keyed.map(({ draft }, index) => ({ ...draft, key: `${address}[${index}]` }));
  });
}

function sortText(draft: Draft): string {
  return JSON.stringify([draft.after ?? draft.before, draft.before, draft.id]);
}
