/** A fastify instance whose own words never reach a client: bodies, limits and errors in the service's shape. */

import { isUtf8 } from "node:buffer";
import { closeSync, constants, openSync, writeFileSync } from "node:fs";
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { hasScope, identify, scopesInWord } from "./auth.ts";
import {
  type Answer,
  BODY_TOO_LARGE,
  badRequest,
  INTERNAL_ERROR,
  INVALID_TOKEN,
  JSON_TYPE,
  refuse,
  UNAUTHORIZED,
} from "./errors.ts";
import { isJsonBody } from "./fields.ts";
import type { LoggedRequest, Timeouts } from "./options.ts";
import type { Route, Service } from "./route.ts";
import type { TokenRow } from "./store.ts";

const MAX_BODY_BYTES = 4 * 1024 ** 2;
const MAX_HEADER_BYTES = 32 * 1024;
const MAX_PARAM_LENGTH = 1_024;

/** Longer than clients keep an idle connection, so that they close it and never lose a request to a closing one. */
const KEEP_ALIVE_MILLISECONDS = 72_000;

declare module "fastify" {
  interface FastifyContextConfig {
    /** The handler reads the body itself, whatever its type. */
    rawBody?: boolean;
  }
}

/** A body that cannot be read: answered with 400. */
class BodyError extends Error {}

/** @param answerUnroutable answers what fastify finds no route for before any hook runs: a URL that cannot be decoded */
export async function createApp(
  answerUnroutable: (request: FastifyRequest, reply: FastifyReply) => void,
  guardOptions: GuardOptions,
): Promise<FastifyInstance> {
  const { fastify } = await import("fastify");
  const guard = new HttpGuard(guardOptions);
  const { headersMilliseconds, checkMilliseconds } = guardOptions.timeouts;
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MILLISECONDS,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: headersMilliseconds,
      connectionsCheckingInterval: checkMilliseconds,
      // Answered here, in the service's shape.
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    // No route has a schema: fastify would load two compilers for them, a tenth of the time until it listens.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    return503OnClosing: false,
    frameworkErrors: (_error, request, reply) => answerUnroutable(request, reply as FastifyReply),
    clientErrorHandler: (error, socket) => guard.answerClientError(error, socket),
  });
  guard.watch(app.server);
  app.addHook("onRequest", async (request, reply) => {
    const { httpVersion, headers } = request.raw;
    if (httpVersion !== "1.1" || headers.host !== undefined) return undefined;
    return sendAnswer(reply.headers(guardOptions.limitHeaders()), badRequest({ reason: "Host is required" }));
  });
  addBodyParsers(app);
  app.setErrorHandler((error: FastifyError, _request, reply) => sendAnswer(reply, answerOfError(error)));
  return app;
}

/** In the place of a compiler. */
function noSchemas(): never {
  throw new Error("no route of the emulator has a schema");
}

export function sendAnswer(reply: FastifyReply, answer: Answer): FastifyReply {
  // A reply with its own serializer keeps its content type; fastify would add a charset.
  return reply.code(answer.status).type(JSON_TYPE).serializer(JSON.stringify).send(answer.body);
}

function addBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // JSON.parse makes `__proto__` a key like any other, and nothing here copies keys that it does not know.
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, async (_request: FastifyRequest, bytes: Buffer) =>
    parseJson(bytes),
  );
  app.addContentTypeParser("*", async (request: FastifyRequest, payload: unknown) => {
    if (request.routeOptions.config.rawBody) return payload;
    // Some clients name a type also when they send nothing.
    if (request.headers["content-length"] === "0") return {};
    throw new BodyError("Content-Type must be application/json");
  });
}

function parseJson(bytes: Buffer): object {
  if (!isUtf8(bytes)) throw new BodyError("Invalid JSON");
  const text = bytes.toString("utf8");
  if (text.trim() === "") return {};
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new BodyError("Invalid JSON");
  }
  if (!isJsonBody(parsed)) throw new BodyError("The body must be a JSON object");
  return parsed;
}

