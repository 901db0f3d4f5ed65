/** Arbitrary zones: few names, few targets, every type. */

import fc from "fast-check";
import type { RecordType } from "../../src/dns/record.ts";
import type { SeedDomain, SeedRecord } from "../../src/emulator/index.ts";
import { type Fate, type Tag, tagOf } from "./fate.ts";

export interface DraftRecord {
  readonly type: RecordType;
  readonly name: string;
  readonly target: string;
  readonly ttl_sec: number;
  readonly priority?: number;
  readonly weight?: number;
  readonly port?: number;
  readonly tag?: string;
}

export interface DraftZone {
  readonly name: string;
  readonly declared: boolean;
  readonly live: boolean;
  readonly fate: Fate;
  readonly tag: Tag;
  readonly status: "active" | "disabled" | undefined;
  readonly liveStatus: "active" | "disabled";
  readonly description: string | null | undefined;
  readonly liveDescription: string;
  readonly tags: readonly string[] | undefined;
  readonly managed: boolean;
  readonly additive: boolean;
  readonly ignoring: boolean;
  readonly desired: readonly DraftRecord[];
  readonly records: readonly DraftRecord[];
}

const ZONES = ["one.example", "two.example", "sub.one.example", "bücher.example"];
const NAMES = ["", "www", "a", "b", "*", "deep.a", "ign1", "ign2"];
const HOSTS = ["www.one.example.", "a.two.example.", "b.one.example.", "host.elsewhere.test."];
const TTLS = [0, 300, 3600];

const name = fc.constantFrom(...NAMES);
const host = fc.constantFrom(...HOSTS);
const ttl_sec = fc.constantFrom(...TTLS);

const record: fc.Arbitrary<DraftRecord> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("A" as const),
      name,
      target: fc.constantFrom("192.0.2.1", "192.0.2.2", "192.0.2.3"),
      ttl_sec,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("AAAA" as const),
      name,
      target: fc.constantFrom("2001:db8::1", "2001:db8::2"),
      ttl_sec,
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("CNAME" as const), name, target: host, ttl_sec }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("TXT" as const),
      name,
      target: fc.constantFrom("v=spf1 -all", 'say "hi"; \\o/', "grüße 🎉"),
      ttl_sec,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("MX" as const),
      name,
      target: fc.oneof(host, fc.constant(".")),
      priority: fc.constantFrom(0, 10),
      ttl_sec,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("NS" as const),
      name: fc.constantFrom("", "a", "b"),
      target: host,
      ttl_sec,
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("PTR" as const), name, target: host, ttl_sec }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("CAA" as const),
      name,
      target: fc.constantFrom("letsencrypt.org", ";"),
      tag: fc.constantFrom("issue", "iodef"),
      ttl_sec,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("SRV" as const),
      name: fc.constantFrom("_sip._tcp", "_sip._udp.a"),
      target: fc.oneof(host, fc.constant(".")),
      priority: fc.constantFrom(0, 5),
      weight: fc.constantFrom(0, 5),
      port: fc.constantFrom(0, 5060),
      ttl_sec,
    }),
  },
);

/** Keeps, in order, what the service would accept beside what is already kept. */
export function acceptable(records: readonly DraftRecord[], duplicates: boolean): DraftRecord[] {
  const kept: DraftRecord[] = [];
  for (const candidate of records) {
    if (candidate.type === "CNAME" && candidate.name === "") continue;
    const same = kept.filter((other) => other.name === candidate.name);
    const clash = same.some((other) => {
      if (candidate.type === "CNAME" || other.type === "CNAME") return true;
      return candidate.type === "MX" && other.type === "MX" && (candidate.target === "." || other.target === ".");
    });
    const { ttl_sec: _, ...content } = candidate;
    const repeated = same.some(({ ttl_sec, ...other }) => JSON.stringify(other) === JSON.stringify(content));
    if (!clash && (!repeated || (duplicates && candidate.type === "TXT"))) kept.push(candidate);
  }
  return kept;
}

