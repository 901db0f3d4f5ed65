/** What a domain must be, and how the service reads what is sent (API.md, Domain). */

import { isIP } from "node:net";
import { MAX_NAME_LENGTH, nameProblem } from "../dns/name.ts";
import type { ApiError } from "./errors.ts";
import { BodyReader } from "./fields.ts";
import type { JsonBody } from "./route.ts";
import type { DomainRow } from "./rows.ts";

const MAX_DESCRIPTION_LENGTH = 253;
const MAX_GROUP_LENGTH = 50;
const MIN_TAG_LENGTH = 3;
const MAX_TAG_LENGTH = 50;
const MAX_EMAIL_LENGTH = 254;

/** Of master_ips and axfr_ips together. */
const MAX_ADDRESSES_LENGTH = 1_000;

const SECONDS_FIELDS = ["refresh_sec", "retry_sec", "expire_sec", "ttl_sec"] as const;

export type DomainValues = Omit<DomainRow, "id" | "account" | "created" | "updated">;

const EMPTY_DOMAIN: DomainValues = {
  domain: "",
  type: "master",
  status: "active",
  description: "",
  group: "",
  soa_email: "",
  master_ips: [],
  axfr_ips: [],
  refresh_sec: 0,
  retry_sec: 0,
  expire_sec: 0,
  ttl_sec: 0,
  tags: [],
};

export interface DomainContext {
  readonly roundSeconds: (seconds: number) => number;
  /** Whether another domain of the platform has this name. */
  isTaken(domain: string): boolean;
}

export interface DomainReading {
  readonly values: DomainValues;
  readonly errors: readonly ApiError[];
}

/** @param before the domain that is being changed; null for a new one */
export function readDomain(body: JsonBody, before: DomainRow | null, context: DomainContext): DomainReading {
  const reader = new BodyReader(body);
  const base: DomainValues = before ?? EMPTY_DOMAIN;
  if (before === null || reader.has("type")) reader.require("type");
  const values: DomainValues = {
    domain: readDomainName(reader, before?.domain ?? null, context) ?? base.domain,
    type: reader.oneOf("type", ["master", "slave"]) ?? base.type,
    status: cleared(reader.oneOf("status", ["active", "disabled"]), base.status, "active"),
    description: cleared(reader.text("description", { max: MAX_DESCRIPTION_LENGTH }), base.description, ""),
    group: cleared(reader.text("group", { max: MAX_GROUP_LENGTH }), base.group, ""),
    soa_email: readEmail(reader, base.soa_email),
    master_ips: readAddresses(reader, "master_ips", base.master_ips),
    axfr_ips: readAddresses(reader, "axfr_ips", base.axfr_ips),
    ...readSeconds(reader, base, context),
    tags: readTags(reader, base.tags),
  };
  checkWhole(reader, values);
  return { values, errors: reader.errors };
}

/** undefined: not sent, keep; null: sent as null, reset. */
function cleared<Value>(sent: Value | null | undefined, kept: Value, reset: Value): Value {
  if (sent === undefined) return kept;
  return sent === null ? reset : sent;
}

/** @returns undefined if the name is absent or wrong */
export function readDomainName(reader: BodyReader, before: string | null, context: DomainContext): string | undefined {
  if ((before === null || reader.has("domain")) && !reader.require("domain")) return undefined;
  const domain = reader.text("domain", { min: 1, max: MAX_NAME_LENGTH });
  if (typeof domain !== "string") return undefined;
  if (nameProblem(domain, true) !== null) {
    reader.fail("domain", "Domain is not valid");
    return undefined;
  }
  const renamed = domain.toLowerCase() !== before?.toLowerCase();
  if (renamed && context.isTaken(domain)) {
    reader.fail("domain", "DNS zone already exists.");
    return undefined;
  }
  return domain;
}

function readEmail(reader: BodyReader, kept: string): string {
  const email = cleared(reader.text("soa_email", { max: MAX_EMAIL_LENGTH }), kept, "");
  if (email !== "" && !/^[^\s@]+@[^\s@]+$/.test(email)) reader.fail("soa_email", "soa_email must be an email address");
  return email;
}

function readAddresses(
  reader: BodyReader,
  field: "master_ips" | "axfr_ips",
  kept: readonly string[],
): readonly string[] {
  const addresses = cleared(reader.texts(field), kept, []);
  for (const [index, address] of addresses.entries()) {
    if (isIP(address) === 0) reader.fail(`${field}[${index}]`, "Must be an IP address");
  }
  return addresses;
}

function readSeconds(
  reader: BodyReader,
  base: DomainValues,
  context: DomainContext,
): Pick<DomainValues, (typeof SECONDS_FIELDS)[number]> {
  const read = (field: (typeof SECONDS_FIELDS)[number]): number => {
    const sent = reader.seconds(field);
    return sent === undefined ? base[field] : context.roundSeconds(sent ?? 0);
  };
  const [refresh_sec, retry_sec, expire_sec, ttl_sec] = SECONDS_FIELDS.map(read) as [number, number, number, number];
  return { refresh_sec, retry_sec, expire_sec, ttl_sec };
}

function readTags(reader: BodyReader, kept: readonly string[]): readonly string[] {
  const sent = reader.texts("tags");
  for (const [index, tag] of (sent ?? []).entries()) {
    // Twice the limit in UTF-16 is over it in any characters.
    const length = tag.length > 2 * MAX_TAG_LENGTH ? tag.length : [...tag].length;
    if (length >= MIN_TAG_LENGTH && length <= MAX_TAG_LENGTH) continue;
    reader.fail(`tags[${index}]`, `Length must be ${MIN_TAG_LENGTH}-${MAX_TAG_LENGTH} characters`);
    if (reader.isFull) break;
  }
  return sortedTags(cleared(sent, kept, []));
}

/** Tags compare without letter case and have no order: the first spelling stays. */
function sortedTags(tags: readonly string[]): readonly string[] {
  const byFolded = new Map<string, string>();
  for (const tag of tags) if (!byFolded.has(tag.toLowerCase())) byFolded.set(tag.toLowerCase(), tag);
  return [...byFolded].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, tag]) => tag);
}

/** What fields must be together, as far as each of them is one. */
function checkWhole(reader: BodyReader, values: DomainValues): void {
  const right = (...fields: readonly string[]): boolean => !fields.some((field) => reader.isWrong(field));
  if (right("type", "soa_email") && values.type === "master" && values.soa_email === "") {
    reader.fail("soa_email", "soa_email required when type=master");
  }
  if (right("type", "master_ips") && values.type === "slave" && values.master_ips.length === 0) {
    reader.fail("master_ips", "You need at least one master DNS server IP address for this zone.");
  }
  if (!right("master_ips", "axfr_ips")) return;
  if ([...values.master_ips, ...values.axfr_ips].join("").length > MAX_ADDRESSES_LENGTH) {
    const field = values.axfr_ips.length > 0 ? "axfr_ips" : "master_ips";
    reader.fail(field, `Combined length must be at most ${MAX_ADDRESSES_LENGTH} characters`);
  }
}
