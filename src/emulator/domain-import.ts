/** The import of a domain from a nameserver that allows its transfer. */

import type { RecordData, SoaData } from "../dns/message.ts";
import { absoluteName } from "../dns/name.ts";
import { type NameserverAddress, parseNameserver } from "../dns/nameserver.ts";
import { TRANSFER_LIMITS, type TransferLimits, type TransferredRecord, transferZone } from "../dns/transfer.ts";
import { domainContext, domainView, readDomain, readDomainName } from "./domains.ts";
import { type Answer, badRequest, succeed } from "./errors.ts";
import { BodyReader } from "./fields.ts";
import { MAX_RECORDS_PER_DOMAIN, type RecordContext, type RecordValues, readRecord } from "./record-rules.ts";
import { accountOf, type Call, type JsonBody, type Route, type Service } from "./route.ts";
import { type DomainRow, RECORD_RULES, type RecordRow } from "./store.ts";

/** A client waits for the whole of it. */
const IMPORT_MILLISECONDS = 20_000;

const IMPORT_LIMITS: TransferLimits = { ...TRANSFER_LIMITS, totalMilliseconds: IMPORT_MILLISECONDS };

/** A name without its final dot, or an address in brackets, and a port. */
const MAX_NAMESERVER_LENGTH = 260;

export const DOMAIN_IMPORT_ROUTES: readonly Route[] = [
  {
    operation: "Domain Import",
    method: "POST",
    path: "/domains/import",
    scopes: ["domains:read_write"],
    handle: (service, call) => importDomain(service, call, IMPORT_LIMITS),
  },
];

/** All checks come before the first change, with no wait between them and the changes: a failed import leaves nothing behind. */
export async function importDomain(service: Service, call: Call, limits: TransferLimits): Promise<Answer> {
  const reader = new BodyReader(call.body);
  const domain = readDomainName(reader, null, domainContext(service));
  const server = readNameserver(reader);
  if (domain === undefined || server === undefined) return badRequest(...reader.errors);
  const transfer = await transferZone({ zone: domain, server, limits, signal: service.closing });
  if (!transfer.ok) return failed(transfer.problem.detail);
  return keep(service, call, importedDomain(domain, transfer.soa), transfer.records);
}

function readNameserver(reader: BodyReader): NameserverAddress | undefined {
  if (!reader.require("remote_nameserver")) return undefined;
  const text = reader.text("remote_nameserver", { min: 1, max: MAX_NAMESERVER_LENGTH });
  if (typeof text !== "string") return undefined;
  const server = parseNameserver(text);
  if (server === null) reader.fail("remote_nameserver", "Must be a hostname or an IP address, with or without a port");
  return server ?? undefined;
}

function failed(detail: string): Answer {
  return badRequest({ reason: `The zone could not be transferred from the nameserver: ${detail}` });
}

/** The name is looked at once more: it may have been taken while the transfer went on. */
function keep(service: Service, call: Call, body: JsonBody, transferred: readonly TransferredRecord[]): Answer {
  const { values, errors } = readDomain(body, null, domainContext(service));
  if (errors.length > 0) return badRequest(...errors);
  const { roundSeconds } = service.settings;
  const zone = importRecords(transferred, { domain: values.domain, roundSeconds });
  if (!zone.ok) return failed(zone.detail);
  const created = service.clock.timestamp();
  const id = service.store.nextId("domain");
  const domain: DomainRow = { id, account: accountOf(call), ...values, created, updated: created };
  service.store.tables.domains.put(domain);
  putRecords(service, domain, zone.records);
  service.zones.created(domain);
  return succeed(domainView(domain));
}

function putRecords(service: Service, { id, created }: DomainRow, records: readonly RecordValues[]): void {
  for (const values of records) {
    service.store.tables.records.put({
      id: service.store.nextId("record"),
      domain_id: id,
      ...values,
      created,
      updated: created,
    });
  }
}

// A zone as it was transferred → the domain and records that the API can hold of it. Pure.

/** A record that the API has no place for, and why. */
interface LeftOut {
  readonly name: string;
  readonly type: string;
  readonly reason: string;
}

type ZoneImport =
  | { readonly ok: true; readonly records: readonly RecordValues[]; readonly leftOut: readonly LeftOut[] }
  /** One clause without a full stop. */
  | { readonly ok: false; readonly detail: string };

interface ImportContext {
  /** The domain's name, as it is spelt. */
  readonly domain: string;
  readonly roundSeconds: (seconds: number) => number;
}

/**
 * What a client would send to create the domain. `ttl_sec` is the SOA's last field, where the service renders it.
 * A mailbox that is no email address becomes hostmaster (RFC 2142).
 */
function importedDomain(domain: string, soa: SoaData): JsonBody {
  return {
    domain,
    type: "master",
    soa_email: mailboxOf(soa.rname) ?? `hostmaster@${domain}`,
    refresh_sec: stated(soa.refresh),
    retry_sec: stated(soa.retry),
    expire_sec: stated(soa.expire),
    ttl_sec: stated(soa.minimum),
  };
}

