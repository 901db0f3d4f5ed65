/** Judges what came of one attempt: done, to be repeated, or failed, and whether it may have had an effect. Pure. */

import { type ApiError, type FailureType, MAX_TEXT_CHARACTERS, type Method } from "../model/api.ts";
import { isJsonObject, type Json } from "../model/resource.ts";
import { countEscaped, isLongerThan } from "../model/text.ts";
import {
  ABORTED,
  ADMISSION_OVER,
  ANSWER_TOO_DEEP,
  ANSWER_TOO_FULL,
  ANSWER_TOO_MIXED,
  CHANGED_FILE,
  CHANGED_FORM_FILE,
  FORBIDDEN_ADDRESS,
  type HttpOutcome,
  MAX_ANSWER_DEPTH,
  MAX_ANSWER_SHAPES,
  MAX_ANSWER_VALUES,
  MISCONFIGURED,
  ONLY_INFORMATIONAL_ANSWERS,
  TOTAL_TIMEOUT,
  UNREADABLE_FILE,
} from "./transport.ts";

export type AttemptResult =
  /** `absent`: what was to be deleted was not there. */
  { readonly type: "done"; readonly body: Json; readonly absent?: true; readonly characters?: number } | FailedAttempt;

export interface FailedAttempt {
  readonly type: "failed";
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
  /** The answer is larger than Tenon reads. */
  readonly exceeds?: "answer";
  /** As in `Failure`. */
  readonly nobodyListens?: true;
}

type AnswerOutcome = Extract<HttpOutcome, { type: "answer" }>;
type LostOutcome = Extract<HttpOutcome, { type: "lost" }>;

export interface ClassifyContext {
  readonly method: Method;
  /** Host and port, for messages. */
  readonly host: string;
  /** Whether that is this machine. */
  readonly isLoopback: boolean;
  /** Milliseconds since the epoch: Retry-After may be a date. */
  readonly now: number;
  /** Takes the token out of the service's words: they might repeat it. */
  readonly hide: (text: string) => string;
  /** Whether a text holds the token, in any spelling. */
  readonly holdsToken: (text: string) => boolean;
}

/** Judges an exchange with the API. */
export function classifyResponse(outcome: HttpOutcome, context: ClassifyContext): AttemptResult {
  return outcome.type === "lost" ? classifyLost(outcome, context) : classifyAnswer(outcome, context);
}

/**
 * Judges the PUT of a file to a signed URL: any 2xx will do. The words of the storage are not repeated, since they may
 * echo the signature.
 */
export function classifyUploadResponse(outcome: HttpOutcome, context: ClassifyContext): AttemptResult {
  if (outcome.type === "lost") return classifyLost(outcome, context);
  const { status } = outcome;
  if (status >= 200 && status < 300) return { type: "done", body: {} };
  const temporary = status === 408 || status === 429 || status >= 500;
  const type = temporary ? "unavailable" : status >= 400 ? "refused" : "malformed";
  return failedAttempt(type, {
    effect: status >= 400 && status < 500 && status !== 408 ? "none" : "unknown",
    repeat: temporary ? "yes" : "no",
    status,
    message: `the upload to ${context.host} was answered with ${status}`,
    throttled: status === 429,
    retryAfter: bindingRetryAfter(outcome, context.now),
  });
}

function classifyLost(lost: LostOutcome, context: ClassifyContext): FailedAttempt {
  const effect = lost.sent && context.method !== "GET" ? "unknown" : "none";
  const message = lostMessage(lost, context.host);
  if (lost.code === ABORTED) return failedAttempt("aborted", { effect, status: lost.status, message });
  const repeat = context.method === "POST" && effect === "unknown" ? "no" : repeatOfLost(lost);
  const more = {
    ...(SIZE_CODES.includes(lost.code) ? ({ exceeds: "answer" } as const) : {}),
    ...(lost.code === REFUSED && context.isLoopback ? ({ nobodyListens: true } as const) : {}),
  };
  return failedAttempt(typeOfLost(lost.code), { effect, repeat, status: lost.status, message, ...more });
}

