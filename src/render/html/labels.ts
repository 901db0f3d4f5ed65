/** Labels of accounts: shown with each, and to choose from where they make groups. */

import { compareNatural, groupBy } from "../../model/text.ts";
import { type Html, html } from "./markup.ts";
import type { Choice } from "./sections.ts";

/** A label that has more values tells accounts apart, and makes no groups of them: the search finds it. */
const MAX_LABEL_VALUES = 40;

interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
}

export interface Labels {
  /** The value is the number of the label. */
  readonly choices: readonly Choice[];
  /** `tier=gold` → its number. */
  readonly numbers: ReadonlyMap<string, number>;
}

export function labelChoices(accounts: readonly Labelled[]): Labels {
  const values = groupBy(
    accounts.flatMap(({ labels }) => Object.entries(labels)),
    ([key]) => key,
  );
  const texts = [...values]
    .map(([key, pairs]) => [...new Set(pairs.map(([, value]) => labelText(key, value)))])
    .filter(({ length }) => length <= MAX_LABEL_VALUES)
    .flat()
    .sort(compareNatural);
  return {
    choices: texts.map((text, index) => ({ value: String(index), text })),
    numbers: new Map(texts.map((text, index) => [text, index])),
  };
}

function labelText(key: string, value: string): string {
  return `${key}=${value}`;
}

/** As the page's script compares them: numbers with blanks between. */
export function labelNumbers({ labels }: Labelled, { numbers }: Labels): string {
  return Object.entries(labels)
    .flatMap(([key, value]) => numbers.get(labelText(key, value)) ?? [])
    .join(" ");
}

export function labelsHtml({ labels }: Labelled): Html {
  return html`${Object.entries(labels).map(([key, value]) => html` <span class="label">${labelText(key, value)}</span>`)}`;
}
