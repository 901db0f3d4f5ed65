/** Attaching interfaces to subnets, which API.md leaves to the compute endpoints. */

import type { Attachment } from "./options.ts";
import type { Store } from "./store.ts";
import { addressNumber, addressText, describeRange } from "./subnet-rules.ts";

/** @returns why it does not fit, or null when it is done; an interface that is already attached is moved or changed */
export function attach(store: Store, attachment: Attachment): string | null {
  const { subnet_id, node_id, interface_id, active, config_id } = attachment;
  const subnet = store.tables.subnets.get(subnet_id);
  if (subnet === undefined) return `There is no subnet ${subnet_id}`;
  const range = describeRange(subnet.ipv4);
  const taken = new Set<string>();
  for (const other of store.tables.interfaces.group("subnet", subnet_id).values()) {
    if (other.address !== null && other.id !== interface_id) taken.add(other.address);
  }
  let address = attachment.address;
  if (address === undefined) {
    address = firstFree(range.firstHost, range.last, taken);
    if (address === null) return `Subnet ${subnet_id} has no free address`;
  } else if (address !== null) {
    const number = addressNumber(address);
    if (number === null || number < range.firstHost - 2 || number > range.last) {
      return `The address is not in ${subnet.ipv4}`;
    }
    if (number < range.firstHost || number === range.last) {
      return `The address is the network, gateway or broadcast address of ${subnet.ipv4}`;
    }
  }
  store.tables.interfaces.put({ id: interface_id, subnet_id, node_id, config_id, active, address });
  store.reserveId("interface", interface_id);
  store.reserveId("node", node_id);
  store.reserveId("config", config_id);
  return null;
}

/** @returns why it cannot be, or null when it is done */
export function detach(store: Store, interfaceId: number): string | null {
  if (store.tables.interfaces.get(interfaceId) === undefined) return `There is no interface ${interfaceId}`;
  store.tables.interfaces.delete(interfaceId);
  return null;
}

function firstFree(first: number, last: number, taken: ReadonlySet<string>): string | null {
  for (let number = first; number < last; number += 1) {
    const address = addressText(number);
    if (!taken.has(address)) return address;
  }
  return null;
}
