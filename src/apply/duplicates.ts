/** Duplicates: objects that two runs made at the same time. At its end, each run lists what it made again, and the oldest object stays. */

import { factsOf, type KindFacts, type UnitKinds } from "../model/kind.ts";
import type { RequestStep } from "../model/plan.ts";
import type { Json, JsonObject, ObjectId } from "../model/resource.ts";
import { groupBy } from "../model/text.ts";
import type { Likeness, Unit } from "../model/unit.ts";
import { pause } from "./interrupt.ts";
import type { Place } from "./recognise.ts";
import { type Context, partsIn, resolvePath, type StepResult } from "./step.ts";

/**
 * How the runs agree without talking. Ids ascend, so a run that posted later always sees what was there before it. The run whose object
 * is younger deletes its own; the run whose object is the oldest deletes nothing. An object is deleted only while an older one exists
 * that can be used, so one object is left, whatever the number of runs.
 *
 *   run A: POST → 7            run B: POST → 8
 *   A lists 7, 8: waits        B lists 7, 8: deletes 8, goes on with 7
 *   A lists 7: done            B is done
 *
 * Whoever may create objects can make one look like that of another run. So what the plan has read, under whatever name, is no run's; and
 * within a reviewed plan, which shows no object that gives way to another one, a person has to choose. Records are their values: for them it
 * does not matter who made which.
 */

/** How long the run with the oldest object waits for others to delete theirs. They do so when they end. */
const GONE_LIMIT_SECONDS = 60;
const FIRST_INTERVAL_SECONDS = 2;
const MAX_INTERVAL_SECONDS = 10;
const INTERVAL_GROWTH = 1.5;
/** A filter for more names than this would be too long for a header: the whole list is read instead. */
const MAX_ALTERNATIVES = 20;

/** A step whose POST made something of which there may be two. */
export interface MadeObject {
  readonly step: RequestStep;
  readonly unit: Unit;
  readonly id: ObjectId;
  /** The answer to the POST named the id. What was only recognised in a list may be another run's. */
  readonly isOwn: boolean;
  /** The POST was sent twice, so that this run may have made both. */
  readonly repeated: boolean;
  /** How long an older one is waited for until it can be used: as long as this run waits for its own. */
  readonly readyLimitSeconds: number;
}

/** Hears what the lists show and what is done about it. */
export interface DuplicateListener {
  /** A sentence. */
  report(sentence: string): void;
  /** The step's own object was deleted; this one is used instead, with what came with it. */
  goOnWith(step: RequestStep, id: ObjectId, parts: StepResult["parts"]): void;
  /** More than one object of the step remains, and the run cannot mend that. */
  severalRemain(step: RequestStep): void;
  /**
   * Another object of the same name is in the list. If the object around that list was copied in the meantime, the copy has both, too.
   */
  rivalSeen(made: MadeObject): void;
}

/** What is known of another object of the same name. */
export interface Rival {
  readonly id: ObjectId;
  readonly likeness: Likeness;
  /** The plan has read it: it had another name then. */
  readonly wasThere: boolean;
}

/**
 * - `yield`: delete this run's object, and go on with `to`.
 * - `remove`: delete `extras`, records of a POST that was sent twice, of which `keep` is the oldest.
 * - `wait`: until the others' objects are gone, or an older one is ready.
 * - `stuck`: a person has to choose.
 */
type Verdict =
  | { readonly type: "alone" }
  | { readonly type: "yield"; readonly to: ObjectId }
  | { readonly type: "remove"; readonly keep: ObjectId; readonly extras: readonly ObjectId[] }
  | { readonly type: "wait"; readonly until: "gone" | "ready"; readonly ids: readonly ObjectId[] }
  | { readonly type: "stuck"; readonly ids: readonly ObjectId[]; readonly reason: string };

