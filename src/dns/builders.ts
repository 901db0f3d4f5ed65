/** Builders: records for mail, certificates and reverse zones, made from readable parts in a manifest, and what is wrong with the parts. */

import type { Diagnostic } from "../model/diagnostic.ts";
import { readDkimKey } from "./dkim.ts";
import { canonicalIp, canonicalIpv4, canonicalIpv6, reverseName } from "./ip.ts";
import { nameProblem, relativeName } from "./name.ts";
import type { RecordType } from "./record.ts";
import { isSpfNetwork, readSpfMechanism, withoutSpfMacros } from "./spf.ts";
import { toAscii } from "./unicode.ts";

/** Keys and indices from the builder's value to the part that is meant. */
export type PartPath = readonly (string | number)[];

export interface BuiltRecord {
  readonly type: RecordType;
  /** As in a manifest: relative to the zone, `""` the apex. */
  readonly name: string;
  /** As in a manifest: names absolute with a final dot, TXT raw. */
  readonly target: string;
  /** CAA. */
  readonly tag?: string;
  /** The part it comes from, if it is one part alone. */
  readonly path?: PartPath;
}

export interface BuildProblem extends Pick<Diagnostic, "code" | "severity" | "summary" | "detail"> {
  readonly fix: string;
  readonly path: PartPath;
}

export interface Built {
  readonly records: readonly BuiltRecord[];
  readonly problems: readonly BuildProblem[];
}

/** A part that does not fit what the record allows. */
export function badPart(path: PartPath, summary: string, detail: string, fix: string): BuildProblem {
  return { code: "bad-part", severity: "error", summary, detail, fix, path };
}

/** `parent` below `label`: `_dmarc` and `shop` make `_dmarc.shop`; the apex is `""` or `@`. */
export function below(label: string, parent: string): string {
  return parent === "" || parent === "@" ? label : `${label}.${parent}`;
}

// CAA from readable parts (RFC 8659, 4; RFC 8657): who may issue certificates for a name.

export interface CaaParts {
  /** Authorities; none: nobody may. */
  readonly issue?: readonly string[];
  readonly issuewild?: readonly string[];
  readonly iodef?: string | readonly string[];
  readonly account_uri?: string;
  readonly validation_methods?: readonly string[];
}

/** RFC 8659, 4.2: a property without an authority. */
const NOBODY = ";";

export function buildCaa(parts: CaaParts, name: string): Built {
  const problems: BuildProblem[] = [];
  const parameters = readParameters(parts, problems);
  const records = [
    ...authorities("issue", parts.issue, name, parameters, problems),
    ...authorities("issuewild", parts.issuewild, name, parameters, problems),
    ...incidents(parts.iodef, name, problems),
  ];
  if (records.length === 0) {
    const detail = "It names neither authorities nor where to report.";
    problems.push(badPart([], "the CAA has no value", detail, "Add `issue`; `issue: []` lets nobody issue."));
  }
  return { records, problems };
}

function authorities(
  tag: "issue" | "issuewild",
  list: readonly string[] | undefined,
  name: string,
  parameters: string,
  problems: BuildProblem[],
): BuiltRecord[] {
  if (list === undefined) return [];
  if (list.length === 0) return [{ type: "CAA", name, tag, target: NOBODY, path: [tag] }];
  return list.map((authority, index) => {
    const path = [tag, index];
    if (nameProblem(authority, true) !== null || !authority.includes(".")) {
      const detail = `\`${authority}\` is not the domain of an authority: parameters and \`;\` have keys of their own.`;
      const fix = `For example: letsencrypt.org; \`${tag}: []\` lets nobody issue.`;
      problems.push(badPart(path, `bad \`${tag}\``, detail, fix));
    }
    return { type: "CAA", name, tag, target: `${authority}${parameters}`, path };
  });
}

/** More than the URI of any account and the names of all methods that are registered (RFC 8657, 4). */
const MAX_PARAMETER_CHARACTERS = 2_048;

