/** An upload is a lease by the service's clock: whoever comes meanwhile leaves it alone, whatever the local clock says. */

import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { applyPlan, type Consent, type Desired, type Plan, type PlanRequest, planProject } from "../../../src/index.ts";
import type { Live } from "../../../src/model/live.ts";
import type { JsonObject } from "../../../src/model/resource.ts";
import { makePlan, type PlanOptions } from "../../../src/plan/plan.ts";
import { renderPlanText } from "../../../src/render/index.ts";
import { renderReportText } from "../../../src/render/report.ts";
import { units as allUnits } from "../../../src/units/index.ts";
import { Account, changeList, HASTY_CLOCK } from "../../support/account.ts";
import { planText, planTextFrom, snapshotText } from "../../support/snapshot.ts";

const MANIFEST = `tenon: 1
owner: me
images: [{ label: golden, upload: { file: image.img.gz, region: us-east } }]
vpcs: [{ label: other, region: us-east }]
`;
const HOUR_SECONDS = 3600;
/** Of the local clock, beside the service's. */
const OFF_SECONDS = [-5 * HOUR_SECONDS, -60, 0, 60, 5 * HOUR_SECONDS];
const ALLOW: Consent = { rule: "delete", address: "image/golden", until: null, reason: null, span: null };

let account: Account;
beforeEach(async () => {
  account = await Account.open();
});
afterEach(() => account.close());

async function load(manifest: string): Promise<Desired> {
  const files = { "tenon.yaml": manifest, "image.img.gz": gzipSync(Buffer.alloc(1024)) };
  const { desired, diagnostics } = await account.load(files);
  if (desired === null) throw new Error(JSON.stringify(diagnostics));
  return desired;
}

function advance(seconds: number): Promise<void> {
  return account.advanceClock(seconds);
}

/** Begins an upload with the tag of an owner, and sends no data. @returns the address for the data */
async function begin(owner = "me"): Promise<string> {
  const body = { label: "golden", region: "us-east", description: `[tenon:${owner}]` };
  const answer = await account.api.send({ method: "POST", path: ["images", "upload"], body });
  if (!answer.ok) throw new Error(answer.failure.message);
  return String((answer.body as JsonObject)["upload_to"]);
}

/** Sends the data, until the service has the image ready. */
async function finish(address: string): Promise<void> {
  const headers = { "content-type": "application/octet-stream" };
  expect((await fetch(address, { method: "PUT", headers, body: gzipSync("all of it") })).ok).toBe(true);
  const ready = async () => (await account.list("images"))[0]?.["status"];
  await expect.poll(ready).toBe("available");
}

