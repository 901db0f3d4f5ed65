/** Search and filters of a tree of changes or of tables: what does not fit is hidden, and what is left is counted. */

import { markFound } from "./found.ts";
import { type Candidate, type Criteria, fits, isNarrowing, wordsOf } from "./matching.ts";

/** A line of a tree, a heading with a change of its own, or a row of a table. */
interface Entry extends Candidate {
  readonly element: HTMLElement;
  /** How many objects it stands for. */
  readonly count: number;
}

/** A network, zone or image of a tree, or a table. */
interface Group {
  readonly element: HTMLElement;
  /** The heading, if there is a change of its own. */
  readonly own: Entry | null;
  readonly entries: readonly Entry[];
  /** Addresses of the networks, zones or images that it is or holds. */
  readonly roots: ReadonlySet<string>;
  /** Whether it was open before a search opened it. */
  wasOpen: boolean;
}

/** With fewer entries than this, all are laid out at once, so that the page is exactly as long as they are. */
const FEW_ENTRIES = 1_000;
/** Not after each letter. */
const TYPING_MILLISECONDS = 120;

export interface Filters {
  /** Shows everything again. */
  clear(): void;
  focusSearch(): void;
  setOpen(isOpen: boolean): void;
  /** After elements of the page have changed. */
  refresh(): void;
}

/** @returns null if the page has nothing to filter */
export function startFilters(): Filters | null {
  const form = document.querySelector<HTMLFormElement>("form.filters");
  if (form === null) return null;
  const search = form.querySelector<HTMLInputElement>("[name=search]");
  let groups = groupsOf();
  let total = totalOf(groups);
  const root = form.querySelector<HTMLSelectElement>("[name=root]");
  if (root !== null) fillRoots(root, groups);
  let narrowed = false;

  const apply = (): void => {
    const criteria = criteriaOf(form);
    const rootAddress = root?.value ?? "";
    const isNarrowed = isNarrowing(criteria) || rootAddress !== "";
    const shown: Entry[] = [];
    for (const group of groups) {
      const isWanted = rootAddress === "" || group.roots.has(rootAddress);
      for (const entry of filterGroup(group, criteria, isWanted)) shown.push(entry);
    }
    if (isNarrowed !== narrowed) for (const group of groups) openForSearch(group, isNarrowed);
    narrowed = isNarrowed;
    document.documentElement.classList.toggle("few", shown.length < FEW_ENTRIES);
    say(form, sum(shown), total, isNarrowed);
    markFound(
      shown.map(({ element }) => element),
      criteria.words,
    );
  };

  let timer = 0;
  search?.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(apply, TYPING_MILLISECONDS);
  });
  form.addEventListener("change", apply);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    apply();
  });
  const setOpen = (isOpen: boolean): void => {
    for (const { element } of groups) if (element instanceof HTMLDetailsElement) element.open = isOpen;
  };
  form.querySelector("[name=expand]")?.addEventListener("click", () => setOpen(true));
  form.querySelector("[name=collapse]")?.addEventListener("click", () => setOpen(false));
  form.hidden = false;
  apply();
  return {
    clear: () => {
      form.reset();
      apply();
    },
    refresh: () => {
      groups = groupsOf();
      total = totalOf(groups);
      apply();
    },
    focusSearch: () => {
      search?.focus();
      search?.select();
    },
    setOpen,
  };
}

function totalOf(groups: readonly Group[]): number {
  return sum(groups.flatMap(({ own, entries }) => [...(own === null ? [] : [own]), ...entries]));
}

