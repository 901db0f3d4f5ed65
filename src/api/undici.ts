/** The HTTP client: the only place that knows undici, which is loaded when a client is opened. */

import type { Readable } from "node:stream";
import type { buildConnector, Dispatcher, Pool } from "undici";
import { CHECKED_TLS } from "../model/tls.ts";
import { isLoopback, type Timeouts } from "./connection.ts";
import {
  ABORTED,
  ADMISSION_OVER,
  ANSWER_TOO_DEEP,
  ANSWER_TOO_FULL,
  ANSWER_TOO_MIXED,
  CHANGED_FILE,
  CHANGED_FORM_FILE,
  type HttpCall,
  type HttpOutcome,
  JsonSize,
  MISCONFIGURED,
  ONLY_INFORMATIONAL_ANSWERS,
  TOTAL_TIMEOUT,
  type Transport,
  UNREADABLE_FILE,
} from "./transport.ts";
import { fileChunks, formChunks, guardedLookup, type Reach } from "./upload.ts";

export const DEFAULT_TIMEOUTS: Timeouts = {
  connect: 10_000,
  // A zone transfer or a clone of thousands of records is answered only when it is done.
  headers: 90_000,
  body: 60_000,
  total: 300_000,
  uploadStall: 300_000,
};

/** A page of 500 records may carry targets of 65,535 characters. */
export const MAX_ANSWER_BYTES: number = 64 * 1024 * 1024;
/** Node's own default; undici would load Node's client to ask for it. */
const MAX_ANSWER_HEADER_BYTES = 16 * 1024;
/** Informational answers (1xx) before the one that counts: each starts undici's wait for a head anew. */
export const MAX_INFORMATIONAL_ANSWERS = 20;
/** Idle connections are kept this long: longer makes it likelier that the service closes one just as a POST is sent. */
export const KEEP_ALIVE_MILLISECONDS = 4_000;

export interface TransportOptions {
  readonly timeouts: Timeouts;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** For uploads, whose addresses the service chooses. */
  readonly reach: Reach;
  /** Of each connection to the service that does not go through a proxy: the address at its other end. */
  connected?(address: string): void;
}

export async function openTransport(options: TransportOptions): Promise<Transport> {
  const proxy = proxyAddress(options.environment);
  if (proxy === "invalid") return brokenTransport("HTTPS_PROXY is not the URL of an http or https proxy");
  const { Agent, buildConnector, EnvHttpProxyAgent, Pool } = await import("undici");
  const settings = {
    headersTimeout: options.timeouts.headers,
    bodyTimeout: options.timeouts.body,
    keepAliveTimeout: KEEP_ALIVE_MILLISECONDS,
    maxResponseSize: MAX_ANSWER_BYTES,
    maxHeaderSize: MAX_ANSWER_HEADER_BYTES,
  };
  // Empty strings keep undici from looking into the process's environment. Plain http is for loopback only, which
  // is never proxied, so that HTTP_PROXY has no use here.
  const noProxy = variable(options.environment, "NO_PROXY") ?? "";
  const clientFactory = (origin: URL, given: object): Dispatcher =>
    reportingTunnels(new Pool(origin, { ...given, headersTimeout: options.timeouts.connect }));
  const dispatchersOf = (connect: buildConnector.BuildOptions | buildConnector.connector) => ({
    direct: new Agent({ ...settings, connect }),
    proxied:
      proxy === null
        ? null
        : new EnvHttpProxyAgent({
            ...settings,
            ...{ connect, requestTls: CHECKED_TLS, proxyTls: CHECKED_TLS },
            ...{ httpsProxy: proxy, httpProxy: "", noProxy, clientFactory },
          }),
  });
  const settingsOfConnect = { timeout: options.timeouts.connect, ...CHECKED_TLS };
  const connector = buildConnector(settingsOfConnect);
  // undici calls back when the certificate, too, is found to be right.
  const connect: buildConnector.connector = (target, callback) =>
    connector(target, (error, socket) => {
      if (error !== null) return callback(error, null);
      if (socket.remoteAddress !== undefined) options.connected?.(socket.remoteAddress);
      callback(null, socket);
    });
  const [service, uploads] = [
    dispatchersOf(connect),
    dispatchersOf({ ...settingsOfConnect, lookup: guardedLookup(options.reach) }),
  ];
  return {
    exchange: (call, signal, mayStart = () => true) => {
      const { direct, proxied } = call.content.type === "file" ? uploads : service;
      const dispatcher = proxied && !isLoopback(new URL(call.origin).hostname) ? proxied : direct;
      return exchange(dispatcher, call, { timeouts: options.timeouts, signal, mayStart });
    },
    close: async () => {
      const all = [service, uploads].flatMap(({ direct, proxied }) => [direct, proxied]);
      await Promise.all(all.map((dispatcher) => dispatcher?.destroy()));
    },
  };
}

