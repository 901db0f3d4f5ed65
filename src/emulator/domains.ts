/** The domains of API.md: list, create, view, update, delete, clone, zone file. */

import { isIP } from "node:net";
import { nameProblem } from "../dns/name.ts";
import { MAX_NAME_LENGTH } from "../dns/unicode.ts";
import { type Answer, type ApiError, badRequest, NOT_FOUND, succeed, succeedEmpty } from "./errors.ts";
import { BodyReader } from "./fields.ts";
import { type FilterFields, listAnswer, listOrder } from "./lists.ts";
import { accountOf, type Call, idParam, type JsonBody, type Route, type Service } from "./route.ts";
import type { DomainRow } from "./store.ts";
import { renderZone } from "./zone-render.ts";

const DOMAIN_FIELDS: FilterFields<DomainRow> = new Map([
  ["domain", { get: (domain) => domain.domain, foldCase: true }],
  ["group", { get: (domain) => domain.group }],
  ["tags", { get: (domain) => domain.tags, foldCase: true }],
  // To order by only.
  ["created", { get: (domain) => domain.created, filterable: false }],
  ["description", { get: (domain) => domain.description, filterable: false }],
  ["id", { get: (domain) => domain.id, filterable: false }],
  ["soa_email", { get: (domain) => domain.soa_email, filterable: false }],
  ["ttl_sec", { get: (domain) => domain.ttl_sec, filterable: false }],
  ["type", { get: (domain) => domain.type, filterable: false }],
  ["status", { get: (domain) => domain.status, filterable: false }],
  ["updated", { get: (domain) => domain.updated, filterable: false }],
]);

const READ = ["domains:read_only"];
const WRITE = ["domains:read_write"];
const ONE = "/domains/:domainId";

/** The service promises no order: nobody can come to rely on that of the ids. */
const byName = listOrder((a: DomainRow, b: DomainRow) => (a.domain < b.domain ? -1 : 1));

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

const MAX_DESCRIPTION_LENGTH = 253;
const MAX_GROUP_LENGTH = 50;

const MAX_EMAIL_LENGTH = 254;

const SECONDS_FIELDS = ["refresh_sec", "retry_sec", "expire_sec", "ttl_sec"] as const;

const MAX_TAG_LENGTH = 50;

const MIN_TAG_LENGTH = 3;

/** The most characters of master_ips and axfr_ips together. */
const MAX_ADDRESSES_LENGTH = 1_000;

export const DOMAIN_ROUTES: readonly Route[] = [
  { operation: "Domains List", method: "GET", path: "/domains", scopes: READ, handle: listDomains },
  { operation: "Domain Create", method: "POST", path: "/domains", scopes: WRITE, handle: createDomain },
  { operation: "Domain View", method: "GET", path: ONE, scopes: READ, handle: viewDomain },
  { operation: "Domain Update", method: "PUT", path: ONE, scopes: WRITE, handle: updateDomain },
  { operation: "Domain Delete", method: "DELETE", path: ONE, scopes: WRITE, handle: deleteDomain },
  { operation: "Domain Clone", method: "POST", path: `${ONE}/clone`, scopes: WRITE, handle: cloneDomain },
  { operation: "Domain Zone File View", method: "GET", path: `${ONE}/zone-file`, scopes: READ, handle: viewZoneFile },
];

export function findDomain(service: Service, call: Call): DomainRow | undefined {
  const id = idParam(call, "domainId");
  const domain = id === null ? undefined : service.store.tables.domains.get(id);
  return domain?.account === accountOf(call) ? domain : undefined;
}

/** A name is taken on the whole platform, not only in one account (API.md, Domain). */
export function domainContext(service: Service): DomainContext {
  return {
    roundSeconds: service.settings.roundSeconds,
    isTaken: (domain) => service.store.tables.domains.group("name", domain.toLowerCase()).size > 0,
  };
}

/** The running service sends `errors` as well. */
export function domainView({ account: _, ...domain }: DomainRow): object {
  // A spread of what was just taken apart is several times slower, which a page of 500 shows.
  return Object.assign(domain, { errors: "" });
}

function listDomains(service: Service, call: Call): Answer {
  const rows = byName(service.store.tables.domains.list("account", accountOf(call)));
  return listAnswer(call, { rows, fields: DOMAIN_FIELDS, toWire: domainView });
}

function viewDomain(service: Service, call: Call): Answer {
  const domain = findDomain(service, call);
  return domain === undefined ? NOT_FOUND : succeed(domainView(domain));
}

function createDomain(service: Service, call: Call): Answer {
  const { values, errors } = readDomain(call.body, null, domainContext(service));
  if (errors.length > 0) return badRequest(...errors);
  const created = service.clock.timestamp();
  const id = service.store.nextId("domain");
  const domain: DomainRow = { id, account: accountOf(call), ...values, created, updated: created };
  service.store.tables.domains.put(domain);
  service.zones.created(domain);
  return succeed(domainView(domain));
}

function updateDomain(service: Service, call: Call): Answer {
  const domain = findDomain(service, call);
  if (domain === undefined) return NOT_FOUND;
  const { values, errors } = readDomain(call.body, domain, domainContext(service));
  if (errors.length > 0) return badRequest(...errors);
  const { id, account, created } = domain;
  const updated: DomainRow = { id, account, ...values, created, updated: service.clock.timestamp() };
  service.zones.changing(domain);
  service.store.tables.domains.put(updated);
  return succeed(domainView(updated));
}

function deleteDomain(service: Service, call: Call): Answer {
  const domain = findDomain(service, call);
  if (domain === undefined) return NOT_FOUND;
  const { domains, records } = service.store.tables;
  for (const id of [...records.group("zone", domain.id).keys()]) records.delete(id);
  domains.delete(domain.id);
  service.zones.deleted(domain);
  return succeedEmpty();
}

function cloneDomain(service: Service, call: Call): Answer {
  const source = findDomain(service, call);
  if (source === undefined) return NOT_FOUND;
  const reader = new BodyReader(call.body);
  const name = readDomainName(reader, null, domainContext(service));
  if (name === undefined) return badRequest(...reader.errors);
  const { store, clock } = service;
  const created = clock.timestamp();
  const domain: DomainRow = { ...source, id: store.nextId("domain"), domain: name, created, updated: created };
  store.tables.domains.put(domain);
  for (const record of [...store.tables.records.group("zone", source.id).values()]) {
    store.tables.records.put({
      ...record,
      id: store.nextId("record"),
      domain_id: domain.id,
      created,
      updated: created,
    });
  }
  service.zones.created(domain);
  return succeed(domainView(domain));
}

function viewZoneFile(service: Service, call: Call): Answer {
  const domain = findDomain(service, call);
  if (domain === undefined) return NOT_FOUND;
  const content = service.zones.shown(domain);
  return succeed({ zone_file: content === null ? [] : renderZone(content, service.settings.word) });
}

// What a domain must be, and how the service reads what is sent (API.md, Domain).

type DomainValues = Omit<DomainRow, "id" | "account" | "created" | "updated">;

interface DomainContext {
  readonly roundSeconds: (seconds: number) => number;
  /** Whether another domain of the platform has this name. */
  isTaken(domain: string): boolean;
}

interface DomainReading {
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

/** Rules about fields together, as far as each of them is valid. */
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
