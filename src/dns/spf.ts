/** SPF from readable parts (RFC 7208): the one TXT that says who may send mail for a name. */

import { type BuildProblem, type Built, badPart, type PartPath } from "./builders.ts";
import { canonicalIpv4, canonicalIpv6 } from "./ip.ts";
import { nameProblem } from "./name.ts";

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
 * What costs no lookup stands first, `all` last, as receivers stop at the first that fits.
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

/** As of targets, names of one label are relative to the zone; those with dots are absolute. */
function absoluteParts(parts: SpfParts, zone: string): SpfParts {
  const whole = (text: string): string => text.replace(/^([^./%]+)(?=\/|$)/, (label) => `${label}.${zone}`);
  const entries = Object.entries(parts).map(([key, part]: [string, unknown]) => {
    if (!DOMAIN_PARTS.has(key) || typeof part === "boolean") return [key, part];
    return [key, Array.isArray(part) ? part.map(whole) : whole(String(part))];
  });
  return Object.fromEntries(entries);
}

function networks(mechanism: "ip4" | "ip6", list: readonly string[], problems: BuildProblem[]): Term[] {
  const [family, bits, example] =
    mechanism === "ip4" ? (["an IPv4", 32, "192.0.2.0/24"] as const) : (["an IPv6", 128, "2001:db8::/32"] as const);
  return list.map((text, index) => {
    const path = [mechanism, index];
    const match = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text);
    const address = match?.[1] ?? "";
    const canonical = mechanism === "ip4" ? canonicalIpv4(address) : canonicalIpv6(address);
    if (match === null || canonical === null || Number(match[2] ?? 0) > bits) {
      const detail = `\`${text}\` is neither ${family} address nor ${family} network.`;
      problems.push(badPart(path, `bad \`${mechanism}\``, detail, `For example: ${example}.`));
    }
    const network = match?.[2] === undefined ? "" : `/${match[2]}`;
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

// One mechanism of an SPF policy as text: whether it is well formed (RFC 7208, 5 and 12).

const MAX_IPV4_PREFIX = 32;
const MAX_IPV6_PREFIX = 128;
const MACRO = /%\{[slodiphcrtv]\d*r?[.+,/_=-]*\}|%[%_-]/gi;

/** @returns a full sentence that says what is wrong, or null */
function termProblem(text: string): string | null {
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
function spfDomainProblem(text: string): string | null {
  const bare = text.replace(MACRO, "x").replace(/\.$/, "");
  if (bare.includes("%")) return `\`${text}\` has a macro that does not exist (RFC 7208, 7).`;
  const isGood = nameProblem(bare, false) === null && !bare.includes("*") && !bare.includes("/");
  if (!isGood || bare === "") return `\`${text}\` is not a domain name in ASCII.`;
  return bare.includes(".") || text.includes("%")
    ? null
    : `\`${text}\` is not a whole domain name: nothing is appended to it.`;
}
