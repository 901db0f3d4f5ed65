/** Second looks: what is listed again after it was made, because answers alone do not tell what became of it. */

import type { ObjectId } from "../model/resource.ts";
import { canBeDuplicated, type RequestStep, type Step } from "../model/step.ts";
import type { Unit } from "../model/unit.ts";
import type { Context, StepResult } from "./context.ts";
import { type Findings, type MadeObject, settleCopy, settleDuplicates } from "./duplicates.ts";
import { isCopy, listsOfCopy, lookForLateCommits, type Repeated, repeatedWithin } from "./late.ts";

export interface SecondLooksOptions {
  /** In the order of the plan. */
  readonly steps: readonly Step[];
  readonly context: Context;
  readonly concurrency: number;
  /** One sentence for the report. */
  tell(surprise: string): void;
  /** The step's object is another one now, with its parts: an older, equal one that another run made. */
  goOnWith(step: RequestStep, id: ObjectId, parts: StepResult["parts"]): void;
}

/** A step that copied an object, and the id of the copy. */
interface Copy {
  readonly step: RequestStep;
  readonly id: ObjectId;
}

export class SecondLooks {
  readonly #options: SecondLooksOptions;
  /** By the id of their step: those of which there may be two. */
  readonly #made: Map<string, MadeObject> = new Map();
  /** Those of them whose request was sent twice: few, while every step asks for them. */
  readonly #sentTwice: Set<string> = new Set();
  readonly #repeated: Repeated[] = [];
  readonly #looks: Map<string, Promise<void>> = new Map();
  readonly #told: Set<string> = new Set();
  readonly #left: Set<string> = new Set();
  /** By the id of their step: those beside which another run's equal object was seen. */
  readonly #met: Map<string, MadeObject> = new Map();
  readonly #copies: Copy[] = [];

  constructor(options: SecondLooksOptions) {
    this.#options = options;
  }

  /** How many steps made something of which more than one is left. */
  get duplicates(): number {
    return this.#left.size;
  }

  learn(step: RequestStep, { id, recovered, repeated }: StepResult, unit: Unit): void {
    if (step.method !== "POST" || step.lookup === null) return;
    if (id !== null && isCopy(step, this.#options.context)) this.#copies.push({ step, id });
    if (id !== null && canBeDuplicated(step.lookup.kind)) {
      this.#made.set(step.id, { step, unit, id, isOwn: !recovered, repeated });
      if (repeated) this.#sentTwice.add(step.id);
    } else if (repeated) {
      this.#repeated.push({ step, id, unit });
    }
  }

  /** Before an object is copied in which something may be there twice; null if there is nothing to look at. Its copies share one look. */
  before(step: Step): Promise<void> | null {
    const sentTwice = [...this.#sentTwice].flatMap((id) => this.#made.get(id) ?? []);
    const within = repeatedWithin(step, sentTwice, this.#options.context);
    if (within.length === 0) return null;
    const key = JSON.stringify(within.map(({ step: { id } }) => id));
    const look = this.#looks.get(key) ?? this.#settle(within);
    this.#looks.set(key, look);
    return look;
  }

  async atEnd(): Promise<void> {
    const { context, concurrency } = this.#options;
    for (const surprise of await lookForLateCommits(this.#inOrder(this.#repeated), context, concurrency)) {
      this.#tell(surprise);
    }
    // An interrupted run has no time but for what it may have made twice itself.
    const { aborted } = context.stopping;
    await this.#settle([...this.#made.values()].filter(({ repeated }) => repeated || !aborted));
    for (const { step, id } of this.#inOrder(this.#copies)) {
      const lists = listsOfCopy(step, id, this.#inOrder([...this.#met.values()]), context);
      for (const list of lists) await settleCopy(list, context, this.#findings());
    }
  }

  #settle(made: readonly MadeObject[]): Promise<void> {
    const { context, concurrency } = this.#options;
    return settleDuplicates(this.#inOrder(made), context, concurrency, this.#findings());
  }

  #findings(): Findings {
    return {
      tell: (sentence) => this.#tell(sentence),
      leave: ({ id }) => this.#left.add(id),
      meet: (made) => this.#met.set(made.step.id, made),
      goOnWith: (step, id, parts) => {
        const own = this.#made.get(step.id);
        if (own !== undefined) this.#made.set(step.id, { ...own, id, isOwn: false });
        this.#options.goOnWith(step, id, parts);
      },
    };
  }

  #inOrder<Entry extends { readonly step: RequestStep }>(entries: readonly Entry[]): readonly Entry[] {
    const order = new Map(this.#options.steps.map(({ id }, rank) => [id, rank]));
    return [...entries].sort((a, b) => (order.get(a.step.id) ?? 0) - (order.get(b.step.id) ?? 0));
  }

  /** What one look has told, another need not tell again. */
  #tell(surprise: string): void {
    if (!this.#told.has(surprise)) this.#options.tell(surprise);
    this.#told.add(surprise);
  }
}
