/** For any valid manifest and any live account: apply and undo leave the account as it was, ids and images aside; undone again, nothing is left to do. */

import fc from "fast-check";
import { expect, test } from "vitest";
import type { WireDomain, WireRecord, WireVpc } from "../../src/api/wire.ts";
import { type Desired, type JournalEntry, type JournalledRun, type Plan, parseJournal } from "../../src/index.ts";
import { contentsInside } from "../../src/manifest/read.ts";
import { Account, ALL_CONSENTS, HASTY_CLOCK } from "../support/account.ts";
import { type World, worlds } from "./world.ts";
import { IMAGE, IMAGE_FILE } from "./world-images.ts";

const RUNS = Number(process.env["TENON_PROPERTY_RUNS"] ?? 40);
/** The same worlds in each run, unless other ones are asked for: what goes wrong half-way has no end of variants. */
const SEED = Number(process.env["TENON_PROPERTY_SEED"] ?? 20_261_127);
/** Nobody sends the data of unfinished uploads of the seed any more. */
const LATER_SECONDS = 2 * 3600;

test("what an apply has done to any account, an undo takes back, and an undo of the undo does it again", {
  timeout: 280_000,
}, async () => {
  const reached = new Set<string>();
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      await undoes(world, reached);
    }),
    { numRuns: RUNS },
  );
  if (RUNS < 300) return;
  expect([...reached].sort()).toEqual(expect.arrayContaining(EVERYTHING));
});

test("what an apply whose writes fail here and there has done, an undo takes back, be it one that fails so and is run again", {
  timeout: 280_000,
}, async () => {
  const every = fc.integer({ min: 1, max: 12 });
  await fc.assert(
    fc.asyncProperty(worlds, every, fc.option(every), async (world, applied, undone) => {
      await undoesFailed(world, applied, undone);
    }),
    { numRuns: RUNS, seed: SEED },
  );
});

test.each([
  ["went", [{ ttl_sec: 300 }]],
  ["were changed", [{ target: "one" }, { target: "two" }]],
])("of equal records that %s one comes back, and then nothing is left to undo", async (_, changes) => {
  const domain = { domain: "one.example", type: "master" as const, soa_email: "a@example.com" };
  const record = { name: "www", type: "TXT" as const, target: "v=spf1 -all", ttl_sec: 3600 };
  const manifest = { tenon: 1, domains: [{ ...domain, records: changes.map((change) => ({ ...record, ...change })) }] };
  const seed = { domains: [{ ...domain, records: [record, record] }] };
  await undoes({ owner: null, manifest, seed, ttlRounding: "nearest", uniqueLabels: false }, new Set());
});

/** What the plans of undos must reach, or the property says nothing about it. */
const EVERYTHING = [
  ...["create", "update", "delete"].flatMap((action) => [
    `${action} domain`,
    `${action} domain_record`,
    `${action} vpc_subnet`,
    `${action} vpc`,
  ]),
  ...["replace vpc", "replace vpc_subnet", "update image", "delete image"],
];

async function undoes(world: Omit<World, "drafts">, reached: Set<string>): Promise<void> {
  const { seed, ttlRounding, uniqueLabels } = world;
  const account = await Account.open({ seed, ttlRounding, uniqueLabels });
  try {
    const { desired } = await account.load({ "tenon.yaml": JSON.stringify(world.manifest), [IMAGE_FILE]: IMAGE });
    if (desired === null) throw new Error("the generator made an invalid manifest");
    await account.advanceClock(LATER_SECONDS);
    const before = await contentOf(account);
    const run = await carriedOut(account, desired, null);
    const after = await contentOf(account);
    const undo = await carriedOut(account, desired, run.run);
    for (const { action, kind } of undo.plan.changes) if (action !== "no-op") reached.add(`${action} ${kind}`);
    expect(undo.plan.changes.filter(({ blocked }) => blocked?.type === "changed-since")).toEqual([]);
    expect(undo.plan.warnings.filter(({ code }) => !SAID.has(code))).toEqual([]);
    expect(await contentOf(account)).toEqual(before);
    const rest = (await planned(account, desired, run.run)).plan;
    expect([rest.steps, rest.warnings.filter(({ code }) => !SAID.has(code))]).toEqual([[], []]);
    const lost = undo.plan.warnings.some(({ code }) => code === "undo-lost");
    const again = await carriedOut(account, desired, undo.run);
    expect(again.plan.warnings.filter(({ code }) => !SAID.has(code))).toEqual([]);
    if (!lost) expect(await contentOf(account)).toEqual(after);
  } finally {
    await account.close();
  }
}

