/** A question over UDP: sent again while no answer comes, and every datagram that is not the answer is passed over. */

import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { isIPv6 } from "node:net";
import { type DnsQuery, encodeQuery, type QueryResult, queryFailure, readAnswer } from "./query-message.ts";
import type { NameserverAddress } from "./transfer-address.ts";

export interface UdpLimits {
  /** How often the question is sent. */
  readonly udpAttempts: number;
  /** Until it is sent again, and after the last time until it is given up. */
  readonly udpAttemptMilliseconds: number;
  /** Datagrams that are no answer: more of them are an attack, and the question is given up. */
  readonly maxIgnoredDatagrams: number;
}

/** One question. Whatever happens first decides, and nothing is left open after it. */
export class UdpExchange {
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
    // An address that the system refuses is told to this callback alone, not as an "error".
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
      const odd = this.#ignored === 0 ? "" : ` but ${this.#ignored} that had nothing to do with the question`;
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
