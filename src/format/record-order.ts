/** The order in which people write the records of a zone: the apex first, then by name, type and content. */

import { toAscii } from "../dns/name.ts";
import { compareText } from "../model/group.ts";

/** Types in the order of a zone file; what is not here comes last. */
const TYPE_ORDER: readonly string[] = ["NS", "A", "AAAA", "CNAME", "MX", "TXT", "CAA", "SRV", "PTR"];

/** Wide enough for every number of a record. */
const NUMBER_WIDTH_DIGITS = 10;

/** What a record entry says, as text; an absent key is undefined. */
export type RecordText = (key: string) => string | undefined;

export interface RecordPlace {
  /** Labels from the right, so that a name stands before what lies beneath it (RFC 4034, 6.1). */
  readonly name: string;
  readonly type: number;
  readonly content: string;
}

/**
 * @param text of one entry; of several targets the first counts
 * @param zone the domain's name as written; null in a record set
 */
export function recordPlace(text: RecordText, zone: string | null): RecordPlace {
  const type = TYPE_ORDER.indexOf(text("type") ?? "");
  const numbers = ["priority", "weight", "port"].map((key) => (text(key) ?? "0").padStart(NUMBER_WIDTH_DIGITS, "0"));
  return {
    name: relativeText(fullName(text), zone).split(".").reverse().join("\u0000"),
    type: type === -1 ? TYPE_ORDER.length : type,
    content: [...numbers, text("tag") ?? "", sortableTarget(text("target") ?? "")].join("\u0000"),
  };
}

export function comparePlaces(a: RecordPlace, b: RecordPlace): number {
  return compareText(a.name, b.name) || a.type - b.type || compareText(a.content, b.content);
}

function fullName(text: RecordText): string {
  const name = text("name") ?? "";
  const [service, protocol] = [text("service"), text("protocol")];
  if (service === undefined || protocol === undefined || name.startsWith("_")) return name;
  const prefix = `_${service.replace(/^_/, "")}._${protocol.replace(/^_/, "")}`;
  return name === "" || name === "@" ? prefix : `${prefix}.${name}`;
}

function relativeText(name: string, zone: string | null): string {
  const text = toAscii(name) ?? name;
  if (text === "" || text === "@") return "";
  const origin = zone === null ? "${zone}" : (toAscii(zone) ?? zone).replace(/\.$/, "");
  if (text === `${origin}.`) return "";
  return text.endsWith(`.${origin}.`) ? text.slice(0, -origin.length - 2) : text;
}

/** IPv4 addresses by number: .9 before .10. */
function sortableTarget(target: string): string {
  if (!/^\d+\.\d+\.\d+\.\d+$/.test(target)) return target;
  return target.replace(/\d+/g, (octet) => octet.padStart(3, "0"));
}
