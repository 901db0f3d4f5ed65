/** What came of a command for a fleet as a page: an entry for each account, equal ones as one, and in it what the account printed. */

import { stripVTControlCharacters } from "node:util";
import type { AccountResult, FleetReport } from "../../model/fleet.ts";
import { compareNatural, groupBy, shellWord } from "../../model/text.ts";
import { type FleetState, fleetTally, headlineOf, MAX_LINES_ALIKE, stateOf, textOf } from "../fleet.ts";
import { count } from "../view.ts";
import { type Labels, labelChoices, labelNumbers, labelsHtml } from "./labels.ts";
import { type Html, html, NOTHING } from "./markup.ts";
import { renderPage } from "./page.ts";
import { filterBar, frame, type Section, type Tally } from "./sections.ts";

/** What needs a person most stands first. */
const STATES: readonly FleetState[] = ["failed", "interrupted", "refused", "pending", "not_run", "done"];
const SIGNS: Readonly<Record<FleetState, string>> = {
  ...{ done: "✓", pending: "~", refused: "!", failed: "✗", interrupted: "✗", not_run: "–" },
};

/** In a fleet of fewer accounts than this, everything is unfolded. */
const MAX_OPEN_ACCOUNTS = 8;
/** As in the tree of changes. */
const LINES_TOGETHER = 50;
/** Of what all accounts print: browsers open pages of this size at once. */
const MAX_DETAILS_CHARACTERS = 24_000_000;
/** Of what one account prints. */
const MAX_DETAIL_CHARACTERS = 400_000;

interface FleetPageOptions {
  /** Whether each account has an entry, however many are alike. */
  readonly full: boolean;
}

/** Newline-terminated. Linear in the number of accounts, and in what they print up to a limit of each. */
export function renderFleetHtml(report: FleetReport, { full }: FleetPageOptions): string {
  const title = fleetTally(report);
  const body = frame({
    ...{ made: `tenon fleet ${report.command}`, title, tallies: talliesOf(report), facts: [] },
    sections: [accountsSection(report, full)],
  });
  return renderPage({ title, body });
}

/** In the order of the title. */
function talliesOf({ accounts }: FleetReport): Tally[] {
  const counted = groupBy(accounts, stateOf);
  return (["done", "pending", "refused", "failed", "interrupted", "not_run"] as const).flatMap((state) => {
    const some = counted.get(state)?.length ?? 0;
    return some === 0 ? [] : [{ text: `${some} ${words(state)}`, state: classOf(state) }];
  });
}

function words(state: FleetState): string {
  return state.replaceAll("_", " ");
}

/** As the style names it. */
function classOf(state: FleetState): string {
  return state.replaceAll("_", "-");
}

function accountsSection(report: FleetReport, full: boolean): Section {
  const accounts = report.accounts.toSorted((a, b) => compareNatural(a.name, b.name));
  const labels = labelChoices(accounts);
  const found = new Set(accounts.map(stateOf));
  const states = STATES.filter((state) => found.has(state));
  const bar = filterBar({
    ...{ nouns: ["account", "accounts"] as const, kinds: [], roots: null, isTree: true, labels: labels.choices },
    states: states.map((state) => ({ value: classOf(state), text: words(state), sign: SIGNS[state] })),
  });
  const page = new AccountEntries(report, labels, accounts);
  const entries = states.flatMap((state) => {
    const own = accounts.filter((account) => stateOf(account) === state);
    return [...groupBy(own, headlineOf).values()].flatMap((group) =>
      full || group.length <= MAX_LINES_ALIKE ? group.map((account) => page.unit(account)) : [page.group(group)],
    );
  });
  const tree = html`${accounts.length > 1 && bar}<div class="tree">${entries}</div>`;
  return { id: "accounts", short: null, heading: "Accounts", body: tree };
}

class AccountEntries {
  readonly #command: string;
  readonly #labels: Labels;
  readonly #isOpen: boolean;
  readonly #ids: ReadonlyMap<string, string>;
  /** What is printed → the account below which it stands. */
  readonly #shown: Map<string, string> = new Map();
  readonly #room: number;

  constructor({ command }: FleetReport, labels: Labels, accounts: readonly AccountResult[]) {
    this.#command = command;
    this.#labels = labels;
    this.#isOpen = accounts.length <= MAX_OPEN_ACCOUNTS;
    this.#ids = new Map(accounts.map(({ name }, index) => [name, `account-${index + 1}`]));
    const texts = new Set(accounts.map(textOf).filter((text) => text !== "")).size;
    this.#room = Math.min(MAX_DETAIL_CHARACTERS, Math.floor(MAX_DETAILS_CHARACTERS / Math.max(texts, 1)));
  }