function groupsOf(): Group[] {
  const units = [...document.querySelectorAll<HTMLElement>(".tree > .unit")].map((unit): Group => {
    const summary = unit.querySelector<HTMLElement>(":scope > summary");
    const names = unit.querySelector<HTMLElement>(":scope > .within > .names");
    const heading = lazily(() => `${summary?.textContent ?? ""} ${names?.textContent ?? ""}`.toLowerCase());
    const fields = unit.querySelector<HTMLElement>(":scope > .within > .fields");
    const ownText = lazily(() => {
      // Of an account: what it printed.
      const said = unit.querySelector<HTMLElement>(":scope > .within > .output")?.textContent ?? "";
      return `${heading()} ${fields?.textContent ?? ""} ${said} ${textOfSame(unit)}`.toLowerCase();
    });
    const roots = [unit, ...unit.querySelectorAll<HTMLElement>("[data-root]")].flatMap(
      (element) => element.dataset["root"] ?? [],
    );
    return {
      element: unit,
      own: unit.dataset["kind"] === undefined ? null : entryOf(unit, ownText),
      entries: [...unit.querySelectorAll<HTMLElement>(".change")].map((line) => {
        const text = lazily(() => `${line.textContent} ${heading()} ${textOfSame(line)}`.toLowerCase());
        return entryOf(line, text);
      }),
      roots: new Set(roots),
      wasOpen: unit instanceof HTMLDetailsElement && unit.open,
    };
  });
  const tables = [...document.querySelectorAll<HTMLElement>("section:has(> .table)")].map((section): Group => {
    const rows = [...section.querySelectorAll<HTMLElement>("tr.row")];
    const entries = rows.map((row) => {
      const text = lazily(() =>
        [...row.children]
          .map((cell) => cell.textContent)
          .join(" ")
          .toLowerCase(),
      );
      return entryOf(row, text);
    });
    return { element: section, own: null, entries, roots: new Set(), wasOpen: false };
  });
  return [...units, ...tables];
}

function entryOf(element: HTMLElement, text: () => string): Entry {
  const { kind = "", state = "", count = "1", labels = "" } = element.dataset;
  return { element, kind, state, labels: labels.split(" "), count: Number(count), text };
}

/** Of an account that printed the same as another one, below which it stands. */
function textOfSame({ dataset: { same = "" } }: HTMLElement): string {
  return same === "" ? "" : (document.getElementById(same)?.querySelector(".output")?.textContent ?? "");
}

/** Texts are read when somebody searches. */
function lazily(make: () => string): () => string {
  let text: string | null = null;
  return () => {
    text ??= make();
    return text;
  };
}

function fillRoots(select: HTMLSelectElement, groups: readonly Group[]): void {
  for (const root of new Set(groups.flatMap(({ roots }) => [...roots]))) {
    const option = document.createElement("option");
    option.value = root;
    option.textContent = root.replace("/", " ");
    select.append(option);
  }
}

function criteriaOf(form: HTMLFormElement): Criteria {
  const data = new FormData(form);
  return {
    words: wordsOf(String(data.get("search") ?? "")),
    states: new Set(data.getAll("state").map(String)),
    kind: String(data.get("kind") ?? ""),
    label: String(data.get("label") ?? ""),
  };
}

/** @returns what is shown of it */
function filterGroup({ element, own, entries }: Group, criteria: Criteria, isWanted: boolean): Entry[] {
  const shown = isWanted ? entries.filter((entry) => fits(criteria, entry)) : [];
  const kept = new Set(shown);
  for (const entry of entries) hide(entry.element, !kept.has(entry));
  const fitsItself = isWanted && own !== null && fits(criteria, own);
  // A list of which nothing is shown would keep the room that the browser has guessed for it.
  for (const list of element.querySelectorAll<HTMLElement>(".lines"))
    hide(list, list.querySelector(".change:not([hidden])") === null);
  hide(element, !fitsItself && shown.length === 0 && (entries.length > 0 || own !== null));
  return fitsItself ? [own, ...shown] : shown;
}

function hide(element: HTMLElement, isHidden: boolean): void {
  if (element.hidden !== isHidden) element.hidden = isHidden;
}

/** What is found is to be seen; afterwards all is as it was. */
function openForSearch(group: Group, isSearch: boolean): void {
  if (!(group.element instanceof HTMLDetailsElement)) return;
  if (isSearch) group.wasOpen = group.element.open;
  group.element.open = isSearch || group.wasOpen;
}

function say(form: HTMLFormElement, shown: number, total: number, isNarrowed: boolean): void {
  const output = form.querySelector<HTMLOutputElement>("output");
  if (output === null) return;
  const { one = "", many = "" } = form.dataset;
  const all = `${total.toLocaleString("en")} ${total === 1 ? one : many}`;
  output.textContent = isNarrowed ? `${shown.toLocaleString("en")} of ${all}` : all;
}

function sum(entries: readonly Entry[]): number {
  return entries.reduce((all, { count }) => all + count, 0);
}
