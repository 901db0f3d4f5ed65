/** The page of `tenon fleet status --serve`: a row for each account, which the page's script keeps up to date. */

import type { AccountStatus, FleetStatus } from "../../model/fleet.ts";
import { groupBy } from "../../model/text.ts";
import {
  type AccountState,
  accountState,
  queueText,
  STATE_WORDS,
  statusTally,
  timeOf,
  workersText,
} from "../fleet-status.ts";
import { type Labels, labelChoices, labelNumbers, labelsHtml } from "./labels.ts";
import { type Html, html, join } from "./markup.ts";
import { renderPage } from "./page.ts";
import { colouredTitle, filterBar, frame, type Tally } from "./sections.ts";

const STATES: readonly AccountState[] = ["running", "waiting", "failed", "done", "unknown"];
const SIGNS: Readonly<Record<AccountState, string>> = {
  ...{ running: "▸", waiting: "…", failed: "✗", done: "✓", unknown: "–" },
};

/** As the style names them. */
const CLASSES: Readonly<Record<AccountState, string>> = {
  ...{ running: "running", waiting: "waiting", failed: "failed", done: "done", unknown: "not-run" },
};

/** Elements of the page that may change: id → HTML; `title` is the heading's content, and `account-1` a whole row. */
export type StatusParts = readonly (readonly [id: string, text: string])[];

/** Linear in the number of accounts. */
export function statusParts(status: FleetStatus): StatusParts {
  const labels = labelChoices(status.accounts);
  const rows = status.accounts.map(
    (account, index) => [rowId(index), String(rowHtml(account, index, labels))] as const,
  );
  return [
    ["title", String(colouredTitle(statusTally(status), talliesOf(status)))],
    ["queue", String(html`${queueText(status)}`)],
    ["workers", String(html`${workersText(status)}`)],
    ...rows,
  ];
}

/** Newline-terminated. */
export function renderStatusPage(status: FleetStatus): string {
  const labels = labelChoices(status.accounts);
  const bar = filterBar({
    ...{ nouns: ["account", "accounts"] as const, kinds: [], roots: null, isTree: false, labels: labels.choices },
    states: STATES.map((state) => ({ value: CLASSES[state], text: STATE_WORDS[state], sign: SIGNS[state] })),
  });
  const heads = COLUMNS.map((heading) => html`<th scope="col">${heading}</th>`);
  const body = frame({
    ...{ made: "tenon fleet status", title: statusTally(status), tallies: talliesOf(status) },
    facts: [
      html`<span id="queue">${queueText(status)}</span>`,
      html`<span id="workers">${workersText(status)}</span>`,
      html`<span data-live="events" role="status">As of ${timeOf(status.at)}.</span>`,
    ],
    sections: [
      {
        ...{ id: "accounts", short: null, heading: "Accounts", bar },
        body: html`<div class="table" tabindex="0" role="region" aria-label="Accounts"><table>
<thead><tr>${heads}</tr></thead>
<tbody>
${status.accounts.map((account, index) => rowHtml(account, index, labels))}</tbody>
</table></div>`,
      },
    ],
  });
  return renderPage({ title: "tenon fleet status", body, isLive: true });
}

function talliesOf({ accounts }: FleetStatus): Tally[] {
  const counted = groupBy(accounts, accountState);
  return STATES.flatMap((state) => {
    const count = counted.get(state)?.length ?? 0;
    return count === 0 ? [] : [{ text: `${count} ${STATE_WORDS[state]}`, state: CLASSES[state] }];
  });
}

const COLUMNS = ["Account", "State", "Now", "Last run", "When", "Labels"] as const;

function rowId(index: number): string {
  return `account-${index + 1}`;
}

function rowHtml(account: AccountStatus, index: number, labels: Labels): Html {
  const { name, last } = account;
  const state = accountState(account);
  const cells: readonly Html[] = [
    html`<span class="state unbroken ${CLASSES[state]}"><span aria-hidden="true">${SIGNS[state]}</span> ${STATE_WORDS[state]}</span>`,
    nowHtml(account),
    last === null ? NONE : html`${last.command}: ${last.headline}`,
    last === null ? NONE : html`<span class="unbroken">${timeHtml(last.at, "ago")}</span>`,
    Object.keys(account.labels).length === 0 ? NONE : labelsHtml(account),
  ];
  return html`<tr class="row" id="${rowId(index)}" data-kind="" data-state="${CLASSES[state]}" data-labels="${labelNumbers(account, labels)}"><th scope="row" data-label="${COLUMNS[0]}">${name}</th>${cells.map((cell, column) => html`<td data-label="${COLUMNS[column + 1] ?? ""}"><span>${cell}</span></td>`)}</tr>
`;
}

const NONE: Html = html`<span class="muted">-</span>`;

function nowHtml({ running, waiting, waitingSince }: AccountStatus): Html {
  const parts: Html[] = [];
  if (running !== null)
    parts.push(
      html`${running.command} for ${timeHtml(running.since, "")} by ${running.worker}${running.isSilent && html`, <b>which is silent</b>`}`,
    );
  if (waiting > 0)
    parts.push(
      html`${waiting === 1 ? "waits" : `${waiting} commands wait`}${waitingSince !== null && html` for ${timeHtml(waitingSince, "")}`}`,
    );
  return parts.length === 0 ? NONE : join(parts, "; ");
}

/** The script writes how long ago it was, so that a row changes when something happens and not with each second. */
function timeHtml(milliseconds: number, after: string): Html {
  const time = timeOf(milliseconds) ?? "-";
  return html`<time datetime="${time}" data-age="${after}">${time}</time>`;
}
