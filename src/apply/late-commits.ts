/**
 * Late commits: a POST that was sent twice may be carried out twice, or late. The answers do not show it, so the collection that the POST
 * adds to is listed again.
 */

import { factsOf } from "../model/kind.ts";
import { DEFAULT_IMAGE_TIMEOUT_SECONDS, type RequestStep, type Step } from "../model/plan.ts";
import type { ObjectId } from "../model/resource.ts";
import type { Unit } from "../model/unit.ts";
import {
  type CopiedList,
  type DuplicateListener,
  type MadeObject,
  resolveConcurrentDuplicates,
  resolveCopyDuplicates,
} from "./duplicates.ts";
import { type LookupResult, list, type Place, recogniseIn } from "./recognise.ts";
import { type Context, resolvePath, type StepResult } from "./step.ts";

interface LateCommitsOptions {
  /** In the order of the plan. */
  readonly steps: readonly Step[];
  readonly context: Context;
  readonly concurrency: number;
  /** One sentence for the report. */
  report(notice: string): void;
  /** This run deleted the step's object. From now on the step stands for `id`, an older, equal object of another run, with its parts. */
  goOnWith(step: RequestStep, id: ObjectId, parts: StepResult["parts"]): void;
}

/** A step that copied an object, and the id of the copy. */
interface Copy {
  readonly step: RequestStep;
  readonly id: ObjectId;
}

/** Remembers what each POST of a run made, and resolves its duplicates: those of a POST that was sent twice, and those of other runs. */
export class LateCommits {
  readonly #options: LateCommitsOptions;
  /** Objects of which there may be two, by the id of their step. */
  readonly #duplicable: Map<string, MadeObject> = new Map();
  /** The steps in `#duplicable` whose request was sent twice. A separate set, because it is small and each step looks through it. */
  readonly #sentTwice: Set<string> = new Set();
  /** POSTs that were sent twice and are not in `#duplicable`. */
  readonly #otherRepeats: Repeated[] = [];
  readonly #resolutions: Map<string, Promise<void>> = new Map();
  readonly #reported: Set<string> = new Set();
  /** Ids of the steps whose object still exists more than once. */
  readonly #unresolved: Set<string> = new Set();
  /** Objects beside which another object of the same name was seen, by the id of their step. */
  readonly #contested: Map<string, MadeObject> = new Map();
  readonly #copies: Copy[] = [];

  /** How long a change's object is waited for until it can be used, by the key of the change. */
  readonly #readyLimitsSeconds: ReadonlyMap<string, number>;

