/** Tickets as text: a table, and a thread in which nothing that somebody has written can pass for a heading. */

import { jsonText } from "../model/text.ts";
import type { Ticket, TicketEntity, TicketReply } from "../model/ticket.ts";
import { createPaint } from "./change-lines.ts";
import type { TextOptions } from "./plan-text.ts";
import {
  columnsOf,
  cut,
  DEFAULT_WIDTH_COLUMNS,
  escapeText,
  fits,
  HANGING_COLUMNS,
  padded,
  usableWidth,
  wrap,
  wrapItems,
} from "./terminal.ts";
import { count } from "./view.ts";

/** A longer value of the service is cut in a table, and in headings. */
const MAX_CELL_COLUMNS = 40;
/** The service takes summaries of 64 characters, each of which takes up to ten columns when it is escaped. */
const MAX_SUMMARY_COLUMNS = 640;
const INDENT = 2;
const GAP = "  ";

/** One line for each ticket, and a line that counts them. Newline-terminated. */
export function renderTicketList(tickets: readonly Ticket[], options: TextOptions, onlyOpen: boolean): string {
  if (tickets.length === 0) return onlyOpen ? "No open tickets.\n" : "No tickets.\n";
  const paint = createPaint(options.colour);
  const width = usableWidth(options.width ?? DEFAULT_WIDTH_COLUMNS);
  const heads = ["ID", "STATUS", "UPDATED", "SUMMARY"];
  const rows = tickets.map((ticket) => [
    String(ticket.id),
    cell(ticket.status),
    minuteOf(ticket.updated),
    escapeText(ticket.summary) + (ticket.entity === null ? "" : ` (${entityName(ticket.entity)})`),
  ]);
  const widths = heads.map((head, column) =>
    rows.reduce((most, row) => Math.max(most, columnsOf(row[column] ?? "")), columnsOf(head)),
  );
  const lineOf = (row: readonly string[]): string => {
    const cells = row.slice(0, -1).map((text, column) => padded(text, widths[column] ?? 0));
    const start = cells.join(GAP) + GAP;
    return start + shortened(row.at(-1) ?? "", Math.max(width - columnsOf(start), MAX_CELL_COLUMNS / 2));
  };
  const open = tickets.filter(({ status }) => status !== "closed").length;
  const lines = rows.map((row, index) => (tickets[index]?.status === "closed" ? paint.dim(lineOf(row)) : lineOf(row)));
  const counted = `${count(tickets.length, "ticket", "tickets")}${onlyOpen ? ", open" : `, ${open} open`}.`;
  return `${[paint.bold(lineOf(heads)), ...lines, "", counted].join("\n")}\n`;
}

/** The version of `schemas/ticket.schema.json`. */
const TICKET_FORMAT_VERSION = 1;

/** Newline-terminated. */
export function renderTicketJson(said: object): string {
  return `${jsonText({ format_version: TICKET_FORMAT_VERSION, ...said }, 2)}\n`;
}

export interface ThreadOptions extends TextOptions {
  /** How many replies are shown, the newest; null: all, and each in full. */
  readonly last: number | null;
}

/** Lines of one text that are shown, unless all is asked for. */
const MAX_TEXT_LINES = 200;

/** The ticket and the replies to it, the oldest first, in parts: together they may have hundreds of megabytes. Each is newline-terminated. */
export function* renderTicket(
  ticket: Ticket,
  replies: readonly TicketReply[],
  options: ThreadOptions,
): Generator<string> {
  const paint = createPaint(options.colour);
  const width = usableWidth(options.width ?? DEFAULT_WIDTH_COLUMNS);
  const { last } = options;
  const shown = last === null ? replies : replies.slice(Math.max(0, replies.length - last));
  const left = replies.length - shown.length;
  const body = (text: string) => textLines(text, width, last === null ? Number.POSITIVE_INFINITY : MAX_TEXT_LINES);
  const part = (lines: readonly string[]) => `${lines.join("\n")}\n`;
  // Blanks at the place where a line is broken would move the rest of it.
  const summary = shortened(escapeText(ticket.summary).replace(/ +/g, " "), MAX_SUMMARY_COLUMNS);
  const title = `Ticket ${ticket.id} (${cell(ticket.status)}): ${summary}`;
  const [head = "", ...further] = folded(title, width - HANGING_COLUMNS, " ".repeat(HANGING_COLUMNS));
  const opened = paint.bold(headingOf("opened", ticket.opened_by, ticket.opened));
  const titleLines = [head.trimStart(), ...further].map(paint.bold);
  yield part([...titleLines, ...factsOf(ticket, replies, width), "", opened, ...body(ticket.description)]);
  if (left > 0) {
    const are = `earlier ${left === 1 ? "reply is" : "replies are"} not shown`;
    yield part(["", ...wrap(`... ${left.toLocaleString("en")} ${are}: --all shows the whole thread`, width, 0)]);
  }
  for (const { created, created_by, description, from_linode } of shown) {
    const heading = headingOf(from_linode ? "the operator's reply" : "reply", created_by, created);
    yield part(["", from_linode ? paint.warn(`>> ${heading}`) : paint.bold(heading), ...body(description)]);
  }
}

