/** Rules about the targets of records: CNAME chains and loops, targets that do not resolve, and names that anybody can claim. */

import { canonicalIpv4 } from "../../dns/ip.ts";
import { isAtOrBelow, relativeName } from "../../dns/name.ts";
import { isNamed, RECORD_TYPES, type RecordType, rulesOf } from "../../dns/record.ts";
import { groupBy } from "../../model/text.ts";
import {
  type Finding,
  isAlias,
  type LintRecord,
  type ProjectZones,
  related,
  shownName,
  type ZoneRule,
  type ZoneView,
} from "../rule.ts";

/** The most related places in a diagnostic. */
const MAX_RELATED = 5;

export const cnameLoop: ZoneRule = {
  code: "cname-loop",
  severity: "error",
  finds: "CNAMEs that lead back to themselves, through wildcards and other declared zones, too",
  why: "A resolver follows the aliases in a circle and gives up: none of the names resolves (RFC 1034, 3.6.2).",
  fix: "Point one of them at a name that has records of its own.",
  *check(view, world) {
    const { loops } = world.remember(followAliases);
    for (const record of view.ofType("CNAME")) {
      const loop = loops.get(record);
      if (loop !== undefined) yield loopFinding(loop);
    }
  },
};

function loopFinding(loop: readonly LintRecord[]): Finding {
  const [first, ...others] = loop as readonly [LintRecord, ...LintRecord[]];
  const detail =
    others.length === 0
      ? `The CNAME at ${shownName(first.name)} leads to itself.`
      : `The CNAME at ${shownName(first.name)} leads back to itself by way of ${others.length} more.`;
  return {
    summary: "CNAMEs in a loop",
    detail,
    records: loop,
    related: others.slice(0, MAX_RELATED).map((record) => related("by way of this one", record)),
  };
}

export const cnameChain: ZoneRule = {
  code: "cname-chain",
  severity: "warning",
  finds: "a CNAME whose target is a CNAME again",
  why: "Each alias costs a resolver one more question, and some give up after a few (RFC 1034, 3.6.2).",
  fix: "Point at the last name of the chain.",
  *check(view, world) {
    const { next, ends } = world.remember(followAliases);
    for (const record of view.ofType("CNAME")) {
      const following = next.get(record);
      const end = ends.get(record);
      if (following === undefined || end === undefined) continue;
      const detail = `\`${record.target}\`, the target of the CNAME at ${shownName(record.name)}, is an alias, too; in the end it leads to \`${end.target}\`.`;
      const fix = `Point at \`${end.target}.\` directly, unless this name is meant to follow the alias when that changes.`;
      yield {
        summary: "a CNAME of a CNAME",
        detail,
        fix,
        records: [record],
        related: [related("the next one", following)],
      };
    }
  },
};

interface Aliases {
  /** The CNAME that a CNAME leads to. */
  readonly next: ReadonlyMap<LintRecord, LintRecord>;
  /** The last CNAME that a CNAME leads to; absent if it leads into a loop. */
  readonly ends: ReadonlyMap<LintRecord, LintRecord>;
  /** Each loop under its first member, in the order of the zones. */
  readonly loops: ReadonlyMap<LintRecord, readonly LintRecord[]>;
}

function followAliases(world: ProjectZones): Aliases {
  const next = new Map<LintRecord, LintRecord>();
  for (const record of world.views.flatMap((view) => view.ofType("CNAME"))) {
    const found = world.lookup(record.target, ["CNAME"]);
    const following = found.type === "known" ? world.first(found.records, isAlias) : null;
    if (following !== null) next.set(record, following);
  }
  const ends = new Map<LintRecord, LintRecord | null>();
  const loops = new Map<LintRecord, readonly LintRecord[]>();
  for (const start of next.keys()) {
    const path: LintRecord[] = [];
    const onPath = new Map<LintRecord, number>();
    let at: LintRecord | undefined = start;
    while (at !== undefined && !ends.has(at) && !onPath.has(at)) {
      onPath.set(at, path.length);
      path.push(at);
      at = next.get(at);
    }
    const looped = at === undefined ? undefined : onPath.get(at);
    if (looped !== undefined) loops.set(path[looped] as LintRecord, path.slice(looped));
    const end = at === undefined ? (path.at(-1) as LintRecord) : looped === undefined ? (ends.get(at) ?? null) : null;
    for (const record of path) ends.set(record, end);
  }
  const reached = [...ends].filter((entry): entry is [LintRecord, LintRecord] => entry[1] !== null);
  return { next, ends: new Map(reached), loops };
}

