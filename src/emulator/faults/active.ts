/** The faults that are in force, and what they decided for the requests that are under way. */

import { checkFaults } from "./check.ts";
import { chooseFaults } from "./choose.ts";
import type { Fault, FaultEffect, FaultRequest } from "./fault.ts";
import { LateWork, type Wait } from "./late-work.ts";

export const DEFAULT_FAULT_SEED = 1;

export class ActiveFaults {
  readonly late: LateWork;
  #choose: (request: FaultRequest) => FaultEffect | null = () => null;
  readonly #effects = new WeakMap<object, FaultEffect>();

  /** @param wait how late work is waited for; absent: real time */
  constructor(wait?: Wait) {
    this.late = new LateWork(wait);
  }

  /** Replaces them and counts anew. @returns null, or why they cannot be used; then nothing has changed */
  replace(faults: readonly Fault[], seed: number = DEFAULT_FAULT_SEED): string | null {
    const problem = checkFaults(faults, seed);
    if (problem === null) this.#choose = chooseFaults(faults, seed);
    return problem;
  }

  /**
   * Decides for a request; to be asked once for each.
   * @param request what `effectOf` is asked about later
   * @param path below the prefix of the API, percent-encoded
   */
  decide(request: { readonly method: string }, path: string): FaultEffect | null {
    const effect = this.#choose({ method: request.method, path: decode(path) });
    if (effect !== null) this.#effects.set(request, effect);
    return effect;
  }

  effectOf(request: object): FaultEffect | null {
    return this.#effects.get(request) ?? null;
  }
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
