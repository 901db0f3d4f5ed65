/** The support tickets of a seed and the replies to them. */

import type { ReplyRow, TicketEntity, TicketRow } from "./rows.ts";
import type { SeedReply, SeedTicket } from "./seed.ts";
import { SeedError } from "./seed.ts";
import type { SeedTarget } from "./seed-objects.ts";
import { DEFAULT_USERNAME, unused } from "./seed-objects.ts";
import { labelOfEntity } from "./ticket-entities.ts";

/** Who writes for the operator, unless the seed says another name. */
const OPERATOR_USERNAME = "support";

/** Of a file that a seed names; nothing shows it. */
const SEEDED_FILE_BYTES = 1;

/** After the account's other objects, which a ticket may be about. @throws SeedError, with the place in the seed */
export function addTickets(into: SeedTarget, tickets: readonly SeedTicket[]): void {
  for (const [index, ticket] of tickets.entries()) addTicket(into, ticket, `${into.place}tickets[${index}]`);
}

function addTicket(into: SeedTarget, seed: SeedTicket, place: string): void {
  const { account, service } = into;
  const { store, clock } = service;
  const opened = clock.timestamp();
  const id = unused(seed.id ?? store.nextId("ticket"), store.tables.tickets, place);
  const replies = (seed.replies ?? []).map((reply, index) => addReply(into, id, reply, `${place}.replies[${index}]`));
  const status = seed.status ?? (replies.length > 0 ? "open" : "new");
  if (status === "new" && replies.length > 0) throw new SeedError(`${place}.status: a ticket with replies is not new`);
  const ticket: TicketRow = {
    id,
    account,
    summary: seed.summary,
    description: seed.description,
    status,
    closable: status !== "closed" && (seed.closable ?? true),
    opened,
    opened_by: seed.opened_by ?? DEFAULT_USERNAME,
    updated: opened,
    updated_by: replies.at(-1)?.created_by ?? null,
    closed: status === "closed" ? opened : null,
    attachments: (seed.attachments ?? []).map((name) => ({ name, size: SEEDED_FILE_BYTES })),
    entity: entityOf(into, seed),
  };
  store.tables.tickets.put(ticket);
}

function entityOf({ service, account }: SeedTarget, { entity }: SeedTicket): TicketEntity | null {
  if (entity === undefined) return null;
  const { type, id } = entity;
  return { kind: type, id, label: entity.label ?? labelOfEntity(service.store.tables, account, type, id) ?? "" };
}

function addReply({ service }: SeedTarget, ticket_id: number, seed: SeedReply, place: string): ReplyRow {
  const { store, clock } = service;
  const from_linode = seed.from_linode ?? false;
  const reply: ReplyRow = {
    id: unused(seed.id ?? store.nextId("reply"), store.tables.replies, place),
    ticket_id,
    created: clock.timestamp(),
    created_by: seed.created_by ?? (from_linode ? OPERATOR_USERNAME : DEFAULT_USERNAME),
    description: seed.description,
    from_linode,
  };
  store.tables.replies.put(reply);
  return reply;
}
