/** Signals that thousands of requests listen to, as one interruption must reach them all, and that end with what they are for. */

import { setMaxListeners } from "node:events";

/** Keeps Node from taking many listeners for a leak: each of ours is removed when its request ends. */
export function shared<Signal extends AbortSignal | undefined>(signal: Signal): Signal {
  if (signal) setMaxListeners(0, signal);
  return signal;
}

interface Ending {
  readonly signal: AbortSignal;
  abort(): void;
  /** Lets go of the outer signal; must be called. */
  release(): void;
}

/** A signal of our own that the outer one aborts too. AbortSignal.any would keep growing on a long-lived outer signal. */
export function endingWith(outer: AbortSignal | undefined): Ending {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  if (outer?.aborted) abort();
  outer?.addEventListener("abort", abort);
  return {
    signal: shared(controller.signal),
    abort,
    release: () => outer?.removeEventListener("abort", abort),
  };
}
