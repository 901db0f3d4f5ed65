/** Second looks: what is listed again after it was made, because answers alone do not tell what became of it. */

import type { RequestStep, Step } from "../model/step.ts";
import type { Unit } from "../model/unit.ts";
import type { Context, StepResult } from "./context.ts";
import { lookForLateCommits, type Repeated, repeatedWithin } from "./late.ts";
import { lookForTwins } from "./twins.ts";

export interface SecondLooksOptions {
  /** In the order of the plan. */
  readonly steps: readonly Step[];
  readonly context: Context;
  readonly concurrency: number;
  /** One sentence for the report. */
  tell(surprise: string): void;
}

export class SecondLooks {
  readonly #options: SecondLooksOptions;
  readonly #repeated: Repeated[] = [];
  readonly #sentOnce: Repeated[] = [];
  readonly #looks: Map<string, Promise<void>> = new Map();
  readonly #told: Set<string> = new Set();

  constructor(options: SecondLooksOptions) {
    this.#options = options;
  }

  learn(step: RequestStep, { id, repeated }: StepResult, unit: Unit): void {
    if (repeated) this.#repeated.push({ step, id, unit });
    else if (step.method === "POST" && id !== null) this.#sentOnce.push({ step, id, unit });
  }

  /** Before an object is copied in which something may be there twice; null if there is nothing to look at. Its copies share one look. */
  before(step: Step): Promise<void> | null {
    const within = repeatedWithin(step, this.#repeated, this.#options.context);
    if (within.length === 0) return null;
    const key = JSON.stringify(within.map(({ step: { id } }) => id));
    const look = this.#looks.get(key) ?? this.#lookForLate(within);
    this.#looks.set(key, look);
    return look;
  }

  async atEnd(): Promise<void> {
    const { context, concurrency } = this.#options;
    await this.#lookForLate(this.#repeated);
    // An interrupted run has no time for what only a person can mend.
    if (context.stopping.aborted) return;
    this.#tell(await lookForTwins(this.#sentOnce, context, concurrency));
  }

  async #lookForLate(repeated: readonly Repeated[]): Promise<void> {
    const { steps, context, concurrency } = this.#options;
    const order = new Map(steps.map(({ id }, rank) => [id, rank]));
    const repeats = [...repeated].sort((a, b) => (order.get(a.step.id) ?? 0) - (order.get(b.step.id) ?? 0));
    this.#tell(await lookForLateCommits(repeats, context, concurrency));
  }

  /** What one look has told, another need not tell again. */
  #tell(surprises: readonly string[]): void {
    for (const surprise of surprises) {
      if (!this.#told.has(surprise)) this.#options.tell(surprise);
      this.#told.add(surprise);
    }
  }
}
