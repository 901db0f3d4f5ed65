/** SPF (RFC 7208), the one TXT that says who may send mail for a name: made of readable parts, and read as receivers do. */

import { type BuildProblem, type Built, badPart, type PartPath } from "./builders.ts";
import { canonicalIpv4, canonicalIpv6, readNetwork } from "./ip.ts";
import { nameProblem } from "./name.ts";
import { toAscii } from "./unicode.ts";

type SpfAll = "fail" | "softfail" | "neutral" | "pass";

export interface SpfParts {
  readonly ip4?: readonly string[];
  readonly ip6?: readonly string[];
  readonly a?: boolean | readonly string[];
  readonly mx?: boolean | readonly string[];
  readonly include?: readonly string[];
  readonly exists?: readonly string[];
  /** Mechanisms as they are, for what has no key. */
  readonly mechanisms?: readonly string[];
  readonly redirect?: string;
  readonly exp?: string;
  readonly all?: SpfAll;
}

const QUALIFIER: Readonly<Record<SpfAll, string>> = { fail: "-", softfail: "~", neutral: "?", pass: "+" };

/** RFC 7208, 3.4: a longer answer may not fit into one UDP message. */
const MAX_TEXT_BYTES = 512;
interface Term {
  readonly text: string;
  readonly path: PartPath;
}

/**
 * Terms that cost no lookup stand first, `all` last, as receivers stop at the first that fits.
 * @param zone lower-case ASCII without a final dot: what names of one label are relative to
 */
export function buildSpf(written: SpfParts, name: string, zone: string): Built {
  const parts = absoluteParts(written, zone);
  const problems: BuildProblem[] = [];
  const terms = [
    ...networks("ip4", parts.ip4 ?? [], problems),
    ...networks("ip6", parts.ip6 ?? [], problems),
    ...hosts("a", parts.a, problems),
    ...hosts("mx", parts.mx, problems),
    ...domains("include", parts.include ?? [], problems),
    ...domains("exists", parts.exists ?? [], problems),
    ...mechanisms(parts.mechanisms ?? [], problems),
    ...modifier("redirect", parts.redirect, problems),
    ...(parts.all === undefined ? [] : [{ text: `${QUALIFIER[parts.all]}all`, path: ["all"] }]),
    ...modifier("exp", parts.exp, problems),
  ];
  const target = ["v=spf1", ...terms.map(({ text }) => text)].join(" ");
  problems.push(...endProblems(parts, terms), ...sizeProblems(target));
  return { records: [{ type: "TXT", name, target }], problems };
}

/** Parts with names of domains. `mechanisms` are texts, and stay as they are. */
const DOMAIN_PARTS: ReadonlySet<string> = new Set(["a", "mx", "include", "exists", "redirect", "exp"]);

/** As in targets, names of one label are relative to the zone; those with dots are absolute. */
function absoluteParts(parts: SpfParts, zone: string): SpfParts {
  const whole = (text: string): string => text.replace(/^([^./%]+)(?=\/|$)/, (label) => `${label}.${zone}`);
  const entries = Object.entries(parts).map(([key, part]: [string, unknown]) => {
    if (!DOMAIN_PARTS.has(key) || typeof part === "boolean") return [key, part];
    return [key, Array.isArray(part) ? part.map(whole) : whole(String(part))];
  });
  return Object.fromEntries(entries);
}

function networks(mechanism: "ip4" | "ip6", list: readonly string[], problems: BuildProblem[]): Term[] {
  const [family, example] =
    mechanism === "ip4" ? (["an IPv4", "192.0.2.0/24"] as const) : (["an IPv6", "2001:db8::/32"] as const);
  return list.map((text, index) => {
    const path = [mechanism, index];
    const [address = "", prefix] = text.split("/", 2);
    const canonical = mechanism === "ip4" ? canonicalIpv4(address) : canonicalIpv6(address);
    if (!isNetwork(mechanism, text)) {
      const detail = `\`${text}\` is neither ${family} address nor ${family} network.`;
      problems.push(badPart(path, `bad \`${mechanism}\``, detail, `For example: ${example}.`));
    }
    const network = prefix === undefined ? "" : `/${prefix}`;
    return { text: `${mechanism}:${canonical ?? address}${network}`, path };
  });
}

function hosts(
  mechanism: "a" | "mx",
  written: boolean | readonly string[] | undefined,
  problems: BuildProblem[],
): Term[] {
  if (written === true) return [{ text: mechanism, path: [mechanism] }];
  return written === undefined || written === false ? [] : domains(mechanism, written, problems);
}

