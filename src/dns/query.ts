/** Asks one nameserver for what it holds, over UDP and over TCP, within limits that no server can stretch. */

import { randomInt } from "node:crypto";
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { connect, isIP, isIPv6, type Socket } from "node:net";
import { INTERNET_CLASS, type ResourceRecord, readMessage, TYPE_CODES } from "./message.ts";
import type { NameserverAddress } from "./nameserver.ts";
import { FrameReader } from "./transfer.ts";

export type QueryLimits = UdpLimits & TcpLimits;

const QUERY_LIMITS: QueryLimits = {
  udpAttempts: 3,
  udpAttemptMilliseconds: 1_500,
  maxIgnoredDatagrams: 100,
  connectMilliseconds: 4_000,
  answerMilliseconds: 5_000,
};

/** Two octets (RFC 1035, 4.1.1). */
const ID_COUNT = 65_536;

interface NameserverOptions {
  /** Limits that are absent are those of `QUERY_LIMITS`. */
  readonly limits?: Partial<QueryLimits>;
  /** Draws the message ID, which must be unpredictable: uniform in [0, 65535]. */
  readonly drawId?: () => number;
}

export interface NameserverClient {
  /**
   * As many at a time as the caller likes: over TCP there is a connection for each, used again for later ones.
   * Never rejects for what the server or the network does.
   */
  ask(query: DnsQuery, transport: Transport): Promise<QueryResult>;
  /** Ends what is under way as `aborted`, and whatever is asked later. */
  close(): void;
}

/** Sends nothing yet. @throws RangeError if the server's host is no IP address */
export function openNameserver(server: NameserverAddress, options: NameserverOptions = {}): NameserverClient {
  if (isIP(server.host) === 0) throw new RangeError(`Not an IP address: ${server.host}`);
  const limits = { ...QUERY_LIMITS, ...options.limits };
  const drawId = options.drawId ?? (() => randomInt(ID_COUNT));
  const exchanges = new Set<UdpExchange>();
  const channels = new Set<TcpChannel>();
  const idle: TcpChannel[] = [];
  let closed = false;

  function askOverUdp(query: DnsQuery): Promise<QueryResult> {
    return new Promise((resolve, reject) => {
      const exchange = new UdpExchange(query, server, limits, drawId(), (result) => {
        exchanges.delete(exchange);
        resolve(result);
      });
      exchanges.add(exchange);
      exchange.start().catch(reject);
    });
  }

  async function askOverTcp(query: DnsQuery): Promise<QueryResult> {
    const channel = idle.pop() ?? new TcpChannel(server, limits);
    channels.add(channel);
    const result = await channel.ask(query, drawId());
    idle.push(channel);
    return result;
  }

  return {
    ask: async (query, transport) => {
      if (closed) return ABORTED;
      return transport === "udp" ? askOverUdp(query) : askOverTcp(query);
    },
    close: () => {
      closed = true;
      for (const exchange of exchanges) exchange.finish(ABORTED);
      for (const channel of channels) channel.close();
    },
  };
}

const ABORTED: QueryResult = queryFailure("aborted", "it was interrupted");

// A question over UDP: sent again while no answer comes, and every datagram that is not the answer is passed over.

interface UdpLimits {
  /** How often the question is sent. */
  readonly udpAttempts: number;
  /** Until it is sent again, and after the last time until it is given up. */
  readonly udpAttemptMilliseconds: number;
  /** Datagrams that are no answer: more of them are an attack, and the question is given up. */
  readonly maxIgnoredDatagrams: number;
}

/** One question. Whatever happens first decides, and nothing is left open after it. */
class UdpExchange {
  readonly #query: DnsQuery;
  readonly #server: NameserverAddress;
  readonly #limits: UdpLimits;
  readonly #id: number;
  readonly #done: (result: QueryResult) => void;
  #socket: UdpSocket | null = null;
  #timer: NodeJS.Timeout | undefined;
  #attempts = 0;
  #ignored = 0;
  #finished = false;

  /** @param server its host is an IP address */
  constructor(
    query: DnsQuery,
    server: NameserverAddress,
    limits: UdpLimits,
    id: number,
    done: (result: QueryResult) => void,
  ) {
    this.#query = query;
    this.#server = server;
    this.#limits = limits;
    this.#id = id;
    this.#done = done;
  }

