/** What the texts of a project come to, counted before they are made: a few lines can ask for more than any memory holds. */

import type { Diagnostic, Span } from "../model/diagnostic.ts";
import type { Json } from "../model/resource.ts";
import type { Sources } from "../model/source.ts";
import {
  MAX_EXPANDED_CHARACTERS,
  MAX_PROJECT_RECORDS,
  MAX_SHORT_PROJECT_RECORDS,
  MIN_CHARACTERS_PER_RECORD,
} from "./limits.ts";

/** What a list, a mapping, a key or a number counts for; a text counts for its characters, too. */
const VALUE_CHARACTERS = 8;
/** What a value counts for that is made anew, with a place of its own, wherever an alias or a variable stands. */
export const COPIED_VALUE_CHARACTERS = 128;

/** Of one project. */
export class Budget {
  #left = MAX_EXPANDED_CHARACTERS;
  #read = 0;
  #isTold = false;
  readonly #copyCosts: WeakMap<object, number> = new WeakMap();

  /** @returns false if there is no room for so much; that is reported once, at the first place */
  take(characters: number, span: () => Span, report: (diagnostic: Diagnostic) => void): boolean {
    this.#left -= characters;
    if (this.#left >= 0) return true;
    if (!this.#isTold) report(expandsTooFar(span()));
    this.#isTold = true;
    return false;
  }

  /** Texts that have a limit of their own are counted, too. */
  noteRead(characters: number): void {
    this.#read += characters;
  }

  /** What was read and taken so far. */
  get spent(): number {
    return MAX_EXPANDED_CHARACTERS - this.#left + this.#read;
  }

  /** What a copy of `value` in another place counts for. */
  copyCost(value: Json): number {
    if (typeof value === "string") return value.length;
    if (typeof value !== "object" || value === null) return 0;
    const known = this.#copyCosts.get(value);
    if (known !== undefined) return known;
    const cost = Object.values(value).reduce(
      (sum: number, item) => sum + COPIED_VALUE_CHARACTERS + this.copyCost(item as Json),
      COPIED_VALUE_CHARACTERS,
    );
    this.#copyCosts.set(value, cost);
    return cost;
  }
}

/** Values that many entries share are weighed once. */
export class Scales {
  readonly #known: WeakMap<object, number> = new WeakMap();

  /** What `value` counts for, with all that is in it. */
  weigh(value: Json | undefined): number {
    if (typeof value === "string") return VALUE_CHARACTERS + value.length;
    if (typeof value !== "object" || value === null) return VALUE_CHARACTERS;
    const known = this.#known.get(value) ?? this.#sum(value);
    this.#known.set(value, known);
    return known;
  }

  /** Without the values of some of its keys. */
  weighEntry(entry: object, except: ReadonlySet<string>): number {
    const keys = Object.keys(entry).filter((key) => !except.has(key));
    return keys.reduce((sum, key) => sum + this.weigh((entry as Record<string, Json>)[key]), VALUE_CHARACTERS);
  }

  #sum(value: object): number {
    return Object.values(value).reduce((sum: number, item) => sum + this.weigh(item as Json), VALUE_CHARACTERS);
  }
}

/** How many records a project may have: record sets and lists of domains make hundreds of thousands of a few lines. */
export function recordLimit({ characters }: Pick<Sources, "characters">): number {
  const written = Math.floor(characters / MIN_CHARACTERS_PER_RECORD);
  return Math.min(MAX_PROJECT_RECORDS, Math.max(MAX_SHORT_PROJECT_RECORDS, written));
}

/** Why there are not more. */
export function explainRecordLimit(limit: number): string {
  const count = limit.toLocaleString("en");
  if (limit === MAX_PROJECT_RECORDS) return `A project may have ${count} records, a domain counted as two.`;
  return `A project may have one record for each ${MIN_CHARACTERS_PER_RECORD} characters of its files, a domain counted as two, and ${MAX_SHORT_PROJECT_RECORDS.toLocaleString("en")} in any case: here ${count}.`;
}

function expandsTooFar(span: Span): Diagnostic {
  return {
    code: "expands-too-far",
    severity: "error",
    summary: "the project becomes too large",
    detail: `With all that aliases, variables, defaults, record sets and zone files put in, counted wherever they do, it has more than ${MAX_EXPANDED_CHARACTERS / 1024 ** 2} MiB. Here that is more; what follows is not looked at.`,
    fix: "Shorten what is put in many times, or divide the project.",
    span,
  };
}
