/** One HTTP exchange as plain values: what is sent, and what came of it. */

import type { Method } from "../model/exchange.ts";

export interface HttpCall {
  readonly method: Method;
  readonly origin: string;
  /** Encoded path with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly content: HttpContent;
}

export type HttpContent =
  | { readonly type: "none" }
  | { readonly type: "text"; readonly text: string }
  /** Streamed from the file; the caller states its Content-Length. */
  | { readonly type: "file"; readonly file: string };

export type HttpOutcome =
  | {
      readonly type: "answer";
      readonly status: number;
      /** Names in lower case. */
      readonly headers: Readonly<Record<string, string>>;
      readonly text: string;
    }
  | {
      readonly type: "lost";
      /** false: not one byte of the request left this machine. */
      readonly sent: boolean;
      /** The status, if its answer broke off after its head. */
      readonly status: number | null;
      /** Node's, OpenSSL's or undici's code, such as ECONNREFUSED. */
      readonly code: string;
      readonly detail: string;
    };

export interface Transport {
  /** Never rejects; redirects are answers like any other. */
  exchange(call: HttpCall, signal: AbortSignal | undefined): Promise<HttpOutcome>;
  close(): Promise<void>;
}

/** Code of an exchange that the caller's signal ended. */
export const ABORTED = "ABORTED";
/** The file to be sent could not be read; why is in the detail. */
export const UNREADABLE_FILE = "UNREADABLE_FILE";
/** The name that a file was to be sent to leads to a network that it must not reach; which one is in the detail. */
export const FORBIDDEN_ADDRESS = "FORBIDDEN_ADDRESS";
/** Code of an exchange that took longer than `Timeouts.total`. */
export const TOTAL_TIMEOUT = "TOTAL_TIMEOUT";
/** Codes of an answer that is nested more deeply, or has more values, than Tenon reads. */
export const ANSWER_TOO_DEEP = "ANSWER_TOO_DEEP";
export const ANSWER_TOO_FULL = "ANSWER_TOO_FULL";
/** Code of an exchange in which nothing but informational answers (1xx) came. */
export const ENDLESS_INFORMATION = "ENDLESS_INFORMATION";
/** Code of an exchange that this machine's settings make impossible; `detail` says why. */
export const MISCONFIGURED = "MISCONFIGURED";
