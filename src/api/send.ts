/** Carries one request to its end: waits for its turn, sends it, judges the answer, repeats it while that is safe. */

import { stat } from "node:fs/promises";
import type { Answer, Failure, UploadRequest } from "../model/api.ts";
import { type ApiEvent, type Clock, isSecure, type Reach } from "./connection.ts";
import type { Limiter, Pass } from "./limiter.ts";
import {
  forbiddenAddress,
  type JudgeContext,
  judgeUpload,
  MAX_WINDOW_MILLISECONDS,
  neededScope,
  retryBudget,
  type Setback,
  throttleOrder,
  type Verdict,
  waitBeforeRetry,
} from "./outcome.ts";
import type { HttpCall, HttpOutcome, Transport } from "./transport.ts";

export interface Delivery {
  readonly call: HttpCall;
  /** Path as events show it. */
  readonly shownPath: string;
  /** Under which its rate limit is counted; null: it does not go to the API. */
  readonly endpoint: string | null;
  readonly judge: (outcome: HttpOutcome, context: JudgeContext) => Verdict;
}

export interface Courier {
  readonly requestCount: number;
  deliver(delivery: Delivery, signal: AbortSignal | undefined): Promise<Answer>;
}

interface CourierOptions {
  readonly transport: Transport;
  readonly limiter: Limiter;
  readonly clock: Clock;
  readonly random: () => number;
  readonly retryForSeconds: number | null;
  readonly hide: (text: string) => string;
  observe(event: ApiEvent): void;
}

/** What became of one request so far. */
interface Progress {
  attempts: number;
  /** Milliseconds, see `RetryState`. */
  lost: number;
  /** Milliseconds, see `RetryState`. */
  throttled: number;
  /** One attempt of unknown effect is enough. */
  effect: "none" | "unknown";
  place: number | null;
  /** The Date of the last answer, in milliseconds since the epoch. */
  served: number | null;
}

export function createCourier(options: CourierOptions): Courier {
  const { transport, limiter, clock, observe } = options;
  let requestCount = 0;
  let everAnswered = false;

  async function deliver(delivery: Delivery, signal: AbortSignal | undefined): Promise<Answer> {
    const progress: Progress = { attempts: 0, lost: 0, throttled: 0, effect: "none", place: null, served: null };
    for (;;) {
      const pass = delivery.endpoint === null ? null : await limiter.enter(delivery.endpoint, progress.place, signal);
      if (signal?.aborted) {
        pass?.leave(null);
        return interrupted(progress);
      }
      progress.place = pass?.place ?? null;
      const verdict = await attempt(delivery, progress, pass, signal);
      if (verdict.type === "done") {
        // An attempt that was lost may have deleted it: then there is nothing to wonder about.
        const alreadyGone = verdict.absent === true && progress.effect === "none";
        // The host of an upload is another one, with a clock of its own.
        const served = delivery.endpoint === null ? null : progress.served;
        return {
          ok: true,
          body: verdict.body,
          ...(alreadyGone ? { alreadyGone } : {}),
          ...(served === null ? {} : { servedMilliseconds: served }),
        };
      }
      const wait = afterSetback(delivery, progress, verdict, pass);
      if (wait === null) return { ok: false, failure: failureOf(verdict, delivery, progress) };
      // A throttled request waits at the gate, which keeps all others of its endpoint back as well.
      if (!(verdict.throttled && pass)) await clock.sleep(wait, signal);
    }
  }

  async function attempt(
    delivery: Delivery,
    progress: Progress,
    pass: Pass | null,
    signal: AbortSignal | undefined,
  ): Promise<Verdict> {
    const { call, shownPath } = delivery;
    progress.attempts += 1;
    requestCount += 1;
    observe({ type: "sent", method: call.method, path: shownPath, attempt: progress.attempts });
    const sentAt = clock.now();
    const outcome = await transport.exchange(call, signal);
    const now = clock.now();
    // The first attempt is what the request takes anyway.
    if (progress.attempts > 1) progress.lost += now - sentAt;
    pass?.leave(outcome.type === "answer" ? outcome : null);
    if (outcome.status !== null) everAnswered = true;
    progress.served = outcome.type === "answer" ? dateOf(outcome.headers["date"]) : null;
    observe({
      type: "answered",
      method: call.method,
      path: shownPath,
      status: outcome.status,
      milliseconds: now - sentAt,
    });
    return delivery.judge(outcome, { method: call.method, host: new URL(call.origin).host, now, hide: options.hide });
  }

  /** Milliseconds to wait before the next attempt; null: there is none. */
  function afterSetback(delivery: Delivery, progress: Progress, setback: Setback, pass: Pass | null): number | null {
    if (setback.effect === "unknown") progress.effect = "unknown";
    const wait = waitBeforeRetry(setback, {
      attempts: progress.attempts,
      lost: progress.lost,
      throttled: progress.throttled,
      budget: retryBudget(options.retryForSeconds, everAnswered),
      random: options.random(),
    });
    if (wait === null) return null;
    if (throttleOrder(setback) === null) progress.lost += wait;
    else progress.throttled += wait;
    const atGate = setback.throttled && pass !== null;
    observe({
      type: "retrying",
      method: delivery.call.method,
      path: delivery.shownPath,
      attempt: progress.attempts,
      waitSeconds: (atGate ? Math.max(wait, pass.pause()) : wait) / 1000,
      reason: setback.message,
      maintenance: setback.maintenance,
      atGate,
    });
    return wait;
  }

  return {
    get requestCount() {
      return requestCount;
    },
    deliver,
  };
}