// Rules about targets that are names (MX, NS, SRV, CNAME, PTR), and about names that are malformed.

/** Types whose target must have an address of its own. */
const HOST_POINTERS: readonly RecordType[] = RECORD_TYPES.filter(
  (type) => type !== "CNAME" && rulesOf(type).isFollowed,
);
const ADDRESS_OR_ALIAS: readonly RecordType[] = ["A", "AAAA", "CNAME"];
/** NS is left out: beneath the apex it delegates its name, whose records are then not in this zone. */
const ALL_BUT_NS: readonly RecordType[] = RECORD_TYPES.filter((type) => type !== "NS");

/** Names whose records exist only while a certificate is issued (RFC 8555, 8.4). */
const TRANSIENT = /^_acme-challenge(?:\.|$)/;

/** Labels of an IPv4 address. */
const QUAD_LABELS = 4;

export const srvWithoutProtocol: ZoneRule = {
  code: "srv-without-protocol",
  severity: "warning",
  finds: "an SRV whose name is a service alone, like `_sip`",
  why: "The service takes it, but clients ask for `_service._protocol`, so nobody finds it (RFC 2782).",
  fix: "Add the protocol: `_sip._tcp`.",
  *check(view) {
    for (const record of view.ofType("SRV")) {
      if (/^_[^.]+\._/.test(record.name)) continue;
      const detail = `${shownName(record.name)} names a service without its protocol.`;
      yield { summary: "an SRV without a protocol", detail, records: [record] };
    }
  },
};

export const targetIsAddress: ZoneRule = {
  code: "target-is-address",
  severity: "error",
  finds: "an MX, NS, SRV, CNAME or PTR whose target is an IPv4 address",
  why: "The target of such a record is a name; an address there is taken for a name and never found (RFC 1035, 3.3; RFC 5321, 5.1).",
  fix: "Point at a name that has an A record with this address.",
  *check(view, world) {
    for (const record of view.pointers) {
      const address = addressIn(record.target, view, world);
      if (address === null) continue;
      const detail = `The target \`${record.target}.\` of the ${record.type} record at ${shownName(record.name)} looks like the address ${address}.`;
      yield { summary: `${record.type} pointing at an address`, detail, records: [record] };
    }
  },
};

export const repeatedZone: ZoneRule = {
  code: "repeated-zone",
  severity: "warning",
  finds: "a name or target that ends in the zone's own name twice, like `www.example.com.example.com`",
  why: "It comes from a missing final dot: the zone's name was put behind a name that had it already.",
  fix: "Write the name relative to the zone, or end it with one dot.",
  *check(view, world) {
    const twice = `${view.zone.zone}.${view.zone.zone}`;
    for (const record of view.records) {
      if (isAtOrBelow(record.name, view.zone.zone)) {
        const detail = `The name of the ${record.type} record comes to \`${record.name}.${view.zone.zone}\`.`;
        yield { summary: "a name that repeats the zone's name", detail, records: [record] };
      } else if (isNamed(record.type) && isAtOrBelow(record.target, twice) && !isThere(record.target, world)) {
        const detail = `The target of the ${record.type} record at ${shownName(record.name)} comes to \`${record.target}\`.`;
        yield { summary: "a target that repeats the zone's name", detail, records: [record] };
      }
    }
  },
};

export const pointerToCname: ZoneRule = {
  code: "pointer-to-cname",
  severity: "warning",
  finds: "an MX, NS or SRV whose target is a CNAME",
  why: "Such a target must have addresses of its own: nameservers refuse to load NS that point at an alias, and some mail servers do not follow one (RFC 2181, 10.3; RFC 2782).",
  fix: "Point at the name that the alias leads to.",
  *check(view, world) {
    for (const record of view.pointers) {
      if (!HOST_POINTERS.includes(record.type)) continue;
      const found = world.lookup(record.target, ADDRESS_OR_ALIAS);
      const alias = found.type === "known" ? world.first(found.records, isAlias) : null;
      if (alias === null) continue;
      const detail = `\`${record.target}\`, the target of the ${record.type} record at ${shownName(record.name)}, is an alias of \`${alias.target}\`.`;
      yield {
        summary: `${record.type} pointing at a CNAME`,
        detail,
        records: [record],
        related: [related("the CNAME", alias)],
      };
    }
  },
};