/** RFC 8657: they hold for each authority that is named. */
function readParameters(parts: CaaParts, problems: BuildProblem[]): string {
  const named = new Set([...(parts.issue ?? []), ...(parts.issuewild ?? [])]);
  const { account_uri: account, validation_methods: methods } = parts;
  for (const key of ["account_uri", "validation_methods"] as const) {
    if (parts[key] === undefined || named.size > 0) continue;
    const detail = `\`${key}\` restricts what an authority may do, and none is named.`;
    problems.push(badPart([key], `\`${key}\` without an authority`, detail, "Name the authority under `issue`."));
  }
  if (account !== undefined && named.size > 1) {
    const detail = "An account belongs to one authority.";
    problems.push(
      badPart(["account_uri"], "one account, several authorities", detail, "Write an entry for each authority."),
    );
  }
  if (account !== undefined && !/^[a-z][a-z0-9+.-]*:[\x21-\x3a\x3c-\x7e]+$/i.test(account)) {
    const detail = `\`${account}\` is not a URI without white space and semicolons.`;
    problems.push(
      badPart(["account_uri"], "bad `account_uri`", detail, "For example: https://acme.example.net/acct/1."),
    );
  }
  for (const [index, method] of (methods ?? []).entries()) {
    if (/^[a-z0-9-]+$/i.test(method)) continue;
    const detail = `\`${method}\` is not the name of a method: letters, digits and hyphens (RFC 8657, 4).`;
    problems.push(badPart(["validation_methods", index], "bad `validation_methods`", detail, "For example: dns-01."));
  }
  const texts = [
    ...(account === undefined ? [] : [`accounturi=${account}`]),
    ...(methods === undefined || methods.length === 0 ? [] : [`validationmethods=${methods.join(",")}`]),
  ];
  const parameters = texts.map((text) => `; ${text}`).join("");
  if (parameters.length > MAX_PARAMETER_CHARACTERS) {
    const detail = `They have ${parameters.length} characters and stand behind each authority; ${MAX_PARAMETER_CHARACTERS} are enough for an account and all methods.`;
    const key = account === undefined ? "validation_methods" : "account_uri";
    problems.push(badPart([key], "the parameters are too long", detail, "Shorten them."));
  }
  return parameters;
}

function incidents(written: CaaParts["iodef"], name: string, problems: BuildProblem[]): BuiltRecord[] {
  const isOne = typeof written === "string";
  const list = isOne ? [written] : (written ?? []);
  return list.map((text, index) => {
    const path = isOne ? ["iodef"] : ["iodef", index];
    const uri = /^[^\s:@]+@[^\s@]+$/.test(text) ? `mailto:${text}` : text;
    if (!/^(mailto:[^\s@]+@[^\s@.]+(\.[^\s@.]+)+|https?:\/\/[^\s/]\S*)$/i.test(uri)) {
      const detail = `\`${text}\` is neither an e-mail address nor a mailto:, http: or https: URI (RFC 8659, 4.4).`;
      problems.push(badPart(path, "bad `iodef`", detail, "For example: mailto:security@example.com."));
    }
    return { type: "CAA", name, tag: "iodef", target: uri, path };
  });
}

// DMARC from readable parts (RFC 7489, 6.3; RFC 9091): the TXT at `_dmarc`.

export type DmarcPolicy = "none" | "quarantine" | "reject";
export type DmarcAlignment = "relaxed" | "strict";

export interface DmarcParts {
  readonly policy: DmarcPolicy;
  readonly subdomain_policy?: DmarcPolicy;
  readonly nonexistent_policy?: DmarcPolicy;
  /** 0..100 */
  readonly percent?: number;
  readonly rua?: readonly string[];
  readonly ruf?: readonly string[];
  readonly adkim?: DmarcAlignment;
  readonly aspf?: DmarcAlignment;
  readonly failure_options?: readonly string[];
  readonly report_interval_sec?: number;
}

