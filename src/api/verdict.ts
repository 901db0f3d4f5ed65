/** Judges what came of one attempt: done, to be repeated, or failed, and whether it may have had an effect. Pure. */

import type { Method } from "../model/exchange.ts";
import type { ApiError, FailureType } from "../model/failure.ts";
import type { Json } from "../model/resource.ts";
import {
  isCertificateCode,
  isHtml,
  isParserCode,
  isTlsCode,
  lostMessage,
  malformedMessage,
  parseErrors,
  refusalMessage,
} from "./errors.ts";
import {
  ABORTED,
  ANSWER_TOO_DEEP,
  ANSWER_TOO_FULL,
  ENDLESS_INFORMATION,
  FORBIDDEN_ADDRESS,
  type HttpOutcome,
  MISCONFIGURED,
  UNREADABLE_FILE,
} from "./transport.ts";

export type Verdict =
  /** `absent`: what was to be deleted was not there. */
  { readonly type: "done"; readonly body: Json; readonly absent?: true } | Setback;

export interface Setback {
  readonly type: "setback";
  readonly failure: FailureType;
  readonly effect: "none" | "unknown";
  /** `few`: it may be a passing fault, but is more likely to stay. */
  readonly repeat: "no" | "few" | "yes";
  readonly status: number | null;
  readonly errors: readonly ApiError[];
  readonly message: string;
  readonly maintenance: boolean;
  /** A rate limit refused it; where there is a limiter, that does the waiting. */
  readonly throttled: boolean;
  /** The service's order to wait, in milliseconds. */
  readonly retryAfter: number | null;
}

type AnswerOutcome = Extract<HttpOutcome, { type: "answer" }>;
type LostOutcome = Extract<HttpOutcome, { type: "lost" }>;

export interface JudgeContext {
  readonly method: Method;
  /** Host and port, for messages. */
  readonly host: string;
  /** Milliseconds since the epoch: Retry-After may be a date. */
  readonly now: number;
  /** Takes the token out of the service's words: they might repeat it. */
  readonly hide: (text: string) => string;
}

/** Judges an exchange with the API. */
export function judge(outcome: HttpOutcome, context: JudgeContext): Verdict {
  return outcome.type === "lost" ? judgeLost(outcome, context) : judgeAnswer(outcome, context);
}

/**
 * Judges the PUT of a file to a signed URL: any 2xx will do. The words of the storage are not repeated, since they may
 * echo the signature.
 */
export function judgeUpload(outcome: HttpOutcome, context: JudgeContext): Verdict {
  if (outcome.type === "lost") return judgeLost(outcome, context);
  const { status } = outcome;
  if (status >= 200 && status < 300) return { type: "done", body: {} };
  const passing = status === 408 || status === 429 || status >= 500;
  const type = passing ? "unavailable" : status >= 400 ? "refused" : "malformed";
  return setback(type, {
    effect: status >= 400 && status < 500 && status !== 408 ? "none" : "unknown",
    repeat: passing ? "yes" : "no",
    status,
    message: `the upload to ${context.host} was answered with ${status}`,
    throttled: status === 429,
    retryAfter: orderedWait(outcome, context.now),
  });
}

function judgeLost(lost: LostOutcome, context: JudgeContext): Setback {
  const effect = lost.sent && context.method !== "GET" ? "unknown" : "none";
  const message = lostMessage(lost, context.host);
  if (lost.code === ABORTED) return setback("aborted", { effect, status: lost.status, message });
  const repeat = context.method === "POST" && effect === "unknown" ? "no" : repeatOfLost(lost);
  return setback(typeOfLost(lost.code), { effect, repeat, status: lost.status, message });
}

function typeOfLost(code: string): "refused" | "malformed" | "unreachable" {
  if (code === UNREADABLE_FILE || code === FORBIDDEN_ADDRESS) return "refused";
  return isParserCode(code) || isTooLarge(code) ? "malformed" : "unreachable";
}

