/** Rules about the values of records: addresses, lookalike and mixed-case names, copied TXT, and TTLs. */

import ipaddr from "ipaddr.js";
import { type Disguise, disguiseOf } from "../../dns/unicode.ts";
import type { Sources } from "../../model/diagnostic.ts";
import { groupBy } from "../../model/text.ts";
import {
  effectiveTtlSeconds,
  type Finding,
  type LintRecord,
  type ProjectZones,
  related,
  shownName,
  type ZoneRule,
  type ZoneView,
} from "../rule.ts";

type Scope = "private" | "reserved" | "documentation";

/** Zones that are not meant for the Internet (RFC 6761, RFC 6762, RFC 8375, RFC 9476, and names that ICANN has reserved). */
const PRIVATE_ZONES = /(?:^|\.)(?:test|localhost|local|internal|home\.arpa|alt)$/;
/** Zones that exist for documentation only (RFC 2606). */
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
  check: (view, world) => addressesOf(view, world, "private", "a private address in a public zone"),
};

export const reservedAddress: ZoneRule = {
  code: "reserved-address",
  severity: "warning",
  finds:
    "an address that no host on the Internet has: loopback, link-local, multicast, unspecified or reserved (RFC 6890)",
  why: "Nobody can reach a host there; an address such as 127.0.0.1 makes every visitor ask the own machine (RFC 6890, 2.2).",
  fix: "Write the host's public address.",
  check: (view, world) => addressesOf(view, world, "reserved", "an address that is no host's"),
};

export const documentationAddress: ZoneRule = {
  code: "documentation-address",
  severity: "warning",
  finds: "an address out of a manual, such as 192.0.2.1 or 2001:db8::1, in a zone that is not for documentation itself",
  why: "These ranges are never routed: the record was probably copied (RFC 5737, RFC 3849, RFC 9637).",
  fix: "Write the host's public address.",
  check: (view, world) => addressesOf(view, world, "documentation", "an address for documentation"),
};

function* addressesOf(view: ZoneView, world: ProjectZones, scope: Scope, summary: string): Iterable<Finding> {
  const exempt = scope === "documentation" ? DOCUMENTATION_ZONES : PRIVATE_ZONES;
  if (exempt.test(view.zone.zone)) return;
  const scopes = world.remember(createScopes);
  for (const record of view.records) {
    if (record.type !== "A" && record.type !== "AAAA") continue;
    if (scopes.of(record.target) !== scope || isLocalhost(record)) continue;
    const detail = `${shownName(record.name) === "the apex" ? "The apex" : shownName(record.name)} has the address ${record.target}.`;
    yield { summary, detail, records: [record] };
  }
}

/** `localhost` in a zone is an old custom (RFC 1537, 10). */
function isLocalhost({ name }: LintRecord): boolean {
  return name === "localhost" || name.startsWith("localhost.");
}

/** Three rules ask for the scope of each address. */
class Scopes {
  readonly #known: Map<string, Scope | null> = new Map();

  of(address: string): Scope | null {
    const known = this.#known.get(address);
    if (known !== undefined) return known;
    const scope = scopeOf(address);
    this.#known.set(address, scope);
    return scope;
  }
}

function createScopes(): Scopes {
  return new Scopes();
}

function scopeOf(text: string): Scope | null {
  if (!ipaddr.isValid(text)) return null;
  const address = ipaddr.parse(text);
  const isDocumentation = DOCUMENTATION_RANGES.some(
    ([range, length]) => range.kind() === address.kind() && address.match(range, length),
  );
  return isDocumentation ? "documentation" : (SCOPES[address.range()] ?? null);
}

// A rule about names that look like other names.

/** Characters that look like others in most typefaces. */
const TAKEN_FOR: readonly (readonly [RegExp, string])[] = [
  [/0/g, "o"],
  [/1/g, "l"],
  [/rn/g, "m"],
  [/vv/g, "w"],
];

