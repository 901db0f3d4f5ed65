/** Reads the account as far as the desired state needs it: list calls only, the units in parallel. */

import { compileWithinAddress } from "../dns/unicode.ts";
import { type Failure, isDenied, type ReadApi } from "../model/api.ts";
import { type ChangedSince, type InterfaceDetail, narrowedTo } from "../model/change.ts";
import type { Declared, Desired, Removed } from "../model/desired.ts";
import { endingWith } from "../model/ending.ts";
import type { Live, LiveUnit } from "../model/live.ts";
import { type Address, nameInAddress, type UnitName } from "../model/resource.ts";
import type { LiveIdentity, ReadWatch, Scope, Unit } from "../model/unit.ts";

export interface ReadOptions {
  readonly desired: Desired;
  readonly units: readonly Unit[];
  readonly api: ReadApi;
  /** Everything declared goes; with an owner, what carries its tag. */
  readonly destroy: boolean;
  /** Address globs; if there are any, only what they can match is read. */
  readonly targets?: readonly string[];
  /** If not null, only what it names is read. */
  readonly changedSince?: ChangedSince | null;
  readonly watch?: ReadWatch;
}

export type LiveResult =
  | { readonly ok: true; readonly live: Live }
  /** `what` could not be read, for example "the list of domains". */
  | { readonly ok: false; readonly what: string; readonly failure: Failure };

/** The first of several failures, in the order of the units, is reported; the other reads are aborted. */
export async function readLive(options: ReadOptions): Promise<LiveResult> {
  const wanted = options.units.flatMap((unit) => {
    const scope = scopeOf(unit, options);
    return isNeeded(scope) ? [{ unit, scope }] : [];
  });
  const stop = endingWith(options.watch?.signal);
  const tally = new Tally(options.watch);
  const results = await Promise.all(
    wanted.map(async ({ unit, scope }) => {
      const result = await unit.read(scope, options.api, { signal: stop.signal, progress: tally.of(unit.name) });
      if (!result.ok) stop.abort();
      return { name: unit.name, result };
    }),
  ).finally(stop.release);
  const units: Partial<Record<UnitName, LiveUnit>> = {};
  const failures: Extract<LiveResult, { ok: false }>[] = [];
  for (const { name, result } of results) {
    if (!result.ok) {
      failures.push(result);
      continue;
    }
    const { items, total, servedMilliseconds } = result;
    units[name] = { items, total, ...(servedMilliseconds === undefined ? {} : { servedMilliseconds }) };
  }
  // A read that was cut short only echoes the failure that stopped it.
  const failure = failures.find((candidate) => candidate.failure.type !== "aborted") ?? failures[0];
  return failure ?? { ok: true, live: { units } };
}

/** The details that explain blocked changes: profiles and addresses of the interfaces. If rights are missing, the details are left out. */
export async function readDetail(
  live: Live,
  isBlocked: (identity: LiveIdentity) => boolean,
  units: readonly Unit[],
  api: ReadApi,
): Promise<InterfaceDetail[]> {
  const asking = untilDenied(api);
  const details = await Promise.all(
    units.flatMap((unit) => {
      const items = unit.detail === undefined ? [] : (live.units[unit.name]?.items ?? []);
      return items.filter((item) => isBlocked(unit.identify(item))).map((item) => unit.detail?.(item, asking) ?? []);
    }),
  );
  return details.flat();
}

/** Lists are asked for until one is denied: a token that may not read one address list may read none. */
function untilDenied(api: ReadApi): ReadApi {
  const stop = new AbortController();
  return {
    get requestCount() {
      return api.requestCount;
    },
    list: async (request) => {
      const answer = await api.list(request, stop.signal);
      if (!answer.ok && isDenied(answer.failure)) stop.abort();
      return answer;
    },
    get: (request, signal) => api.get(request, signal),
  };
}

/**
 * Addresses of what carries the project's tag and is not declared: lists only, and no children. What cannot be read is left out: they
 * only explain.
 */
export async function readOwned({ desired, units, api, watch }: ReadOptions): Promise<Address[]> {
  const { owner } = desired;
  if (owner === null) return [];
  const scope: Scope = { declared: [], removed: [], owner, destroy: true };
  const found = await Promise.all(
    units.map(async (unit) => {
      const result = await unit.read(scope, api, watch ?? {});
      const declared = desired.declared.filter((entry) => entry.unit === unit.name);
      const ids = new Set(declared.map((entry) => entry.id));
      const keys = new Set(declared.flatMap(({ key, movedFrom }) => (movedFrom === null ? [key] : [key, movedFrom])));
      const isDeclared = ({ id, key }: LiveIdentity): boolean => ids.has(id) || keys.has(key);
      const identities = result.ok ? result.items.map((item) => unit.identify(item)) : [];
      return identities.filter((identity) => identity.owner === owner && !isDeclared(identity));
    }),
  );
  return found.flat().map(({ address }) => address);
}

