/** The support tickets of API.md: list, open, view, attach, close. */

import { mayCloseTicket } from "../auth.ts";
import type { Answer } from "../errors.ts";
import { badRequest, NOT_FOUND, succeed, succeedEmpty, UNAUTHORIZED } from "../errors.ts";
import type { FilterFields } from "../filter.ts";
import { listOrder } from "../list-order.ts";
import { listAnswer } from "../page.ts";
import type { Call, Route, Service } from "../route.ts";
import { accountOf, idParam } from "../route.ts";
import type { TicketRow } from "../rows.ts";
import { labelOfEntity } from "../ticket-entities.ts";
import { readAttachment, readTicket } from "../ticket-rules.ts";
import { entityView, ticketView } from "../ticket-view.ts";
import { isRegion } from "./vpcs.ts";

const READ = ["account:read_only"];
const WRITE = ["account:read_write"];
const LIST = "/support/tickets";
const ONE = `${LIST}/:ticketId`;
const FILES = `${ONE}/attachments`;

export const TICKET_ROUTES: readonly Route[] = [
  { operation: "Support Tickets List", method: "GET", path: LIST, scopes: READ, handle: listTickets },
  { operation: "Support Ticket Open", method: "POST", path: LIST, scopes: WRITE, handle: openTicket },
  { operation: "Support Ticket View", method: "GET", path: ONE, scopes: READ, handle: viewTicket },
  {
    operation: "Support Ticket Attachment Create",
    method: "POST",
    path: FILES,
    scopes: WRITE,
    body: "multipart",
    handle: attachFile,
  },
  { operation: "Support Ticket Close", method: "POST", path: `${ONE}/close`, scopes: WRITE, handle: closeTicket },
];

export function findTicket(service: Service, call: Call): TicketRow | undefined {
  const id = idParam(call, "ticketId");
  const ticket = id === null ? undefined : service.store.tables.tickets.get(id);
  return ticket?.account === accountOf(call) ? ticket : undefined;
}

/** A ticket that is changed now, by the caller. */
export function touch(service: Service, call: Call, ticket: TicketRow): TicketRow {
  return { ...ticket, updated: service.clock.timestamp(), updated_by: usernameOf(call) };
}

export function usernameOf(call: Call): string {
  return call.caller?.username ?? "";
}

export const TICKET_IS_CLOSED: Answer = badRequest({ reason: "The ticket is closed" });

function view(service: Service, ticket: TicketRow): object {
  return ticketView(ticket, service.settings.word);
}

/** What is open comes first (API.md, Support). */
const openFirst = listOrder((a: TicketRow, b: TicketRow) => isClosed(a) - isClosed(b) || a.id - b.id);

function isClosed(ticket: TicketRow): number {
  return ticket.status === "closed" ? 1 : 0;
}

function listTickets(service: Service, call: Call): Answer {
  const rows = openFirst(service.store.tables.tickets.list("account", accountOf(call)));
  const fields = ticketFields(service.settings.word);
  return listAnswer(call, { rows, fields, toWire: (ticket) => view(service, ticket) });
}

function ticketFields(word: string): FilterFields<TicketRow> {
  const entity = (ticket: TicketRow) => (ticket.entity === null ? null : entityView(ticket.entity, word));
  return new Map([
    ["id", { get: (ticket) => ticket.id }],
    ["summary", { get: (ticket) => ticket.summary }],
    ["status", { get: (ticket) => ticket.status }],
    ["opened", { get: (ticket) => ticket.opened }],
    ["updated", { get: (ticket) => ticket.updated }],
    ["updated_by", { get: (ticket) => ticket.updated_by }],
    ["closed", { get: (ticket) => ticket.closed }],
    ["entity.id", { get: (ticket) => entity(ticket)?.id ?? null }],
    ["entity.label", { get: (ticket) => entity(ticket)?.label ?? null }],
    ["entity.type", { get: (ticket) => entity(ticket)?.type ?? null }],
    ["entity.url", { get: (ticket) => entity(ticket)?.url ?? null }],
  ]);
}

function viewTicket(service: Service, call: Call): Answer {
  const ticket = findTicket(service, call);
  return ticket === undefined ? NOT_FOUND : succeed(view(service, ticket));
}

function openTicket(service: Service, call: Call): Answer {
  const { store, clock, settings } = service;
  const account = accountOf(call);
  const { values, errors } = readTicket(call.body, {
    word: settings.word,
    isRegion,
    labelOf: (kind, id) => labelOfEntity(store.tables, account, kind, id),
  });
  if (errors.length > 0) return badRequest(...errors);
  const opened = clock.timestamp();
  const ticket: TicketRow = {
    id: store.nextId("ticket"),
    account,
    ...values,
    status: "new",
    closable: true,
    opened,
    opened_by: usernameOf(call),
    updated: opened,
    updated_by: null,
    closed: null,
    attachments: [],
  };
  store.tables.tickets.put(ticket);
  return succeed(view(service, ticket));
}

function attachFile(service: Service, call: Call): Answer {
  const ticket = findTicket(service, call);
  if (ticket === undefined) return NOT_FOUND;
  if (ticket.status === "closed") return TICKET_IS_CLOSED;
  const reading = readAttachment(call.files, ticket.attachments.length);
  if (reading.error !== null) return badRequest(reading.error);
  const { name, size } = reading;
  service.store.tables.tickets.put({
    ...touch(service, call, ticket),
    attachments: [...ticket.attachments, { name, size }],
  });
  return succeedEmpty();
}

function closeTicket(service: Service, call: Call): Answer {
  const ticket = findTicket(service, call);
  if (ticket === undefined) return NOT_FOUND;
  if (!mayCloseTicket(call.caller, ticket)) return UNAUTHORIZED;
  if (ticket.status === "closed") return TICKET_IS_CLOSED;
  if (!ticket.closable) return badRequest({ reason: "The ticket cannot be closed" });
  const touched = touch(service, call, ticket);
  service.store.tables.tickets.put({ ...touched, status: "closed", closable: false, closed: touched.updated });
  return succeedEmpty();
}
