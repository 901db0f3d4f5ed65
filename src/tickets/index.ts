/** Support tickets (`tenon/tickets`): reads, opens, answers and closes them, attaches files, and drafts one from what failed. */

export type { FormFile } from "../model/api.ts";
export type { Ticket, TicketEntity, TicketReply } from "../model/ticket.ts";
export { type AttachedFile, attachFiles, type CheckedFiles, checkAttachments } from "./attach.ts";
export { type DraftContext, type DraftResult, draftTicket, type TicketDraft } from "./draft.ts";
export {
  type Entity,
  type EntityKind,
  type EntityResult,
  type NamedEntity,
  parseEntityName,
  resolveEntity,
} from "./entity.ts";
export type { Posted, TicketRequest } from "./post.ts";
export { checkReplyText, checkTicketText, joinText, splitText, type TicketText } from "./text.ts";
export {
  listTickets,
  type Result,
  readReplies,
  readTicket,
  type TicketFilter,
} from "./ticket.ts";
export { closeTicket, type NewTicket, openTicket, replyToTicket, type TicketOutcome } from "./write.ts";
