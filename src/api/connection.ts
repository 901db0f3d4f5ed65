/** What a client of the service is made from, and the events it emits. */

import type { Api, Method, ReadApi } from "../model/api.ts";
import type { Clock } from "../model/clock.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { PaceCell } from "./pace.ts";
import type { RateLimitState } from "./rate-limit.ts";

/** How long each phase of a request may take, in milliseconds. */
export interface Timeouts {
  readonly connect: number;
  /** From the request to the head of its answer. */
  readonly headers: number;
  /** Between two pieces of an answer. */
  readonly body: number;
  /** A whole request, however steadily its answer drips. */
  readonly total: number;
  /** How long an upload may stand still, the service's processing after its last byte included. */
  readonly uploadStall: number;
}

export interface Connection {
  /** As `checkBaseUrl` returned it: includes `/v4`. */
  readonly baseUrl: string;
  /** Empty: requests are sent without a credential. */
  readonly token: string;
  /** The word the service uses where API.md says `node`. Default: `node`. */
  readonly dialect?: string;
  /** How long passing failures are retried; null: 30 s while nothing ever answered (2 s where nothing listens on this machine), 5 min otherwise. */
  readonly retryForSeconds?: number | null;
  /** Requests in flight at a time. Default: 8. */
  readonly concurrency?: number;
  /** HTTPS_PROXY and NO_PROXY are looked up here, and nowhere else. Default: none. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  /** Uniform in [0, 1): jitter. */
  readonly random?: () => number;
  readonly observe?: (event: ApiEvent) => void;
  /**
   * Asked before each attempt of a request that changes something, when it is about to be sent. null: it is not sent, and ends as an
   * interrupted one does. Default: each is sent.
   */
  readonly admit?: (signal: AbortSignal | undefined) => Promise<Admission | null>;
  /** Limits that the last client of the same token has seen; when this one is closed, those that it has seen. Default: nothing is known. */
  readonly pace?: PaceCell;
  /** Items asked for per page. Default: 500. */
  readonly pageSize?: number;
  /** Of the texts of all lists; default MAX_LIST_CHARACTERS. */
  readonly maxListCharacters?: number;
  readonly timeouts?: Partial<Timeouts>;
}

/** The right to send one attempt of a request. */
export interface Admission {
  /** Asked right before the first byte is sent: the process may have stood still since. false: it is not sent, and admission is asked for anew. */
  lasts(): boolean;
}

/** Of a request that only reads, and of whoever has nobody to ask. */
export const ADMITTED: Admission = { lasts: () => true };

/** For progress and counting. Holds no token, no query and no signed URL. */
export type ApiEvent =
  | { readonly type: "sent"; readonly method: Method; readonly path: string; readonly attempt: number }
  | {
      readonly type: "answered";
      readonly method: Method;
      readonly path: string;
      /** null: no answer came. */
      readonly status: number | null;
      readonly milliseconds: number;
    }
  | {
      readonly type: "retrying";
      readonly method: Method;
      readonly path: string;
      /** How often it was sent so far. */
      readonly attempt: number;
      readonly waitSeconds: number;
      /** Why, as `Failure.message`. */
      readonly reason: string;
      readonly maintenance: boolean;
      /** The request waits in the limiter, like all requests of its endpoint; the event `throttled` says how long. */
      readonly waitsInLimiter: boolean;
    }
  | {
      /** Requests to this endpoint wait, either before the limit is hit or because the service refused one. */
      readonly type: "throttled";
      /** Method and path with ids replaced, for example `PUT /domains/*`. */
      readonly endpoint: string;
      readonly waitSeconds: number;
      readonly because: "used-up" | "refused";
    };

/** A connection that reads, and has no method that writes. */
export interface ReadClient extends ReadApi {
  /** What each endpoint was last seen to say of its rate limit. Sorted by endpoint. */
  limits(): readonly RateLimitState[];
  /** Closes every connection at once; what is in flight fails. */
  close(): Promise<void>;
}

/** A connection that writes, too. */
export interface ClientApi extends ReadClient, Api {
  limits(): readonly RateLimitState[];
}

/** setTimeout takes no more than 2^31 - 1. */
const MAX_TIMER_MILLISECONDS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(Math.max(milliseconds, 0), MAX_TIMER_MILLISECONDS));
      signal?.addEventListener("abort", done);
    }),
};

// Where requests may go: https, or plain http to this machine.

export type CheckedBaseUrl =
  | { readonly ok: true; readonly url: string }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** Of the first error that most people meet, and who has no account yet is told what needs none. */
const FIRST_FIX =
  "Set TENON_SERVICE=linode for a known service, or TENON_BASE_URL to the address of another, for example https://api.example.com/v4. Without an account, `tenon demo` shows everything at once, and `tenon emulate --port 8080` serves the whole API at http://127.0.0.1:8080/v4.";

const FIX = "Set TENON_BASE_URL or --base-url to the service's address, for example https://api.example.com/v4.";

/**
 * Checks the service's base address.
 * @returns the address without a trailing slash, or why it cannot be used. Credentials in it are not repeated.
 */
export function checkBaseUrl(text: string | undefined): CheckedBaseUrl {
  const trimmed = text?.trim() ?? "";
  if (trimmed === "")
    return refuse(
      "base-url-missing",
      "no base URL is set",
      "It says which service to talk to; there is no default.",
      FIRST_FIX,
    );
  // A URL is read without its line breaks and tabs: what is shown in two lines would be one host.
  if (/[\p{Cc}\s]/u.test(trimmed)) {
    return refuse(
      "base-url-invalid",
      "the base URL holds a line break, a blank or a control character",
      "No URL does.",
    );
  }
  const url = URL.canParse(trimmed) ? new URL(trimmed) : null;
  if (url === null || url.hostname === "") {
    return refuse("base-url-invalid", "the base URL is not a URL", "It has to begin with https:// and a host.");
  }
  if (url.username !== "" || url.password !== "") {
    return refuse(
      "base-url-credentials",
      "the base URL holds credentials",
      "The token is handed over on its own (TENON_TOKEN or --token-file), never within a URL.",
    );
  }
  if (url.search !== "" || url.hash !== "") {
    return refuse(
      "base-url-invalid",
      "the base URL has a query or a fragment",
      "Paths are appended to it, so it has to end with a path such as /v4.",
    );
  }
  if (!isSecure(url)) {
    return refuse(
      "base-url-insecure",
      `the base URL is not https: ${url.protocol}//${url.host}`,
      "The token would be sent in the clear. Plain http is for this machine only (localhost, 127.0.0.1, [::1]).",
    );
  }
  return { ok: true, url: url.href.replace(/(?<!\/)\/+$/, "") };
}

function refuse(code: string, summary: string, detail: string, fix: string = FIX): CheckedBaseUrl {
  return { ok: false, diagnostic: { code, severity: "error", summary, detail, fix } };
}

/** https, or http to a loopback host. */
export function isSecure(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
}

/** `hostname` as WHATWG URLs give it: IPv4 in four parts, IPv6 in brackets. Other names under `localhost` go through DNS. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