const REFUSED = "ECONNREFUSED";

function typeOfLost(code: string): "refused" | "malformed" | "unreachable" {
  if (REFUSED_BY_TENON_CODES.includes(code)) return "refused";
  return isParserCode(code) || isTooLarge(code) ? "malformed" : "unreachable";
}

/** Tenon itself did not send the request, or did not send the whole of it. */
const REFUSED_BY_TENON_CODES: readonly string[] = [UNREADABLE_FILE, CHANGED_FILE, CHANGED_FORM_FILE, FORBIDDEN_ADDRESS];

function repeatOfLost(lost: LostOutcome): FailedAttempt["repeat"] {
  const { code, detail } = lost;
  if (isParserCode(code)) return "few";
  // A retry would only meet the same failure.
  if (isCertificateCode(code) || isTlsCode(code) || isTooLarge(code) || PERMANENT_CODES.includes(code)) return "no";
  return /^Proxy response \(4/.test(detail) ? "no" : "yes";
}

const PERMANENT_CODES: readonly string[] = [
  MISCONFIGURED,
  ...REFUSED_BY_TENON_CODES,
  "UND_ERR_INVALID_ARG",
  "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH",
  "UND_ERR_DESTROYED",
  "UND_ERR_CLOSED",
];

/** The answer exceeds a limit of Tenon on its size. */
const SIZE_CODES: readonly string[] = [
  "UND_ERR_RES_EXCEEDED_MAX_SIZE",
  "UND_ERR_HEADERS_OVERFLOW",
  ANSWER_TOO_DEEP,
  ANSWER_TOO_FULL,
  ANSWER_TOO_MIXED,
];

function isTooLarge(code: string): boolean {
  return SIZE_CODES.includes(code) || code === ONLY_INFORMATIONAL_ANSWERS;
}

function classifyAnswer(answer: AnswerOutcome, context: ClassifyContext): AttemptResult {
  const isSuccess = answer.status >= 200 && answer.status < 300;
  const body = parseJson(answer.text);
  const isLeak = isSuccess && holdsToken(answer.text, body, context);
  // What is read is shown, saved and compared: words taken out of it would be taken for a difference.
  if (isLeak && context.method === "GET") {
    const message = `an answer of ${context.host} contains the token, so nothing of it is used; revoke the token, and look for it in the account`;
    return failedAttempt("refused", { effect: "none", repeat: "no", status: answer.status, message });
  }
  // What was written is done, whatever the answer says of it.
  if (isLeak) return judgeSuccess(answer, hideWithin(body, context.hide), context.method);
  if (isSuccess) return judgeSuccess(answer, body, context.method);
  const errors = parseErrors(body, context.hide);
  if (context.method === "DELETE" && answer.status === 404 && errors !== null) {
    return { type: "done", body: {}, absent: true };
  }
  return judgeError(answer, errors, context);
}

/** JSON may write each letter of the token as an escape. */
function holdsToken(text: string, body: Json | undefined, context: ClassifyContext): boolean {
  return context.holdsToken(text) || (text.includes("\\u") && context.holdsToken(JSON.stringify(body ?? "")));
}

function hideWithin<Value extends Json | undefined>(value: Value, hide: (text: string) => string): Value {
  if (typeof value === "string") return hide(value) as Value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => hideWithin(item, hide)) as unknown as Value;
  const entries = Object.entries(value).map(([key, item]) => [hide(key), hideWithin(item as Json, hide)]);
  return Object.fromEntries(entries) as Value;
}

/** Of a list within an object. The service allows far fewer. */
const MAX_LIST_ITEMS = 10_000;

/** Whether a single object has a text or a list that none of the service has: reports and journals would be as long. Lists have checks of their own. */
function isOverlong(value: Json): boolean {
  if (typeof value === "string") return isLongerThan(value, MAX_TEXT_CHARACTERS);
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value) && value.length > MAX_LIST_ITEMS) return true;
  return Object.values(value).some((item) => isOverlong(item as Json));
}

