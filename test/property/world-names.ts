/** Accounts and manifests of few names, so that wildcards, aliases, delegations and nested zones meet all the time. */

import fc from "fast-check";
import type { WireDomain, WireRecord } from "../../src/api/wire.ts";
import type { RecordType } from "../../src/dns/record.ts";
import type { Declared, Desired, Removed } from "../../src/model/desired.ts";
import type { Live } from "../../src/model/live.ts";
import type { RecordSpec, ZoneSpec } from "../../src/units/zone/spec.ts";
import type { SeedZone } from "./replay.ts";

const ZONES = ["one.test", "sub.one.test", "two.test"] as const;
const NAMES = ["", "a", "b", "x.a", "*", "*.a", "sub", "a.sub", "*.sub"];
const TARGETS = [
  "a.one.test",
  "b.one.test",
  "x.a.one.test",
  "a.sub.one.test",
  "y.sub.one.test",
  "a.two.test",
  "h.other.test",
];
const SPAN = { file: "tenon.yaml", start: 0, end: 0 };
const TIME = { created: "2026-01-01T00:00:00", updated: "2026-01-01T00:00:00" };

/** Which of the account and the manifest have it. */
type Side = "both" | "live" | "declared";

interface DraftRecord {
  readonly type: RecordType;
  /** Relative; `""` is the apex. */
  readonly name: string;
  readonly target: string;
  readonly ttl_sec: number;
  readonly side: Side;
}

interface DraftZone {
  readonly name: string;
  readonly live: "active" | "disabled" | "absent";
  readonly declared: "active" | "disabled" | "removed" | "absent";
  readonly managed: boolean;
  readonly ignore: "nothing" | "texts" | "wildcards";
  readonly records: readonly DraftRecord[];
}

export interface NameWorld {
  readonly drafts: readonly DraftZone[];
}

const side = fc.constantFrom<Side>("both", "both", "live", "declared");
const name = fc.constantFrom(...NAMES);
const target = fc.constantFrom(...TARGETS);
const ttl_sec = fc.constantFrom(0, 0, 0, 300);
const kind = (type: RecordType, targets: fc.Arbitrary<string>, names: fc.Arbitrary<string> = name) =>
  fc.record({ type: fc.constant(type), name: names, target: targets, ttl_sec, side });

const record: fc.Arbitrary<DraftRecord> = fc.oneof(
  { weight: 6, arbitrary: kind("A", fc.constantFrom("192.0.2.1", "192.0.2.2")) },
  { weight: 1, arbitrary: kind("AAAA", fc.constantFrom("2001:db8::1", "2001:db8::2")) },
  { weight: 5, arbitrary: kind("CNAME", target) },
  { weight: 3, arbitrary: kind("TXT", fc.constantFrom("one", "two")) },
  { weight: 2, arbitrary: kind("MX", fc.oneof(target, fc.constant(""))) },
  { weight: 2, arbitrary: kind("NS", target, fc.constantFrom("a", "b", "sub", "sub", "a.sub")) },
  { weight: 1, arbitrary: kind("SRV", target, fc.constantFrom("_sip._tcp", "_sip._tcp.a")) },
);

/** Moves in which one request cannot keep all that is asked for: an alias for an address, names that step out of a wildcard or into it. */
const move: fc.Arbitrary<DraftRecord[]> = fc
  .record({
    name: fc.constantFrom("a", "b", "x.a", "a.sub", "x.sub", "*.a", "*.sub"),
    wildcard: fc.constantFrom("*", "*", "*.a", "*.sub"),
    types: fc.subarray(["A", "AAAA", "TXT"] as const, { minLength: 1 }),
    alias: target,
    forth: fc.boolean(),
    form: fc.constantFrom("alias", "exact", "exact", "whole"),
  })
  .map(({ name: owner, wildcard, types, alias, forth, form }) => {
    const [first, second]: Side[] = forth ? ["live", "declared"] : ["declared", "live"];
    const all = (at: string, where: Side) => types.map((type) => made(type, at, SAMPLES[type], where));
    if (form === "alias") return [...all(owner, first as Side), made("CNAME", owner, alias, second as Side)];
    const wide = form === "whole" ? first : "both";
    return [...all(wildcard, wide as Side), ...all(owner, second as Side)];
  });

/** A delegation to a server beneath it, whose server, or whose server's address, is replaced; or that comes, or goes, with both. */
const delegation: fc.Arbitrary<DraftRecord[]> = fc
  .record({
    cut: fc.constantFrom("a", "b", "sub", "a.sub"),
    forms: fc.tuple(form(), form()),
    outside: fc.constantFrom<Side | "never">("never", "never", "live", "declared"),
  })
  .map(({ cut, forms, outside }) => [
    ...forms.flatMap(({ label, where, addressWhere, v6 }) => [
      made("NS", cut, `${label}.${cut}`, where),
      made(v6 ? "AAAA" : "A", `${label}.${cut}`, v6 ? SAMPLES.AAAA : SAMPLES.A, addressWhere),
    ]),
    ...(outside === "never" ? [] : [made("NS", cut, "h.other.test", outside)]),
  ]);