const zone = (zoneName: string): fc.Arbitrary<DraftZone> =>
  fc
    .record({
      declared: fc.boolean(),
      live: fc.boolean(),
      fate: fc.constantFrom<Fate>("left", "removed", "released"),
      tag: fc.constantFrom<Tag>("none", "ours", "foreign"),
      status: fc.constantFrom("active" as const, "disabled" as const, undefined, undefined),
      liveStatus: fc.constantFrom("active" as const, "active" as const, "disabled" as const),
      description: fc.constantFrom("words", "", null, undefined, undefined),
      liveDescription: fc.constantFrom("", "words", "other words"),
      tags: fc.constantFrom(["Abc", "def"], [], undefined),
      managed: fc.boolean().map((no) => !no || zoneName === ZONES[0]),
      additive: fc.integer({ min: 0, max: 5 }).map((number) => number === 0),
      ignoring: fc.boolean(),
      desired: fc.array(record, { maxLength: 8 }),
      records: fc.array(record, { maxLength: 8 }),
      shared: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
      twice: fc.boolean(),
    })
    .map(({ shared, twice, ...draft }) => {
      const records = acceptable(twice ? [...draft.records, ...draft.records] : draft.records, true);
      const common = records.filter((_, index) => shared[index]);
      const desired = acceptable([...common, ...draft.desired], false).filter(
        (entry) => !draft.ignoring || !entry.name.startsWith("ign"),
      );
      return { ...draft, name: zoneName, records, desired };
    });

/** Now and then all zones are to have the same records, so that some are made as copies of another. */
export const zoneDrafts: fc.Arbitrary<DraftZone[]> = fc
  .tuple(fc.tuple(...ZONES.map(zone)) as fc.Arbitrary<DraftZone[]>, fc.constantFrom(true, false, false))
  .map(([drafts, alike]) => (alike ? drafts.map((draft) => ({ ...draft, desired: sharedBy(drafts) })) : drafts));

function sharedBy(drafts: readonly DraftZone[]): DraftRecord[] {
  return acceptable(
    drafts.flatMap(({ desired }) => desired.slice(0, 3)).filter(({ name: owner }) => !owner.startsWith("ign")),
    false,
  );
}

export function manifestDomains(zones: readonly DraftZone[]): Record<string, unknown>[] {
  return zones
    .filter((draft) => draft.declared)
    .map((draft) => ({
      domain: draft.name,
      type: "master",
      soa_email: "hostmaster@example.com",
      ...(draft.status === undefined ? {} : { status: draft.status }),
      ...(draft.description === undefined ? {} : { description: draft.description }),
      ...(draft.tags === undefined ? {} : { tags: draft.tags }),
      ...(draft.additive ? { records_policy: "additive" } : {}),
      ...(draft.ignoring ? { ignore: [{ name: "ign*" }] } : {}),
      ...(draft.managed ? { records: draft.desired } : {}),
    }));
}

export function seedDomains(zones: readonly DraftZone[], owner: string | null): SeedDomain[] {
  return zones
    .filter((draft) => draft.live)
    .map((draft) => {
      const tag = tagOf(draft.tag, draft.declared || draft.fate !== "left", owner);
      return {
        domain: new URL(`http://${draft.name}`).hostname,
        type: "master" as const,
        soa_email: "hostmaster@example.com",
        status: draft.liveStatus,
        description: draft.liveDescription,
        tags: tag === null ? ["abc"] : ["abc", `tenon:${tag}`],
        records: draft.records.map(seedRecord),
      };
    });
}

function seedRecord({ name, ...rest }: DraftRecord): SeedRecord {
  if (rest.type !== "SRV") return { name, ...rest };
  const [service = "", ...protocol] = name.split(".");
  return { ...rest, service: service.slice(1), protocol: protocol.join(".").slice(1) };
}