  async start(): Promise<void> {
    const message = await encodeQuery(this.#query, this.#id, "udp");
    if (this.#finished) return;
    const { host, port } = this.#server;
    // The system picks a port that nobody can foretell (RFC 5452, 9.2).
    const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
    this.#socket = socket;
    socket.on("error", (error: NodeJS.ErrnoException) => this.#unreachable(error));
    socket.on("message", (octets) => this.#receive(octets));
    // Connected, the system takes datagrams from the server alone, and tells when nothing listens there.
    // An address that the system refuses is reported to this callback alone, not as an "error".
    socket.connect(port, host, (error?: NodeJS.ErrnoException) =>
      error ? this.#unreachable(error) : this.#send(message),
    );
  }

  #unreachable({ code = "unknown error" }: NodeJS.ErrnoException): void {
    this.finish(queryFailure("unreachable", `the server cannot be reached (${code})`));
  }

  finish(result: QueryResult): void {
    if (this.#finished) return;
    this.#finished = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
    this.#done(result);
  }

  #send(message: Buffer): void {
    if (this.#finished) return;
    const { udpAttempts, udpAttemptMilliseconds } = this.#limits;
    if (this.#attempts === udpAttempts) {
      const odd = this.#ignored === 0 ? "" : `; ${this.#ignored} unrelated datagrams were ignored`;
      const waited = udpAttempts * udpAttemptMilliseconds;
      this.finish(queryFailure("timeout", `no answer within ${waited} ms${odd}`));
      return;
    }
    this.#attempts += 1;
    this.#socket?.send(message);
    this.#timer = setTimeout(() => this.#send(message), udpAttemptMilliseconds);
  }

  #receive(octets: Buffer): void {
    if (this.#finished) return;
    const answer = readAnswer(octets, this.#query, this.#id);
    if (typeof answer !== "string") {
      this.finish({ ok: true, answer });
      return;
    }
    this.#ignored += 1;
    if (this.#ignored > this.#limits.maxIgnoredDatagrams) {
      this.finish(
        queryFailure("malformed", `more than ${this.#limits.maxIgnoredDatagrams} answers to other questions`),
      );
    }
  }
}

// Questions over TCP, one after the other on one connection (RFC 7766, 6.2.1), so that thousands of them use up no ports.

interface TcpLimits {
  readonly connectMilliseconds: number;
  /** From the question to the end of its answer. */
  readonly answerMilliseconds: number;
}

interface Pending {
  readonly query: DnsQuery;
  readonly id: number;
  readonly message: Buffer;
  /** On a connection that has carried an answer before: the server may have closed it meanwhile. */
  readonly mayRepeat: boolean;
  readonly done: (result: QueryResult) => void;
}

/** One connection, made when it is needed. Ask one question at a time. */
class TcpChannel {
  readonly #server: NameserverAddress;
  readonly #limits: TcpLimits;
  #socket: Socket | null = null;
  #pending: Pending | null = null;
  #hasReceived = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(server: NameserverAddress, limits: TcpLimits) {
    this.#server = server;
    this.#limits = limits;
  }

  async ask(query: DnsQuery, id: number): Promise<QueryResult> {
    const message = await encodeQuery(query, id, "tcp");
    if (this.#closed) return ABORTED;
    return new Promise((done) => {
      this.#begin({ query, id, message, mayRepeat: this.#socket !== null, done });
    });
  }

  /** Ends what is under way. */
  close(): void {
    this.#closed = true;
    this.#finish(ABORTED, false);
    this.#drop();
  }

  #begin(pending: Pending): void {
    this.#pending = pending;
    this.#hasReceived = false;
    const { connectMilliseconds } = this.#limits;
    if (this.#socket !== null) {
      this.#send(this.#socket, pending.message);
      return;
    }
    this.#wait(connectMilliseconds, `no connection within ${connectMilliseconds} ms`);
    const { host, port } = this.#server;
    const socket = connect({ host, port, noDelay: true });
    const frames = new FrameReader();
    this.#socket = socket;
    socket.on("connect", () => this.#send(socket, pending.message));
    socket.on("data", (chunk) => this.#receive(socket, frames, chunk));
    socket.on("error", (error: NodeJS.ErrnoException) =>
      this.#broken(socket, `the connection failed (${error.code ?? "unknown error"})`),
    );
    socket.on("close", () => this.#broken(socket, "the server closed the connection without an answer"));
  }

  #send(socket: Socket, message: Buffer): void {
    const { answerMilliseconds } = this.#limits;
    this.#wait(answerMilliseconds, `no answer within ${answerMilliseconds} ms`);
    socket.write(message);
  }

  #receive(socket: Socket, frames: FrameReader, chunk: Buffer): void {
    if (socket !== this.#socket) return;
    this.#hasReceived = true;
    for (const octets of frames.push(chunk)) {
      // Nobody asked: what else comes on this connection cannot be trusted.
      if (this.#pending === null) {
        this.#drop();
        return;
      }
      const answer = readAnswer(octets, this.#pending.query, this.#pending.id);
      if (typeof answer === "string") this.#finish(queryFailure("malformed", answer), false);
      // TCP allows the largest message, so a truncated answer over TCP cannot be retried (RFC 7766, 5).
      else if (answer.isTruncated) this.#finish(queryFailure("malformed", "the answer over TCP is cut off"), false);
      else this.#finish({ ok: true, answer }, true);
    }
  }

  #broken(socket: Socket, detail: string): void {
    if (socket !== this.#socket) return;
    const pending = this.#pending;
    const isStale = pending?.mayRepeat === true && !this.#hasReceived;
    this.#drop();
    if (pending !== null && isStale && !this.#closed) this.#begin({ ...pending, mayRepeat: false });
    else this.#finish(queryFailure("unreachable", detail), false);
  }

  #finish(result: QueryResult, keep: boolean): void {
    clearTimeout(this.#timer);
    const pending = this.#pending;
    this.#pending = null;
    if (!keep) this.#drop();
    pending?.done(result);
  }

  #drop(): void {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = null;
    socket?.destroy();
  }

  #wait(milliseconds: number, detail: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#finish(queryFailure("timeout", detail), false), milliseconds);
  }
}

// One question and its answer as messages: what is asked, and whether what came is the answer to it.

export interface DnsQuery {
  /** Absolute, lower-case ASCII, without a final dot; a star asks for the wildcard itself. */
  readonly name: string;
  readonly type: keyof typeof TYPE_CODES;
}

export type Transport = "udp" | "tcp";

export interface DnsAnswer {
  /** RFC 1035, 4.1.1; `responseCode` has the name. */
  readonly rcode: number;
  readonly isAuthoritative: boolean;
  readonly isTruncated: boolean;
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
  readonly additionals: readonly ResourceRecord[];
}

/**
 * - `unreachable`: there was no way to the server, or the connection broke.
 * - `timeout`: no answer came in time.
 * - `malformed`: what came over TCP is no answer to the question. (Over UDP anybody may have sent it: it is passed over.)
 * - `aborted`: the caller ended it.
 */
type QueryProblemCode = "unreachable" | "timeout" | "malformed" | "aborted";

interface QueryProblem {
  readonly code: QueryProblemCode;
  /** One clause without a full stop, safe to show: nothing in it is the server's own text. */
  readonly detail: string;
}

export type QueryResult =
  | { readonly ok: true; readonly answer: DnsAnswer }
  | { readonly ok: false; readonly problem: QueryProblem };

/** The largest message that passes every network unbroken (DNS flag day 2020). */
const UDP_PAYLOAD_OCTETS = 1_232;

/** Recursion is not asked for: it is the server's own data that matters. */
async function encodeQuery(query: DnsQuery, id: number, transport: Transport): Promise<Buffer> {
  const { default: dnsPacket } = await import("dns-packet");
  const packet = {
    type: "query" as const,
    id,
    flags: 0,
    questions: [{ type: query.type, class: "IN" as const, name: query.name }],
    additionals: [
      {
        type: "OPT" as const,
        name: "." as const,
        udpPayloadSize: UDP_PAYLOAD_OCTETS,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  };
  return transport === "tcp" ? dnsPacket.streamEncode(packet) : dnsPacket.encode(packet);
}

/** The answer in a message, or one clause on why it is none to this question. */
export function readAnswer(octets: Buffer, query: DnsQuery, id: number): DnsAnswer | string {
  const reading = readMessage(octets);
  if (!reading.ok) return reading.detail;
  const { message } = reading;
  if (message.id !== id) return "an answer's message ID differs from the query's";
  if (!message.isResponse || message.opcode !== 0) return "a message is no answer";
  const [question, ...others] = message.questions;
  // A server that could not make sense of the question may not repeat it.
  const isOurs =
    question === undefined
      ? message.rcode !== 0
      : question.name === query.name &&
        question.type === TYPE_CODES[query.type] &&
        question.class === INTERNET_CLASS &&
        others.length === 0;
  if (!isOurs) return "a message answers another question";
  const { rcode, isAuthoritative, isTruncated, answers, authorities, additionals } = message;
  return { rcode, isAuthoritative, isTruncated, answers, authorities, additionals };
}

export function queryFailure(code: QueryProblemCode, detail: string): QueryResult {
  return { ok: false, problem: { code, detail } };
}
