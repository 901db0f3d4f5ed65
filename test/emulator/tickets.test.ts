/** Support tickets and their replies. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Seed, startEmulator } from "../../src/emulator/index.ts";
import { operation } from "../support/emulated.ts";
import { startTested, tested } from "../support/emulator.ts";

const TICKET = { summary: "No route", description: "Since this morning." };
const NOON = Date.UTC(2026, 4, 1, 12);
const LIST = "/support/tickets";

const TOKENS: Seed["tokens"] = [
  { token: "emulator-token", username: "alice" },
  { token: "reader", scopes: ["account:read_only"] },
  { token: "other-area", scopes: ["domains:read_write"] },
  { token: "bob", username: "bob", grants: {} },
];
const as = (token: string) => ({ authorization: `Bearer ${token}` });

const RIVAL: Seed = {
  tokens: TOKENS,
  other_accounts: { rival: { tokens: [{ token: "rival" }], tickets: [{ id: 9, ...TICKET }] } },
};

operation("Support Ticket Open", () => {
  test("a ticket has every field, and is new", async () => {
    const { send } = await startTested({ now: () => NOON, seed: { tokens: TOKENS } });
    const { status, body } = await send("POST", LIST, TICKET);
    expect([status, body]).toEqual([
      200,
      {
        id: 20_000_001,
        ...TICKET,
        status: "new",
        closable: true,
        opened: "2026-05-01T12:00:00",
        opened_by: "alice",
        updated: "2026-05-01T12:00:00",
        updated_by: null,
        closed: null,
        attachments: [],
        avatar_id: expect.stringMatching(/^[0-9a-f]{32}$/),
        entity: null,
      },
    ]);
    expect((await send("GET", `${LIST}/${body.id}`)).body).toEqual(body);
  });

  test("texts of the greatest length, in characters, are kept as they are", async () => {
    const { send } = await startTested();
    const longest = { summary: "😀".repeat(64), description: `${"漢".repeat(64_998)}\u2028\0` };
    for (const texts of [longest, { summary: "x", description: " " }]) {
      const { status, body } = await send("POST", LIST, texts);
      expect([status, body.summary === texts.summary, body.description === texts.description]).toEqual([
        200,
        true,
        true,
      ]);
    }
  });

  test("a ticket about a domain or VPC names it", async () => {
    const { send } = await startTested({
      seed: { domains: [{ id: 5, domain: "a.example" }], vpcs: [{ id: 7, label: "prod", region: "us-east" }] },
    });
    const domain = { id: 5, label: "a.example", type: "domain", url: "/v4/domains/5" };
    const vpc = { id: 7, label: "prod", type: "vpc", url: "/v4/vpcs/7" };
    expect((await send("POST", LIST, { ...TICKET, domain_id: 5 })).body.entity).toEqual(domain);
    expect((await send("POST", LIST, { ...TICKET, domain_id: null, vpc_id: 7 })).body.entity).toEqual(vpc);
    await send("PUT", "/domains/5", { domain: "b.example" });
    expect((await send("GET", LIST)).body.data[0].entity).toEqual(domain);
  });

  test("a managed issue and a VLAN are taken", async () => {
    const { send } = await startTested();
    for (const more of [{ managed_issue: true }, { vlan: "lan", region: "us-east" }, { region: null, vlan: null }]) {
      const { status, body } = await send("POST", LIST, { ...TICKET, ...more });
      expect([status, body.entity]).toEqual([200, null]);
    }
  });

  test("the operator's words are those of the dialect", async () => {
    const { send } = await startTested({ dialect: "linode" });
    const { body } = await send("POST", LIST, { ...TICKET, linode_id: 3 });
    expect(body.entity).toEqual({ id: 3, label: "", type: "linode", url: "/v4/linode/instances/3" });
    expect([body.gravatar_id.length, body.avatar_id]).toEqual([32, undefined]);
    const reply = (await send("POST", `${LIST}/${body.id}/replies`, { description: "x" })).body;
    expect([reply.gravatar_id, reply.avatar_id, reply.from_linode]).toEqual([body.gravatar_id, undefined, false]);
    expect((await send("POST", LIST, { ...TICKET, node_id: 3 })).body.entity).toBeNull();
    expect((await send("GET", LIST, undefined, { "x-filter": '{"entity.type":"linode"}' })).body.results).toBe(1);
  });
});

operation("Support Ticket View", () => {
  test("an id that is none, or another account's, is not found", async () => {
    const { send } = await startTested({ seed: RIVAL });
    for (const id of ["1", "9", "x", "0", "-1", "1e3", "9007199254740993", "__proto__", "%00"]) {
      expect([id, (await send("GET", `${LIST}/${id}`)).status]).toEqual([id, 404]);
    }
    expect((await send("GET", `${LIST}/9`, undefined, as("rival"))).body.id).toBe(9);
  });
});

test("another account's ticket can be neither answered nor closed", async () => {
  const { send } = await startTested({ seed: RIVAL });
  const before = (await send("GET", `${LIST}/9`, undefined, as("rival"))).body;
  expect((await send("POST", `${LIST}/9/close`)).status).toBe(404);
  expect((await send("GET", `${LIST}/9/replies`)).status).toBe(404);
  expect((await send("POST", `${LIST}/9/replies`, { description: "x" })).status).toBe(404);
  expect((await send("GET", `${LIST}/9`, undefined, as("rival"))).body).toEqual(before);
  expect((await send("GET", LIST)).body.results).toBe(0);
});

test("the scope account:read_only reads, account:read_write writes, another area does neither", async () => {
  const { send } = await startTested({ seed: { tokens: TOKENS, tickets: [{ id: 1, ...TICKET }] } });
  const requests: [string, string, number][] = [
    ["GET", LIST, 200],
    ["GET", `${LIST}/1`, 200],
    ["GET", `${LIST}/1/replies`, 200],
    ["POST", LIST, 403],
    ["POST", `${LIST}/1/replies`, 403],
    ["POST", `${LIST}/1/close`, 403],
    ["POST", `${LIST}/1/attachments`, 403],
  ];
  for (const [method, path, status] of requests) {
    expect([method, path, (await send(method, path, undefined, as("reader"))).status]).toEqual([method, path, status]);
    expect((await send(method, path, undefined, as("other-area"))).status).toBe(403);
    expect((await send(method, path, undefined, { authorization: "" })).status).toBe(401);
  }
});

operation("Support Tickets List", () => {
  const seed: Seed = {
    domains: [{ id: 5, domain: "a.example" }],
    tickets: [
      { id: 1, ...TICKET, status: "closed" },
      { id: 2, ...TICKET, entity: { type: "domain", id: 5 } },
      { id: 3, ...TICKET, status: "closed", entity: { type: "volume", id: 5, label: "data" } },
      { id: 4, ...TICKET, status: "open", opened_by: "operator", closable: false },
    ],
  };

  test("what is open comes first, tickets that the operator opened among them", async () => {
    const { send } = await startTested({ seed });
    const ids = async (): Promise<number[]> => (await send("GET", LIST)).body.data.map((row: { id: number }) => row.id);
    expect(await ids()).toEqual([2, 4, 1, 3]);
    await send("POST", `${LIST}/2/close`);
    expect(await ids()).toEqual([4, 1, 2, 3]);
  });

  const filters: [unknown, number[]][] = [
    [{ "entity.id": 5 }, [2, 3]],
    [{ "entity.type": "domain" }, [2]],
    [{ "entity.label": "data" }, [3]],
    [{ "entity.url": "/v4/domains/5" }, [2]],
    [{ "entity.id": null }, [4, 1]],
    [{ closed: null }, [2, 4]],
    [{ closed: { "+gte": "2026-05-01T12:00:00" } }, [1, 3]],
    [{ opened: { "+gt": "2026-05-01T12:00:00" } }, []],
    [{ updated: "2026-05-01T12:00:00", "+order_by": "updated", "+order": "desc" }, [2, 4, 1, 3]],
    [{ "+order_by": "entity.label" }, [2, 3, 4, 1]],
  ];

  test.each(filters)("the filter %j selects what it says", async (filter, ids) => {
    const { send } = await startTested({ now: () => NOON, seed });
    const { status, body } = await send("GET", LIST, undefined, { "x-filter": JSON.stringify(filter) });
    expect([status, body.data?.map((row: { id: number }) => row.id)]).toEqual([200, ids]);
  });

  test("a thousand tickets come in pages, open ones before closed ones across them", async () => {
    const tickets = Array.from({ length: 1_000 }, (_, index) => ({
      ...TICKET,
      status: index % 2 === 0 ? ("closed" as const) : ("open" as const),
    }));
    const { send } = await startTested({ seed: { tickets } });
    const seen: { id: number; status: string }[] = [];
    for (const page of [1, 2, 3]) seen.push(...(await send("GET", `${LIST}?page_size=400&page=${page}`)).body.data);
    expect([seen.length, new Set(seen.map(({ id }) => id)).size]).toEqual([1_000, 1_000]);
    expect(seen.map(({ status }) => status).lastIndexOf("open")).toBe(499);
  });
});

operation("Reply Create", () => {
  test("a reply is kept, and moves the ticket's update on", async () => {
    const { send, control } = await startTested({
      now: () => NOON,
      seed: { tokens: TOKENS, tickets: [{ id: 1, ...TICKET }] },
    });
    await control("POST", "/clock", { advance_seconds: 60 });
    const description = "😀".repeat(65_535);
    const { status, body } = await send("POST", `${LIST}/1/replies`, { description }, as("bob"));
    expect([status, { ...body, description: body.description === description }]).toEqual([
      200,
      {
        id: 80_000_001,
        created: "2026-05-01T12:01:00",
        created_by: "bob",
        description: true,
        from_linode: false,
        avatar_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
    ]);
    const ticket = (await send("GET", `${LIST}/1`)).body;
    expect(ticket).toMatchObject({
      updated: "2026-05-01T12:01:00",
      updated_by: "bob",
      opened: "2026-05-01T12:00:00",
    });
    expect(ticket.avatar_id).not.toBe(body.avatar_id);
  });
});

operation("Replies List", () => {
  test("replies come in the order they were written, of their own ticket alone", async () => {
    const replies = [
      { description: "Seeing it.", from_linode: true },
      { description: "Thanks.", created_by: "carol" },
    ];
    const { send } = await startTested({
      seed: {
        tickets: [
          { id: 1, ...TICKET, replies },
          { id: 2, ...TICKET },
        ],
      },
    });
    await send("POST", `${LIST}/1/replies`, { description: "Gone." });
    expect((await send("GET", `${LIST}/1/replies`)).body.data).toMatchObject([
      { description: "Seeing it.", from_linode: true, created_by: "support" },
      { description: "Thanks.", from_linode: false, created_by: "carol" },
      { description: "Gone.", from_linode: false, created_by: "emulator" },
    ]);
    expect((await send("GET", `${LIST}/2/replies`)).body.results).toBe(0);
    expect((await send("GET", `${LIST}/3/replies`)).status).toBe(404);
  });
});

operation("Support Ticket Close", () => {
  test("a closed ticket says when and by whom", async () => {
    const { send, control } = await startTested({
      now: () => NOON,
      seed: { tokens: TOKENS, tickets: [{ id: 1, ...TICKET }] },
    });
    await control("POST", "/clock", { advance_seconds: 3600 });
    // The service's own client names a type although it sends nothing.
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const answer = await send("POST", `${LIST}/1/close`, "", headers);
    expect([answer.status, answer.body]).toEqual([200, {}]);
    const time = "2026-05-01T13:00:00";
    expect((await send("GET", `${LIST}/1`)).body).toMatchObject({
      status: "closed",
      closed: time,
      updated: time,
      updated_by: "alice",
    });
  });

  test("of many closings at once, one succeeds", async () => {
    const { send } = await startTested({ seed: { tickets: [{ id: 1, ...TICKET }] } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => send("POST", `${LIST}/1/close`)));
    expect(answers.filter(({ status }) => status === 200).length).toBe(1);
    expect(answers.filter(({ status }) => status === 400).length).toBe(19);
  });
});

test("tickets, replies and attachments outlive the emulator with a data file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tickets-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const data = join(folder, "account.log");
  const first = await startEmulator({ data });
  const before = tested(first);
  const { body: ticket } = await before.send("POST", LIST, { ...TICKET, volume_id: 4 });
  const path = `${LIST}/${ticket.id}`;
  const form = new FormData();
  form.set("file", new Blob(["hello"]), "trace.txt");
  const headers = { authorization: "Bearer emulator-token" };
  const attached = await fetch(`${first.baseUrl}${path}/attachments`, { method: "POST", body: form, headers });
  await before.send("POST", `${path}/replies`, { description: "More." });
  await before.send("POST", `${path}/close`);
  const views = async ({ send }: typeof before) => [
    (await send("GET", path)).body,
    (await send("GET", `${path}/replies`)).body.data,
  ];
  const kept = await views(before);
  await first.close();
  expect(attached.status).toBe(200);
  expect(kept).toMatchObject([{ status: "closed", attachments: ["trace.txt"], entity: { id: 4 } }, [{}]]);
  const second = await startTested({ data });
  expect(await views(second)).toEqual(kept);
  expect((await second.send("POST", LIST, TICKET)).body.id).toBe(ticket.id + 1);
});
