/** The support tickets of API.md: list, open, view, attach, close. */

import { createHash } from "node:crypto";
import type { WireEntity } from "../api/wire.ts";
import { mayCloseTicket } from "./auth.ts";
import {
  type Answer,
  type ApiError,
  badRequest,
  fieldError,
  NOT_FOUND,
  succeed,
  succeedEmpty,
  UNAUTHORIZED,
} from "./errors.ts";
import { BodyReader } from "./fields.ts";
import type { ReceivedFile } from "./forms.ts";
import { byId, type FilterFields, listAnswer, listOrder } from "./lists.ts";
import { accountOf, type Call, idParam, type JsonBody, type Route, type Service } from "./route.ts";
import type { EntityKind, ReplyRow, Tables, TicketEntity, TicketRow } from "./store.ts";
import { isRegion } from "./vpcs.ts";

const READ = ["account:read_only"];
const WRITE = ["account:read_write"];
const LIST = "/support/tickets";
const ONE = `${LIST}/:ticketId`;
const FILES = `${ONE}/attachments`;

/** Open tickets come first (API.md, Support). */
const openFirst = listOrder((a: TicketRow, b: TicketRow) => isClosed(a) - isClosed(b) || a.id - b.id);

const MAX_SUMMARY_LENGTH = 64;
const MAX_DESCRIPTION_LENGTH = 65_000;

/** Kinds of entities in API.md's words; the operator's word stands for `node` on the wire. */
export const ENTITY_KINDS: readonly EntityKind[] = [
  "database",
  "domain",
  "firewall",
  "node",
  "lkecluster",
  "longviewclient",
  "nodebalancer",
  "volume",
  "vpc",
];

const MAX_ID = Number.MAX_SAFE_INTEGER;

const MAX_VLAN_LENGTH = 64;

const TICKET_IS_CLOSED: Answer = badRequest({ reason: "The ticket is closed" });

const MAX_FILE_NAME_LENGTH = 255;
const EXTENSIONS = [".gif", ".jpg", ".jpeg", ".pjpg", ".pjpeg", ".tif", ".tiff", ".png", ".pdf", ".txt"];

const MAX_ATTACHMENTS = 5;

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

function findTicket(service: Service, call: Call): TicketRow | undefined {
  const id = idParam(call, "ticketId");
  const ticket = id === null ? undefined : service.store.tables.tickets.get(id);
  return ticket?.account === accountOf(call) ? ticket : undefined;
}

/** A ticket that is changed now, by the caller. */
function touch(service: Service, call: Call, ticket: TicketRow): TicketRow {
  return { ...ticket, updated: service.clock.timestamp(), updated_by: usernameOf(call) };
}

function usernameOf(call: Call): string {
  return call.caller?.username ?? "";
}

function view(service: Service, ticket: TicketRow): object {
  return ticketView(ticket, service.settings.word);
}

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

// The replies to a support ticket of API.md: list, create.

const REPLY_FIELDS: FilterFields<ReplyRow> = new Map([["created", { get: (reply) => reply.created }]]);

const REPLIES = "/support/tickets/:ticketId/replies";

const MAX_REPLY_LENGTH = 65_535;

