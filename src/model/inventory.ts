/** What the account holds and whose it is; and one object of it, beside its declaration. */

import type { Annotations } from "./annotations.ts";
import type { Change, DriftObject } from "./change.ts";
import type { Plan } from "./plan.ts";
import type { Address, Kind, ObjectId, Values } from "./resource.ts";

export interface InventoryItem {
  readonly kind: Kind;
  /** That of its entry; of what no entry means, one that no other object of the account has, records aside. */
  readonly address: Address;
  /** Of the network, zone or image that it is, or is in. */
  readonly root: Address;
  readonly id: ObjectId;
  readonly name: string;
  /** Whether an entry of the project means it; null: there is no project. */
  readonly declared: boolean | null;
  /** The owner in its tag, or in that of what it is in; null: nobody's. */
  readonly owner: string | null;
  /** `here` if it is declared, `owner NAME`, or `nobody`. */
  readonly whose: string;
  /** Under the API's names, with what it is in: `vpc`, `vpc_id`. */
  readonly values: Values;
  /** What its entry says for people. Absent: nothing, or there is no entry. */
  readonly annotations?: Annotations;
}

/** What has one address, in the account and in the project. At least one of the two has it. */
export interface Inspection {
  readonly address: Address;
  readonly kind: Kind;
  /** Of the network, zone or image that it is, or is in. */
  readonly root: Address;
  /** In the account; several records may share an address. */
  readonly live: readonly InventoryItem[];
  /** What an apply of the root alone would do to what has the address, no-ops included. Empty if nothing declares or removes the root. */
  readonly changes: readonly Change[];
  /** The plan of the root alone; null as above. */
  readonly plan: Plan | null;
  /** `protect: true` holds for it. */
  readonly isProtected: boolean;
  /** Its owner is that of the project, and nothing declares it: an apply of the whole project may prune it. */
  readonly mayBePruned: boolean;
  /** What is in it; null for what nothing is ever in. */
  readonly contents: InspectedContents | null;
}

export interface InspectedContents {
  readonly kind: Kind;
  readonly live: number;
  readonly declared: number;
  /** Those that differ, as drift has them. */
  readonly differing: readonly DriftObject[];
}