function form() {
  const sides = fc.constantFrom<Side>("both", "live", "declared");
  return fc.record({
    label: fc.constantFrom("a", "x", "y"),
    where: sides,
    addressWhere: sides,
    v6: fc.constantFrom(false, false, true),
  });
}

const SAMPLES = { A: "192.0.2.3", AAAA: "2001:db8::3", TXT: "three" } as const;

function made(type: RecordType, owner: string, to: string, where: Side): DraftRecord {
  return { type, name: owner, target: to, ttl_sec: 0, side: where };
}

const records = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: record.map((single) => [single]) },
      { weight: 1, arbitrary: move },
      { weight: 1, arbitrary: delegation },
    ),
    {
      maxLength: 6,
    },
  )
  .map((lists) => lists.flat());

const zone = (zoneName: string): fc.Arbitrary<DraftZone> =>
  fc.record({
    name: fc.constant(zoneName),
    live: fc.constantFrom(
      "active" as const,
      "active" as const,
      "active" as const,
      "disabled" as const,
      "absent" as const,
    ),
    declared: fc.constantFrom(...(["active", "active", "active", "active", "disabled", "removed", "absent"] as const)),
    managed: fc.constantFrom(true, true, true, true, false),
    ignore: fc.constantFrom(
      "nothing" as const,
      "nothing" as const,
      "nothing" as const,
      "texts" as const,
      "wildcards" as const,
    ),
    records,
  });

/** Which zone is to be what another one is, made from nothing: a plan makes it as a copy where that takes fewer requests. */
const copied = fc.constantFrom(
  ...["none", "none", "none", "none", "none", "none", "none", "none", "sub.one.test", "one.test"],
);

export const nameWorlds: fc.Arbitrary<NameWorld> = fc
  .tuple(copied, ...ZONES.map(zone))
  .map(([of, ...drafts]) => ({ drafts: withCopy(drafts, of).map(acceptable).filter(isAnything) }));

function withCopy(drafts: readonly DraftZone[], of: string): readonly DraftZone[] {
  const source = drafts.find(({ name: other }) => other === of);
  if (source === undefined) return drafts;
  const common = { declared: "active", managed: true, ignore: "nothing" } as const;
  return drafts.map((draft): DraftZone => {
    if (draft.name === "two.test") return { ...draft, ...common, live: "absent", records: source.records };
    const live = draft.live === "active" ? "absent" : draft.live;
    return draft === source ? { ...draft, ...common, live } : draft;
  });
}

function isAnything({ live, declared }: DraftZone): boolean {
  return live !== "absent" || declared === "active" || declared === "disabled";
}

function isLive({ side }: DraftRecord): boolean {
  return side !== "declared";
}

function isDeclared({ side }: DraftRecord): boolean {
  return side !== "live";
}

/** Keeps, in order, what the service would accept beside what is already kept, on each side. */
function acceptable(draft: DraftZone): DraftZone {
  const kept: DraftRecord[] = [];
  for (const candidate of draft.records) {
    const isKept = (entry: DraftRecord) => draft.ignore !== "nothing" && isIgnored(entry, draft.ignore);
    const plain = leadingAway(ownServer(candidate, draft.name), draft.name);
    const entry: DraftRecord = isKept(plain) ? { ...plain, side: "live" } : plain;
    if (entry.type === "CNAME" && entry.name === "") continue;
    const meets = (other: DraftRecord) =>
      (isLive(entry) && isLive(other)) || (isDeclared(entry) && isDeclared(other)) || isKept(entry) || isKept(other);
    const clash = kept.some((other) => {
      if (other.name !== entry.name || !meets(other)) return false;
      if (entry.type === "CNAME" || other.type === "CNAME") return true;
      if (entry.type === other.type && entry.target === other.target) return true;
      return entry.type === "MX" && other.type === "MX" && (entry.target === "" || other.target === "");
    });
    if (!clash) kept.push(entry);
  }
  return { ...draft, records: kept };
}

/** The server of a generated delegation is in the zone itself. */
function ownServer(entry: DraftRecord, zoneName: string): DraftRecord {
  const isWhole = entry.type !== "NS" || entry.target.endsWith(".test");
  return isWhole ? entry : { ...entry, target: absolute(entry.target, zoneName) };
}

