/** The HTTP server: routes → fastify, every answer in the service's own shape. */

import { isUtf8 } from "node:buffer";
import { timingSafeEqual } from "node:crypto";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { createGunzip } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from "fastify";
import {
  type Answer,
  badRequest,
  INTERNAL_ERROR,
  JSON_TYPE,
  METHOD_NOT_ALLOWED,
  NOT_FOUND,
  refuse,
  succeedEmpty,
  TOO_MANY_REQUESTS,
  UNAUTHORIZED,
} from "./errors.ts";
import { answerInstead, deliver, type FaultAnswer, putAnswer, statusSeen } from "./fault-delivery.ts";
import type { ActiveFaults } from "./faults.ts";
import { isJsonBody } from "./fields.ts";
import { type FormReading, type ReceivedFile, readForm, takeForms } from "./forms.ts";
import { authorise, createApp, type RequestLog, refusePage, refuseWithoutControlHeader, sendAnswer } from "./http.ts";
import type { RateLimit, Timeouts } from "./options.ts";
import type { Call, Route, Service } from "./route.ts";
import type { ControlRoute } from "./routes.ts";
import type { ImageRow, TokenRow } from "./store.ts";

export const API_PREFIX = "/v4";
export const UPLOAD_PREFIX = "/_upload";
const CONTROL_PREFIX = "/_emulator";
/** The most octets of a request that needs no token: enough for every fault there may be. */
const MAX_CONTROL_BODY_BYTES = 64 * 1024;

/** On every answer of the API, as the running service has them (docs/reference/OBSERVED.md, Pages, filters, limits). */
const SERVICE_HEADERS = {
  // The revision of API.md.
  "x-spec-version": "4.176.0",
  "cache-control": "private, max-age=0, no-cache, no-store",
  vary: "Authorization, X-Filter",
};

const METHODS: readonly HTTPMethods[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];

/** Looks at a request below `/v4` before anything else does: an answer ends it, null lets it pass. */
type Gate = (request: { readonly method: string; readonly url: string }) => Answer | null;

interface ServerParts {
  readonly service: Service;
  readonly routes: readonly Route[];
  readonly controlRoutes: readonly ControlRoute[];
  readonly requests: RequestLog;
  readonly limitRate: () => RateDecision;
  /** In this order, after the rate limit. */
  readonly gates: readonly Gate[];
  readonly latencyMilliseconds: number;
  readonly timeouts: Timeouts;
  readonly faults: ActiveFaults;
  /** Host names by which clients may call the emulator, beside loopback and the address that they reached. */
  readonly hostNames: ReadonlySet<string>;
  /** Resolves once what was changed is kept. */
  readonly commit: () => Promise<void>;
}

export interface RunningServer {
  readonly port: number;
  close(): Promise<void>;
}

export async function startServer(parts: ServerParts, host: string, port: number): Promise<RunningServer> {
  const app = await createApp((request, reply) => answerUnroutable(parts, request, reply), {
    timeouts: parts.timeouts,
    limitHeaders: () => parts.limitRate().headers,
    mayBeSlow: (url) => url.startsWith(`${UPLOAD_PREFIX}/`),
  });
  app.addHook("onRequest", async (request, reply) => {
    const refusal = refusePage(request.raw, parts.hostNames);
    return refusal === null ? undefined : sendAnswer(reply, refusal);
  });
  app.addHook("onRequest", (request, reply) => admit(parts, request, reply));
  app.addHook("onSend", (request, reply, payload, done) => {
    // The account's own clock: clients judge by it how old something is.
    reply.header("date", new Date(parts.service.clock.now()).toUTCString());
    log(parts, request, reply);
    if (parts.requests.failed && !isBelow(request, CONTROL_PREFIX)) {
      reply.code(INTERNAL_ERROR.status).type(JSON_TYPE);
      done(null, JSON.stringify(INTERNAL_ERROR.body));
      return;
    }
    const effect = parts.faults.effectOf(request);
    if (effect === null) done(null, payload);
    else deliver(effect, reply, payload, (sent) => done(null, sent));
  });
  app.setNotFoundHandler((_request, reply) => sendAnswer(reply, NOT_FOUND));
  for (const route of parts.routes) {
    if (route.body === "multipart") await registerFormRoute(app, parts, route);
    else registerRoute(app, parts, route);
  }
  for (const route of parts.controlRoutes) registerControl(app, parts, route);
  registerUpload(app, parts);
  registerOtherMethods(app, parts);
  await app.listen({ host, port });
  const address = app.server.address() as AddressInfo;
  return { port: address.port, close: () => app.close() };
}

