/** Zone transfer (AXFR, RFC 5936) over TCP: asks a nameserver for a whole zone, within limits that no server can stretch. */

import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";
import {
  type DnsMessage,
  INTERNET_CLASS,
  type RecordData,
  type ResourceRecord,
  readMessage,
  responseCode,
  type SoaData,
} from "./message.ts";
import { nameProblem, relativeName } from "./name.ts";
import type { NameserverAddress } from "./nameserver.ts";

export interface TransferLimits {
  /** Finding the host's address included. */
  readonly connectMilliseconds: number;
  /** Between two pieces of the answer. */
  readonly idleMilliseconds: number;
  /** From the beginning to the end: a server that sends a byte now and then gains nothing. */
  readonly totalMilliseconds: number;
  /** All that is received, lengths of messages included. */
  readonly maxBytes: number;
  readonly maxMessages: number;
  /** Records outside the zone and of types that are not read included. */
  readonly maxRecords: number;
  /** Characters of names and data as they are read: a pointer of two octets may stand for a name of a thousand characters. */
  readonly maxCharacters: number;
}

export const TRANSFER_LIMITS: TransferLimits = {
  connectMilliseconds: 5_000,
  idleMilliseconds: 10_000,
  totalMilliseconds: 60_000,
  maxBytes: 64 * 1024 ** 2,
  maxMessages: 200_000,
  maxRecords: 200_000,
  // Some 12,000 records of the longest names are more than any domain holds.
  maxCharacters: 32 * 1024 ** 2,
};

interface TransferOptions {
  /** Any letter case, ASCII, with or without a final dot. */
  readonly zone: string;
  readonly server: NameserverAddress;
  /** Limits that are absent are those of `TRANSFER_LIMITS`. */
  readonly limits?: Partial<TransferLimits>;
  readonly signal?: AbortSignal;
}

/** There is one question on a connection, so its number tells nothing apart; that it comes back is still checked. */
const QUERY_ID = 0x7e40;

/**
 * Never rejects for what the server, the network or the caller's signal does.
 * @throws RangeError if the zone is no name
 */
export async function transferZone(options: TransferOptions): Promise<TransferResult> {
  const zone = options.zone.toLowerCase().replace(/\.$/, "");
  if (zone === "" || nameProblem(zone, false) !== null) throw new RangeError(`Not the name of a zone: ${options.zone}`);
  const limits = { ...TRANSFER_LIMITS, ...options.limits };
  const query = await encodeQuery(zone);
  const { signal } = options;
  if (signal?.aborted) return ABORTED;
  return new Promise((resolve) => {
    const exchange = new Exchange(zone, options.server, limits, (result) => {
      signal?.removeEventListener("abort", abort);
      resolve(result);
    });
    const abort = (): void => exchange.finish(ABORTED);
    signal?.addEventListener("abort", abort, { once: true });
    exchange.start(query);
  });
}

const ABORTED: TransferResult = failure("aborted", "it was interrupted");

async function encodeQuery(zone: string): Promise<Buffer> {
  const { default: dnsPacket } = await import("dns-packet");
  return dnsPacket.streamEncode({
    type: "query",
    id: QUERY_ID,
    questions: [{ type: "AXFR", class: "IN", name: zone }],
  });
}

/** One connection with one question. Whatever happens first decides, and nothing is left open after it. */
class Exchange {
  readonly #server: NameserverAddress;
  readonly #limits: TransferLimits;
  readonly #done: (result: TransferResult) => void;
  readonly #frames = new FrameReader();
  readonly #reading: TransferReading;
  #socket: Socket | null = null;
  #wholeTimer: NodeJS.Timeout | undefined;
  /** Runs out while connecting, then while waiting for more. */
  #waitTimer: NodeJS.Timeout | undefined;
  #receivedBytes = 0;
  #finished = false;

  constructor(zone: string, server: NameserverAddress, limits: TransferLimits, done: (result: TransferResult) => void) {
    this.#server = server;
    this.#limits = limits;
    this.#done = done;
    this.#reading = new TransferReading(zone, QUERY_ID, limits);
  }

