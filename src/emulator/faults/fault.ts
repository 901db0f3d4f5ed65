/** What can go wrong with a request on purpose, and which requests it goes wrong with. */

/** The first five happen instead of any work; of the others the work is done, and its answer suffers. */
export type FaultEffect =
  /** An error in the service's shape. `retryAfterSeconds` null: without the header; absent: as it would be anyway. */
  | { readonly type: "status"; readonly status: number; readonly retryAfterSeconds?: number | null }
  /** A load balancer's page. */
  | { readonly type: "html"; readonly status: number }
  /** 400 `Linode busy.` */
  | { readonly type: "busy" }
  /** 503 with X-Maintenance-Mode. */
  | { readonly type: "maintenance" }
  /** The connection is reset before anything is done. */
  | { readonly type: "drop-before" }
  /** The connection is reset before the first byte of the answer. */
  | { readonly type: "drop-after" }
  /** Given up on first (a load balancer's 504 by default, or a reset), and done that long after. */
  | { readonly type: "late"; readonly delayMilliseconds: number; readonly status?: 504 | "drop" }
  /** The head promises the whole body; half of it comes, then a reset. */
  | { readonly type: "half-body" }
  /** The body is complete, as its length goes, and lacks its last character. */
  | { readonly type: "bad-json" }
  /** Nothing is answered for that long. */
  | { readonly type: "slow-headers"; readonly delayMilliseconds: number }
  /** The head comes at once, the body in pieces over that time. */
  | { readonly type: "slow-body"; readonly durationMilliseconds: number };

/** All selectors that are present must agree. Requests are counted from 1, those alone that `method` and `path` match. */
export interface Fault {
  readonly effect: FaultEffect;
  readonly method?: string;
  /** Below `/v4`, decoded, `*` matches anything; upload targets are below `/_upload`. Absent: every request, uploads too. */
  readonly path?: string;
  readonly nth?: readonly number[];
  /** Each so many-th. */
  readonly every?: number;
  /** Probability from 0 to 1, by the seed. */
  readonly rate?: number;
  /** It happens so often, and no more. */
  readonly times?: number;
}

export interface FaultRequest {
  readonly method: string;
  /** As in `Fault`. */
  readonly path: string;
}