export const missingTarget: ZoneRule = {
  code: "missing-target",
  severity: "warning",
  finds: "a target that does not exist although its zone is declared, or that has no address where one is needed",
  why: "Whoever follows the record finds nothing. Targets in zones whose records are not managed, delegated names and ignored names are taken to exist.",
  fix: "Declare the target, or correct its name.",
  *check(view, world) {
    const lacking = view.pointers.filter(
      (record) => !record.lintOff.includes(this.code) && isMissing(record, view, world),
    );
    // Many records may point at one name, and that name is what is wrong.
    for (const same of groupBy(lacking, ({ type, target }) => `${HOST_POINTERS.includes(type)} ${target}`).values())
      yield missing(same as [LintRecord, ...LintRecord[]], world);
  },
};

export const disabledTarget: ZoneRule = {
  code: "disabled-target",
  severity: "warning",
  finds: "a record of an active zone whose target lies in a declared zone that is disabled",
  why: "The service does not answer for a disabled domain, so whoever follows the record finds nothing (API.md: Domain, status).",
  fix: "Point elsewhere, or set the other domain's `status` to active.",
  *check(view, world) {
    if (view.zone.status === "disabled") return;
    for (const record of view.pointers) {
      const other = world.zoneOf(record.target);
      if (other === null || other === view || other.zone.status !== "disabled") continue;
      const detail = `\`${record.target}\`, the target of the ${record.type} record at ${shownName(record.name)}, lies in ${other.zone.zone}, which is disabled.`;
      const place = { message: "the disabled domain", span: other.zone.span };
      yield { summary: `${record.type} pointing into a disabled zone`, detail, records: [record], related: [place] };
    }
  },
};

function isMissing(record: LintRecord, view: ZoneView, world: ProjectZones): boolean {
  const { type, target } = record;
  const needsAddress = HOST_POINTERS.includes(type);
  if (TRANSIENT.test(record.name) || TRANSIENT.test(target)) return false;
  const found = world.lookup(target, needsAddress ? ADDRESS_OR_ALIAS : ALL_BUT_NS);
  if (found.type === "unknown") return false;
  if (needsAddress ? ADDRESS_OR_ALIAS.some((one) => found.types.has(one)) : found.records.length > 0) return false;
  // Where no address is needed, the apex is enough: it always has SOA and NS.
  if (!needsAddress && target === found.view.zone.zone) return false;
  // `target-is-address` and `repeated-zone` report these targets.
  return addressIn(target, view, world) === null && !isAtOrBelow(target, `${view.zone.zone}.${view.zone.zone}`);
}

function missing([first, ...others]: readonly [LintRecord, ...LintRecord[]], world: ProjectZones): Finding {
  const { type, name, target } = first;
  const found = world.lookup(target, ALL_BUT_NS);
  const what = found.type === "known" && found.records.length > 0 ? "has no A or AAAA record" : "has no records";
  const more =
    others.length === 0
      ? ""
      : `, and of ${others.length.toLocaleString("en")} more ${others.length === 1 ? "record" : "records"}`;
  const detail = `\`${target}\`, the target of the ${type} record at ${shownName(name)}${more}, ${what} in ${world.zoneOf(target)?.zone.zone}.`;
  return {
    summary: `${type} pointing at nothing`,
    detail,
    records: [first],
    related: others.slice(0, MAX_RELATED).map((record) => related("this one, too", record)),
  };
}

/**
 * The address that a target was meant to be: written with a final dot, or without one, so that the zone's name was put behind it. null if
 * there is none, or if a name of the zone is called so.
 */
function addressIn(target: string, view: ZoneView, world: ProjectZones): string | null {
  const labels = target.split(".", QUAD_LABELS + 1);
  const address = canonicalIpv4(labels.slice(0, QUAD_LABELS).join("."));
  if (address === null) return null;
  if (labels.length === QUAD_LABELS) return address;
  return relativeName(target, view.zone.zone) === address && !isThere(target, world) ? address : null;
}

function isThere(target: string, world: ProjectZones): boolean {
  const found = world.lookup(target, ALL_BUT_NS);
  return found.type === "known" ? found.records.length > 0 : world.zoneOf(target) !== null;
}

// A rule about aliases of names that anybody can claim.

