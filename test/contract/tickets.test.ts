/** Support tickets, as the service's own client opens, lists, answers and closes them, and attaches files. */

import type { SupportReply, SupportTicket } from "@linode/api-v4";
import {
  closeSupportTicket,
  createReply,
  createSupportTicket,
  getTicket,
  getTicketReplies,
  getTickets,
  uploadAttachment,
} from "@linode/api-v4";
import { expect, test } from "vitest";
import { connect, refusal, refusals } from "./client.ts";
import { type Kind, misfits } from "./kinds.ts";

// Each list holds every key that the client's type has, but those that are newer than API.md.

const TICKET_KEYS = {
  id: "integer",
  summary: "text",
  description: "text",
  status: "text",
  closable: "boolean",
  opened: "time",
  opened_by: "text",
  updated: "time",
  updated_by: "text or null",
  closed: "time or null",
  attachments: "list",
  gravatar_id: "text",
  entity: "object or null",
} as const satisfies Record<Exclude<keyof SupportTicket, "severity">, Kind>;

const ENTITY_KEYS = { id: "integer", label: "text", type: "text", url: "text" } as const satisfies Record<
  keyof NonNullable<SupportTicket["entity"]>,
  Kind
>;

const REPLY_KEYS = {
  id: "integer",
  created: "time",
  created_by: "text",
  description: "text",
  from_linode: "boolean",
  gravatar_id: "text",
} as const satisfies Record<Exclude<keyof SupportReply, "friendly_name">, Kind>;

const TICKET = { summary: "A network is down", description: "Since this morning." };

/** As the web client lists the tickets that are not closed. */
const NOT_CLOSED = { "+or": [{ status: "open" }, { status: "new" }], "+order": "desc", "+order_by": "opened" };

function form(name: string, content: string | Uint8Array<ArrayBuffer>, type = "text/plain"): FormData {
  const data = new FormData();
  data.append("file", new File([content], name, { type }));
  return data;
}

test("a ticket is opened, viewed and listed the same", async () => {
  await connect();
  const ticket = await createSupportTicket(TICKET);
  expect(ticket).toMatchObject({ ...TICKET, closable: true, closed: null, entity: null, attachments: [] });
  expect(["new", "open"]).toContain(ticket.status);
  expect(misfits(ticket, TICKET_KEYS)).toEqual([]);
  expect(await getTicket(ticket.id)).toEqual(ticket);
  expect(await getTickets()).toEqual({ data: [ticket], page: 1, pages: 1, results: 1 });
  // The client sends what is newer than API.md too.
  expect(await createSupportTicket({ ...TICKET, severity: 2 })).toMatchObject(TICKET);
});

test("a ticket is about at most one thing, which is named in it", async () => {
  const domains = [{ id: 9, domain: "example.com" }];
  await connect({ seed: { domains } });
  const about = async (ids: object) => {
    const { entity } = await createSupportTicket({ ...TICKET, ...ids });
    if (entity === null) throw new Error("The ticket is about nothing");
    expect(misfits(entity, ENTITY_KEYS)).toEqual([]);
    return entity;
  };
  expect(await about({ domain_id: 9 })).toEqual({ id: 9, label: "example.com", type: "domain", url: "/v4/domains/9" });
  expect(await about({ linode_id: 21 })).toMatchObject({ id: 21, type: "linode", url: "/v4/linode/instances/21" });
  expect((await refusal(createSupportTicket({ ...TICKET, domain_id: 9, linode_id: 21 }))).status).toBe(400);
  expect((await getTickets()).results).toBe(2);
});

test("tickets are listed by status, in the web client's two tables", async () => {
  const tickets = [
    { id: 1, summary: "first", description: "x", status: "closed" as const },
    { id: 2, summary: "second", description: "x", status: "open" as const },
    { id: 3, summary: "third", description: "x" },
  ];
  await connect({ seed: { tickets } });
  const ids = async (filter: object) =>
    (await getTickets({ page: 1, page_size: 25 }, { ...filter })).data.map(({ id }) => id);
  expect((await ids(NOT_CLOSED)).sort()).toEqual([2, 3]);
  expect(await ids({ status: "closed", "+order": "desc", "+order_by": "updated" })).toEqual([1]);
  // What is open comes first when nothing else is asked for.
  expect((await ids({})).at(-1)).toBe(1);
  expect((await getTickets({ page: 1, page_size: 25 })).results).toBe(3);
});