  /** An account by itself. */
  unit(account: AccountResult): Html {
    const { name } = account;
    const state = stateOf(account);
    const same = this.#sameAs(account);
    return html`<details class="unit account ${classOf(state)}" id="${this.#ids.get(name) ?? ""}" data-kind=""${this.#attributes(account, same)}${this.#isOpen && html` open`}>
<summary>${signHtml(state)} <span class="title"><span class="head">${name}</span> ${headlineOf(account)}</span> <span class="tally">${labelsHtml(account)}</span></summary>
<div class="within">${same === null ? this.#output(account) : this.#link(same)}</div>
</details>
`;
  }

  /** Accounts of which the same is to be said in one line. */
  group(accounts: readonly AccountResult[]): Html {
    const [first] = accounts;
    if (first === undefined) return NOTHING;
    const state = stateOf(first);
    const lines = accounts.map((account) => this.#line(account));
    const chunks: Html[] = [];
    for (let from = 0; from < lines.length; from += LINES_TOGETHER)
      chunks.push(html`<ul class="lines">${lines.slice(from, from + LINES_TOGETHER)}</ul>`);
    return html`<details class="unit ${classOf(state)}"${this.#isOpen && html` open`}>
<summary>${signHtml(state)} <span class="title"><span class="head">${count(accounts.length, "account", "accounts")}</span> ${headlineOf(first)}</span> <span class="tally">${shortNames(accounts)}</span></summary>
<div class="within">${chunks}</div>
</details>
`;
  }

  #line(account: AccountResult): Html {
    const { name } = account;
    const state = stateOf(account);
    const same = this.#sameAs(account);
    const head = html`<span class="name">${name}</span>${labelsHtml(account)}`;
    const output = same === null ? this.#output(account) : NOTHING;
    const inner =
      String(output) === ""
        ? html`<p>${head}${same !== null && html` ${this.#link(same)}`}</p>`
        : html`<details class="said"><summary>${head}</summary>${output}</details>`;
    return html`<li class="change account ${classOf(state)}" id="${this.#ids.get(name) ?? ""}" data-kind=""${this.#attributes(account, same)}>${inner}</li>
`;
  }

  #attributes(account: AccountResult, same: string | null): Html {
    const sameAs = same !== null && html` data-same="${this.#ids.get(same) ?? ""}"`;
    return html` data-state="${classOf(stateOf(account))}" data-labels="${labelNumbers(account, this.#labels)}"${sameAs}`;
  }

  /** The account above that has printed the same. */
  #sameAs(account: AccountResult): string | null {
    const text = textOf(account);
    const same = this.#shown.get(text);
    if (text === "") return null;
    if (same === undefined) this.#shown.set(text, account.name);
    return same ?? null;
  }

  #link(same: string): Html {
    return html`<a class="same" href="#${this.#ids.get(same) ?? ""}">prints the same as ${same}</a>`;
  }

  #output(account: AccountResult): Html {
    const text = stripVTControlCharacters(textOf(account)).trimEnd();
    if (text === "") return NOTHING;
    const end = text.length <= this.#room ? text.length : text.lastIndexOf("\n", this.#room) + 1;
    const lines = text.slice(0, end).trimEnd().split("\n");
    const left = text.slice(end);
    const rest =
      left === ""
        ? NOTHING
        : html`<p class="muted">There is no room for ${count(left.split("\n").length, "further line", "further lines")}: <code>tenon fleet ${this.#command} --select ${shellWord(`name=${account.name}`)}</code></p>`;
    return html`<pre class="output">${lines.map(lineHtml)}</pre>${rest}`;
  }
}

/** The line has room for few; all are in the entry. */
function shortNames(accounts: readonly AccountResult[]): string {
  const names = accounts.map(({ name }) => name);
  return `${names[0]}, ${names.length === 2 ? "" : "… "}${names.at(-1)}`;
}

function signHtml(state: FleetState): Html {
  return html`<span class="sign" aria-hidden="true">${SIGNS[state]}</span><span class="unseen">${words(state)}</span>`;
}

/** What a plan puts before a change → as the style names it. */
const LINE_CLASSES: readonly (readonly [beginning: RegExp, name: string])[] = [
  [/^ *(?:-\/\+|\+\/-) /, "replace"],
  [/^ *\+ /, "create"],
  [/^ *- /, "delete"],
  [/^ *~ /, "update"],
  [/^ *(?:! |error\b)/, "failed"],
  [/^ *warning\b/, "update"],
];

function lineHtml(line: string): Html {
  const [, name] = LINE_CLASSES.find(([beginning]) => beginning.test(line)) ?? [];
  return name === undefined ? html`${line}\n` : html`<span class="${name}">${line}</span>\n`;
}
