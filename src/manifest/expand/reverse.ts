/** What is wrong with a network whose reverse zone is asked for, in words. */

import type { ReverseZone } from "../../dns/reverse.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";

export function badReverse(
  network: string,
  zone: Extract<ReverseZone, { readonly ok: false }>,
): Pick<Diagnostic, "code" | "summary" | "detail" | "fix"> {
  const problem = { code: "bad-network", summary: "bad `reverse`" };
  switch (zone.problem) {
    case "no-network": {
      const detail = `\`${network}\` is not a network: an address, a slash and a prefix length.`;
      return { ...problem, detail, fix: "For example: 192.0.2.0/24 or 2001:db8::/32." };
    }
    case "host-bits":
      return {
        ...problem,
        detail: `\`${network}\` has bits beyond its prefix.`,
        fix: `Write ${zone.network}.`,
      };
    case "between-labels": {
      const detail = `No zone is just \`${network}\`: reverse zones end after 8, 16, 24 or 32 bits of an IPv4 address, and after every fourth bit of an IPv6 address.`;
      const fix =
        "Write a list of such networks. For a part of a /24 that is delegated to you (RFC 2317), write the zone's name under `domain`, without a slash: for example 0-25.2.0.192.in-addr.arpa.";
      return { ...problem, detail, fix };
    }
  }
}