test("tickets are ordered by every column of the web client", async () => {
  const tickets = [
    { id: 1, summary: "b", description: "x" },
    { id: 2, summary: "c", description: "x", replies: [{ description: "y", from_linode: true, created_by: "zoe" }] },
    { id: 3, summary: "a", description: "x" },
  ];
  const { emulator } = await connect({ seed: { tickets } });
  const first = async (by: string, order: "asc" | "desc") =>
    (await getTickets({}, { ...NOT_CLOSED, "+order": order, "+order_by": by })).data[0]?.id;
  expect([await first("id", "asc"), await first("id", "desc")]).toEqual([1, 3]);
  expect([await first("summary", "asc"), await first("summary", "desc")]).toEqual([3, 2]);
  expect(await first("updated_by", "desc")).toBe(2);
  // Times have no fractions.
  await emulator.advanceClock(1);
  const { id } = await createSupportTicket(TICKET);
  await emulator.advanceClock(1);
  await createReply({ ticket_id: 1, description: "y" });
  expect([await first("opened", "desc"), await first("updated", "desc")]).toEqual([id, 1]);
});

test("replies are added and listed in their order, and the ticket is open then", async () => {
  const { emulator } = await connect({ seed: { tokens: [{ token: "emulator-token", username: "alice" }] } });
  const ticket = await createSupportTicket(TICKET);
  await emulator.advanceClock(60);
  const first = await createReply({ ticket_id: ticket.id, description: "Still down." });
  const second = await createReply({ ticket_id: ticket.id, description: "Up again." });
  expect(first).toMatchObject({ description: "Still down.", created_by: "alice", from_linode: false });
  expect(misfits(first, REPLY_KEYS)).toEqual([]);
  expect(await getTicketReplies(ticket.id)).toEqual({ data: [first, second], page: 1, pages: 1, results: 2 });
  const after = await getTicket(ticket.id);
  expect(after).toMatchObject({ status: "open", updated_by: "alice", opened: ticket.opened });
  expect(after.updated > ticket.updated).toBe(true);
});

test("a file is attached by its name, whatever its letters", async () => {
  await connect();
  const { id } = await createSupportTicket(TICKET);
  expect(await uploadAttachment(id, form("trace.txt", "one\ntwo\n"))).toEqual({});
  expect(await uploadAttachment(id, form("Bildschirmfoto ä.PNG", new Uint8Array(70_000), "image/png"))).toEqual({});
  expect((await getTicket(id)).attachments).toEqual(["trace.txt", "Bildschirmfoto ä.PNG"]);
  for (const name of ["run.exe", "noextension"]) {
    expect(await refusal(uploadAttachment(id, form(name, "x")))).toMatchObject({
      status: 400,
      errors: [{ field: "file" }],
    });
  }
  expect((await getTicket(id)).attachments.length).toBe(2);
});

test("a form without a file is refused", async () => {
  await connect();
  const { id } = await createSupportTicket(TICKET);
  const data = new FormData();
  data.append("file", "no file, but a text");
  expect((await refusal(uploadAttachment(id, data))).status).toBe(400);
  expect((await getTicket(id)).attachments).toEqual([]);
});

test("a ticket is closed once, if it is closable", async () => {
  const seed = { tickets: [{ id: 7, ...TICKET, closable: false }] };
  await connect({ seed });
  const { id } = await createSupportTicket(TICKET);
  expect(await closeSupportTicket(id)).toEqual({});
  const ticket = await getTicket(id);
  expect(ticket.status).toBe("closed");
  expect(ticket.closed).toMatch(/^\d{4}-/);
  expect((await refusal(closeSupportTicket(7))).status).toBe(400);
  expect((await getTicket(7)).closed).toBe(null);
  expect((await getTickets({}, NOT_CLOSED)).data.map((one) => one.id)).toEqual([7]);
});

test("what is not there is 404, and what is not allowed 401 or 403", async () => {
  const tokens = [
    { token: "reader", scopes: ["account:read_only"] },
    { token: "other", scopes: ["domains:*"] },
  ];
  const { useToken } = await connect({ seed: { tokens, tickets: [{ id: 7, ...TICKET }] } });
  const writes = () => [
    createSupportTicket(TICKET),
    createReply({ ticket_id: 7, description: "x" }),
    uploadAttachment(7, form("a.txt", "x")),
    closeSupportTicket(7),
  ];
  useToken("reader");
  expect((await getTicket(7)).id).toBe(7);
  expect(await refusal(getTicket(8))).toMatchObject({ status: 404, errors: [{ reason: "Not found" }] });
  expect((await refusal(getTicketReplies(8))).status).toBe(404);
  expect((await refusals(writes())).map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  useToken("other");
  expect((await refusal(getTickets())).status).toBe(403);
  useToken(null);
  expect((await refusals(writes())).map(({ status }) => status)).toEqual([401, 401, 401, 401]);
});

test("texts that are too long are refused, by the client or by the service", async () => {
  await connect();
  const long = "x".repeat(65);
  expect(await refusal(createSupportTicket({ ...TICKET, summary: long }))).toMatchObject({
    status: null,
    errors: [{ field: "summary" }],
  });
  expect((await refusal(createReply({ ticket_id: 1, description: "" }))).status).toBe(null);
  expect((await createSupportTicket({ ...TICKET, description: "ä".repeat(64_000) })).description.length).toBe(64_000);
});
