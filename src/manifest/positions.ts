/** Where every object, key and value of a parsed manifest stands, kept beside the plain data. */

import type { Span } from "../model/diagnostic.ts";

interface KeyPlace {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  /** The text of a number or boolean as it was written: `010`, `1e3`. Null for everything else. */
  readonly source: string | null;
}

interface Place {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly keys: Map<string, KeyPlace>;
  /** Keys whose values were reported already and mean nothing. */
  broken: Set<string> | null;
}

type Offsets = readonly [start: number, end: number];

export class Places {
  readonly #places: WeakMap<object, Place> = new WeakMap();

  put(object: object, file: string, [start, end]: Offsets): void {
    this.#places.set(object, { file, start, end, keys: new Map(), broken: null });
  }

  putKey(object: object, key: string | number, keyAt: Offsets, valueAt: Offsets, source: string | null): void {
    this.#place(object).keys.set(String(key), {
      keyStart: keyAt[0],
      keyEnd: keyAt[1],
      valueStart: valueAt[0],
      valueEnd: valueAt[1],
      source,
    });
  }

  /** The clone stands where the original does. */
  copy(clone: object, original: object): void {
    this.#places.set(clone, this.#place(original));
  }

  /** `clone` stands where `first` does, and its `keys` where `second` does. Both are of one file. */
  merge(clone: object, first: object, second: object, keys: readonly string[]): void {
    const [a, b] = [this.#place(first), this.#place(second)];
    const added = keys.flatMap((key) => {
      const place = b.keys.get(key);
      return place === undefined ? [] : [[key, place] as const];
    });
    const broken = a.broken === null && b.broken === null ? null : new Set([...(a.broken ?? []), ...(b.broken ?? [])]);
    this.#places.set(clone, { ...a, keys: new Map([...added, ...a.keys]), broken });
  }

  /** A list has lost elements: `kept` are the old indices of what remains. In place. */
  reindex(list: object, kept: readonly number[]): void {
    const place = this.#place(list);
    const keys = new Map<string, KeyPlace>();
    for (const [index, old] of kept.entries()) {
      const at = place.keys.get(String(old));
      if (at !== undefined) keys.set(String(index), at);
    }
    this.#places.set(list, { ...place, keys, broken: null });
  }

  /** In place: for objects whose place is shared with no clone. */
  setSource(object: object, key: string | number, source: string | null): void {
    const { keys } = this.#place(object);
    const old = keys.get(String(key));
    if (old !== undefined) keys.set(String(key), { ...old, source });
  }

  /** The value of one key of a clone stands elsewhere in the same file. */
  moveValue(clone: object, key: string, at: Span): void {
    const place = this.#place(clone);
    const old = place.keys.get(key);
    if (old === undefined) return;
    const moved = { ...old, valueStart: at.start, valueEnd: at.end };
    this.#places.set(clone, { ...place, keys: new Map(place.keys).set(key, moved) });
  }

  /** A clone has the key `to` in place of `from`; the key and its value keep their places. */
  renameKey(clone: object, from: string, to: string): void {
    const place = this.#place(clone);
    const old = place.keys.get(from);
    if (old !== undefined) this.#places.set(clone, { ...place, keys: new Map(place.keys).set(to, old) });
  }

  /** Gives places to an object made of parts of a manifest: it stands at `at`, and each of its keys and values at the span in `keys`. */
  make(object: object, at: Span, keys: Readonly<Record<string, Span>> = {}): void {
    const places = Object.entries(keys).map(([key, { start, end }]): [string, KeyPlace] => [
      key,
      { keyStart: start, keyEnd: end, valueStart: start, valueEnd: end, source: null },
    ]);
    this.#places.set(object, { file: at.file, start: at.start, end: at.end, keys: new Map(places), broken: null });
  }

  /** The value of `key`, or the key where the value is empty, or the object where there is no such key. */
  span(object: object, key?: string | number): Span {
    const place = this.#place(object);
    const at = key === undefined ? undefined : place.keys.get(String(key));
    if (at === undefined) return { file: place.file, start: place.start, end: place.end };
    if (at.valueStart === at.valueEnd) return { file: place.file, start: at.keyStart, end: at.keyEnd };
    return { file: place.file, start: at.valueStart, end: at.valueEnd };
  }

  keySpan(object: object, key: string): Span {
    const place = this.#place(object);
    const at = place.keys.get(key);
    if (at === undefined) return { file: place.file, start: place.start, end: place.end };
    return { file: place.file, start: at.keyStart, end: at.keyEnd };
  }

  /** The first key of a mapping: the place to report a missing key at. */
  firstKeySpan(object: object): Span {
    const place = this.#place(object);
    const [first] = place.keys.values();
    if (first === undefined) return { file: place.file, start: place.start, end: place.end };
    return { file: place.file, start: first.keyStart, end: first.keyEnd };
  }

  source(object: object, key: string | number): string | null {
    return this.#place(object).keys.get(String(key))?.source ?? null;
  }

  markBroken(object: object, key: string | number): void {
    const place = this.#place(object);
    place.broken ??= new Set();
    place.broken.add(String(key));
  }

  /** Keys of `object` whose values were reported already. */
  brokenKeys(object: object): ReadonlySet<string> {
    return this.#place(object).broken ?? NO_KEYS;
  }

  #place(object: object): Place {
    const place = this.#places.get(object);
    if (place === undefined) throw new Error("An object of the manifest has lost its place");
    return place;
  }
}

const NO_KEYS: ReadonlySet<string> = new Set();
