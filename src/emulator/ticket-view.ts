/** Tickets and replies as they are on the wire, in the operator's words. */

import { createHash } from "node:crypto";
import type { WireEntity } from "../api/wire/index.ts";
import type { EntityKind, ReplyRow, TicketEntity, TicketRow } from "./rows.ts";
import { entityType } from "./ticket-rules.ts";

export function ticketView({ account: _, ...ticket }: TicketRow, word: string): object {
  return {
    ...ticket,
    attachments: ticket.attachments.map(({ name }) => name),
    [avatarKey(word)]: avatarOf(ticket.opened_by),
    entity: ticket.entity === null ? null : entityView(ticket.entity, word),
  };
}

export function replyView({ ticket_id: _, ...reply }: ReplyRow, word: string): object {
  return { ...reply, [avatarKey(word)]: avatarOf(reply.created_by) };
}

/** The name of the avatar service is a brand name too (API.md, Naming note). */
function avatarKey(word: string): string {
  return word === "node" ? "avatar_id" : "gravatar_id";
}

/** Of the form that avatar services have: 32 hexadecimal digits. */
function avatarOf(username: string): string {
  return createHash("sha256").update(username).digest("hex").slice(0, 32);
}

export function entityView({ kind, id, label }: TicketEntity, word: string): WireEntity {
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