function judgeSuccess(answer: AnswerOutcome, body: Json | undefined, method: Method): AttemptResult {
  if (body !== undefined && !isPage(body) && isOverlong(body)) {
    const message = `an answer of the service has a text of more than ${MAX_TEXT_CHARACTERS.toLocaleString("en")} characters, or a list of more than ${MAX_LIST_ITEMS.toLocaleString("en")} values`;
    return failedAttempt("malformed", {
      effect: method === "GET" ? "none" : "unknown",
      repeat: "no",
      status: answer.status,
      message,
    });
  }
  if (body !== undefined) return { type: "done", body, ...(isPage(body) ? { characters: weightOf(answer.text) } : {}) };
  // The body of an answer to a DELETE is not used.
  if (answer.text.trim() === "" && method === "DELETE") return { type: "done", body: {} };
  return failedAttempt("malformed", {
    effect: method === "GET" ? "none" : "unknown",
    repeat: method === "POST" || isHtml(answer) ? "no" : "few",
    status: answer.status,
    message: malformedMessage(answer),
  });
}

/** For a character that is shown escaped, wherever it is shown. */
const UNSAFE_CHARACTER_WEIGHT = 64;

/** The length of a text, in which characters that must be escaped count more. */
function weightOf(text: string): number {
  return text.length + (UNSAFE_CHARACTER_WEIGHT - 1) * countEscaped(text);
}

function isPage(body: Json): boolean {
  return isJsonObject(body) && Array.isArray(body["data"]);
}

function judgeError(
  answer: AnswerOutcome,
  errors: readonly ApiError[] | null,
  context: ClassifyContext,
): FailedAttempt {
  const { status } = answer;
  const busy = status === 400 && (errors ?? []).some((error) => /\bbusy\.?$/i.test(error.reason.trim()));
  const throttled = status === 429;
  const temporary = busy || throttled || status === 408 || status >= 500;
  const maintenance = status === 503 && answer.headers["x-maintenance-mode"] !== undefined;
  const refused = throttled || (status >= 400 && status < 500 && status !== 408);
  const effect = refused || context.method === "GET" ? "none" : "unknown";
  return failedAttempt(temporary ? "unavailable" : errors !== null && refused ? "refused" : "malformed", {
    effect,
    repeat: temporary && (context.method !== "POST" || effect === "none") ? "yes" : "no",
    status,
    errors: errors ?? [],
    message: errorMessage(answer, errors, temporary, maintenance),
    maintenance,
    throttled,
    retryAfter: bindingRetryAfter(answer, context.now),
  });
}

function errorMessage(
  answer: AnswerOutcome,
  errors: readonly ApiError[] | null,
  temporary: boolean,
  maintenance: boolean,
): string {
  if (maintenance) return `the service is in maintenance (${answer.status})`;
  if (errors !== null) return refusalMessage(answer.status, errors);
  if (!temporary) return malformedMessage(answer);
  return refusalMessage(answer.status, []) + (isHtml(answer) ? ", with an HTML page instead of JSON" : "");
}

