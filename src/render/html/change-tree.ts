/** Changes as a tree: networks, zones and images, each with its own fields and a line for each change within. */

import { annotationText } from "../../model/annotations.ts";
import type { Kind } from "../../model/resource.ts";
import { rangeText } from "../address-space.ts";
import { blockText } from "../blocks.ts";
import { isBeyondLine, isRow, lineParts, signOf } from "../change-lines.ts";
import { type Entry, entriesOf, type FoldContext, ZONE_NAME } from "../folding.ts";
import {
  headline,
  headlineOfAlike,
  headlineOfMany,
  isInHeadline,
  labelText,
  memberText,
  shownName,
} from "../headline.ts";
import { type Tense, tallyText } from "../markdown/parts.ts";
import { escapeText } from "../terminal.ts";
import { type ChangeView, count, type GroupView, type Mark } from "../view.ts";
import { type Html, html, join, NOTHING } from "./markup.ts";
import { viewsIn } from "./sections.ts";
import { diffHtml, fieldsHtml, roomPerValue } from "./values.ts";

export interface TreeOptions {
  readonly fold: FoldContext;
  /** Keys of changes that other parts of the page point at → the ids of their elements. */
  readonly anchors: ReadonlyMap<string, string>;
  /** What became of a change, by its key; absent: nothing yet. */
  readonly outcomeOf?: (key: string) => string | null;
}

interface Tree extends TreeOptions {
  /** See `roomPerValue`. */
  readonly room: number;
}

/** Of fewer changes than this, everything is unfolded. */
const MAX_OPEN_CHANGES = 80;

/** The lines of one network, zone or image are laid out so many at a time, so that the browser skips those out of sight. */
const LINES_TOGETHER = 50;

/** Longer text that a block has is not cut: the page wraps it. */
const BLOCK_COLUMNS = 100_000;

export const MARK_WORDS: Readonly<Record<Mark, string>> = {
  create: "to add",
  update: "to change",
  delete: "to destroy",
  replace: "to replace",
  none: "as it is",
};

/** Linear in the number of changes. @param groups in the order of the tree */
export function changeTree(groups: readonly GroupView[], options: TreeOptions, isOpen = false): Html {
  const total = groups.reduce((sum, group) => sum + viewsIn(group).length, 0);
  const open = isOpen || total <= MAX_OPEN_CHANGES;
  const entries = entriesOf(groups, options.fold);
  const tree = { ...options, room: roomPerValue(total) };
  return html`<div class="tree">${entries.map((entry) => entryHtml(entry, tree, open))}</div>`;
}

function entryHtml(entry: Entry, options: Tree, open: boolean): Html {
  switch (entry.type) {
    case "one": {
      const { group } = entry;
      return unitHtml({ group, head: headline(group), count: 1, names: NOTHING, open }, options);
    }
    case "going":
      return goingHtml(entry.groups, options, open);
    case "alike": {
      const { groups, shown } = entry;
      const { what, names } = headlineOfAlike(groups, options.fold.kinds);
      const note = shown.isTemplate ? `${ZONE_NAME} is the name of each: ` : "";
      const list = html`<p class="names">${note}${nameList(groups.map((group) => [group.root, shownName(group.root)]))}</p>`;
      return unitHtml({ group: shown, head: `${what} ${names}`, count: groups.length, names: list, open }, options);
    }
  }
}

function nameList(names: readonly (readonly [root: string, shown: string])[]): Html {
  return join(
    names.map(([root, shown]) => html`<span data-root="${root}">${shown}</span>`),
    ", ",
  );
}

interface UnitFrame {
  readonly group: GroupView;
  readonly head: string;
  /** How many networks, zones or images it stands for. */
  readonly count: number;
  readonly names: Html;
  readonly open: boolean;
}

function unitHtml({ group, head, count: times, names, open }: UnitFrame, options: Tree): Html {
  const { own, children, root } = group;
  const fields = own === null ? [] : own.fields.filter(({ name }) => !isInHeadline(own, name));
  const source = options.fold.sources.get(root);
  const lines =
    source === undefined
      ? linesHtml(children.map((child) => lineHtml(child, times, options)))
      : linesHtml([copyHtml(group, source, times)]);
  const rootAttribute = times === 1 && html` data-root="${root}"`;
  return html`<details class="unit ${own?.mark ?? "none"}"${rootAttribute}${attributesOf(own, times, options)}${open && html` open`}>
<summary>${signHtml(own)} <span class="title"><span class="head">${head}</span>${badges(own, options)}</span> <span class="tally">${tallyOf(group, times, options)}</span></summary>
<div class="within">${names}${own !== null && html`${fieldsHtml(own, fields, options.room)}${detailHtml(own)}`}${lines}</div>
</details>
`;
}

/** Many objects that are only deleted share one heading; each of them is named. */
function goingHtml(groups: readonly GroupView[], options: Tree, open: boolean): Html {
  const own = groups[0]?.own ?? null;
  const lines = groups.map(
    (group) =>
      html`<li class="change delete" data-root="${group.root}"${attributesOf(group.own, viewsIn(group).length, options)}>${signHtml(group.own)} <span class="name">${memberText(group)}</span></li>`,
  );
  const views = groups.flatMap(viewsIn);
  const tally = tallyText(views, tenseOf(views, options));
  return html`<details class="unit delete"${open && html` open`}>
<summary>${signHtml(own)} <span class="title"><span class="head">${headlineOfMany(groups)}</span>${badges(own, options)}</span> <span class="tally">${tally}</span></summary>
<div class="within">${linesHtml(lines)}</div>
</details>
`;
}

