/** Questions over TCP, one after the other on one connection (RFC 7766, 6.2.1), so that thousands of them use up no ports. */

import { connect, type Socket } from "node:net";
import { type DnsQuery, encodeQuery, type QueryResult, queryFailure, readAnswer } from "./query-message.ts";
import type { NameserverAddress } from "./transfer-address.ts";
import { FrameReader } from "./transfer-frames.ts";

export interface TcpLimits {
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
export class TcpChannel {
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
      // There is no longer message to ask for: a set that is cut off here can be read by nobody (RFC 7766, 5).
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

const ABORTED: QueryResult = queryFailure("aborted", "it was interrupted");