function domains(mechanism: string, list: readonly string[], problems: BuildProblem[]): Term[] {
  return list.map((text, index) => {
    const path = [mechanism, index];
    const problem = termProblem(`${mechanism}:${text}`);
    if (problem !== null)
      problems.push(
        badPart(path, `bad \`${mechanism}\``, problem, "For example: _spf.example.net, or _spf in this zone."),
      );
    return { text: `${mechanism}:${text}`, path };
  });
}

function mechanisms(list: readonly string[], problems: BuildProblem[]): Term[] {
  return list.map((text, index) => {
    const path = ["mechanisms", index];
    const problem = termProblem(text);
    if (problem !== null) problems.push(badPart(path, "bad mechanism", problem, "For example: ?include:example.net."));
    return { text, path };
  });
}

function modifier(key: "redirect" | "exp", domain: string | undefined, problems: BuildProblem[]): Term[] {
  if (domain === undefined) return [];
  const problem = spfDomainProblem(domain);
  if (problem !== null) problems.push(badPart([key], `bad \`${key}\``, problem, "For example: _spf.example.net."));
  return [{ text: `${key}=${domain}`, path: [key] }];
}

/** How a policy ends: with one `all`, or with a redirect, which an `all` would keep from being read (RFC 7208, 6.1). */
function endProblems(parts: SpfParts, terms: readonly Term[]): BuildProblem[] {
  const alls = terms.filter(({ text }) => /^[+?~-]?all$/i.test(text));
  const [first, second] = alls;
  if (second !== undefined) {
    const detail = "Receivers stop at the first `all`: what follows it is never read.";
    return [badPart(second.path, "more than one `all`", detail, "Keep one of them, as the key `all`.")];
  }
  if (first !== undefined && parts.redirect !== undefined) {
    const detail = "With an `all`, receivers ignore the redirect (RFC 7208, 6.1).";
    return [badPart(["redirect"], "both `all` and `redirect`", detail, "Remove one of the two.")];
  }
  if (first !== undefined && first.path[0] === "mechanisms") {
    const detail = "The mechanism `all` is written as the key `all`, so that it stands last.";
    return [badPart(first.path, "`all` among the mechanisms", detail, "Remove it, and write `all: fail`.")];
  }
  if (first !== undefined || parts.redirect !== undefined) return [];
  const detail = "It does not say what becomes of all other senders.";
  return [badPart([], "`all` is missing", detail, "Add `all: fail`, or softfail to begin with.")];
}

/** How many lookups it takes is a matter of lint, which looks into what is included, too. */
function sizeProblems(target: string): BuildProblem[] {
  const problems: BuildProblem[] = [];
  const bytes = Buffer.byteLength(target);
  if (bytes > MAX_TEXT_BYTES) {
    const detail = `The text has ${bytes} bytes; beyond ${MAX_TEXT_BYTES} an answer may not fit into one UDP message (RFC 7208, 3.4).`;
    const fix = "Move parts into a name of their own, and include it.";
    problems.push({ code: "spf-long", severity: "warning", summary: "a long SPF text", detail, fix, path: [] });
  }
  return problems;
}

/** @returns a full sentence that says what is wrong with a mechanism, or null */
function termProblem(text: string): string | null {
  const term = readMechanism(text);
  if (typeof term === "string") return term;
  return term.domainSpec === null ? null : spfDomainProblem(term.domainSpec);
}

/** A domain of at least two labels, ASCII, macros allowed. */
function spfDomainProblem(text: string): string | null {
  const bare = withoutMacros(text, "x").replace(/\.$/, "");
  if (bare.includes("%")) return `\`${text}\` has a macro that does not exist (RFC 7208, 7).`;
  const isGood = nameProblem(bare, false) === null && !bare.includes("*") && !bare.includes("/");
  if (!isGood || bare === "") return `\`${text}\` is not a domain name in ASCII.`;
  return bare.includes(".") || text.includes("%")
    ? null
    : `\`${text}\` is not a whole domain name: nothing is appended to it.`;
}

// The grammar: the text of an SPF record, taken apart (RFC 7208, 4.6, 5 and 12).

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
    const read = modifier === null ? readMechanism(written) : readModifier(written, modifier, seen);
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

function readMechanism(text: string): SpfTerm | string {
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
      return isNetwork(name, value ?? "")
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

function isNetwork(name: "ip4" | "ip6", text: string): boolean {
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
  const bare = withoutMacros(text, "");
  return !bare.includes("%") && /^[\x21-\x7e]*$/.test(bare);
}

function plainDomain(text: string): string | null {
  if (text === "" || text.includes("%")) return null;
  return toAscii(text)?.replace(/\.$/, "") ?? null;
}

/** RFC 7208, 7.1. */
function withoutMacros(text: string, replacement: string): string {
  return text.replace(/%(?:[%_-]|\{[slodiphcrtv]\d*r?[.+,/_=-]*\})/gi, replacement);
}
