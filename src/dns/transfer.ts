/** Zone transfer (AXFR, RFC 5936) over TCP: asks a nameserver for a whole zone, within limits that no server can stretch. */

import { connect, type Socket } from "node:net";
import { readMessage } from "./message.ts";
import { nameProblem } from "./name.ts";
import type { NameserverAddress } from "./transfer-address.ts";
import { FrameReader } from "./transfer-frames.ts";
import { failure, TransferReading, type TransferResult } from "./transfer-reading.ts";

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
}

export const TRANSFER_LIMITS: TransferLimits = {
  connectMilliseconds: 5_000,
  idleMilliseconds: 10_000,
  totalMilliseconds: 60_000,
  maxBytes: 64 * 1024 ** 2,
  maxMessages: 200_000,
  maxRecords: 200_000,
};

export interface TransferOptions {
  /** Any letter case, ASCII, with or without a final dot. */
  readonly zone: string;
  readonly server: NameserverAddress;
  /** What is absent is as in `TRANSFER_LIMITS`. */
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
