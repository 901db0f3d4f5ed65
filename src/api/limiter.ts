/** The one gate all requests go through: first come, first served, as far as each endpoint's limit allows. */

import type { Clock } from "./connection.ts";
import {
  type Admission,
  admits,
  type Bucket,
  ended,
  FRESH_BUCKET,
  learn,
  type Seen,
  type SeenLimit,
  seenLimit,
  sharedAdmits,
  started,
  toldBy,
  UNKNOWN_LIMIT,
} from "./rate-limit.ts";

export interface Limiter {
  /**
   * Waits for a turn.
   * @param place of an earlier pass, so that a repeated request does not queue up behind newer ones
   * @returns null if the signal was aborted while it waited
   */
  enter(endpoint: string, place: number | null, signal: AbortSignal | undefined): Promise<Pass | null>;
  limits(): readonly SeenLimit[];
}

export interface Pass {
  readonly place: number;
  /** Must be called once; what the answer said of the limit, or null if none came. */
  leave(seen: Seen | null): void;
  /** Milliseconds until the endpoint is open again; 0 if it is. */
  pause(): number;
}

export interface LimiterOptions {
  readonly concurrency: number;
  readonly clock: Clock;
  readonly random: () => number;
  throttled(endpoint: string, milliseconds: number, because: "used-up" | "refused"): void;
}

interface Waiting {
  readonly place: number;
  admit(): void;
}

interface Lane {
  readonly endpoint: string;
  bucket: Bucket;
  /** Sorted by place. */
  readonly queue: Waiting[];
  /** Its present wait was told. */
  announced: boolean;
}

export function createLimiter(options: LimiterOptions): Limiter {
  const { clock, concurrency } = options;
  const lanes = new Map<string, Lane>();
  let inFlight = 0;
  let places = 0;
  let shared = UNKNOWN_LIMIT;
  let alarm: { readonly time: number; readonly controller: AbortController } | null = null;

  /** Lets in whoever may go, the longest waiting first, and sets the alarm for the rest. */
  function pump(): void {
    while (inFlight < concurrency) {
      const lane = firstAdmitted();
      if (lane === null) break;
      inFlight += 1;
      lane.bucket = started(lane.bucket);
      lane.announced = false;
      lane.queue.shift()?.admit();
    }
    setAlarm();
  }

  function firstAdmitted(): Lane | null {
    let first: Lane | null = null;
    let place = Number.POSITIVE_INFINITY;
    for (const lane of lanes.values()) {
      const head = lane.queue[0];
      if (head === undefined || head.place >= place) continue;
      if (admission(lane).type !== "now") continue;
      first = lane;
      place = head.place;
    }
    return first;
  }

  /** The endpoint's own limit first, then the one that all may have in common. */
  function admission(lane: Lane): Admission {
    const own = admits(lane.bucket, clock.now());
    return own.type === "now" ? sharedAdmits(shared, lane.bucket, inFlight, clock.now()) : own;
  }

  function setAlarm(): void {
    let earliest = Number.POSITIVE_INFINITY;
    for (const lane of lanes.values()) {
      if (lane.queue.length === 0) continue;
      const verdict = admission(lane);
      if (verdict.type !== "until") continue;
      announce(lane, verdict);
      earliest = Math.min(earliest, verdict.time);
    }
    if (alarm?.time === earliest) return;
    alarm?.controller.abort();
    alarm = null;
    if (earliest !== Number.POSITIVE_INFINITY) ring(earliest);
  }

  function ring(time: number): void {
    const controller = new AbortController();
    alarm = { time, controller };
    clock.sleep(Math.max(0, time - clock.now()), controller.signal).then(() => {
      if (controller.signal.aborted) return;
      alarm = null;
      pump();
    });
  }

  function announce(lane: Lane, wait: Extract<Admission, { type: "until" }>): void {
    if (lane.announced) return;
    lane.announced = true;
    options.throttled(lane.endpoint, wait.time - clock.now(), wait.because);
  }

  function laneOf(endpoint: string): Lane {
    const lane = lanes.get(endpoint) ?? { endpoint, bucket: FRESH_BUCKET, queue: [], announced: false };
    lanes.set(endpoint, lane);
    return lane;
  }

  function passOf(lane: Lane, place: number): Pass {
    const sentAt = clock.now();
    const before = shared.newest;
    return {
      place,
      leave: (seen) => {
        inFlight -= 1;
        const earlier = lane.bucket;
        lane.bucket = ended(earlier, { seen, sentAt, now: clock.now(), random: options.random() });
        const told = seen === null ? null : toldBy(lane.endpoint, lane.bucket);
        if (told !== null) {
          const firstOf = earlier.window === told.window ? null : earlier.inFlight;
          shared = learn(shared, { told, before, firstOf });
        }
        pump();
      },
      pause: () => Math.max(0, lane.bucket.pausedUntil - clock.now()),
    };
  }

  return {
    enter: (endpoint, earlier, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve(null);
        const lane = laneOf(endpoint);
        places += 1;
        const place = earlier ?? places;
        const abort = (): void => {
          lane.queue.splice(lane.queue.indexOf(waiting), 1);
          resolve(null);
          pump();
        };
        const waiting: Waiting = {
          place,
          admit: () => {
            signal?.removeEventListener("abort", abort);
            resolve(passOf(lane, place));
          },
        };
        signal?.addEventListener("abort", abort);
        insert(lane.queue, waiting);
        pump();
      }),
    limits: () => {
      const seen = [...lanes.values()].map((lane) => seenLimit(lane.endpoint, lane.bucket, clock.now()));
      return seen.filter((limit) => limit !== null).sort((a, b) => (a.endpoint < b.endpoint ? -1 : 1));
    },
  };
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