export const claimableTarget: ZoneRule = {
  code: "claimable-target",
  severity: "warning",
  finds:
    "a CNAME to a name of a service that gives names to whoever asks first, such as `app.herokuapp.com`; the list is in src/lint/rules/targets.ts, with its sources",
  why: "Whoever holds that name answers under your name, with a valid certificate for it; while you do not hold it (not yet, or no longer), anybody can take it (OWASP WSTG-CONF-10).",
  fix: "Make sure that you hold the name, and remove the record before you give the name up. Once checked, silence this with `lint: { off: [claimable-target] }` at the record.",
  *check(view) {
    for (const record of view.ofType("CNAME")) {
      const found = CLAIMABLE_SERVICES.find((service) => isOf(service, record.target));
      if (found === undefined) continue;
      const detail = `${shownName(record.name)} is an alias of \`${record.target}\`, a name of ${found.service} that anybody can have while it is free (${found.source}).`;
      yield { summary: "an alias of a name that anybody can claim", detail, records: [record] };
    }
  },
};

function isOf({ names }: ClaimableService, target: string): boolean {
  return names.some((name) => (typeof name === "string" ? target.endsWith(`.${name}`) : name.test(target)));
}

// Services that give a name to whoever asks first, so that anybody can claim a name that was given up. Each has its source.

interface ClaimableService {
  readonly service: string;
  /** The end of such a name, or a pattern if the end alone would match too many names. */
  readonly names: readonly (string | RegExp)[];
  /** Who says that names can be claimed. */
  readonly source: string;
}

/** A community's list of services whose names could be claimed; most sources name the issue there. */
const TAKEOVER_LIST = "https://github.com/EdOverflow/can-i-take-over-xyz";
const AZURE = "https://learn.microsoft.com/azure/security/fundamentals/subdomain-takeover";

const CLAIMABLE_SERVICES: readonly ClaimableService[] = [
  { service: "Agile CRM", names: ["agilecrm.com"], source: `${TAKEOVER_LIST}/issues/145` },
  {
    service: "Amazon S3",
    names: [/\.s3(-website)?([.-][a-z0-9-]+)?\.amazonaws\.com$/],
    source: `${TAKEOVER_LIST}/issues/36`,
  },
  { service: "Anima", names: ["animaapp.io"], source: `${TAKEOVER_LIST}/issues/126` },
  { service: "AWS Elastic Beanstalk", names: ["elasticbeanstalk.com"], source: `${TAKEOVER_LIST}/issues/194` },
  { service: "Bitbucket", names: ["bitbucket.io"], source: TAKEOVER_LIST },
  { service: "Gemfury", names: ["furyns.com"], source: `${TAKEOVER_LIST}/issues/154` },
  { service: "Ghost", names: ["ghost.io"], source: `${TAKEOVER_LIST}/issues/89` },
  {
    service: "GitHub Pages",
    names: ["github.io"],
    source: "https://docs.github.com/pages/configuring-a-custom-domain-for-your-github-pages-site",
  },
  { service: "Hatena Blog", names: ["hatenablog.com"], source: TAKEOVER_LIST },
  { service: "Helpjuice", names: ["helpjuice.com"], source: TAKEOVER_LIST },
  { service: "Help Scout", names: ["helpscoutdocs.com"], source: TAKEOVER_LIST },
  { service: "Heroku", names: ["herokuapp.com"], source: `${TAKEOVER_LIST}/issues/38` },
  {
    service: "Microsoft Azure",
    names: [
      // Only one label before the suffix: the newer form `NAME-HASH.REGION.azurewebsites.net` is never given to another customer.
      /^[a-z0-9-]+\.azurewebsites\.net$/,
      "azure-api.net",
      "azurecontainer.io",
      "azurecr.io",
      "azureedge.net",
      "azurehdinsight.net",
      "blob.core.windows.net",
      "cloudapp.azure.com",
      "cloudapp.net",
      "trafficmanager.net",
    ],
    source: AZURE,
  },
  { service: "Netlify", names: ["netlify.app"], source: `${TAKEOVER_LIST}/issues/40` },
  { service: "ngrok", names: ["ngrok.io"], source: `${TAKEOVER_LIST}/issues/92` },
  { service: "Pantheon", names: ["pantheonsite.io"], source: `${TAKEOVER_LIST}/issues/24` },
  { service: "ReadMe", names: ["readme.io"], source: `${TAKEOVER_LIST}/issues/41` },
  { service: "Shopify", names: ["myshopify.com"], source: `${TAKEOVER_LIST}/issues/46` },
  { service: "Surge", names: ["surge.sh"], source: TAKEOVER_LIST },
  { service: "WordPress", names: ["wordpress.com"], source: `${TAKEOVER_LIST}/pull/176` },
  { service: "YouTrack", names: ["youtrack.cloud"], source: TAKEOVER_LIST },
];
