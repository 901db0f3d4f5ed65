/** What a record must be, and how the service normalises what is sent (API.md, Domain record). */

import { isIPv4, isIPv6 } from "node:net";
import { absoluteName, nameProblem } from "../dns/name.ts";
import { MAX_NAME_LENGTH } from "../dns/unicode.ts";
import type { ApiError } from "./errors.ts";
import { BodyReader } from "./fields.ts";
import type { JsonBody } from "./route.ts";
import { RECORD_RULES, RECORD_TYPES, type RecordRow, type RecordType } from "./store.ts";
import { withoutLeadingZeros } from "./zone-render.ts";

export const MAX_RECORDS_PER_DOMAIN = 12_000;

const MAX_RECORD_NAME_LENGTH = 100;
const MAX_TARGET_LENGTH = 65_535;
const MAX_PRIORITY = 255;
const MAX_PORT = 65_535;
const MAX_SERVICE_LENGTH = 62;

const CAA_TAGS = ["issue", "issuewild", "iodef"] as const;

/** The target that stands for the address of whoever sends the request. */
const REMOTE_ADDRESS = "[remote_addr]";

export type RecordValues = Omit<RecordRow, "id" | "domain_id" | "created" | "updated">;

export interface RecordContext {
  /** The domain's name, as it is spelt. */
  readonly domain: string;
  readonly remoteAddress: string;
  readonly roundSeconds: (seconds: number) => number;
  /** The other records of a name of this zone. */
  othersNamed(name: string): Iterable<RecordRow>;
}

export interface RecordReading {
  /** null: there are errors. */
  readonly values: RecordValues | null;
  readonly errors: readonly ApiError[];
}

/** @param before the record that is being changed; null for a new one */
export function readRecord(body: JsonBody, before: RecordRow | null, context: RecordContext): RecordReading {
  const reader = new BodyReader(body);
  const type = readType(reader, before);
  if (type === undefined) return { values: null, errors: reader.errors };
  if (before === null) for (const field of RECORD_RULES[type].required) reader.require(field);
  const service = readText(reader, "service", before?.service ?? null);
  const protocol = readText(reader, "protocol", before?.protocol ?? null);
  const numbers = readNumbers(reader, before, context);
  const tag = reader.oneOf("tag", CAA_TAGS);
  const name =
    type === "SRV"
      ? serviceName(reader, service, protocol, context)
      : readName(reader, type, before?.name ?? null, context);
  const target = readTarget(reader, type, before, context);
  const values: RecordValues = {
    type,
    name,
    target,
    ...numbers,
    service,
    protocol,
    tag: tag === undefined ? (before?.tag ?? null) : tag,
  };
  checkStillThere(reader, type, values);
  if (reader.errors.length === 0) checkNeighbours(reader, values, context);
  return { values: reader.errors.length === 0 ? values : null, errors: reader.errors };
}

/** The type is fixed at creation; sent again on an update it must be the same. */
function readType(reader: BodyReader, before: RecordRow | null): RecordType | undefined {
  if (before === null) return reader.require("type") ? (reader.oneOf("type", RECORD_TYPES) ?? undefined) : undefined;
  if (reader.has("type") && reader.raw("type") !== before.type) reader.fail("type", "type cannot be changed");
  return before.type;
}

function readText(reader: BodyReader, field: "service" | "protocol", kept: string | null): string | null {
  const text = reader.text(field, { max: MAX_NAME_LENGTH });
  return text === undefined ? kept : text;
}

function readNumbers(
  reader: BodyReader,
  before: RecordRow | null,
  context: RecordContext,
): Pick<RecordValues, "ttl_sec" | "priority" | "weight" | "port"> {
  const within = (field: "priority" | "weight" | "port", max: number): number => {
    const value = reader.integer(field, 0, max);
    return value === undefined ? (before?.[field] ?? 0) : (value ?? 0);
  };
  const seconds = reader.seconds("ttl_sec");
  return {
    ttl_sec: seconds === undefined ? (before?.ttl_sec ?? 0) : context.roundSeconds(seconds ?? 0),
    priority: within("priority", MAX_PRIORITY),
    weight: within("weight", MAX_PORT),
    port: within("port", MAX_PORT),
  };
}

/** A field that a type needs cannot be taken away by an update that sends null. */
function checkStillThere(reader: BodyReader, type: RecordType, values: RecordValues): void {
  if (reader.errors.length > 0) return;
  for (const field of RECORD_RULES[type].required) {
    if (field === "tag" && values.tag === null) reader.fail("tag", "tag is required");
    else if (field !== "tag" && field !== "service" && reader.raw(field) === null) reader.require(field);
  }
}

/**
 * Service and protocol are sent bare; a subdomain may follow the protocol's name. Without a protocol the service alone is the
 * name. The name that is sent does not count.
 */
