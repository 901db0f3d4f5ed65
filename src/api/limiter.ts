/** The one gate all requests go through: first come, first served, as far as each endpoint's limit allows. */

import type { Clock } from "../model/clock.ts";
import { handedBuckets, handedLimit, keptLimit, paceOf, type SeenLimits } from "./pace.ts";
import {
  type Admission,
  admits,
  type Bucket,
  ended,
  FRESH_BUCKET,
  isNamedAlike,
  type ObservedAnswer,
  observationOf,
  observe,
  observedLimit,
  type RateLimitState,
  sharedAdmits,
  started,
  UNKNOWN_LIMIT,
} from "./rate-limit.ts";

export interface Limiter {
  /**
   * Waits for a turn.
   * @param place of an earlier permit, so that a repeated request does not queue up behind newer ones
   * @returns null if the signal was aborted while it waited
   */
  acquire(endpoint: string, place: number | null, signal: AbortSignal | undefined): Promise<Permit | null>;
  limits(): readonly RateLimitState[];
  /** For the next client of the same token. */
  pace(): SeenLimits;
}

export interface Permit {
  readonly place: number;
  /** Must be called once, with the answer to the request, or with null if no answer came. */
  release(answer: ObservedAnswer | null): void;
  /** Milliseconds until the endpoint is open again; 0 if it is. */
  millisecondsUntilOpen(): number;
}

export interface LimiterOptions {
  readonly concurrency: number;
  readonly clock: Clock;
  readonly random: () => number;
  /** Of the last client of the same token; null or absent: nothing is known. */
  readonly pace?: SeenLimits | null;
  reportThrottled(endpoint: string, milliseconds: number, because: "used-up" | "refused"): void;
}

interface Waiting {
  readonly place: number;
  /** Given up: it is taken out with all others that one signal ends. */
  isGone: boolean;
  admit(): void;
}

interface EndpointQueue {
  readonly endpoint: string;
  bucket: Bucket;
  /** Sorted by place. */
  queue: Waiting[];
  /** Its present wait was reported. */
  announced: boolean;
}

