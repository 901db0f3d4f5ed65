/** Bounds the comparison of what servers answer with the patterns of what may be there without a declaration. */

import type { DnsRecord } from "../dns/record.ts";

/**
 * Characters that are compared with patterns, each pattern counted: ten seconds of a processor or less. A server can answer 64 KiB of values
 * that nobody declared, to thousands of questions, and a manifest have thousands of patterns.
 */
const MAX_COMPARED_CHARACTERS = 2_000_000_000;
/** What a comparison takes with the shortest of values, in characters. */
const CHARACTERS_PER_COMPARISON = 20;

/** Values are asked for again in each round, and at each server. */
const MAX_REMEMBERED = 20_000;
const MAX_REMEMBERED_CHARACTERS = 1_000;

/** What a zone tolerates beside its declared records. */
interface TolerantZone {
  /** Lower-case ASCII without a final dot. */
  readonly zone: string;
  /** How many patterns a record is compared with; 0: any may be there, or none. */
  readonly patternCount: number;
  tolerates(record: DnsRecord): boolean;
}

/** The comparisons of one verification. */
export class Tolerance {
  #charactersLeft: number;
  #isExhausted = false;
  readonly #remembered: Map<string, boolean> = new Map();

  constructor(maxCharacters: number = MAX_COMPARED_CHARACTERS) {
    this.#charactersLeft = maxCharacters;
  }

  /** Whether a record may be there that is not declared. Once the limit is reached, the answer is no. */
  tolerates({ zone, patternCount, tolerates }: TolerantZone, record: DnsRecord): boolean {
    if (patternCount === 0) return tolerates(record);
    const { name, type, target } = record;
    const characters = name.length + target.length;
    const key = characters > MAX_REMEMBERED_CHARACTERS ? null : JSON.stringify([zone, name, type, target]);
    const known = key === null ? undefined : this.#remembered.get(key);
    if (known !== undefined) return known;
    this.#isExhausted ||= this.#charactersLeft < 0;
    if (this.#isExhausted) return false;
    this.#charactersLeft -= (characters + CHARACTERS_PER_COMPARISON) * patternCount;
    const isTolerated = tolerates(record);
    if (key !== null && this.#remembered.size < MAX_REMEMBERED) this.#remembered.set(key, isTolerated);
    return isTolerated;
  }

  /** Full sentences, for the verification's notes. */
  notes(): string[] {
    return this.#isExhausted ? [EXHAUSTED] : [];
  }
}

const EXHAUSTED =
  "The servers answered more undeclared values than are compared with what is ignored: those that were left count as different.";
