/** What pages consist of: their head, sections, lists, and the bar that searches and filters. */

import type { KindFacts } from "../../model/kind.ts";
import { groupBy } from "../../model/text.ts";
import type { Alike, ChangeView, GroupView } from "../view.ts";
import { type Html, html, NOTHING } from "./markup.ts";

/** What weighs most stands first, and stands out. */
export type Weight = "bad" | "warn" | "plain";

export interface Section {
  /** Of its element. */
  readonly id: string;
  /** Of one or two words, for the list of sections; null: it is not in that. */
  readonly short: string | null;
  readonly heading: string;
  readonly weight?: Weight;
  /** Stays in sight while this section and those after it are. */
  readonly bar?: Html;
  readonly body: Html;
}

interface Frame {
  /** What made the page: `tenon plan`. */
  readonly made: string;
  readonly title: string;
  /** Counts in the title that have a colour. */
  readonly tallies: readonly Tally[];
  /** Sentences and names below the title. */
  readonly facts: readonly Html[];
  /** Those without a body are left out. */
  readonly sections: readonly (Section | null)[];
}

export interface Tally {
  /** As it stands in the title: `3 to add`. */
  readonly text: string;
  /** As the style names it: a mark, an outcome or a status. */
  readonly state: string;
}

export function frame({ made, title, tallies, facts, sections }: Frame): Html {
  const shown = sections.filter((section) => section !== null);
  const listed = shown.filter(({ short }) => short !== null);
  return html`<a class="skip" href="#main">To the content</a>
<header class="top">
<p class="made">${made}</p>
<h1>${colouredTitle(title, tallies)}</h1>
${facts.map((fact) => html`<p class="fact">${fact}</p>`)}
</header>
${listed.length > 1 && html`<nav aria-label="Sections"><ul>${listed.map(({ id, short, weight = "plain" }) => html`<li><a class="${weight}" href="#${id}">${short ?? ""}</a></li>`)}</ul></nav>`}
<main id="main">
${shown.map(
  ({
    id,
    heading,
    weight = "plain",
    bar = NOTHING,
    body,
  }) => html`${bar}<section id="${id}" class="${weight}" aria-labelledby="${id}-heading">
<h2 id="${id}-heading">${heading}</h2>
${body}
</section>
`,
)}</main>
`;
}

export function colouredTitle(title: string, tallies: readonly Tally[]): Html {
  let rest = title;
  const parts: Html[] = [];
  for (const { text, state } of tallies) {
    const index = rest.indexOf(text);
    if (index === -1) continue;
    parts.push(html`${rest.slice(0, index)}<span class="tint ${state}">${text}</span>`);
    rest = rest.slice(index + text.length);
  }
  return html`${parts}${rest}`;
}

/** Entries that are not folded. */
const MAX_OPEN_ENTRIES = 12;

/** Of many entries the further ones are folded. */
export function entryList(entries: readonly Html[]): Html {
  const items = (some: readonly Html[]) =>
    html`<ul class="entries">${some.map((entry) => html`<li>${entry}</li>\n`)}</ul>`;
  const rest = entries.slice(MAX_OPEN_ENTRIES);
  if (rest.length <= 1) return items(entries);
  return html`${items(entries.slice(0, MAX_OPEN_ENTRIES))}<details class="more"><summary>and ${rest.length} more</summary>${items(rest)}</details>`;
}

/** Diagnostics of one kind, and the advice that they share. */
export function alikeHtml({ summaries, advice }: Alike): Html {
  const texts = summaries.map((summary) => html`${summary}`);
  const shown = texts.length === 1 ? html`<p>${texts}</p>` : entryList(texts);
  return html`${shown}${advice.map((text) => html`<p class="fix">${text}</p>`)}`;
}

/** Escaped lines, of which those that are indented belong to the one before. */
export function linesAsEntries(entries: readonly (readonly string[])[]): Html {
  return entryList(
    entries.map(
      ([first = "", ...rest]) => html`${first.trim()}${rest.map((line) => html`<p class="fix">${line.trim()}</p>`)}`,
    ),
  );
}

export function listSection(
  id: string,
  short: string | null,
  heading: string,
  weight: Section["weight"],
  entries: readonly Html[],
): Section | null {
  if (entries.length === 0) return null;
  return { id, short, heading: heading.replace(/:$/, ""), weight: weight ?? "plain", body: entryList(entries) };
}

// The bar above a tree or a table: hidden until the script is there that does what it offers.

export interface Choice {
  readonly value: string;
  readonly text: string;
  readonly sign?: string;
}

interface Filters {
  /** What is counted: one, and several. */
  readonly nouns: readonly [one: string, many: string];
  /** Each can be switched on and off. */
  readonly states: readonly Choice[];
  /** One of them, or all. Fewer than two: no choice. */
  readonly kinds: readonly Choice[];
  /** One of them, or all. Absent or none: no choice. */
  readonly labels?: readonly Choice[];
  /** What stands for all of them: `All objects`. null: there is no choice. */
  readonly roots: string | null;
  /** Whether there is something to unfold. */
  readonly isTree: boolean;
}

export function filterBar({ nouns: [one, many], states, kinds, labels = [], roots, isTree }: Filters): Html {
  return html`<form class="filters" role="search" aria-label="Search and filter" data-one="${one}" data-many="${many}" hidden>
<label class="search"><span class="unseen">Search</span><input type="search" name="search" placeholder="Search: press /" autocomplete="off" spellcheck="false"></label>
${states.length > 1 && html`<fieldset class="states"><legend class="unseen">Which</legend>${states.map(({ value, text, sign = "" }) => html`<label class="${value}"><input type="checkbox" name="state" value="${value}"><span class="sign" aria-hidden="true">${sign}</span> ${text}</label>`)}</fieldset>`}
${kinds.length > 1 && html`<label><span class="unseen">Kind</span><select name="kind"><option value="">All kinds</option>${kinds.map(({ value, text }) => html`<option value="${value}">${text}</option>`)}</select></label>`}
${labels.length > 0 && html`<label><span class="unseen">Label</span><select name="label"><option value="">All labels</option>${labels.map(({ value, text }) => html`<option value="${value}">${text}</option>`)}</select></label>`}
${roots !== null && html`<label><span class="unseen">Network, zone or image</span><select name="root"><option value="">${roots}</option></select></label>`}
<span class="buttons">${isTree && html`<button type="button" name="expand">Expand all</button><button type="button" name="collapse">Collapse all</button>`}<button type="button" name="keys" aria-haspopup="dialog" aria-label="Keys">?</button></span>
<output name="count" aria-live="polite"></output>
</form>
`;
}

/** All changes of a network, zone or image: its own first. */
export function viewsIn({ own, children }: GroupView): ChangeView[] {
  return own === null ? [...children] : [own, ...children];
}

/** The kinds of some objects, in the order of `all`. */
export function kindChoices(found: readonly KindFacts[], all: readonly KindFacts[]): Choice[] {
  const counted = groupBy(found, ({ kind }) => kind);
  return all.flatMap(({ kind, words }) => (counted.has(kind) ? [{ value: kind, text: words[1] }] : []));
}

export function picture(id: string, short: string, heading: string, body: Html): Section | null {
  return String(body) === String(NOTHING) ? null : { id, short, heading, body };
}
