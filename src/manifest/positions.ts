/** Where every object, key and value of a parsed manifest stands, kept beside the plain data. */

import type { Span } from "../model/diagnostic.ts";
import type { Json } from "../model/resource.ts";

interface KeyPlace {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  /** The text of a number or boolean, if it was not written as JSON has it: `010`, `1e3`. Null for everything else. */
  readonly source: string | null;
}

/** Where an object stands, and each of its keys. There is one for each record, so the common kind, `WrittenPlace`, is compact. */
interface Place {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  /** In the order of the text. */
  keys(): Iterable<string>;
  at(key: string): KeyPlace | null;
  /** Keys whose values were reported already and mean nothing. */
  broken: Set<string> | null;
}

type Offsets = readonly [start: number, end: number];

/**
 * A mapping of a manifest. It has no prototype, so that keys such as `__proto__` are keys like all others; and it knows its place, which
 * is no key of it. An object of `Object.create(null)`, found in a WeakMap, takes three times as long and twice the memory.
 */
class Mapping {
  #place: Place | null = null;

  static isMapping(object: object): object is Mapping {
    return #place in object;
  }

  static placeOf(mapping: Mapping): Place | null {
    return mapping.#place;
  }

  static setPlace(mapping: Mapping, place: Place): void {
    mapping.#place = place;
  }
}
delete (Mapping.prototype as { constructor?: unknown }).constructor;
Object.setPrototypeOf(Mapping.prototype, null);

/** @returns a mapping with the keys of `values`, without a place */
export function newMapping(values?: object): Record<string, Json> {
  const mapping = new Mapping();
  return (values === undefined ? mapping : Object.assign(mapping, values)) as object as Record<string, Json>;
}

export class Places {
  /** Of lists, and of objects that are no mappings of a manifest. */
  readonly #others: WeakMap<object, Place> = new WeakMap();
  readonly #noNames: Names = new SharedNames();
  #hasBroken = false;

  /** Each of the object's keys follows by `putKey`, then `close`. */
  put(object: object, file: string, [start, end]: Offsets): void {
    this.#set(object, this.#open(object, file, start, end));
  }

  /** For an object that `put` has put, and no clone has the place of. */
  putKey(object: object, key: string | number, keyAt: Offsets, valueAt: Offsets, source: string | null): void {
    this.#written(object).add(key, keyAt, valueAt, source);
  }

  /**
   * All keys of an object that `put` has put are there.
   * @param end where it ends, if that was not known when it was put
   */
  close(object: object, end?: number): void {
    this.#written(object).close(end);
  }

  /** The clone stands where the original does. */
  copy(clone: object, original: object): void {
    this.#set(clone, this.#place(original));
  }

  /** The clone stands where the original does, and what is marked or set of one of them is not of the other. Neither is a clone of another kind. */
  duplicate(clone: object, original: object): void {
    this.#set(clone, this.#written(original).duplicate());
  }

  /** `clone` stands where `first` does, and its `keys` where `second` does. Both are of one file. */
  merge(clone: object, first: object, second: object, keys: readonly string[]): void {
    this.#set(clone, new MergedPlace(this.#place(first), this.#place(second), keys));
  }

  /** A list has lost elements: `kept` are the old indices of what remains. In place. */
  reindex(list: object, kept: readonly number[]): void {
    const place = this.#place(list);
    const left = this.#open(list, place.file, place.start, place.end);
    for (const [index, old] of kept.entries()) {
      const at = place.at(String(old));
      if (at !== null) left.addPlace(index, at);
    }
    left.close();
    this.#set(list, left);
  }

  /** In place: for objects whose place is shared with no clone. */
  setSource(object: object, key: string | number, source: string | null): void {
    this.#written(object).setSource(String(key), source);
  }

  /** The value of one key of a clone stands elsewhere in the same file. */
  moveValue(clone: object, key: string, at: Span): void {
    const place = this.#place(clone);
    const old = place.at(key);
    if (old !== null)
      this.#set(clone, new ChangedPlace(place, key, { ...old, valueStart: at.start, valueEnd: at.end }));
  }

  /** A clone has the key `to` in place of `from`; the key and its value keep their places. */
  renameKey(clone: object, from: string, to: string): void {
    const place = this.#place(clone);
    const old = place.at(from);
    if (old !== null) this.#set(clone, new ChangedPlace(place, to, old));
  }

  /** Gives places to an object made of parts of a manifest: it stands at `at`, and each of its keys and values at the span in `keys`. */
  make(object: object, at: Span, keys: Readonly<Record<string, Span>> = {}): void {
    const place = this.#open(object, at.file, at.start, at.end);
    for (const [key, { start, end }] of Object.entries(keys)) place.add(key, [start, end], [start, end], null);
    place.close();
    this.#set(object, place);
  }

