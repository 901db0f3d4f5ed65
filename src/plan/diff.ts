/** Pairs → changes: plain comparison, for the units have made both sides comparable. */

import isEqual from "fast-deep-equal";
import type { Action, Change } from "../model/change.ts";
import type { Address } from "../model/resource.ts";
import { compareText, groupBy } from "../model/text.ts";
import type { Pair } from "../model/unit.ts";

/** Sorted by address; changes of one address are numbered in a stable order. */
export function diffPairs(pairs: readonly Pair[]): Change[] {
  const actions = new Map<Address, Action>();
  const changes = pairs.map((pair) => {
    const { resource, rules } = pair;
    const { parent } = rules;
    const action = actionOf(pair, parent === null ? null : (actions.get(parent) ?? null));
    // Only parents are looked up, and their addresses are unique.
    if (parent === null) actions.set(resource.address, action);
    return changeOf(pair, action);
  });
  return number(changes);
}

function actionOf(pair: Pair, parent: Action | null): Action {
  const { before, after } = pair.resource;
  if (after === null) return "delete";
  if (before === null) return "create";
  if (parent === "replace" || pair.rules.renew || replaceFields(pair).length > 0) return "replace";
  return isEqual(after, before) ? "no-op" : "update";
}

/** Whether the object that is there goes. */
export function removes(action: Action): boolean {
  return action === "delete" || action === "replace";
}

function replaceFields({ resource, rules }: Pair): string[] {
  const { before, after } = resource;
  if (before === null || after === null) return [];
  return rules.immutable.filter((field) => !isEqual(after[field], before[field]));
}

/** The change's key is not unique yet: `number` sees to that. */
function changeOf(pair: Pair, action: Action): Change {
  const { resource, rules } = pair;
  return {
    key: resource.address,
    action,
    replaceFields: replaceFields(pair),
    blocked: action === "no-op" ? null : (rules.block ?? (removes(action) ? rules.removalBlock : null)),
    origin: null,
    // The spread stands last: a copy to which fields are added costs ten times as much, and plans have 100,000 changes.
    ...resource,
  };
}

function number(changes: readonly Change[]): Change[] {
  const groups = groupBy(changes, ({ address }) => address);
  const addresses = [...groups.keys()].sort(compareText);
  return addresses.flatMap((address): readonly Change[] => {
    const group = groups.get(address) ?? [];
    if (group.length === 1) return group;
    const texts = group.map((change) => ({ change, text: sortText(change) }));
    return texts
      .sort((a, b) => compareText(a.text, b.text))
      .map(({ change }, index) => ({ ...change, key: `${address}[${index}]` }));
  });
}

function sortText({ before, after, id }: Change): string {
  return JSON.stringify([after ?? before, before, id]);
}
