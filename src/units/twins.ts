/** Live objects that carry one label: each gets an address of its own, so that no two are taken for one. */

import type { Address } from "../model/address.ts";
import { compareIds } from "../model/group.ts";
import type { LiveIdentity, Match } from "../model/unit.ts";

/**
 * The address of each match. What is declared keeps the address of its label; of the others only the first by id can have it,
 * and the rest are told apart by their ids: `vpc/prod:123`.
 */
export function rootAddresses<Spec, Live>(
  matches: readonly Match<Spec, Live>[],
  identify: (live: Live) => LiveIdentity,
): ReadonlyMap<Match<Spec, Live>, Address> {
  const addresses = new Map<Match<Spec, Live>, Address>();
  const rest: { match: Match<Spec, Live>; identity: LiveIdentity }[] = [];
  for (const match of matches) {
    if (match.declared !== null) addresses.set(match, match.declared.address);
    else rest.push({ match, identity: identify(match.live) });
  }
  const taken = new Set(addresses.values());
  for (const { match, identity } of rest.sort((a, b) => compareIds(a.identity.id, b.identity.id))) {
    const address = taken.has(identity.address)
      ? `${identity.address}:${encodeURIComponent(identity.id)}`
      : identity.address;
    taken.add(address);
    addresses.set(match, address);
  }
  return addresses;
}
