/** Late commits: a POST that was sent twice may be carried out twice, or late. Answers alone do not show it, so its list is read again. */

import { factsOf } from "../model/kind.ts";
import type { RequestStep, Step } from "../model/plan.ts";
import type { ObjectId } from "../model/resource.ts";
import type { Unit } from "../model/unit.ts";
import {
  type CopiedList,
  type Findings,
  type LookupResult,
  list,
  type MadeObject,
  type Place,
  recogniseIn,
  resolveConcurrentDuplicates,
  resolveCopyDuplicates,
} from "./duplicates.ts";
import { type Context, resolvePath, type StepResult } from "./step.ts";

interface LateCommitsOptions {
  /** In the order of the plan. */
  readonly steps: readonly Step[];
  readonly context: Context;
  readonly concurrency: number;
  /** One sentence for the report. */
  report(notice: string): void;
  /** The step's object is another one now, with its parts: an older, equal one that another run made. */
  goOnWith(step: RequestStep, id: ObjectId, parts: StepResult["parts"]): void;
}

/** A step that copied an object, and the id of the copy. */
interface Copy {
  readonly step: RequestStep;
  readonly id: ObjectId;
}

export class LateCommits {
  readonly #options: LateCommitsOptions;
  /** Objects of which there may be two, by the id of their step. */
  readonly #made: Map<string, MadeObject> = new Map();
  /** Those of them whose request was sent twice. They are few, and every step asks for them. */
  readonly #sentTwice: Set<string> = new Set();
  readonly #repeated: Repeated[] = [];
  readonly #resolutions: Map<string, Promise<void>> = new Map();
  readonly #reported: Set<string> = new Set();
  readonly #left: Set<string> = new Set();
  /** Objects beside which another run's equal object was seen, by the id of their step. */
  readonly #met: Map<string, MadeObject> = new Map();
  readonly #copies: Copy[] = [];

  constructor(options: LateCommitsOptions) {
    this.#options = options;
  }

  /** How many steps made something of which more than one is left. */
  get duplicates(): number {
    return this.#left.size;
  }

  learn(step: RequestStep, { id, recovered, repeated }: StepResult, unit: Unit): void {
    if (step.method !== "POST" || step.lookup === null) return;
    if (id !== null && isCopy(step, this.#options.context)) this.#copies.push({ step, id });
    if (id !== null && factsOf(unit, step.lookup.kind).canBeDuplicated) {
      this.#made.set(step.id, { step, unit, id, isOwn: !recovered, repeated });
      if (repeated) this.#sentTwice.add(step.id);
    } else if (repeated) {
      this.#repeated.push({ step, id, unit });
    }
  }

  /**
   * To be called before a step that may copy an object: resolves duplicates in that object first. Copies of one object share one look.
   * @returns null if there is nothing to look at
   */
  before(step: Step): Promise<void> | null {
    const sentTwice = [...this.#sentTwice].flatMap((id) => this.#made.get(id) ?? []);
    const within = repeatedWithin(step, sentTwice, this.#options.context);
    if (within.length === 0) return null;
    const key = JSON.stringify(within.map(({ step: { id } }) => id));
    const resolution = this.#resolutions.get(key) ?? this.#resolveDuplicates(within);
    this.#resolutions.set(key, resolution);
    return resolution;
  }

  async atEnd(): Promise<void> {
    const { context, concurrency } = this.#options;
    for (const notice of await findLateCommits(this.#inOrder(this.#repeated), context, concurrency)) {
      this.#report(notice);
    }
    // An interrupted run looks only at what it sent twice itself; there is no time for the rest.
    const { aborted } = context.stopping;
    await this.#resolveDuplicates([...this.#made.values()].filter(({ repeated }) => repeated || !aborted));
    for (const { step, id } of this.#inOrder(this.#copies)) {
      const lists = listsOfCopy(step, id, this.#inOrder([...this.#met.values()]), context);
      for (const list of lists) await resolveCopyDuplicates(list, context, this.#findings());
    }
  }

  #resolveDuplicates(made: readonly MadeObject[]): Promise<void> {
    const { context, concurrency } = this.#options;
    return resolveConcurrentDuplicates(this.#inOrder(made), context, concurrency, this.#findings());
  }

  #findings(): Findings {
    return {
      report: (sentence) => this.#report(sentence),
      leave: ({ id }) => this.#left.add(id),
      meet: (made) => this.#met.set(made.step.id, made),
      goOnWith: (step, id, parts) => {
        const own = this.#made.get(step.id);
        if (own !== undefined) this.#made.set(step.id, { ...own, id, isOwn: false });
        this.#options.goOnWith(step, id, parts);
      },
    };
  }

  #inOrder<Entry extends { readonly step: RequestStep }>(entries: readonly Entry[]): readonly Entry[] {
    const order = new Map(this.#options.steps.map(({ id }, rank) => [id, rank]));
    return [...entries].sort((a, b) => (order.get(a.step.id) ?? 0) - (order.get(b.step.id) ?? 0));
  }

  /** What one look has reported is not reported again. */
  #report(notice: string): void {
    if (!this.#reported.has(notice)) this.#options.report(notice);
    this.#reported.add(notice);
  }
}

// At the end of a run: the lists of POSTs that were repeated and made nothing as far as is known, or whose kind cannot be duplicated.

/** Segments of a path to a part of an object: kind, id, part. */
const MIN_NESTED_SEGMENTS = 3;

/** A step (here one that was repeated), and the id of what it ended with; null if it did not get done. */
interface Repeated {
  readonly step: RequestStep;
  readonly id: ObjectId | null;
  readonly unit: Unit;
}

/** @returns what a person should know, one sentence each, in plan order */
async function findLateCommits(
  repeats: readonly Repeated[],
  context: Context,
  concurrency: number,
): Promise<readonly string[]> {
  return listEachOnce(repeats, context, concurrency, listGroup);
}

type Placed = Repeated & { readonly place: Place };

/** @param readGroup steps that look in one and the same list. @returns what it says of each, in the order of the steps */
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

/** Those in lists of the object that a POST copies: `domains/1/records` of `domains/1/clone`. What is there twice would be copied twice. */
function repeatedWithin<Entry extends { readonly step: RequestStep }>(
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
function isCopy({ path, lookup }: RequestStep, { products }: Context): boolean {
  const [to, list] = [resolvePath(path, products), lookup === null ? null : resolvePath(lookup.path, products)];
  if (!to.ok || list === null || !list.ok) return false;
  const within = list.value.every((segment, index) => to.value[index] === segment);
  return within && to.value.length >= MIN_NESTED_SEGMENTS && to.value.length > list.value.length + 1;
}

/** The lists of a copy that hold what was made in the same lists of the object that it is a copy of. */
function listsOfCopy(
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

async function listGroup(group: readonly Placed[], context: Context): Promise<readonly string[]> {
  const [first] = group;
  if (first === undefined) return [];
  const listed = await list(first.place, context);
  const notices: string[] = [];
  for (const repeated of group) {
    const { place, unit } = repeated;
    const notice = listed.ok
      ? react(repeated, recogniseIn(listed, place, unit))
      : `${repeated.step.id} was sent twice, and it could not be checked whether both came true: ${listed.failure.message}`;
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
