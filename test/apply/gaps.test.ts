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

const KEPT = Array.from({ length: 150 }, (_, index) => ({ type: "A", name: `kept${index}`, target: "192.0.2.1" }));
const many = (count: number, record: (index: number) => object): object[] =>
  Array.from({ length: count }, (_, index) => record(index));

/** Which records there are, and which are declared. */
const OPENINGS: Readonly<Record<string, readonly [object[], object[]]>> = {
  "the first record beneath a wildcard": [
    [{ type: "A", name: "*", target: "192.0.2.1" }],
    [
      ...["*", "m", "x.m"].map((name) => ({ type: "A", name, target: "192.0.2.1" })),
      ...many(150, (index) => ({ type: "A", name: `o${index}`, target: "192.0.2.3" })),
    ],
  ],
  "an alias of a name that loses its addresses": [
    [
      ...KEPT,
      { type: "CNAME", name: "z", target: "m.shop.example" },
      ...many(40, (index) => ({ type: "A", name: "m", target: `192.0.2.${index}` })),
    ],
    [...KEPT, { type: "A", name: "z", target: "192.0.2.9" }],
  ],
  "chains of aliases": [
    [
      ...KEPT,
      ...many(48, (index) => ({ type: "CNAME", name: `c${index}`, target: `c${index + 8}.shop.example` })),
      ...many(8, (index) => ({ type: "A", name: `c${index + 48}`, target: "192.0.2.7" })),
    ],
    [...KEPT, ...many(8, (index) => ({ type: "A", name: `c${index}`, target: "192.0.2.9" }))],
  ],
};

test.each(Object.keys(OPENINGS))("what closes a gap comes next, whatever opens it: %s", async (what) => {
  const [before, declared] = OPENINGS[what] ?? [[], []];
  for (const concurrency of [8, 1]) {
    const records = before.map((record, index) => ({ id: 1000 + index, ...record }));
    const account = await Account.open({ seed: { domains: [{ id: 7, ...OF, records }] } as never });
    const { desired } = await account.load(JSON.stringify({ tenon: 1, domains: [{ ...OF, records: declared }] }));
    if (desired === null) throw new Error(`${what}: not loaded`);
    const plan = await account.plan(desired, { consents: ALL_CONSENTS });
    const events: string[] = [];
    const report = await account.apply(plan, {
      concurrency,
      emit: (event) => "step" in event && events.push(`${event.type} ${event.step}`),
    });
    await account.close();
    expect([what, report.failed, report.skipped, plan.gaps.length > 0]).toEqual([what, 0, 0, true]);
    for (const gap of plan.gaps) {
      const opened = events.indexOf(`step-done ${gap.before}`);
      const closing = events.indexOf(`step-started ${gap.wanted}`);
      const between = events.slice(opened, closing).filter((event) => event.startsWith("step-started"));
      expect({ gap: gap.what, opened, between: between.length }).toEqual({
        gap: gap.what,
        opened: expect.toSatisfy((at) => at >= 0),
        between: expect.toSatisfy((count) => count < concurrency),
      });
    }
  }
});

test.each([
  ["a", "b", "c"],
  ["c", "b", "a"],
])("of gaps within gaps the inner one is closed before the outer one opens: %s, %s, %s", async (...names) => {
  const account = await Account.open({
    seed: {
      domains: [{ id: 7, ...OF, records: names.map((name) => ({ type: "A", name, target: "192.0.2.1" })) }],
    } as never,
  });
  // Each becomes an alias of the next one, and the last one of a name in a zone that is made.
  const records = names.map((name, index) => {
    const next = names[index + 1];
    return { type: "CNAME", name, target: next === undefined ? "far.new.example." : `${next}.shop.example.` };
  });
  const made = { ...OF, domain: "new.example", records: [...OTHERS, { type: "A", name: "far", target: "192.0.2.2" }] };
  const { desired } = await account.load(JSON.stringify({ tenon: 1, domains: [made, { ...OF, records }] }));
  if (desired === null) throw new Error("not loaded");
  const { steps, gaps } = await account.plan(desired, { consents: ALL_CONSENTS });
  await account.close();
  expect(gaps).toHaveLength(names.length);
  const own = steps.filter(({ root }) => root === "domain/shop.example").map(({ id }) => id);
  expect(own).toEqual(
    names
      .toReversed()
      .flatMap((name) => [`delete domain/shop.example/${name}/A`, `create domain/shop.example/${name}/CNAME`]),
  );
  // If one of them fails, the next gap is not opened.
  const afterOf = (id: string | undefined) => steps.find((step) => step.id === id)?.after ?? [];
  expect(afterOf(own[0])).toContain("activate domain/new.example");
  for (const [index, id] of own.entries()) if (index > 0) expect(afterOf(id)).toContain(own[index - 1]);
});

test.each([1, 2, 3])(
  "a name that comes to stand beneath a wildcard opens the gap of its MX last, also with %i addresses",
  async (count) => {
    const wildcard = [
      { type: "A", name: "*", target: "192.0.2.1" },
      { type: "MX", name: "*", target: "mx.shop.example.", priority: 10 },
      { type: "A", name: "mx", target: "192.0.2.2" },
    ];
    const records = wildcard.map((record) => ({ ...record, target: record.target.replace(/\.$/, "") }));
    const account = await Account.open({ seed: { domains: [{ id: 7, ...OF, records }] } as never });
    const addresses = many(count, (index) => ({ type: "A", name: "c", target: `192.0.2.${index + 5}` }));
    // What the MX names is made in the same run.
    const mail = { type: "MX", name: "c", target: "mail.zzz.example.", priority: 10 };
    const made = {
      ...OF,
      domain: "zzz.example",
      records: [...OTHERS, { type: "A", name: "mail", target: "192.0.2.3" }],
    };
    const domains = [{ ...OF, records: [...wildcard, ...addresses, mail] }, made];
    const { desired } = await account.load(JSON.stringify({ tenon: 1, domains }));
    if (desired === null) throw new Error("not loaded");
    const plan = await account.plan(desired, { consents: ALL_CONSENTS });
    const done: string[] = [];
    await account.apply(plan, { emit: (event) => event.type === "step-done" && done.push(event.step) });
    await account.close();
    expect(plan.gaps.map(({ what }) => what)).toEqual(["c.shop.example MX"]);
    const isOwn = (id: string): boolean => id.startsWith("create domain/shop.example/c/");
    expect(done.length - done.findIndex(isOwn)).toBe(count + 1);
    const opening = plan.gaps[0]?.before;
    for (const { id, after } of plan.steps) if (isOwn(id) && id !== opening) expect(after).toContain(opening);
  },
);