/** Decides which of two equal objects came first, and what this run does about it. Pure. */
export function judgeDuplicates(
  {
    id,
    isOwn,
    repeated,
    step,
    unit,
  }: Pick<MadeObject, "id" | "isOwn" | "repeated" | "step"> & { readonly unit: UnitKinds },
  own: Likeness,
  rivals: readonly Rival[],
  isReviewed: boolean,
): Verdict {
  if (rivals.length === 0) return { type: "alone" };
  const ids = rivals.map((rival) => rival.id);
  const age = ageOf(id);
  if (age === null || ids.some((other) => ageOf(other) === null)) {
    return { type: "stuck", ids, reason: "their ids do not show which of them is older" };
  }
  const byAge = (a: ObjectId, b: ObjectId): number => Number(ageOf(a)) - Number(ageOf(b));
  if (rivals.some(({ likeness }) => likeness === "different") || own === "different") {
    return { type: "stuck", ids, reason: "they are not equal" };
  }
  const isValue = identifiedByValues(unit, step);
  const former = isValue ? undefined : rivals.find(({ wasThere }) => wasThere);
  if (former !== undefined) {
    return { type: "stuck", ids, reason: `${String(former.id)} was there under another name before this run` };
  }
  if (repeated && isValue && step.lookup?.additive !== true) {
    const [keep, ...extras] = [id, ...ids].sort(byAge) as [ObjectId, ...ObjectId[]];
    return { type: "remove", keep, extras };
  }
  const older = rivals.filter((rival) => byAge(rival.id, id) < 0).sort((a, b) => byAge(a.id, b.id));
  if (older.length === 0) return { type: "wait", until: "gone", ids };
  if (!isOwn) return { type: "stuck", ids, reason: `Tenon cannot tell whether this run made ${String(id)}` };
  // What was sent twice may be there twice without anybody else.
  if (isReviewed && !isValue && !repeated) {
    const reason = `the reviewed plan does not show that ${String(older[0]?.id)} takes the place of ${String(id)}`;
    return { type: "stuck", ids, reason };
  }
  if (own === "used") return { type: "stuck", ids, reason: `${String(id)} is already in use` };
  const usable = older.find(({ likeness }) => likeness !== "unready");
  return usable === undefined ? { type: "wait", until: "ready", ids } : { type: "yield", to: usable.id };
}

/** Ids ascend: of images the number after the slash. null if an id holds no number. */
function ageOf(id: ObjectId): number | null {
  const digits = /(?<!\d)\d+$/.exec(String(id));
  return digits === null ? null : Number(digits[0]);
}

interface Waiting {
  readonly made: MadeObject;
  readonly until: "gone" | "ready";
  readonly ids: readonly ObjectId[];
}

/**
 * Looks at every object that was made, one list for each collection, until nothing is left to be done or to be waited for.
 * @param made in the order of the plan
 */
export async function resolveConcurrentDuplicates(
  made: readonly MadeObject[],
  context: Context,
  concurrency: number,
  listener: DuplicateListener,
): Promise<void> {
  const begin = context.clock.now();
  let interval = FIRST_INTERVAL_SECONDS;
  for (let open = made; open.length > 0; ) {
    const waiting = await checkAll(open, context, concurrency, listener);
    const seconds = (context.clock.now() - begin) / 1000;
    const isOver = ({ until, made: { readyLimitSeconds } }: Waiting) =>
      seconds >= (until === "gone" ? GONE_LIMIT_SECONDS : readyLimitSeconds);
    for (const found of waiting.filter(isOver)) giveUp(found, reasonFor(found), listener);
    const patient = waiting.filter((found) => !isOver(found));
    for (const { made: one, until, ids } of patient) {
      const what = until === "gone" ? `another run to delete ${joinIds(ids)}` : `${joinIds(ids)} to be ready`;
      context.note(one.step.id, "waiting", `waiting for ${what}`, interval);
    }
    if (patient.length > 0 && !(await pause(context.clock, interval, context.stopping))) {
      for (const found of patient) giveUp(found, "the run was stopped before it could delete one of them", listener);
      return;
    }
    interval = Math.min(interval * INTERVAL_GROWTH, MAX_INTERVAL_SECONDS);
    open = patient.map((found) => found.made);
  }
}

interface Group {
  readonly path: readonly string[];
  readonly members: readonly MadeObject[];
}