export function createLimiter(options: LimiterOptions): Limiter {
  const { clock, concurrency } = options;
  const endpoints = new Map<string, EndpointQueue>();
  const watch = new AbortWatch();
  let inFlight = 0;
  let places = 0;
  let isDropping = false;
  /** How far the machine's clock was set back so far: whoever waits until a time would wait so much longer. */
  let behind = 0;
  let last = Number.NEGATIVE_INFINITY;
  const now = (): number => {
    const at = clock.now();
    behind += Math.max(0, last - at);
    last = at;
    return at + behind;
  };
  const handed = options.pace ?? null;
  let shared = handed === null ? UNKNOWN_LIMIT : handedLimit(handed, now());
  if (handed !== null) {
    for (const [endpoint, bucket] of handedBuckets(handed, now()))
      endpoints.set(endpoint, { endpoint, bucket, queue: [], announced: false });
  }
  let timer: { readonly time: number; readonly controller: AbortController } | null = null;

  /** Lets in whoever may go, the longest waiting first, and sets the alarm for the rest. */
  function pump(): void {
    while (inFlight < concurrency) {
      const endpointQueue = firstAdmitted();
      if (endpointQueue === null) break;
      inFlight += 1;
      endpointQueue.bucket = started(endpointQueue.bucket);
      endpointQueue.announced = false;
      endpointQueue.queue.shift()?.admit();
    }
    setTimer();
  }

  /** Once for all that end together: thousands of lists may wait when a signal comes. */
  function dropGone(): void {
    if (isDropping) return;
    isDropping = true;
    queueMicrotask(() => {
      isDropping = false;
      for (const endpointQueue of endpoints.values()) {
        endpointQueue.queue = endpointQueue.queue.filter(({ isGone }) => !isGone);
      }
      pump();
    });
  }

  function firstAdmitted(): EndpointQueue | null {
    let first: EndpointQueue | null = null;
    let place = Number.POSITIVE_INFINITY;
    for (const endpointQueue of endpoints.values()) {
      while (endpointQueue.queue[0]?.isGone === true) endpointQueue.queue.shift();
      const head = endpointQueue.queue[0];
      if (head === undefined || head.place >= place) continue;
      if (admission(endpointQueue).type !== "now") continue;
      first = endpointQueue;
      place = head.place;
    }
    return first;
  }

  /** The endpoint's own limit first, then the one that all may have in common. */
  function admission(endpointQueue: EndpointQueue): Admission {
    const own = admits(endpointQueue.bucket, now());
    return own.type === "now" ? sharedAdmits(shared, endpointQueue.bucket, inFlight, now()) : own;
  }

  function setTimer(): void {
    let earliest = Number.POSITIVE_INFINITY;
    for (const endpointQueue of endpoints.values()) {
      if (endpointQueue.queue.length === 0) continue;
      const verdict = admission(endpointQueue);
      if (verdict.type !== "until") continue;
      announce(endpointQueue, verdict);
      earliest = Math.min(earliest, verdict.time);
    }
    if (timer?.time === earliest) return;
    timer?.controller.abort();
    timer = null;
    if (earliest !== Number.POSITIVE_INFINITY) startTimer(earliest);
  }

  function startTimer(time: number): void {
    const controller = new AbortController();
    timer = { time, controller };
    clock.sleep(Math.max(0, time - now()), controller.signal).then(() => {
      if (controller.signal.aborted) return;
      timer = null;
      // It was slept, whatever the clock says.
      const left = time - now();
      behind += Math.max(0, left);
      pump();
    });
  }

  function announce(endpointQueue: EndpointQueue, wait: Extract<Admission, { type: "until" }>): void {
    if (endpointQueue.announced) return;
    endpointQueue.announced = true;
    options.reportThrottled(endpointQueue.endpoint, wait.time - now(), wait.because);
  }

  function queueOf(endpoint: string): EndpointQueue {
    const endpointQueue = endpoints.get(endpoint) ?? { endpoint, bucket: FRESH_BUCKET, queue: [], announced: false };
    endpoints.set(endpoint, endpointQueue);
    return endpointQueue;
  }

  function permitOf(endpointQueue: EndpointQueue, place: number): Permit {
    const sentAt = now();
    const knownWhenSent = shared.newest;
    return {
      place,
      release: (answer) => {
        inFlight -= 1;
        const old = endpointQueue.bucket;
        endpointQueue.bucket = ended(old, { seen: answer, sentAt, now: now(), random: options.random() });
        const observation = answer === null ? null : observationOf(endpointQueue.endpoint, endpointQueue.bucket);
        if (observation !== null) {
          if (shared.newest?.isHanded === true && handed !== null) shared = keptLimit(handed, observation);
          const maxOwnRequests = isNamedAlike(old, observation) ? null : old.inFlight;
          shared = observe(shared, { observation, knownWhenSent, maxOwnRequests });
        }
        pump();
      },
      millisecondsUntilOpen: () => Math.max(0, endpointQueue.bucket.pausedUntil - now()),
    };
  }

  return {
    acquire: (endpoint, keptPlace, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve(null);
        const endpointQueue = queueOf(endpoint);
        places += 1;
        const place = keptPlace ?? places;
        const abort = (): void => {
          waiting.isGone = true;
          resolve(null);
          dropGone();
        };
        const waiting: Waiting = {
          place,
          isGone: false,
          admit: () => {
            watch.remove(signal, abort);
            resolve(permitOf(endpointQueue, place));
          },
        };
        watch.add(signal, abort);
        insert(endpointQueue.queue, waiting);
        pump();
      }),
    pace: () => paceOf(new Map([...endpoints].map(([endpoint, { bucket }]) => [endpoint, bucket])), shared, now()),
    limits: () => {
      const answer = [...endpoints.values()].map((endpointQueue) =>
        observedLimit(endpointQueue.endpoint, endpointQueue.bucket, now()),
      );
      return answer.filter((limit) => limit !== null).sort((a, b) => (a.endpoint < b.endpoint ? -1 : 1));
    },
  };
}

/** One listener for each signal, however many requests wait: for each that is added, Node looks through all that are there. */
class AbortWatch {
  readonly #bySignal: WeakMap<AbortSignal, Set<() => void>> = new WeakMap();

  add(signal: AbortSignal | undefined, abort: () => void): void {
    if (signal === undefined) return;
    const waiting = this.#bySignal.get(signal) ?? this.#listen(signal);
    waiting.add(abort);
  }

  remove(signal: AbortSignal | undefined, abort: () => void): void {
    if (signal !== undefined) this.#bySignal.get(signal)?.delete(abort);
  }

  #listen(signal: AbortSignal): Set<() => void> {
    const waiting = new Set<() => void>();
    this.#bySignal.set(signal, waiting);
    signal.addEventListener("abort", () => {
      for (const abort of waiting) abort();
    });
    return waiting;
  }
}

/** Newcomers go to the end at once; repeated requests find their old place near the front. */
function insert(queue: Waiting[], waiting: Waiting): void {
  const last = queue.at(-1);
  if (last === undefined || last.place < waiting.place) {
    queue.push(waiting);
    return;
  }
  queue.splice(
    queue.findIndex((other) => other.place > waiting.place),
    0,
    waiting,
  );
}