const WRITES = ["POST", "PUT", "DELETE"] as const;

/** @param applied of so many writes of the apply one is refused @param undone the same for a first undo; null: there is only one */
async function undoesFailed(
  { seed, ttlRounding, uniqueLabels, manifest }: World,
  applied: number,
  undone: number | null,
): Promise<void> {
  const account = await Account.open({ seed, ttlRounding, uniqueLabels });
  try {
    const { desired } = await account.load({ "tenon.yaml": JSON.stringify(manifest), [IMAGE_FILE]: IMAGE });
    if (desired === null) throw new Error("the generator made an invalid manifest");
    await account.advanceClock(LATER_SECONDS);
    const before = await contentOf(account);
    const refuse = (every: number) =>
      account.emulator.setFaults(WRITES.map((method) => ({ effect: { type: "status", status: 400 }, method, every })));
    refuse(applied);
    const { run } = await carriedOut(account, desired, null, { mayFail: true });
    if (undone !== null) {
      refuse(undone);
      await carriedOut(account, desired, run, { mayFail: true });
    }
    account.emulator.setFaults([]);
    const undo = await carriedOut(account, desired, run);
    expect(undo.plan.warnings.filter(({ code }) => !SAID.has(code))).toEqual([]);
    expect(await contentOf(account)).toEqual(before);
  } finally {
    await account.close();
  }
}

const SAID: ReadonlySet<string> = new Set([
  "undo-manifest",
  "undo-new-id",
  "undo-lost",
  "undo-stands-for",
  "cached-target",
]);

function planned(account: Account, desired: Desired, run: JournalledRun | null) {
  const options = { consents: ALL_CONSENTS, contentOf: contentsInside(account.folder) };
  return account.planned(desired, run === null ? options : { ...options, goal: "undo", run });
}

/** @param run null: what the manifest says */
async function carriedOut(
  account: Account,
  desired: Desired,
  run: JournalledRun | null,
  { mayFail = false }: { readonly mayFail?: boolean } = {},
): Promise<{ readonly plan: Plan; readonly run: JournalledRun }> {
  const { plan, live } = await planned(account, desired, run);
  expect(plan.refusals).toEqual([]);
  expect(plan.guards.filter(({ consent }) => consent === "missing")).toEqual([]);
  const entries: JournalEntry[] = [
    {
      ...{ type: "run", format_version: 1, started: "2026-11-22T10:00:00.000Z", version: "0", actor: null },
      ...{ commit: null, host: "h", account: null, environment: null, owner: desired.owner, goal: plan.goal },
    } as const,
  ];
  const record = async (entry: JournalEntry): Promise<null> => {
    entries.push(entry);
    return null;
  };
  const journal = { path: "j", conceal: () => {}, record, close: async () => {} };
  const report = await account.apply(plan, { clock: HASTY_CLOCK, journal, live });
  if (!mayFail) expect(report.steps.filter((step) => step.outcome !== "done")).toEqual([]);
  const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
  const read = await parseJournal(text, { file: "j", started: null });
  if (!read.ok) throw new Error(JSON.stringify(read.diagnostic) + text);
  return { plan, run: read.run };
}

/** The account without its ids and times, and without images: what one holds does not come back. */
async function contentOf(account: Account): Promise<unknown> {
  const domains = await account.list<WireDomain & Record<string, unknown>>("domains");
  const zones = await Promise.all(
    domains.map(async (domain) => ({
      ...bare(domain),
      tags: [...domain.tags].sort(),
      // Of equal records one is as good as two: what went for being a duplicate does not come back.
      records: [
        ...new Set(
          texts(await account.list<WireRecord & Record<string, unknown>>("domains", String(domain.id), "records")),
        ),
      ],
    })),
  );
  const vpcs = await account.list<WireVpc & Record<string, unknown>>("vpcs");
  const networks = vpcs.map((vpc) => ({ ...bare(vpc), subnets: texts(vpc.subnets as never) }));
  return { zones: texts(zones), networks: texts(networks) };
}

function texts(objects: readonly Record<string, unknown>[]): string[] {
  return objects.map((object) => JSON.stringify(bare(object))).sort();
}

function bare({ id: _id, created: _created, updated: _updated, ...rest }: Record<string, unknown>) {
  return rest;
}
