/** For any account: what an import writes loads, plans empty against the same account, and is in the form that fmt keeps. */

import { rm } from "node:fs/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { reformat } from "../../src/format/reformat.ts";
import { units } from "../../src/units/index.ts";
import { Account, loadFolder } from "../support/account.ts";
import { codesOf, importAccount, written } from "../support/imports.ts";
import { OWNER } from "./fate.ts";
import { type World, worlds } from "./world.ts";

const RUNS = Math.ceil(Number(process.env["TENON_PROPERTY_RUNS"] ?? 500) / 16);

test("what is imported of any account plans empty, in one file and in many, for any owner", {
  timeout: 120_000,
}, async () => {
  const reached = new Set<string>();
  await fc.assert(
    fc.asyncProperty(worlds, fc.boolean(), fc.boolean(), async (world, split, owned) => {
      await plansEmpty(world, split, owned ? OWNER : null, reached);
    }),
    { numRuns: RUNS },
  );
  if (RUNS >= 30) expect([...reached].sort()).toEqual(expect.arrayContaining(["image", "network", "zone"]));
});

async function plansEmpty(world: World, split: boolean, owner: string | null, reached: Set<string>): Promise<void> {
  // Of several images of one label an import cannot declare each: see test/import.
  const labels = (world.seed.images ?? []).map(({ label }) => label);
  const images = (world.seed.images ?? []).filter(({ label }, index) => labels.indexOf(label) === index);
  const account = await Account.open({ seed: { ...world.seed, images }, ttlRounding: world.ttlRounding });
  try {
    const result = await importAccount(account.api, { split, owner });
    if (!result.ok) return expect(codesOf(result)).toContain("nothing-to-import");
    const out = await written(result);
    const { desired, diagnostics } = await loadFolder(out);
    await rm(out, { recursive: true });
    if (desired === null) throw new Error(JSON.stringify(diagnostics));
    for (const { unit } of desired.declared) reached.add(unit);
    const plan = await account.plan(desired);
    expect(plan.refusals).toEqual([]);
    const changes = plan.changes.filter((change) => change.action !== "no-op");
    // What cannot be declared twice goes, and so does what carries the owner's tag and was never finished.
    const expected = result.diagnostics.flatMap(({ code }) => {
      if (code === "unfinished-image") return owner === null ? [] : ["delete image"];
      return code === "live-duplicate" ? ["delete domain_record"] : [];
    });
    expect(changes.map(({ kind, action }) => `${action} ${kind}`).sort()).toEqual(expected.sort());
    for (const { text } of result.files) expect(await reformat(text, units)).toEqual({ ok: true, text });
  } finally {
    await account.close();
  }
}