  start(query: Buffer): void {
    const { connectMilliseconds, totalMilliseconds } = this.#limits;
    this.#wholeTimer = setTimeout(
      () => this.finish(failure("timeout", `it took more than ${totalMilliseconds} ms`)),
      totalMilliseconds,
    );
    this.#wait(connectMilliseconds, `no connection within ${connectMilliseconds} ms`);
    const socket = connect({ host: this.#server.host, port: this.#server.port });
    this.#socket = socket;
    socket.on("connect", () => {
      this.#waitForMore();
      socket.write(query);
    });
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", (error: NodeJS.ErrnoException) => this.finish(brokenConnection(error)));
    socket.on("close", () =>
      this.finish(failure("truncated", "the server closed the connection before the zone's end")),
    );
  }

  finish(result: TransferResult): void {
    if (this.#finished) return;
    this.#finished = true;
    clearTimeout(this.#wholeTimer);
    clearTimeout(this.#waitTimer);
    this.#socket?.destroy();
    this.#done(result);
  }

  #receive(chunk: Buffer): void {
    if (this.#finished) return;
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes > this.#limits.maxBytes) {
      this.finish(failure("too-large", `it is larger than ${this.#limits.maxBytes} bytes`));
      return;
    }
    this.#waitForMore();
    for (const octets of this.#frames.push(chunk)) {
      const reading = readMessage(octets);
      const result = reading.ok ? this.#reading.read(reading.message) : failure("malformed", reading.detail);
      if (result === null) continue;
      this.finish(result);
      return;
    }
  }

  #waitForMore(): void {
    const { idleMilliseconds } = this.#limits;
    this.#wait(idleMilliseconds, `nothing came for ${idleMilliseconds} ms`);
  }

  #wait(milliseconds: number, detail: string): void {
    clearTimeout(this.#waitTimer);
    this.#waitTimer = setTimeout(() => this.finish(failure("timeout", detail)), milliseconds);
  }
}

function brokenConnection(error: NodeJS.ErrnoException): TransferResult {
  return failure("unreachable", `the connection failed (${error.code ?? "unknown error"})`);
}

// A zone transfer, message by message (RFC 5936, 2.2): which messages belong to it, where it ends, what is wrong with it. Pure.

/** RFC 1035, 3.2.3 and 3.2.4. */
const AXFR_TYPE = 252;

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
type TransferProblemCode =
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
  /** Relative to the zone, `""` for the apex; lower case, escaped as in `ResourceRecord`. Targets in `data` are absolute. */
  readonly name: string;
  /** In seconds. */
  readonly ttl: number;
  readonly data: RecordData;
}

/** The SOA comes first, and once. */
export type TransferResult =
  | { readonly ok: true; readonly soa: SoaData; readonly records: readonly TransferredRecord[] }
  | { readonly ok: false; readonly problem: TransferProblem };

type TransferSizes = Pick<TransferLimits, "maxMessages" | "maxRecords" | "maxCharacters">;

class TransferReading {
  readonly #zone: string;
  readonly #id: number;
  readonly #sizes: TransferSizes;
  readonly #records: TransferredRecord[] = [];
  readonly #seen = new Set<string>();
  #soa: SoaData | null = null;
  #recordCount = 0;
  #messageCount = 0;
  #characterCount = 0;

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
    if (message.id !== this.#id) return problemOf("malformed", "an answer's message ID differs from the query's");
    if (!message.isResponse || message.opcode !== 0) return problemOf("malformed", "a message is no answer");
    if (message.rcode !== 0) return rcodeProblem(message.rcode);
    if (message.isTruncated) return problemOf("truncated", "the server says that its answer is cut off");
    // Messages after the first may leave the question out (RFC 5936, 2.2.2); its SOA shows what the first one answers.
    const [question, ...others] = message.questions;
    if (question === undefined) return null;
    const isOurs = question.name === this.#zone && question.type === AXFR_TYPE && question.class === INTERNET_CLASS;
    return isOurs && others.length === 0 ? null : problemOf("malformed", "a message answers another question");
  }