export const lookalikeName: ZoneRule = {
  code: "lookalike-name",
  severity: "warning",
  finds:
    "a name or target that is shown like another one: letters of other scripts (`xn--pypal-4ve` is shown as if it were `paypal`), scripts mixed within a label, or `1ogin` beside `login`",
  why: "Whoever reads the name, in a review or in an address bar, takes it for the other one (UTS 39, 4).",
  fix: "Write the name that is meant; where it is this one, switch the rule off for the record.",
  *check(view) {
    const own = disguiseOf(view.zone.zone);
    if (own !== null) yield { ...disguised("The domain", view.zone.zone, own), records: [] };
    for (const [name, records] of view.names()) {
      const disguise = disguiseOf(name);
      if (disguise !== null) yield { ...disguised("The name", name, disguise), records };
    }
    for (const record of view.pointers) {
      // A target within the zone is reported as a name of the zone.
      if (record.target.endsWith(`.${view.zone.zone}`)) continue;
      const disguise = disguiseOf(record.target);
      if (disguise === null || record.target === view.zone.zone) continue;
      yield {
        ...disguised(`The target of the ${record.type} record at ${shownName(record.name)},`, record.target, disguise),
        records: [record],
      };
    }
    yield* alikeNames(view);
  },
};

function disguised(what: string, name: string, { shown, as }: Disguise): Omit<Finding, "records"> {
  const looks = as === null ? "mixes letters of several scripts" : `looks like \`${as}\``;
  const comma = what.endsWith(",") ? "," : "";
  return {
    summary: "a name that is taken for another",
    detail: `${what} \`${name}\`${comma} is shown as \`${shown}\` and ${looks}.`,
  };
}

/** Two ASCII names that look alike: such a name is suspicious only if the zone has the other one, too. */
function* alikeNames(view: ZoneView): Iterable<Finding> {
  const plain = [...view.names()].filter(([name]) => name !== "" && !name.includes("xn--"));
  for (const [skeleton, alike] of groupBy(plain, ([name]) => skeletonOf(name))) {
    const [first] = alike;
    if (first === undefined || alike.length === 1) continue;
    const [meant, meantRecords] = alike.find(([name]) => name === skeleton) ?? first;
    for (const [name, [record]] of alike) {
      const [other] = meantRecords;
      if (name === meant || record === undefined || other === undefined) continue;
      yield {
        summary: "a name that is taken for another",
        detail: `${shownName(name)} looks like ${shownName(meant)}, which is in the zone, too.`,
        records: [record, other],
        related: [related("the other name", other)],
      };
    }
  }
}

function skeletonOf(name: string): string {
  if (!/[01]|rn|vv/.test(name)) return name;
  return TAKEN_FOR.reduce((text, [pattern, letter]) => text.replace(pattern, letter), name);
}

// A rule about names that are written in several ways: it looks at the source.

/** Characters of an entry that are searched: the name stands near its beginning. */
const MAX_LOOKED_AT_CHARACTERS = 1_000;

export const mixedCase: ZoneRule = {
  code: "mixed-case",
  severity: "warning",
  finds: "one name that is written in several ways, like `WWW` and `www`",
  why: "Names differ by case for readers only: both are one name, and its records are one set (RFC 4343).",
  fix: "Write the name the same way everywhere.",
  *check(view, { sources }) {
    if (sources === null) return;
    for (const [name, records] of view.names()) {
      if (name === "" || records.length < 2) continue;
      let first: { readonly record: LintRecord; readonly written: string } | null = null;
      for (const record of records) {
        const written = writtenName(record, sources);
        if (written === null) continue;
        if (first === null) first = { record, written };
        if (written === first.written || written.toLowerCase() !== first.written.toLowerCase()) continue;
        const detail = `${shownName(written)} and ${shownName(first.written)} are the same name.`;
        yield {
          summary: "a name in two spellings",
          detail,
          records: [record, first.record],
          related: [related("the other spelling", first.record)],
        };
        break;
      }
    }
  },
};

