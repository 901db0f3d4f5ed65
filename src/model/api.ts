/** What the product says to the service: requests, lists and their answers, without HTTP. */

import type { Json, JsonObject } from "./resource.ts";

/** Requests in flight at a time, and steps of an apply that run at a time, unless the user says otherwise. */
export const DEFAULT_CONCURRENCY = 8;

export type Method = "GET" | "POST" | "PUT" | "DELETE";

export interface GetRequest {
  /** Segments below the base URL, not yet encoded: `["domains", "12", "records"]`. In API.md's vocabulary. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | number>>;
}

/** Any request. */
export interface ApiRequest extends GetRequest {
  readonly method: Method;
  /** Sent as X-Filter. */
  readonly filter?: JsonObject;
  readonly body?: JsonObject;
  /** Sent as multipart/form-data, in the place of a body. */
  readonly form?: FormFile;
  /**
   * Looks again at what the request is about. Asked before an attempt if that was seen more than some seconds ago: the request may have waited for a
   * rate limit, or before a repeat.
   * @param signal as that of the wait
   */
  confirm?(signal: AbortSignal | undefined): Promise<Confirmation>;
  /** How long ago that was seen when the request is handed over. Absent: just now. */
  readonly seenMillisecondsAgo?: number;
}

/** Whether a request may still be sent: if so, how long ago the first answer came that says it. */
export type Confirmation =
  | { readonly ok: true; readonly seenMillisecondsAgo: number }
  | { readonly ok: false; readonly failure: Failure };

/** A file as the only field of a form (API.md, Support). */
export interface FormFile {
  readonly field: string;
  /** A regular file, and no link: it is streamed. */
  readonly file: string;
  /** What the service is to call it: without control characters, quotes and backslashes. */
  readonly name: string;
  /** What the file must hold: its last bytes are sent only if it does. */
  readonly content: FileContent;
}

/**
 * `servedMilliseconds`: when the service answered, by its own clock (the Date header), in milliseconds since the epoch; absent if
 * it did not tell.
 */
export type Answer =
  | {
      readonly ok: true;
      readonly body: Json;
      /** Set for a DELETE whose object was gone before, and not because of a lost attempt of this request. */
      readonly alreadyGone?: true;
      readonly servedMilliseconds?: number;
      /** Of the text, if the body is a page of a list. */
      readonly characters?: number;
    }
  | { readonly ok: false; readonly failure: Failure };

export interface ListRequest {
  readonly path: readonly string[];
  /** Always applied. */
  readonly filter?: JsonObject;
  /** The few that are needed of perhaps many: lets the client ask for those instead of every page. */
  readonly subset?: Subset;
}

/** The objects whose field has one of the values. */
export interface Subset {
  readonly field: string;
  readonly values: readonly string[];
  /**
   * How many objects the list has at least, as far as is known. If filters take no more requests than the pages of so many, they are asked
   * for at once, and `total` of the answer counts the subset. Absent: the first page is read before, which may do.
   */
  readonly atLeast?: number;
}

export type ListAnswer =
  | {
      readonly ok: true;
      readonly items: readonly JsonObject[];
      /** How many there are in all: more than `items.length` if only a subset was read. */
      readonly total: number;
      /** Of the list when its first page was read. Absent: one. */
      readonly pages?: number;
      /** As in `Answer`, taken from the first page that was read. */
      readonly servedMilliseconds?: number;
    }
  | { readonly ok: false; readonly failure: Failure };

/** A file by what it holds. */
export interface FileContent {
  readonly bytes: number;
  /** 64 hexadecimal digits, lower case. */
  readonly sha256: string;
}

export interface UploadRequest {
  /** The signed URL the service gave. Never logged, never sent with the token. */
  readonly url: string;
  /** Absolute path of the file to send. */
  readonly file: string;
  /** What the file must hold: its last bytes are sent only if it does. Absent: whatever it holds. */
  readonly content?: FileContent;
  /** After so long, repeats included, it is given up like an aborted one. Absent: never. */
  readonly limitMilliseconds?: number;
  /** Hears how many bytes have been handed to the network, from 0 again when it is repeated. */
  progress?(sentBytes: number, totalBytes: number): void;
}

/** What the service's answers reported of the rate limit of an endpoint. */
export interface ObservedLimit {
  /** Method and path with ids replaced, for example `PUT /domains/*`. */
  readonly endpoint: string;
  /** Requests per window; null if no answer reported it. */
  readonly limit: number | null;
  /** How long a window is, if that could be learned. */
  readonly windowSeconds: number | null;
}

/**
 * The way to read the service, for everything that must not change it: plans, drift, snapshots, imports. It has no method that writes, as a
 * type and as an object. Retries what may be retried.
 */
export interface ReadApi {
  /** Requests sent so far: every attempt, every page of a list, every upload. What sends none has 0. */
  readonly requestCount: number;
  get(request: GetRequest, signal?: AbortSignal): Promise<Answer>;
  /** All pages, in the service's order, every id once. */
  list(request: ListRequest, signal?: AbortSignal): Promise<ListAnswer>;
  /** Limits observed so far, sorted by endpoint. A snapshot has none. */
  limits?(): readonly ObservedLimit[];
}

/** The one way to change the service, for what carries out a plan. A POST whose outcome is unknown is returned as such. */
export interface Api extends ReadApi {
  /**
   * A step of a plan: it may also be a GET, of what must be seen before the next step.
   * @param signal ends the request, an attempt under way included
   * @param waits ends waits only: for a rate limit, or before a repeat; not an attempt that is under way, nor what comes after one that may have had an effect. Absent: as `signal`
   */
  send(request: ApiRequest, signal?: AbortSignal, waits?: AbortSignal): Promise<Answer>;
  upload(request: UploadRequest, signal?: AbortSignal): Promise<Answer>;
}

// Failures of the service or of the way to it, as values.

/** One entry of the service's `{errors: […]}` (API.md, Errors). */
export interface ApiError {
  readonly reason: string;
  readonly field?: string;
}

/**
 * - `refused`: the service answered 4xx; it had no effect.
 * - `unavailable`: 408, 429, 5xx, or `… busy.`, still so after the retry budget.
 * - `unreachable`: no connection, TLS failure, connection lost, time-out.
 * - `malformed`: an answer that is not the JSON expected (HTML, half a body, wrong shape), or that is too large.
 * - `aborted`: the caller's signal ended it.
 */
export type FailureType = "refused" | "unavailable" | "unreachable" | "malformed" | "aborted";

export interface Failure {
  readonly type: FailureType;
  /** `none` if the request surely changed nothing; `unknown` if it may have. */
  readonly effect: "none" | "unknown";
  /** HTTP status, if there was an answer. */
  readonly status: number | null;
  /** The service's own words; empty if it gave none. */
  readonly errors: readonly ApiError[];
  /** One sentence without a full stop, safe to show: no token, no signed URL. */
  readonly message: string;
  /** The service said it is in maintenance (503 with X-Maintenance-Mode). */
  readonly maintenance: boolean;
  /** How often the request was sent. */
  readonly attempts: number;
  /** The limit of Tenon that was exceeded: on the size of one answer, or of all lists together. Absent: none. */
  readonly exceeds?: "answer" | "lists";
  /** The address is of this machine (loopback), and refused the connection. */
  readonly nobodyListens?: true;
}

/** Whether a request that failed may have had an effect all the same. */
export function isUnclear(method: Method, failure: Failure): boolean {
  if (method === "GET") return false;
  const accepted = failure.status !== null && failure.status >= 200 && failure.status < 300;
  return failure.effect === "unknown" || (failure.type === "malformed" && accepted);
}

/**
 * What a lost POST may have made is looked for immediately, which mostly finds it. If it is not there, a service that dropped the connection
 * may still be at work, so it is looked for again after this long, before anything is sent again.
 */
export const LOOK_AGAIN_AFTER_SECONDS = 6;

/** The token was refused, as a whole or for what was asked: it will be for the next request of the same kind. */
export function isDenied({ status }: Pick<Failure, "status">): boolean {
  return status === 401 || status === 403;
}

/** Of a text in an answer: the longest that the service keeps is a record's target of 65,535 characters (API.md, Domain record). */
export const MAX_TEXT_CHARACTERS = 65_536;