function isBelow(request: FastifyRequest, prefix: string): boolean {
  return request.url.startsWith(`${prefix}/`);
}

/** As they were sent; `""` if there is no query. */
function partsOf(url: string): { readonly path: string; readonly query: string } {
  const mark = url.indexOf("?");
  return mark === -1 ? { path: url, query: "" } : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}

/** An id that was never issued: answers 404, as the service does. */
function isOutside(request: FastifyRequest): boolean {
  return ![API_PREFIX, UPLOAD_PREFIX, CONTROL_PREFIX].some((prefix) => isBelow(request, prefix));
}

/** The rate limit and the gates; then what needs no body: an unknown path. */
async function admit(
  parts: ServerParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  if (isBelow(request, API_PREFIX)) {
    reply.headers(SERVICE_HEADERS);
    const decision = parts.limitRate();
    reply.headers(decision.headers);
    if (parts.latencyMilliseconds > 0) await delay(parts.latencyMilliseconds);
    if (!decision.allowed) return sendAnswer(reply, TOO_MANY_REQUESTS);
    for (const gate of parts.gates) {
      const answer = gate(request);
      if (answer !== null) return sendAnswer(reply, answer);
    }
  }
  const fault = strike(parts, request);
  // As octets, for fastify would add a charset to the type of a text.
  if (fault !== null) return reply.send(Buffer.from(putAnswer(reply, fault)));
  if (!request.is404) return undefined;
  return sendAnswer(reply.headers(isOutside(request) ? parts.limitRate().headers : {}), NOT_FOUND);
}

/** Decides which fault the request meets. @returns what it is answered with instead of any work, or null */
function strike({ faults }: ServerParts, request: FastifyRequest): FaultAnswer | null {
  const { path } = partsOf(request.url);
  const isUpload = isBelow(request, UPLOAD_PREFIX);
  if (!isUpload && !isBelow(request, API_PREFIX)) return null;
  const effect = faults.decide(request, isUpload ? path : path.slice(API_PREFIX.length));
  return effect === null ? null : answerInstead(effect);
}

function answerUnroutable(parts: ServerParts, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = refusePage(request.raw, parts.hostNames);
  if (refusal !== null) {
    sendAnswer(reply, refusal);
    return;
  }
  if (isBelow(request, API_PREFIX)) reply.headers(SERVICE_HEADERS);
  if (isBelow(request, API_PREFIX) || isOutside(request)) reply.headers(parts.limitRate().headers);
  reply.code(NOT_FOUND.status);
  log(parts, request, reply);
  sendAnswer(reply, parts.requests.failed ? INTERNAL_ERROR : NOT_FOUND);
}

function log(parts: ServerParts, request: FastifyRequest, reply: FastifyReply): void {
  // A page must not fill the log either.
  if (isBelow(request, CONTROL_PREFIX) || refusePage(request.raw, parts.hostNames) !== null) return;
  const { path, query } = partsOf(request.url);
  const effect = parts.faults.effectOf(request);
  const status = effect === null ? reply.statusCode : statusSeen(effect, reply.statusCode);
  parts.requests.add({
    method: request.method,
    path,
    query,
    status,
    ...(effect === null ? {} : { fault: effect.type }),
  });
}

/** In a scope of its own, so that no other route takes forms. */
async function registerFormRoute(app: FastifyInstance, parts: ServerParts, route: Route): Promise<void> {
  await app.register(async (scope) => {
    await takeForms(scope);
    registerRoute(scope, parts, route);
  });
}

function registerRoute(app: FastifyInstance, parts: ServerParts, route: Route): void {
  const callers = new WeakMap<FastifyRequest, TokenRow | null>();
  app.route({
    method: route.method,
    url: API_PREFIX + route.path,
    onRequest: async (request, reply) => {
      const admission = authorise(parts.service, route, request.headers.authorization);
      reply.headers(admission.headers);
      if (admission.answer !== null) return sendAnswer(reply, admission.answer);
      callers.set(request, admission.caller);
    },
    handler: async (request, reply) => {
      const form = route.body === "multipart" ? await readForm(request) : NO_FORM;
      if (form.answer !== null) return sendAnswer(reply, form.answer);
      const admitted = callers.get(request) ?? null;
      const call = callOf(request, admitted, form.files);
      return work(parts, request, reply, () => {
        // Read anew: the user's grants may have grown while the body was on its way.
        const caller = admitted === null ? null : (parts.service.store.tables.tokens.get(admitted.id) ?? admitted);
        return route.handle(parts.service, { ...call, caller });
      });
    },
  });
}