/**
 * One list for each collection, read side by side.
 * @returns what is to be waited for, collection by collection; within one, in the order of `made`
 */
async function checkAll(
  made: readonly MadeObject[],
  context: Context,
  concurrency: number,
  listener: DuplicateListener,
): Promise<readonly Waiting[]> {
  const groups = groupsOf(made, context);
  const found: (readonly Waiting[])[] = groups.map(() => []);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < groups.length; index = next++) {
      found[index] = await checkGroup(groups[index] as Group, context, listener);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, groups.length) }, work));
  return found.flat();
}

function groupsOf(made: readonly MadeObject[], { products }: Context): readonly Group[] {
  const placed = made.flatMap((one) => {
    const path = one.step.lookup === null ? null : resolvePath(one.step.lookup.path, products);
    return path?.ok === true ? [{ one, path: path.value }] : [];
  });
  const byPath = groupBy(placed, ({ path }) => JSON.stringify(path));
  return [...byPath.values()].map((group) => ({
    path: group[0]?.path ?? [],
    members: group.map(({ one }) => one),
  }));
}

async function checkGroup({ path, members }: Group, context: Context, listener: DuplicateListener): Promise<Waiting[]> {
  const filter = filterOf(members);
  const answer = await context.api.list({ path, ...(filter === null ? {} : { filter }) }, context.aborting);
  if (!answer.ok) {
    for (const { step, repeated } of members) {
      const what = repeated
        ? `${step.id} was sent twice; Tenon could not check whether both requests were carried out`
        : `${step.id}: Tenon could not check whether another run made the same`;
      listener.report(`${what}: ${answer.failure.message}`);
    }
    return [];
  }
  const waiting: Waiting[] = [];
  const rivalsOf = rivalIndex(answer.items, members, path, context);
  const byId = new Map(answer.items.map((item) => [item["id"], item]));
  for (const one of members) {
    const own = byId.get(one.id);
    const { lookup } = one.step;
    // Somebody has deleted this run's object, so nothing is there twice.
    if (lookup === null || own === undefined) continue;
    const likeness = (item: JsonObject): Likeness => one.unit.likeness?.(lookup, item, own) ?? "different";
    const rivals = rivalsOf(one).map((item) => {
      const id = item["id"] as ObjectId;
      return { id, likeness: likeness(item), wasThere: context.wasThere(lookup.kind, id) };
    });
    if (rivals.length > 0) listener.rivalSeen(one);
    const verdict = rivals.length === 0 ? ALONE : judgeDuplicates(one, likeness(own), rivals, context.isReviewed);
    const found = await act(one, verdict, { lookup, path }, context, listener);
    if (found !== null) waiting.push(found);
  }
  return waiting;
}

const ALONE: Verdict = { type: "alone" };

/** Each of thousands of records of one zone is looked at once. */
function rivalIndex(
  items: readonly JsonObject[],
  members: readonly MadeObject[],
  path: readonly string[],
  context: Context,
): (one: MadeObject) => readonly JsonObject[] {
  const lookup = members[0]?.step.lookup ?? null;
  if (lookup === null) return () => [];
  const made = context.made.in(lookup, path);
  const others = items.filter((item) => !made.has(item["id"] as ObjectId));
  const byKey = groupByDuplicateKey(others, members);
  return ({ step, unit, id }) => {
    const key = step.lookup === null ? null : (unit.duplicateKey?.(step.lookup) ?? null);
    if (key === null) return [];
    const known = new Set<ObjectId>([id, ...(step.lookup?.known ?? [])]);
    return (byKey.get(key) ?? []).filter((item) => !known.has(item["id"] as ObjectId));
  };
}

/** @param members of one list: what an item goes by is the same for each of them */
function groupByDuplicateKey(
  items: readonly JsonObject[],
  members: readonly MadeObject[],
): ReadonlyMap<string | null, readonly JsonObject[]> {
  const [first] = members;
  const lookup = first?.step.lookup ?? null;
  if (first === undefined || lookup === null) return new Map();
  return groupBy(items, (item) => first.unit.duplicateKey?.(lookup, item) ?? null);
}

