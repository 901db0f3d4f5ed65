/** Kinds of resource: what the generic parts ask of each kind, as data that its unit states. */

import type { Address, Kind, ObjectId, UnitName, Values } from "./resource.ts";

/** What there is to know of a kind without knowing what it is for. */
export interface KindFacts {
  /** As plan files name it. A root's kind is also the first segment of its address: `vpc/prod`. */
  readonly kind: Kind;
  /** What people call one of them, and several. */
  readonly words: readonly [one: string, many: string];
  /** The field that holds its name, which a heading shows already. */
  readonly nameField: string;
  /** The name that an object of this id has for a moment while several exchange theirs. Absent: they cannot. */
  readonly temporaryName?: (id: ObjectId) => string;
  /** Two runs can both make one. Absent: the service refuses the second. */
  readonly canBeDuplicated?: true;
  /** Its objects are told apart by their values alone: any of several equal ones will do. Absent: they are told apart by their ids. */
  readonly identifiedByValues?: true;
  /** What is in it goes with it and has no change of its own: the change's `holds` says how much it is. */
  readonly takesContents?: true;
  /** What it holds is in nothing that can be read: once deleted, it does not come back. */
  readonly cannotBeRemade?: true;
  /** Its ids are texts, such as `private/15`. Absent: whole numbers. */
  readonly hasTextIds?: true;
  /** Whether values are of a type that is known: a file may be another version's, or forged. Absent: there are no types. */
  isKnown?(values: Values): boolean;
  /** What a new one has unless its manifest says otherwise. */
  readonly expected?: Values;
  /** Fields with which it serves otherwise as a whole, or no more: a change of one is as grave as a loss. */
  readonly servingFields?: readonly string[];
  /**
   * It is shown on one line below its root: as a DNS record, or by its name and these fields. Absent: by its address.
   * `words[0]` stands before the name.
   */
  readonly line?: "record" | { readonly value: string };
}

/** What of a unit says which kinds there are: that of the root first. */
export interface UnitKinds {
  readonly name: UnitName;
  readonly kinds: readonly [root: KindFacts, ...within: readonly KindFacts[]];
}

/** @throws if the unit has no such kind */
export function factsOf({ name, kinds }: UnitKinds, kind: Kind): KindFacts {
  const facts = kinds.find((one) => one.kind === kind);
  if (facts === undefined) throw new Error(`the unit ${name} has no kind ${kind}`);
  return facts;
}

/** All kinds of some units, in their order. */
export class Kinds {
  readonly all: readonly KindFacts[];
  readonly #facts: ReadonlyMap<Kind, KindFacts>;
  /** By the root's kind. */
  readonly #units: ReadonlyMap<Kind, UnitKinds>;

  constructor(units: readonly UnitKinds[]) {
    this.all = units.flatMap(({ kinds }) => kinds);
    this.#facts = new Map(this.all.map((facts) => [facts.kind, facts]));
    this.#units = new Map(units.map((unit) => [unit.kinds[0].kind, unit]));
  }

  /** @throws if no unit has such a kind */
  of(kind: Kind): KindFacts {
    const facts = this.#facts.get(kind);
    if (facts === undefined) throw new Error(`no unit has the kind ${kind}`);
    return facts;
  }

  /** Whether its objects are what a unit is named after. */
  isRoot(kind: Kind): boolean {
    return this.#units.has(kind);
  }

  /** What an address names: a root, or what is within one; null for a glob, or an address of no unit. */
  at(address: Address): KindFacts | null {
    const unit = this.#unitAt(address);
    if (unit === undefined) return null;
    const [root, within = root] = unit.kinds;
    return address.split("/", 3).length > 2 ? within : root;
  }

  /** The root's kind of the unit whose object is there, or around it; null as above. */
  rootAt(address: Address): KindFacts | null {
    return this.#unitAt(address)?.kinds[0] ?? null;
  }

  /** What is within the object at the address of a root; null if nothing ever is. */
  contentsAt(root: Address): KindFacts | null {
    return this.#unitAt(root)?.kinds[1] ?? null;
  }

  #unitAt(address: Address): UnitKinds | undefined {
    return this.#units.get(address.slice(0, Math.max(0, address.indexOf("/"))));
  }
}
