/** A fastify instance whose own words never reach a client: bodies, limits and errors in the service's shape. */

import { isUtf8 } from "node:buffer";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Answer } from "./errors.ts";
import { BODY_TOO_LARGE, badRequest, INTERNAL_ERROR, JSON_TYPE } from "./errors.ts";
import { isJsonBody } from "./fields.ts";
import type { GuardOptions } from "./http-guard.ts";
import { HttpGuard } from "./http-guard.ts";

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

export function sendAnswer(reply: FastifyReply, answer: Answer): FastifyReply {
  // With a serializer of its own, a reply keeps its content type: fastify would add a charset.
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
