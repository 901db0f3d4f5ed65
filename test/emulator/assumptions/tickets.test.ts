/** Choices about support tickets and replies; those about attached files are with the files' tests. */

import { expect, test } from "vitest";
import type { SeedTicket } from "../../../src/emulator/index.ts";
import { assumption } from "../../support/emulated.ts";
import { startTested } from "../../support/emulator.ts";

const LIST = "/support/tickets";
const TICKET = { summary: "No route", description: "Since this morning." };

assumption("A ticket that was opened through the API is new, closable, and updated by nobody.", async () => {
  const { send } = await startTested();
  const { body } = await send("POST", LIST, TICKET);
  expect(body).toMatchObject({ status: "new", closable: true, updated_by: null, updated: body.opened });
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
    for (const field of ["domain_id", "vpc_id"]) {
      const { status, body } = await send("POST", LIST, { ...TICKET, [field]: 3 });
      expect([status, body.errors]).toEqual([400, [{ field, reason: `${field} is not valid` }]]);
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
  const { status, body } = await send("POST", LIST, { ...TICKET, vlan: "lan" });
  expect([status, body.entity]).toEqual([200, null]);
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
