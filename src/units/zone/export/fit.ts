/** Which records a zone file can hold: one line that it cannot keeps a nameserver from the whole zone. Pure. */

import { absoluteName, nameProblem } from "../../../dns/name.ts";
import type { PlainRecord } from "../../../dns/plain-record.ts";
import { unwritable } from "../../../dns/zone-file/write.ts";
import { ZoneTree } from "../../../dns/zone-tree.ts";
import { groupBy } from "../../../model/group.ts";

/** RFC 1035, 4.2.2: octets in a message over TCP. A set of records that fits none cannot be told. */
const MAX_MESSAGE_OCTETS = 65_535;

/** The header, the fixed fields of the question, its name, and what a nameserver adds (RFC 6891, RFC 7873). */
const MESSAGE_FRAME_OCTETS = 12 + 4 + 256 + 128;

/** A pointer to its name, type, class, TTL and the length of its data; and of a name in it, two lengths. */
const RECORD_FRAME_OCTETS = 14;

/** RFC 1035, 3.3: octets in a character-string, without its length. */
const MAX_STRING_OCTETS = 255;

export interface LeftOut {
  readonly record: PlainRecord;
  /** One clause. */
  readonly reason: string;
  /** What to do, as a full sentence. */
  readonly fix?: string;
}

export interface Fitting {
  readonly records: readonly PlainRecord[];
  readonly leftOut: readonly LeftOut[];
  /** The first record of each name and type whose TTLs differed: its set has the lowest now. */
  readonly levelled: readonly PlainRecord[];
}

/**
 * @param records of the zone; the order decides which of two equal ones stays
 * @param zoneTtl seconds that 0 stands for
 */
export function fittingRecords(records: readonly PlainRecord[], zone: string, zoneTtl: number): Fitting {
  const leftOut: LeftOut[] = [];
  const seen = new Set<string>();
  const octets = new Map<string, number>();
  const kept: PlainRecord[] = [];
  for (const record of records) {
    const reason = misfit(record, zone, seen, octets);
    if (reason === null) kept.push(record);
    else leftOut.push({ record, reason });
  }
  const tree = new ZoneTree(kept, zone);
  const isFound = (record: PlainRecord): boolean =>
    record.type !== "NS" || record.name !== "" || tree.hasServerAddress(record.target);
  for (const record of kept) if (!isFound(record)) leftOut.push({ record, ...NO_SERVER_ADDRESS });
  return { ...levelTtls(kept.filter(isFound), zoneTtl), leftOut };
}

export const ADD_SERVER_ADDRESS = "Add an A or AAAA record for that host, or name a server outside the zone.";

/** Nameservers refuse a zone whose own server cannot be found in it. */
const NO_SERVER_ADDRESS: Omit<LeftOut, "record"> = {
  reason: "its host is in the zone, and has no address record there",
  fix: ADD_SERVER_ADDRESS,
};

/**
 * The records of one name and type have one TTL, the lowest of theirs (RFC 2181, 5.2): of several, some nameservers take the
 * first, others give each its own.
 */
function levelTtls(records: readonly PlainRecord[], zoneTtl: number): Pick<Fitting, "records" | "levelled"> {
  const levelled: PlainRecord[] = [];
  const sets = groupBy(records, ({ name, type }) => `${type} ${name}`);
  const level = [...sets.values()].flatMap((set) => {
    const ttls = new Set(set.map(({ ttl_sec }) => ttl_sec || zoneTtl));
    if (ttls.size === 1) return set;
    const lowest = [...ttls].reduce((least, ttl) => Math.min(least, ttl));
    levelled.push(...set.slice(0, 1));
    return set.map((record) => ({ ...record, ttl_sec: lowest }));
  });
  return { records: level, levelled };
}

function misfit(record: PlainRecord, zone: string, seen: Set<string>, octets: Map<string, number>): string | null {
  const { type, name, ttl_sec: _, ...rest } = record;
  const owner = absoluteName(name, zone);
  if (nameProblem(owner, false) !== null) return "with the zone its name is none that DNS has";
  const problem = unwritable(record);
  if (problem !== null) return problem;
  if (type === "CNAME" && name === "") return "a CNAME cannot stand beside the zone's own SOA and NS";
  const whole = JSON.stringify([type, name, Object.entries(rest).sort()]);
  if (seen.has(whole)) return "it is there twice, and is written once";
  const key = `${type} ${name}`;
  const sum = (octets.get(key) ?? MESSAGE_FRAME_OCTETS) + dataOctets(record);
  if (sum > MAX_MESSAGE_OCTETS) return "all of its name and type would fit no message";
  octets.set(key, sum);
  seen.add(whole);
  return null;
}

/** At most: names may come out shorter, where an end of them is in the message already. */
function dataOctets({ type, target, tag = "" }: PlainRecord): number {
  const length = Buffer.byteLength(target);
  const strings = type === "TXT" ? Math.ceil(length / MAX_STRING_OCTETS) : 0;
  return RECORD_FRAME_OCTETS + 6 + tag.length + length + strings;
}
