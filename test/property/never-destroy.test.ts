/** For any valid manifest and any live account: a run with `--never-destroy` deletes nothing, makes nothing anew, and does all the rest. */

import fc from "fast-check";
import { expect, test } from "vitest";
import type { WireDomain, WireImage, WireRecord, WireVpc } from "../../src/api/wire.ts";
import { contentsInside } from "../../src/manifest/read.ts";
import type { Change } from "../../src/model/change.ts";
import { Account, ALL_CONSENTS, HASTY_CLOCK } from "../support/account.ts";
import { type World, worlds } from "./world.ts";
import { IMAGE, IMAGE_FILE } from "./world-images.ts";

const RUNS = Number(process.env["TENON_PROPERTY_RUNS"] ?? 150);
/** Nobody sends the data of unfinished uploads of the seed any more. */
const LATER_SECONDS = 2 * 3600;

test("a run that never destroys deletes nothing and makes nothing anew, says what it leaves out, and does the rest", {
  timeout: 280_000,
}, async () => {
  const reached = new Set<string>();
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      await spares(world, reached);
    }),
    { numRuns: RUNS },
  );
  if (RUNS < 100) return;
  expect([...reached].sort()).toEqual(expect.arrayContaining(EVERYTHING));
});

const EVERYTHING = [
  "create domain",
  "create domain_record",
  "create vpc_subnet",
  "left out",
  "update domain_record",
  "withheld delete domain",
  "withheld delete domain_record",
  "withheld delete image",
  "withheld delete vpc",
  "withheld delete vpc_subnet",
  "withheld replace image",
  "withheld replace vpc",
  "withheld replace vpc_subnet",
];

async function spares(world: World, reached: Set<string>): Promise<void> {
  const { seed, ttlRounding, uniqueLabels } = world;
  const account = await Account.open({ seed, ttlRounding, uniqueLabels });
  try {
    const files = { "tenon.yaml": JSON.stringify(world.manifest), [IMAGE_FILE]: IMAGE };
    const { desired } = await account.load(files);
    if (desired === null) throw new Error("the generator made an invalid manifest");
    await account.advanceClock(LATER_SECONDS);
    const options = { consents: ALL_CONSENTS, contentOf: contentsInside(account.folder) };
    const whole = await account.plan(desired, options);
    const before = await idsOf(account);
    account.takeRequests();
    const plan = await account.plan(desired, { ...options, neverDestroy: true });
    expect(plan.changes.filter(({ action }) => action === "delete" || action === "replace")).toEqual([]);
    const actions = new Map(plan.withheld.map(({ key, action }) => [key, action]));
    for (const change of whole.changes) {
      if (change.action === "delete" || change.action === "replace")
        expect(actions.get(change.key)).toBe(change.action);
    }
    const report = await account.apply(plan, { clock: HASTY_CLOCK });
    expect(report.steps.filter((step) => step.outcome !== "done")).toEqual([]);
    expect(account.takeRequests().filter((request) => request.startsWith("DELETE"))).toEqual([]);
    const after = new Set(await idsOf(account));
    expect(before.filter((id) => !after.has(id))).toEqual([]);
    note(plan.changes, reached);
    const kinds = new Map(whole.changes.map(({ key, kind }) => [key, kind]));
    for (const [key, action] of actions) reached.add(`withheld ${action} ${kinds.get(key)}`);
    // What had to wait for nothing that is left out is done.
    const again = await account.plan(desired, { ...options, neverDestroy: true });
    const waiting = new Set(plan.changes.filter(({ blocked }) => blocked !== null).map(({ key }) => key));
    const due = again.changes.filter(
      ({ action, blocked, key }) => action !== "no-op" && blocked === null && !waiting.has(key),
    );
    expect(due).toEqual([]);
  } finally {
    await account.close();
  }
}

function note(changes: readonly Change[], reached: Set<string>): void {
  for (const { action, kind, blocked } of changes) {
    if (action === "no-op") continue;
    if (blocked === null) reached.add(`${action} ${kind}`);
    else if (blocked.type === "depends" && blocked.leftOut === true) reached.add("left out");
  }
}

/** Every object of the account. */
async function idsOf(account: Account): Promise<string[]> {
  const domains = await account.list<WireDomain>("domains");
  const records = await Promise.all(
    domains.map(({ id }) => account.list<WireRecord>("domains", String(id), "records")),
  );
  const vpcs = await account.list<WireVpc>("vpcs");
  const images = await account.list<WireImage>("images");
  return [
    ...domains.map(({ id }) => `domain ${id}`),
    ...records.flat().map(({ id }) => `record ${id}`),
    ...vpcs.flatMap(({ id, subnets }) => [`vpc ${id}`, ...subnets.map((subnet) => `subnet ${subnet.id}`)]),
    ...images.map(({ id }) => `image ${id}`),
  ];
}
