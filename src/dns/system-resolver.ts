/** The resolver of the machine: for the names of servers and their addresses, not for what is to be verified. */

import type { LookupAddress } from "node:dns";
import { lookup, Resolver } from "node:dns/promises";
import { setTimeout } from "node:timers/promises";
import type { SystemResolver } from "./nameserver.ts";

const TIMEOUT_MILLISECONDS = 5_000;
const TRIES = 2;
const LOOKUP_MILLISECONDS = 10_000;

export function systemResolver(): SystemResolver {
  const resolver = new Resolver({ timeout: TIMEOUT_MILLISECONDS, tries: TRIES });
  return {
    nameservers: (zone) => resolver.resolveNs(zone),
    addresses: (host) => within(LOOKUP_MILLISECONDS, host, lookup(host, { all: true })),
  };
}

/** The system's own lookup has no limit of time. */
async function within(milliseconds: number, host: string, found: Promise<LookupAddress[]>): Promise<string[]> {
  const tooLong = new Error(`${host} was not found within ${milliseconds / 1000} s`);
  const over = setTimeout(milliseconds, null, { ref: false }).then(() => Promise.reject(tooLong));
  return (await Promise.race([found, over])).map(({ address }) => address);
}
