/** With `--changed-since`: which networks, zones and images the manifests declare otherwise than the base does. */

import type { ChangedSince } from "../model/change.ts";
import type { Declared, Desired, Removed } from "../model/desired.ts";
import type { Address } from "../model/resource.ts";
import { compareText, groupBy } from "../model/text.ts";

/**
 * Compares what is declared and removed, once everything is expanded: a variable, a default, a record set or a zone file counts wherever it is
 * used. The place in a file and the order of keys do not count. Linear in what both hold.
 * @param name of the base, as it was given
 */
export function findChangedSince(name: string, desired: Desired, base: Desired): ChangedSince {
  const [now, before] = [entriesOf(desired), entriesOf(base)];
  const addresses = [...new Set([...now.keys(), ...before.keys()])];
  // With another owner, every object gets another tag.
  const hasOtherOwner = desired.owner !== base.owner;
  const isChanged = (address: Address): boolean =>
    hasOtherOwner || !isSameValue(now.get(address) ?? [], before.get(address) ?? []);
  return { name, addresses: addresses.filter(isChanged).sort(compareText) };
}

/** Several entries may have one address: labels repeat. */
function entriesOf({ declared, removed }: Desired): ReadonlyMap<Address, readonly (Declared | Removed)[]> {
  return groupBy([...declared, ...removed], ({ address }) => address);
}

/** Where something is written, which is no part of what it says. */
const PLACES: ReadonlySet<string> = new Set(["span", "idSpan"]);

function isSameValue(one: unknown, other: unknown): boolean {
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
  return Object.keys(value).filter((key) => !PLACES.has(key));
}