/** What the filters of the page look at. */
function attributesOf(view: ChangeView | null, times: number, options: Tree): Html {
  if (view === null) return NOTHING;
  const { key, blocked } = view.change;
  const outcome = options.outcomeOf?.(key) ?? null;
  const state = outcome ?? (blocked === null ? view.mark : "blocked");
  const anchor = options.anchors.get(key);
  return html` data-kind="${view.kind.kind}" data-state="${state}"${times !== 1 && html` data-count="${times}"`}${anchor !== undefined && html` id="${anchor}"`}`;
}

function signHtml(view: ChangeView | null): Html {
  if (view === null) return html`<span class="sign"></span>`;
  const { mark } = view;
  return html`<span class="sign" role="img" aria-label="${MARK_WORDS[mark]}">${signOf(mark)}</span>`;
}

/** What is said of a change beside its sign: labels, a block, an outcome. */
function badges(view: ChangeView | null, { outcomeOf }: TreeOptions): Html {
  if (view === null) return NOTHING;
  const words = labelText(view).replace(/^ \(|\)$/g, "");
  const labels = words.split("; ").filter((word) => word !== "" && word !== "blocked");
  const outcome = outcomeOf?.(view.change.key) ?? null;
  const state = outcome ?? (view.change.blocked === null ? null : "blocked");
  return join([
    ...labels.map((label) => html` <span class="label">${label}</span>`),
    state !== null && html` <span class="state ${state}">${outcomeWord(state)}</span>`,
  ]);
}

function outcomeWord(state: string): string {
  return state === "partial" ? "done in part" : state;
}

function tallyOf(group: GroupView, times: number, options: Tree): string {
  const views = viewsIn(group);
  const tally = tallyText(views, tenseOf(views, options));
  return times === 1 ? tally : `${tally} each`;
}

/** Of a report whose run is incomplete, what is done as a whole is told as done. */
function tenseOf(views: readonly ChangeView[], { outcomeOf }: TreeOptions): Tense {
  return outcomeOf !== undefined && views.every(({ change }) => outcomeOf(change.key) === "done") ? "done" : "ahead";
}

function linesHtml(lines: readonly Html[]): Html {
  const chunks: Html[] = [];
  for (let from = 0; from < lines.length; from += LINES_TOGETHER)
    chunks.push(html`<ul class="lines">${lines.slice(from, from + LINES_TOGETHER)}</ul>`);
  return join(chunks);
}

function lineHtml(view: ChangeView, times: number, options: Tree): Html {
  const attributes = attributesOf(view, times, options);
  const below = isRow(view) ? view.fields.filter(({ name }) => isBeyondLine(view, name)) : view.fields;
  return html`<li class="change ${view.mark}"${attributes}>${signHtml(view)} ${partsHtml(view, options.room)} <span class="badges">${badges(view, options)}</span>${fieldsHtml(view, below, options.room)}${detailHtml(view)}</li>
`;
}

function partsHtml(view: ChangeView, room: number): Html {
  if (!isRow(view)) return html`<span class="name">${view.change.address}</span>`;
  const { lead, name, type, data, ttl } = lineParts(view);
  return html`<span class="name">${lead !== "" && html`<span class="kind">${lead}</span> `}${diffHtml(name, room)}</span> <span class="type">${type}</span> <span class="data">${diffHtml(data, room)}</span>${ttl !== "" && html` <span class="ttl">${ttl}</span>`}`;
}

/** A clone has exactly the records of its source, which stand there. */
function copyHtml({ children, contents }: GroupView, source: string, times: number): Html {
  const kind: Kind = contents?.kind ?? "";
  const alike = `${count(children.length, "record", "records")} as in ${escapeText(source.replace("/", " "))}`;
  return html`<li class="change create" data-kind="${kind}" data-state="create" data-count="${children.length * times}"><span class="sign" role="img" aria-label="${MARK_WORDS.create}">+</span> <span class="name">${alike}</span></li>`;
}

/** Note, range and block. */
function detailHtml({ change }: ChangeView): Html {
  const { note, blocked, annotations } = change;
  const range = rangeText(change);
  return join([
    note !== null && html`<p class="note"><span class="kind">note</span> ${note}</p>`,
    annotations !== undefined &&
      html`<p class="note"><span class="kind">entry</span> ${annotationText(annotations)}</p>`,
    range !== "" && html`<p class="note">${range}</p>`,
    blocked !== null && blockHtml(blocked),
  ]);
}

export function blockHtml(block: Parameters<typeof blockText>[0]): Html {
  const { reason, items, fix } = blockText(block, BLOCK_COLUMNS);
  return html`<div class="block"><p>Blocked: ${reason}${items.length > 0 ? ":" : "."}</p>${items.length > 0 && html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`}${fix !== "" && html`<p class="fix">${fix}</p>`}</div>`;
}