/** A wildcard's alias that leads back beneath a wildcard is left out: what it answers would hang on itself. */
function leadingAway(entry: DraftRecord, zoneName: string): DraftRecord {
  if (entry.type !== "CNAME" || !entry.name.startsWith("*")) return entry;
  return { ...entry, target: zoneName === "two.test" ? "h.other.test" : "a.two.test" };
}

function isIgnored({ type, name }: DraftRecord, ignore: DraftZone["ignore"]): boolean {
  return ignore === "texts" ? type === "TXT" : name.startsWith("*");
}

/** What the plan starts from: the records of a zone that nobody speaks of are not read. */
export function liveOf({ drafts }: NameWorld): Live {
  const items = drafts.flatMap((draft, index) => {
    if (draft.live === "absent") return [];
    const records = isRead(draft) ? draft.records.flatMap((entry, at) => wireRecord(entry, at)) : null;
    return [{ domain: wireDomain(draft, index), records }];
  });
  return { units: { zone: { items, total: items.length } } };
}

function isRead({ declared, managed }: DraftZone): boolean {
  return declared === "removed" || ((declared === "active" || declared === "disabled") && managed);
}

export function desiredOf({ drafts }: NameWorld): Desired {
  const declared = drafts.filter((draft) => draft.declared === "active" || draft.declared === "disabled");
  const removed = drafts.filter((draft) => draft.declared === "removed");
  return {
    owner: null,
    account: null,
    declared: declared.map(declare),
    removed: removed.map(remove),
    allow: [],
    lintOff: [],
  };
}

export function seedOf({ drafts }: NameWorld): SeedZone[] {
  return drafts.flatMap((draft, index) => {
    if (draft.live === "absent") return [];
    const rows = draft.records.flatMap((entry, at) => {
      const model = { type: entry.type, name: absolute(entry.name, draft.name), target: entry.target };
      return isLive(entry) ? ([[at + 1, model]] as const) : [];
    });
    const records = isRead(draft) ? new Map(rows) : null;
    return [{ id: index + 1, name: draft.name, active: draft.live === "active", records }];
  });
}

function absolute(relative: string, zoneName: string): string {
  return relative === "" ? zoneName : `${relative}.${zoneName}`;
}

function wireDomain({ name: domain, live }: DraftZone, index: number): WireDomain {
  const empty = { description: "", group: "", master_ips: [], axfr_ips: [], tags: [] };
  const seconds = { refresh_sec: 0, retry_sec: 0, expire_sec: 0, ttl_sec: 0 };
  const status = live === "active" ? "active" : "disabled";
  return { id: index + 1, domain, type: "master", status, soa_email: "h@one.test", ...empty, ...seconds, ...TIME };
}

function wireRecord(entry: DraftRecord, at: number): WireRecord[] {
  if (!isLive(entry)) return [];
  const { type, name: recordName, target: recordTarget, ttl_sec: ttl } = entry;
  const zeros = { priority: 0, weight: 0, port: 0, protocol: null, service: null, tag: null };
  return [{ id: at + 1, type, name: recordName, target: recordTarget, ttl_sec: ttl, ...zeros, ...TIME }];
}

function declare(draft: DraftZone): Declared<ZoneSpec> {
  const records: RecordSpec[] = draft.records.filter(isDeclared).map(({ side: _, ...entry }) => {
    return { ...entry, span: SPAN, note: null, lintOff: [] };
  });
  const ignore = { nothing: [], texts: [{ type: "TXT" }], wildcards: [{ name: "\\**" }] }[draft.ignore];
  const spec: ZoneSpec = {
    domain: draft.name,
    fields: { type: "master", soa_email: "h@one.test", status: draft.declared },
    records: draft.managed ? records : null,
    ignore,
    policy: "authoritative",
    createFrom: null,
    lintOff: [],
  };
  const address = `domain/${draft.name}`;
  const rest = { id: null, movedFrom: null, protect: false, note: null, span: SPAN };
  return { unit: "zone", address, key: draft.name, ...rest, spec };
}

function remove({ name: key }: DraftZone): Removed {
  return { unit: "zone", address: `domain/${key}`, key, id: null, destroy: true, ignore: [], span: SPAN };
}

/** What nobody declares stays as it is: a zone in it is not for a shrunk example to be puzzled by. */
export function shownWorld({ drafts }: NameWorld): string {
  return drafts
    .flatMap((draft) => [
      `${draft.name}: live ${draft.live}, declared ${draft.declared}${draft.managed ? "" : ", records not managed"}, ignores ${draft.ignore}`,
      ...draft.records.map((entry) => {
        const marks = { both: " ", live: "-", declared: "+" } as const;
        return `  ${marks[entry.side]} ${entry.name || "@"} ${entry.type} ${entry.target || "."} ${entry.ttl_sec || ""}`;
      }),
    ])
    .join("\n");
}
