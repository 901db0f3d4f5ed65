/**
 * Undo: a run, as its journal tells it, beside the account as it is now → what the account shall be again. Each object is compared three ways: as it
 * was before the run, as the run made it, and as it is. Pure.
 */

import type { Declared, Desired, Removed } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { JournalledChange, JournalledRun } from "../model/journal.ts";
import { factsOf } from "../model/kind.ts";
import type { Live } from "../model/live.ts";
import type { Kind, ObjectId, Values } from "../model/resource.ts";
import { compareIds, groupBy } from "../model/text.ts";
import type { Compared, LiveValues, Unit } from "../model/unit.ts";
import {
  differingFields,
  isFilledSince,
  isLeftBetween,
  isPart,
  isWhole,
  mergeContents,
  mergeFields,
  type Within,
} from "./undo-merge.ts";
import {
  copiedWith,
  type Explanation,
  gaveWayTo,
  goneSince,
  inTheWay,
  leftAlone,
  MANIFEST_STAYS,
  madeByWhom,
  madeForOther,
  nameKept,
  nameTaken,
  newId,
  notRestorable,
  standsFor,
} from "./undo-warnings.ts";

/** Something that the undo would take back, and that somebody has changed since: shown as blocked. */
export interface UndoConflict {
  readonly kind: Kind;
  readonly id: ObjectId;
  /** What it would become; null: it would go. */
  readonly after: Values | null;
  readonly run: string;
}

export interface Undo {
  /** Of what the run has touched: with all that is in it, as it shall be. */
  readonly desired: Desired;
  readonly conflicts: readonly UndoConflict[];
  readonly warnings: readonly Diagnostic[];
}

interface Touched {
  readonly unit: Unit;
  readonly own: JournalledChange;
  readonly within: readonly JournalledChange[];
  /** Its name before the run or, of what was made, after it. */
  readonly name: string;
}

/** The networks, zones and images of which anything was begun. */
function touchedIn(run: JournalledRun, units: readonly Unit[]): Touched[] {
  return [...groupBy(run.changes, ({ root }) => root).values()].flatMap((changes): Touched[] => {
    if (!changes.some(({ isBegun }) => isBegun)) return [];
    return units.flatMap((unit): Touched[] => {
      const [facts] = unit.kinds;
      const own = changes.find(({ kind }) => kind === facts.kind);
      if (own === undefined) return [];
      const name = String((own.before ?? own.after)?.[facts.nameField]);
      return [{ unit, own, within: changes.filter((change) => change !== own && change.isBegun), name }];
    });
  });
}

/** What is to be read of the account to undo the run: a read of objects that are named to be deleted reads all of them. */
export function readForUndo(run: JournalledRun, units: readonly Unit[], project: Desired): Desired {
  const removed = touchedIn(run, units).map(({ unit, own, name }): Removed => {
    const { address, key } = unit.spec.removed(name);
    return { unit: unit.name, address, key, id: null, destroy: true, ignore: [], span: own.span };
  });
  return { ...project, owner: null, declared: [], removed };
}

/** @param project the project's own: its owner, consents, and what it protects and ignores hold */
export function undoRun(run: JournalledRun, live: Live, units: readonly Unit[], project: Desired): Undo {
  const all = touchedIn(run, units);
  const known = all.flatMap(({ unit, own }) => [own.id, own.madeId].map((id) => `${unit.name} ${id}`));
  const before = all.filter(({ own }) => own.before !== null);
  const shared = repeated(before.map(({ unit, name }) => `${unit.name} ${unit.spec.removed(name).address}`));
  const undoing = new Undoing(run, live, project, { known: new Set(known), shared });
  for (const touched of all) undoing.undo(touched);
  return undoing.result();
}

interface Found {
  readonly id: ObjectId;
  readonly key: string;
  readonly owner: string | null;
  readonly sharedWith: readonly string[];
  readonly has: LiveValues;
}

/** What the account has of a unit. */
interface FoundObjects {
  readonly byId: ReadonlyMap<ObjectId, Found>;
  readonly byKey: ReadonlyMap<string, readonly Found[]>;
}

/** So many objects of one name are compared with what the run deleted. */
const MAX_COMPARED = 20;