function serviceName(
  reader: BodyReader,
  service: string | null,
  protocol: string | null,
  context: RecordContext,
): string {
  if (service === null) {
    if (reader.errors.length === 0) reader.fail("service", "service is required");
    return "";
  }
  if (service.length > MAX_SERVICE_LENGTH || !/^[a-z0-9]([a-z0-9_+-]*[a-z0-9])?$/i.test(service)) {
    reader.fail("service", "Service must be a bare name, without an underscore before it");
  }
  if (protocol !== null && (!/^[a-z0-9]/i.test(protocol) || nameProblem(protocol, false) !== null)) {
    reader.fail("protocol", "Protocol must be a bare name, without an underscore before it");
  }
  const name = protocol === null ? `_${service}` : `_${service}._${protocol}`;
  if (reader.isWrong("service") || reader.isWrong("protocol")) return name;
  for (const reason of nameReasons(name, "SRV", context))
    reader.fail(protocol === null ? "service" : "protocol", reason);
  return name;
}

function readName(reader: BodyReader, type: RecordType, kept: string | null, context: RecordContext): string {
  const sent = reader.text("name", { max: MAX_NAME_LENGTH });
  if (sent === undefined) return kept ?? "";
  const name = withoutDomain(sent ?? "", context.domain);
  for (const reason of nameReasons(name, type, context)) reader.fail("name", reason);
  return name;
}

/** The service's words for a wrong name. */
function nameReasons(name: string, type: RecordType, context: RecordContext): readonly string[] {
  if (name.length > MAX_RECORD_NAME_LENGTH) return [`Length must be 1-${MAX_RECORD_NAME_LENGTH} characters`];
  const problem = nameProblem(name, false);
  if (problem === "bad-character") return ["Name contains invalid characters", "Invalid hostname"];
  const wildcardServers = type === "NS" && name.startsWith("*");
  const tooLong = absoluteName(name, context.domain).length > MAX_NAME_LENGTH;
  return problem !== null || wildcardServers || tooLong ? ["Invalid hostname"] : [];
}

/** `www.example.com` in `example.com` is `www`, and the domain itself is the apex. */
function withoutDomain(name: string, domain: string): string {
  const folded = name.toLowerCase();
  const zone = domain.toLowerCase();
  if (folded === zone) return "";
  return folded.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name;
}

function readTarget(reader: BodyReader, type: RecordType, before: RecordRow | null, context: RecordContext): string {
  if ((before === null || reader.has("target")) && !reader.require("target")) return "";
  const sent = reader.text("target", { max: MAX_TARGET_LENGTH });
  if (typeof sent !== "string") return before?.target ?? "";
  // An empty target is a null MX, as two clients send it; what a null SRV reads as may be sent back.
  if (sent === "" && type !== "TXT") {
    if (type === "MX" || before?.target === "") return "";
    reader.fail("target", "target is required");
    return "";
  }
  switch (RECORD_RULES[type].target) {
    case "ipv4":
      return readAddress(reader, sent, isDottedQuad, "Must be an IPv4 address", context.remoteAddress);
    case "ipv6":
      return readAddress(reader, sent, isIPv6, "Must be an IPv6 address", asIPv6(context.remoteAddress));
    case "text":
      return sent;
    case "value":
      if (sent.endsWith(".")) reader.fail("target", "Must not end with a period");
      return sent;
    case "name":
      if (sent === "." && RECORD_RULES[type].takesRoot) return "";
      return readHost(reader, type === "SRV" && !sent.includes(".") ? `${sent}.${context.domain}` : sent);
  }
}

function readAddress(
  reader: BodyReader,
  sent: string,
  isAddress: (text: string) => boolean,
  reason: string,
  remoteAddress: string,
): string {
  if (sent === REMOTE_ADDRESS) return remoteAddress;
  if (!isAddress(sent) || sent.includes("%")) reader.fail("target", reason);
  return sent;
}

/** The service was seen to take leading zeros, and to echo them. */
function isDottedQuad(text: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(text) && isIPv4(withoutLeadingZeros(text));
}

function asIPv6(address: string): string {
  return isIPv6(address) ? address : `::ffff:${address}`;
}

/** The trailing dot is accepted and not kept. */
function readHost(reader: BodyReader, sent: string): string {
  const host = sent.endsWith(".") ? sent.slice(0, -1) : sent;
  if (host === "" || host.includes("*") || nameProblem(host, false) !== null) reader.fail("target", "Invalid hostname");
  return host;
}

function checkNeighbours(reader: BodyReader, values: RecordValues, context: RecordContext): void {
  // The apex holds the service's own SOA and NS records, which are other data (RFC 1034, 3.6.2).
  let clash = values.type === "CNAME" && values.name === "";
  let nullMxClash = false;
  for (const other of context.othersNamed(values.name)) {
    if (values.type === "CNAME" || other.type === "CNAME") clash = true;
    if (values.type === "MX" && other.type === "MX" && (values.target === "" || other.target === ""))
      nullMxClash = true;
    if (clash) break;
  }
  if (clash) reader.fail("name", "Record conflict - CNAMES must be unique");
  if (nullMxClash) reader.fail("target", "A null MX must be the only MX record of its name");
}
