/** With `--changed-since`: which networks, zones and images the manifests declare otherwise than the base does. */

import { asciiAddress, compileWithinAddress } from "../dns/unicode.ts";
import type { ChangedSince } from "../model/change.ts";
import type { Consent, Declared, Desired, Removed } from "../model/desired.ts";
import type { Live } from "../model/live.ts";
import type { Address, ObjectId } from "../model/resource.ts";
import { compareText, groupBy } from "../model/text.ts";
import type { Unit } from "../model/unit.ts";
import type { Matched } from "./match.ts";
import { compareUnit, type PlanOptions } from "./plan.ts";

/** What has changed, with the manifests that it was found by. */
export interface ChangedEntries extends ChangedSince {
  /** Absent: of a saved plan, which has `affected`. */
  readonly base?: Desired;
}

/**
 * Compares what is declared and removed, once everything is expanded: a variable, a default, a record set or a zone file counts wherever it is
 * used. The place in a file and the order of keys do not count. What a new consent may free is changed, too, and so may be what is made of a file.
 * Linear in what both hold, for each new consent.
 * @param name of the base, as it was given
 */
export function findChangedSince(name: string, desired: Desired, base: Desired): ChangedEntries {
  const [now, before] = [entriesOf(desired), entriesOf(base)];
  const addresses = [...new Set([...now.keys(), ...before.keys()])];
  // With another owner, every object gets another tag; for another account, the base changes nothing.
  const consents = newConsents(desired, base);
  const isAllChanged =
    desired.owner !== base.owner || desired.account !== base.account || consents.length > MAX_NEW_CONSENTS;
  const uploads = new Set((desired.files ?? []).map(({ address }) => address));
  const isChanged = (address: Address): boolean =>
    isAllChanged || uploads.has(address) || !isSameValue(now.get(address) ?? [], before.get(address) ?? []);
  const freed = consents.slice(0, MAX_NEW_CONSENTS).flatMap((glob) => rootsWithin(glob, addresses));
  return { name, addresses: [...new Set([...addresses.filter(isChanged), ...freed])].sort(compareText), base };
}

/**
 * Finds what else becomes of the account: an entry that goes, or is written otherwise, may let go of an object that has another name (`id`,
 * `moved_from`) or no entry (a family keeps it), and an entry that has not changed takes or deletes it then. Compares what becomes of each object by
 * both manifests. Objects of a unit whose names are unique, and that keeps nothing without an entry, are their own entry's alone: they are not looked at.
 * @param live holds all objects of the other units that were read
 */
export function withAffected(
  { base, ...changedSince }: ChangedEntries,
  desired: Desired,
  live: Live,
  units: readonly Unit[],
  options: PlanOptions,
): ChangedSince {
  if (base === undefined) return changedSince;
  const known = new Set(changedSince.addresses);
  const affected = new Set<Address>();
  const lists = new EntryLists();
  const added = new Set<EntryList>();
  const add = (addresses: readonly Address[]): void => {
    for (const one of addresses) if (!known.has(one)) affected.add(one);
  };
  for (const unit of units) {
    const found = live.units[unit.name];
    if (found === undefined || (!unit.canBeRenamed && unit.retain === undefined)) continue;
    const [now, before] = [desired, base].map((one) =>
      fatesOf(unit, compareUnit(unit, one, found, options).matched, lists),
    );
    for (const item of found.items) {
      const { id, address } = unit.identify(item);
      const [fate, former] = [now?.get(id), before?.get(id)];
      if (fate?.text === former?.text) continue;
      add([address]);
      for (const list of [...(fate?.by ?? []), ...(former?.by ?? [])]) {
        if (added.has(list)) continue;
        added.add(list);
        add(list.addresses);
      }
    }
  }
  return affected.size === 0 ? changedSince : { ...changedSince, affected: [...affected].sort(compareText) };
}

/** Addresses of entries; one object for equal lists. */
interface EntryList {
  readonly number: number;
  readonly addresses: readonly Address[];
}

/** The lists of entries that objects have to do with. Thousands of images share that of their family, of thousands of entries: it is read once. */
class EntryLists {
  readonly #byText: Map<string, EntryList> = new Map();
  readonly #read: WeakMap<readonly { readonly address: Address }[], EntryList> = new WeakMap();

  of(entries: readonly { readonly address: Address }[]): EntryList {
    const read = this.#read.get(entries);
    if (read !== undefined) return read;
    const addresses = entries.map(({ address }) => address);
    const text = JSON.stringify(addresses);
    const list = this.#byText.get(text) ?? { number: this.#byText.size, addresses };
    this.#byText.set(text, list);
    this.#read.set(entries, list);
    return list;
  }
}

/** What becomes of a live object: as a text to compare, and the entries that say so. */
interface Fate {
  readonly text: string;
  readonly by: readonly EntryList[];
}

/** By the object's id; what stays although no entry means it is absent. */
function fatesOf(unit: Unit, { matches }: Matched, lists: EntryLists): ReadonlyMap<ObjectId, Fate> {
  const meant = matches.flatMap((match) =>
    match.live === null ? [] : [[unit.identify(match.live).id, match] as const],
  );
  const byId = groupBy(meant, ([id]) => id);
  return new Map(
    [...byId].map(([id, all]) => {
      const by = all.flatMap(([, match]) => {
        const own = lists.of([match.declared, match.removed].flatMap((entry) => entry ?? []));
        return match.intent === "delete" && match.by !== undefined ? [own, lists.of(match.by)] : [own];
      });
      const ways = all.map(([, match]) => (match.intent === "delete" ? match.label : match.intent));
      return [id, { text: JSON.stringify([ways, by.map(({ number }) => number)]), by }];
    }),
  );
}

/** Each new consent is compared with every address: with more of them than this, everything counts as changed. */
const MAX_NEW_CONSENTS = 100;

/** Address globs. */
function newConsents({ allow }: Desired, base: Desired): string[] {
  const keyOf = ({ rule, address, until }: Consent): string => JSON.stringify([rule, address, until]);
  const known = new Set(base.allow.map(keyOf));
  return allow.filter((consent) => !known.has(keyOf(consent))).map(({ address }) => address);
}

/** A consent without a star may be for an object that neither declares: one that is to be pruned. */
function rootsWithin(glob: string, addresses: readonly Address[]): Address[] {
  const [kind = "", name = ""] = asciiAddress(glob).split("/", 2);
  const isOne = !glob.replaceAll("\\*", "").includes("*") && name !== "";
  const own = isOne ? [`${kind}/${name}`.replaceAll("\\*", "*")] : [];
  return [...own, ...addresses.filter(compileWithinAddress(glob))];
}

/** Several entries may have one address: labels repeat. */
function entriesOf({ declared, removed }: Desired): ReadonlyMap<Address, readonly (Declared | Removed)[]> {
  return groupBy([...declared, ...removed], ({ address }) => address);
}

/** Where something is written, which is no part of what it says; and what is said for people, which changes nothing. */
const NOT_COMPARED: ReadonlySet<string> = new Set(["span", "idSpan", "annotations"]);

export function isSameValue(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [keys, otherKeys] = [keysOf(one), keysOf(other)];
  if (keys.length !== otherKeys.length) return false;
  return keys.every(
    (key) => Object.hasOwn(other, key) && isSameValue(one[key as keyof typeof one], other[key as keyof typeof other]),
  );
}

function keysOf(value: object): string[] {
  return Object.keys(value).filter((key) => !NOT_COMPARED.has(key));
}
