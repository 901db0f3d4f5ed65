/** Messages of a webhook about a fleet, in the form that Slack, Mattermost, Rocket.Chat and others take: `{"text": "…"}`. */

import { didWell, type FinishedRun, type FleetReport } from "../model/fleet.ts";
import { compareNatural, jsonText } from "../model/text.ts";
import { asCode } from "./drift-news.ts";
import { fleetTally, headlineOf, stateOf } from "./fleet.ts";
import { cut, escapeText } from "./terminal.ts";
import { count } from "./view.ts";

/** A chat shows the first lines; the whole is in the report. */
const MAX_MESSAGE_LINES = 30;
const MAX_MESSAGE_COLUMNS = 200;

/** Of a run that has ended. @returns null: no account needs a person */
export function renderRunMessage(report: FleetReport): string | null {
  const bad = report.accounts
    .filter((account) => ["failed", "interrupted", "refused", "not_run"].includes(stateOf(account)))
    .sort((a, b) => compareNatural(a.name, b.name));
  if (bad.length === 0) return null;
  const lines = bad.slice(0, MAX_MESSAGE_LINES).map((account) => `${account.name}  ${headlineOf(account)}`);
  const more = bad.length - lines.length;
  return message(`Tenon: fleet ${report.command}: ${fleetTally(report)}`, [
    ...lines,
    ...(more === 0 ? [] : [`… and ${count(more, "more account", "more accounts")}`]),
  ]);
}

/** @param before what the account came to last; null: that is not known. @returns null: neither has it begun to fail, nor is it well again */
export function renderTransitionMessage(
  account: string,
  before: FinishedRun | null,
  after: FinishedRun,
): string | null {
  const [was, is] = [before === null || didWell(before.code), didWell(after.code)];
  if (was === is) return null;
  return message(`Tenon: account ${asCode(account)} ${is ? "is well again" : "begins to fail"}:`, [
    `${after.command}: ${after.headline}`,
  ]);
}

function message(head: string, lines: readonly string[]): string {
  const code = lines.map((line) => asCode(cut(escapeText(line), MAX_MESSAGE_COLUMNS)));
  return `${jsonText({ text: `${head}\n\`\`\`\n${code.join("\n")}\n\`\`\`` })}\n`;
}