  constructor(options: LateCommitsOptions) {
    this.#options = options;
    this.#readyLimitsSeconds = new Map(
      options.steps.flatMap((step) =>
        step.type === "wait" ? step.changes.map((key) => [key, step.limitSeconds] as const) : [],
      ),
    );
  }

  /** The number of steps whose object still exists more than once. */
  get duplicates(): number {
    return this.#unresolved.size;
  }

  learn(step: RequestStep, { id, recovered, repeated }: StepResult, unit: Unit): void {
    if (step.method !== "POST" || step.lookup === null) return;
    if (id !== null && isCopy(step, this.#options.context)) this.#copies.push({ step, id });
    if (id !== null && factsOf(unit, step.lookup.kind).canBeDuplicated) {
      const [key = ""] = step.changes;
      const readyLimitSeconds = this.#readyLimitsSeconds.get(key) ?? DEFAULT_IMAGE_TIMEOUT_SECONDS;
      this.#duplicable.set(step.id, { step, unit, id, isOwn: !recovered, repeated, readyLimitSeconds });
      if (repeated) this.#sentTwice.add(step.id);
    } else if (repeated) {
      this.#otherRepeats.push({ step, id, unit });
    }
  }

  /**
   * To be called before each step. If the step copies an object, resolves the duplicates in that object first. Steps that copy the same
   * object share one reading of its lists.
   * @returns null if there is nothing to resolve
   */
  resolveBefore(step: Step): Promise<void> | null {
    const sentTwice = [...this.#sentTwice].flatMap((id) => this.#duplicable.get(id) ?? []);
    const within = inListsOfTarget(step, sentTwice, this.#options.context);
    if (within.length === 0) return null;
    const key = JSON.stringify(within.map(({ step: { id } }) => id));
    const resolution = this.#resolutions.get(key) ?? this.#resolveDuplicates(within);
    this.#resolutions.set(key, resolution);
    return resolution;
  }

  async resolveAtEnd(): Promise<void> {
    const { context, concurrency } = this.#options;
    for (const notice of await findLateCommits(this.#inOrder(this.#otherRepeats), context, concurrency)) {
      this.#report(notice);
    }
    // An interrupted run checks only the POSTs that it sent twice itself; there is no time for the rest.
    const { aborted } = context.stopping;
    await this.#resolveDuplicates([...this.#duplicable.values()].filter(({ repeated }) => repeated || !aborted));
    const shared = this.#inSharedLists();
    for (const { step, id } of this.#inOrder(this.#copies)) {
      const copiedLists = listsOfCopy(step, id, shared, context);
      for (const copied of copiedLists) await resolveCopyDuplicates(copied, context, this.#listener());
    }
  }

  /**
   * What this run has made in the lists in which it has met another run: that run may have removed some of its own by now, so that only a copy
   * that was made meanwhile still shows that they were there.
   */
  #inSharedLists(): readonly MadeObject[] {
    const { products } = this.#options.context;
    const listOf = ({ step }: MadeObject): string => JSON.stringify(resolvePath(step.lookup?.path ?? [], products));
    const lists = new Set([...this.#contested.values()].map(listOf));
    return this.#inOrder([...this.#duplicable.values()].filter((made) => lists.has(listOf(made))));
  }

  #resolveDuplicates(made: readonly MadeObject[]): Promise<void> {
    const { context, concurrency } = this.#options;
    return resolveConcurrentDuplicates(this.#inOrder(made), context, concurrency, this.#listener());
  }

  #listener(): DuplicateListener {
    return {
      report: (sentence) => this.#report(sentence),
      severalRemain: ({ id }) => this.#unresolved.add(id),
      rivalSeen: (made) => this.#contested.set(made.step.id, made),
      goOnWith: (step, id, parts) => {
        const own = this.#duplicable.get(step.id);
        if (own !== undefined) this.#duplicable.set(step.id, { ...own, id, isOwn: false });
        this.#options.goOnWith(step, id, parts);
      },
    };
  }

  #inOrder<Entry extends { readonly step: RequestStep }>(entries: readonly Entry[]): readonly Entry[] {
    const order = new Map(this.#options.steps.map(({ id }, rank) => [id, rank]));
    return [...entries].sort((a, b) => (order.get(a.step.id) ?? 0) - (order.get(b.step.id) ?? 0));
  }

  /** A list may be read several times: each notice is reported once. */
  #report(notice: string): void {
    if (!this.#reported.has(notice)) this.#options.report(notice);
    this.#reported.add(notice);
  }
}

// At the end of a run, the other repeated POSTs are checked. Either no id is known, so that nothing seems to have been made, or the service
// is expected to refuse a second object of the kind. The list shows whether that is so.

/** Segments of a path to a part of an object: kind, id, part. */
const MIN_NESTED_SEGMENTS = 3;

/** A step whose POST was sent twice. */
interface Repeated {
  readonly step: RequestStep;
  /** The object that the step ended with; null if it was not done. */
  readonly id: ObjectId | null;
  readonly unit: Unit;
}

/** @returns one sentence for each find, in the order of `listEachOnce` */
async function findLateCommits(
  repeats: readonly Repeated[],
  context: Context,
  concurrency: number,
): Promise<readonly string[]> {
  return listEachOnce(repeats, context, concurrency, listGroup);
}

type Placed = Repeated & { readonly place: Place };

/**
 * Groups the steps by the list that shows what they made, and reads the lists side by side.
 * @param readGroup reads the one list of a group. @returns a sentence for each step that has one
 * @returns the sentences, list by list: lists in the order of their first step, and the steps of one list in their own order
 */
async function listEachOnce(
  steps: readonly Repeated[],
  context: Context,
  concurrency: number,
  readGroup: (group: readonly Placed[], context: Context) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const groups = [...groupByList(steps, context).values()];
  const found: (readonly string[])[] = groups.map(() => []);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < groups.length; index = next++) {
      found[index] = await readGroup(groups[index] ?? [], context);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, groups.length) }, work));
  return found.flat();
}

/**
 * The objects that stand in a list of the object that a POST is sent to: for `domains/1/clone`, those in `domains/1/records`. If the POST
 * copies that object, it copies their duplicates, too.
 */
function inListsOfTarget(step: Step, made: readonly MadeObject[], { products }: Context): readonly MadeObject[] {
  if (step.type !== "request" || step.method !== "POST" || made.length === 0) return [];
  const path = resolvePath(step.path, products);
  if (!path.ok || path.value.length < MIN_NESTED_SEGMENTS) return [];
  const [object, own] = [path.value.slice(0, -1), path.value.join("/")];
  return made.filter(({ step: { lookup } }) => {
    const listPath = lookup === null ? null : resolvePath(lookup.path, products);
    if (listPath === null || !listPath.ok || listPath.value.join("/") === own) return false;
    return object.every((segment, index) => listPath.value[index] === segment);
  });
}

/** Whether a POST is sent to one object and makes another one in the same collection: `domains/1/clone` makes another of `domains`. */
function isCopy({ path, lookup }: RequestStep, { products }: Context): boolean {
  const [to, listPath] = [resolvePath(path, products), lookup === null ? null : resolvePath(lookup.path, products)];
  if (!to.ok || listPath === null || !listPath.ok) return false;
  const within = listPath.value.every((segment, index) => to.value[index] === segment);
  return within && to.value.length >= MIN_NESTED_SEGMENTS && to.value.length > listPath.value.length + 1;
}

/**
 * For each list of the original that holds some of the objects, the same list of the copy. If domain 1 was cloned as domain 7,
 * records in `domains/1/records` give `domains/7/records`.
 */
function listsOfCopy(
  copy: RequestStep,
  id: ObjectId,
  made: readonly MadeObject[],
  context: Context,
): readonly CopiedList[] {
  const lists = new Map<string, CopiedList & { made: MadeObject[] }>();
  for (const one of inListsOfTarget(copy, made, context)) {
    const [object, listPath] = [
      resolvePath(copy.path, context.products),
      resolvePath(one.step.lookup?.path ?? [], context.products),
    ];
    if (!object.ok || !listPath.ok) continue;
    const idIndex = object.value.length - 2;
    const path = listPath.value.with(idIndex, String(id));
    const found = lists.get(path.join("/")) ?? { path, made: [] };
    lists.set(path.join("/"), found);
    found.made.push(one);
  }
  return [...lists.values()];
}

/** Steps with the same list and filter are one group. */
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

async function listGroup(group: readonly Placed[], context: Context): Promise<readonly string[]> {
  const [first] = group;
  if (first === undefined) return [];
  const answer = await list(first.place, context);
  const notices: string[] = [];
  for (const repeated of group) {
    const { place, unit } = repeated;
    const notice = answer.ok
      ? react(repeated, recogniseIn(answer, place, unit))
      : `${repeated.step.id} was sent twice; Tenon could not check whether both requests were carried out: ${answer.failure.message}`;
    if (notice !== null) notices.push(notice);
  }
  return notices;
}

function react(repeated: Placed, seen: LookupResult): string | null {
  switch (seen.type) {
    case "absent":
    case "failed":
      return null;
    case "found":
    case "useless":
      return repeated.id === null
        ? `${repeated.step.id} was reported as not done, but was carried out later: ${String(seen.id)}; plan again`
        : several(repeated, [seen.id]);
    case "ambiguous":
      return several(repeated, seen.ids);
  }
}

function several(repeated: Placed, extras: readonly ObjectId[]): string {
  const { step, id, place, unit } = repeated;
  const ids = [...(id === null ? [] : [id]), ...extras].join(", ");
  const [, nouns] = factsOf(unit, place.lookup.kind).words;
  return `${step.id} was sent twice, and there are equal ${nouns}: ${ids}; keep one, and delete the others by hand`;
}