/** Handles, keeps and answers; a late one answers first. */
async function work(
  parts: ServerParts,
  request: FastifyRequest,
  reply: FastifyReply,
  handle: () => Answer | Promise<Answer>,
): Promise<FastifyReply> {
  const handleAndKeep = async (): Promise<Answer> => {
    const answer = await handle();
    await parts.commit();
    return answer;
  };
  const effect = parts.faults.effectOf(request);
  if (effect?.type !== "late") return sendAnswer(reply, await handleAndKeep());
  parts.faults.late.add(effect.delayMilliseconds, handleAndKeep);
  // No client sees this answer: the delivery of a late fault sends its own.
  return sendAnswer(reply, INTERNAL_ERROR);
}

const NO_FORM: FormReading = { answer: null, files: [] };

function callOf(request: FastifyRequest, caller: TokenRow | null, files: readonly ReceivedFile[]): Call {
  const filter = request.headers["x-filter"];
  return {
    params: request.params as Record<string, string>,
    query: new URLSearchParams(partsOf(request.url).query),
    filter: filter === undefined ? undefined : headerText(String(filter)),
    body: isJsonBody(request.body) ? request.body : {},
    files,
    caller,
    remoteAddress: request.ip,
    host: request.headers.host,
  };
}

/** Octets above 127 are UTF-8 if they can be; Node gives each of them as one character. */
function headerText(header: string): string {
  const octets = Buffer.from(header, "latin1");
  return isUtf8(octets) ? octets.toString("utf8") : header;
}

function registerControl(app: FastifyInstance, parts: ServerParts, route: ControlRoute): void {
  app.route({
    method: route.method,
    url: CONTROL_PREFIX + route.path,
    bodyLimit: MAX_CONTROL_BODY_BYTES,
    // At the route, which a path with percent signs reaches as well.
    onRequest: async (request, reply) => {
      const refusal = refuseWithoutControlHeader(request.raw);
      return refusal === null ? undefined : sendAnswer(reply, refusal);
    },
    handler: async (request, reply) => {
      const answer = route.handle(isJsonBody(request.body) ? request.body : {});
      await parts.commit();
      return sendAnswer(reply, answer);
    },
  });
}

function registerUpload(app: FastifyInstance, parts: ServerParts): void {
  app.route({
    method: "PUT",
    url: `${UPLOAD_PREFIX}/:prefix/:rest`,
    config: { rawBody: true },
    onRequest: async (request, reply) => {
      const refusal = refuseUpload(parts.service, uploadRequest(request));
      if (refusal !== null) return sendAnswer(reply, refusal);
    },
    handler: async (request, reply) => {
      const { imageId } = uploadRequest(request);
      const data = await readUpload(request.body as Readable);
      return work(parts, request, reply, () => keepUpload(parts.service, imageId, data));
    },
  });
}

function uploadRequest(request: FastifyRequest): UploadRequest {
  const { prefix, rest } = request.params as { prefix: string; rest: string };
  const { signature } = request.query as { signature?: unknown };
  return {
    imageId: `${prefix}/${rest}`,
    signature: typeof signature === "string" ? signature : "",
    contentType: request.headers["content-type"],
    contentLength: request.headers["content-length"],
    authorization: request.headers.authorization,
  };
}

/** A known path with another method is 405, not 404. */
function registerOtherMethods(app: FastifyInstance, parts: ServerParts): void {
  const known = new Map<string, Set<string>>();
  for (const { method, path } of parts.routes) {
    known.set(path, (known.get(path) ?? new Set()).add(method));
  }
  for (const [path, methods] of known) {
    app.route({
      method: METHODS.filter((method) => !methods.has(method)) as HTTPMethods[],
      url: API_PREFIX + path,
      onRequest: async (_request, reply) => sendAnswer(reply, METHOD_NOT_ALLOWED),
      handler: async (_request, reply) => sendAnswer(reply, METHOD_NOT_ALLOWED),
    });
  }
}

// The account's request limit: a fixed window, and the headers that every answer carries.

/** The headers without a limit: the general limit of the running service. */
const SHOWN_WITHOUT_LIMIT: RateLimit = { requests: 800, seconds: 120 };

