/** What clients may do to a connection: how long requests may take to arrive, and what is no request at all. */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { JSON_TYPE, refuse } from "./errors.ts";

export interface Timeouts {
  /** From a connection's or a request's first moment to the end of its header. */
  readonly headersMilliseconds: number;
  /** From the end of the header to that of the body. */
  readonly bodyMilliseconds: number;
  /** How long nothing may come of a body that may take as long as it wants. */
  readonly idleMilliseconds: number;
  /** How often headers are looked at. */
  readonly checkMilliseconds: number;
}

export const TIMEOUTS: Timeouts = {
  headersMilliseconds: 30_000,
  bodyMilliseconds: 60_000,
  idleMilliseconds: 120_000,
  checkMilliseconds: 5_000,
};

/** Below what systems let a process have open, so that there are files left for the data. */
const MAX_CONNECTIONS = 4_000;

/** A refused client may still be sending: closed at once, it would never read why. */
const LINGER_MILLISECONDS = 1_000;

export interface GuardOptions {
  readonly timeouts: Timeouts;
  /** The headers that every answer carries. */
  readonly limitHeaders: () => Readonly<Record<string, string>>;
  /** Whether the body may take as long as it wants, as long as something comes. */
  readonly mayBeSlow: (url: string) => boolean;
}

/** Watches over requests before and beside the routes. */
export class HttpGuard {
  readonly #options: GuardOptions;
  readonly #unanswered = new WeakMap<Socket, Set<ServerResponse>>();

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  watch(server: Server): void {
    server.maxConnections = MAX_CONNECTIONS;
    server.on("request", (request, response) => this.#begin(request, response));
    server.on("checkExpectation", (request, response) => {
      this.#begin(request, response);
      this.#answer(response, 417);
    });
  }

  /** What is no HTTP, has too long a header or comes too slowly has no request to answer: written to the socket by hand. */
  answerClientError(error: Error & { code?: string }, socket: Socket): void {
    // With other answers under way, this one would be taken for one of theirs.
    const others = [...(this.#unanswered.get(socket) ?? [])];
    if (error.code === "ECONNRESET" || !socket.writable || others.some(isReceived)) {
      socket.destroy();
      return;
    }
    const status = statusOf(error.code);
    const body = bodyOf(status);
    const headers = Object.entries(this.#headers(body)).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join("")}\r\n${body}`);
    setTimeout(() => socket.destroy(), LINGER_MILLISECONDS).unref();
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const open = this.#unanswered.get(socket) ?? new Set();
    this.#unanswered.set(socket, open.add(response));
    response.once("close", () => open.delete(response));
    if (!request.complete) this.#limitBody(request, response);
  }

  #limitBody(request: IncomingMessage, response: ServerResponse): void {
    const { bodyMilliseconds, idleMilliseconds } = this.#options.timeouts;
    const isSlow = this.#options.mayBeSlow(request.url ?? "");
    let seen = -1;
    const timer = setInterval(
      () => {
        const { bytesRead, destroyed } = request.socket;
        if (request.complete || destroyed) clearInterval(timer);
        else if (!isSlow || bytesRead === seen) this.#giveUp(request, response);
        seen = bytesRead;
      },
      isSlow ? idleMilliseconds : bodyMilliseconds,
    );
    timer.unref();
    const stop = (): void => clearInterval(timer);
    request.once("end", stop).once("close", stop);
  }

  #giveUp(request: IncomingMessage, response: ServerResponse): void {
    if (response.headersSent) request.socket.destroy();
    else this.#answer(response, 408);
  }

  #answer(response: ServerResponse, status: number): void {
    const body = bodyOf(status);
    response.writeHead(status, this.#headers(body)).end(body);
  }

  #headers(body: string): Readonly<Record<string, string>> {
    return {
      "content-type": JSON_TYPE,
      "content-length": String(Buffer.byteLength(body)),
      connection: "close",
      ...this.#options.limitHeaders(),
    };
  }
}

function isReceived(response: ServerResponse): boolean {
  return response.headersSent || response.req.complete;
}

function bodyOf(status: number): string {
  return JSON.stringify(refuse(status, [{ reason: STATUS_CODES[status] ?? "" }]).body);
}

function statusOf(code: string | undefined): number {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return 408;
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return 413;
    case "HPE_HEADER_OVERFLOW":
      return 431;
    default:
      return 400;
  }
}