/** Only what is stated: the rest has its default with receivers, too. */
export function buildDmarc(parts: DmarcParts, name: string): Built {
  const problems: BuildProblem[] = [];
  const tags: readonly (readonly [string, string | number | undefined])[] = [
    ["v", "DMARC1"],
    ["p", parts.policy],
    ["sp", parts.subdomain_policy],
    ["np", parts.nonexistent_policy],
    ["adkim", parts.adkim?.slice(0, 1)],
    ["aspf", parts.aspf?.slice(0, 1)],
    ["pct", parts.percent],
    ["fo", stated(parts.failure_options ?? [], ":")],
    ["ri", parts.report_interval_sec],
    ["rua", addresses("rua", parts.rua ?? [], problems)],
    ["ruf", addresses("ruf", parts.ruf ?? [], problems)],
  ];
  const target = tags.flatMap(([tag, value]) => (value === undefined ? [] : [`${tag}=${value}`])).join("; ");
  return {
    records: [{ type: "TXT", name: /^_dmarc(\.|$)/i.test(name) ? name : below("_dmarc", name), target }],
    problems,
  };
}

function addresses(key: "rua" | "ruf", list: readonly string[], problems: BuildProblem[]): string | undefined {
  return stated(
    list.map((text, index) => {
      const uri = /^[a-z][a-z0-9+.-]*:/i.test(text) ? text : `mailto:${text}`;
      if (!isReportUri(uri)) {
        const detail = `\`${text}\` is neither an e-mail address nor a URI; commas, semicolons and white space end one (RFC 7489, 6.2).`;
        problems.push(badPart([key, index], `bad \`${key}\``, detail, "For example: dmarc@example.com."));
      }
      return uri;
    }),
    ",",
  );
}

/** A `!` and a size such as `10m` may follow (RFC 7489, 6.2). */
function isReportUri(uri: string): boolean {
  const bare = uri.replace(/!\d+[kmgt]?$/i, "");
  if (!/^[\x21-\x7e]+$/.test(bare) || /[,;!]/.test(bare)) return false;
  return /^mailto:[^@]+@[^@.]+(\.[^@.]+)+$/i.test(bare) || /^https?:\/\/[^/]+/i.test(bare);
}

function stated(list: readonly string[], separator: string): string | undefined {
  return list.length === 0 ? undefined : list.join(separator);
}

// PTR records from addresses and what they are called, in a reverse zone.

/** Address → name or names, in full, with or without the final dot. */
export type PtrParts = Readonly<Record<string, string | readonly string[]>>;

/** @param zone lower-case ASCII without a final dot */
export function buildPtr(parts: PtrParts, zone: string): Built {
  const problems: BuildProblem[] = [];
  const records = Object.entries(parts).flatMap(([address, written]) => {
    const name = nameIn(zone, address, problems);
    if (name === null) return [];
    if (typeof written === "string") return pointer(name, written, [address], problems);
    return written.flatMap((text, index) => pointer(name, text, [address, index], problems));
  });
  return { records, problems };
}

function nameIn(zone: string, address: string, problems: BuildProblem[]): string | null {
  const full = reverseName(address);
  if (full === null) {
    const detail = `\`${address}\` is neither an IPv4 nor an IPv6 address.`;
    problems.push(badPart([address], "bad address", detail, "For example: 192.0.2.10."));
    return null;
  }
  const name = relativeName(full, zone);
  if (name !== null) return name;
  const detail = `The name of ${canonicalIp(address)} is ${full}, which is not in ${zone}.`;
  const fix = "Move it to the domain of its network, or correct the address.";
  problems.push({ ...badPart([address], "the address is outside the zone", detail, fix), code: "outside-zone" });
  return null;
}

/** Relative names would lie in the reverse zone, where no host is. */
function pointer(name: string, text: string, path: PartPath, problems: BuildProblem[]): BuiltRecord[] {
  const ascii = toAscii(text);
  if (ascii !== null && /[^.]\.[^.]/.test(ascii)) {
    return [{ type: "PTR", name, target: ascii.endsWith(".") ? ascii : `${ascii}.`, path }];
  }
  const detail = `\`${text}\` is not the name of a host in full: here, names are not relative to the zone.`;
  problems.push(badPart(path, "not a whole name", detail, "For example: www.example.com."));
  return [];
}

// SPF from readable parts (RFC 7208): the one TXT that says who may send mail for a name.

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

