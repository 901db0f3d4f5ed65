/** One mechanism of an SPF policy as text: whether it is well formed (RFC 7208, 5 and 12). */

import { canonicalIpv4, canonicalIpv6 } from "../ip.ts";
import { nameProblem } from "../name.ts";

const MAX_IPV4_PREFIX = 32;
const MAX_IPV6_PREFIX = 128;
const MACRO = /%\{[slodiphcrtv]\d*r?[.+,/_=-]*\}|%[%_-]/gi;

/** @returns a full sentence that says what is wrong, or null */
export function termProblem(text: string): string | null {
  const match = /^[+?~-]?([a-z][a-z0-9]*)(?:([:/])(.*))?$/is.exec(text);
  const mechanism = match?.[1]?.toLowerCase() ?? "";
  const [separator, rest] = [match?.[2] ?? "", match?.[3] ?? ""];
  switch (mechanism) {
    case "all":
      return separator === "" ? null : `\`${text}\`: the mechanism all takes nothing.`;
    case "ip4":
    case "ip6":
      return separator === ":" ? networkProblem(mechanism, rest) : `\`${text}\` has no address.`;
    case "a":
    case "mx":
      if (separator === "") return null;
      return separator === "/" ? prefixProblem(`/${rest}`) : hostProblem(rest);
    case "ptr":
      return separator === "" ? null : spfDomainProblem(rest);
    case "include":
    case "exists":
      return separator === ":" ? spfDomainProblem(rest) : `\`${text}\` has no domain.`;
    default:
      return `\`${text}\` is not a mechanism; there are all, ip4, ip6, a, mx, include, exists and ptr.`;
  }
}

function networkProblem(mechanism: "ip4" | "ip6", text: string): string | null {
  const match = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text);
  const [address, length] = [match?.[1] ?? "", Number(match?.[2] ?? 0)];
  const isGood =
    mechanism === "ip4"
      ? canonicalIpv4(address) !== null && length <= MAX_IPV4_PREFIX
      : canonicalIpv6(address) !== null && length <= MAX_IPV6_PREFIX;
  return isGood ? null : `\`${text}\` is not an address or network of ${mechanism}.`;
}

/** `domain`, with prefix lengths after it: `/24`, `//64`, `/24//64`. */
function hostProblem(text: string): string | null {
  const slash = text.search(/\/{1,2}\d{1,3}(\/\/\d{1,3})?$/);
  const domain = slash === -1 ? text : text.slice(0, slash);
  return spfDomainProblem(domain) ?? (slash === -1 ? null : prefixProblem(text.slice(slash)));
}

function prefixProblem(text: string): string | null {
  const match = /^(?:\/(0|[1-9]\d?))?(?:\/\/(0|[1-9]\d{0,2}))?$/.exec(text);
  const isGood = match !== null && Number(match[1] ?? 0) <= MAX_IPV4_PREFIX && Number(match[2] ?? 0) <= MAX_IPV6_PREFIX;
  return isGood ? null : `\`${text}\` is not a prefix length.`;
}

/** A domain of at least two labels, ASCII, macros allowed. */
export function spfDomainProblem(text: string): string | null {
  const bare = text.replace(MACRO, "x").replace(/\.$/, "");
  if (bare.includes("%")) return `\`${text}\` has a macro that does not exist (RFC 7208, 7).`;
  const isGood = nameProblem(bare, false) === null && !bare.includes("*") && !bare.includes("/");
  if (!isGood || bare === "") return `\`${text}\` is not a domain name in ASCII.`;
  return bare.includes(".") || text.includes("%")
    ? null
    : `\`${text}\` is not a whole domain name: nothing is appended to it.`;
}
