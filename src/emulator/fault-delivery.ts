/** How an effect reaches the wire: the answer is there, and is lost, broken or held up on its way. */

import { type ServerResponse, STATUS_CODES } from "node:http";
import type { FastifyReply } from "fastify";
import { JSON_TYPE } from "./errors.ts";
import type { FaultEffect } from "./faults.ts";

/** How long written bytes have to arrive before a reset, which discards those that are still on their way. */
const FLUSH_MILLISECONDS = 50;
const SLOW_BODY_PIECES = 20;

/** Sends on what it is given, as it would have been sent without a fault. */
type SendOn = (payload: unknown) => void;

/** The status a client gets to see; 0: none. @param status of the answer as it was made */
export function statusSeen(effect: FaultEffect, status: number): number {
  switch (effect.type) {
    case "drop-before":
    case "drop-after":
      return 0;
    case "late":
      return effect.status === "drop" ? 0 : 504;
    case "status":
    case "html":
    case "busy":
    case "maintenance":
    case "half-body":
    case "bad-json":
    case "slow-headers":
    case "slow-body":
      return status;
  }
}

/** For an answer about to be sent: sends it on, or takes the connection over. */
export function deliver(effect: FaultEffect, reply: FastifyReply, payload: unknown, sendOn: SendOn): void {
  switch (effect.type) {
    case "status":
    case "html":
    case "busy":
    case "maintenance":
      sendOn(payload);
      break;
    case "drop-before":
    case "drop-after":
      drop(reply);
      break;
    case "late":
      if (effect.status === "drop") drop(reply);
      else sendOn(putAnswer(reply, page(504)));
      break;
    case "half-body":
      sendHalf(reply, bytesOf(payload));
      break;
    case "bad-json":
      sendOn(bytesOf(payload).subarray(0, -1));
      break;
    case "slow-headers":
      whileOpen(reply.raw, effect.delayMilliseconds, () => sendOn(payload));
      break;
    case "slow-body":
      sendSlowly(reply, bytesOf(payload), effect.durationMilliseconds);
      break;
  }
}

/** Sets status and headers. @returns the body to send */
export function putAnswer(reply: FastifyReply, { status, headers, body }: FaultAnswer): string {
  reply.code(status);
  for (const [name, value] of Object.entries(headers)) {
    if (value === null) reply.removeHeader(name);
    else reply.header(name, value);
  }
  return body;
}

/** Answers are JSON text; an empty one has no body. */
function bytesOf(payload: unknown): Buffer {
  return Buffer.isBuffer(payload) ? payload : Buffer.from(typeof payload === "string" ? payload : "");
}

function drop(reply: FastifyReply): void {
  reply.hijack();
  reply.raw.socket?.resetAndDestroy();
}

/** The framework has no more to do with the answer; its head promises `length` bytes. */
function takeOver(reply: FastifyReply, length: number): ServerResponse {
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  reply.raw.writeHead(reply.statusCode, { "content-length": length });
  reply.raw.flushHeaders();
  return reply.raw;
}

function sendHalf(reply: FastifyReply, body: Buffer): void {
  const response = takeOver(reply, body.length);
  response.write(body.subarray(0, Math.floor(body.length / 2)), () =>
    whileOpen(response, FLUSH_MILLISECONDS, () => response.socket?.resetAndDestroy()),
  );
}

function sendSlowly(reply: FastifyReply, body: Buffer, durationMilliseconds: number): void {
  const response = takeOver(reply, body.length);
  const pieces = Math.max(1, Math.min(SLOW_BODY_PIECES, body.length));
  const cut = (piece: number): number => Math.floor((piece * body.length) / pieces);
  const sendPiece = (piece: number): void =>
    whileOpen(response, durationMilliseconds / pieces, () => {
      response.write(body.subarray(cut(piece), cut(piece + 1)));
      if (piece + 1 < pieces) sendPiece(piece + 1);
      else response.end();
    });
  sendPiece(0);
}

/** Waits, then acts, unless the connection is gone by then. */
function whileOpen(response: ServerResponse, milliseconds: number, act: () => void): void {
  const stop = (): void => clearTimeout(timer);
  const timer = setTimeout(() => {
    response.off("close", stop);
    act();
  }, milliseconds);
  response.once("close", stop);
}

// Answers instead of any work: by the service in trouble, or by a load balancer before it.

export interface FaultAnswer {
  readonly status: number;
  /** null: the header that is there already is taken away. */
  readonly headers: Readonly<Record<string, string | null>>;
  readonly body: string;
}

const HTML_TYPE = { "content-type": "text/html" };

/** Worded as observed of the public service, where that is known. */
const REASONS: Readonly<Record<number, string>> = {
  429: "Too many requests",
  500: "Internal server error",
};

/** null: the work is done as usual, and the fault affects its answer. No client sees the answer to a drop. */
export function answerInstead(effect: FaultEffect): FaultAnswer | null {
  switch (effect.type) {
    case "status":
      return refusal(effect.status, reasonOf(effect.status), retryAfter(effect.retryAfterSeconds));
    case "html":
      return page(effect.status);
    case "busy":
      return refusal(400, "Linode busy.");
    case "maintenance":
      return refusal(503, "The service is in maintenance", { "x-maintenance-mode": "all,Maintenance" });
    case "drop-before":
      return refusal(500, reasonOf(500));
    case "drop-after":
    case "late":
    case "half-body":
    case "bad-json":
    case "slow-headers":
    case "slow-body":
      return null;
  }
}

/** A load balancer's page: it knows nothing of the service's shapes. */
function page(status: number): FaultAnswer {
  const title = `${status} ${STATUS_CODES[status] ?? "Error"}`;
  const body = `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n</body>\r\n</html>\r\n`;
  return { status, headers: HTML_TYPE, body };
}

function refusal(status: number, reason: string, headers: FaultAnswer["headers"] = {}): FaultAnswer {
  return { status, headers: { "content-type": JSON_TYPE, ...headers }, body: JSON.stringify({ errors: [{ reason }] }) };
}

function reasonOf(status: number): string {
  return REASONS[status] ?? STATUS_CODES[status] ?? "Error";
}

function retryAfter(seconds: number | null | undefined): FaultAnswer["headers"] {
  return seconds === undefined ? {} : { "retry-after": seconds === null ? null : String(seconds) };
}