const MILLISECONDS_PER_SECOND = 1000;

interface RateDecision {
  readonly allowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * @param limit null: all are allowed
 * @param now milliseconds since the epoch, of real time: clients compare the reset with their own clock
 */
export function createRateLimiter(limit: RateLimit | null, now: () => number): () => RateDecision {
  const { requests, seconds } = limit ?? SHOWN_WITHOUT_LIMIT;
  const windowMilliseconds = seconds * MILLISECONDS_PER_SECOND;
  let windowEnd = Number.NEGATIVE_INFINITY;
  let used = 0;
  return () => {
    const at = now();
    if (at >= windowEnd) {
      windowEnd = at + windowMilliseconds;
      used = 0;
    }
    const allowed = limit === null || used < requests;
    if (limit !== null && allowed) used += 1;
    return {
      allowed,
      headers: {
        "x-ratelimit-limit": String(requests),
        "x-ratelimit-remaining": String(requests - used),
        "x-ratelimit-reset": String(Math.ceil(windowEnd / MILLISECONDS_PER_SECOND)),
        "retry-after": String(Math.max(1, Math.ceil((windowEnd - at) / MILLISECONDS_PER_SECOND))),
      },
    };
  };
}

// The target that image data is sent to: outside the API, reached by its signed URL alone.

/** API.md, Limits: of the compressed file. */
const MAX_UPLOAD_BYTES = 5 * 1024 ** 3;
const BYTES_PER_MEGABYTE = 1024 ** 2;

type Images = Pick<Service, "store" | "imageStates" | "clock">;

interface UploadRequest {
  readonly imageId: string;
  readonly signature: string;
  readonly contentType: string | undefined;
  readonly contentLength: string | undefined;
  readonly authorization: string | undefined;
}

/** The answer that needs no data of the request; null: go on. */
function refuseUpload({ store, imageStates }: Images, request: UploadRequest): Answer | null {
  imageStates.expire();
  const image = store.tables.images.get(request.imageId);
  if (image === undefined || image.upload === null) return NOT_FOUND;
  if (!sameText(image.upload.signature, request.signature)) return UNAUTHORIZED;
  // A client that sends the token here would reveal it to another host.
  if (request.authorization !== undefined) return badRequest({ reason: "A signed URL takes no Authorization header" });
  if (request.contentType !== "application/octet-stream") {
    return badRequest({ reason: "Content-Type must be application/octet-stream" });
  }
  if (image.status !== "pending_upload") return badRequest({ reason: "The image has its data already" });
  return Number(request.contentLength ?? 0) > MAX_UPLOAD_BYTES ? TOO_LARGE : null;
}

const TOO_LARGE = refuse(413, [{ reason: "The compressed image must be at most 5 GB" }]);

type UploadedData =
  | { readonly refusal: Answer; readonly expandedBytes: null }
  | { readonly refusal: null; readonly expandedBytes: number };

/** Reads the data to its end; only a whole gzip file will do. */
async function readUpload(data: Readable): Promise<UploadedData> {
  let compressed = 0;
  let expanded = 0;
  try {
    await pipeline(
      data,
      async function* limited(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          compressed += chunk.length;
          if (compressed > MAX_UPLOAD_BYTES) throw new Error("too large");
          yield chunk;
        }
      },
      createGunzip(),
      async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) expanded += chunk.length;
      },
    );
  } catch {
    const refusal = compressed > MAX_UPLOAD_BYTES ? TOO_LARGE : badRequest({ reason: "The data must be a gzip file" });
    return { refusal, expandedBytes: null };
  }
  return { refusal: null, expandedBytes: expanded };
}

/** Makes the upload complete. */
function keepUpload({ store, imageStates, clock }: Images, imageId: string, data: UploadedData): Answer {
  if (data.refusal !== null) return data.refusal;
  // It may have been deleted meanwhile, or have taken longer than it may (API.md, Images, rule 2).
  imageStates.expire();
  const image = store.tables.images.get(imageId);
  if (image === undefined || image.upload === null) return NOT_FOUND;
  const received: ImageRow = {
    ...image,
    final_size: Math.max(1, Math.ceil(data.expandedBytes / BYTES_PER_MEGABYTE)),
    upload: { ...image.upload, received_at: clock.timestamp() },
  };
  store.tables.images.put(received);
  return succeedEmpty();
}

function sameText(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