/** A filter that matches whatever one of the members' filters matches. Of too many, only the fields that all share. null: everything. */
function filterOf(members: readonly MadeObject[]): JsonObject | null {
  const filters = new Map<string, JsonObject>();
  for (const { step } of members) {
    if (step.lookup === null || step.lookup.filter === null) return null;
    filters.set(JSON.stringify(step.lookup.filter), step.lookup.filter);
  }
  const all = [...filters.values()];
  const [first] = all;
  if (first === undefined || all.length === 1) return first ?? null;
  if (all.length <= MAX_ALTERNATIVES) return { "+or": all };
  const isCommon = ([field, value]: [string, Json]) => all.every((filter) => filter[field] === value);
  const common = Object.fromEntries(Object.entries(first).filter(isCommon));
  return Object.keys(common).length === 0 ? null : common;
}

/** @returns what is to be waited for; null if nothing is */
async function act(
  made: MadeObject,
  verdict: Verdict,
  place: Place,
  context: Context,
  listener: DuplicateListener,
): Promise<Waiting | null> {
  switch (verdict.type) {
    case "alone":
      return null;
    case "wait":
      return { made, until: verdict.until, ids: verdict.ids };
    case "yield":
      return yieldTo(verdict.to, made, place, context, listener);
    case "remove":
      await removeExtras(verdict, made, place.path, context, listener);
      return null;
    case "stuck": {
      const { step, id } = made;
      const [noun] = wordsOf(made);
      const subject = made.repeated ? "it was sent twice; this run" : "this run";
      const verb = verdict.ids.length === 1 ? "has" : "have";
      listener.report(
        `${step.id}: ${subject} uses ${noun} ${String(id)}, but ${noun} ${joinIds(verdict.ids)} ${verb} the same name; ` +
          `${verdict.reason}, so Tenon deletes neither; delete one by hand, or put the id of the one to keep into the manifest`,
      );
      listener.severalRemain(step);
      return null;
    }
  }
}

/** Deletes this run's object, after a last look: the older one must still exist, and this run's own must be as it was sent. */
async function yieldTo(
  to: ObjectId,
  made: MadeObject,
  place: Place,
  context: Context,
  listener: DuplicateListener,
): Promise<Waiting | null> {
  const { step, id, unit } = made;
  const { lookup, path } = place;
  const [noun] = wordsOf(made);
  const again: Waiting = { made, until: "ready", ids: [to] };
  if (context.stopping.aborted) return again;
  const [own, older] = await Promise.all([view(id, path, context), view(to, path, context)]);
  const likeness = (item: JsonObject): Likeness => unit.likeness?.(lookup, item, own ?? item) ?? "different";
  if (older === null || !["equal", "used"].includes(likeness(older))) return again;
  if (own === null || !["equal", "unready"].includes(likeness(own))) return again;
  const problem = await remove(id, `${String(id)} is younger than ${String(to)}`, made, path, context);
  if (problem !== null) {
    listener.report(
      `${step.id}: another run made an equal ${noun} first, ${String(to)}; this run's ${noun} remains: ${problem}`,
    );
    listener.severalRemain(step);
    return null;
  }
  context.made.add(lookup, path, to);
  listener.goOnWith(step, to, partsIn(step, older, unit));
  listener.report(
    `${step.id}: another run made an equal ${noun} first; this run deleted its own, ${String(id)}, and goes on with ${String(to)}`,
  );
  return null;
}

async function view(id: ObjectId, path: readonly string[], context: Context): Promise<JsonObject | null> {
  const answer = await context.api.get({ path: [...path, String(id)] }, context.aborting);
  return answer.ok && answer.body !== null && typeof answer.body === "object" ? (answer.body as JsonObject) : null;
}

/**
 * Equal records are one value of one DNS answer. Nothing is lost if all but one are deleted, and the next plan would delete them, too.
 */
