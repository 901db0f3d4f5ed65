/** A real HTTP server whose answers a test scripts, and a clock that jumps instead of waiting. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach } from "vitest";
import { type ApiEvent, type ClientApi, type Clock, type Connection, createApi } from "../../src/api/index.ts";
import type { Answer, Failure } from "../../src/model/api.ts";
import type { Json } from "../../src/model/resource.ts";

export interface Received {
  readonly method: string;
  /** Path with query. */
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** From 1. */
  readonly number: number;
}

export type Script = (request: Received, response: ServerResponse, socket: Socket) => void;

export interface Scripted {
  readonly baseUrl: string;
  readonly port: number;
  readonly requests: Received[];
  /** Closes its port, and what is connected to it. */
  stop(): Promise<void>;
}

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export async function serve(script: Script): Promise<Scripted> {
  const requests: Received[] = [];
  const server = createServer(async (incoming, response) => {
    // A script that is about time says it.
    response.sendDate = false;
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const { method = "", url = "", headers } = incoming;
    const request = { method, url, headers, body: Buffer.concat(chunks).toString(), number: requests.length + 1 };
    requests.push(request);
    script(request, response, incoming.socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  cleanups.push(stop);
  return { baseUrl: `http://127.0.0.1:${port}/v4`, port, requests, stop };
}

export function json(response: ServerResponse, status: number, body: Json, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

export function html(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  response
    .writeHead(status, { "content-type": "text/html", ...headers })
    .end("<html><h1>Not what you want</h1></html>");
}

export function error(response: ServerResponse, status: number, reason: string, field?: string): void {
  json(response, status, { errors: [{ reason, ...(field ? { field } : {}) }] });
}

/** Time passes only in `sleep`: as soon as nothing real has happened for `realMilliseconds`, the next sleeper wakes. */
export class JumpingClock implements Clock {
  readonly slept: number[] = [];
  #now = 1_790_000_000_000;
  #sleepers: { time: number; wake: () => void }[] = [];
  readonly #pause: (tick: () => void) => void;

  constructor(realMilliseconds: number | "immediate" = 4) {
    this.#pause = (tick) => {
      if (realMilliseconds === "immediate") setImmediate(tick);
      else setTimeout(tick, realMilliseconds);
    };
  }

  now(): number {
    return this.#now;
  }

  /** What takes this long without a sleep. */
  pass(milliseconds: number): void {
    this.#now += milliseconds;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const sleeper = { time: this.#now + milliseconds, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        resolve();
      });
      this.slept.push(milliseconds);
      this.#pause(() => this.#tick());
    });
  }

  #tick(): void {
    this.#sleepers.sort((a, b) => a.time - b.time);
    const next = this.#sleepers.shift();
    if (next === undefined) return;
    this.#now = Math.max(this.#now, next.time);
    next.wake();
  }
}

export interface Opened {
  readonly api: ClientApi;
  readonly clock: JumpingClock;
  readonly events: ApiEvent[];
}

export const TOKEN = "tok-0123456789abcdef";

export async function open(baseUrl: string, more: Partial<Connection> = {}): Promise<Opened> {
  const clock = new JumpingClock();
  const events: ApiEvent[] = [];
  const api = await createApi({
    baseUrl,
    token: TOKEN,
    clock,
    random: () => 1,
    observe: (e) => events.push(e),
    ...more,
  });
  cleanups.push(() => api.close());
  return { api, clock, events };
}

export function failureOf(answer: Answer | { ok: boolean; failure?: Failure }): Failure {
  if (answer.ok || !("failure" in answer) || !answer.failure) throw new Error(`no failure: ${JSON.stringify(answer)}`);
  return answer.failure;
}

/** A port on which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
