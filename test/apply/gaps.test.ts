/** How long names have no answer where a change forces that: no longer because thousands of other records are made. */

import { expect, test } from "vitest";
import { Account, ALL_CONSENTS } from "../support/account.ts";

const OF = { domain: "shop.example", type: "master", soa_email: "a@a.example" } as const;
const OLD = [{ type: "A", name: "www", target: "192.0.2.7" }];
const OTHERS = Array.from({ length: 150 }, (_, index) => ({ type: "A", name: `n${index}`, target: "192.0.2.1" }));

interface Case {
  readonly what: string;
  readonly live: object;
  readonly declared: object;
  readonly opens: string;
  readonly closes: string;
}

const casesBeside = (beside: string): readonly Case[] => [
  {
    what: "an address becomes an alias",
    live: { ...OF, records: OLD },
    declared: { ...OF, records: [{ type: "CNAME", name: "www", target: "elsewhere.test." }] },
    opens: "DELETE /domains/7/records/9",
    closes: "POST /domains/7/records",
  },
  {
    what: "an address becomes an alias of a name whose zone is made in the same run",
    live: { ...OF, records: OLD },
    declared: { ...OF, records: [{ type: "CNAME", name: "www", target: `n149.${beside}.` }] },
    opens: "DELETE /domains/7/records/9",
    closes: "POST /domains/7/records",
  },
  {
    what: "a slave becomes a master, which is switched off while it is filled",
    live: { ...OF, type: "slave", master_ips: ["192.0.2.53"], records: [] },
    declared: { ...OF, records: OLD },
    opens: "PUT /domains/7",
    closes: "PUT /domains/7",
  },
];

test.each([
  [8, "a.example"],
  [1, "a.example"],
  [8, "z.example"],
])("names have no answer for a moment, with %i requests at a time beside %s", async (concurrency, beside) => {
  for (const { what, live, declared, opens, closes } of casesBeside(beside)) {
    const records = "records" in live ? (live.records as object[]).map((record) => ({ id: 9, ...record })) : [];
    const account = await Account.open({ seed: { domains: [{ id: 7, ...live, records }] } as never });
    // While the new zone is made nothing else is ready but what begins the gap.
    const domains = [{ ...OF, domain: beside, records: OTHERS }, declared];
    const { desired } = await account.load(JSON.stringify({ tenon: 1, domains }));
    if (desired === null) throw new Error(`${what}: not loaded`);
    const plan = await account.plan(desired, { consents: ALL_CONSENTS });
    account.takeRequests();
    const report = await account.apply(plan, { concurrency });
    expect([what, report.failed, report.skipped, report.added > OTHERS.length]).toEqual([what, 0, 0, true]);
    const requests = account.takeRequests();
    await account.close();
    const [first, last] = [requests.indexOf(opens), requests.lastIndexOf(closes)];
    expect([what, first === -1, last > first]).toEqual([what, false, true]);
    // While each of at most three steps of the gap is under way, each of the others may send one request.
    expect({ what, between: last - first - 1 }).toEqual({
      what,
      between: expect.toSatisfy((count) => count <= 3 * concurrency),
    });
  }
});
