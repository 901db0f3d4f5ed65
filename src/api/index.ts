/** The API client: one connection to the service, as the rest of the product sees it. */

import { type Answer, type ApiRequest, DEFAULT_CONCURRENCY, type Failure } from "../model/api.ts";
import { endingWith, shared } from "../model/ending.ts";
import { Secret } from "../model/secret.ts";
import { ADMITTED, type ClientApi, type Connection, checkBaseUrl, type ReadClient, systemClock } from "./connection.ts";
import { errorsFromWire, fromWire, NEUTRAL_DIALECT, otherPath, toWire } from "./dialect.ts";
import { createLimiter, type Limiter } from "./limiter.ts";
import { createLister, DEFAULT_PAGE_SIZE, filterHeader, MAX_LIST_CHARACTERS } from "./lists.ts";
import { classifyResponse } from "./outcome.ts";
import { endpointOf } from "./rate-limit.ts";
import { createRequestSender, type PreparedRequest, type RequestSender } from "./send.ts";
import type { HttpCall, Transport } from "./transport.ts";
import { brokenTransport, DEFAULT_TIMEOUTS, openTransport } from "./undici.ts";
import { formOf, prepareUpload, ServiceNetworks } from "./upload.ts";

export type { Clock } from "../model/clock.ts";
export type { Admission, ApiEvent, ClientApi, Connection, ReadClient } from "./connection.ts";
export { type CheckedBaseUrl, checkBaseUrl, isLoopback, systemClock } from "./connection.ts";
export { allowedSeconds, isDialect, NEUTRAL_DIALECT } from "./dialect.ts";
export { MAX_PACE_ENDPOINTS, type PaceCell, type PaceWindow, type SeenLimits } from "./pace.ts";
export { SERVICES, type Service, serviceAt, serviceCalled } from "./services.ts";
export { JsonSize } from "./transport.ts";

/**
 * Opens a client. Loads undici; sends nothing yet.
 * @throws if the base URL is not one that `checkBaseUrl` lets through
 */
export async function createApi(connection: Connection): Promise<ClientApi> {
  const base = checkBaseUrl(connection.baseUrl);
  if (!base.ok) throw new Error(base.diagnostic.summary);
  const networks = new ServiceNetworks(new URL(base.url));
  const transport = await transportOf(connection, networks);
  const { limiter, requests } = limiterAndSender(connection, transport);
  const dialect = connection.dialect ?? NEUTRAL_DIALECT;
  const sender = createSender({ base: new URL(base.url), token: connection.token.trim(), dialect, requests });
  const clock = connection.clock ?? systemClock;
  const list = createLister({
    send: sender,
    clock,
    pageSize: connection.pageSize ?? DEFAULT_PAGE_SIZE,
    maxCharacters: connection.maxListCharacters ?? MAX_LIST_CHARACTERS,
  });
  return {
    get requestCount() {
      return requests.requestCount;
    },
    get: ({ path, query }, signal) =>
      sender({ method: "GET", path, ...(query === undefined ? {} : { query }) }, shared(signal)),
    send: (request, signal, waits) => sender(request, shared(signal), shared(waits)),
    list: (request, signal) => list(request, shared(signal)),
    upload: async (request, signal) => {
      const prepared = await prepareUpload(request, networks.reach);
      if (typeof prepared === "string") return refusedHere(prepared);
      const ending = endingWith(signal);
      const limit = request.limitMilliseconds;
      const timer = limit === undefined ? undefined : setTimeout(ending.abort, limit);
      try {
        return await requests.send(prepared, ending.signal);
      } finally {
        clearTimeout(timer);
        ending.release();
      }
    },
    limits: () => limiter.limits(),
    close: () => {
      if (connection.pace !== undefined) connection.pace.seen = limiter.pace();
      return transport.close();
    },
  };
}

/** A client that writes with `api` and reads with `reading`, which may check what is answered. */
export function withReading(api: ClientApi, reading: ReadClient): ClientApi {
  return {
    get requestCount() {
      return api.requestCount;
    },
    get: (request, signal) => reading.get(request, signal),
    list: (request, signal) => reading.list(request, signal),
    send: (request, signal, waits) => api.send(request, signal, waits),
    upload: (request, signal) => api.upload(request, signal),
    limits: () => api.limits(),
    close: () => api.close(),
  };
}

async function transportOf(connection: Connection, networks: ServiceNetworks): Promise<Transport> {
  if (/[^\x21-\x7e]/.test(connection.token.trim())) {
    return brokenTransport("the token holds characters that no token has, such as blanks or line breaks");
  }
  const timeouts = { ...DEFAULT_TIMEOUTS, ...connection.timeouts };
  return openTransport({
    ...{ timeouts, environment: connection.environment ?? {} },
    ...{ reach: networks.reach, connected: (address) => networks.connected(address) },
  });
}

