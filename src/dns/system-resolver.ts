/** The resolver of the machine: for the names of servers and their addresses, not for what is to be verified. */

import { lookup, Resolver } from "node:dns/promises";
import type { SystemResolver } from "./nameserver.ts";

const TIMEOUT_MILLISECONDS = 5_000;
const TRIES = 2;

export function systemResolver(): SystemResolver {
  const resolver = new Resolver({ timeout: TIMEOUT_MILLISECONDS, tries: TRIES });
  return {
    nameservers: (zone) => resolver.resolveNs(zone),
    addresses: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  };
}
