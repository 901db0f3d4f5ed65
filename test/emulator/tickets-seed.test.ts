/** Support tickets that a seed brings. */

import { expect, test } from "vitest";
import {
  parseSeed,
  type Seed,
  SeedError,
  type SeedReply,
  type SeedTicket,
  startEmulator,
} from "../../src/emulator/index.ts";
import { startTested } from "../support/emulator.ts";

const LIST = "/support/tickets";
const TICKET: SeedTicket = { summary: "No route", description: "Since this morning." };

test("a seed file's tickets are there with their replies, attachments and entities", async () => {
  const seed = parseSeed(`
domains:
  - { id: 5, domain: a.example }
tickets:
  - id: 9
    summary: No route
    description: Since this morning.
    opened_by: alice
    entity: { type: domain, id: 5 }
    attachments: [trace.txt]
    replies:
      - { id: 3, description: We look into it., from_linode: true }
      - { description: Thanks., created_by: alice }
  - { summary: Maintenance, description: On Sunday., opened_by: operator, closable: false, status: closed }
`);
  const { send } = await startTested({ seed, now: () => Date.UTC(2026, 4, 1) });
  const { data } = (await send("GET", LIST)).body;
  expect(data).toMatchObject([
    {
      id: 9,
      status: "open",
      opened_by: "alice",
      updated_by: "alice",
      attachments: ["trace.txt"],
      closable: true,
      closed: null,
      entity: { id: 5, label: "a.example", type: "domain", url: "/v4/domains/5" },
    },
    { id: 20_000_001, status: "closed", closable: false, closed: "2026-05-01T00:00:00", opened_by: "operator" },
  ]);
  expect((await send("GET", `${LIST}/9/replies`)).body.data).toMatchObject([
    { id: 3, from_linode: true, created_by: "support" },
    { id: 80_000_001, from_linode: false, created_by: "alice" },
  ]);
});

test("no id that a seed names is given out again", async () => {
  const replies: SeedReply[] = [{ id: 80_000_001, description: "x" }, { description: "y" }];
  const { send } = await startTested({ seed: { tickets: [{ ...TICKET }, { id: 20_000_001, ...TICKET, replies }] } });
  expect((await send("GET", LIST)).body.data.map(({ id }: { id: number }) => id)).toEqual([20_000_001, 20_000_002]);
  expect((await send("POST", LIST, TICKET)).body.id).toBe(20_000_003);
  expect((await send("POST", `${LIST}/20000001/replies`, { description: "z" })).body.id).toBe(80_000_003);
});

test("texts of a seed are taken as they are, and other accounts have tickets of their own", async () => {
  const odd = { summary: "x".repeat(1_000), description: "", attachments: ["../../odd", "a", "b", "c", "d", "e"] };
  const { send } = await startTested({
    seed: { tickets: [odd], other_accounts: { rival: { tokens: [{ token: "rival" }], tickets: [TICKET] } } },
  });
  expect((await send("GET", LIST)).body).toMatchObject({ results: 1, data: [odd] });
  const rival = { authorization: "Bearer rival" };
  expect((await send("GET", LIST, undefined, rival)).body).toMatchObject({ results: 1, data: [TICKET] });
});

const BAD_SEEDS: [Seed, string][] = [
  [
    {
      tickets: [
        { id: 1, ...TICKET },
        { id: 1, ...TICKET },
      ],
    },
    "tickets[1].id: 1 is there twice",
  ],
  [{ tickets: [{ ...TICKET, status: "new", replies: [{ description: "x" }] }] }, "tickets[0].status: "],
  [
    {
      tickets: [
        {
          ...TICKET,
          replies: [
            { id: 1, description: "x" },
            { id: 1, description: "y" },
          ],
        },
      ],
    },
    "tickets[0].replies[1].id: 1 is there twice",
  ],
];

test.each(BAD_SEEDS)("the seed %j cannot be used", async (seed, message) => {
  await expect(startEmulator({ seed })).rejects.toThrow(SeedError);
  await expect(startEmulator({ seed })).rejects.toThrow(message);
});

test.each([
  ["tickets: [{ summary: x }]", "tickets.0 must have required property 'description'"],
  ["tickets: [{ summary: x, description: y, status: done }]", "tickets.0.status must be one of new, open, closed"],
  [
    "tickets: [{ summary: x, description: y, entity: { type: linode, id: 1 } }]",
    "tickets.0.entity.type must be one of",
  ],
  ["tickets: [{ summary: x, description: y, replies: [{ text: z }] }]", "tickets.0.replies.0.text: unknown key"],
])("the seed file %j is an error", (text, message) => {
  expect(() => parseSeed(text)).toThrow(message);
});