  #take(record: ResourceRecord): TransferResult | null {
    this.#recordCount += 1;
    if (this.#recordCount > this.#sizes.maxRecords)
      return failure("too-large", `it has more than ${this.#sizes.maxRecords} records`);
    if (record.class !== INTERNET_CLASS) return failure("malformed", "a record is not of class IN");
    const name = relativeName(record.name, this.#zone);
    if (record.data.type === "SOA" && name !== null) return this.#takeSoa(name, record.ttl, record.data);
    if (this.#soa === null) return failure("malformed", "the answer does not begin with the zone's SOA");
    // Glue lies within the zone; what does not is none of the zone's business (RFC 5936, 3.5).
    return name === null ? null : this.#add({ name, ttl: record.ttl, data: record.data });
  }

  #takeSoa(name: string, ttl: number, data: SoaData): TransferResult | null {
    if (name !== "") return failure("malformed", "an SOA is not at the zone's apex");
    if (this.#soa === null) {
      this.#soa = data;
      return this.#add({ name, ttl, data });
    }
    if (comparable(data) !== comparable(this.#soa))
      return failure("malformed", "the zone ends with another SOA than it began with");
    return { ok: true, soa: this.#soa, records: this.#records };
  }

  /** A record set is a set (RFC 2181, 5): a record that was there already is dropped, whatever its TTL. */
  #add(record: TransferredRecord): TransferResult | null {
    const text = `${record.name} ${JSON.stringify(record.data)}`;
    this.#characterCount += text.length;
    if (this.#characterCount > this.#sizes.maxCharacters)
      return failure("too-large", `its records have more than ${this.#sizes.maxCharacters} characters`);
    if (record.data.type !== "other") {
      // Texts of a thousand characters are not kept beside the records that they are made of.
      const key = createHash("sha256").update(text).digest("base64");
      if (this.#seen.has(key)) return null;
      this.#seen.add(key);
    }
    this.#records.push(record);
    return null;
  }
}

/** The end of the mailbox may be a pointer to a name in other letter case. */
function comparable(soa: SoaData): string {
  return JSON.stringify({ ...soa, rname: soa.rname.toLowerCase() });
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

function failure(code: TransferProblemCode, detail: string): TransferResult {
  return { ok: false, problem: problemOf(code, detail) };
}

// Messages on a TCP stream (RFC 1035, 4.2.2): two octets of length before each, cut into segments anywhere.

const LENGTH_OCTETS = 2;

/** Takes a stream's chunks and gives the messages that are complete. Holds one message at most, and copies each octet once. */
export class FrameReader {
  readonly #length = Buffer.alloc(LENGTH_OCTETS);
  #lengthFilled = 0;
  /** null: the length is not yet known. */
  #message: Buffer | null = null;
  #messageFilled = 0;

  /** Lazily, so that nothing is made of messages that nobody wants any more. */
  *push(chunk: Buffer): Generator<Buffer> {
    let offset = 0;
    while (offset < chunk.length) {
      offset += this.#fill(chunk.subarray(offset));
      if (this.#message === null || this.#messageFilled < this.#message.length) continue;
      const message = this.#message;
      this.#message = null;
      this.#lengthFilled = 0;
      yield message;
    }
  }

  /** @returns how many octets were taken */
  #fill(octets: Buffer): number {
    if (this.#message !== null) {
      const taken = octets.copy(this.#message, this.#messageFilled);
      this.#messageFilled += taken;
      return taken;
    }
    const taken = octets.copy(this.#length, this.#lengthFilled);
    this.#lengthFilled += taken;
    if (this.#lengthFilled === LENGTH_OCTETS) {
      this.#message = Buffer.alloc(this.#length.readUInt16BE(0));
      this.#messageFilled = 0;
    }
    return taken;
  }
}
