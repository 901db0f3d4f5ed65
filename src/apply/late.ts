/** Late commits: lists again, at the end of a run, for POSTs that were repeated and of which nothing came, or of which there can be no two. */

import type { ObjectId } from "../model/resource.ts";
import type { RequestStep, Step } from "../model/step.ts";
import type { Unit } from "../model/unit.ts";
import type { Context } from "./context.ts";
import type { CopiedList, MadeObject } from "./duplicates.ts";
import { type Look, list, type Place, recogniseIn } from "./look.ts";
import { resolvePath } from "./resolve.ts";

/** Of a path to something of an object: kind, id and what. */
const MIN_NESTED_SEGMENTS = 3;

/** A step (here one that was repeated), and the id of what it ended with; null if it did not get done. */
export interface Repeated {
  readonly step: RequestStep;
  readonly id: ObjectId | null;
  readonly unit: Unit;
}

/** @returns what a person should know, one sentence each, in plan order */
export async function lookForLateCommits(
  repeats: readonly Repeated[],
  context: Context,
  concurrency: number,
): Promise<readonly string[]> {
  return lookOncePerList(repeats, context, concurrency, lookAtGroup);
}

export type Placed = Repeated & { readonly place: Place };

/** @param lookAt steps that look in one and the same list. @returns what it says of each, in the order of the steps */
export async function lookOncePerList(
  steps: readonly Repeated[],
  context: Context,
  concurrency: number,
  lookAt: (group: readonly Placed[], context: Context) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const groups = [...groupByList(steps, context).values()];
  const found: (readonly string[])[] = groups.map(() => []);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < groups.length; index = next++) {
      found[index] = await lookAt(groups[index] ?? [], context);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, groups.length) }, work));
  return found.flat();
}

/** Those in lists of the object that a POST copies: `domains/1/records` of `domains/1/clone`. What is there twice would be copied twice. */
export function repeatedWithin<Entry extends { readonly step: RequestStep }>(
  step: Step,
  repeats: readonly Entry[],
  { products }: Context,
): readonly Entry[] {
  if (step.type !== "request" || step.method !== "POST" || repeats.length === 0) return [];
  const path = resolvePath(step.path, products);
  if (!path.ok || path.value.length < MIN_NESTED_SEGMENTS) return [];
  const [object, own] = [path.value.slice(0, -1), path.value.join("/")];
  return repeats.filter(({ step: { lookup } }) => {
    const list = lookup === null ? null : resolvePath(lookup.path, products);
    if (list === null || !list.ok || list.value.join("/") === own) return false;
    return object.every((segment, index) => list.value[index] === segment);
  });
}

/** A POST to an object that makes another one in the list which holds it: `domains/1/clone` makes one of `domains`. */
export function isCopy({ path, lookup }: RequestStep, { products }: Context): boolean {
  const [to, list] = [resolvePath(path, products), lookup === null ? null : resolvePath(lookup.path, products)];
  if (!to.ok || list === null || !list.ok) return false;
  const within = list.value.every((segment, index) => to.value[index] === segment);
  return within && to.value.length >= MIN_NESTED_SEGMENTS && to.value.length > list.value.length + 1;
}

/** The lists of a copy that hold what was made in the same lists of the object that it is a copy of. */
export function listsOfCopy(
  copy: RequestStep,
  id: ObjectId,
  made: readonly MadeObject[],
  context: Context,
): readonly CopiedList[] {
  const lists = new Map<string, CopiedList & { met: MadeObject[] }>();
  for (const one of repeatedWithin(copy, made, context)) {
    const [object, list] = [
      resolvePath(copy.path, context.products),
      resolvePath(one.step.lookup?.path ?? [], context.products),
    ];
    if (!object.ok || !list.ok) continue;
    const place = object.value.length - 2;
    const path = list.value.with(place, String(id));
    const found = lists.get(path.join("/")) ?? { path, met: [] };
    lists.set(path.join("/"), found);
    found.met.push(one);
  }
  return [...lists.values()];
}

/** Steps that look in the same list share one. */
function groupByList(repeats: readonly Repeated[], context: Context): ReadonlyMap<string, Placed[]> {
  const groups = new Map<string, Placed[]>();
  for (const repeated of repeats) {
    const { lookup } = repeated.step;
    if (lookup === null) continue;
    const path = resolvePath(lookup.path, context.products);
    if (!path.ok) continue;
    const key = JSON.stringify([path.value, lookup.filter]);
    const group = groups.get(key) ?? [];
    group.push({ ...repeated, place: { lookup, path: path.value } });
    groups.set(key, group);
  }
  return groups;
}

async function lookAtGroup(group: readonly Placed[], context: Context): Promise<readonly string[]> {
  const [first] = group;
  if (first === undefined) return [];
  const listed = await list(first.place, context);
  const surprises: string[] = [];
  for (const repeated of group) {
    const { place, unit } = repeated;
    const surprise = listed.ok
      ? react(repeated, recogniseIn(listed, place, unit))
      : `${repeated.step.id} was sent twice, and it could not be checked whether both came true: ${listed.failure.message}`;
    if (surprise !== null) surprises.push(surprise);
  }
  return surprises;
}

function react(repeated: Placed, seen: Look): string | null {
  switch (seen.type) {
    case "absent":
    case "failed":
      return null;
    case "found":
    case "useless":
      return repeated.id === null
        ? `${repeated.step.id} was reported as not done, but came true later: ${String(seen.id)}; plan again`
        : several(repeated, [seen.id]);
    case "ambiguous":
      return several(repeated, seen.ids);
  }
}

function several(repeated: Placed, extras: readonly ObjectId[]): string {
  const { step, id, place } = repeated;
  const ids = [...(id === null ? [] : [id]), ...extras].join(", ");
  return `${step.id} was sent twice, and there are equal objects of kind ${place.lookup.kind}: ${ids}; keep one, delete the rest by hand`;
}
