/** Whether there is room for what the entry of a domain comes to; asked before that is made, and told where there is none. */

import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Json, JsonObject } from "../../model/resource.ts";
import { type Budget, Scales } from "../budget.ts";
import { tooLongIgnore } from "../ignore-limit.ts";
import { MAX_IGNORE_COMPARISONS } from "../limits.ts";
import type { Places } from "../places.ts";

export interface RoomContext {
  readonly places: Places;
  readonly budget: Budget;
  report(diagnostic: Diagnostic): void;
}

/** What is counted by itself, or not once for each domain. */
const COUNTED_APART: ReadonlySet<string> = new Set(["domain", "reverse", "records"]);

const ZONE_REFERENCE = "${zone}";

export class Room {
  readonly #context: RoomContext;
  readonly #scales: Scales = new Scales();
  #comparisons = 0;

  constructor(context: RoomContext) {
    this.#context = context;
  }

  /** For its fields, once for each domain that it names. */
  forFields(entry: JsonObject): boolean {
    return this.#take(entry, countOf(entry) * this.#scales.weighEntry(entry, COUNTED_APART));
  }

  /** For its own records and those of its sets, once for each domain that it names. */
  forRecords(entry: JsonObject, lists: readonly (readonly JsonObject[])[]): boolean {
    const weight = lists.reduce((sum, list) => sum + this.#scales.weigh(list as Json), 0);
    if (!this.#take(entry, countOf(entry) * weight)) return false;
    // Looked for only in what is not too long: each of them becomes the name of the zone.
    const references = lists.reduce((sum, list) => sum + this.#references(list as Json), this.#references(entry));
    if (!this.#take(entry, references * lengthOf(entry))) return false;
    return this.#forIgnoring(entry, countOf(entry) * weight);
  }

  /** For the records of one domain's zone file. */
  forZoneFile(entry: JsonObject, records: readonly JsonObject[]): boolean {
    const weight = this.#scales.weigh(records as unknown as Json);
    return this.#take(entry, weight) && this.#forIgnoring(entry, weight);
  }

  #take(entry: JsonObject, characters: number): boolean {
    const { budget, places, report } = this.#context;
    return budget.take(characters, () => spanOf(entry, places), report);
  }

  /** Each pattern under `ignore` is compared with each record. */
  #forIgnoring(entry: JsonObject, weight: number): boolean {
    const { ignore } = entry;
    if (!Array.isArray(ignore)) return true;
    const tooLong = tooLongIgnore(ignore, this.#context.places);
    if (tooLong !== null) {
      this.#context.report(tooLong);
      return false;
    }
    this.#comparisons += weight * ignore.length;
    if (this.#comparisons <= MAX_IGNORE_COMPARISONS) return true;
    this.#context.report(tooManyPatterns(this.#context.places.span(ignore)));
    return false;
  }

  readonly #referencesIn: WeakMap<object, number> = new WeakMap();

  #references(value: Json | undefined): number {
    if (typeof value === "string") return value.split(ZONE_REFERENCE).length - 1;
    if (typeof value !== "object" || value === null) return 0;
    const known = this.#referencesIn.get(value);
    if (known !== undefined) return known;
    const count = Object.values(value).reduce((sum: number, item) => sum + this.#references(item as Json), 0);
    this.#referencesIn.set(value, count);
    return count;
  }
}

/** How many domains the entry is for. */
function countOf({ domain }: JsonObject): number {
  return Array.isArray(domain) ? domain.length : 1;
}

/** Of the names of all its domains together. */
function lengthOf({ domain, reverse }: JsonObject): number {
  const names = Array.isArray(domain) ? domain : [domain ?? reverse];
  return names.reduce((sum: number, name) => sum + String(name).length, 0);
}

function spanOf(entry: JsonObject, places: Places): NonNullable<Diagnostic["span"]> {
  return places.span(entry, Object.hasOwn(entry, "domain") ? "domain" : "reverse");
}

function tooManyPatterns(span: NonNullable<Diagnostic["span"]>): Diagnostic {
  return {
    code: "too-many-patterns",
    severity: "error",
    summary: "too many patterns under `ignore`",
    detail: `Each pattern is compared with each record of its domain. The characters of the records, counted for each pattern, are more than ${MAX_IGNORE_COMPARISONS.toLocaleString("en")} in the project; what follows is not looked at.`,
    fix: "Join patterns with stars, or divide the project.",
    span,
  };
}
