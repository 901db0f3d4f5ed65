/** A zone transfer, message by message (RFC 5936, 2.2): which messages belong to it, where it ends, what is wrong with it. Pure. */

import { type DnsMessage, type DnsRecord, type RecordData, responseCode, type SoaData } from "./message.ts";
import { relativeName } from "./name.ts";

/** RFC 1035, 3.2.3 and 3.2.4. */
const AXFR_TYPE = 252;
const INTERNET_CLASS = 1;

/**
 * - `unreachable`: there was no connection, or it broke.
 * - `timeout`: connecting, waiting for more, or the whole took too long.
 * - `refused`: REFUSED, mostly because transfers are not allowed.
 * - `not-authoritative`: NOTAUTH: the server does not hold the zone, or (Knot DNS) does not allow its transfer.
 * - `failed`: another response code; for an unknown zone this depends on the server.
 * - `truncated`: the connection was closed before the zone's end, or the server says that its answer is cut off.
 * - `malformed`: no DNS, no answer to this question, or no zone.
 * - `too-large`: above one of the limits.
 * - `aborted`: the caller's signal ended it.
 */
export type TransferProblemCode =
  | "unreachable"
  | "timeout"
  | "refused"
  | "not-authoritative"
  | "failed"
  | "truncated"
  | "malformed"
  | "too-large"
  | "aborted";

export interface TransferProblem {
  readonly code: TransferProblemCode;
  /** One clause without a full stop, safe to show: nothing in it is the server's own text. */
  readonly detail: string;
}

export interface TransferredRecord {
  /** Relative to the zone, `""` for the apex; lower case, escaped as in `DnsRecord`. Targets in `data` are absolute. */
  readonly name: string;
  /** In seconds. */
  readonly ttl: number;
  readonly data: RecordData;
}

/** The SOA comes first, and once. */
export type TransferResult =
  | { readonly ok: true; readonly soa: SoaData; readonly records: readonly TransferredRecord[] }
  | { readonly ok: false; readonly problem: TransferProblem };

export interface TransferSizes {
  readonly maxMessages: number;
  readonly maxRecords: number;
}

export class TransferReading {
  readonly #zone: string;
  readonly #id: number;
  readonly #sizes: TransferSizes;
  readonly #records: TransferredRecord[] = [];
  readonly #seen = new Set<string>();
  #soa: SoaData | null = null;
  #recordCount = 0;
  #messageCount = 0;

  /** @param zone lower-case ASCII without a final dot */
  constructor(zone: string, id: number, sizes: TransferSizes) {
    this.#zone = zone;
    this.#id = id;
    this.#sizes = sizes;
  }

  /** @returns null while the zone has not ended */
  read(message: DnsMessage): TransferResult | null {
    this.#messageCount += 1;
    if (this.#messageCount > this.#sizes.maxMessages)
      return failure("too-large", `it takes more than ${this.#sizes.maxMessages} messages`);
    const problem = this.#envelopeProblem(message);
    if (problem !== null) return { ok: false, problem };
    for (const [index, record] of message.answers.entries()) {
      const result = this.#take(record);
      if (result === null) continue;
      if (result.ok && index < message.answers.length - 1) {
        return failure("malformed", "records follow after the zone's end");
      }
      return result;
    }
    return this.#soa === null ? failure("malformed", "the answer does not begin with the zone's SOA") : null;
  }

  #envelopeProblem(message: DnsMessage): TransferProblem | null {
    if (message.id !== this.#id) return problemOf("malformed", "an answer has another number than the question");
    if (!message.isResponse || message.opcode !== 0) return problemOf("malformed", "a message is no answer");
    if (message.rcode !== 0) return rcodeProblem(message.rcode);
    if (message.isTruncated) return problemOf("truncated", "the server says that its answer is cut off");
    // Messages after the first may leave the question out (RFC 5936, 2.2.2); what the first one answers is told by its SOA.
    const [question, ...others] = message.questions;
    if (question === undefined) return null;
    const isOurs = question.name === this.#zone && question.type === AXFR_TYPE && question.class === INTERNET_CLASS;
    return isOurs && others.length === 0 ? null : problemOf("malformed", "a message answers another question");
  }

  #take(record: DnsRecord): TransferResult | null {
    this.#recordCount += 1;
    if (this.#recordCount > this.#sizes.maxRecords)
      return failure("too-large", `it has more than ${this.#sizes.maxRecords} records`);
    if (record.class !== INTERNET_CLASS) return failure("malformed", "a record is not of class IN");
    const name = relativeName(record.name, this.#zone);
    if (record.data.type === "SOA" && name !== null) return this.#takeSoa(name, record.ttl, record.data);
    if (this.#soa === null) return failure("malformed", "the answer does not begin with the zone's SOA");
    // Glue lies within the zone; what does not is none of the zone's business (RFC 5936, 3.5).
    if (name !== null) this.#add({ name, ttl: record.ttl, data: record.data });
    return null;
  }

  #takeSoa(name: string, ttl: number, data: SoaData): TransferResult | null {
    if (name !== "") return failure("malformed", "an SOA is not at the zone's apex");
    if (this.#soa === null) {
      this.#soa = data;
      this.#add({ name, ttl, data });
      return null;
    }
    if (comparable(data) !== comparable(this.#soa))
      return failure("malformed", "the zone ends with another SOA than it began with");
    return { ok: true, soa: this.#soa, records: this.#records };
  }

  /** A record set is a set (RFC 2181, 5): a record that was there already is dropped, whatever its TTL. */
  #add(record: TransferredRecord): void {
    if (record.data.type !== "other") {
      const key = `${record.name} ${JSON.stringify(record.data, octetsAsText)}`;
      if (this.#seen.has(key)) return;
      this.#seen.add(key);
    }
    this.#records.push(record);
  }
}

/** The end of the mailbox may be a pointer to a name in other letter case. */
function comparable(soa: SoaData): string {
  return JSON.stringify({ ...soa, rname: soa.rname.toLowerCase() });
}

/** Buffers have a `toJSON` of their own, which would write a number per octet. */
function octetsAsText(this: unknown, key: string, value: unknown): unknown {
  const raw = (this as Record<string, unknown>)[key];
  return Buffer.isBuffer(raw) ? raw.toString("latin1") : value;
}

function rcodeProblem(rcode: number): TransferProblem {
  const name = responseCode(rcode);
  const detail = `the server answered ${name}`;
  if (name === "REFUSED") return problemOf("refused", `${detail}; transfers may not be allowed from here`);
  return name === "NOTAUTH" ? problemOf("not-authoritative", detail) : problemOf("failed", detail);
}

function problemOf(code: TransferProblemCode, detail: string): TransferProblem {
  return { code, detail };
}

export function failure(code: TransferProblemCode, detail: string): TransferResult {
  return { ok: false, problem: problemOf(code, detail) };
}
