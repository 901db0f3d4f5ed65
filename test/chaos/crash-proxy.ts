/** A proxy between `tenon` and the service that knows which requests change something, counts them, and stops at one. */

import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/**
 * Where a process is killed.
 * - `before`: its request was sent, and never reaches the service.
 * - `committed`: the service has answered, and the answer never reaches the process.
 * - `after`: the process has the whole answer.
 */
export type Point = "before" | "committed" | "after";

/** A request that changes something: below `/v4`, or the data of an upload. */
export interface Mutation {
  readonly method: string;
  /** Segments below `/v4`, decoded; null: data sent to a signed URL. */
  readonly path: readonly string[] | null;
  /** JSON as it was sent; null if there was none. */
  readonly body: string | null;
}

/** The process is to be killed at one of its requests. */
export interface Trap {
  readonly point: Point;
  readonly isTarget: (mutation: Mutation) => boolean;
  /** Kills it; awaited before anything else is answered. */
  readonly strike: (mutation: Mutation) => Promise<void>;
}

interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

const API_PREFIX = "/v4/";
const CHANGING: ReadonlySet<string> = new Set(["POST", "PUT", "DELETE"]);
/** Of one hop only, or said anew. */
const OWN_HEADERS: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding", "content-length"]);

export class CrashProxy {
  readonly baseUrl: string;
  /** What came to the proxy since the last `set`, whole, in this order. */
  readonly arrived: Mutation[] = [];
  /** What the service has got since the start. */
  readonly reached: Mutation[] = [];
  /** What the proxy itself stumbled over, and the process saw as a broken connection. */
  readonly problems: string[] = [];
  /** Before what changes something is handed on, so that what is sent at once is seen at once. */
  holdMilliseconds = 0;
  /** Most requests that changed something and had no answer at the same time, since the start. */
  mostAtOnce = 0;
  readonly #server: Server;
  readonly #servicePort: number;
  readonly #origin: string;
  readonly #serving = new Set<Promise<unknown>>();
  /** Connections whose other end may still say something. */
  readonly #open = new Map<Socket, Promise<unknown>>();
  #unanswered = 0;
  #trap: Trap | null = null;
  #isSprung = false;

  private constructor(server: Server, servicePort: number) {
    this.#server = server;
    this.#servicePort = servicePort;
    this.#origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.baseUrl = `${this.#origin}/v4`;
    server.on("connection", (socket: Socket) => {
      const silent = new Promise((resolve) => socket.once("end", resolve).once("close", resolve));
      this.#open.set(socket, silent);
      silent.then(() => this.#open.delete(socket));
    });
    server.on("request", (from: IncomingMessage, to: ServerResponse) => {
      const served = this.#serve(from, to).catch((error: unknown) => {
        this.problems.push(String(error));
        to.destroy();
      });
      this.#serving.add(served);
      served.then(() => this.#serving.delete(served));
    });
  }

  static async start(servicePort: number): Promise<CrashProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new CrashProxy(server, servicePort);
  }

  /** From here on; null: nothing is stopped. */
  set(trap: Trap | null): void {
    this.#trap = trap;
    this.#isSprung = false;
    this.arrived.length = 0;
  }

  /**
   * Until all that a process sent before it was gone has been read, and the service has answered all that it got. What the process sent
   * may lie in a connection that was not even accepted: those are accepted in turn, so that all of them are once one of our own is.
   */
  async settled(): Promise<void> {
    const own = connect((this.#server.address() as AddressInfo).port, "127.0.0.1");
    await once(own, "connect");
    const isAccepted = (): boolean => [...this.#open.keys()].some(({ remotePort }) => remotePort === own.localPort);
    while (!isAccepted()) await once(this.#server, "connection");
    own.destroy();
    while (this.#open.size > 0) await Promise.all(this.#open.values());
    while (this.#serving.size > 0) await Promise.all([...this.#serving]);
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(from: IncomingMessage, to: ServerResponse): Promise<void> {
    // What the process could not finish sending, nobody got.
    const sent = await bodyOf(from).catch(() => null);
    if (sent === null) return;
    const mutation = mutationOf(from, sent);
    if (mutation === null) {
      await deliver(await this.#forward(from, sent), to);
      return;
    }
    this.arrived.push(mutation);
    // What comes after the moment of death was never sent.
    if (this.#isSprung) return;
    const trap = this.#trap;
    if (trap?.isTarget(mutation)) {
      this.#isSprung = true;
      await this.#stopAt(trap, mutation, () => this.#forward(from, sent), to);
      return;
    }
    this.reached.push(mutation);
    await deliver(await this.#forwardCounted(from, sent), to);
  }

  async #forwardCounted(from: IncomingMessage, sent: Buffer): Promise<Received> {
    this.#unanswered += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#unanswered);
    try {
      if (this.holdMilliseconds > 0) await delay(this.holdMilliseconds);
      return await this.#forward(from, sent);
    } finally {
      this.#unanswered -= 1;
    }
  }

  async #stopAt(trap: Trap, mutation: Mutation, forward: () => Promise<Received>, to: ServerResponse): Promise<void> {
    if (trap.point !== "before") {
      this.reached.push(mutation);
      const received = await forward();
      if (trap.point === "after") await deliver(received, to);
    }
    await trap.strike(mutation);
  }

  /** The service's own address is what it hands out for uploads: they come this way too. */
  async #forward(from: IncomingMessage, sent: Buffer): Promise<Received> {
    const service = `127.0.0.1:${this.#servicePort}`;
    const received = await exchange(from, sent, this.#servicePort);
    const text = received.body.toString("utf8");
    if (!text.includes(`http://${service}/`)) return received;
    return { ...received, body: Buffer.from(text.replaceAll(`http://${service}/`, `${this.#origin}/`)) };
  }
}

function exchange(from: IncomingMessage, sent: Buffer, port: number): Promise<Received> {
  const headers = { ...ownHeadersLeftOut(from.headers), host: `127.0.0.1:${port}`, "content-length": sent.length };
  return new Promise((resolve, reject) => {
    const { method, url } = from;
    const asked = request({ host: "127.0.0.1", port, method, path: url, headers, agent: false }, (answer) => {
      bodyOf(answer).then((body) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }), reject);
    });
    asked.on("error", reject);
    asked.end(sent);
  });
}

/** Until the last octet is handed to the system, or the connection is gone: of one that is gone already nothing is heard any more. */
function deliver({ status, headers, body }: Received, to: ServerResponse): Promise<void> {
  if (to.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    to.once("close", resolve);
    to.writeHead(status, { ...ownHeadersLeftOut(headers), "content-length": body.length });
    to.end(body, () => resolve());
  });
}

function ownHeadersLeftOut<Value>(headers: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name)));
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function mutationOf({ method = "", url = "" }: IncomingMessage, sent: Buffer): Mutation | null {
  if (!CHANGING.has(method)) return null;
  if (!url.startsWith(API_PREFIX)) return { method, path: null, body: null };
  const path = url.slice(API_PREFIX.length).split("/").map(decodeURIComponent);
  return { method, path, body: sent.length === 0 ? null : sent.toString("utf8") };
}
