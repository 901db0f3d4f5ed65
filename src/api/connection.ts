/** What a client of the service is made from, and what it tells while it works. */

import type { Api, Method } from "../model/exchange.ts";
import type { SeenLimit } from "./rate-limit.ts";

/** Time, handed in so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `milliseconds`, or as soon as `signal` is aborted. Never rejects. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

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
  /** How long passing failures are retried; null: 30 s while nothing ever answered, 5 min otherwise. */
  readonly retryForSeconds?: number | null;
  /** Requests in flight at a time. Default: 8. */
  readonly concurrency?: number;
  /** HTTPS_PROXY and NO_PROXY are looked up here, and nowhere else. Default: none. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  /** Uniform in [0, 1): jitter. */
  readonly random?: () => number;
  readonly observe?: (event: ApiEvent) => void;
  /** Items asked for per page. Default: 500. */
  readonly pageSize?: number;
  readonly timeouts?: Partial<Timeouts>;
}

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
      /** It waits for the rate limit with all others of its endpoint; `throttled` tells how long. */
      readonly atGate: boolean;
    }
  | {
      /** Requests to this endpoint wait, either before the limit is hit or because the service refused one. */
      readonly type: "throttled";
      /** Method and path with ids replaced, for example `PUT /domains/*`. */
      readonly endpoint: string;
      readonly waitSeconds: number;
      readonly because: "used-up" | "refused";
    };

export interface ClientApi extends Api {
  /** What each endpoint was last seen to say of its rate limit. Sorted by endpoint. */
  limits(): readonly SeenLimit[];
  /** Closes every connection at once; what is in flight fails. */
  close(): Promise<void>;
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