/** An HTTP date (RFC 9110, 5.6.7); null if it is absent, or none. */
function dateOf(header: string | undefined): number | null {
  const milliseconds = Date.parse(header ?? "");
  return milliseconds >= 0 && milliseconds < MAX_DATE_MILLISECONDS ? milliseconds : null;
}

/** The year 10000: an HTTP date has four digits for it (RFC 9110, 5.6.7). */
const MAX_DATE_MILLISECONDS = 253_402_300_800_000;

function failureOf(setback: Setback, { call, shownPath }: Delivery, progress: Progress): Failure {
  const scope = setback.status === 403 ? neededScope(call.method, shownPath) : null;
  const ordered = throttleOrder(setback);
  const more = [
    ...(scope === null ? [] : [`this needs the scope ${scope}`]),
    ...(ordered !== null && ordered > MAX_WINDOW_MILLISECONDS ? [tooLong(ordered)] : []),
  ];
  return {
    type: setback.failure,
    effect: progress.effect,
    status: setback.status,
    errors: setback.errors,
    message: [setback.message, ...more].join("; "),
    maintenance: setback.maintenance,
    attempts: progress.attempts,
  };
}

function tooLong(milliseconds: number): string {
  return `it orders a wait of ${Math.ceil(milliseconds / 1000)} s, and Tenon waits ${MAX_WINDOW_MILLISECONDS / 1000} s at most`;
}

function interrupted(progress: Progress): Answer {
  return {
    ok: false,
    failure: {
      type: "aborted",
      effect: progress.effect,
      status: null,
      errors: [],
      message: "interrupted",
      maintenance: false,
      attempts: progress.attempts,
    },
  };
}

// Uploads: a file to the signed URL that the service gave (API.md, Images, rule 2).

/** API.md, Limits: at most 5 GB compressed. */
const MAX_UPLOAD_BYTES: number = 5 * 1024 ** 3;

/**
 * What is to be sent: without the token, and shown without its path, which is part of the secret.
 * @param reach a service elsewhere must not have this machine's own ports written to, nor those of its networks
 * @returns what is wrong with the file or the URL, as a sentence without a full stop
 */
export async function uploadDelivery(request: UploadRequest, reach: Reach): Promise<Delivery | string> {
  const url = URL.canParse(request.url) ? new URL(request.url) : null;
  if (url === null || !isSecure(url)) return "the service gave an address for the upload that is not https";
  const [network, size] = await Promise.all([reach(url.hostname), sizeOf(request.file)]);
  if (network !== null) return forbiddenAddress(network);
  if (typeof size === "string") return size;
  return {
    call: {
      method: "PUT",
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      headers: { "content-type": "application/octet-stream", "content-length": String(size) },
      content: { type: "file", file: request.file },
    },
    shownPath: "(upload)",
    endpoint: null,
    judge: judgeUpload,
  };
}

async function sizeOf(file: string): Promise<number | string> {
  try {
    const found = await stat(file);
    if (!found.isFile()) return `${file} is not a file`;
    if (found.size > MAX_UPLOAD_BYTES) return `${file} is larger than the service takes (5 GB)`;
    return found.size;
  } catch (error) {
    return `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`;
  }
}
