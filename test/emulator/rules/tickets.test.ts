/** What API.md forbids of support tickets and replies. */

import { expect, test } from "vitest";
import { rule } from "../../support/emulated.ts";
import { startTested, type Tested } from "../../support/emulator.ts";
import { expectRefused } from "./refused.ts";

const TICKET = { summary: "No route", description: "Since this morning." };
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
  path: "/support/tickets",
  body: { ...TICKET, ...change },
  field,
});
const reply = (body: unknown, field: string) => ({ method: "POST", path: "/support/tickets/1/replies", body, field });

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

test("a ticket about a domain or VPC that the account does not have is refused", async () => {
  const tested = await startTested({
    seed: {
      other_accounts: {
        rival: { domains: [{ id: 6, domain: "theirs.example" }], vpcs: [{ id: 8, label: "x", region: "us-east" }] },
      },
    },
  });
  for (const [field, ids] of [
    ["domain_id", [5, 6]],
    ["vpc_id", [7, 8]],
  ] as const) {
    for (const id of ids) await expectRefused(tested, open({ [field]: id }, field));
  }
});

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
  expect((await tested.send("GET", "/support/tickets/1/replies")).body.results).toBe(0);
});

rule("Support ticket: closable", async () => {
  const tested = await start();
  for (const id of [2, 3]) {
    await expectRefused(tested, { method: "POST", path: `/support/tickets/${id}/close`, field: null });
  }
});

test("everything wrong with one ticket is said at once", async () => {
  const { send } = await start();
  const { status, body } = await send("POST", "/support/tickets", { managed_issue: 1, region: "x", vpc_id: "y" });
  const fields = body.errors.map(({ field }: { field: string }) => field).sort();
  expect([status, fields]).toEqual([400, ["description", "managed_issue", "region", "summary", "vpc_id"]]);
});
