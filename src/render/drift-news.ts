/** News of a watch as text for a terminal or a log, as JSON lines, and as a message of a webhook. */

import { type DriftObject, hasDrift, type WatchNews } from "../model/change.ts";
import type { Kinds } from "../model/kind.ts";
import { jsonText } from "../model/text.ts";
import { createPaint } from "./change-lines.ts";
import { driftSummary, foldedObjects, noDriftText, objectJson, objectLines } from "./drift.ts";
import type { TextOptions } from "./plan-text.ts";
import { cut, DEFAULT_WIDTH_COLUMNS, escapeText, usableWidth } from "./terminal.ts";
import { count, sortKeys } from "./view.ts";

const INDENT = "  ";
/** As wide as the longest status and two spaces. */
const RESOLVED = "resolved    ";
const READABLE_AGAIN = "The account can be read again.";

/** Newline-terminated; begins with the time. Linear in the number of objects. */
export function renderNewsText(
  news: WatchNews,
  at: string,
  { colour, width = DEFAULT_WIDTH_COLUMNS }: TextOptions,
  kinds: Kinds,
): string {
  const paint = createPaint(colour);
  const columns = usableWidth(width) - INDENT.length;
  if (news.type === "unreadable") return `${paint.dim(at)}\n${news.message.trimEnd()}\n`;
  const { drift, wasUnreadable } = news;
  const lines = newsLines(news, columns, kinds).map((line) => INDENT + line);
  const last = hasDrift(drift) ? driftSummary(drift) : paint.good(noDriftText(drift));
  return `${[paint.dim(at), ...(wasUnreadable ? [READABLE_AGAIN] : []), ...lines, last].join("\n")}\n`;
}

function newsLines(
  { drift, appeared, resolved }: WatchNews & { type: "drift" },
  columns: number,
  kinds: Kinds,
): string[] {
  const shown = foldedObjects({ ...drift, objects: appeared });
  return [
    ...shown.flatMap(({ object, within }) => objectLines(object, within, columns, kinds)),
    ...resolved.map(({ key }) => `${RESOLVED}${escapeText(key)}`),
  ];
}

/** The version of schemas/drift-news.schema.json. */
const NEWS_FORMAT_VERSION = 1;

/** One line, newline-terminated. */
export function renderNewsJson(news: WatchNews, at: string): string {
  const head = { format_version: NEWS_FORMAT_VERSION, type: news.type, at };
  if (news.type === "unreadable") return `${jsonText({ ...head, message: news.message })}\n`;
  const { drift, appeared, resolved } = news;
  return `${jsonText({
    ...head,
    drift: hasDrift(drift),
    summary: { ...drift.summary },
    appeared: appeared.map((object) => sortKeys(objectJson(object))),
    resolved: resolved.map(({ key, address }) => ({ key, address })),
  })}\n`;
}

// A message of a webhook: Slack's, which Mattermost, Rocket.Chat and others take as well.

/** A chat shows the first lines; the whole is one command away. */
const MAX_MESSAGE_LINES = 30;
const MAX_MESSAGE_COLUMNS = 200;

/** The body of the POST: `{"text": "…"}`. What nobody declared comes last: whoever can make objects could fill the lines with it. */
export function renderNewsMessage(news: WatchNews, kinds: Kinds): string {
  const lines =
    news.type === "unreadable"
      ? news.message.trimEnd().split("\n")
      : newsLines({ ...news, appeared: unexpectedLast(news.appeared) }, 100, kinds);
  const shown = lines.slice(0, MAX_MESSAGE_LINES).map((line) => cut(line, MAX_MESSAGE_COLUMNS));
  const more = lines.length - shown.length;
  const code = [...shown, ...(more === 0 ? [] : [`… and ${count(more, "more line", "more lines")}: tenon drift`])];
  const text = [headOf(news), ...(code.length === 0 ? [] : [`\`\`\`\n${code.map(asCode).join("\n")}\n\`\`\``])];
  return `${jsonText({ text: text.join("\n") })}\n`;
}

function unexpectedLast(objects: readonly DriftObject[]): DriftObject[] {
  const isUnexpected = ({ status }: DriftObject): number => (status === "unexpected" ? 1 : 0);
  return objects.toSorted((a, b) => isUnexpected(a) - isUnexpected(b));
}

function headOf(news: WatchNews): string {
  if (news.type === "unreadable") return "Tenon cannot compare the account with the manifests:";
  const { drift, wasUnreadable } = news;
  const owner = drift.owner === null ? "" : ` (${asCode(escapeText(drift.owner))})`;
  const state = hasDrift(drift) ? driftSummary(drift) : noDriftText(drift);
  return `Tenon${owner}: ${wasUnreadable ? `${READABLE_AGAIN} ` : ""}${state}`;
}

/** Slack reads &, < and > as its own marks, and three backticks as the end of the code. */
export function asCode(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("`", "'");
}