function repeatOfLost(lost: LostOutcome): Setback["repeat"] {
  const { code, detail } = lost;
  if (isParserCode(code)) return "few";
  // What follows would only be met again.
  if (isCertificateCode(code) || isTlsCode(code) || isTooLarge(code) || PERMANENT_CODES.includes(code)) return "no";
  return /^Proxy response \(4/.test(detail) ? "no" : "yes";
}

const PERMANENT_CODES: readonly string[] = [
  MISCONFIGURED,
  UNREADABLE_FILE,
  FORBIDDEN_ADDRESS,
  "UND_ERR_INVALID_ARG",
  "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH",
  "UND_ERR_DESTROYED",
  "UND_ERR_CLOSED",
];

const TOO_LARGE_CODES: readonly string[] = [
  "UND_ERR_RES_EXCEEDED_MAX_SIZE",
  "UND_ERR_HEADERS_OVERFLOW",
  ANSWER_TOO_DEEP,
  ANSWER_TOO_FULL,
  ENDLESS_INFORMATION,
];

function isTooLarge(code: string): boolean {
  return TOO_LARGE_CODES.includes(code);
}

function judgeAnswer(answer: AnswerOutcome, context: JudgeContext): Verdict {
  const body = parseJson(answer.text);
  if (answer.status >= 200 && answer.status < 300) return judgeSuccess(answer, body, context.method);
  const errors = parseErrors(body, context.hide);
  if (context.method === "DELETE" && answer.status === 404 && errors !== null) {
    return { type: "done", body: {}, absent: true };
  }
  return judgeError(answer, errors, context);
}

function judgeSuccess(answer: AnswerOutcome, body: Json | undefined, method: Method): Verdict {
  if (body !== undefined) return { type: "done", body };
  // Nothing is told by the answer to a deletion anyway.
  if (answer.text.trim() === "" && method === "DELETE") return { type: "done", body: {} };
  return setback("malformed", {
    effect: method === "GET" ? "none" : "unknown",
    repeat: method === "POST" || isHtml(answer) ? "no" : "few",
    status: answer.status,
    message: malformedMessage(answer),
  });
}

function judgeError(answer: AnswerOutcome, errors: readonly ApiError[] | null, context: JudgeContext): Setback {
  const { status } = answer;
  const busy = status === 400 && (errors ?? []).some((error) => /\bbusy\.?$/i.test(error.reason.trim()));
  const throttled = status === 429;
  const passing = busy || throttled || status === 408 || status >= 500;
  const maintenance = status === 503 && answer.headers["x-maintenance-mode"] !== undefined;
  const refused = throttled || (status >= 400 && status < 500 && status !== 408);
  const effect = refused || context.method === "GET" ? "none" : "unknown";
  return setback(passing ? "unavailable" : errors !== null && refused ? "refused" : "malformed", {
    effect,
    repeat: passing && (context.method !== "POST" || effect === "none") ? "yes" : "no",
    status,
    errors: errors ?? [],
    message: errorMessage(answer, errors, passing, maintenance),
    maintenance,
    throttled,
    retryAfter: orderedWait(answer, context.now),
  });
}

function errorMessage(
  answer: AnswerOutcome,
  errors: readonly ApiError[] | null,
  passing: boolean,
  maintenance: boolean,
): string {
  if (maintenance) return `the service is in maintenance (${answer.status})`;
  if (errors !== null) return refusalMessage(answer.status, errors);
  if (!passing) return malformedMessage(answer);
  return refusalMessage(answer.status, []) + (isHtml(answer) ? ", with an HTML page instead of JSON" : "");
}

function setback(
  failure: FailureType,
  rest: Partial<Setback> & Pick<Setback, "effect" | "message" | "status">,
): Setback {
  return {
    type: "setback",
    failure,
    repeat: "no",
    errors: [],
    maintenance: false,
    throttled: false,
    retryAfter: null,
    ...rest,
  };
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/**
 * Retry-After as an order to wait. The service puts the header on every answer, where it only tells the time to the
 * reset of the rate limit (beside X-RateLimit-Reset): it is an order on 429, and on others if it stands alone.
 */
function orderedWait(answer: AnswerOutcome, now: number): number | null {
  if (answer.status !== 429 && answer.headers["x-ratelimit-reset"] !== undefined) return null;
  return retryAfterMilliseconds(answer.headers["retry-after"], now);
}

/** Retry-After (RFC 9110, 10.2.3): seconds or an HTTP date. */
export function retryAfterMilliseconds(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}(\.\d{1,9})?$/.test(text)) return Math.ceil(Number(text) * 1000);
  const date = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
