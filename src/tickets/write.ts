/** Opens, answers and closes tickets. Each looks first at what is there, so that a command that was killed can be run again. */

import type { JsonObject } from "../model/resource.ts";
import type { Ticket, TicketReply } from "../model/ticket.ts";
import { type Entity, isKind } from "./entity.ts";
import { inRun, type Posted, post, type TicketRequest } from "./post.ts";
import { isSameText, type TicketText } from "./text.ts";
import {
  isClosed,
  parseReply,
  parseTicket,
  type Result,
  readReplies,
  readTicket,
  TICKETS,
  ticketPath,
  ticketsWhere,
} from "./ticket.ts";

/**
 * What became of it.
 * - `done`: sent, and there.
 * - `there`: nothing was sent, because the very same is there already.
 * - `refused`: nothing was sent, because of the state of the ticket.
 * - `failed`: the service refused it, or it was not sent.
 * - `unknown`: its answer was lost, and nobody could find out what became of it.
 * - `unread`: nothing was sent, because what had to be looked at first could not be read.
 */
export type TicketOutcome<Value> =
  | Posted<Value>
  | { readonly outcome: "there"; readonly value: Value }
  | { readonly outcome: "refused"; readonly ticket: Ticket }
  | ({ readonly outcome: "unread" } & Omit<Extract<Result<Value>, { ok: false }>, "ok">);

// Opening.

export interface NewTicket extends TicketText {
  readonly entity: Entity | null;
  /** The label of a VLAN, and its region. */
  readonly vlan?: string;
  readonly region?: string;
  readonly managed_issue?: boolean;
}

/** An equal ticket that is older than this is another matter, and is not looked for. */
const SAME_TICKET_HOURS = 24;
const MILLISECONDS_PER_HOUR = 3_600_000;

/**
 * A ticket of the last day that is not closed and has the same text and entity is taken for this one.
 * @param again open another one all the same
 */
export function openTicket(
  request: TicketRequest,
  ticket: NewTicket,
  { again }: { readonly again: boolean },
): Promise<TicketOutcome<Ticket>> {
  return inRun(request, async (run) => {
    const since = new Date(run.clock.now() - SAME_TICKET_HOURS * MILLISECONDS_PER_HOUR).toISOString().slice(0, 19);
    const recent = (signal: AbortSignal) => ticketsWhere(run.api, { opened: { "+gte": since } }, signal);
    const before = await recent(run.stopping);
    if (!before.ok) return { ...before, outcome: "unread" };
    const same = before.value.find((found) => !isClosed(found) && isSame(found, ticket));
    if (same !== undefined && !again) return { outcome: "there", value: same };
    const known = new Set(before.value.map(({ id }) => id));
    return post(run, {
      request: { method: "POST", path: TICKETS, body: bodyOf(ticket) },
      read: parseTicket,
      look: async () => {
        const found = await recent(run.aborting);
        if (!found.ok) return found;
        const made = found.value.filter((one) => !known.has(one.id) && isSame(one, ticket));
        return { ok: true, value: made.sort((left, right) => left.id - right.id) };
      },
    });
  });
}

function bodyOf({ summary, description, entity, ...others }: NewTicket): JsonObject {
  return { summary, description, ...(entity === null ? {} : { [`${entity.kind}_id`]: entity.id }), ...others };
}

function isSame(ticket: Ticket, { summary, description, entity }: NewTicket): boolean {
  const type = ticket.entity?.type ?? "";
  // The service may have a word of its own for a kind: only another kind is surely something else.
  const isOther = entity !== null && isKind(type) && type !== entity.kind;
  const isAbout = (ticket.entity?.id ?? null) === (entity?.id ?? null);
  return isAbout && !isOther && isSameText(ticket.summary, summary) && isSameText(ticket.description, description);
}

// Replying.

/**
 * If the newest reply is ours and says the very same, it is taken for this one.
 * @param again reply all the same
 */
export function replyToTicket(
  request: TicketRequest,
  id: number,
  description: string,
  { again }: { readonly again: boolean },
): Promise<TicketOutcome<TicketReply>> {
  return inRun(request, async (run) => {
    const ticket = await readTicket(run.api, id, run.stopping);
    if (!ticket.ok) return { ...ticket, outcome: "unread" };
    if (isClosed(ticket.value)) return { outcome: "refused", ticket: ticket.value };
    const before = await readReplies(run.api, id, run.stopping);
    if (!before.ok) return { ...before, outcome: "unread" };
    const isOurs = (reply: TicketReply) => !reply.from_linode && isSameText(reply.description, description);
    const newest = before.value.at(-1);
    if (newest !== undefined && isOurs(newest) && !again) return { outcome: "there", value: newest };
    const known = new Set(before.value.map((reply) => reply.id));
    return post(run, {
      request: { method: "POST", path: [...ticketPath(id), "replies"], body: { description } },
      read: parseReply,
      look: async () => {
        const found = await readReplies(run.api, id, run.aborting);
        return found.ok ? { ok: true, value: found.value.filter((one) => !known.has(one.id) && isOurs(one)) } : found;
      },
    });
  });
}

// Closing.

/** A ticket that is closed is `there`; one that may not be closed is `refused`. */
export function closeTicket(request: TicketRequest, id: number): Promise<TicketOutcome<Ticket>> {
  return inRun(request, async (run) => {
    const before = await readTicket(run.api, id, run.stopping);
    if (!before.ok) return { ...before, outcome: "unread" };
    const ticket = before.value;
    if (isClosed(ticket)) return { outcome: "there", value: ticket };
    if (!ticket.closable) return { outcome: "refused", ticket };
    return post<Ticket>(run, {
      request: { method: "POST", path: [...ticketPath(id), "close"] },
      // Its answer is an empty object.
      read: () => ({ ...ticket, status: "closed", closable: false }),
      look: async () => {
        const found = await readTicket(run.api, id, run.aborting);
        return found.ok ? { ok: true, value: isClosed(found.value) ? [found.value] : [] } : found;
      },
    });
  });
}
