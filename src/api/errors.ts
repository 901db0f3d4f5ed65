/** The service's own words, and the sentences that Tenon makes of what went wrong (API.md, Errors). */

import type { ApiError } from "../model/failure.ts";
import { isJsonObject, type Json } from "../model/resource.ts";
import { MAX_ANSWER_DEPTH, MAX_ANSWER_VALUES } from "./json-size.ts";
import {
  ABORTED,
  ANSWER_TOO_DEEP,
  ANSWER_TOO_FULL,
  ENDLESS_INFORMATION,
  FORBIDDEN_ADDRESS,
  type HttpOutcome,
  MISCONFIGURED,
  TOTAL_TIMEOUT,
  UNREADABLE_FILE,
} from "./transport.ts";

/** More errors than this in one answer are cut off. */
export const MAX_ERRORS = 20;
export const MAX_REASON_CHARACTERS = 1_000;
export const MAX_MESSAGE_CHARACTERS = 2_000;

/**
 * `{errors: [{reason, field?}]}` as values, bounded in number and length.
 * @param hide takes the token out, before a cut could leave a part of it
 * @returns null if the body has another shape
 */
export function parseErrors(body: Json | undefined, hide: (text: string) => string): readonly ApiError[] | null {
  if (!isJsonObject(body)) return null;
  const errors = body["errors"];
  if (!Array.isArray(errors)) return null;
  const parsed: ApiError[] = [];
  for (const entry of errors.slice(0, MAX_ERRORS) as readonly Json[]) {
    if (!isJsonObject(entry) || typeof entry["reason"] !== "string") return null;
    const reason = bounded(hide(entry["reason"]), MAX_REASON_CHARACTERS);
    const field = entry["field"];
    parsed.push(
      typeof field === "string" ? { reason, field: bounded(hide(field), MAX_REASON_CHARACTERS) } : { reason },
    );
  }
  return parsed;
}

/** Cuts between code points, so that no half of a surrogate pair is left. */
export function bounded(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit - 1);
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** `ttl_sec: must be positive; Invalid hostname`: without a full stop at the end. */
export function inWords(errors: readonly ApiError[]): string {
  const words = errors.map((error) => {
    const reason = error.reason.trim().replace(/\.$/, "");
    return error.field === undefined ? reason : `${error.field}: ${reason}`;
  });
  return bounded(words.join("; "), MAX_MESSAGE_CHARACTERS);
}

/** What a status alone says. */
function statusWords(status: number): string {
  switch (status) {
    case 401:
      return "the service did not accept the token (401)";
    case 403:
      return "the token does not have the right to do this (403)";
    case 404:
      return "the service does not know this object (404)";
    case 408:
      return "the service gave up waiting for the request (408)";
    case 429:
      return "the service refuses further requests for now (429)";
    default:
      if (status >= 500) return `the service failed (${status})`;
      if (status >= 400) return `the service refused the request (${status})`;
      return `the service answered ${status}`;
  }
}

/** A sentence for an answer with the service's words in it. */
export function refusalMessage(status: number, errors: readonly ApiError[]): string {
  const words = inWords(errors);
  return words === "" ? statusWords(status) : `${statusWords(status)}: ${words}`;
}

/** A sentence for an answer that is not the JSON expected. */
export function malformedMessage(answer: Extract<HttpOutcome, { type: "answer" }>): string {
  const { status, text } = answer;
  if (status >= 300 && status < 400) {
    return `a redirect (${status}) came where a JSON answer was expected; redirects are not followed, the base URL may be wrong`;
  }
  if (isHtml(answer)) {
    return `an HTML page (${status}) came where a JSON answer was expected, probably from a proxy or because the base URL is wrong`;
  }
  if (text.trim() === "") return `an empty answer (${status}) came where JSON was expected`;
  return `an answer (${status}) came that is not the JSON expected`;
}

export function isHtml(answer: Extract<HttpOutcome, { type: "answer" }>): boolean {
  return /html/i.test(answer.headers["content-type"] ?? "") || answer.text.trimStart().startsWith("<");
}

/** @param network where the address is, as `Reach` says it */
export function forbiddenAddress(network: string): string {
  return `the service gave an address for the upload that is on ${network}, where the service itself is not`;
}

/** A sentence for an exchange without an answer. `host` is named in it, never a path or a query. */
export function lostMessage(lost: Extract<HttpOutcome, { type: "lost" }>, host: string): string {
  const { code, detail } = lost;
  switch (code) {
    case "ECONNREFUSED":
      return `${host} refuses connections (ECONNREFUSED)`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `the name ${host} cannot be resolved (${code})`;
    case "UND_ERR_CONNECT_TIMEOUT":
    case "ETIMEDOUT":
      return `no connection to ${host} in time (${code})`;
    case "UND_ERR_HEADERS_TIMEOUT":
    case "UND_ERR_BODY_TIMEOUT":
    case TOTAL_TIMEOUT:
      return `${host} did not answer in time (${code})`;
    case "UND_ERR_RES_EXCEEDED_MAX_SIZE":
      return `the answer of ${host} is larger than Tenon reads (${code})`;
    case "UND_ERR_HEADERS_OVERFLOW":
      return `the head of an answer of ${host} is larger than Tenon reads (${code})`;
    case ANSWER_TOO_DEEP:
      return `an answer of ${host} is nested more than ${MAX_ANSWER_DEPTH} deep, which is more than Tenon reads`;
    case ANSWER_TOO_FULL:
      return `an answer of ${host} has more than ${MAX_ANSWER_VALUES.toLocaleString("en")} values, which is more than Tenon reads`;
    case ENDLESS_INFORMATION:
      return `${host} sends informational answers (1xx) without an end`;
    case "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH":
      return "the file changed while it was being sent";
    case FORBIDDEN_ADDRESS:
      return forbiddenAddress(detail);
    case UNREADABLE_FILE:
      return `the file cannot be read (${detail})`;
    case ABORTED:
      return "interrupted";
    case MISCONFIGURED:
      return detail;
  }
  if (isCertificateCode(code)) {
    return `the certificate of ${host} is not accepted (${code}); NODE_EXTRA_CA_CERTS names the file of a private authority`;
  }
  if (isTlsCode(code)) return `no TLS connection to ${host} (${code})`;
  if (isParserCode(code)) return `${host} does not speak HTTP (${code})`;
  if (/^Proxy response/.test(detail)) return `the proxy does not connect to ${host}: ${detail}`;
  return lost.sent ? `the connection to ${host} was lost (${code})` : `no connection to ${host} (${code})`;
}

/** OpenSSL's verification results as Node names them, and Node's own check of the name. */
export function isCertificateCode(code: string): boolean {
  return /CERT|^UNABLE_TO_|^HOSTNAME_MISMATCH$|^INVALID_CA$/.test(code);
}

/** llhttp's codes; undici's parser error has none where llhttp names none. */
export function isParserCode(code: string): boolean {
  return code.startsWith("HPE_") || code === "HTTPParserError";
}

export function isTlsCode(code: string): boolean {
  return code === "EPROTO" || /^ERR_(SSL|TLS)_/.test(code);
}
