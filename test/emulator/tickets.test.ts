/** Support tickets and their replies: what each operation does, what API.md forbids, and what was chosen. Attached files have a chapter of their own. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Seed, type SeedTicket, startEmulator } from "../../src/emulator/index.ts";
import { assumption, operation, rule } from "../support/emulated.ts";
import { startTested, type Tested, tested } from "../support/emulator.ts";
import { expectRefused } from "./refused.ts";

const TICKET = { summary: "No route", description: "Since this morning." };
const NOON = Date.UTC(2026, 4, 1, 12);
const LIST = "/support/tickets";

const TOKENS: Seed["tokens"] = [
  { token: "emulator-token", username: "alice" },
  { token: "bob", username: "bob", grants: {} },
];
const as = (token: string) => ({ authorization: `Bearer ${token}` });

const RIVAL: Seed = {
  tokens: TOKENS,
  other_accounts: { rival: { tokens: [{ token: "rival" }], tickets: [{ id: 9, ...TICKET }] } },
};

operation("Support Ticket Open", () => {
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

const IDS = [
  "database_id",
  "domain_id",
  "firewall_id",
  "node_id",
  "lkecluster_id",
  "longviewclient_id",
  "nodebalancer_id",
  "volume_id",
  "vpc_id",
];

/** Tickets 1 (new), 2 (closed) and 3 (the operator's, not closable). */
function start(): Promise<Tested> {
  return startTested({
    seed: {
      domains: [{ id: 5, domain: "old.example" }],
      vpcs: [{ id: 7, label: "prod", region: "us-east" }],
      tickets: [
        { id: 1, ...TICKET },
        { id: 2, ...TICKET, status: "closed" },
        { id: 3, ...TICKET, closable: false },
      ],
    },
  });
}

const open = (change: object, field: string) => ({
  method: "POST",
  path: LIST,
  body: { ...TICKET, ...change },
  field,
});
const reply = (body: unknown, field: string) => ({ method: "POST", path: `${LIST}/1/replies`, body, field });

rule(["Support ticket: summary", "Support Ticket Open body: summary", "Limits: Ticket summary"], async () => {
  const tested = await start();
  for (const summary of [undefined, null, "", 5, ["x"], "x".repeat(65), "é".repeat(65), "😀".repeat(65)]) {
    await expectRefused(tested, open({ summary }, "summary"));
  }
});

rule(
  ["Support ticket: description", "Support Ticket Open body: description", "Limits: Ticket description"],
  async () => {
    const tested = await start();
    for (const description of [undefined, null, "", {}, "x".repeat(65_001), "漢".repeat(65_001), "x".repeat(200_000)]) {
      await expectRefused(tested, open({ description }, "description"));
    }
  },
);

rule(
  [
    "Support Ticket Open body: database_id, domain_id, firewall_id, node_id, lkecluster_id, longviewclient_id, nodebalancer_id, volume_id, vpc_id",
    "Errors: rule 2",
  ],
  async () => {
    const tested = await start();
    for (const [index, field] of IDS.entries()) {
      for (const id of ["5", 1.5, 0, -1, true, [5], {}, 1e300])
        await expectRefused(tested, open({ [field]: id }, field));
      const other = IDS[(index + 1) % IDS.length] as string;
      const [, later] = [field, other].sort((a, b) => IDS.indexOf(a) - IDS.indexOf(b));
      await expectRefused(tested, open({ [field]: 5, [other]: 7 }, later as string));
    }
    await expectRefused(tested, open(Object.fromEntries(IDS.map((field) => [field, 5])), "domain_id"));
  },
);

rule("Support Ticket Open body: managed_issue", async () => {
  const tested = await start();
  for (const managed_issue of ["true", 1, [], {}]) {
    await expectRefused(tested, open({ managed_issue }, "managed_issue"));
  }
});

rule("Support Ticket Open body: region", async () => {
  const tested = await start();
  await expectRefused(tested, open({ region: "us-east" }, "region"));
  await expectRefused(tested, open({ region: "us-east", vlan: null }, "region"));
  for (const region of ["", "nowhere", 5]) await expectRefused(tested, open({ vlan: "lan", region }, "region"));
});

