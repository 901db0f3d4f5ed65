/** Which records that the API took no zone can hold: one such line would keep a nameserver from the whole zone. */

import { absoluteName, nameProblem } from "../dns/name.ts";
import type { RecordRow } from "./rows.ts";
import { serversWithoutAddress } from "./zone-servers.ts";
import { textOctets } from "./zone-syntax.ts";

/** RFC 1035, 4.2.2: octets in a message over TCP. A set of records that fits none cannot be told, and some load no such zone. */
const MAX_MESSAGE_OCTETS = 65_535;

/** The header, the fixed fields of the question, and some room for what a nameserver adds (RFC 6891, RFC 7873). */
const MESSAGE_FRAME_OCTETS = 12 + 4 + 128;

/** A pointer to its name, type, class, TTL and the length of its data. */
const RECORD_FRAME_OCTETS = 12;

/** In a message, a name has the first label's length and the root's, too. */
const NAME_FRAME_OCTETS = 2;

/** For the service's own NS records, with names of any word. */
const SERVERS_OCTETS = 1_000;

/** @returns the records to leave out, each with the reason */
export function unfitRecords(records: readonly RecordRow[], domain: string): ReadonlyMap<RecordRow, string> {
  const reasons = new Map<RecordRow, string>();
  const octets = new Map([[setKey({ name: "", type: "NS" }), SERVERS_OCTETS]]);
  const seen = new Set<string>();
  const fitting: RecordRow[] = [];
  for (const record of records) {
    const reason = unfit(record, domain, octets, seen);
    if (reason === null) fitting.push(record);
    else reasons.set(record, reason);
  }
  for (const record of serversWithoutAddress(fitting, domain))
    reasons.set(record, "its host has no address in the zone");
  return reasons;
}

/** The key of all records that are one answer; names compare without letter case (RFC 4343). */
export function setKey({ name, type }: Pick<RecordRow, "name" | "type">): string {
  return `${type} ${name.toLowerCase()}`;
}

/**
 * @param octets what the set of each key comes to so far; a record that fits is added
 * @param seen records that are there already, which another one like them does not make longer
 */
function unfit(record: RecordRow, domain: string, octets: Map<string, number>, seen: Set<string>): string | null {
  const owner = absoluteName(record.name, domain);
  if (nameProblem(owner, false) !== null) return "its name is too long";
  const key = setKey(record);
  const { target, tag, priority, weight, port } = record;
  const whole = `${key} ${tag} ${priority} ${weight} ${port} ${target}`;
  if (seen.has(whole)) return null;
  const sum = (octets.get(key) ?? 0) + RECORD_FRAME_OCTETS + dataOctets(record);
  if (MESSAGE_FRAME_OCTETS + owner.length + NAME_FRAME_OCTETS + sum > MAX_MESSAGE_OCTETS) {
    return "all of its name and type would fit no message";
  }
  seen.add(whole);
  octets.set(key, sum);
  return null;
}

/** At most: names may come out shorter, where an end of them is in the message already. */
function dataOctets({ type, target, tag }: RecordRow): number {
  const name = target.length + NAME_FRAME_OCTETS;
  switch (type) {
    case "A":
      return 4;
    case "AAAA":
      return 16;
    case "NS":
    case "CNAME":
    case "PTR":
      return name;
    case "MX":
      return 2 + name;
    case "SRV":
      return 6 + name;
    case "TXT":
      return textOctets(Buffer.byteLength(target));
    case "CAA":
      // RFC 8659, 4.1: flags, the tag's length, the tag, the value.
      return 2 + (tag ?? "").length + Buffer.byteLength(target);
  }
}
