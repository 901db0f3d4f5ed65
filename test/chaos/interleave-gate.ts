/** The gate: real HTTP between one run and the emulator, at which every request stops until it is let through. */

import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that waits at the gate. */
export interface Held {
  readonly method: string;
  /** Below `/v4`, or the target of an upload; without the query. */
  readonly path: string;
  readonly body: string;
  /** As it came: an upload is no text. */
  readonly content: Buffer;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

export interface Passed {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly status: number;
  readonly answer: string;
  /** The service did what it was asked for, but the connection broke before the run heard of it. */
  readonly lost: boolean;
}

/** Ids replaced, so that two orders of the same work count as different and two accounts do not. */
export function template({ method, path }: Pick<Held, "method" | "path">): string {
  const named = path.startsWith("/_upload/")
    ? "/_upload/{target}"
    : path.replace(/\/(private%2F)?\d+(?=\/|$)/gi, "/{id}");
  return `${method} ${named}`;
}

export class Gate {
  readonly #server: Server;
  readonly #agent: Agent = new Agent({ keepAlive: true });
  readonly #target: number;
  #held: Held[] = [];

  private constructor(target: number) {
    this.#target = target;
    // Connections that wait while the other run has its turn are kept: one that closes would be a fault of its own.
    this.#server = createServer(
      { keepAliveTimeout: 0 },
      (incoming, outgoing) => void this.#receive(incoming, outgoing),
    );
  }

  /** @param target the emulator's port */
  static async open(target: number): Promise<Gate> {
    const gate = new Gate(target);
    await new Promise<void>((resolve) => gate.#server.listen(0, "127.0.0.1", resolve));
    return gate;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v4`;
  }

  /** In an order that does not depend on which connection was quicker. */
  get held(): readonly Held[] {
    return this.#held;
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** @param lose the answer is not handed on */
  async pass(held: Held, lose: boolean): Promise<Passed> {
    this.#held = this.#held.filter((other) => other !== held);
    const { status, headers, answer } = await this.#forward(held);
    if (lose) {
      held.outgoing.destroy();
    } else {
      // Uploads stop at the gate as well.
      const text = answer.replaceAll(`127.0.0.1:${this.#target}`, this.baseUrl.slice("http://".length, -"/v4".length));
      held.outgoing.writeHead(status, { ...headers, "content-length": Buffer.byteLength(text) });
      held.outgoing.end(text);
    }
    return { method: held.method, path: held.path, body: held.body, status, answer, lost: lose };
  }

  async #receive(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const content = await contentOf(incoming);
    const body = content.toString("utf8");
    const [path = ""] = (incoming.url ?? "").split("?");
    const held = { method: incoming.method ?? "", path: path.replace(/^\/v4/, ""), body, content, incoming, outgoing };
    this.#held = [...this.#held, held].sort((a, b) => compare(keyOf(a), keyOf(b)));
    // A run that gives up reading waits for none of its other answers.
    outgoing.on("close", () => {
      this.#held = this.#held.filter((other) => other !== held);
    });
  }

  #forward({
    incoming,
    method,
    content,
  }: Held): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; answer: string }> {
    return new Promise((resolve, reject) => {
      const { host: _host, connection: _connection, "transfer-encoding": _encoding, ...headers } = incoming.headers;
      const sent = request(
        {
          port: this.#target,
          host: "127.0.0.1",
          agent: this.#agent,
          method,
          path: incoming.url,
          headers: { ...headers, ...(content.length === 0 ? {} : { "content-length": content.length }) },
        },
        (response) => {
          const { "transfer-encoding": _chunked, connection: _kept, ...rest } = response.headers;
          contentOf(response).then(
            (answer) => resolve({ status: response.statusCode ?? 0, headers: rest, answer: answer.toString("utf8") }),
            reject,
          );
        },
      );
      sent.on("error", reject);
      sent.end(content);
    });
  }
}

async function contentOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function keyOf({ method, path, body, incoming }: Held): string {
  return `${method} ${path} ${incoming.url ?? ""} ${String(incoming.headers["x-filter"] ?? "")} ${body}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
