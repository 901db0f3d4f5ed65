/** The addresses that VPC interfaces have, one row for each entry of the account's address list (API.md, VPC IP address entry). */

import type { WireVpc, WireVpcIp } from "../../api/wire.ts";
import type { Failure, ReadApi } from "../../model/api.ts";
import { compareText } from "../../model/text.ts";

/** An interface with its address, or with one of its ranges. */
export interface AddressRow {
  /** Labels; null where the list of VPCs does not have the id. */
  readonly vpc: string | null;
  readonly subnet: string | null;
  readonly region: string;
  readonly node_id: number;
  readonly interface_id: number;
  readonly config_id: number | null;
  readonly active: boolean;
  readonly address: string | null;
  readonly address_range: string | null;
  /** The public address of 1:1 NAT; null if there is none. */
  readonly nat_1_1: string | null;
  readonly vpc_id: number;
  readonly subnet_id: number;
}

export type AddressResult =
  /** `vpcs`: the labels of all VPCs of the account, sorted, each once. */
  | { readonly ok: true; readonly rows: readonly AddressRow[]; readonly vpcs: readonly string[] }
  /** `what` could not be read. */
  | { readonly ok: false; readonly what: string; readonly failure: Failure };

/**
 * Reads two lists, all pages of both: addresses, and the VPCs for their labels.
 * @param wants of the VPC's label: whether its addresses are listed
 * @returns sorted by VPC, subnet, address or range, node and interface
 */
export async function readAddresses(
  api: ReadApi,
  wants: (label: string) => boolean,
  signal?: AbortSignal,
): Promise<AddressResult> {
  const [vpcs, addresses] = await Promise.all([
    api.list({ path: ["vpcs"] }, signal),
    api.list({ path: ["networking", "vpcs", "ips"] }, signal),
  ]);
  if (!addresses.ok) return { ok: false, what: "the list of VPC addresses", failure: addresses.failure };
  if (!vpcs.ok) return { ok: false, what: "the list of VPCs", failure: vpcs.failure };
  const known = new Map((vpcs.items as unknown as WireVpc[]).map((vpc) => [vpc.id, vpc]));
  const labels = new Map(
    [...known.values()].flatMap(({ subnets }) => subnets.map(({ id, label }) => [id, label] as const)),
  );
  const rows = (addresses.items as unknown as WireVpcIp[]).map((entry): AddressRow => {
    const vpc = known.get(entry.vpc_id);
    return {
      vpc: vpc?.label ?? null,
      subnet: labels.get(entry.subnet_id) ?? null,
      region: entry.region ?? vpc?.region ?? "",
      node_id: entry.node_id,
      interface_id: entry.interface_id,
      config_id: entry.config_id ?? null,
      active: entry.active,
      address: entry.address ?? null,
      address_range: entry.address_range ?? null,
      nat_1_1: entry.nat_1_1 || null,
      vpc_id: entry.vpc_id,
      subnet_id: entry.subnet_id,
    };
  });
  return {
    ok: true,
    rows: rows.filter(({ vpc }) => wants(vpc ?? "")).sort(byPlace),
    vpcs: [...new Set([...known.values()].map(({ label }) => label))].sort(compareText),
  };
}

function byPlace(a: AddressRow, b: AddressRow): number {
  return (
    compareText(a.vpc ?? "", b.vpc ?? "") ||
    a.vpc_id - b.vpc_id ||
    compareText(a.subnet ?? "", b.subnet ?? "") ||
    a.subnet_id - b.subnet_id ||
    compareText(sortable(a), sortable(b)) ||
    a.node_id - b.node_id ||
    a.interface_id - b.interface_id
  );
}

/** Addresses sort as numbers: `10.0.0.9` before `10.0.0.10`. */
function sortable({ address, address_range }: AddressRow): string {
  return (address ?? address_range ?? "").replace(/\d+/g, (number) => number.padStart(3, "0"));
}
