/** Networks as they are in the account: one list of VPCs holds everything a plan needs (OBSERVED: VPCs and subnets). */

import type { WireSubnet, WireVpc, WireVpcIp } from "../../api/wire.ts";
import { isDenied, type ListRequest, type ReadApi } from "../../model/api.ts";
import type { AttachedInterface, InterfaceDetail } from "../../model/change.ts";
import type { Declared } from "../../model/desired.ts";
import { type Address, subnetAddress, vpcAddress } from "../../model/resource.ts";
import { compareText, groupBy } from "../../model/text.ts";
import type { ListedResource, LiveIdentity, ReadResult, ReadWatch, Scope } from "../../model/unit.ts";
import { NOWHERE, readEach, UNSTATED } from "../common.ts";
import { splitDescription } from "../owner-tag.ts";
import type { NetworkSpec } from "./manifest.ts";

export interface LiveNetwork {
  readonly vpc: WireVpc;
}

/** Labels may repeat, so every page is read: a second VPC of a label must not be overlooked. */
export async function readNetworks(
  scope: Scope<NetworkSpec>,
  api: ReadApi,
  watch: ReadWatch,
): Promise<ReadResult<LiveNetwork>> {
  const answer = await api.list({ path: ["vpcs"] }, watch.signal);
  if (!answer.ok) return { ok: false, what: "the list of VPCs", failure: answer.failure };
  const items = (answer.items as unknown as WireVpc[]).map((vpc): LiveNetwork => ({ vpc }));
  watch.progress?.(items.length, items.length);
  if (scope.whole === true) await readAddresses(items.filter(isAttached), api, watch.signal);
  return { ok: true, items, total: answer.total };
}

/**
 * Reads the address lists for a snapshot, which keeps every answer: nothing is returned. A token that may not read one address list may
 * read none, so the first such refusal ends the reads.
 */
async function readAddresses(
  networks: readonly LiveNetwork[],
  api: ReadApi,
  outer: AbortSignal | undefined,
): Promise<void> {
  await readEach(networks, outer, async ({ vpc }, signal) => {
    const list = await api.list(addressList(vpc), signal);
    if (list.ok || !isDenied(list.failure)) return {};
    return { ok: false, what: `the addresses of ${vpc.label}`, failure: list.failure };
  });
}

/** The VPC's interfaces as its address list shows them (API.md: VPC IP Addresses View); none if the token lacks `ips:read_only`. */
export async function detailNetwork({ vpc }: LiveNetwork, api: ReadApi): Promise<InterfaceDetail[]> {
  const answer = await api.list(addressList(vpc));
  if (!answer.ok) return [];
  const entries = groupBy(
    answer.items as unknown as WireVpcIp[],
    ({ subnet_id, interface_id }) => `${subnet_id} ${interface_id}`,
  );
  return [...entries.values()].flatMap((own) => {
    // An interface's address and each of its ranges are separate entries: the entry with the address is preferred.
    const entry = own.find(({ address }) => address !== null) ?? own[0];
    if (entry === undefined) return [];
    const { subnet_id, interface_id, config_id, address, address_range } = entry;
    return [{ subnet_id, interface_id, config_id: config_id ?? null, address: address ?? address_range ?? null }];
  });
}

function addressList({ id }: WireVpc): ListRequest {
  return { path: ["vpcs", String(id), "ips"] };
}

function isAttached({ vpc }: LiveNetwork): boolean {
  return vpc.subnets.some(({ nodes }) => nodes.length > 0);
}

export function identifyNetwork(live: LiveNetwork): LiveIdentity {
  const { vpc } = live;
  return {
    id: vpc.id,
    key: vpc.label,
    address: vpcAddress(vpc.label),
    owner: splitDescription(vpc.description).owner,
    shown: { region: vpc.region, description: vpc.description, created: vpc.created },
  };
}

/**
 * The interfaces that keep a subnet from being deleted. Their profiles and addresses stay null here: only the address list has them
 * (`detailNetwork`).
 */
export function attachedInterfaces(subnet: WireSubnet, root: Address): AttachedInterface[] {
  const found: AttachedInterface[] = [];
  for (const node of subnet.nodes) {
    for (const { id, active } of node.interfaces) {
      found.push({
        subnet: subnetAddress(root, subnet.label),
        subnet_id: subnet.id,
        node_id: node.id,
        interface_id: id,
        active,
        config_id: null,
        address: null,
      });
    }
  }
  return found.sort((a, b) => a.node_id - b.node_id || a.interface_id - b.interface_id);
}

// The declaration that would match a live network: the way back from the account to a manifest.

export function declareNetwork(live: LiveNetwork): Declared<NetworkSpec> {
  const { label, region, description, subnets } = live.vpc;
  const { text } = splitDescription(description);
  const declared = subnets.map((subnet) => ({
    label: subnet.label,
    ipv4: subnet.ipv4,
    protect: null,
    note: null,
    span: NOWHERE,
  }));
  return {
    unit: "network",
    address: identifyNetwork(live).address,
    key: label,
    ...UNSTATED,
    spec: {
      label,
      region,
      description: text === "" ? undefined : text,
      subnets: declared.sort((a, b) => compareText(sortable(a.ipv4), sortable(b.ipv4))),
    },
  };
}

/** Pads the numbers of a range, so that ranges sort as text in the order of their addresses. */
function sortable(cidr: string): string {
  return cidr.replace(/\d+/g, (number) => number.padStart(3, "0"));
}

// What lists show of a live network.

export function listNetwork(live: LiveNetwork): ListedResource[] {
  const { vpc } = live;
  const { id, label, region, created, updated } = vpc;
  const { address } = identifyNetwork(live);
  const [description, subnets] = [splitDescription(vpc.description).text, vpc.subnets.length];
  const own = { label, region, description, subnets, interfaces: countInterfaces(vpc.subnets), created, updated };
  return [
    { kind: "vpc", address, id, name: label, values: own },
    ...vpc.subnets.map((subnet) => ({
      kind: "vpc_subnet",
      address: subnetAddress(address, subnet.label),
      id: subnet.id,
      name: subnet.label,
      values: {
        ...{ vpc: label, vpc_id: id, label: subnet.label, ipv4: subnet.ipv4, interfaces: countInterfaces([subnet]) },
        ...{ created: subnet.created, updated: subnet.updated },
      },
    })),
  ];
}

function countInterfaces(subnets: readonly WireSubnet[]): number {
  return subnets.reduce((sum, { nodes }) => nodes.reduce((own, node) => own + node.interfaces.length, sum), 0);
}
