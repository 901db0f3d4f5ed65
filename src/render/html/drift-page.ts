/** Drift as a page: what the account has otherwise than the manifests declare, as a tree. */

import { type Drift, type DriftObject, type DriftStatus, hasDrift } from "../../model/change.ts";
import type { Kinds } from "../../model/kind.ts";
import { compareNatural, groupBy } from "../../model/text.ts";
import { valueText } from "../change-lines.ts";
import {
  addressText,
  driftSummary,
  type Folded,
  foldedObjects,
  labelTexts,
  noDriftText,
  unadoptedText,
  wholeLines,
} from "../drift.ts";
import { escapeText } from "../terminal.ts";
import { changedSinceText, count } from "../view.ts";
import { type Html, html } from "./markup.ts";
import { renderPage } from "./page.ts";
import { filterBar, frame, kindChoices, type Section, type Tally } from "./sections.ts";
import { diffHtml, roomPerValue, valueHtml } from "./values.ts";

/** The gravest first. */
const STATUSES = ["missing", "unexpected", "changed", "unadopted"] as const;
const SIGNS: Readonly<Record<DriftStatus, string>> = { missing: "-", unexpected: "+", changed: "~", unadopted: "=" };
const WORDS: Readonly<Record<DriftStatus, string>> = {
  ...{ missing: "missing", unexpected: "unexpected", changed: "changed", unadopted: "not adopted" },
};

/** Of fewer objects than this, everything is unfolded. */
const MAX_OPEN_OBJECTS = 80;
/** As in the tree of changes. */
const LINES_TOGETHER = 50;

/** Newline-terminated. Linear in the number of objects. */
export function renderDriftHtml(drift: Drift, kinds: Kinds): string {
  const title = hasDrift(drift) ? driftSummary(drift) : noDriftText(drift);
  const facts = [changedSinceText(drift, kinds), unadoptedText(drift)].filter((text) => text !== "");
  const narrowed = [
    ...drift.targets.map((target) => html`<span class="pair">Target <b>${target}</b></span> `),
    ...drift.excludes.map((exclude) => html`<span class="pair">Without <b>${exclude}</b></span> `),
  ];
  const body = frame({
    ...{ made: "tenon drift", title, tallies: talliesOf(drift) },
    facts: [...(narrowed.length === 0 ? [] : [html`${narrowed}`]), ...facts.map((text) => html`${text}`)],
    sections: [objectsSection(drift, kinds)],
  });
  return renderPage({ title, body });
}

/** In the order of the title. */
function talliesOf({ summary }: Drift): Tally[] {
  return (["changed", "missing", "unexpected"] as const).flatMap((status) =>
    summary[status] === 0 ? [] : [{ text: `${summary[status]} ${status}`, state: status }],
  );
}

function objectsSection(drift: Drift, kinds: Kinds): Section | null {
  const folded = foldedObjects(drift);
  if (folded.length === 0) return null;
  const roots = [...groupBy(folded, ({ object }) => object.root)].sort(([a], [b]) => compareNatural(a, b));
  const found = new Set(folded.map(({ object }) => object.status));
  const states = STATUSES.filter((status) => found.has(status));
  const bar = filterBar({
    ...{ nouns: ["object", "objects"] as const, isTree: true },
    states: states.map((status) => ({ value: status, text: WORDS[status], sign: SIGNS[status] })),
    kinds: kindChoices(
      folded.map(({ object }) => kinds.of(object.kind)),
      kinds.all,
    ),
    roots: roots.length > 1 ? "All objects" : null,
  });
  const open = folded.length <= MAX_OPEN_OBJECTS;
  const room = roomPerValue(folded.length);
  const units = roots.map(([root, own]) => unitHtml(root, own, { kinds, open, room }));
  return {
    id: "objects",
    short: null,
    heading: "Objects",
    body: html`${bar}${states.includes("changed") && html`<p class="muted">Of what has changed: <del class="value">as it is in the account</del> <span class="arrow">→</span> <ins class="value">as declared</ins></p>`}<div class="tree">${units}</div>`,
  };
}

interface Tree {
  readonly kinds: Kinds;
  readonly open: boolean;
  /** See `roomPerValue`. */
  readonly room: number;
}

function unitHtml(root: string, objects: readonly Folded[], tree: Tree): Html {
  const { open } = tree;
  const lines = objects.map((one) => lineHtml(one, tree));
  const chunks: Html[] = [];
  for (let from = 0; from < lines.length; from += LINES_TOGETHER)
    chunks.push(html`<ul class="lines">${lines.slice(from, from + LINES_TOGETHER)}</ul>`);
  return html`<details class="unit none" data-root="${root}"${open && html` open`}>
<summary><span class="sign"></span><span class="title"><span class="head">${escapeText(root.replace("/", " "))}</span></span><span class="tally">${count(objects.length, "object", "objects")}</span></summary>
<div class="within">${chunks}</div>
</details>
`;
}

function lineHtml({ object, within }: Folded, tree: Tree): Html {
  const { status, kind, note } = object;
  const labels = labelTexts(object, within).map((label) => html` <span class="label">${label}</span>`);
  return html`<li class="change drift ${status}" data-kind="${kind}" data-state="${status}"><span class="sign" aria-hidden="true">${SIGNS[status]}</span><span class="state ${status}">${WORDS[status]}</span> <span class="name">${addressText(object)}</span>${labels}${valuesHtml(object, tree)}${note !== null && html`<p class="note"><span class="kind">note</span> ${note}</p>`}</li>
`;
}

/** Of what differs, the account's side and the declared one; of the rest, what tells it from others. */
function valuesHtml(object: DriftObject, { kinds, room }: Tree): Html {
  if (object.status !== "changed")
    return html`${wholeLines(object, room, kinds).map((line) => html` <span class="whole">${valueHtml(line.trim(), room)}</span>`)}`;
  const fields = object.fields.map(
    ({ name, live, declared }) =>
      html`<div><dt>${name}</dt><dd>${diffHtml([valueText(live), valueText(declared)], room)}</dd></div>`,
  );
  return html`<dl class="fields">${fields}</dl>`;
}
