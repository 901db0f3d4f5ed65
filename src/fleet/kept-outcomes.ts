/** What came of the accounts so far. What they printed and found is held until all are done, so it is bounded for the fleet as a whole. */

import type { Ran } from "../model/fleet.ts";

/** The most characters of the texts and documents of all accounts together. */
const MAX_KEPT_CHARACTERS = 256 * 1024 * 1024;
/** So many characters are left of a text that is cut. */
const MAX_CUT_CHARACTERS = 16 * 1024;

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
    const cut = this.#cut(longest.name, longest.outcome);
    this.#characters += charactersOf(cut) - charactersOf(longest.outcome);
    this.#outcomes.set(longest.name, cut);
    return true;
  }

  /** What a JSON document says cannot be told by its beginning: it is left out as a whole. */
  #cut(name: string, outcome: Ran): Ran {
    const { text, document, markup, headline } = outcome;
    const most = `those of a fleet may have ${this.#maxCharacters.toLocaleString("en")} together`;
    if (document !== null && document.length > text.length)
      return { ...outcome, document: null, headline: `${headline} (its document is left out: ${most})` };
    const characters = text.length.toLocaleString("en");
    const note = `This text is cut: it has ${characters} characters, and ${most}. --select name=${name} shows it whole.\n`;
    // Markdown that is cut could end within code, and what others wrote must not stand outside of it.
    return { ...outcome, text: markup === "markdown" ? note : `${headOf(text)}\n${note}` };
  }
}

function charactersOf({ text, document }: Ran): number {
  return text.length + (document?.length ?? 0);
}

function longestOf({ text, document }: Ran): number {
  return Math.max(text.length, document?.length ?? 0);
}

/** The first whole lines: copied, as a part of a string keeps all of it in memory. */
function headOf(text: string): string {
  const end = text.lastIndexOf("\n", MAX_CUT_CHARACTERS);
  return Buffer.from(text.slice(0, end < 0 ? MAX_CUT_CHARACTERS : end)).toString();
}
