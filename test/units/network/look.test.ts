/** What others do to a VPC between its plan and its delete is seen by the look just before: it stays. */

import { afterEach, beforeEach, expect, test } from "vitest";
import type { Desired } from "../../../src/index.ts";
import { Account, ALL_CONSENTS, HASTY_CLOCK } from "../../support/account.ts";

let account: Account;
beforeEach(async () => {
  const vpc = { id: 7, label: "old", region: "us-east", description: "Text [tenon:me]" };
  account = await Account.open({ seed: { vpcs: [{ ...vpc, subnets: [{ label: "a", ipv4: "10.0.1.0/24" }] }] } });
});
afterEach(() => account.close());

async function send(method: "PUT" | "POST", path: readonly string[], body: Record<string, string>): Promise<void> {
  expect((await account.api.send({ method, path, body })).ok).toBe(true);
}

test.each<[string, () => Promise<void>, string]>([
  ["another label", () => send("PUT", ["vpcs", "7"], { label: "bank" }), "its label or its description"],
  [
    "the tag of another owner",
    () => send("PUT", ["vpcs", "7"], { description: "Text [tenon:other]" }),
    "its label or its description",
  ],
  [
    "a further subnet",
    () => send("POST", ["vpcs", "7", "subnets"], { label: "b", ipv4: "10.0.2.0/24" }),
    "its subnets are no longer",
  ],
])("%s", async (_, change, said) => {
  const { desired } = await account.load("tenon: 1\nowner: me\n");
  const plan = await account.plan(desired as Desired, { consents: ALL_CONSENTS });
  expect(plan.steps.map(({ id }) => id)).toEqual(["check vpc/old", "delete vpc/old"]);
  await change();
  const report = await account.apply(plan, { clock: HASTY_CLOCK });
  expect(report.steps.map(({ outcome }) => outcome)).toEqual(["failed", "skipped"]);
  expect(report.steps[0]?.failure?.message).toContain(said);
  expect((await account.api.get({ path: ["vpcs", "7"] })).ok).toBe(true);
});

test.each(["Text[tenon:me]", "Text [Tenon:ME]", "Text [tenon:me] ", "[tenon:me]"])(
  "a VPC whose tag is spelt in another way is deleted as well: %j",
  async (description) => {
    await send("PUT", ["vpcs", "7"], { description });
    const { desired } = await account.load("tenon: 1\nowner: me\n");
    const plan = await account.plan(desired as Desired, { consents: ALL_CONSENTS });
    const report = await account.apply(plan, { clock: HASTY_CLOCK });
    expect(report.steps.map(({ outcome }) => outcome)).toEqual(["done", "done"]);
  },
);