export const TICKET_REPLY_ROUTES: readonly Route[] = [
  { operation: "Replies List", method: "GET", path: REPLIES, scopes: READ, handle: listReplies },
  { operation: "Reply Create", method: "POST", path: REPLIES, scopes: WRITE, handle: createReply },
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

// Tickets and replies as they are on the wire, in the operator's words.

function ticketView({ account: _, ...ticket }: TicketRow, word: string): object {
  return {
    ...ticket,
    attachments: ticket.attachments.map(({ name }) => name),
    [avatarKey(word)]: avatarOf(ticket.opened_by),
    entity: ticket.entity === null ? null : entityView(ticket.entity, word),
  };
}

function replyView({ ticket_id: _, ...reply }: ReplyRow, word: string): object {
  return { ...reply, [avatarKey(word)]: avatarOf(reply.created_by) };
}

/** The name of the avatar service is a brand name too (API.md, Naming note). */
function avatarKey(word: string): string {
  return word === "node" ? "avatar_id" : "gravatar_id";
}

/** In the form that avatar services use: 32 hexadecimal digits. */
function avatarOf(username: string): string {
  return createHash("sha256").update(username).digest("hex").slice(0, 32);
}

function entityView({ kind, id, label }: TicketEntity, word: string): WireEntity {
  return { id, label, type: entityType(kind, word), url: `/v4/${collectionOf(kind, word)}/${id}` };
}

function collectionOf(kind: EntityKind, word: string): string {
  switch (kind) {
    case "database":
      return "databases/instances";
    case "domain":
      return "domains";
    case "firewall":
      return "networking/firewalls";
    case "node":
      return `${word}/instances`;
    case "lkecluster":
      return "lke/clusters";
    case "longviewclient":
      return "longview/clients";
    case "nodebalancer":
      return "nodebalancers";
    case "volume":
      return "volumes";
    case "vpc":
      return "vpcs";
  }
}

// What a support ticket, a reply and an attachment must be (API.md, Support).

interface TicketContext {
  /** The operator's word. */
  readonly word: string;
  readonly isRegion: (text: string) => boolean;
  /** The label of an entity that the account has; null if it has no such entity. */
  readonly labelOf: (kind: EntityKind, id: number) => string | null;
}

interface TicketValues {
  readonly summary: string;
  readonly description: string;
  readonly entity: TicketEntity | null;
}

/** `managed_issue`, `region` and `vlan` are judged and go no further: no field of a ticket shows them. */
function readTicket(
  body: JsonBody,
  context: TicketContext,
): { readonly values: TicketValues; readonly errors: readonly ApiError[] } {
  const reader = new BodyReader(body);
  const summary = requiredText(reader, "summary", MAX_SUMMARY_LENGTH);
  const description = requiredText(reader, "description", MAX_DESCRIPTION_LENGTH);
  const entity = readEntity(reader, context);
  reader.boolean("managed_issue");
  readVlan(reader, context);
  return { values: { summary, description, entity }, errors: reader.errors };
}

function readReply(body: JsonBody): { readonly description: string; readonly errors: readonly ApiError[] } {
  const reader = new BodyReader(body);
  const description = requiredText(reader, "description", MAX_REPLY_LENGTH);
  return { description, errors: reader.errors };
}

function requiredText(reader: BodyReader, field: string, max: number): string {
  return (reader.require(field) && reader.text(field, { min: 1, max })) || "";
}

function readEntity(reader: BodyReader, context: TicketContext): TicketEntity | null {
  const set = ENTITY_KINDS.map((kind) => ({ kind, field: `${entityType(kind, context.word)}_id` })).filter(
    ({ field }) => (reader.raw(field) ?? null) !== null,
  );
  const [first, second] = set;
  if (first === undefined) return null;
  if (second !== undefined) {
    const names = set.map(({ field }) => field).join(", ");
    reader.fail(second.field, `Only one of ${names} can be set`);
    return null;
  }
  const id = reader.integer(first.field, 1, MAX_ID) ?? null;
  if (id === null) return null;
  const label = context.labelOf(first.kind, id);
  if (label !== null) return { kind: first.kind, id, label };
  reader.fail(first.field, `${first.field} is not valid`);
  return null;
}

function entityType(kind: EntityKind, word: string): string {
  return kind === "node" ? word : kind;
}

function readVlan(reader: BodyReader, { isRegion }: TicketContext): void {
  const isAbsent = (reader.raw("vlan") ?? null) === null;
  reader.text("vlan", { min: 1, max: MAX_VLAN_LENGTH });
  const region = reader.raw("region") ?? null;
  if (region === null) return;
  if (isAbsent) reader.fail("region", "region is only allowed with vlan");
  else if (typeof region !== "string" || !isRegion(region)) reader.fail("region", "region is not valid");
}

type AttachmentReading =
  | { readonly name: string; readonly size: number; readonly error: null }
  | { readonly error: ApiError };

/** @param count how many attachments the ticket has */
function readAttachment(files: readonly ReceivedFile[], count: number): AttachmentReading {
  const [file] = files;
  if (file === undefined || file.field !== "file") return refused("file is required");
  const name = baseName(file.name);
  const problem = nameProblem(name);
  if (problem !== null) return refused(problem);
  if (file.size === 0) return refused("The file is empty");
  if (count >= MAX_ATTACHMENTS) return refused(`A ticket can have at most ${MAX_ATTACHMENTS} attachments`);
  return { name, size: file.size, error: null };
}

function refused(reason: string): AttachmentReading {
  return { error: fieldError("file", reason) };
}

/** Some clients send a whole path, of either kind of system. */
function baseName(name: string): string {
  return name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
}

function nameProblem(name: string): string | null {
  if ([...name].length > MAX_FILE_NAME_LENGTH)
    return `The file name can have at most ${MAX_FILE_NAME_LENGTH} characters`;
  if (/\p{Cc}/u.test(name)) return "The file name contains invalid characters";
  const dot = name.lastIndexOf(".");
  const accepted = dot > 0 && EXTENSIONS.includes(name.slice(dot).toLowerCase());
  return accepted ? null : `The file name must end in one of ${EXTENSIONS.join(", ")}`;
}

// What a ticket may be about: the labels of entities, where the emulator has them.

/** @returns null if the account has no such entity; `""` for kinds whose objects are none of the emulator's */
export function labelOfEntity(tables: Tables, account: string, kind: EntityKind, id: number): string | null {
  switch (kind) {
    case "domain": {
      const domain = tables.domains.get(id);
      return domain?.account === account ? domain.domain : null;
    }
    case "vpc": {
      const vpc = tables.vpcs.get(id);
      return vpc?.account === account ? vpc.label : null;
    }
    case "database":
    case "firewall":
    case "node":
    case "lkecluster":
    case "longviewclient":
    case "nodebalancer":
    case "volume":
      return "";
  }
}