function gate(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

function blocks(plan: Plan): unknown[] {
  return plan.changes.flatMap(({ key, blocked }) => (blocked === null ? [] : [{ key, ...blocked }]));
}

function local(offSeconds: number): Partial<PlanRequest> {
  return { nowMilliseconds: Date.now() + offSeconds * 1000 };
}

describe("an upload of another run of ours", () => {
  test.each(OFF_SECONDS)("that takes long is not deleted by a run whose clock is %d s off", async (off) => {
    const desired = await load(MANIFEST);
    const [begun, wait] = [gate(), gate()];
    const api: typeof account.api = {
      ...account.api,
      requestCount: 0,
      // The data of 5 GB takes its time: its last byte is sent much later.
      upload: async (request, signal) => {
        begun.resolve();
        await wait.promise;
        return account.api.upload(request, signal);
      },
    };
    const first = await account.plan(desired, local(off));
    const run = applyPlan({
      ...{ plan: first, api, root: account.folder, concurrency: 8, clock: HASTY_CLOCK, journal: null },
    });
    await begun.promise;
    await advance(50 * 60);
    const second = await account.plan(desired, local(off));
    expect(second.steps).toEqual([]);
    expect(blocks(second)).toMatchObject([{ key: "image/golden", type: "upload-in-progress" }]);
    wait.resolve();
    const report = await run;
    expect(report.failed + report.unknown + report.skipped).toBe(0);
    const images = await account.list("images");
    expect(images.filter(({ label }) => label === "golden")).toMatchObject([{ status: "available" }]);
  });

  test("is left alone for an hour and five minutes, and is then made anew", async () => {
    const desired = await load(MANIFEST);
    await begin();
    const [image] = await account.list("images");
    const until = new Date(Date.parse(`${image?.["created"]}Z`) + 65 * 60_000).toISOString().replace(".000Z", "Z");
    await advance(65 * 60 - 30);
    const blocked = await account.plan(desired);
    expect(changeList(blocked)).toEqual(["update image/golden", "create vpc/other"]);
    expect(blocks(blocked)).toMatchObject([{ type: "upload-in-progress", until }]);
    const text = renderPlanText(blocked, { colour: false }).replace(/\s+/g, " ");
    expect(text).toContain(until);
    expect(text).toContain("--allow delete=image/golden");
    await advance(60);
    const free = await account.plan(desired);
    expect(blocks(free)).toEqual([]);
    expect(changeList(free)).toEqual(["replace image/golden", "create vpc/other"]);
  });

  test("may take longer where the runs are told so", async () => {
    const desired = await load(MANIFEST);
    await begin();
    await advance(2 * HOUR_SECONDS);
    expect(blocks(await account.plan(desired, { uploadTimeoutSeconds: 2 * HOUR_SECONDS }))).toHaveLength(1);
    expect(blocks(await account.plan(desired))).toEqual([]);
  });

  test("is taken at once with consent, and at once only with this one", async () => {
    const desired = await load(MANIFEST);
    await begin();
    const others = ["image/silver", "image/*", "*"].map((address) => ({ ...ALLOW, address }));
    const ended = { ...ALLOW, until: "2020-01-01" };
    expect(blocks(await account.plan(desired, { consents: [...others, ended] }))).toHaveLength(1);
    const plan = await account.plan(desired, { consents: [ALLOW] });
    expect(blocks(plan)).toEqual([]);
    const report = await account.apply(plan, { clock: HASTY_CLOCK });
    expect(report.failed + report.unknown + report.skipped).toBe(0);
    expect((await account.plan(desired)).steps).toEqual([]);
  });

  test.each([
    ["prune", "tenon: 1\nowner: me\n"],
    ["removal", "tenon: 1\nowner: me\nremoved: [{ image: golden }]\n"],
    ["removal without an owner", "tenon: 1\nremoved: [{ image: golden }]\n"],
  ])("is no more deleted by a %s than by a replace", async (_, manifest) => {
    await begin();
    const { desired } = await account.load(manifest);
    const options = manifest.includes("owner") ? {} : { takeOwnershipFrom: ["me"] };
    const plan = await account.plan(desired as Desired, options);
    expect(plan.steps).toEqual([]);
    expect(blocks(plan)).toHaveLength(1);
    const consented = await account.plan(desired as Desired, { ...options, consents: [ALLOW] });
    expect(consented.steps.map(({ id }) => id)).toEqual(["check image/golden", "delete image/golden"]);
  });

  test("is not deleted by destroy", async () => {
    const desired = await load(MANIFEST);
    await begin();
    expect((await account.plan(desired, { goal: "destroy" })).steps).toEqual([]);
    await advance(2 * HOUR_SECONDS);
    expect(changeList(await account.plan(desired, { goal: "destroy" }))).toEqual(["delete image/golden"]);
  });

  test.each<[string, string, Partial<PlanRequest>]>([
    ["replace", MANIFEST, {}],
    ["destroy", MANIFEST, { goal: "destroy" }],
    ["prune", "tenon: 1\nowner: me\n", {}],
    ["removal", "tenon: 1\nowner: me\nremoved: [{ image: golden }]\n", {}],
  ])("that is finished after the plan is not deleted by a %s", async (_, manifest, options) => {
    const desired = await load(manifest);
    const address = await begin();
    await advance(2 * HOUR_SECONDS);
    const plan = await account.plan(desired, options);
    await finish(address);
    const report = await account.apply(plan, { clock: HASTY_CLOCK });
    const ends = report.steps.filter(({ step }) => step.endsWith(" image/golden")).slice(-2);
    expect(ends.map(({ step }) => step)).toEqual(["check image/golden", "delete image/golden"]);
    expect(ends.map(({ outcome }) => outcome)).toEqual(["failed", "skipped"]);
    expect(ends[0]?.failure?.message).toContain("its upload has been finished since");
    expect((await account.list("images"))[0]).toMatchObject({ label: "golden", status: "available" });
  });

  test("is judged by the time of the snapshot that a plan is made from", async () => {
    const desired = await load(MANIFEST);
    await begin();
    const young = await snapshotText(account.api);
    await advance(2 * HOUR_SECONDS);
    const old = await snapshotText(account.api);
    expect(await planTextFrom(young, desired, local(5 * HOUR_SECONDS))).toContain("upload-in-progress");
    expect(await planTextFrom(old, desired, local(-5 * HOUR_SECONDS))).not.toContain("upload-in-progress");
    expect(await planTextFrom(old, desired, {})).toBe(await planText(account.api, desired, {}));
    const untimed = young.replace(/^"served_at":.*\n/m, "").replace('"format_version":2', '"format_version":1');
    expect(await planTextFrom(untimed, desired, local(5 * HOUR_SECONDS))).toContain("upload-in-progress");
  });

  test("is left alone for good by a service that tells no time", async () => {
    const desired = await load(MANIFEST);
    await begin();
    await advance(2 * HOUR_SECONDS);
    const silent = {
      ...account.api,
      list: async (...asked: Parameters<typeof account.api.list>) => {
        const { servedMilliseconds: _, ...answer } = (await account.api.list(...asked)) as {
          servedMilliseconds?: number;
        };
        return answer as Awaited<ReturnType<typeof account.api.list>>;
      },
    };
    const planned = await planProject({
      desired,
      api: silent,
      goal: "apply",
      nowMilliseconds: Date.now() + 5 * HOUR_SECONDS * 1000,
    });
    if (!planned.ok) throw new Error(planned.what);
    expect(blocks(planned.plan)).toHaveLength(1);
  });
});

test("an upload is given up within its time: the data stops, and the report says so", async () => {
  const desired = await load(MANIFEST);
  account.emulator.setFaults([
    { method: "PUT", path: "/_upload/*", effect: { type: "slow-headers", delayMilliseconds: 300_000 } },
  ]);
  const plan = await account.plan(desired, { uploadTimeoutSeconds: 1 });
  const report = await account.apply(plan, { clock: HASTY_CLOCK });
  const upload = report.steps.find(({ step }) => step === "upload image/golden");
  expect(upload).toMatchObject({ outcome: "failed", failure: { type: "unavailable" } });
  const text = renderReportText(report, plan, { colour: false }).replace(/\s+/g, " ");
  expect(text).toContain("given up after 1 s");
  expect(text).toContain("--upload-timeout");
});

test("the emulator tells its own time, wherever its clock is moved", async () => {
  await advance(10 * HOUR_SECONDS);
  const answer = await account.api.list({ path: ["images"] });
  if (!answer.ok) throw new Error(answer.failure.message);
  const ahead = (answer.servedMilliseconds ?? 0) - Date.now();
  expect(Math.round(ahead / (HOUR_SECONDS * 1000))).toBe(10);
});

test("of several unfinished uploads of one label the oldest is meant, in whatever order the service lists them", async () => {
  const images = ["private/12", "private/9", "private/10"].map((id) => {
    return { id, label: "golden", description: "[tenon:me]", status: "pending_upload" as const };
  });
  const listing = await Account.open({ seed: { images } });
  try {
    const manifest =
      "tenon: 1\nowner: me\nimages: [{ label: golden, upload: { file: image.img.gz, region: us-east } }]";
    const { desired } = await listing.load({ "tenon.yaml": manifest, "image.img.gz": gzipSync("disk") });
    if (desired === null) throw new Error("it does not load");
    const live = (await listing.list("images")).filter(({ id }) => String(id).startsWith("private/"));
    expect(live).toHaveLength(3);
    for (const items of [live, live.toReversed()]) {
      const units: Live["units"] = { image: { items, total: items.length } };
      const { changes } = makePlan(desired, { units }, allUnits, OPTIONS);
      expect(changes.map(({ id, action }) => [id, action])).toEqual([
        ["private/9", "update"],
        ["private/10", "delete"],
        ["private/12", "delete"],
      ]);
    }
  } finally {
    await listing.close();
  }
});

const OPTIONS: PlanOptions = {
  ...{ goal: "apply", nowMilliseconds: 0, targets: [], excludes: [], consents: [], maxChanges: null },
  ...{ takeOwnershipFrom: [], account: null, clone: true },
};