async function removeExtras(
  { keep, extras }: Pick<Extract<Verdict, { type: "remove" }>, "keep" | "extras">,
  made: MadeObject,
  path: readonly string[],
  context: Context,
  listener: DuplicateListener,
): Promise<void> {
  const { step } = made;
  for (const extra of extras) {
    const text = `${step.id} was carried out twice: record ${String(extra)} equals ${String(keep)}`;
    const stopped = context.stopping.aborted;
    const problem = stopped ? "" : await remove(extra, `${String(extra)} equals ${String(keep)}`, made, path, context);
    if (problem === null) listener.report(`${text} and was deleted`);
    else listener.report(stopped ? `${text}; the run was stopped, so the next plan removes it` : `${text}; ${problem}`);
    if (problem !== null) listener.severalRemain(step);
    else if (extra === made.id) listener.goOnWith(step, keep, undefined);
  }
}

/** A list inside a copy that this run made: the records of a cloned zone. */
export interface CopiedList {
  readonly path: readonly string[];
  /** Objects of this run in the original's list, each of which another run may have made as well. */
  readonly made: readonly MadeObject[];
}

/**
 * If two runs put the same record into an object, each copy of it holds that record twice. The copy is this run's own, and equal records
 * are one value of one DNS answer: the oldest stays. Another run that finds the copy keeps the same one.
 */
export async function resolveCopyDuplicates(
  { path, made: all }: CopiedList,
  context: Context,
  listener: DuplicateListener,
): Promise<void> {
  const answer = await context.api.list({ path }, context.aborting);
  const byKey = groupByDuplicateKey(answer.ok ? answer.items : [], all);
  for (const made of all) {
    const { step, unit } = made;
    const { lookup } = step;
    const key = lookup === null ? null : (unit.duplicateKey?.(lookup) ?? null);
    if (lookup === null || key === null || lookup.additive === true) continue;
    if (!answer.ok) {
      listener.report(
        `${step.id}: Tenon could not check whether the copy ${path.join("/")} holds it twice: ${answer.failure.message}`,
      );
      listener.severalRemain(step);
      continue;
    }
    const ids = (byKey.get(key) ?? []).map(({ id }) => id as ObjectId);
    const [keep, ...extras] = ids.sort((a, b) => Number(ageOf(a)) - Number(ageOf(b)));
    if (keep === undefined || extras.length === 0) continue;
    await removeExtras({ keep, extras }, made, path, context, listener);
  }
}

/** @returns null if it is gone, else why not */
async function remove(
  id: ObjectId,
  why: string,
  { step }: MadeObject,
  listPath: readonly string[],
  context: Context,
): Promise<string | null> {
  const path = [...listPath, String(id)];
  context.note(step.id, "deleting-duplicate", why);
  const journalFailure = await context.intent({
    step: step.id,
    reason: "duplicate",
    method: "DELETE",
    path,
    body: null,
  });
  if (journalFailure !== null) return `${String(id)} is still there: ${journalFailure.message}`;
  const answer = await context.api.send({ method: "DELETE", path }, context.aborting);
  if (answer.ok || answer.failure.status === 404) return null;
  return `${String(id)} could not be deleted: ${answer.failure.message}`;
}

function reasonFor({ until }: Waiting): string {
  switch (until) {
    case "gone":
      return "the younger one has not been deleted yet";
    case "ready":
      return "the older one cannot be used yet";
  }
}

function giveUp({ made, ids }: Waiting, why: string, listener: DuplicateListener): void {
  const { step, id, repeated } = made;
  const who = repeated ? "it was sent twice" : "another run made the same at the same time";
  const [, nouns] = wordsOf(made);
  const all = joinIds([id, ...ids]);
  listener.report(
    `${step.id}: ${who}, so there are equal ${nouns}: ${all}; ${why}; plan again when every run has ended`,
  );
  listener.severalRemain(step);
}

function joinIds(ids: readonly ObjectId[]): string {
  return ids.map(String).join(", ");
}

function wordsOf({ step, unit }: MadeObject): KindFacts["words"] {
  return factsOf(unit, step.lookup?.kind ?? unit.kinds[0].kind).words;
}

function identifiedByValues(unit: UnitKinds, { lookup }: RequestStep): boolean {
  return lookup !== null && factsOf(unit, lookup.kind).identifiedByValues === true;
}
