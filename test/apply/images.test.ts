/** Images that take the place of others: the old ones go last, and stay if the new ones cannot be had. */

import { gzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import { Account, ALL_CONSENTS, HASTY_CLOCK } from "../support/account.ts";

const FILES = { "image.img.gz": gzipSync(Buffer.alloc(1024)) };
const MANIFEST = `
tenon: 1
owner: me
images:
  - { label: rot-2, upload: { file: image.img.gz, region: us-east } }
  - { label: other, capture: { disk_id: 1 } }
removed: [{ image: by-hand }]
`;

/** Beyond what any upload takes. */
const LATER_SECONDS = 2 * 3600;

let account: Account;
afterEach(() => account.close());

/** The project in an account with an image of it that it no longer declares, and one made by hand. */
async function opened(options: EmulatorOptions): Promise<Account> {
  account = await Account.open({
    seed: {
      disks: [{ id: 1, label: "boot", size: 1024 }],
      images: [
        { id: "private/1", label: "rot-1", description: "[tenon:me]" },
        { id: "private/2", label: "by-hand" },
      ],
    },
    ...options,
  });
  return account;
}

async function run(nowMilliseconds = Date.now()) {
  const { desired } = await account.load({ ...FILES, "tenon.yaml": MANIFEST });
  if (desired === null) throw new Error("the manifest has errors");
  const plan = await account.plan(desired, { consents: ALL_CONSENTS, nowMilliseconds });
  account.takeRequests();
  const report = await account.apply(plan, { clock: HASTY_CLOCK });
  const deleted = account.takeRequests().filter((request) => request.startsWith("DELETE"));
  const labels = (await account.list<{ label: string }>("images")).map(({ label }) => label).sort();
  return { report, deleted, labels };
}

test.each([
  ["the upload cannot be begun", { method: "POST", path: "/images/upload" }],
  ["its data is refused", { method: "PUT", path: "/_upload/*" }],
  ["another image cannot be made", { method: "POST", path: "/images" }],
])("if %s, no image is deleted, and the report says what was skipped", async (_, where) => {
  await opened({ faults: [{ effect: { type: "status", status: 400 }, ...where }] });
  const { report, deleted, labels } = await run();
  expect(deleted).toEqual([]);
  expect(labels).toEqual(expect.arrayContaining(["by-hand", "rot-1"]));
  const skipped = report.steps.filter(({ step }) => step.startsWith("delete"));
  expect(skipped.map(({ step, outcome }) => `${step} ${outcome}`)).toEqual([
    "delete image/by-hand skipped",
    "delete image/rot-1 skipped",
  ]);
  expect(skipped[0]?.because).toHaveLength(1);
  expect(report).toMatchObject({ destroyed: 0, failed: 1 });

  // Once all can be had, and nobody can be sending what was begun, a further run ends where the first was to.
  account.emulator.setFaults([]);
  await account.emulator.advanceClock(LATER_SECONDS);
  const again = await run(Date.now() + LATER_SECONDS * 1000);
  expect(again.labels).toEqual(["other", "rot-2"]);
  expect(again.report.steps.filter(({ outcome }) => outcome !== "done")).toEqual([]);
});

test("otherwise they go when the new ones can be used", async () => {
  await opened({});
  const { report, labels } = await run();
  expect(labels).toEqual(["other", "rot-2"]);
  expect(report).toMatchObject({ added: 2, destroyed: 2, failed: 0, skipped: 0 });
});
