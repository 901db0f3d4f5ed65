/** The replies to a support ticket of API.md: list, create. */

import type { Answer } from "../errors.ts";
import { badRequest, NOT_FOUND, succeed } from "../errors.ts";
import type { FilterFields } from "../filter.ts";
import { byId } from "../list-order.ts";
import { listAnswer } from "../page.ts";
import type { Call, Route, Service } from "../route.ts";
import type { ReplyRow } from "../rows.ts";
import { readReply } from "../ticket-rules.ts";
import { replyView } from "../ticket-view.ts";
import { findTicket, TICKET_IS_CLOSED, touch, usernameOf } from "./tickets.ts";

const REPLY_FIELDS: FilterFields<ReplyRow> = new Map([["created", { get: (reply) => reply.created }]]);

const READ = ["account:read_only"];
const WRITE = ["account:read_write"];
const LIST = "/support/tickets/:ticketId/replies";

export const TICKET_REPLY_ROUTES: readonly Route[] = [
  { operation: "Replies List", method: "GET", path: LIST, scopes: READ, handle: listReplies },
  { operation: "Reply Create", method: "POST", path: LIST, scopes: WRITE, handle: createReply },
];

function listReplies(service: Service, call: Call): Answer {
  const ticket = findTicket(service, call);
  if (ticket === undefined) return NOT_FOUND;
  const rows = byId(service.store.tables.replies.list("ticket", ticket.id));
  const toWire = (reply: ReplyRow): object => replyView(reply, service.settings.word);
  return listAnswer(call, { rows, fields: REPLY_FIELDS, toWire });
}

function createReply(service: Service, call: Call): Answer {
  const ticket = findTicket(service, call);
  if (ticket === undefined) return NOT_FOUND;
  if (ticket.status === "closed") return TICKET_IS_CLOSED;
  const { description, errors } = readReply(call.body);
  if (errors.length > 0) return badRequest(...errors);
  const { store } = service;
  const touched = touch(service, call, ticket);
  const reply: ReplyRow = {
    id: store.nextId("reply"),
    ticket_id: ticket.id,
    created: touched.updated,
    created_by: usernameOf(call),
    description,
    from_linode: false,
  };
  store.tables.replies.put(reply);
  store.tables.tickets.put({ ...touched, status: "open" });
  return succeed(replyView(reply, service.settings.word));
}