function factsOf(ticket: Ticket, replies: readonly TicketReply[], width: number): string[] {
  const { entity, attachments, closed, closable, status } = ticket;
  const answers = replies.filter(({ from_linode }) => from_linode).length;
  const facts: [name: string, lines: readonly string[]][] = [
    ["about", entity === null ? [] : [entityText(entity)]],
    ["opened", [byAt(ticket.opened_by, ticket.opened)]],
    ["updated", [byAt(ticket.updated_by, ticket.updated)]],
    ["closed", closed === null ? [] : [secondOf(closed)]],
    [
      "replies",
      [
        `${replies.length.toLocaleString("en")}, ${answers === 0 ? "none" : answers.toLocaleString("en")} by the operator`,
      ],
    ],
    [
      "files",
      wrapItems(
        attachments.map((name) => shortened(escapeText(name), MAX_CELL_COLUMNS)),
        width - FACT_COLUMNS,
        0,
      ),
    ],
    ["closable", status === "closed" || closable ? [] : ["no: only the operator can close it"]],
  ];
  return facts.flatMap(([name, lines]) =>
    lines.map(
      (line, index) => `${" ".repeat(INDENT)}${(index === 0 ? name : "").padEnd(FACT_COLUMNS - INDENT)}${line}`,
    ),
  );
}

/** Where the values of a ticket's facts begin. */
const FACT_COLUMNS = 12;

/** Its beginning is ours: an author may call themselves like the operator. */
function headingOf(what: string, author: string, time: string): string {
  return `${secondOf(time)}, ${what} by ${cell(author)}`;
}

function byAt(author: string | null, time: string): string {
  return author === null ? secondOf(time) : `${secondOf(time)} by ${cell(author)}`;
}

/** `vpc prod`, or by its id if it has no label. */
function entityName({ id, label, type }: TicketEntity): string {
  return `${cell(type)} ${label === "" ? String(id) : cell(label)}`;
}

function entityText(entity: TicketEntity): string {
  return entity.label === "" ? entityName(entity) : `${entityName(entity)} (id ${entity.id})`;
}

/** On one line, escaped, and cut to what a cell can hold. */
function cell(text: string): string {
  return shortened(escapeText(text), MAX_CELL_COLUMNS);
}

function shortened(text: string, columns: number): string {
  return fits(text, columns) ? text : `${cut(text, columns - 1)}…`;
}

/** The service's times are UTC, and have no zone (OBSERVED.md, Pages, filters, limits). Anything else stays as it is. */
const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)Z?$/;

function minuteOf(time: string): string {
  const [, day, minute] = TIME.exec(time) ?? [];
  return day === undefined ? cell(time) : `${day} ${minute}`;
}

function secondOf(time: string): string {
  const [, day, minute, second] = TIME.exec(time) ?? [];
  return day === undefined ? cell(time) : `${day} ${minute}${second} UTC`;
}

// Texts that people wrote: their lines and indentation stay, and every line is indented, so that none looks like ours.

const TAB = " ".repeat(4);

function textLines(text: string, width: number, most: number): string[] {
  const indent = " ".repeat(INDENT);
  const lines = text.trimEnd().split(/\r\n|[\r\n]/);
  const shown: string[] = [];
  for (const whole of lines) {
    // What is not shown need not be broken into lines.
    const line = whole.slice(0, (most + 1) * width);
    for (const part of folded(escapeText(line.replaceAll("\t", TAB)), width - INDENT, indent)) shown.push(part);
    if (shown.length > most) break;
  }
  if (shown.length <= most) return shown;
  return [...shown.slice(0, most), `${indent}... more of this text is not shown: --all shows it`];
}

/** Breaks at the last blank that fits, or within a word that is longer than a line: no terminal has to break it. Linear. */
function folded(text: string, columns: number, indent: string): string[] {
  if (columnsOf(text) <= columns) return [(indent + text).trimEnd()];
  const lines: string[] = [];
  let [line, used, blank] = ["", 0, -1];
  for (const character of text) {
    const wide = columnsOf(character);
    if (used + wide > columns) {
      const isAtBlank = blank > 0 && line.slice(0, blank).trim() !== "";
      const rest = isAtBlank ? line.slice(blank + 1) : "";
      lines.push((indent + (isAtBlank ? line.slice(0, blank) : line)).trimEnd());
      [line, used, blank] = [rest, columnsOf(rest), -1];
      if (line === "" && character === " ") continue;
    }
    if (character === " ") blank = line.length;
    line += character;
    used += wide;
  }
  return [...lines, (indent + line).trimEnd()];
}