  /** The value of `key`, or the key where the value is empty, or the object where there is no such key. */
  span(object: object, key?: string | number): Span {
    const place = this.#place(object);
    const at = key === undefined ? null : place.at(String(key));
    if (at === null) return { file: place.file, start: place.start, end: place.end };
    if (at.valueStart === at.valueEnd) return { file: place.file, start: at.keyStart, end: at.keyEnd };
    return { file: place.file, start: at.valueStart, end: at.valueEnd };
  }

  keySpan(object: object, key: string): Span {
    const place = this.#place(object);
    const at = place.at(key);
    if (at === null) return { file: place.file, start: place.start, end: place.end };
    return { file: place.file, start: at.keyStart, end: at.keyEnd };
  }

  /** The first key of a mapping: the place to report a missing key at. */
  firstKeySpan(object: object): Span {
    const place = this.#place(object);
    const [first] = place.keys();
    const at = first === undefined ? null : place.at(first);
    if (at === null) return { file: place.file, start: place.start, end: place.end };
    return { file: place.file, start: at.keyStart, end: at.keyEnd };
  }

  /** The text of a number or boolean as it was written; null for everything else. */
  source(object: object, key: string | number): string | null {
    const source = this.#place(object).at(String(key))?.source ?? null;
    const value = (object as Readonly<Record<string | number, Json>>)[key];
    return source ?? (typeof value === "number" || typeof value === "boolean" ? String(value) : null);
  }

  markBroken(object: object, key: string | number): void {
    const place = this.#place(object);
    place.broken ??= new Set();
    place.broken.add(String(key));
    this.#hasBroken = true;
  }

  /** Whether any value was reported already. */
  get hasBroken(): boolean {
    return this.#hasBroken;
  }

  /** Keys of `object` whose values were reported already. */
  brokenKeys(object: object): ReadonlySet<string> {
    return this.#place(object).broken ?? NO_KEYS;
  }

  #open(object: object, file: string, start: number, end: number): WrittenPlace {
    return new WrittenPlace(file, start, end, Array.isArray(object) ? null : this.#noNames);
  }

  #place(object: object): Place {
    const place = Mapping.isMapping(object) ? Mapping.placeOf(object) : this.#others.get(object);
    if (place === null || place === undefined) throw new Error("An object of the manifest has lost its place");
    return place;
  }

  #written(object: object): WrittenPlace {
    const place = this.#place(object);
    if (place instanceof WrittenPlace) return place;
    throw new Error("An object of the manifest that was copied gets no more keys");
  }

  #set(object: object, place: Place): void {
    if (Mapping.isMapping(object)) Mapping.setPlace(object, place);
    else this.#others.set(object, place);
  }
}

const NO_KEYS: ReadonlySet<string> = new Set();
/** Up to so many names are shared, and looked through one by one; for more an index is made. */
const MAX_SHARED_NAMES = 16;

/** An object as it is written. */
class WrittenPlace implements Place {
  readonly file: string;
  readonly start: number;
  end: number;
  broken: Set<string> | null = null;
  /** null: a list, whose keys are its indices. */
  #names: Names | null;
  /** `OFFSETS_PER_KEY` for each key; `close` packs them. */
  #offsets: number[] | PackedOffsets = [];
  /** null: no key has one. */
  #sources: Map<string, string> | null = null;

  constructor(file: string, start: number, end: number, names: Names | null) {
    this.file = file;
    this.start = start;
    this.end = end;
    this.#names = names;
  }

