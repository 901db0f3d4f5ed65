/** Tickets and replies as values, read from the service's answers (API.md, Support ticket, Ticket reply). */

import { type Failure, type ListAnswer, MAX_TEXT_CHARACTERS, type ReadApi } from "../model/api.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/resource.ts";
import { isLongerThan } from "../model/text.ts";
import type { Ticket, TicketEntity, TicketReply } from "../model/ticket.ts";

export type Result<Value> =
  | { readonly ok: true; readonly value: Value }
  /** `what` could not be read or done. */
  | { readonly ok: false; readonly what: string; readonly failure: Failure };

export const TICKETS: readonly string[] = ["support", "tickets"];

export function ticketPath(id: number): readonly string[] {
  return [...TICKETS, String(id)];
}

export function isClosed({ status }: Pick<Ticket, "status">): boolean {
  return status === "closed";
}

/** More names than this are not believed: the service was seen to take five. */
const MAX_ATTACHMENT_NAMES = 1_000;

/** @returns null if it is no ticket */
export function parseTicket(body: Json): Ticket | null {
  if (!isJsonObject(body) || !isId(body["id"]) || typeof body["status"] !== "string") return null;
  const attachments = body["attachments"] ?? [];
  if (!Array.isArray(attachments) || attachments.length > MAX_ATTACHMENT_NAMES) return null;
  const ticket: Ticket = {
    id: body["id"],
    summary: text(body["summary"]),
    description: text(body["description"]),
    status: body["status"],
    closable: body["closable"] === true,
    opened: text(body["opened"]),
    opened_by: text(body["opened_by"]),
    updated: text(body["updated"]),
    updated_by: nullableText(body["updated_by"]),
    closed: nullableText(body["closed"]),
    attachments: attachments.map(text),
    entity: parseEntity(body["entity"]),
  };
  return isBounded(ticket) ? ticket : null;
}

function parseEntity(value: Json | undefined): TicketEntity | null {
  if (!isJsonObject(value) || !isId(value["id"])) return null;
  return { id: value["id"], label: text(value["label"]), type: text(value["type"]), url: text(value["url"]) };
}

/** @returns null if it is no reply */
export function parseReply(body: Json): TicketReply | null {
  if (!isJsonObject(body) || !isId(body["id"])) return null;
  const reply: TicketReply = {
    id: body["id"],
    created: text(body["created"]),
    created_by: text(body["created_by"]),
    description: text(body["description"]),
    from_linode: body["from_linode"] === true,
  };
  return isBounded(reply) ? reply : null;
}

function isId(value: Json | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function nullableText(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}

/** Lists are bounded as a whole by the client, and each text here. */
function isBounded(object: Ticket | TicketReply): boolean {
  const texts = Object.values(object).flatMap((value: unknown) => (Array.isArray(value) ? value : [value]));
  return texts.every((value) => typeof value !== "string" || !isLongerThan(value, MAX_TEXT_CHARACTERS));
}

// Reading them: every page, with a filter where that saves pages.

export interface TicketFilter {
  /** Those that are not closed, and no other. */
  readonly open: boolean;
}

/** Open ones first, of each the one that was updated last first. */
export async function listTickets(
  api: ReadApi,
  { open }: TicketFilter,
  signal?: AbortSignal,
): Promise<Result<readonly Ticket[]>> {
  const found = await ticketsWhere(api, open ? NOT_CLOSED : null, signal);
  if (!found.ok) return found;
  const shown = open ? found.value.filter((ticket) => !isClosed(ticket)) : found.value;
  return { ok: true, value: [...shown].sort(byImportance) };
}

const NOT_CLOSED: JsonObject = { "+or": [{ status: "new" }, { status: "open" }] };

function byImportance(left: Ticket, right: Ticket): number {
  const order = Number(isClosed(left)) - Number(isClosed(right));
  if (order !== 0) return order;
  if (left.updated !== right.updated) return left.updated < right.updated ? 1 : -1;
  return right.id - left.id;
}

/**
 * @param filter only saves pages: the caller looks at what came. A service that cannot filter by this is asked for all tickets.
 */
export async function ticketsWhere(
  api: ReadApi,
  filter: JsonObject | null,
  signal?: AbortSignal,
): Promise<Result<readonly Ticket[]>> {
  const answer = await api.list({ path: TICKETS, ...(filter === null ? {} : { filter }) }, signal);
  if (!answer.ok && filter !== null && answer.failure.status === 400) return ticketsWhere(api, null, signal);
  return parsed(answer, "the tickets", TICKETS, parseTicket);
}

export async function readTicket(api: ReadApi, id: number, signal?: AbortSignal): Promise<Result<Ticket>> {
  const answer = await api.get({ path: ticketPath(id) }, signal);
  const what = `ticket ${id}`;
  if (!answer.ok) return { ok: false, what, failure: answer.failure };
  const ticket = parseTicket(answer.body);
  return ticket === null ? malformed(what, ticketPath(id)) : { ok: true, value: ticket };
}

/** In the order in which they were written. */
export async function readReplies(
  api: ReadApi,
  id: number,
  signal?: AbortSignal,
): Promise<Result<readonly TicketReply[]>> {
  const path = [...ticketPath(id), "replies"];
  const found = parsed(await api.list({ path }, signal), `the replies to ticket ${id}`, path, parseReply);
  if (!found.ok) return found;
  return { ok: true, value: [...found.value].sort((left, right) => left.id - right.id) };
}

function parsed<Value>(
  answer: ListAnswer,
  what: string,
  path: readonly string[],
  parse: (body: Json) => Value | null,
): Result<readonly Value[]> {
  if (!answer.ok) return { ok: false, what, failure: answer.failure };
  const values = answer.items.map(parse);
  const whole = values.filter((value) => value !== null);
  return whole.length === values.length ? { ok: true, value: whole } : malformed(what, path);
}

function malformed(what: string, path: readonly string[]): { ok: false; what: string; failure: Failure } {
  return { ok: false, what, failure: malformedAt(path, "none") };
}

/** An answer that is not what API.md says. */
export function malformedAt(path: readonly string[], effect: Failure["effect"]): Failure {
  const message = `an answer came that is not what was expected at /${path.join("/")}`;
  return { type: "malformed", effect, status: 200, errors: [], message, maintenance: false, attempts: 1 };
}
