/** Drift: what the account holds otherwise than the manifests declare, object by object. */

import type { Address } from "./address.ts";
import type { ChangeLabel } from "./change.ts";
import type { Json, Kind, ObjectId } from "./resource.ts";

/**
 * - `changed`: it is there, with other values than declared.
 * - `missing`: it is declared, and not there.
 * - `unexpected`: it is there, and an apply would delete it: nobody declares it, or `removed` names it.
 * - `unadopted`: it is there as declared, without the owner's tag. Not counted as drift: it may never have had one.
 */
export type DriftStatus = "changed" | "missing" | "unexpected" | "unadopted";

export interface DriftObject {
  /** Unique: the address, with `[n]` where several objects share it. */
  readonly key: string;
  readonly address: Address;
  /** Where it is in the account, if it has another name there. */
  readonly liveAddress: Address | null;
  /** Address of the network, zone or image it belongs to. */
  readonly root: Address;
  readonly kind: Kind;
  readonly status: DriftStatus;
  /** The live object's id; null if there is none. */
  readonly id: ObjectId | null;
  readonly labels: readonly ChangeLabel[];
  /** Those that differ; all of what is missing or unexpected. Sorted by name. */
  readonly fields: readonly DriftField[];
  readonly note: string | null;
}

export interface DriftField {
  readonly name: string;
  /** null: nothing is declared, or nothing is there. */
  readonly declared: Json;
  readonly live: Json;
}

export interface Drift {
  /** Address globs that it was narrowed to; the rest was not looked at. */
  readonly targets: readonly string[];
  readonly excludes: readonly string[];
  readonly owner: string | null;
  /** Sorted by key. */
  readonly objects: readonly DriftObject[];
  readonly summary: Readonly<Record<DriftStatus, number>>;
}

/** Whether anything differs that counts. */
export function hasDrift({ summary }: Drift): boolean {
  return summary.changed + summary.missing + summary.unexpected > 0;
}
