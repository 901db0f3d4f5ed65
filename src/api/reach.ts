/** Which networks an upload may reach: the Internet, and those that the service itself is in. */

import { lookup } from "node:dns";
import { lookup as lookupAll } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";
import { FORBIDDEN_ADDRESS } from "./transport.ts";

const THIS_MACHINE = "this machine";

/** RFC 1918: each is a network of its own. */
const PRIVATE_RANGES = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"].map((text) => ({
  text,
  range: ipaddr.parseCIDR(text) as [ipaddr.IPv4, number],
}));

/** @returns a noun phrase for where the address is, or null: it may be asked */
export type Reach = (hostname: string) => Promise<string | null>;

/** @param service the base URL */
export function uploadReach(service: URL): Reach {
  return async (host) => {
    const network = networkOfHost(host);
    return network === null || (await networksOf(service)).has(network) ? null : network;
  };
}

/** For names, whose addresses are known only when they are connected to: gives none of a network that `reach` refuses. */
export function guardedLookup(reach: Reach): LookupFunction {
  return (name, options, callback) => {
    lookup(name, { ...options, all: true }, async (error, addresses) => {
      if (error !== null) return callback(error, []);
      for (const { address } of addresses) {
        const network = await reach(address);
        if (network !== null) return callback(Object.assign(new Error(network), { code: FORBIDDEN_ADDRESS }), []);
      }
      const [first] = addresses;
      if (options.all === true || first === undefined) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

async function networksOf(service: URL): Promise<ReadonlySet<string>> {
  const host = bare(service.hostname);
  const found =
    ipaddr.isValid(host) || networkOfHost(host) !== null ? [] : await lookupAll(host, { all: true }).catch(() => []);
  const hosts = [host, ...found.map(({ address }) => address)];
  return new Set(
    hosts
      .flatMap((each) => [networkOfHost(each), ipaddr.isValid(each) ? rangeOf(each) : null])
      .filter((network) => network !== null),
  );
}

/** null: of the Internet, or a name that says nothing. @param host of a URL, or an address */
function networkOfHost(host: string): string | null {
  const name = bare(host);
  if (ipaddr.isValid(name)) return ownAddresses().has(ipaddr.parse(name).toString()) ? THIS_MACHINE : rangeOf(name);
  return name === "localhost" || name.endsWith(".localhost") || name === hostname().toLowerCase() ? THIS_MACHINE : null;
}

/** Without the brackets of an address, a zone identifier, and the dot that makes a name absolute. */
function bare(host: string): string {
  return host
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/%.*$/, "")
    .replace(/\.$/, "")
    .toLowerCase();
}

function ownAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  return new Set(all.map(({ address }) => ipaddr.parse(bare(address)).toString()));
}

function rangeOf(address: string): string | null {
  const plain = withoutIpv6Around(ipaddr.parse(address));
  const range = plain.range();
  if (range === "unicast") return null;
  if (range === "loopback" || range === "unspecified") return THIS_MACHINE;
  const own = plain instanceof ipaddr.IPv4 ? PRIVATE_RANGES.find((each) => plain.match(each.range)) : undefined;
  return `the network ${own?.text ?? range}`;
}

/** IPv4 as IPv6 carries it: mapped, compatible (RFC 4291, 2.5.5), translated (RFC 6052, RFC 6145), or 6to4 (RFC 3056). */
function withoutIpv6Around(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (address instanceof ipaddr.IPv4) return address;
  const { parts } = address;
  const range = address.range();
  if (range === "6to4") return ipv4Of(parts[1], parts[2]);
  const isCompatible = range === "unicast" && parts.slice(0, 6).every((part) => part === 0);
  const carries = isCompatible || range === "ipv4Mapped" || range === "rfc6052" || range === "rfc6145";
  return carries ? ipv4Of(parts[6], parts[7]) : address;
}

function ipv4Of(high = 0, low = 0): ipaddr.IPv4 {
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}