/** What an object of the entry can be known by. */
function marksOf(unit: string, { id, key, movedFrom, address }: Declared): string[] {
  const marks = [id === null ? [] : `id ${id}`, `name ${key}`, movedFrom === null ? [] : `former ${movedFrom}`];
  return [...marks.flat(), `address ${address}`].map((mark) => `${unit} ${mark}`);
}

/** An entry, and the id that tells its object from others of its name: its own, or the one that it had. */
interface Named {
  readonly entry: Declared;
  readonly id: ObjectId | null;
}

/**
 * What the run deleted, and what it renamed, may have had one name: each of several gets its id into its address.
 * @param shared unit and address of which there were several before the run: the same while an undo has made some of them, and not yet others
 */
function distinct(named: readonly Named[], shared: ReadonlySet<string>): Declared[] {
  const placeOf = ({ entry: { unit, address } }: Named): string => `${unit} ${address}`;
  const staying = named.filter(({ entry }) => entry.goes !== true);
  const several = new Set([...shared, ...repeated(staying.map(placeOf))]);
  return named.map((one) => {
    const { entry, id } = one;
    if (entry.goes === true || !several.has(placeOf(one))) return entry;
    return { ...entry, address: `${entry.address}:${encodeURIComponent(String(id))}` };
  });
}

function repeated(texts: readonly string[]): Set<string> {
  return new Set([...groupBy(texts, (text) => text)].flatMap(([text, { length }]) => (length > 1 ? [text] : [])));
}

class Undoing {
  readonly #run: JournalledRun;
  readonly #live: Live;
  readonly #project: Desired;
  /** The project's entries by what an object can be known by: its id, its name, its former name, its address. */
  readonly #entries: ReadonlyMap<string, readonly Declared[]>;
  /** Unit and id of the objects that the run has touched. */
  readonly #known: ReadonlySet<string>;
  /** Unit and address of which there were several before the run. */
  readonly #shared: ReadonlySet<string>;
  readonly #found: Map<Unit, FoundObjects> = new Map();
  /** By unit and name. */
  readonly #others: Map<string, readonly Found[]> = new Map();
  /** What the run deleted and is not there, by unit and name. */
  readonly #gone: Map<string, Touched[]> = new Map();
  /** What the run made of a kind of which nothing deleted comes back. */
  readonly #madeOnce: { readonly touched: Touched; readonly made: Found }[] = [];
  readonly #declared: Named[] = [];
  readonly #conflicts: UndoConflict[] = [];
  readonly #warnings: Diagnostic[] = [];
  readonly #compared: Compared = { characters: 0 };

