/** The grammar of SPF (RFC 7208, 4.6, 5 and 12): the text of an SPF record, taken apart. */

import { canonicalIpv4, canonicalIpv6, readNetwork } from "./ip.ts";
import { toAscii } from "./unicode.ts";

const MECHANISMS = ["all", "include", "a", "mx", "ptr", "ip4", "ip6", "exists"] as const;

type Mechanism = (typeof MECHANISMS)[number];

const MAX_IPV4_PREFIX = 32;
const MAX_IPV6_PREFIX = 128;

export interface SpfTerm {
  /** As written. */
  readonly text: string;
  readonly name: Mechanism | "redirect" | "other-modifier";
  readonly qualifier: "+" | "-" | "?" | "~";
  /** As written, with macros; null without one. */
  readonly domainSpec: string | null;
  /** Lower-case ASCII without a final dot; null without one, or if a macro makes it. */
  readonly domain: string | null;
}

export interface SpfText {
  readonly terms: readonly SpfTerm[];
  /** The first thing that makes the record a permanent error, as a full sentence; null if there is none. */
  readonly problem: string | null;
}

/** Whether a TXT is an SPF record to those who look for one (RFC 7208, 4.5). */
export function isSpf(text: string): boolean {
  return /^v=spf1(?: |$)/i.test(text);
}

/** @param text of which `isSpf` holds */
export function readSpf(text: string): SpfText {
  const terms: SpfTerm[] = [];
  let problem: string | null = null;
  const seen = new Set<string>();
  for (const written of text.split(" ").slice(1)) {
    if (written === "") continue;
    const modifier = /^([a-z][a-z0-9_.-]*)=(.*)$/is.exec(written);
    const read = modifier === null ? readSpfMechanism(written) : readModifier(written, modifier, seen);
    if (typeof read === "string") problem ??= read;
    else terms.push(read);
  }
  return { terms, problem };
}

function readModifier(text: string, [, name = "", value = ""]: readonly string[], seen: Set<string>): SpfTerm | string {
  const lower = name.toLowerCase();
  const isKnown = lower === "redirect" || lower === "exp";
  if (isKnown && seen.has(lower)) return `\`${lower}=\` is there twice.`;
  seen.add(lower);
  if (isKnown && !isDomainSpec(value)) return `\`${text}\` names no domain.`;
  if (!isMacroString(value)) return `\`${text}\` holds a \`%\` that begins no macro.`;
  return {
    text,
    name: lower === "redirect" ? "redirect" : "other-modifier",
    qualifier: "+",
    domainSpec: value,
    domain: plainDomain(value),
  };
}

export function readSpfMechanism(text: string): SpfTerm | string {
  const [, sign = "", word = "", rest = ""] = /^([+?~-]?)([^:/]*)(.*)$/s.exec(text) ?? [];
  const name = MECHANISMS.find((known) => known === word.toLowerCase());
  if (name === undefined) return `\`${text}\` is no mechanism.`;
  const qualifier = (sign || "+") as SpfTerm["qualifier"];
  const value = rest.startsWith(":") ? rest.slice(1) : null;
  const term = (domainSpec: string | null): SpfTerm => ({
    ...{ text, name, qualifier, domainSpec },
    domain: plainDomain(domainSpec ?? ""),
  });
  switch (name) {
    case "all":
      return rest === "" ? term(null) : `\`${text}\` has something behind \`all\`.`;
    case "include":
    case "exists":
      return value !== null && isDomainSpec(value) ? term(value) : `\`${text}\` names no domain.`;
    case "ptr":
      return rest === "" || (value !== null && isDomainSpec(value)) ? term(value) : `\`${text}\` names no domain.`;
    case "ip4":
    case "ip6":
      return isSpfNetwork(name, value ?? "")
        ? term(null)
        : `\`${text}\` is no ${name === "ip4" ? "IPv4" : "IPv6"} network.`;
    case "a":
    case "mx":
      return readHosts(text, rest, term);
  }
}

/** `a`, `a:host`, `a/24`, `a//64`, `a:host/24//64` */
function readHosts(text: string, rest: string, term: (domainSpec: string | null) => SpfTerm): SpfTerm | string {
  const [, host, four, six] = /^(?::(.*?))?(?:\/(0|[1-9]\d{0,2}))?(?:\/\/(0|[1-9]\d{0,2}))?$/s.exec(rest) ?? [];
  if (rest !== "" && host === undefined && four === undefined && six === undefined)
    return `\`${text}\` is not understood.`;
  if (Number(four ?? 0) > MAX_IPV4_PREFIX || Number(six ?? 0) > MAX_IPV6_PREFIX)
    return `\`${text}\` has a prefix length that no address has.`;
  return host === undefined || isDomainSpec(host) ? term(host ?? null) : `\`${text}\` names no domain.`;
}

export function isSpfNetwork(name: "ip4" | "ip6", text: string): boolean {
  const address = readNetwork(text.includes("/") ? text : `${text}/0`)?.address ?? "";
  return (name === "ip4" ? canonicalIpv4(address) : canonicalIpv6(address)) !== null;
}

/** RFC 7208, 7.1: ends in a macro, or in a label that is more than a number. */
function isDomainSpec(text: string): boolean {
  return (
    isMacroString(text) && (/%\{[^{}]*\}$/.test(text) || /\.(?!\d+\.?$)[a-z0-9]([a-z0-9-]*[a-z0-9])?\.?$/i.test(text))
  );
}

function isMacroString(text: string): boolean {
  const bare = withoutSpfMacros(text, "");
  return !bare.includes("%") && /^[\x21-\x7e]*$/.test(bare);
}

function plainDomain(text: string): string | null {
  if (text === "" || text.includes("%")) return null;
  return toAscii(text)?.replace(/\.$/, "") ?? null;
}

/** RFC 7208, 7.1. */
export function withoutSpfMacros(text: string, replacement: string): string {
  return text.replace(/%(?:[%_-]|\{[slodiphcrtv]\d*r?[.+,/_=-]*\})/gi, replacement);
}
