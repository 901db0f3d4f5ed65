/** Late commits: lists again, at the end of a run, for every POST that was repeated after an unknown outcome. */

import type { Kind, ObjectId } from "../model/resource.ts";
import type { RequestStep, Step } from "../model/step.ts";
import type { Unit } from "../model/unit.ts";
import type { Context } from "./context.ts";
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
export function repeatedWithin(step: Step, repeats: readonly Repeated[], { products }: Context): readonly Repeated[] {
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
      ? await react(repeated, recogniseIn(listed, place, unit), context)
      : `${repeated.step.id} was sent twice, and it could not be checked whether both came true: ${listed.failure.message}`;
    if (surprise !== null) surprises.push(surprise);
  }
  return surprises;
}

async function react(repeated: Placed, seen: Look, context: Context): Promise<string | null> {
  switch (seen.type) {
    case "absent":
    case "failed":
      return null;
    case "found":
    case "useless":
      return reactToOne(repeated, seen.id, context);
    case "ambiguous":
      return several(repeated, seen.ids);
  }
}

async function reactToOne(repeated: Placed, extra: ObjectId, context: Context): Promise<string> {
  const { step, id, place } = repeated;
  if (id === null) return `${step.id} was reported as not done, but came true later: ${String(extra)}; plan again`;
  if (!isSafeToDelete(place.lookup.kind)) return several(repeated, [extra]);
  return deleteDuplicate(repeated, extra, context);
}

/** Equal records are one answer, given twice: without the second nothing is lost. Of the others, each may be in use by now. */
function isSafeToDelete(kind: Kind): boolean {
  switch (kind) {
    case "domain_record":
      return true;
    case "vpc":
    case "vpc_subnet":
    case "domain":
    case "image":
      return false;
  }
}

/** The older one stays, whoever made it: another run that finds the same two decides alike, and one is left. */
async function deleteDuplicate(repeated: Placed, found: ObjectId, context: Context): Promise<string> {
  const { step, place } = repeated;
  const [id, extra] = [repeated.id as ObjectId, found].sort((a, b) => Number(a) - Number(b)) as [ObjectId, ObjectId];
  const path = [...place.path, String(extra)];
  const text = `${step.id} came true twice: record ${String(extra)} equals ${String(id)}`;
  if (context.stopping.aborted) return `${text}; the run was stopped, so the next plan removes it`;
  context.note(step.id, "deleting-duplicate", `${String(extra)} equals ${String(id)}`);
  const unwritten = await context.intent({ step: step.id, reason: "duplicate", method: "DELETE", path, body: null });
  if (unwritten !== null) return `${text}; it is still there: ${unwritten.message}`;
  const answer = await context.api.send({ method: "DELETE", path }, context.inFlight);
  if (answer.ok || answer.failure.status === 404) return `${text} and was deleted`;
  return `${text}; it could not be deleted: ${answer.failure.message}`;
}

function several(repeated: Placed, extras: readonly ObjectId[]): string {
  const { step, id, place } = repeated;
  const ids = [...(id === null ? [] : [id]), ...extras].join(", ");
  return `${step.id} was sent twice, and there are equal objects of kind ${place.lookup.kind}: ${ids}; keep one, delete the rest by hand`;
}
