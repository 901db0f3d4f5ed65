/** A small server over HTTP for what runs on this machine: who may ask, how much, and the text format of Prometheus. */

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { visibleJson } from "../model/text.ts";

const MAX_CONNECTIONS = 64;
/** Answers that go on; the other connections are for whoever asks once, such as a health check. */
const MAX_STREAMS = 32;
const MAX_HEADER_BYTES = 8 * 1024;
const REQUEST_TIMEOUT_MILLISECONDS = 10_000;
const CHECK_MILLISECONDS = 1_000;
/** So long an answer may take altogether, unless it is a stream; the largest page has some megabytes. */
const TAKE_MILLISECONDS = 30_000;

export interface Answer {
  readonly status: number;
  /** A Buffer: clients that take it slowly share it. */
  readonly text: string | Buffer;
  /** Absent: plain text, as Prometheus takes it. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that goes on until the client or the server ends it. */
export interface StreamAnswer {
  readonly type: "text/event-stream";
  /** Called once the head is sent. */
  begin(response: ServerResponse): void;
}

export interface HttpOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** @param path without what follows a question mark */
  answer(path: string): Promise<Answer | StreamAnswer> | Answer | StreamAnswer;
  /** Called with what an answer throws, which is a bug: the client gets status 500, and the server goes on. */
  reportBug?(error: unknown): void;
  /** Default: TAKE_MILLISECONDS. */
  readonly takeMilliseconds?: number;
}

export interface WatchServer {
  readonly port: number;
  close(): Promise<void>;
}

const PLAIN = "text/plain; version=0.0.4; charset=utf-8";
const HEADERS = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

/** @throws NodeJS.ErrnoException if the port cannot be listened on */
export async function serveHttp(options: HttpOptions): Promise<WatchServer> {
  const responder = new Responder(options, () => isLoopback((server.address() as AddressInfo | null)?.address ?? ""));
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      requestTimeout: REQUEST_TIMEOUT_MILLISECONDS,
      headersTimeout: REQUEST_TIMEOUT_MILLISECONDS,
      // Node's default is half a minute: connections that say nothing would keep others away for so long.
      connectionsCheckingInterval: CHECK_MILLISECONDS,
    },
    (request, response) => void responder.respond(request, response),
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.listen(options.port, options.host);
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

class Responder {
  readonly #options: HttpOptions;
  readonly #listensHereAlone: () => boolean;
  readonly #streams: Set<ServerResponse> = new Set();

  constructor(options: HttpOptions, listensHereAlone: () => boolean) {
    this.#options = options;
    this.#listensHereAlone = listensHereAlone;
  }

  /** Never throws. */
  async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const answer = await answerTo(request, this.#options, this.#listensHereAlone());
      if ("begin" in answer) this.#stream(request, response, answer);
      else this.#send(request, response, answer);
    } catch (error) {
      this.#options.reportBug?.(error);
      if (response.headersSent) response.destroy();
      else this.#send(request, response, { status: 500, text: "internal error\n" });
    }
  }

  #stream(request: IncomingMessage, response: ServerResponse, { type, begin }: StreamAnswer): void {
    if (this.#streams.size >= MAX_STREAMS) {
      this.#send(request, response, { status: 503, text: "Too many pages are open.\n" });
      return;
    }
    response.writeHead(200, { ...HEADERS, "content-type": type });
    if (request.method === "HEAD") {
      response.end();
      return;
    }
    this.#streams.add(response);
    response.on("close", () => this.#streams.delete(response));
    begin(response);
  }

  #send(
    request: IncomingMessage,
    response: ServerResponse,
    { status, text, type = PLAIN, headers = {} }: Answer,
  ): void {
    response.writeHead(status, { ...HEADERS, ...headers, "content-type": type, connection: "close" });
    response.end(request.method === "HEAD" ? "" : text);
    const end = setTimeout(() => response.destroy(), this.#options.takeMilliseconds ?? TAKE_MILLISECONDS).unref();
    response.on("close", () => clearTimeout(end));
  }
}

async function answerTo(
  request: IncomingMessage,
  options: HttpOptions,
  listensHereAlone: boolean,
): Promise<Answer | StreamAnswer> {
  const { host } = request.headers;
  if (listensHereAlone && isForeign(host, options.host)) {
    return {
      status: 403,
      text: "Another host is meant. What listens on this machine alone is called by its address.\n",
    };
  }
  if (isOfAnotherPage(request.headers)) return { status: 403, text: "Pages of other origins are not answered.\n" };
  if (request.method !== "GET" && request.method !== "HEAD") return { status: 405, text: "GET only\n" };
  return options.answer((request.url ?? "").split("?", 1)[0] ?? "");
}

async function close(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, "close");
}

/** @param address that a socket has: `127.1` and this machine's own name are addresses by then */
function isLoopback(address: string): boolean {
  return /^(?:(?:::ffff:)?127\.|::1$)/i.test(address);
}

const LOOPBACK_HOST = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost|[a-z0-9-]{1,63}\.localhost)(?::\d{1,5})?$/i;

/**
 * Whether a page in a browser may have sent it, whose host name its owner has made to lead to this machine (DNS rebinding). Where others are to
 * reach the server, by whatever names they have for it, nobody can tell.
 * @param given the name that it was told to listen on
 */
function isForeign(host: string | undefined, given: string): boolean {
  if (host === undefined || LOOPBACK_HOST.test(host)) return false;
  const called = hostnameOf(host);
  return called === null || called !== hostnameOf(given.includes(":") ? `[${given}]` : given);
}

/** In the one spelling that URLs give it; null: it is none. */
function hostnameOf(host: string): string | null {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : null;
}

/**
 * A browser names the page that asks, unless it is of this server, or says that it is of another site, as for an image. A link on such a page may
 * be followed.
 */
function isOfAnotherPage(headers: IncomingMessage["headers"]): boolean {
  const { host, origin, "sec-fetch-site": site, "sec-fetch-dest": destination } = headers;
  if ((site === "cross-site" || site === "same-site") && destination !== "document") return true;
  return origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase());
}

// The text format of Prometheus, 0.0.4.

export interface Metric {
  readonly name: string;
  readonly type: "gauge" | "counter";
  readonly help: string;
  readonly samples: readonly Sample[];
}

export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Newline-terminated. Metrics without a sample are left out. */
export function metricsText(metrics: readonly Metric[]): string {
  const lines = metrics.flatMap(({ name, type, help, samples }) => [
    ...(samples.length === 0 ? [] : [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]),
    ...samples.map(([labels, value]) => `${name}${labelsText(labels)} ${value}`),
  ]);
  return `${lines.join("\n")}\n`;
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

/** The format has no escapes of its own for what is not plainly visible: the backslash of those of JSON is escaped, too. */
function escapeLabel(value: string): string {
  return visibleJson(value).replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
