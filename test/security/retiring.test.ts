/** Images go without a further consent for newer ones: `keep` is the consent, and it holds for no other image. */

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { contentsInside } from "../../src/manifest/read.ts";
import { Account, changeList, HASTY_CLOCK } from "../support/account.ts";

const [OLD, NEW] = ["old", "new"].map((text) => gzipSync(text)) as [Buffer, Buffer];
const TAG = `[tenon:me sha256:${createHash("sha256").update(OLD).digest("hex").slice(0, 16)}]`;

let account: Account;
beforeEach(async () => {
  const old = { id: "private/1", label: "golden-1", description: TAG, created: "2026-10-01T00:00:00" };
  account = await Account.open({ seed: { images: [old] } });
});
afterEach(() => account.close());

test("an image that is replaced is not deleted once somebody has renamed it and taken its tag off while the new one was made", async () => {
  const entry = "label: golden-1, family: golden, keep: 2, track: content, upload: { file: i.img.gz, region: us-east }";
  const files = { "tenon.yaml": `tenon: 1\nowner: me\nimages: [{ ${entry} }]\n`, "i.img.gz": NEW };
  const { desired } = await account.load(files);
  const plan = await account.plan(desired as never, { contentOf: contentsInside(account.folder) });
  expect(changeList(plan)).toEqual(["replace image/golden-1"]);
  expect(plan.guards).toEqual([]);
  const old = String(plan.changes[0]?.id);
  const body = { label: "keepsake", description: "ours no more" };
  expect((await account.api.send({ method: "PUT", path: ["images", old], body })).ok).toBe(true);
  const report = await account.apply(plan, { clock: HASTY_CLOCK });
  expect(report.steps.map(({ step, outcome }) => `${step}: ${outcome}`)).toEqual([
    "create image/golden-1: done",
    "upload image/golden-1: done",
    "wait for image/golden-1: done",
    "check image/golden-1: failed",
    "delete image/golden-1: skipped",
  ]);
  expect(await account.list("images")).toContainEqual(expect.objectContaining({ id: old, ...body }));
});
