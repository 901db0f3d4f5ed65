/**
 * What came of the accounts so far. What they printed and found is held until all are done, so it is bounded for the fleet as a whole; and what
 * one of them comes to on a worker is bounded by what a record may have.
 */

import { type Ran, SHORTER_CHARACTERS } from "../model/fleet.ts";
import { shellWord } from "../model/text.ts";
import { MAX_LINE_CHARACTERS } from "./records.ts";
import { MAX_RECORD_OCTETS } from "./store.ts";

/** The most characters of the texts and documents of all accounts together. */
const MAX_KEPT_CHARACTERS = 256 * 1024 * 1024;
/** So many characters are left of a text that is cut. */
const MAX_CUT_CHARACTERS = 16 * 1024;
/** What else is in a record of an outcome: the headline, the shorter forms of the text, and what the worker says beside it. */
const MAX_AROUND_OCTETS = 256 * 1024;
/** What is added to a headline, at most. */
const MAX_NOTE_CHARACTERS = 400;
/** UTF-8 in JSON: a control character is written as six. */
const MAX_OCTETS_OF_CHARACTER = 6;

export class KeptOutcomes {
  readonly #outcomes: Map<string, Ran> = new Map();
  readonly #maxCharacters: number;
  #characters = 0;

  constructor(maxCharacters: number = MAX_KEPT_CHARACTERS) {
    this.#maxCharacters = maxCharacters;
  }

  get size(): number {
    return this.#outcomes.size;
  }

  get(name: string): Ran | undefined {
    return this.#outcomes.get(name);
  }

  /** Cuts the longest texts of all accounts until what is held is within the limit. */
  set(name: string, outcome: Ran): void {
    const before = this.#outcomes.get(name);
    this.#characters += charactersOf(outcome) - (before === undefined ? 0 : charactersOf(before));
    this.#outcomes.set(name, outcome);
    while (this.#characters > this.#maxCharacters && this.#cutLongest());
  }

  /** @returns false: nothing is left that could be cut */
  #cutLongest(): boolean {
    let longest: { readonly name: string; readonly outcome: Ran } | null = null;
    for (const [name, outcome] of this.#outcomes) {
      if (longest === null || longestOf(outcome) > longestOf(longest.outcome)) longest = { name, outcome };
    }
    if (longest === null || longestOf(longest.outcome) <= 2 * MAX_CUT_CHARACTERS) return false;
    const most = `those of a fleet may have ${this.#maxCharacters.toLocaleString("en")} together`;
    const whole = `--select ${shellWord(`name=${longest.name}`)} shows it whole`;
    const cut = cutLonger(longest.outcome, { most, whole });
    this.#characters += charactersOf(cut) - charactersOf(longest.outcome);
    this.#outcomes.set(longest.name, cut);
    return true;
  }
}

/**
 * An outcome that a record can hold: of one that is too long the document is left out, or the text is cut, or both.
 * @param maxOctets of text and document together, as JSON
 */
export function fitOutcome(name: string, outcome: Ran, maxOctets: number = MAX_RECORD_OCTETS - MAX_AROUND_OCTETS): Ran {
  const { headline } = outcome;
  const isLong = headline.length > MAX_LINE_CHARACTERS - MAX_NOTE_CHARACTERS;
  let fitted = isLong
    ? { ...outcome, headline: headline.slice(0, MAX_LINE_CHARACTERS - MAX_NOTE_CHARACTERS) }
    : outcome;
  // What is hidden in a text may make it longer.
  const forms = outcome.shorter?.filter(({ length }) => length <= (SHORTER_CHARACTERS[0] ?? 0));
  if (forms !== undefined && forms.length !== outcome.shorter?.length) fitted = { ...fitted, shorter: forms };
  const most = `a worker may report ${maxOctets.toLocaleString("en")} octets of an account`;
  const whole = `Without --queue, --select ${shellWord(`name=${name}`)} shows it whole`;
  while (!fits(fitted, maxOctets) && longestOf(fitted) > 2 * MAX_CUT_CHARACTERS)
    fitted = cutLonger(fitted, { most, whole });
  return fitted;
}

function fits({ text, document }: Ran, maxOctets: number): boolean {
  if (charactersOf({ text, document }) * MAX_OCTETS_OF_CHARACTER <= maxOctets) return true;
  return Buffer.byteLength(JSON.stringify(text)) + Buffer.byteLength(JSON.stringify(document)) <= maxOctets;
}

interface CutNote {
  /** Which limit there is. */
  readonly most: string;
  /** How all of it is seen. */
  readonly whole: string;
}

/** Of text and document the longer one. What a JSON document says is not in its beginning: it is left out as a whole. */
function cutLonger(outcome: Ran, { most, whole }: CutNote): Ran {
  const { text, shorter, document, markup, headline } = outcome;
  if (document !== null && document.length > text.length)
    return { ...outcome, document: null, headline: `${headline} (its document is left out: ${most})` };
  const note = `This text is cut: it has ${text.length.toLocaleString("en")} characters, and ${most}. ${whole}.\n`;
  // Markdown that is cut could end within code, and what others wrote must not stand outside of it.
  const [form] = shorter ?? [];
  return {
    ...outcome,
    text: markup === "markdown" ? `${form === undefined ? "" : `${form}\n`}${note}` : `${headOf(text)}\n${note}`,
  };
}

function charactersOf({ text, shorter = [], document }: Pick<Ran, "text" | "shorter" | "document">): number {
  return shorter.reduce((sum, form) => sum + form.length, text.length + (document?.length ?? 0));
}

function longestOf({ text, document }: Ran): number {
  return Math.max(text.length, document?.length ?? 0);
}

/** The first whole lines: copied, as a part of a string keeps all of it in memory. */
function headOf(text: string): string {
  const end = text.lastIndexOf("\n", MAX_CUT_CHARACTERS);
  return Buffer.from(text.slice(0, end < 0 ? MAX_CUT_CHARACTERS : end)).toString();
}