const SPF_QUALIFIERS: Readonly<Record<SpfAll, string>> = { fail: "-", softfail: "~", neutral: "?", pass: "+" };

/** RFC 7208, 3.4: a longer answer may not fit into one UDP message. */
const MAX_SPF_BYTES = 512;

interface WrittenSpfTerm {
  readonly text: string;
  readonly path: PartPath;
}

/**
 * Terms that cost no lookup stand first, `all` last, as receivers stop at the first that fits.
 * @param zone lower-case ASCII without a final dot: what names of one label are relative to
 */
export function buildSpf(written: SpfParts, name: string, zone: string): Built {
  const parts = absoluteSpfParts(written, zone);
  const problems: BuildProblem[] = [];
  const terms = [
    ...spfNetworks("ip4", parts.ip4 ?? [], problems),
    ...spfNetworks("ip6", parts.ip6 ?? [], problems),
    ...spfHosts("a", parts.a, problems),
    ...spfHosts("mx", parts.mx, problems),
    ...spfDomains("include", parts.include ?? [], problems),
    ...spfDomains("exists", parts.exists ?? [], problems),
    ...spfMechanisms(parts.mechanisms ?? [], problems),
    ...spfModifier("redirect", parts.redirect, problems),
    ...(parts.all === undefined ? [] : [{ text: `${SPF_QUALIFIERS[parts.all]}all`, path: ["all"] }]),
    ...spfModifier("exp", parts.exp, problems),
  ];
  const target = ["v=spf1", ...terms.map(({ text }) => text)].join(" ");
  problems.push(...spfEndProblems(parts, terms), ...spfSizeProblems(target));
  return { records: [{ type: "TXT", name, target }], problems };
}

/** Parts with names of domains. `mechanisms` are texts, and stay as they are. */
const SPF_DOMAIN_PARTS: ReadonlySet<string> = new Set(["a", "mx", "include", "exists", "redirect", "exp"]);

/** As in targets, names of one label are relative to the zone; those with dots are absolute. */
function absoluteSpfParts(parts: SpfParts, zone: string): SpfParts {
  const whole = (text: string): string => text.replace(/^([^./%]+)(?=\/|$)/, (label) => `${label}.${zone}`);
  const entries = Object.entries(parts).map(([key, part]: [string, unknown]) => {
    if (!SPF_DOMAIN_PARTS.has(key) || typeof part === "boolean") return [key, part];
    return [key, Array.isArray(part) ? part.map(whole) : whole(String(part))];
  });
  return Object.fromEntries(entries);
}

function spfNetworks(mechanism: "ip4" | "ip6", list: readonly string[], problems: BuildProblem[]): WrittenSpfTerm[] {
  const [family, example] =
    mechanism === "ip4" ? (["an IPv4", "192.0.2.0/24"] as const) : (["an IPv6", "2001:db8::/32"] as const);
  return list.map((text, index) => {
    const path = [mechanism, index];
    const [address = "", prefix] = text.split("/", 2);
    const canonical = mechanism === "ip4" ? canonicalIpv4(address) : canonicalIpv6(address);
    if (!isSpfNetwork(mechanism, text)) {
      const detail = `\`${text}\` is neither ${family} address nor ${family} network.`;
      problems.push(badPart(path, `bad \`${mechanism}\``, detail, `For example: ${example}.`));
    }
    const network = prefix === undefined ? "" : `/${prefix}`;
    return { text: `${mechanism}:${canonical ?? address}${network}`, path };
  });
}

function spfHosts(
  mechanism: "a" | "mx",
  written: boolean | readonly string[] | undefined,
  problems: BuildProblem[],
): WrittenSpfTerm[] {
  if (written === true) return [{ text: mechanism, path: [mechanism] }];
  return written === undefined || written === false ? [] : spfDomains(mechanism, written, problems);
}

function spfDomains(mechanism: string, list: readonly string[], problems: BuildProblem[]): WrittenSpfTerm[] {
  return list.map((text, index) => {
    const path = [mechanism, index];
    const problem = spfTermProblem(`${mechanism}:${text}`);
    if (problem !== null)
      problems.push(
        badPart(path, `bad \`${mechanism}\``, problem, "For example: _spf.example.net, or _spf in this zone."),
      );
    return { text: `${mechanism}:${text}`, path };
  });
}