rule("Support Ticket Open body: vlan", async () => {
  const tested = await start();
  for (const vlan of ["", 5, ["lan"], "x".repeat(65)]) await expectRefused(tested, open({ vlan }, "vlan"));
});

rule(["Ticket reply: description", "Limits: Reply description"], async () => {
  const tested = await start();
  for (const description of [undefined, null, "", 5, "x".repeat(65_536), "😀".repeat(65_536)]) {
    await expectRefused(tested, reply({ description }, "description"));
  }
  expect((await tested.send("GET", `${LIST}/1/replies`)).body.results).toBe(0);
});

rule("Support ticket: closable", async () => {
  const tested = await start();
  const reason = "The ticket cannot be closed";
  await expectRefused(tested, { method: "POST", path: `${LIST}/3/close`, field: null, reason });
});

test("everything wrong with one ticket is said at once", async () => {
  const { send } = await start();
  const { status, body } = await send("POST", LIST, { managed_issue: 1, region: "x", vpc_id: "y" });
  const fields = body.errors.map(({ field }: { field: string }) => field).sort();
  expect([status, fields]).toEqual([400, ["description", "managed_issue", "region", "summary", "vpc_id"]]);
});

assumption("A ticket that was opened through the API is new, closable, and updated by nobody.", async () => {
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

assumption("A new ticket is `open` once there is a reply to it.", async () => {
  const { send } = await startTested({ seed: { tickets: [{ id: 1, ...TICKET }] } });
  expect((await send("GET", `${LIST}/1`)).body.status).toBe("new");
  await send("POST", `${LIST}/1/replies`, { description: "x" });
  expect((await send("GET", `${LIST}/1`)).body.status).toBe("open");
});

assumption("A closed ticket is not closable, whatever a seed says.", async () => {
  const { send } = await startTested({
    seed: {
      tickets: [
        { id: 1, ...TICKET, status: "closed", closable: true },
        { id: 2, ...TICKET },
      ],
    },
  });
  expect((await send("GET", `${LIST}/1`)).body.closable).toBe(false);
  expect((await send("GET", `${LIST}/2`)).body.closable).toBe(true);
  await send("POST", `${LIST}/2/close`);
  expect((await send("GET", `${LIST}/2`)).body).toMatchObject({ status: "closed", closable: false });
});

assumption("A closed ticket cannot be closed again, and takes no replies and no attachments: 400.", async () => {
  const { send, emulator } = await startTested({ seed: { tickets: [{ id: 1, ...TICKET, status: "closed" }] } });
  const before = (await send("GET", `${LIST}/1`)).body;
  const refusal = { errors: [{ reason: "The ticket is closed" }] };
  for (const [path, body] of [
    ["/close", undefined],
    ["/replies", { description: "x" }],
  ] as const) {
    expect(await send("POST", `${LIST}/1${path}`, body)).toMatchObject({ status: 400, body: refusal });
  }
  const form = new FormData();
  form.set("file", new Blob(["x"]), "a.txt");
  const answer = await fetch(`${emulator.baseUrl}${LIST}/1/attachments`, {
    method: "POST",
    body: form,
    headers: { authorization: "Bearer emulator-token" },
  });
  expect([answer.status, await answer.json()]).toEqual([400, refusal]);
  expect((await send("GET", `${LIST}/1/replies`)).body.results).toBe(0);
  expect((await send("GET", `${LIST}/1`)).body).toEqual(before);
});

assumption(
  "A ticket about what API.md does not cover (a node, a volume and so on) is taken with any id; the entity's label is empty. An unknown domain or VPC is 400.",
  async () => {
    const { send } = await startTested();
    for (const [kind, path] of [
      ["database", "databases/instances"],
      ["firewall", "networking/firewalls"],
      ["node", "node/instances"],
      ["lkecluster", "lke/clusters"],
      ["longviewclient", "longview/clients"],
      ["nodebalancer", "nodebalancers"],
      ["volume", "volumes"],
    ]) {
      const { body } = await send("POST", LIST, { ...TICKET, [`${kind}_id`]: 3 });
      expect(body.entity).toEqual({ id: 3, label: "", type: kind, url: `/v4/${path}/3` });
    }
    const rival = { domains: [{ id: 6, domain: "theirs.example" }], vpcs: [{ id: 8, label: "x", region: "us-east" }] };
    const tested = await startTested({ seed: { other_accounts: { rival } } });
    for (const [field, ids] of [
      ["domain_id", [5, 6]],
      ["vpc_id", [7, 8]],
    ] as const) {
      for (const id of ids) {
        await expectRefused(tested, { ...open({ [field]: id }, field), reason: `${field} is not valid` });
      }
    }
  },
);

assumption("A ticket's entity keeps the label it had when the ticket was opened.", async () => {
  const tickets: SeedTicket[] = [
    { ...TICKET, entity: { type: "vpc", id: 7 } },
    { ...TICKET, entity: { type: "vpc", id: 8 } },
    { ...TICKET, entity: { type: "vpc", id: 7, label: "was" } },
  ];
  const { send } = await startTested({ seed: { vpcs: [{ id: 7, label: "prod", region: "us-east" }], tickets } });
  await send("DELETE", "/vpcs/7");
  const { data } = (await send("GET", LIST)).body;
  expect(data.map(({ entity }: { entity: { label: string } }) => entity.label)).toEqual(["prod", "", "was"]);
});

assumption("A VLAN ticket needs no region, and has no entity.", async () => {
  const { send } = await startTested();
  for (const more of [
    { vlan: "lan" },
    { vlan: "lan", region: "us-east" },
    { vlan: null, region: null },
    { managed_issue: true },
  ]) {
    const { status, body } = await send("POST", LIST, { ...TICKET, ...more });
    expect([status, body.entity]).toEqual([200, null]);
  }
});

test("Tickets can be opened as often as one likes: 2 per minute is not enforced.", async () => {
  const { send } = await startTested();
  for (let count = 0; count < 10; count += 1) expect((await send("POST", LIST, TICKET)).status).toBe(200);
});

assumption(
  "Tickets can also be filtered by `id`, `summary`, `status` and `updated_by`, replies by `created` alone.",
  async () => {
    const tickets: SeedTicket[] = [
      { id: 1, ...TICKET, status: "closed" },
      { id: 2, ...TICKET, replies: [{ description: "x", created_by: "zoe" }] },
      { id: 3, ...TICKET, summary: "Other" },
    ];
    const { send } = await startTested({ seed: { tickets } });
    const filtered = (path: string, filter: object) =>
      send("GET", path, undefined, { "x-filter": JSON.stringify(filter) });
    for (const [filter, ids] of [
      [{ "+or": [{ status: "open" }, { status: "new" }] }, [2, 3]],
      [{ id: { "+gt": 1 }, summary: { "+contains": "route" } }, [2]],
      [{ updated_by: "zoe" }, [2]],
    ] as const) {
      expect((await filtered(LIST, filter)).body.data.map(({ id }: { id: number }) => id)).toEqual(ids);
    }
    for (const field of ["description", "opened_by", "closable", "attachments", "entity", "account", "__proto__"]) {
      const { body } = await filtered(LIST, JSON.parse(`{"${field}":"x"}`));
      expect(body.errors).toEqual([{ reason: `Cannot filter on ${field}`, field: "X-Filter" }]);
    }
    expect((await filtered(`${LIST}/2/replies`, { created: { "+gt": "2020" } })).body.results).toBe(1);
    expect((await filtered(`${LIST}/2/replies`, { from_linode: true })).status).toBe(400);
  },
);

assumption("A restricted user sees every ticket and may close those that they opened: others are 403.", async () => {
  const tokens = [{ token: "emulator-token" }, { token: "bob", username: "bob", grants: {} }];
  const { send } = await startTested({ seed: { tokens, tickets: [{ id: 1, ...TICKET }] } });
  const bob = { authorization: "Bearer bob" };
  expect((await send("POST", `${LIST}/1/close`, undefined, bob)).status).toBe(403);
  const { body } = await send("POST", LIST, TICKET, bob);
  expect((await send("GET", LIST, undefined, bob)).body.data).toMatchObject([
    { id: 1, status: "new" },
    { id: body.id, opened_by: "bob" },
  ]);
  expect((await send("POST", `${LIST}/${body.id}/close`, undefined, bob)).status).toBe(200);
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
