/** Networks as bars of address space: subnets, what is free between them, and attached interfaces. */

import type { Change } from "../../model/change.ts";
import type { InventoryItem } from "../../model/inventory.ts";
import type { Address } from "../../model/resource.ts";
import type { Mark } from "../view.ts";
import { type Html, NOTHING } from "./markup.ts";

/** A VPC as it is, or as a plan leaves it. */
export interface NetworkDrawing {
  readonly address: Address;
  readonly label: string;
  readonly region: string | null;
  /** What becomes of the VPC itself; `none`: it stays, or is only listed. */
  readonly mark: Mark;
  /** In no order. Ranges may overlap: what goes stands beside what comes in its place. */
  readonly subnets: readonly SubnetDrawing[];
}

export interface SubnetDrawing {
  readonly address: Address;
  readonly label: string;
  /** CIDR as the service or a manifest says it: may be no range at all. */
  readonly ipv4: string;
  /** `replace`: it is the new range, and `before` the old one. */
  readonly mark: Mark;
  /** The range before, if it is another one. */
  readonly before: string | null;
  readonly isBlocked: boolean;
  /** How many interfaces are attached; null: not known. */
  readonly attached: number | null;
  /** Those that are known one by one. */
  readonly interfaces: readonly InterfaceDrawing[];
}

export interface InterfaceDrawing {
  readonly node_id: number;
  readonly interface_id: number;
  readonly active: boolean;
  /** An address, or a range; null: not known. */
  readonly address: string | null;
}

/** The networks of a plan, no-ops included. */
export function networksOfChanges(_changes: readonly Change[]): NetworkDrawing[] {
  return [];
}

/** The networks of an account's list. */
export function networksOfInventory(_items: readonly InventoryItem[]): NetworkDrawing[] {
  return [];
}

/** A figure for each network, with a bar for each block in which it has subnets. @returns nothing if there are no networks */
export function networkPictures(_networks: readonly NetworkDrawing[]): Html {
  return NOTHING;
}
