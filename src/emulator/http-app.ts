/** A fastify instance whose own words never reach a client: bodies, limits and errors in the service's shape. */

import type { Socket } from "node:net";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Answer } from "./errors.ts";
import { BODY_TOO_LARGE, badRequest, INTERNAL_ERROR, refuse } from "./errors.ts";
import { isJsonBody } from "./fields.ts";

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
): Promise<FastifyInstance> {
  const { fastify } = await import("fastify");
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MILLISECONDS,
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    return503OnClosing: false,
    frameworkErrors: (_error, request, reply) => answerUnroutable(request, reply as FastifyReply),
    clientErrorHandler: answerClientError,
  });
  addBodyParsers(app);
  app.setErrorHandler((error: FastifyError, _request, reply) => sendAnswer(reply, answerOfError(error)));
  return app;
}

function sendAnswer(reply: FastifyReply, answer: Answer): FastifyReply {
  return reply.code(answer.status).send(answer.body);
}

function addBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // JSON.parse makes `__proto__` a key like any other, and nothing here copies keys that it does not know.
  app.addContentTypeParser("application/json", { parseAs: "string" }, async (_request: FastifyRequest, text: string) =>
    parseJson(text),
  );
  app.addContentTypeParser("*", async (request: FastifyRequest, payload: unknown) => {
    if (request.routeOptions.config.rawBody) return payload;
    throw new BodyError("Content-Type must be application/json");
  });
}

function parseJson(text: string): object {
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

/** What is no HTTP, or has too long a header, has no request to answer: written to the socket by hand. */
function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const tooLong = error.code === "HPE_HEADER_OVERFLOW";
  const status = tooLong ? 431 : 400;
  const reason = tooLong ? "Request Header Fields Too Large" : "Bad Request";
  const body = JSON.stringify(refuse(status, [{ reason }]).body);
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );
}
