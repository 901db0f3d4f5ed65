/** How often Tenon looks at what it deletes, where each request takes its time. */

import { expect, test } from "vitest";
import type { Clock } from "../../src/index.ts";
import { Account, ALL_CONSENTS } from "../support/account.ts";

const OF = { type: "master", soa_email: "a@a.example" } as const;

/** Applies with a clock that each request moves on. */
async function readsOf(seed: object, manifest: object, millisecondsEach: number): Promise<string[]> {
  const account = await Account.open({ seed: seed as never });
  const { desired } = await account.load(JSON.stringify({ tenon: 1, owner: "me", ...manifest }));
  if (desired === null) throw new Error("not loaded");
  const plan = await account.plan(desired, { consents: ALL_CONSENTS });
  account.takeRequests();
  const clock: Clock = {
    now: () => Date.now() + millisecondsEach * account.emulator.requests.length,
    sleep: () => Promise.resolve(),
  };
  const report = await account.apply(plan, { concurrency: 1, clock });
  expect([report.failed, report.skipped, report.destroyed > 0]).toEqual([0, 0, true]);
  const reads = account.takeRequests().filter((request) => request.startsWith("GET"));
  await account.close();
  return reads;
}

test("a service that takes seconds for each answer has a domain deleted after one look at it and one at its records", async () => {
  const domains = [{ id: 1, domain: "old.example", ...OF, tags: ["tenon:me"] }];
  const reads = await readsOf({ domains }, { removed: [{ domain: "old.example" }] }, 4_000);
  expect(reads).toEqual(["GET /domains/1", "GET /domains/1/records"]);
});

test("the domain of a part is looked at once in five seconds, however many records of the part go", async () => {
  const records = Array.from({ length: 40 }, (_, index) => ({
    type: "A",
    name: `n${index}.shop`,
    target: "192.0.2.1",
  }));
  const domains = [{ id: 1, domain: "all.example", ...OF, tags: ["tenon:edge", "tenon-part:me"], records }];
  const part = { domain: "all.example", part: { names: ["*.shop"] }, records: [] };
  const reads = await readsOf({ domains }, { domains: [part] }, 1_000);
  expect(new Set(reads)).toEqual(new Set(["GET /domains/1"]));
  expect(reads.length).toBeGreaterThan(4);
  expect(reads.length).toBeLessThan(12);
});