function limiterAndSender(connection: Connection, transport: Transport): { limiter: Limiter; requests: RequestSender } {
  const clock = connection.clock ?? systemClock;
  const random = connection.random ?? Math.random;
  const observe = connection.observe ?? (() => {});
  const limiter = createLimiter({
    concurrency: connection.concurrency ?? DEFAULT_CONCURRENCY,
    clock,
    random,
    pace: connection.pace?.seen ?? null,
    reportThrottled: (endpoint, milliseconds, because) =>
      observe({ type: "throttled", endpoint, waitSeconds: milliseconds / 1000, because }),
  });
  const retryForSeconds = connection.retryForSeconds ?? null;
  const secret = new Secret(connection.token);
  const hide = (text: string): string => secret.hide(text);
  const holdsToken = (text: string): boolean => secret.isIn(text);
  const admit = connection.admit ?? (async () => ADMITTED);
  return {
    limiter,
    requests: createRequestSender({
      ...{ transport, limiter, clock, random, retryForSeconds, hide, holdsToken, observe, admit },
    }),
  };
}

interface SenderOptions {
  readonly base: URL;
  readonly token: string;
  readonly dialect: string;
  readonly requests: RequestSender;
}

function createSender(
  options: SenderOptions,
): (request: ApiRequest, signal?: AbortSignal, waits?: AbortSignal) => Promise<Answer> {
  const { dialect, requests } = options;
  /** An earlier request succeeded only at the other path. */
  let usesOtherPath = false;

  async function sendOnce(
    request: ApiRequest,
    signal: AbortSignal | undefined,
    waits: AbortSignal | undefined,
  ): Promise<Answer> {
    const answer = await requests.send(deliveryOf(request, options), signal, waits);
    if (answer.ok) return { ...answer, body: fromWire(answer.body, request.path, dialect) };
    return { ok: false, failure: { ...answer.failure, errors: errorsFromWire(answer.failure.errors, dialect) } };
  }

  return async (request, signal, waits) => {
    if (request.path.some((segment) => /^\.{0,2}$/.test(segment))) return refusedHere("an id is empty or made of dots");
    if (!request.path.every((segment) => SEGMENT.test(segment)))
      return refusedHere("an id holds what no id of the API does");
    const path = otherPath(request, dialect);
    if (path === null) return sendOnce(request, signal, waits);
    const answer = await sendOnce(usesOtherPath ? { ...request, path } : request, signal, waits);
    if (usesOtherPath || answer.ok || answer.failure.status !== 404) return answer;
    const other = await sendOnce({ ...request, path }, signal, waits);
    usesOtherPath = other.ok;
    return other;
  };
}

/** A word or a number; or two, as in `private/15`. Whatever decodes `%2F` on the way must not find another path in an id. */
const SEGMENT = /^[a-z0-9][a-z0-9._-]*(\/[a-z0-9][a-z0-9._-]*)?$/i;

function deliveryOf(request: ApiRequest, options: SenderOptions): PreparedRequest {
  const wire = toWire(request, options.dialect);
  return {
    call: callOf(wire, options.base, options.token),
    shownPath: `/${request.path.join("/")}`,
    endpoint: endpointOf(wire.method, wire.path),
    classify: classifyResponse,
    ...(request.confirm === undefined ? {} : { confirm: request.confirm }),
    seenMillisecondsAgo: request.seenMillisecondsAgo ?? 0,
  };
}

function callOf(request: ApiRequest, base: URL, token: string): HttpCall {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(request.query ?? {})) query.set(key, String(value));
  const search = query.size === 0 ? "" : `?${query}`;
  const form = request.form === undefined ? null : formOf(request.form);
  return {
    method: request.method,
    origin: base.origin,
    path: `${base.pathname.replace(/\/$/, "")}/${request.path.map(encodeURIComponent).join("/")}${search}`,
    headers: {
      accept: "application/json",
      "user-agent": "tenon",
      ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
      ...(request.filter ? { "x-filter": filterHeader(request.filter) } : {}),
      ...(request.body ? { "content-type": "application/json" } : {}),
      ...form?.headers,
    },
    content:
      form !== null
        ? form.content
        : request.body
          ? { type: "text", text: JSON.stringify(request.body) }
          : { type: "none" },
  };
}

/** A request that was never sent, because it is malformed. */
function refusedHere(message: string): Answer {
  const failure: Failure = {
    type: "refused",
    effect: "none",
    status: null,
    errors: [],
    message,
    maintenance: false,
    attempts: 0,
  };
  return { ok: false, failure };
}
