/** What of a zone becomes a record that the service keeps, and what is set aside and why. Pure. */

import { nameProblem, relativeName } from "../name.ts";
import { MAX_RECORD_NAME_LENGTH, type OwnerProblem, ownerName, serviceOwner } from "../owner.ts";
import type { PlainRecord, SetAsideReason } from "../plain-record.ts";
import { type Labels, nameText } from "./name.ts";
import { type Octets, utf8Text } from "./octets.ts";
import type { PlainRdata } from "./rdata.ts";

export type Held =
  | { readonly ok: true; readonly record: PlainRecord }
  | { readonly ok: false; readonly reason: SetAsideReason; readonly detail: string };

/** API.md, Domain record: priority and tag. */
const MAX_PRIORITY = 255;
const CAA_TAGS = ["issue", "issuewild", "iodef"];

/** Of ASCII, with DEL. */
const CONTROL_CHARACTER = /[^\P{Cc}\u0080-\u009f]/u;

/** @param zone lower-case ASCII without a final dot */
export function holdRecord(owner: Labels, ttl_sec: number, rdata: PlainRdata, zone: string): Held {
  const held = ownerName(`${nameText(owner)}.`, zone);
  if (!held.ok) return notHoldable(ownerDetail(held.problem, nameText(owner), zone));
  const place = placeProblem(held.name, rdata, zone);
  if (place !== null) return place;
  const value = fieldsOf(rdata);
  if (typeof value === "string") return notHoldable(value);
  return { ok: true, record: { type: rdata.type, name: held.name, ttl_sec, ...value } };
}

/** Relative to the zone, `""` the apex; absolute with a final dot if it lies outside. */
export function shownOwner(owner: Labels, zone: string): string {
  const text = nameText(owner);
  return relativeName(text, zone) ?? `${text}.`;
}

function notHoldable(detail: string): Held {
  return { ok: false, reason: "not-holdable", detail };
}

function ownerDetail(problem: OwnerProblem, name: string, zone: string): string {
  switch (problem) {
    case "outside":
      return `\`${name}.\` lies outside of the zone ${zone}.`;
    case "repeats-zone":
      return `\`${name}.\` ends in the zone's name twice, and the service would strip one of them.`;
    case "over-length":
      return `Relative to the zone the name has more than the ${MAX_RECORD_NAME_LENGTH} characters that the service keeps.`;
    default:
      return `The service cannot keep the name \`${name}.\`: letters, digits, \`-\`, \`_\`, \`+\` and \`/\`, and a star as the first label, are all that it takes.`;
  }
}

function placeProblem(name: string, rdata: PlainRdata, zone: string): Held | null {
  if (rdata.type === "NS" && name === "") {
    const detail = `It names a nameserver of ${zone}, which belongs to the service that served the zone until now.`;
    return { ok: false, reason: "apex-ns", detail };
  }
  if (rdata.type === "NS" && name.split(".")[0] === "*")
    return notHoldable("The service takes no wildcard NS records.");
  if (rdata.type === "CNAME" && name === "")
    return notHoldable("A CNAME cannot stand at the apex, beside SOA and NS records (RFC 1034, 3.6.2).");
  if (rdata.type === "SRV" && !serviceOwner(name, null, null).ok)
    return notHoldable("The service keeps an SRV record only under a name that begins with `_service._protocol`.");
  return null;
}

type Value = Pick<PlainRecord, "target" | "priority" | "weight" | "port" | "tag">;

/** Or why it cannot be kept. */
function fieldsOf(rdata: PlainRdata): Value | string {
  switch (rdata.type) {
    case "A":
    case "AAAA":
      return { target: rdata.address };
    case "CNAME":
    case "NS":
    case "PTR":
      return target(rdata.target, {}, false);
    case "MX":
      return priorityProblem(rdata.priority) ?? target(rdata.target, { priority: rdata.priority }, true);
    case "SRV": {
      const { priority, weight, port } = rdata;
      return priorityProblem(priority) ?? target(rdata.target, { priority, weight, port }, true);
    }
    case "TXT":
      return textOf(rdata.text, "text");
    case "CAA":
      return caaProblem(rdata.flags, rdata.tag) ?? caaValue(rdata.value, rdata.tag);
  }
}

function target(name: Labels, others: Omit<Value, "target">, allowRoot: boolean): Value | string {
  const text = nameText(name);
  if (text === "")
    return allowRoot ? { target: text, ...others } : "It points at the root, which is no target to the service.";
  if (nameProblem(text, false) === null && !text.startsWith("*")) return { target: text, ...others };
  return `The service cannot keep the target \`${text}.\`: letters, digits, \`-\`, \`_\`, \`+\` and \`/\` are all that it takes.`;
}

function priorityProblem(priority: number): string | null {
  return priority > MAX_PRIORITY ? `The priority is ${priority}, and the service keeps at most ${MAX_PRIORITY}.` : null;
}

function textOf(octets: Octets, what: string): Value | string {
  const text = utf8Text(octets);
  if (text === null) return `The octets of the ${what} are not UTF-8, and the service keeps text alone.`;
  if (CONTROL_CHARACTER.test(text)) return `The ${what} holds a control character, which the service does not keep.`;
  return { target: text };
}

function caaProblem(flags: number, tag: string): string | null {
  if (flags !== 0)
    return `The flags are ${flags}, and the service keeps no flags: the record would mean something else.`;
  return CAA_TAGS.includes(tag) ? null : `The tag is \`${tag}\`, and the service keeps ${CAA_TAGS.join(", ")} alone.`;
}

function caaValue(octets: Octets, tag: string): Value | string {
  if (octets === "") return "The value is empty, and the service keeps none without a value.";
  if (octets.endsWith(".")) return "The value ends with a dot, which the service does not take.";
  if (/^\d+ (issue|issuewild|iodef) /.test(octets)) return "The value holds flags and tag once more.";
  const value = textOf(octets, "value");
  return typeof value === "string" ? value : { ...value, tag };
}