function answerOfError(error: FastifyError): Answer {
  if (error instanceof BodyError) return badRequest({ reason: error.message });
  if (error.code === "FST_ERR_CTP_BODY_TOO_LARGE") return BODY_TOO_LARGE;
  const status = error.statusCode ?? 500;
  return status >= 400 && status < 500 ? badRequest({ reason: "Invalid request" }) : INTERNAL_ERROR;
}

// Limits of a connection: how long requests may take to arrive, and what is no request at all.

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

interface GuardOptions {
  readonly timeouts: Timeouts;
  /** The headers that every answer carries. */
  readonly limitHeaders: () => Readonly<Record<string, string>>;
  /** Whether the body may take as long as it wants, as long as something comes. */
  readonly mayBeSlow: (url: string) => boolean;
}

/** Watches over requests before and beside the routes. */
class HttpGuard {
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

  /** Bytes that are no HTTP, have too long a header or come too slowly have no request to answer: the answer is written to the socket by hand. */
  answerClientError(error: Error & { code?: string }, socket: Socket): void {
    // The client would mistake this answer for the answer to a request that is still under way.
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

// Refuses web pages: a page in a browser can send requests to this machine, and by DNS rebinding also read the answers.

/** A header that no form, picture or simple script request has: for it, a browser asks first (CORS), and is refused. */
const CONTROL_HEADER = "x-tenon-emulator";

/** DNS rebinding needs a name: a page that requests an address sends its own origin, which is refused. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const MAX_SHOWN_LENGTH = 253;

/** The headers of a request that show who asks. */
type Asking = Pick<IncomingMessage, "headers"> & {
  readonly socket: { readonly localAddress?: string | undefined };
};

/**
 * Decides on Host, Origin and Sec-Fetch-Site.
 * @param names that the emulator is called by besides loopback and the address that was reached; as `hostName` returned them
 * @returns the refusal; null: no page of another site has sent it
 */
export function refusePage({ headers, socket }: Asking, names: ReadonlySet<string>): Answer | null {
  const { host, origin, "sec-fetch-site": site } = headers;
  // HTTP/1.0, which no browser speaks; in 1.1 it is refused elsewhere.
  if (host !== undefined && !isOurs(hostName(host), socket.localAddress, names)) {
    return forbid(`The Host header says ${shown(host)}. To be called so, start the emulator with --host-name NAME`);
  }
  if (origin !== undefined && !isOriginOf(origin, host)) {
    return forbid(`The Origin header says ${shown(origin)}: pages of other sites are not answered`);
  }
  if (site === "cross-site" || site === "same-site") {
    return forbid(`The Sec-Fetch-Site header says ${site}: pages of other sites are not answered`);
  }
  return null;
}

/** For what needs no token. */
export function refuseWithoutControlHeader({ headers }: Pick<IncomingMessage, "headers">): Answer | null {
  if (headers[CONTROL_HEADER] !== undefined) return null;
  return forbid(
    "Requests below /_emulator/ need the header X-Tenon-Emulator, with any value, so that no page can send them",
  );
}

/** The name of `NAME` or `NAME:PORT` in the one spelling that URLs give it; null if it is none. */
export function hostName(host: string): string | null {
  if (/[\s/?#@\\]/.test(host) || !URL.canParse(`http://${host}`)) return null;
  return new URL(`http://${host}`).hostname.replace(/\.$/, "");
}

function isOurs(name: string | null, reached: string | undefined, names: ReadonlySet<string>): boolean {
  if (name === null) return false;
  return LOOPBACK.test(name) || names.has(name) || (reached !== undefined && name === hostName(asHost(reached)));
}

/** An address as it stands in a URL: IPv6 in brackets, IPv4 plain also where the socket is one of both. */
export function asHost(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, "");
  return plain.includes(":") ? `[${plain}]` : plain;
}

function isOriginOf(origin: string, host: string | undefined): boolean {
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

function forbid(reason: string): Answer {
  return refuse(403, [{ reason }]);
}

function shown(text: string): string {
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text || "nothing";
}

// Whether a request may reach a route: credentials first, then scopes.

type Authorisation = {
  /** The scopes that the route accepts and that the token has, in the operator's words. */
  readonly headers: Readonly<Record<string, string>>;
} & ({ readonly answer: Answer; readonly caller: null } | { readonly answer: null; readonly caller: TokenRow | null });

export function authorise(
  { store, settings }: Service,
  route: Route,
  authorization: string | undefined,
): Authorisation {
  const identity = identify(store, authorization);
  const accepted = { "x-accepted-oauth-scopes": scopesInWord(route.scopes, settings.word) };
  switch (identity.type) {
    case "invalid":
      return { answer: INVALID_TOKEN, caller: null, headers: accepted };
    case "anonymous":
      return { answer: route.anonymous ? null : INVALID_TOKEN, caller: null, headers: accepted };
    case "token": {
      const { token } = identity;
      const headers = { ...accepted, "x-oauth-scopes": scopesInWord(token.scopes, settings.word) };
      const held = route.scopes.every((scope) => hasScope(token, scope));
      return held ? { answer: null, caller: token, headers } : { answer: UNAUTHORIZED, caller: null, headers };
    }
  }
}

// The requests that were answered: the latest in memory, all of them in a file if one is named.

/** Older ones are forgotten; the file keeps them. */
const MAX_REQUESTS = 100_000;

/** The same limit for paths and queries together, which anybody may send without a token. */
const MAX_TEXT_BYTES = 32 * 1024 ** 2;

export class RequestLog {
  #file: number | null;
  #failed = false;
  #requests: LoggedRequest[] = [];
  /** Before this index are forgotten ones. */
  #first = 0;
  #textBytes = 0;

  /** @param path null: no file. Throws if it cannot be opened. */
  constructor(path: string | null) {
    // Opened first without waiting: to open a named pipe takes until somebody reads from it.
    if (path !== null)
      closeSync(openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK));
    this.#file = path === null ? null : openSync(path, "a");
  }

  /** A line could not be written: from then on, no request may be answered, because its line would be missing. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Synchronous, so that the line is there before the answer is; whether it is tells `failed`. */
  add(request: LoggedRequest): void {
    this.#requests.push(request);
    this.#textBytes += textBytes(request);
    this.#forget();
    if (this.#file === null) return;
    try {
      // Goes on after a part of it was written, which `writeSync` does not.
      writeFileSync(this.#file, `${JSON.stringify(request)}\n`);
    } catch {
      this.#failed = true;
      this.close();
    }
  }

  #forget(): void {
    while (this.#requests.length - this.#first > MAX_REQUESTS || this.#textBytes > MAX_TEXT_BYTES) {
      const oldest = this.#requests[this.#first];
      if (oldest === undefined) break;
      this.#textBytes -= textBytes(oldest);
      // The text is freed at once. The places are removed many at a time, because each `shift` would move all entries.
      this.#requests[this.#first] = FORGOTTEN;
      this.#first += 1;
    }
    if (this.#first > MAX_REQUESTS) {
      this.#requests = this.#requests.slice(this.#first);
      this.#first = 0;
    }
  }

  all(): readonly LoggedRequest[] {
    return this.#first > 0 ? this.#requests.slice(this.#first) : this.#requests;
  }

  clear(): void {
    this.#requests = [];
    this.#first = 0;
    this.#textBytes = 0;
  }

  /** Requests that end after this are not in the file. */
  close(): void {
    const file = this.#file;
    this.#file = null;
    if (file === null) return;
    try {
      closeSync(file);
    } catch {
      this.#failed = true;
    }
  }
}

const FORGOTTEN: LoggedRequest = { method: "", path: "", query: "", status: 0 };

/** Node gives each octet of a URL as one character. */
function textBytes({ path, query }: LoggedRequest): number {
  return path.length + query.length;
}
