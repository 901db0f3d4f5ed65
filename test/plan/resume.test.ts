/** A plan file resumes a half-done apply: wherever it was cut off, what is left is within what was reviewed. */

import { gzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import type { Seed } from "../../src/emulator/index.ts";
import { findUnreviewed, type Plan } from "../../src/index.ts";
import { Account, ALL_CONSENTS, HASTY_CLOCK } from "../support/account.ts";

let account: Account;
afterEach(() => account.close());

/** An image is there at the next look once it has its data: in the hours between two runs a service is done with it. */
const PROCESSED_AT_ONCE = { creating: 1, pendingUpload: 0 };

const zone = { type: "master", soa_email: "hostmaster@example.com" } as const;

const seed: Seed = {
  vpcs: [
    { label: "move", region: "us-east", description: "[tenon:me]", subnets: [{ label: "a", ipv4: "10.0.1.0/24" }] },
    {
      label: "swap",
      region: "us-east",
      subnets: [
        { label: "a", ipv4: "10.0.1.0/24" },
        { label: "b", ipv4: "10.0.2.0/24" },
        { label: "c", ipv4: "10.0.3.0/24" },
      ],
    },
  ],
  domains: [
    {
      domain: "a.example",
      ...zone,
      records: [
        { type: "A", name: "host", target: "192.0.2.1" },
        { type: "CNAME", name: "www", target: "host.a.example" },
        { type: "MX", target: "mx1.example.net", priority: 1 },
        { type: "MX", target: "mx2.example.net", priority: 2 },
        { type: "TXT", name: "old", target: "words" },
      ],
    },
    { domain: "gone.example", ...zone, tags: ["tenon:me"] },
  ],
};

const manifest = {
  tenon: 1,
  owner: "me",
  vpcs: [
    { label: "move", region: "us-west", subnets: [{ label: "a", ipv4: "10.0.1.0/24" }] },
    {
      label: "swap",
      region: "us-east",
      subnets: [
        { label: "b", ipv4: "10.0.1.0/24" },
        { label: "a", ipv4: "10.0.2.0/24" },
        { label: "c", ipv4: "10.0.4.0/24" },
      ],
    },
  ],
  domains: [
    {
      domain: "a.example",
      ...zone,
      records: [
        { type: "A", name: "new", target: "192.0.2.1" },
        { type: "CNAME", name: "host", target: "new" },
        { type: "MX", target: "." },
        { type: "TXT", name: "fresh", target: "words" },
      ],
    },
    {
      domain: "b.example",
      ...zone,
      records: [
        { type: "A", target: "192.0.2.1" },
        { type: "TXT", target: "x" },
      ],
    },
  ],
  images: [{ label: "golden", upload: { file: "image.img.gz", region: "us-east" } }],
};

const project = { "tenon.yaml": JSON.stringify(manifest), "image.img.gz": gzipSync(Buffer.alloc(64)) };

/** The first steps of a plan, with the barriers that they wait for. */
function firstSteps(plan: Plan, count: number): Plan {
  const steps = plan.steps.slice(0, count);
  const wanted = new Set(steps.flatMap((step) => step.after));
  return { ...plan, steps, barriers: plan.barriers.filter((barrier) => wanted.has(barrier.id)) };
}

test("wherever an apply is cut off, the rest is within the reviewed plan, and completes it", {
  timeout: 60_000,
}, async () => {
  let cuts = 1;
  for (let done = 0; done < cuts; done += 1) {
    account = await Account.open({ seed, readsUntilAvailable: PROCESSED_AT_ONCE });
    const { desired } = await account.load(project);
    if (desired === null) throw new Error("the manifest is invalid");
    const options = { consents: ALL_CONSENTS };
    const reviewed = await account.plan(desired, options);
    cuts = reviewed.steps.length;
    await account.apply(firstSteps(reviewed, done), { clock: HASTY_CLOCK });
    // Long enough for a begun upload to be taken for abandoned.
    await account.advanceClock(2 * 3600);
    const rest = await account.plan(desired, options);
    expect(
      findUnreviewed(rest, reviewed).map(({ key }) => key),
      `after ${done} steps`,
    ).toEqual([]);
    const report = await account.apply(rest, { clock: HASTY_CLOCK });
    expect(report.steps.filter((step) => step.outcome !== "done")).toEqual([]);
    expect((await account.plan(desired, options)).steps).toEqual([]);
    if (done + 1 < cuts) await account.close();
  }
  expect(cuts).toBeGreaterThan(20);
});

test("what somebody adds in between is not covered", async () => {
  account = await Account.open({ seed });
  const { desired } = await account.load(project);
  if (desired === null) throw new Error("the manifest is invalid");
  const reviewed = await account.plan(desired);
  const [domain] = await account.list<{ id: number }>("domains");
  const path = ["domains", String(domain?.id), "records"];
  await account.api.send({ method: "POST", path, body: { type: "A", name: "new", target: "192.0.2.66" } });
  const now = await account.plan(desired);
  expect(findUnreviewed(now, reviewed).map(({ action, key }) => `${action} ${key}`)).toEqual([
    "update domain/a.example/new/A",
  ]);
});
