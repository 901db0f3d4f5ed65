/** Rules about addresses that the Internet does not route. */

import ipaddr from "ipaddr.js";
import type { Finding, ZoneRule } from "../rule.ts";
import { shownName, type ZoneView } from "../world.ts";
import type { LintRecord } from "../zone.ts";

type Scope = "private" | "reserved" | "documentation";

/** Of zones that are not meant for the Internet (RFC 6761, RFC 6762, RFC 8375, RFC 9476, and what ICANN has set aside for it). */
const PRIVATE_ZONES = /(?:^|\.)(?:test|localhost|local|internal|home\.arpa|alt)$/;
/** Of zones that exist for documentation only (RFC 2606). */
const DOCUMENTATION_ZONES = /(?:^|\.)(?:example|test|invalid|example\.(?:com|net|org|edu))$/;

/** RFC 5737, RFC 3849, RFC 9637. */
const DOCUMENTATION_RANGES = ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"].map(
  (range) => ipaddr.parseCIDR(range),
);

const SCOPES: Readonly<Record<string, Scope>> = {
  private: "private",
  uniqueLocal: "private",
  carrierGradeNat: "private",
  unspecified: "reserved",
  broadcast: "reserved",
  multicast: "reserved",
  linkLocal: "reserved",
  loopback: "reserved",
  reserved: "reserved",
  benchmarking: "reserved",
  ipv4Mapped: "reserved",
  discard: "reserved",
};

export const privateAddress: ZoneRule = {
  code: "private-address",
  severity: "warning",
  finds:
    "an address for private networks in a public zone: RFC 1918, unique local (RFC 4193), carrier-grade NAT (RFC 6598)",
  why: "Outside your own network it leads nowhere, or to a stranger's machine; it also tells everyone how you number yours, and some resolvers drop such answers (RFC 1918, 5).",
  fix: "Keep it in a zone that only your network sees, or switch this rule off where it is meant.",
  check: (view) => addressesOf(view, "private", "a private address in a public zone"),
};

export const reservedAddress: ZoneRule = {
  code: "reserved-address",
  severity: "warning",
  finds:
    "an address that no host on the Internet has: loopback, link-local, multicast, unspecified or reserved (RFC 6890)",
  why: "Nobody can reach a host there; an address such as 127.0.0.1 makes every visitor ask the own machine (RFC 6890, 2.2).",
  fix: "Write the host's public address.",
  check: (view) => addressesOf(view, "reserved", "an address that is no host's"),
};

export const documentationAddress: ZoneRule = {
  code: "documentation-address",
  severity: "warning",
  finds: "an address out of a manual, such as 192.0.2.1 or 2001:db8::1, in a zone that is not for documentation itself",
  why: "These ranges are never routed: the record was probably copied (RFC 5737, RFC 3849, RFC 9637).",
  fix: "Write the host's public address.",
  check: (view) => addressesOf(view, "documentation", "an address for documentation"),
};

function* addressesOf(view: ZoneView, scope: Scope, summary: string): Iterable<Finding> {
  const exempt = scope === "documentation" ? DOCUMENTATION_ZONES : PRIVATE_ZONES;
  if (exempt.test(view.zone.zone)) return;
  for (const record of view.records) {
    if ((record.type !== "A" && record.type !== "AAAA") || isLocalhost(record) || scopeOf(record.target) !== scope)
      continue;
    const detail = `${shownName(record.name) === "the apex" ? "The apex" : shownName(record.name)} has the address ${record.target}.`;
    yield { summary, detail, records: [record] };
  }
}

/** `localhost` in a zone is an old custom (RFC 1537, 10). */
function isLocalhost({ name }: LintRecord): boolean {
  return name === "localhost" || name.startsWith("localhost.");
}

function scopeOf(text: string): Scope | null {
  if (!ipaddr.isValid(text)) return null;
  const address = ipaddr.parse(text);
  const isDocumentation = DOCUMENTATION_RANGES.some(
    ([range, length]) => range.kind() === address.kind() && address.match(range, length),
  );
  return isDocumentation ? "documentation" : (SCOPES[address.range()] ?? null);
}