/** The name as its entry says it, behind `name:`, or as the first word of a line of a zone file; null if it is found in neither way. */
function writtenName({ name, span }: LintRecord, sources: Sources): string | null {
  const end = Math.min(span.end, span.start + MAX_LOOKED_AT_CHARACTERS);
  const text = sources.text(span.file)?.slice(span.start, end) ?? "";
  const [, written = null] =
    /(?:^|[\s{,"'])name["']?:\s*["']?([^\s,"'}]+)/.exec(text) ?? /^\s*([^\s;"'{:[]+)/.exec(text) ?? [];
  const lower = written?.toLowerCase();
  return lower === name || lower?.startsWith(`${name}.`) ? written : null;
}

// Rules about TXT that was copied with the quotes and escapes of a zone file.

/** Also with the quotes that text programs write. */
const QUOTED = /^["“”„«].*["“”»]$/s;

export const quotedTxt: ZoneRule = {
  code: "quoted-txt",
  severity: "warning",
  finds: "a TXT that begins and ends with a quote",
  why: 'Quotes are how zone files write a text (RFC 1035, 5.1). Here they become part of it, and readers that look for "v=spf1" do not find it.',
  fix: "Write the bare text; several quoted pieces are joined without a space.",
  *check(view) {
    for (const record of view.ofType("TXT")) {
      if (!QUOTED.test(record.target)) continue;
      const detail = `The TXT record at ${shownName(record.name)} has quotes around it.`;
      yield { summary: "a TXT in quotes", detail, records: [record] };
    }
  },
};

export const escapedTxt: ZoneRule = {
  code: "escaped-txt",
  severity: "warning",
  finds: 'a TXT with `\\;`, `\\"` or `\\` and three digits',
  why: "Backslashes escape characters in zone files only (RFC 1035, 5.1). Here they become part of the text.",
  fix: "Write the character itself.",
  *check(view) {
    for (const record of view.ofType("TXT")) {
      const found = /\\(?:[";]|[0-2]\d\d)/.exec(record.target)?.[0];
      if (found === undefined) continue;
      const detail = `The TXT record at ${shownName(record.name)} has \`${found}\` in it.`;
      yield { summary: "a TXT with escapes", detail, records: [record] };
    }
  },
};

// A rule about TTLs: one for each name and type.

export const mixedTtl: ZoneRule = {
  code: "mixed-ttl",
  severity: "warning",
  finds: "records of one name and type with different TTLs",
  why: "They are one set and are kept together, so their TTLs must be the same; nameservers take one of them, and which is not said (RFC 2181, 5.2).",
  fix: "Give all of them the same `ttl_sec`.",
  *check(view) {
    const ttlOf = ({ ttl_sec }: LintRecord): number => effectiveTtlSeconds(ttl_sec, view.zone.ttl_sec);
    for (const set of recordSets(view)) {
      const [first] = set as [LintRecord, ...LintRecord[]];
      const other = set.find((record) => ttlOf(record) !== ttlOf(first));
      if (other === undefined) continue;
      const detail = `Of the ${first.type} records at ${shownName(first.name)}, one has a TTL of ${ttlOf(first)} seconds and another one of ${ttlOf(other)}.`;
      const others = set.filter((record) => record !== other && record !== first);
      yield {
        summary: `${first.type} records with different TTLs`,
        detail,
        records: [other, first, ...others],
        related: [related("the first of them", first)],
      };
    }
  },
};

/** The sets of more than one record: those of one name and type. */
function* recordSets(view: ZoneView): Iterable<readonly LintRecord[]> {
  for (const [, records] of view.names())
    if (records.length > 1)
      for (const set of groupBy(records, ({ type }) => type).values()) if (set.length > 1) yield set;
}