function scopeOf(unit: Unit, { desired, targets = [], changedSince = null, destroy }: ReadOptions): Scope {
  const { name, canBeRenamed } = unit;
  const roots = changedSince === null ? null : narrowedTo(changedSince);
  const globs = targets.map(compileWithinAddress);
  const isTargeted = (address: Address): boolean => globs.length === 0 || globs.some((fits) => fits(address));
  const isWanted = (entry: { readonly unit: UnitName; readonly address: Address }): boolean =>
    entry.unit === name && (roots === null || roots.has(entry.address)) && isTargeted(entry.address);
  // A target may be the old address of an object that is renamed: only a read tells which address that is.
  const mayBeRenamed = ({ unit, address, id, movedFrom }: Declared): boolean =>
    roots === null &&
    unit === name &&
    canBeRenamed &&
    (id !== null || movedFrom !== null) &&
    isTargeted(kindOf(address));
  return {
    declared: desired.declared.filter((entry) => isWanted(entry) || mayBeRenamed(entry)),
    removed: destroy
      ? []
      : [...desired.removed.filter(isWanted), ...(roots === null ? [] : undeclared(unit, desired, roots))],
    // Objects with our tag that are not declared are pruned by a run that is not narrowed. One that `changedSince` narrows prunes what that names.
    owner: destroy || targets.length > 0 || roots !== null ? null : desired.owner,
    destroy,
    ...(targets.length > 0 || roots !== null
      ? { declaredCount: desired.declared.filter((entry) => entry.unit === name).length }
      : {}),
    ...(destroy && desired.owner !== null ? { destroyOwner: desired.owner } : {}),
  };
}

/**
 * Entries, for reading only, of what the base declares and the project does not: it may be pruned, and then its contents matter; or another entry
 * may mean the object, by another name.
 */
function undeclared(
  { name, kinds, canBeRenamed }: Unit,
  { owner, declared, removed }: Desired,
  roots: ReadonlySet<Address>,
): Removed[] {
  if (owner === null && !canBeRenamed) return [];
  const stated = new Set([...declared, ...removed].map(({ address }) => address));
  return [...roots].flatMap((address): Removed[] => {
    const key = nameInAddress(address, kinds[0].kind);
    if (key === null || stated.has(address)) return [];
    return [{ unit: name, address, key, id: null, destroy: true, ignore: [], span: { file: "", start: 0, end: 0 } }];
  });
}

/** The part of an address that those of all objects of its kind have in common: `vpc` of `vpc/prod`. */
function kindOf(address: Address): Address {
  return address.slice(0, address.indexOf("/"));
}

/** Whether a plan of `desired` asks for the unit at all. */
export function isUnitNeeded(name: UnitName, desired: Desired): boolean {
  const isOfUnit = (entry: { readonly unit: UnitName }): boolean => entry.unit === name;
  return desired.owner !== null || desired.declared.some(isOfUnit) || desired.removed.some(isOfUnit);
}

function isNeeded(scope: Scope): boolean {
  return scope.declared.length > 0 || scope.removed.length > 0 || scope.owner !== null;
}

/** Sums the progress of units that read at the same time. */
export class Tally {
  readonly #counts: Map<UnitName, readonly [done: number, total: number]> = new Map();
  readonly #watch: ReadWatch | undefined;

  constructor(watch: ReadWatch | undefined) {
    this.#watch = watch;
  }

  of(name: UnitName): (done: number, total: number) => void {
    return (done, total) => {
      this.#counts.set(name, [done, total]);
      const counts = [...this.#counts.values()];
      this.#watch?.progress?.(
        counts.reduce((sum, [one]) => sum + one, 0),
        counts.reduce((sum, [, one]) => sum + one, 0),
      );
    };
  }
}

// The reads that two manifests need, as if they were one.

/** For reading only: what both declare is there twice. */
export function unionOf(one: Desired, other: Desired): Desired {
  return {
    ...one,
    owner: one.owner ?? other.owner,
    declared: [...one.declared, ...other.declared],
    removed: [...one.removed, ...other.removed],
  };
}
