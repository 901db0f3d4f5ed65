/** VPCs, subnets and their addresses as they are sent, with the operator's word in their keys. */

import { byId } from "./list-order.ts";
import type { InterfaceRow, SubnetRow, VpcRow } from "./rows.ts";
import type { Tables } from "./store.ts";
import { describeRange } from "./subnet-rules.ts";

export function subnetsOf(tables: Tables, vpcId: number): readonly SubnetRow[] {
  return byId(tables.subnets.list("vpc", vpcId));
}

export function vpcView(tables: Tables, vpc: VpcRow, word: string): object {
  const { id, label, description, region, created, updated } = vpc;
  const subnets = subnetsOf(tables, id).map((subnet) => subnetView(tables, subnet, word));
  return { id, label, description, region, subnets, created, updated };
}

/** `nodes` has one entry per node with all of its interfaces here. */
export function subnetView(tables: Tables, subnet: SubnetRow, word: string): object {
  const nodes = new Map<number, { id: number; active: boolean }[]>();
  for (const { id, node_id, active } of tables.interfaces.group("subnet", subnet.id).values()) {
    const interfaces = nodes.get(node_id) ?? [];
    nodes.set(node_id, interfaces);
    interfaces.push({ id, active });
  }
  return {
    id: subnet.id,
    label: subnet.label,
    ipv4: subnet.ipv4,
    [`${word}s`]: [...nodes].map(([id, interfaces]) => ({ id, interfaces })),
    created: subnet.created,
    updated: subnet.updated,
  };
}

/** An entry of an address list: an interface with the subnet and the VPC that it is in, and its address or one of its ranges. */
export interface AddressRow {
  readonly vpc: VpcRow;
  readonly subnet: SubnetRow;
  readonly interface: InterfaceRow;
  /** null: the entry is about the interface's address. */
  readonly range: string | null;
}

export function addressesOf(tables: Tables, vpc: VpcRow): AddressRow[] {
  return subnetsOf(tables, vpc.id).flatMap((subnet) =>
    [...tables.interfaces.group("subnet", subnet.id).values()].flatMap((row) =>
      entriesOf(row).map((range) => ({ vpc, subnet, interface: row, range })),
    ),
  );
}

/** One for the address, one for each range; an interface that has neither is listed all the same. */
function entriesOf({ address, address_ranges = [] }: InterfaceRow): readonly (string | null)[] {
  return address === null && address_ranges.length > 0 ? address_ranges : [null, ...address_ranges];
}

export function addressView(row: AddressRow, word: string): object {
  const range = describeRange(row.subnet.ipv4);
  return {
    active: row.interface.active,
    address: row.range === null ? row.interface.address : null,
    address_range: row.range,
    config_id: row.interface.config_id,
    gateway: range.gateway,
    interface_id: row.interface.id,
    [`${word}_id`]: row.interface.node_id,
    nat_1_1: row.range === null ? (row.interface.nat_1_1 ?? "") : "",
    prefix: range.prefix,
    region: row.vpc.region,
    subnet_id: row.subnet.id,
    subnet_mask: range.mask,
    vpc_id: row.vpc.id,
  };
}