/** In the API, a TTL of 0 means the service's default; in a transferred zone, "do not cache". The least TTL comes nearest to that. */
function stated(seconds: number): number {
  return Math.max(seconds, 1);
}

/** The first label is the local part (RFC 1035, 8): `john\.doe.example.com` → `john.doe@example.com`. */
export function mailboxOf(rname: string): string | null {
  // Each octet matches in one way only: the pattern must not take exponential time for a name that does not fit.
  const parts = /^(?<local>(?:[^.\\]|\\\d{3}|\\\D)+)\.(?<host>.+)$/.exec(rname)?.groups;
  if (parts === undefined) return null;
  const local = (parts["local"] ?? "").replace(/\\(\d{3})|\\(\D)/g, (_, code: string | undefined, character: string) =>
    code === undefined ? character : String.fromCharCode(Number(code)),
  );
  const host = (parts["host"] ?? "").toLowerCase();
  return /^[\x21-\x3f\x41-\x7e]+$/.test(local) && /^[a-z0-9_.-]+$/.test(host) ? `${local}@${host}` : null;
}

/** All records pass the rules of the API; what they refuse is left out, and so is what the service adds itself: SOA and NS of the apex. */
export function importRecords(transferred: readonly TransferredRecord[], context: ImportContext): ZoneImport {
  const zone = new Neighbours(context);
  const leftOut: LeftOut[] = [];
  for (const record of transferred) {
    const reason = zone.add(record);
    if (reason !== null) leftOut.push({ name: record.name, type: typeOf(record.data), reason });
    if (zone.records.length > MAX_RECORDS_PER_DOMAIN)
      return { ok: false, detail: `it has more than ${MAX_RECORDS_PER_DOMAIN} records` };
  }
  return { ok: true, records: zone.records, leftOut };
}

/** The records taken so far, and who shares a name with whom. */
class Neighbours {
  readonly records: RecordValues[] = [];
  readonly #byName = new Map<string, RecordRow[]>();
  readonly #context: RecordContext;

  constructor({ domain, roundSeconds }: ImportContext) {
    this.#context = {
      domain,
      roundSeconds,
      // A transferred target never stands for the caller's own address.
      remoteAddress: "",
      othersNamed: (name) => this.#byName.get(name.toLowerCase()) ?? [],
    };
  }

  /** @returns why the record is left out, or null */
  add(record: TransferredRecord): string | null {
    const body = bodyOf(record, this.#context.domain);
    if (typeof body === "string") return body;
    const { values, errors } = readRecord({ ...body, ttl_sec: stated(record.ttl) }, null, this.#context);
    if (values === null) return errors.map(({ reason }) => reason).join("; ");
    this.records.push(values);
    const key = values.name.toLowerCase();
    const sameName = this.#byName.get(key) ?? [];
    sameName.push({ ...values, id: 0, domain_id: 0, created: "", updated: "" });
    this.#byName.set(key, sameName);
    return null;
  }
}

function typeOf(data: RecordData): string {
  return data.type === "other" ? data.mnemonic : data.type;
}

/**
 * What a client would send to create the record, without its TTL; or why there is nothing to send. The name is sent absolute: the service
 * takes the domain off once, so that `example.com.example.com` does not become the apex. A critical flag cannot be held, and is
 * dropped: it is about properties that a CA does not know (RFC 8659, 4.1), and the API's three tags are known to all. To leave out the
 * record instead would allow what it forbids.
 */
function bodyOf({ name: relative, data }: TransferredRecord, domain: string): JsonBody | string {
  if (data.type === "SOA" || (data.type === "NS" && relative === "")) return "the service has its own";
  if (data.type === "other" || !Object.hasOwn(RECORD_RULES, data.type))
    return "the service has no records of this type";
  const { type, target: octets, flags: _, ...values } = data;
  const owner = type === "SRV" ? serviceFields(relative) : { name: absoluteName(relative, domain) };
  if (owner === null) return "its name does not begin with _service._protocol";
  const { target: format } = RECORD_RULES[type];
  const target = format === "name" ? `${octets}.` : textOf(octets);
  return target === null ? `its ${format} is not UTF-8` : { type, ...owner, target, ...values };
}

/** Service and protocol are what the name begins with (RFC 2782); what follows stays with the protocol, as the API has it. */
function serviceFields(name: string): JsonBody | null {
  const parts = /^_(?<service>[^.]+)(?:\._(?<protocol>.+))?$/.exec(name)?.groups;
  return parts === undefined ? null : { service: parts["service"], protocol: parts["protocol"] ?? null };
}

/** @param octets one character each */
function textOf(octets: string): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(octets, "latin1"));
  } catch {
    return null;
  }
}
