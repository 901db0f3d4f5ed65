/** Looks at the drift of a project again and again, and says only what is new. */

import isEqual from "fast-deep-equal";
import { type Drift, hasDrift, type WatchNews } from "../model/change.ts";
import type { Clock } from "../model/clock.ts";

/** One comparison of the manifests with the account. */
export type Look =
  | { readonly ok: true; readonly drift: Drift }
  /**
   * `message`: why there was none, in lines for people. `cause`: equal for looks that fail for one lasting reason, of which the first is reported,
   * however the others put it; absent: the message.
   */
  | { readonly ok: false; readonly message: string; readonly cause?: string };

export interface WatchOptions {
  look(): Promise<Look>;
  /** From the beginning of one look to that of the next; a look that takes longer is followed by the next at once. */
  readonly everyMilliseconds: number;
  readonly clock: Clock;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** Handles the system's signals as long as `work` takes: a post and the wait after it are one such stretch. Absent: the caller does so. */
  handlingSignals?(work: () => Promise<void>): Promise<void>;
  readonly status: WatchStatus;
  print(news: WatchNews): void;
  /** Posts news elsewhere. @returns null if it arrived, else why not; then it is part of the next news. Absent: nothing is posted. */
  post?(news: WatchNews): Promise<string | null>;
  /** Called when posting begins to fail, or fails otherwise, and with null when it works again. */
  reportPost?(problem: string | null): void;
}

/**
 * Ends when `signal` is aborted, and never for what a look or a post says, except for the first look: if that fails, something is set up wrong.
 * @returns null, or the first look if it failed
 */
export async function watchDrift(options: WatchOptions): Promise<(Look & { readonly ok: false }) | null> {
  const { clock, signal, status, everyMilliseconds, handlingSignals = (work) => work() } = options;
  const reader = new Listener(null, true);
  const poster = new Poster(options);
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    const started = clock.now();
    const look = await options.look();
    if (signal.aborted) return null;
    if (isFirst && !look.ok) return look;
    status.looked(look, started, clock.now());
    const news = reader.news(look);
    if (news !== null) options.print(news);
    reader.knows(look);
    // A signal that came between two stretches would find no handler: the system would end the process, without an end in order.
    await handlingSignals(async () => {
      await poster.post(look);
      await clock.sleep(started + everyMilliseconds - clock.now(), signal);
    });
  }
  return null;
}

/** Someone who reads news: knows what the last look that reached them has found. */
class Listener {
  #drift: Drift | null;
  /** Of the last look, if it failed. */
  #cause: string | null = null;

  /** Whether a failure after another one is news if it has another cause. */
  readonly #distinguishesCauses: boolean;

  /** @param drift what they take for granted; null: they want to know even that there is none */
  constructor(drift: Drift | null, distinguishesCauses: boolean) {
    this.#drift = drift;
    this.#distinguishesCauses = distinguishesCauses;
  }

  /** Linear in the number of objects. @returns null if they know all of it */
  news(look: Look): WatchNews | null {
    if (!look.ok) {
      const isKnown = this.#distinguishesCauses ? causeOf(look) === this.#cause : this.#cause !== null;
      return isKnown ? null : { type: "unreadable", message: look.message };
    }
    const { drift } = look;
    const earlier = new Map(this.#drift?.objects.map((object) => [object.key, object]));
    const later = new Set(drift.objects.map(({ key }) => key));
    const appeared = drift.objects.filter((object) => !isEqual(earlier.get(object.key), object));
    const resolved = (this.#drift?.objects ?? []).filter(({ key }) => !later.has(key));
    const wasUnreadable = this.#cause !== null;
    const isKnown = appeared.length + resolved.length === 0 && this.#drift !== null && !wasUnreadable;
    return isKnown ? null : { type: "drift", drift, appeared, resolved, wasUnreadable };
  }

  knows(look: Look): void {
    this.#cause = look.ok ? null : causeOf(look);
    if (look.ok) this.#drift = look.drift;
  }
}

function causeOf({ message, cause = message }: Look & { readonly ok: false }): string {
  return cause;
}

/** What was not taken is not kept, but compared anew: however long the receiver is away, there is one post when it is back. */
class Poster {
  readonly #options: WatchOptions;
  #listener: Listener | null = null;
  #problem: string | null = null;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  async post(found: Look): Promise<void> {
    const { post, reportPost, status, signal } = this.#options;
    if (post === undefined) return;
    const look = withoutUnadopted(found);
    this.#listener ??= new Listener(look.ok ? { ...look.drift, objects: [] } : null, false);
    const news = this.#listener.news(look);
    if (news === null) return this.#listener.knows(look);
    const problem = await post(news);
    if (signal.aborted) return;
    status.posted(problem === null);
    if (problem === null) this.#listener.knows(look);
    if (problem !== this.#problem) reportPost?.(problem);
    this.#problem = problem;
  }
}

/** That an object lacks the owner's tag is no drift: an object of which nothing else is left is one whose drift is over. */
function withoutUnadopted(look: Look): Look {
  if (!look.ok) return look;
  const objects = look.drift.objects.filter(({ status }) => status !== "unadopted");
  return { ok: true, drift: { ...look.drift, objects } };
}

/** How the watch goes: what `/healthz` and `/metrics` say. */
export class WatchStatus {
  /** The last look that succeeded; null: none yet. */
  drift: Drift | null = null;
  readonly looks: { done: number; failed: number } = { done: 0, failed: 0 };
  readonly posts: { done: number; failed: number } = { done: 0, failed: 0 };
  lastSuccessMilliseconds: number | null = null;
  lastLookSeconds = 0;

  looked(look: Look, startedMilliseconds: number, endedMilliseconds: number): void {
    this.looks[look.ok ? "done" : "failed"] += 1;
    this.lastLookSeconds = (endedMilliseconds - startedMilliseconds) / 1000;
    if (!look.ok) return;
    this.drift = look.drift;
    this.lastSuccessMilliseconds = endedMilliseconds;
  }

  posted(isTaken: boolean): void {
    this.posts[isTaken ? "done" : "failed"] += 1;
  }

  get hasDrift(): boolean {
    return this.drift !== null && hasDrift(this.drift);
  }
}
