/** What is declared as the manifest entries that declare it: the way back from the units' specs, under the API's field names. */

import type { Consent, Declared, Desired, Removed } from "../model/desired.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import type { Unit, WrittenEntry } from "../model/unit.ts";

/** Of a unit, what is needed to write its entries. */
export type WritableUnit = Pick<Unit, "name"> & {
  readonly spec: Pick<Unit["spec"], "section" | "removedKey" | "write">;
};

/** Entries hold nothing that is undefined; what they leave out is left alone, or is the manifest's default. */
export type Entry = Record<string, Json>;

/**
 * A whole manifest that comes down to the same desired state: variables, defaults and record sets are in place, domains have an
 * entry each. Entries keep the order of the manifests.
 */
export function manifestOf(desired: Desired, units: readonly WritableUnit[]): JsonObject {
  const sections = units.map(({ name, spec }) => {
    const declared = desired.declared.filter((entry) => entry.unit === name);
    return [spec.section, declared.map((entry) => entryOf(entry, spec.write(entry.spec)))] as const;
  });
  const removedKeys = new Map(units.map(({ name, spec }) => [name, spec.removedKey]));
  const manifest = {
    tenon: 1,
    owner: desired.owner,
    account: desired.account,
    lint: desired.lintOff.length === 0 ? null : { off: desired.lintOff },
    ...Object.fromEntries(sections),
    removed: desired.removed.map((entry) => removedEntry(entry, removedKeys.get(entry.unit) ?? entry.unit)),
    allow: desired.allow.map(allowEntry),
  } as Readonly<Record<string, Json>>;
  const stated = Object.entries(manifest).filter(
    ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
  );
  return escapeReferences(Object.fromEntries(stated)) as JsonObject;
}

/** What a manifest would read as a reference is written so that it does not. */
export function escapeReferences(value: Json): Json {
  if (typeof value === "string") return value.replaceAll("${", () => "$${");
  if (Array.isArray(value)) return value.map((item: Json) => escapeReferences(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, escapeReferences(item as Json)]));
}

/** The entry of one declared object, under the keys of its section. */
export function entryOf({ id, movedFrom, protect, note }: Declared, { head, body }: WrittenEntry): Entry {
  return {
    ...head,
    ...(id === null ? {} : { id }),
    ...(movedFrom === null ? {} : { moved_from: movedFrom }),
    ...(protect ? { protect } : {}),
    ...(note === null ? {} : { note }),
    ...body,
  };
}

function removedEntry({ key, id, destroy, ignore }: Removed, removedKey: string): Entry {
  return {
    [removedKey]: key,
    ...(id === null ? {} : { id }),
    ...(destroy ? {} : { destroy }),
    ...(ignore.length === 0 ? {} : { ignore: ignore.map((pattern) => ({ ...pattern })) }),
  };
}

function allowEntry({ rule, address, until, reason }: Consent): Entry {
  return { [rule]: address, ...(until === null ? {} : { until }), ...(reason === null ? {} : { reason }) };
}