  /** A list's keys come in their order, without gaps. Not after `close`. */
  add(key: string | number, keyAt: Offsets, valueAt: Offsets, source: string | null): void {
    if (this.#names !== null) this.#names = this.#names.with(String(key));
    (this.#offsets as number[]).push(keyAt[0], keyAt[1], valueAt[0], valueAt[1]);
    if (source !== null) this.#addSource(String(key), source);
  }

  addPlace(key: string | number, { keyStart, keyEnd, valueStart, valueEnd, source }: KeyPlace): void {
    this.add(key, [keyStart, keyEnd], [valueStart, valueEnd], source);
  }

  /** All keys are there. */
  close(end: number = this.end): void {
    this.end = end;
    this.#offsets = packOffsets(this.start, this.#offsets as number[]);
  }

  duplicate(): WrittenPlace {
    const place = new WrittenPlace(this.file, this.start, this.end, this.#names);
    place.broken = this.broken === null ? null : new Set(this.broken);
    place.#offsets = this.#offsets;
    place.#sources = this.#sources === null ? null : new Map(this.#sources);
    return place;
  }

  setSource(key: string, source: string | null): void {
    if (source === null) this.#sources?.delete(key);
    else if (this.#find(key) !== -1) this.#addSource(key, source);
  }

  #addSource(key: string, source: string): void {
    this.#sources ??= new Map();
    this.#sources.set(key, source);
  }

  keys(): Iterable<string> {
    if (this.#names !== null) return this.#names.all;
    return Array.from({ length: this.#offsets.length / OFFSETS_PER_KEY }, (_, index) => String(index));
  }

  at(key: string): KeyPlace | null {
    const found = this.#find(key);
    if (found === -1) return null;
    const [keyStart = 0, keyEnd = 0, valueStart = 0, valueEnd = 0] = offsetsAt(found, this.start, this.#offsets);
    return { keyStart, keyEnd, valueStart, valueEnd, source: this.#sources?.get(key) ?? null };
  }

  /** @returns the number of the key, or -1 */
  #find(key: string): number {
    if (this.#names !== null) return this.#names.indexOf(key);
    const index = Number(key);
    return index * OFFSETS_PER_KEY < this.#offsets.length ? index : -1;
  }
}

// The names of a mapping's keys. Most mappings have the same few as many others, in the same order, and share the list of them.

/** In the order of the text. */
interface Names {
  readonly all: readonly string[];
  with(name: string): Names;
  /** @returns the number of the key, or -1 */
  indexOf(name: string): number;
}

class SharedNames implements Names {
  readonly all: readonly string[];
  /** The lists that begin with these names and have one more. */
  #longer: Map<string, Names> | null = null;

  constructor(all: readonly string[] = []) {
    this.all = all;
  }

  with(name: string): Names {
    this.#longer ??= new Map();
    const known = this.#longer.get(name);
    if (known !== undefined) return known;
    const all = [...this.all, name];
    if (all.length > MAX_SHARED_NAMES) return new OwnNames(all);
    const longer = new SharedNames(all);
    this.#longer.set(name, longer);
    return longer;
  }

  indexOf(name: string): number {
    return this.all.indexOf(name);
  }
}

class OwnNames implements Names {
  readonly all: string[];
  readonly #index: Map<string, number>;

  constructor(all: string[]) {
    this.all = all;
    this.#index = new Map(all.map((name, index) => [name, index]));
  }

  with(name: string): Names {
    this.#index.set(name, this.all.length);
    this.all.push(name);
    return this;
  }

  indexOf(name: string): number {
    return this.#index.get(name) ?? -1;
  }
}

// Offsets of keys and values, four for each key, in as little memory as they need: there are some of each record until all files are loaded.

const OFFSETS_PER_KEY = 4;
const MAX_CODE = 0xffff;

/**
 * Of few keys that stand close to each other: a text, each of whose characters stands for the distance from the offset before. Otherwise
 * the offsets themselves.
 */
type PackedOffsets = string | Int32Array;

function packOffsets(start: number, offsets: readonly number[]): PackedOffsets {
  if (offsets.length > MAX_SHARED_NAMES * OFFSETS_PER_KEY) return Int32Array.from(offsets);
  let last = start;
  const codes = offsets.map((offset) => {
    const distance = offset - last;
    last = offset;
    return distance < 0 ? -2 * distance - 1 : 2 * distance;
  });
  return codes.some((code) => code > MAX_CODE) ? Int32Array.from(offsets) : String.fromCharCode(...codes);
}

/** The four offsets of one key. */
function offsetsAt(index: number, start: number, offsets: PackedOffsets | readonly number[]): readonly number[] {
  const [from, to] = [index * OFFSETS_PER_KEY, (index + 1) * OFFSETS_PER_KEY];
  if (typeof offsets !== "string") return Array.from(offsets.slice(from, to));
  let last = start;
  const unpacked = Array.from({ length: to }, (_, at) => {
    const code = offsets.charCodeAt(at);
    last += code % 2 === 0 ? code / 2 : -(code + 1) / 2;
    return last;
  });
  return unpacked.slice(from);
}

/** An object with defaults: the keys in `added` are another object's. */
class MergedPlace implements Place {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  broken: Set<string> | null;
  readonly #own: Place;
  readonly #defaults: Place;
  readonly #added: readonly string[];

  constructor(own: Place, defaults: Place, added: readonly string[]) {
    this.file = own.file;
    this.start = own.start;
    this.end = own.end;
    const isBroken = own.broken !== null || defaults.broken !== null;
    this.broken = isBroken ? new Set([...(own.broken ?? []), ...(defaults.broken ?? [])]) : null;
    this.#own = own;
    this.#defaults = defaults;
    this.#added = added;
  }

  keys(): Iterable<string> {
    return [...this.#added, ...this.#own.keys()];
  }

  at(key: string): KeyPlace | null {
    return this.#own.at(key) ?? (this.#added.includes(key) ? this.#defaults.at(key) : null);
  }
}

/** An object in which one key stands elsewhere, or has another name. */
class ChangedPlace implements Place {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  broken: Set<string> | null;
  readonly #original: Place;
  readonly #key: string;
  readonly #at: KeyPlace;

  constructor(original: Place, key: string, at: KeyPlace) {
    this.file = original.file;
    this.start = original.start;
    this.end = original.end;
    this.broken = original.broken;
    this.#original = original;
    this.#key = key;
    this.#at = at;
  }

  keys(): Iterable<string> {
    return [...new Set([...this.#original.keys(), this.#key])];
  }

  at(key: string): KeyPlace | null {
    return key === this.#key ? this.#at : this.#original.at(key);
  }
}