/**
 * A pool of connections to a proxy. It replaces UND_ERR_SOCKET while connecting by another error, because undici would otherwise connect
 * again at once and forever: a proxy that closes every tunnel would be asked thousands of times a second. A proxy that does not answer has an
 * error of its own, too: that of a head that took too long would be taken for one of the service.
 */
function reportingTunnels(pool: Pool): Dispatcher {
  const connect = pool.connect.bind(pool) as (options: Dispatcher.ConnectOptions) => Promise<Dispatcher.ConnectData>;
  const reportingConnect = async (options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> => {
    try {
      return await connect(options);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "UND_ERR_SOCKET") throw proxyError("PROXY_CLOSED", "it closed the connection");
      if (code === "UND_ERR_HEADERS_TIMEOUT") throw proxyError("PROXY_SILENT", "it took too long");
      throw error;
    }
  };
  return Object.assign(pool, { connect: reportingConnect }) as Dispatcher;
}

function proxyError(code: string, why: string): Error {
  return Object.assign(new Error(`Proxy response missing: ${why}`), { code });
}

/** The convention of curl: lower case wins, and a proxy without a scheme is an http proxy. */
function proxyAddress(environment: TransportOptions["environment"]): string | null | "invalid" {
  const text = variable(environment, "HTTPS_PROXY")?.trim() ?? "";
  if (text === "") return null;
  const address = text.includes("://") ? text : `http://${text}`;
  return URL.canParse(address) && isProxy(new URL(address)) ? address : "invalid";
}

/** undici takes no path, and decodes the user's name and password. */
function isProxy({ protocol, pathname, search, hash, username, password }: URL): boolean {
  if (!/^https?:$/.test(protocol) || pathname + search + hash !== "/") return false;
  try {
    decodeURIComponent(username);
    decodeURIComponent(password);
    return true;
  } catch {
    return false;
  }
}

function variable(environment: TransportOptions["environment"], name: string): string | undefined {
  return environment[name.toLowerCase()] ?? environment[name];
}

/** Fails every call with the same detail, so that a bad setting is reported like any other failure. */
export function brokenTransport(detail: string): Transport {
  return {
    exchange: async () => ({ type: "lost", sent: false, status: null, code: MISCONFIGURED, detail }),
    close: async () => {},
  };
}

function exchange(
  dispatcher: Dispatcher,
  call: HttpCall,
  {
    timeouts,
    signal,
    mayStart,
  }: {
    readonly timeouts: Timeouts;
    readonly signal: AbortSignal | undefined;
    readonly mayStart: () => boolean;
  },
): Promise<HttpOutcome> {
  return new Promise((resolve) => {
    const listener = new Listener(mayStart, (outcome) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      resolve(outcome);
    });
    const abort = (): void => listener.stop(ABORTED, "aborted");
    const isUpload = call.content.type === "file" || call.content.type === "form";
    const timer = isUpload
      ? undefined
      : setTimeout(() => listener.stop(TOTAL_TIMEOUT, "took too long"), timeouts.total);
    if (signal?.aborted) return abort();
    signal?.addEventListener("abort", abort);
    const request: Dispatcher.DispatchOptions = {
      origin: call.origin,
      path: call.path,
      method: call.method,
      headers: { ...call.headers },
      body: bodyOf(call, listener),
      ...(isUpload ? { headersTimeout: timeouts.uploadStall } : {}),
    };
    dispatcher.dispatch(request, listener);
  });
}

function bodyOf({ content }: HttpCall, listener: Listener): NonNullable<Dispatcher.DispatchOptions["body"]> | null {
  switch (content.type) {
    case "none":
      return null;
    case "text":
      return content.text;
    case "file":
      return readable(fileChunks(content), listener) as unknown as Readable;
    case "form":
      return readable(formChunks(content), listener) as unknown as Readable;
  }
}

