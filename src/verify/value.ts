/** The value of a record in one spelling, whether it was declared or answered, so that plain comparison is enough. Pure. */

import type { RecordData } from "../dns/message.ts";
import type { PlainRecord } from "../dns/plain-record.ts";

/** As a zone file has it, names with their final dot; texts as octets, one character each. */
export function recordValue(record: PlainRecord): string {
  const { type, target, priority = 0, weight = 0, port = 0, tag = "" } = record;
  switch (type) {
    case "A":
    case "AAAA":
      return target;
    case "CNAME":
    case "NS":
    case "PTR":
      return `${target}.`;
    case "MX":
      return `${priority} ${target}.`;
    case "SRV":
      return `${priority} ${weight} ${port} ${target}.`;
    case "TXT":
      return Buffer.from(target).toString("latin1");
    case "CAA":
      // The service knows no flags (OBSERVED behaviour).
      return `0 ${tag.toLowerCase()} ${Buffer.from(target).toString("latin1")}`;
  }
}

/** The same of what a server answered; null for a type that the service does not have. */
export function answeredValue(data: RecordData): string | null {
  switch (data.type) {
    case "A":
    case "AAAA":
      return data.address;
    case "CNAME":
    case "NS":
    case "PTR":
      return `${data.target}.`;
    case "MX":
      return `${data.preference} ${data.exchange}.`;
    case "SRV":
      return `${data.priority} ${data.weight} ${data.port} ${data.target}.`;
    case "TXT":
      return octets(data.strings).toString("latin1");
    case "CAA":
      return `${data.flags} ${data.tag} ${octets([data.value]).toString("latin1")}`;
    case "SOA":
      return `${data.mname}. ${data.rname}. ${data.serial}`;
    case "other":
      return null;
  }
}

/** What was answered as a record of the zone, for those who judge records; null for a type that the service does not have. */
export function answeredRecord(data: RecordData, name: string, ttl_sec: number): PlainRecord | null {
  const base = { name, ttl_sec };
  switch (data.type) {
    case "A":
    case "AAAA":
      return { ...base, type: data.type, target: data.address };
    case "CNAME":
    case "NS":
    case "PTR":
      return { ...base, type: data.type, target: data.target };
    case "MX":
      return { ...base, type: "MX", target: data.exchange, priority: data.preference };
    case "SRV": {
      const { priority, weight, port, target } = data;
      return { ...base, type: "SRV", target, priority, weight, port };
    }
    case "TXT":
      return { ...base, type: "TXT", target: octets(data.strings).toString("utf8") };
    case "CAA":
      return { ...base, type: "CAA", target: octets([data.value]).toString("utf8"), tag: data.tag };
    case "SOA":
    case "other":
      return null;
  }
}

/** As people are to read it: octets as text. */
export function shownValue(value: string, type: string): string {
  return type === "TXT" || type === "CAA" ? Buffer.from(value, "latin1").toString("utf8") : value;
}

/** The strings of a text are joined: where it is cut says nothing (RFC 7208, 3.3; RFC 6376, 3.6.2.2). */
function octets(strings: readonly Uint8Array[]): Buffer {
  return Buffer.concat(strings);
}