function spfMechanisms(list: readonly string[], problems: BuildProblem[]): WrittenSpfTerm[] {
  return list.map((text, index) => {
    const path = ["mechanisms", index];
    const problem = spfTermProblem(text);
    if (problem !== null) problems.push(badPart(path, "bad mechanism", problem, "For example: ?include:example.net."));
    return { text, path };
  });
}

function spfModifier(key: "redirect" | "exp", domain: string | undefined, problems: BuildProblem[]): WrittenSpfTerm[] {
  if (domain === undefined) return [];
  const problem = spfDomainProblem(domain);
  if (problem !== null) problems.push(badPart([key], `bad \`${key}\``, problem, "For example: _spf.example.net."));
  return [{ text: `${key}=${domain}`, path: [key] }];
}

/** How a policy ends: with one `all`, or with a redirect, which an `all` would keep from being read (RFC 7208, 6.1). */
function spfEndProblems(parts: SpfParts, terms: readonly WrittenSpfTerm[]): BuildProblem[] {
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
function spfSizeProblems(target: string): BuildProblem[] {
  const problems: BuildProblem[] = [];
  const bytes = Buffer.byteLength(target);
  if (bytes > MAX_SPF_BYTES) {
    const detail = `The text has ${bytes} bytes; beyond ${MAX_SPF_BYTES} an answer may not fit into one UDP message (RFC 7208, 3.4).`;
    const fix = "Move parts into a name of their own, and include it.";
    problems.push({ code: "spf-long", severity: "warning", summary: "a long SPF text", detail, fix, path: [] });
  }
  return problems;
}

/** @returns a full sentence that says what is wrong with a mechanism, or null */
function spfTermProblem(text: string): string | null {
  const term = readSpfMechanism(text);
  if (typeof term === "string") return term;
  return term.domainSpec === null ? null : spfDomainProblem(term.domainSpec);
}

/** A domain of at least two labels, ASCII, macros allowed. */
function spfDomainProblem(text: string): string | null {
  const bare = withoutSpfMacros(text, "x").replace(/\.$/, "");
  if (bare.includes("%")) return `\`${text}\` has a macro that does not exist (RFC 7208, 7).`;
  const isGood = nameProblem(bare, false) === null && !bare.includes("*") && !bare.includes("/");
  if (!isGood || bare === "") return `\`${text}\` is not a domain name in ASCII.`;
  return bare.includes(".") || text.includes("%")
    ? null
    : `\`${text}\` is not a whole domain name: nothing is appended to it.`;
}

// DKIM from readable parts (RFC 6376, 3.6.1): the TXT at `SELECTOR._domainkey`.

export interface DkimParts {
  readonly selector: string;
  /** Base64, with or without white space and PEM lines; empty: revoked. */
  readonly key: string;
  readonly type?: "rsa" | "ed25519";
  readonly testing?: boolean;
  readonly same_domain?: boolean;
}

export function buildDkim(parts: DkimParts, name: string): Built {
  const problems: BuildProblem[] = [];
  const type = parts.type ?? "rsa";
  if (parts.selector === "" || nameProblem(parts.selector, true) !== null) {
    const detail = `\`${parts.selector}\` is not one or more labels of letters, digits and hyphens.`;
    problems.push(badPart(["selector"], "bad `selector`", detail, "For example: s1."));
  }
  const key = readDkimKey(parts.key, type);
  if (!key.ok) problems.push(badPart(["key"], key.summary, key.detail, key.fix));
  const flags = [parts.testing === true ? "y" : "", parts.same_domain === true ? "s" : ""].filter(
    (flag) => flag !== "",
  );
  const tags = [
    "v=DKIM1",
    `k=${type}`,
    ...(flags.length === 0 ? [] : [`t=${flags.join(":")}`]),
    `p=${key.ok ? key.base64 : ""}`,
  ];
  const owner = below(`${parts.selector}._domainkey`, name);
  return { records: [{ type: "TXT", name: owner, target: tags.join("; ") }], problems };
}