  constructor(
    run: JournalledRun,
    live: Live,
    project: Desired,
    { known, shared }: { readonly known: ReadonlySet<string>; readonly shared: ReadonlySet<string> },
  ) {
    this.#run = run;
    this.#live = live;
    this.#project = project;
    const named = project.declared.flatMap((entry) => marksOf(entry.unit, entry).map((mark) => ({ mark, entry })));
    this.#entries = new Map(
      [...groupBy(named, ({ mark }) => mark)].map(([mark, all]) => [mark, all.map(({ entry }) => entry)]),
    );
    this.#known = known;
    this.#shared = shared;
  }

  result(): Undo {
    const gone = [...this.#gone.values()];
    for (const { touched, made } of this.#madeOnce) {
      const lost = gone.flat().filter(({ unit }) => unit === touched.unit).length;
      if (lost > 0) this.#warn(touched, standsFor(touched.own.root, lost));
      else this.#deleteMade(touched, made);
    }
    for (const deleted of gone) this.#makeAgain(deleted);
    const { allow, account, lintOff } = this.#project;
    const { owner } = this.#run;
    return {
      desired: { owner, account, declared: distinct(this.#declared, this.#shared), removed: [], allow, lintOff },
      conflicts: this.#conflicts,
      warnings: this.#declared.length === 0 ? this.#warnings : [MANIFEST_STAYS, ...this.#warnings],
    };
  }

  undo(touched: Touched): void {
    const { own, unit } = touched;
    const all = this.#foundIn(unit);
    const before = own.id === null ? undefined : all.byId.get(own.id);
    const made = own.action === "create" || own.action === "replace" ? this.#madeBy(touched, all) : undefined;
    switch (own.isBegun ? own.action : "no-op") {
      case "create":
        if (made !== undefined && unit.kinds[0].cannotBeRemade === true) this.#madeOnce.push({ touched, made });
        else if (made !== undefined) this.#deleteMade(touched, made);
        else if (own.gaveWay) this.#warn(touched, gaveWayTo(`${own.root} stays`));
        else if (own.mayBeMade && this.#othersNamed(touched, all).length > 0) this.#warn(touched, madeByWhom(own.root));
        return;
      case "delete":
        if (before === undefined) this.#addGone(touched);
        return;
      case "replace":
        if (made === undefined) {
          if (before === undefined) this.#addGone(touched);
        } else if (unit.kinds[0].cannotBeRemade !== true) this.#restore(touched, made);
        else if (before !== undefined) this.#deleteMade(touched, made);
        else this.#warn(touched, notRestorable(touched.own.root));
        return;
      case "update":
      case "no-op":
        if (before === undefined) this.#warn(touched, goneSince(own.root));
        else this.#restore(touched, before);
        return;
    }
  }

  /** The project's entries that mean an object now, the likeliest first: what any of them protects stays. */
  #entriesOf({ unit, own }: Touched, found: Found | null): readonly Declared[] {
    const now = found === null ? [] : [`id ${found.id}`, `name ${found.key}`, `former ${found.key}`];
    const meant = now.flatMap((mark) => this.#entries.get(`${unit.name} ${mark}`) ?? []);
    return meant.length > 0 ? meant : (this.#entries.get(`${unit.name} address ${own.root}`) ?? []);
  }

  #foundIn(unit: Unit): FoundObjects {
    const known = this.#found.get(unit);
    if (known !== undefined) return known;
    const all = (this.#live.units[unit.name]?.items ?? []).map((item): Found => {
      const { id, key, owner, sharedWith = [] } = unit.identify(item);
      return { id, key, owner, sharedWith, has: unit.valuesOf(item) };
    });
    const found = { byId: new Map(all.map((one) => [one.id, one])), byKey: groupBy(all, ({ key }) => key) };
    this.#found.set(unit, found);
    return found;
  }

  /** What the run made: by its id or, if the answer was never seen, the one object of its name that carries the run's tag. */
  #madeBy({ own, unit }: Touched, all: FoundObjects): Found | undefined {
    if (own.madeId !== null) return all.byId.get(own.madeId);
    if (!own.mayBeMade) return undefined;
    const named = all.byKey.get(String(own.after?.[unit.kinds[0].nameField])) ?? [];
    const [only, ...others] = named.filter((one) => this.#isSince(one, unit) && one.owner === this.#run.owner);
    // Without a tag nothing but its values tells it from one that somebody else has made.
    const isOurs = only !== undefined && (this.#run.owner !== null || isPart(only.has, own.after ?? {}, null));
    return others.length === 0 && isOurs ? only : undefined;
  }

  #deleteMade(touched: Touched, made: Found): void {
    const { own, unit, within } = touched;
    const { values, within: contents } = made.has;
    // What a copy or a transfer brought with it, nobody knows: all of it goes.
    const cameWithMore = own.after?.["create_from"] !== undefined;
    const inIt = mergeContents(contents, within, unit);
    // A copy that was not finished still has fields of its original, but never the name.
    const hasOriginals = !own.isDone && (own.isFromAnother || cameWithMore);
    const isTouched =
      differingFields(own.after, values).some((field) =>
        hasOriginals ? field === unit.kinds[0].nameField : !isLeftBetween(own, field, values, unit),
      ) ||
      (!hasOriginals && !cameWithMore && isFilledSince({ ...unit.kinds[0].expected, ...own.after }, values));
    if (isTouched || (!cameWithMore && inIt.restored.length + inIt.staying.length > 0)) {
      this.#conflict(unit.kinds[0].kind, made.id, null);
    }
    if (cameWithMore) this.#warn(touched, copiedWith(own.root, contents.length));
    const within_ = unit.kinds[0].takesContents ? null : contents.map((one) => one.values);
    this.#declare(touched, made, values, within_, { goes: true });
  }

  #addGone(touched: Touched): void {
    const key = `${touched.unit.name} ${touched.name}`;
    const same = this.#gone.get(key);
    if (same === undefined) this.#gone.set(key, [touched]);
    else same.push(touched);
  }

  /**
   * They were deleted, and are made anew. An undo that was cut off may have made some of them, or begun to: each object that has come since
   * stands for one of them at most.
   * @param deleted of one name
   */
  #makeAgain(deleted: readonly Touched[]): void {
    const [first] = deleted as readonly [Touched, ...Touched[]];
    const others = this.#othersNamed(first, this.#foundIn(first.unit));
    const free = new Set(others.slice(0, MAX_COMPARED));
    const take = (fits: (has: LiveValues) => boolean): Found | undefined => {
      const found = [...free].find(({ has }) => fits(has));
      if (found !== undefined) free.delete(found);
      return found;
    };
    const open = deleted.flatMap((touched) => {
      const { own, within } = touched;
      const before = own.before ?? {};
      const wanted = [...own.contents, ...within.flatMap(({ before: was }) => (was === null ? [] : [was]))];
      return take((has) => isWhole(has, before, wanted)) === undefined ? [{ touched, before, wanted }] : [];
    });
    const begun = open.map((one) => ({ ...one, found: take((has) => isPart(has, one.before, one.wanted)) ?? null }));
    const isTaken = others.length > MAX_COMPARED || free.size > 0;
    for (const { touched, before, wanted, found } of begun) {
      const { root, id } = touched.own;
      if (first.unit.kinds[0].cannotBeRemade === true) this.#warn(touched, notRestorable(root));
      else if (found === null && isTaken) this.#warn(touched, nameTaken(root));
      else {
        this.#warn(touched, newId(root, id));
        this.#declare(touched, found, before, wanted, found === null ? { anew: true } : {});
      }
    }
  }

  /** Objects of its name that have come since. */
  #othersNamed({ unit, name }: Touched, { byKey }: FoundObjects): readonly Found[] {
    const key = `${unit.name} ${name}`;
    const known = this.#others.get(key);
    if (known !== undefined) return known;
    const others = (byKey.get(name) ?? []).filter((one) => this.#isSince(one, unit));
    this.#others.set(key, others);
    return others;
  }

  /** Whether an object was not there when the run was planned. One that the run knows by its id was renamed, or made, by the run. */
  #isSince({ id }: Found, unit: Unit): boolean {
    const youngest = this.#run.youngest[unit.kinds[0].kind];
    return (youngest === undefined || compareIds(id, youngest) > 0) && !this.#known.has(`${unit.name} ${id}`);
  }

  #restore(touched: Touched, found: Found): void {
    const { own, unit } = touched;
    const { owner } = this.#run;
    // Of a part, the run never changes the object itself.
    const isWhole = found.owner === owner || (own.isBegun && own.action !== "no-op");
    const part = owner !== null && !isWhole && found.sharedWith.includes(owner);
    const isLeft = this.#leftToOthers(touched, found, part);
    const left: Values[] = [];
    const open: Within[] = [];
    for (const item of found.has.within) {
      if (isLeft(item.values)) left.push(item.values);
      else open.push(item);
    }
    const changes = touched.within.filter(({ before, after }) =>
      [before, after].every((values) => values === null || !isLeft(values)),
    );
    if (changes.length < touched.within.length) {
      this.#warn(touched, leftAlone(own.root, touched.within.length - changes.length));
    }
    const isReplaced = own.isBegun && own.action === "replace";
    const yielded = changes.filter(({ gaveWay }) => gaveWay);
    const [firstYielded] = yielded;
    if (firstYielded !== undefined) {
      const [noun, nouns] = factsOf(unit, firstYielded.kind).words;
      const stay =
        yielded.length === 1 ? `a ${noun} of ${own.root} stays` : `${yielded.length} ${nouns} of ${own.root} stay`;
      this.#warn(touched, gaveWayTo(stay));
    }
    const merged = own.isBegun ? mergeFields(own, found.has.values, unit) : UNCHANGED;
    const fields = merged === "conflict" ? merged : this.#withoutTakenName(touched, merged);
    if (fields === "conflict") {
      this.#conflict(unit.kinds[0].kind, found.id, { ...found.has.values, ...own.before });
    }
    const inIt = mergeContents(open, changes, unit);
    const clashing = unit.clashing?.(inIt.restored, [...inIt.staying, ...left]) ?? NOTHING;
    for (const { id, kind, after } of inIt.conflicts) this.#conflict(kind, id, after);
    for (const key of inIt.gone) this.#warn(touched, goneSince(key));
    for (const values of clashing) this.#warn(touched, inTheWay(own.root, values));
    const restored = inIt.restored.filter((values) => !clashing.has(values));
    const within = [...left, ...inIt.staying, ...restored];
    const values = fields === "conflict" ? found.has.values : { ...found.has.values, ...fields };
    const isSame = fields !== "conflict" && Object.keys(fields).length === 0;
    if (isSame && inIt.conflicts.length === 0 && restored.length === 0 && within.length === found.has.within.length) {
      return;
    }
    if (isReplaced) this.#warn(touched, newId(own.root, own.id));
    this.#warnOfNewIds(touched, open, changes, new Set(restored));
    this.#declare(touched, found, values, touched.within.length === 0 && !isReplaced ? null : within, { part });
  }

  /** What has come since and has the former name is somebody's, and two of one name could not be told apart. */
  #withoutTakenName(touched: Touched, fields: Values): Values {
    const { unit, own } = touched;
    const { [unit.kinds[0].nameField]: name, ...others } = fields;
    if (name === undefined || this.#othersNamed(touched, this.#foundIn(unit)).length === 0) return fields;
    this.#warn(touched, nameKept(own.root));
    return others;
  }

  /** Of what is restored in an object, and is not there any more under its id. */
  #warnOfNewIds(
    touched: Touched,
    live: readonly Within[],
    changes: readonly JournalledChange[],
    restored: ReadonlySet<Values>,
  ): void {
    const there = new Set(live.map(({ id }) => id));
    for (const { key, kind, id, before } of changes) {
      const isMadeAnew = before !== null && restored.has(before) && id !== null && !there.has(id);
      if (isMadeAnew && factsOf(touched.unit, kind).identifiedByValues !== true) this.#warn(touched, newId(key, id));
    }
  }

  /** Of another's object only a part that the project still declares is its own. */
  #leftToOthers(touched: Touched, found: Found, part: boolean): (values: Values) => boolean {
    const [entry = null] = this.#entriesOf(touched, found);
    if (part && entry?.part !== true) return () => true;
    const live = found.has.within.map(({ values }) => values);
    const deleted = touched.within.flatMap(({ before, after }) => (before !== null && after === null ? [before] : []));
    return touched.unit.leftToOthers?.(entry, live, deleted, this.#compared) ?? (() => false);
  }

  #declare(
    touched: Touched,
    found: Found | null,
    values: Values,
    within: readonly Values[] | null,
    { part = false, ...fate }: { readonly part?: boolean; readonly goes?: true; readonly anew?: true },
  ): void {
    const { unit, own } = touched;
    const entries = this.#entriesOf(touched, found);
    const declared = unit.restate({ values, within }, { own: entries[0] ?? null, part, span: own.span });
    const owner = values["owner"];
    const isOtherOwner = !part && fate.goes === undefined && owner !== undefined && owner !== this.#run.owner;
    const entry = {
      ...declared,
      id: found?.id ?? null,
      protect: entries.some(({ protect }) => protect),
      ...(isOtherOwner ? { owner: typeof owner === "string" ? owner : null } : {}),
      ...fate,
    };
    if (isOtherOwner && found === null && typeof owner === "string") this.#warn(touched, madeForOther(own.root, owner));
    this.#declared.push({ entry, id: entry.id ?? own.id });
  }

  #conflict(kind: Kind, id: ObjectId, after: Values | null): void {
    this.#conflicts.push({ kind, id, after, run: this.#run.started });
  }

  #warn({ own }: Touched, explanation: Explanation): void {
    this.#warnings.push({ ...explanation, severity: "warning", span: own.span, address: own.root });
  }
}

const NOTHING: ReadonlySet<Values> = new Set();
const UNCHANGED: Values = {};