function failedAttempt(
  failure: FailureType,
  rest: Partial<FailedAttempt> & Pick<FailedAttempt, "effect" | "message" | "status">,
): FailedAttempt {
  return {
    type: "failed",
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
 * The wait that Retry-After orders. The service also sends the header beside X-RateLimit-Reset on every answer: there it only says when the
 * rate limit is reset. So it is an order on a 429, and on any other answer without X-RateLimit-Reset.
 */
function bindingRetryAfter(answer: AnswerOutcome, now: number): number | null {
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

// The service's own words, and the sentences that Tenon makes of what went wrong (API.md, Errors).

/** More errors than this in one answer are cut off. */
const MAX_ERRORS = 20;
const MAX_REASON_CHARACTERS = 1_000;
const MAX_MESSAGE_CHARACTERS = 2_000;

/**
 * `{errors: [{reason, field?}]}` as values, bounded in number and length.
 * @param hide takes the token out, before a cut could leave a part of it
 * @returns null if the body has another shape
 */
function parseErrors(body: Json | undefined, hide: (text: string) => string): readonly ApiError[] | null {
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
function bounded(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit - 1);
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** `ttl_sec: must be positive; Invalid hostname`: without a full stop at the end. */
function inWords(errors: readonly ApiError[]): string {
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
function refusalMessage(status: number, errors: readonly ApiError[]): string {
  const words = inWords(errors);
  return words === "" ? statusWords(status) : `${statusWords(status)}: ${words}`;
}

/** A sentence for an answer that is not the JSON expected. */
function malformedMessage(answer: Extract<HttpOutcome, { type: "answer" }>): string {
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

function isHtml(answer: Extract<HttpOutcome, { type: "answer" }>): boolean {
  return /html/i.test(answer.headers["content-type"] ?? "") || answer.text.trimStart().startsWith("<");
}

/** @param network where the address is, as `Reach` says it */
export function forbiddenAddress(network: string): string {
  return `the service gave an address for the upload that is on ${network}; an upload must not go there, since the service itself is elsewhere`;
}

/** Of a file to upload. */
export const CHANGED_SINCE_PLAN = "the file does not hold what it held when the plan was made; plan again";

/** A sentence for an exchange without an answer. `host` is named in it, never a path or a query. */
function lostMessage(lost: Extract<HttpOutcome, { type: "lost" }>, host: string): string {
  const { code, detail } = lost;
  switch (code) {
    case REFUSED:
      return `${host} refuses connections (${REFUSED})`;
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
    case ANSWER_TOO_MIXED:
      return `an answer of ${host} has objects of more than ${MAX_ANSWER_SHAPES.toLocaleString("en")} kinds, which is more than Tenon reads`;
    case ONLY_INFORMATIONAL_ANSWERS:
      return `${host} sends informational answers (1xx) without an end`;
    case "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH":
      return "the file changed while it was being sent";
    case CHANGED_FILE:
      return CHANGED_SINCE_PLAN;
    case CHANGED_FORM_FILE:
      return "the file changed after it was checked, and was not sent";
    case FORBIDDEN_ADDRESS:
      return forbiddenAddress(detail);
    case UNREADABLE_FILE:
      return `the file cannot be read (${detail})`;
    case ABORTED:
      return "interrupted";
    case ADMISSION_OVER:
      return `the request to ${host} was not sent in the time it was admitted for`;
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
function isCertificateCode(code: string): boolean {
  return /CERT|^UNABLE_TO_|^HOSTNAME_MISMATCH$|^INVALID_CA$/.test(code);
}

/** llhttp's codes; undici's parser error has none where llhttp names none. */
function isParserCode(code: string): boolean {
  return code.startsWith("HPE_") || code === "HTTPParserError";
}

function isTlsCode(code: string): boolean {
  return code === "EPROTO" || /^ERR_(SSL|TLS)_/.test(code);
}

// Which scope an operation needs, so that a refusal can say what the token lacks (API.md, Authentication).

/**
 * @param path below the base URL, for example `/domains/12/records`
 * @returns null where the specification does not show it: for reading VPCs and subnets
 */
export function neededScope(method: Method, path: string): string | null {
  const [area, ...rest] = path.split("/").filter((segment) => segment !== "");
  const access = method === "GET" ? "read_only" : "read_write";
  switch (area) {
    case "domains":
      return `domains:${access}`;
    case "images":
      // Only a capture reads a node's disk.
      return method === "POST" && rest.length === 0 ? "images:read_write and nodes:read_only" : `images:${access}`;
    case "networking":
      return "ips:read_only";
    case "support":
      return `account:${access}`;
    case "vpcs":
      if (rest.at(-1) === "ips") return "ips:read_only";
      return method === "GET" ? null : "vpc:read_write";
    default:
      return null;
  }
}