/** The chunks of a file, as undici takes them, though its types do not say so; an error is told first, before it ends the request. */
async function* readable(chunks: AsyncIterable<Buffer>, listener: Listener): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (error) {
    listener.unreadable(error as Error);
    throw error;
  }
}

/**
 * Follows one dispatch. Works on undici's own callbacks because only `onRequestStart` tells whether anything can have
 * been sent: it is called with a connected socket, just before the first byte is written.
 */
class Listener implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | null = null;
  #settled = false;
  #sent = false;
  #status: number | null = null;
  #headers: Record<string, string> = {};
  readonly #body: AnswerBody = new AnswerBody();
  readonly #size: JsonSize = new JsonSize();
  #informationalAnswers = 0;
  readonly #mayStart: () => boolean;
  readonly #settle: (outcome: HttpOutcome) => void;

  constructor(mayStart: () => boolean, settle: (outcome: HttpOutcome) => void) {
    this.#mayStart = mayStart;
    this.#settle = settle;
  }

  stop(code: string, detail: string): void {
    this.#lost(code, detail);
    this.#controller?.abort(new Error(detail));
  }

  /** The file to be sent could not be read, or is not what was to be sent. */
  unreadable(error: Error): void {
    const { code, message } = error as NodeJS.ErrnoException;
    const isChanged = code === CHANGED_FILE || code === CHANGED_FORM_FILE;
    this.stop(isChanged ? code : UNREADABLE_FILE, code ?? message);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) controller.abort(new Error("given up before it was sent"));
    else if (this.#mayStart()) this.#sent = true;
    else this.stop(ADMISSION_OVER, "not admitted any more");
  }

  onResponseStart(_controller: unknown, status: number, headers: Readonly<Record<string, unknown>>): void {
    if (status < 200) {
      this.#informationalAnswers += 1;
      if (this.#informationalAnswers > MAX_INFORMATIONAL_ANSWERS) this.stop(ONLY_INFORMATIONAL_ANSWERS, `${status}`);
      return;
    }
    this.#status = status;
    for (const [name, value] of Object.entries(headers)) this.#headers[name.toLowerCase()] = String(value);
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#body.add(chunk);
    const excess = this.#size.take(chunk);
    if (excess === "deep") this.stop(ANSWER_TOO_DEEP, "nested too deep");
    else if (excess === "full") this.stop(ANSWER_TOO_FULL, "too many values");
    else if (excess === "mixed") this.stop(ANSWER_TOO_MIXED, "too many kinds of objects");
  }

  onResponseEnd(): void {
    const text = this.#body.text();
    this.#finish({ type: "answer", status: this.#status ?? 0, headers: this.#headers, text });
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#lost((error as NodeJS.ErrnoException).code ?? error.name, error.message);
  }

  #lost(code: string, detail: string): void {
    this.#finish({ type: "lost", sent: this.#sent, status: this.#status, code, detail });
  }

  #finish(outcome: HttpOutcome): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#settle(outcome);
  }
}

/** Smaller chunks are copied together: a Buffer takes some 130 bytes beside its own, and a service may send each byte as a chunk. */
const MIN_CHUNK_BYTES = 4_096;
const BLOCK_BYTES = 65_536;

/** The bytes of an answer as they come. */
class AnswerBody {
  readonly #parts: Buffer[] = [];
  #block: Buffer = Buffer.alloc(0);
  #used = 0;

  add(chunk: Buffer): void {
    if (chunk.length >= MIN_CHUNK_BYTES) {
      this.#endBlock();
      this.#parts.push(chunk);
      return;
    }
    if (this.#used + chunk.length > this.#block.length) {
      this.#endBlock();
      this.#block = Buffer.allocUnsafe(BLOCK_BYTES);
    }
    this.#used += chunk.copy(this.#block, this.#used);
  }

  text(): string {
    this.#endBlock();
    return Buffer.concat(this.#parts).toString("utf8");
  }

  #endBlock(): void {
    if (this.#used > 0) this.#parts.push(this.#block.subarray(0, this.#used));
    this.#block = Buffer.alloc(0);
    this.#used = 0;
  }
}
