/** A zone as it was transferred → the domain and records that the API can hold of it. Pure. */

import type { RecordType } from "../api/wire/index.ts";
import type { RecordData, SoaData } from "../dns/message.ts";
import { absoluteName } from "../dns/name.ts";
import type { TransferredRecord } from "../dns/transfer-reading.ts";
import { MAX_RECORDS_PER_DOMAIN, type RecordContext, type RecordValues, readRecord } from "./record-rules.ts";
import type { JsonBody } from "./route.ts";
import type { RecordRow } from "./rows.ts";

/** A record that the API has no place for, and why. */
export interface LeftOut {
  readonly name: string;
  readonly type: string;
  readonly reason: string;
}

export type ZoneImport =
  | { readonly ok: true; readonly records: readonly RecordValues[]; readonly leftOut: readonly LeftOut[] }
  /** One clause without a full stop. */
  | { readonly ok: false; readonly detail: string };

export interface ImportContext {
  /** The domain's name, as it is spelt. */
  readonly domain: string;
  readonly roundSeconds: (seconds: number) => number;
}

/**
 * What a client would send to create the domain. `ttl_sec` is the SOA's last field, where the service renders it.
 * A mailbox that is no email address becomes hostmaster (RFC 2142).
 */
export function importedDomain(domain: string, soa: SoaData): JsonBody {
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

/** 0 stands for the service's default in the API, and for nothing at all on the wire: the least time there is comes nearest. */
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
      // Nothing that is transferred stands for the caller's own address.
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
 * takes the domain off once, so that `example.com.example.com` does not become the apex.
 */
function bodyOf({ name: relative, data }: TransferredRecord, domain: string): JsonBody | string {
  const name = absoluteName(relative, domain);
  const plain = (type: RecordType, target: string): JsonBody => ({ type, name, target });
  switch (data.type) {
    case "SOA":
      return "the service has its own";
    case "NS":
      return relative === "" ? "the service has its own" : plain("NS", `${data.target}.`);
    case "A":
    case "AAAA":
      return plain(data.type, data.address);
    case "CNAME":
    case "PTR":
      return plain(data.type, `${data.target}.`);
    case "MX":
      return { ...plain("MX", `${data.exchange}.`), priority: data.preference };
    case "TXT": {
      const text = textOf(Buffer.concat(data.strings));
      return text === null ? "its text is not UTF-8" : plain("TXT", text);
    }
    case "SRV":
      return serviceBody(relative, data);
    case "CAA":
      return certificationBody(name, data);
    case "other":
      return "the service has no records of this type";
  }
}

/** Service and protocol are what the name begins with (RFC 2782); what follows stays with the protocol, as the API has it. */
function serviceBody(name: string, data: RecordData & { readonly type: "SRV" }): JsonBody | string {
  const parts = /^_(?<service>[^.]+)(?:\._(?<protocol>.+))?$/.exec(name)?.groups;
  if (parts === undefined) return "its name does not begin with _service._protocol";
  const { service, protocol = null } = parts;
  const { priority, weight, port } = data;
  return { type: "SRV", service, protocol, target: `${data.target}.`, priority, weight, port };
}

/**
 * The critical flag cannot be held, and is dropped: it is about properties that a CA does not know (RFC 8659, 4.1), and the API's three
 * tags are known to all. To leave out the record instead would allow what it forbids.
 */
function certificationBody(name: string, data: RecordData & { readonly type: "CAA" }): JsonBody | string {
  const target = textOf(data.value);
  return target === null ? "its value is not UTF-8" : { type: "CAA", name, tag: data.tag, target };
}

function textOf(octets: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(octets);
  } catch {
    return null;
  }
}
