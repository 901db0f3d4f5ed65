/** Attaching interfaces to subnets, which API.md leaves to the compute endpoints. */

import type { ApiError } from "./errors.ts";
import { fieldError } from "./errors.ts";
import type { Attachment } from "./options.ts";
import type { InterfaceRow } from "./rows.ts";
import type { Store } from "./store.ts";
import { SubnetNeighbours } from "./subnet-neighbours.ts";
import { addressNumber, addressText, describeRange, isCanonicalRange, rangeNumbers } from "./subnet-rules.ts";

/** Why an interface cannot be attached; `field` is absent when it is not about one field. */
export type AttachProblem = ApiError;

/** @returns why it does not fit, or null when it is done; an interface that is already attached is moved or changed */
export function attach(store: Store, attachment: Attachment): AttachProblem | null {
  const { subnet_id, node_id, interface_id, active, config_id, nat_1_1 = "", address_ranges = [] } = attachment;
  const subnet = store.tables.subnets.get(subnet_id);
  if (subnet === undefined) return { reason: `There is no subnet ${subnet_id}` };
  if (nat_1_1 !== "" && addressNumber(nat_1_1) === null) return fieldError("nat_1_1", "Must be an IPv4 address");
  if (address_ranges.length > 0) {
    const all = [...store.tables.interfaces.group("subnet", subnet_id).values()];
    const others = all.filter(({ id }) => id !== interface_id);
    const problem = rangesProblem(subnet.ipv4, address_ranges, others);
    if (problem !== null) return problem;
  }
  const range = describeRange(subnet.ipv4);
  const taken = new Set<string>();
  for (const other of store.tables.interfaces.group("subnet", subnet_id).values()) {
    if (other.address !== null && other.id !== interface_id) taken.add(other.address);
  }
  let address = attachment.address;
  if (address === undefined) {
    address = firstFree(range.firstHost, range.last, taken);
    if (address === null) return { reason: `Subnet ${subnet_id} has no free address` };
  } else if (address !== null) {
    const number = addressNumber(address);
    if (number === null || number < range.firstHost - 2 || number > range.last) {
      return { reason: `The address is not in ${subnet.ipv4}` };
    }
    if (number < range.firstHost || number === range.last) {
      return { reason: `The address is the network, gateway or broadcast address of ${subnet.ipv4}` };
    }
  }
  store.tables.interfaces.put({
    id: interface_id,
    subnet_id,
    node_id,
    config_id,
    active,
    address,
    nat_1_1,
    address_ranges,
  });
  store.reserveId("interface", interface_id);
  store.reserveId("node", node_id);
  store.reserveId("config", config_id);
  return null;
}

/** @returns why it cannot be, or null when it is done */
export function detach(store: Store, interfaceId: number): AttachProblem | null {
  if (store.tables.interfaces.get(interfaceId) === undefined) {
    return { reason: `There is no interface ${interfaceId}` };
  }
  store.tables.interfaces.delete(interfaceId);
  return null;
}

/** Each lies in the subnet and overlaps none, its own or another interface's. */
function rangesProblem(
  subnet: string,
  ranges: readonly string[],
  others: readonly InterfaceRow[],
): AttachProblem | null {
  const taken = new SubnetNeighbours();
  for (const other of others) for (const ipv4 of other.address_ranges ?? []) taken.add({ label: "", ipv4 });
  const { base, prefix } = rangeNumbers(subnet);
  const last = base + 2 ** (32 - prefix) - 1;
  for (const [index, range] of ranges.entries()) {
    const field = `address_ranges[${index}]`;
    if (!isCanonicalRange(range)) return fieldError(field, "Must be an IPv4 network");
    const within = rangeNumbers(range);
    const rangeLast = within.base + 2 ** (32 - within.prefix) - 1;
    if (within.base < base || rangeLast > last) return fieldError(field, `Must be within ${subnet}`);
    if (taken.overlaps(range)) return fieldError(field, "Overlaps with another address range");
    taken.add({ label: "", ipv4: range });
  }
  return null;
}

function firstFree(first: number, last: number, taken: ReadonlySet<string>): string | null {
  for (let number = first; number < last; number += 1) {
    const address = addressText(number);
    if (!taken.has(address)) return address;
  }
  return null;
}
