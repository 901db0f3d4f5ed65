/** Image families: what a run retires, in every kind of run, and what it must never. */

import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Desired, findChangedSince, findUnreviewed, type Plan, parsePlanFile } from "../../../src/index.ts";
import { driftOf } from "../../../src/plan/drift.ts";
import { renderPlanJson, renderPlanMarkdown, renderPlanText } from "../../../src/render/index.ts";
import { Account, changeList, HASTY_CLOCK } from "../../support/account.ts";

const DAY_SECONDS = 86_400;

let account: Account;
beforeEach(async () => {
  account = await Account.open({ seed: { disks: [{ id: 1, label: "root", size: 2_400 }] } });
});
afterEach(() => account.close());

async function load(images: string, more = ""): Promise<Desired> {
  const files = { "tenon.yaml": `tenon: 1\nowner: me\nimages: [${images}]\n${more}`, "image.img.gz": gzipSync("disk") };
  const { desired, diagnostics } = await account.load(files);
  if (desired === null) throw new Error(JSON.stringify(diagnostics));
  return desired;
}

function month(number: number, keep = 2): string {
  return `{ label: golden-${number}, family: golden, keep: ${keep}, upload: { file: image.img.gz, region: us-east } }`;
}

async function apply(plan: Plan) {
  const report = await account.apply(plan, { clock: HASTY_CLOCK });
  return report.steps.filter(({ outcome }) => outcome !== "done").map(({ step, outcome }) => `${step}: ${outcome}`);
}

async function roll(number: number): Promise<void> {
  expect(await apply(await account.plan(await load(month(number))))).toEqual([]);
  await account.advanceClock(DAY_SECONDS * 30);
}

async function labels(): Promise<unknown[]> {
  return (await account.list("images")).map(({ label }) => label).sort();
}

/** What somebody with our tag makes beside the project. */
async function make(label: string): Promise<string> {
  const body = { disk_id: 1, label, description: "[tenon:me]" };
  const answer = await account.api.send({ method: "POST", path: ["images"], body });
  if (!answer.ok) throw new Error(answer.failure.message);
  await expect
    .poll(async () => (await account.list("images")).every(({ status }) => status === "available"))
    .toBe(true);
  return String((answer.body as { id: string }).id);
}

async function change(id: string, body: Record<string, string>): Promise<void> {
  const answer = await account.api.send({ method: "PUT", path: ["images", id], body });
  if (!answer.ok) throw new Error(answer.failure.message);
}

test("month by month the newest two stay, and there is nothing to do between", async () => {
  for (const number of [1, 2, 3, 4]) await roll(number);
  expect(await labels()).toEqual(["golden-3", "golden-4"]);
  expect(changeList(await account.plan(await load(month(4))))).toEqual([]);
});

describe("a run that is narrowed to what has changed", () => {
  test("retires with the entry that is new, and leaves a family alone that is declared as before", async () => {
    for (const number of [1, 2]) await roll(number);
    const before = await load(month(2));
    const desired = await load(month(3));
    const changedSince = findChangedSince("main", desired, before);
    expect(changedSince.addresses).toEqual(["image/golden-2", "image/golden-3"]);
    const rolled = await account.plan(desired, { changedSince });
    expect(changeList(rolled)).toEqual(["delete image/golden-1", "create image/golden-3"]);
    expect(rolled.families).toHaveLength(1);
    await make("golden-0");
    const same = { ...findChangedSince("main", before, before), addresses: ["image/golden-x"] };
    const unrelated = await account.plan(before, { changedSince: same });
    expect(changeList(unrelated)).toEqual([]);
    expect(unrelated.families).toEqual([]);
  });

  test("does not count an image that only a later run makes", async () => {
    for (const number of [1, 2]) await roll(number);
    const both = await load(`${month(3)}, ${month(4)}`);
    const changedSince = { name: "main", addresses: ["image/golden-4"] };
    expect(changeList(await account.plan(both, { changedSince }))).toEqual([
      "delete image/golden-1",
      "create image/golden-4",
    ]);
    expect(changeList(await account.plan(both))).toEqual([
      "delete image/golden-1",
      "delete image/golden-2",
      "create image/golden-3",
      "create image/golden-4",
    ]);
  });

  test("keeps what a family keeps whose one entry only a later run makes", async () => {
    for (const label of ["golden-1", "golden-2"]) await make(label);
    const images = "{ label: golden-9, family: golden, keep: 2, capture: { disk_id: 1 } }";
    const before = await load(`${images}, { label: golden-1, capture: { disk_id: 1 } }`);
    const desired = await load(images);
    const narrowed = { name: "main", addresses: ["image/golden-1", "image/golden-2"] };
    expect(changeList(await account.plan(desired, { changedSince: narrowed }))).toEqual([]);
    // What the change sets free goes by the entry of the family, and with what it brings.
    const plan = await account.plan(desired, { changedSince: findChangedSince("main", desired, before) });
    expect(plan.inputs.changedSince?.affected).toEqual(["image/golden-2", "image/golden-9"]);
    expect(changeList(plan)).toEqual(["delete image/golden-1", "create image/golden-9"]);
    expect(changeList(await account.plan(desired))).toEqual(changeList(plan));
  });

  test("looks at a tracked image whether its entry has changed or not: git does not say what the file holds", async () => {
    const tracked = await load("{ label: a, track: content, upload: { file: image.img.gz, region: us-east } }");
    expect(findChangedSince("main", tracked, tracked).addresses).toEqual(["image/a"]);
  });
});

test("beside a base, what would be retired without the change is already pending", async () => {
  for (const number of [1, 2]) await roll(number);
  await make("golden-9");
  const before = await load(month(2));
  const plan = await account.plan(await load(month(3)), { base: { name: "main", desired: before } });
  const origins = plan.changes.flatMap(({ key, action, origin }) => (action === "no-op" ? [] : [[key, origin]]));
  expect(origins).toEqual([
    ["image/golden-1", "already-pending"],
    ["image/golden-2", "this-change"],
    ["image/golden-3", "this-change"],
  ]);
});

describe("a plan that was reviewed", () => {
  test("never lets go what it does not show, whatever somebody has made since", async () => {
    for (const number of [1, 2]) await roll(number);
    const desired = await load(month(3));
    const reviewed = await account.plan(desired);
    expect(findUnreviewed(await account.plan(desired), reviewed)).toEqual([]);
    await make("golden-late");
    const late = await account.plan(desired);
    expect(changeList(late)).toEqual(["delete image/golden-1", "delete image/golden-2", "create image/golden-3"]);
    expect(findUnreviewed(late, reviewed).map(({ address }) => address)).toEqual(["image/golden-2"]);
  });

  test("does not cover another image of the label that it shows", async () => {
    for (const number of [1, 2]) await roll(number);
    const desired = await load(month(3));
    const reviewed = await account.plan(desired);
    const [first] = (await account.list("images")).filter(({ label }) => label === "golden-1");
    await account.api.send({ method: "DELETE", path: ["images", String(first?.["id"])] });
    await make("golden-1");
    const now = await account.plan(desired);
    expect(findUnreviewed(now, reviewed).map(({ address }) => address)).toEqual(["image/golden-2"]);
  });

  test("is read back as it was, with its families", async () => {
    for (const number of [1, 2]) await roll(number);
    const plan = await account.plan(await load(month(3)));
    const read = await parsePlanFile(renderPlanJson(plan));
    expect(read).toMatchObject({ ok: true, plan: { families: plan.families } });
  });

  test("of a version that knew no families is read as one without any", async () => {
    const { families: _, ...old } = await account.plan(await load(month(3)));
    const read = await parsePlanFile(renderPlanJson({ ...old, families: [] }));
    expect(read).toMatchObject({ ok: true, plan: { families: [] } });
  });
});

describe("between the plan and the delete", () => {
  test.each([
    ["was renamed", { label: "keepsake" }],
    ["lost our tag", { description: "ours no more" }],
  ])("an image that %s is not deleted", async (_, body) => {
    for (const number of [1, 2]) await roll(number);
    const plan = await account.plan(await load(month(3)));
    const [first] = (await account.list("images")).filter(({ label }) => label === "golden-1");
    await change(String(first?.["id"]), body);
    expect(await apply(plan)).toEqual(["check image/golden-1: failed", "delete image/golden-1: skipped"]);
    expect(await labels()).toContain("label" in body ? body.label : "golden-1");
  });

  test("an image that another run has retired is done", async () => {
    for (const number of [1, 2]) await roll(number);
    const plan = await account.plan(await load(month(3)));
    expect(await apply(await account.plan(await load(month(3))))).toEqual([]);
    expect((await apply(plan)).filter((text) => text.includes("golden-1"))).toEqual([]);
  });

  test("nothing is retired if the new image fails", async () => {
    for (const number of [1, 2]) await roll(number);
    const plan = await account.plan(await load(month(3)));
    const report = await account.apply(plan, { clock: HASTY_CLOCK, root: "/nowhere" });
    const outcomes = new Map(report.steps.map(({ step, outcome }) => [step, outcome]));
    expect(outcomes.get("upload image/golden-3")).toBe("failed");
    expect(outcomes.get("delete image/golden-1")).toBe("skipped");
    expect(await labels()).toEqual(["golden-1", "golden-2", "golden-3"]);
  });
});

test("drift counts an image that a family would retire, and none that it keeps", async () => {
  for (const number of [1, 2]) await roll(number);
  const desired = await load(month(2));
  expect(driftOf(await account.plan(desired)).objects).toEqual([]);
  await make("golden-late");
  const { objects } = driftOf(await account.plan(desired));
  expect(objects).toMatchObject([{ address: "image/golden-1", status: "unexpected", labels: ["retire"] }]);
});

test("a plan shows the family as one block, newest first, with ages and sizes", async () => {
  await make("golden-big");
  await account.advanceClock(DAY_SECONDS * 400);
  for (const number of [1, 2]) await roll(number);
  await make("golden-late");
  const desired = await load(month(3, 3));
  const plan = await account.plan(desired);
  const text = renderPlanText(plan, { colour: false });
  expect(text).toContain("Family golden: the newest 3 stay.\n");
  expect(text).toMatch(
    / {2}\+ golden-3 +to be made\n {4}golden-late +today {2}1\.8 GB\n {4}golden-2 +30 days +\d+ MB\n {2}- golden-1 +60 days +\d+ MB {2}retire\n/,
  );
  expect(renderPlanMarkdown(plan)).toContain("Family golden: the newest 3 stay.");
  const quiet = await account.plan(await load(month(2, 9)));
  expect(renderPlanText(quiet, { colour: false })).not.toContain("Family");
});

test("labels of images are shown escaped: what the service says is untrusted", async () => {
  const hostile = await Account.open({
    seed: {
      images: [{ label: "golden-\u001b[31m\u202e1", description: "[tenon:me]", created: "2020-01-01T00:00:00" }],
    },
  });
  try {
    const { desired } = await hostile.load(
      "tenon: 1\nowner: me\nimages: [{ label: golden-2, family: golden, keep: 1, capture: { disk_id: 1 } }]\n",
    );
    const plan = await hostile.plan(desired as Desired);
    for (const text of [renderPlanText(plan, { colour: false }), renderPlanMarkdown(plan), renderPlanJson(plan)]) {
      expect(text).not.toContain("\u001b");
      expect(text).not.toContain("\u202e");
    }
  } finally {
    await hostile.close();
  }
});

test("1,200 images over several pages are ranked by one list", async () => {
  const many = await Account.open({
    seed: {
      images: Array.from({ length: 1_200 }, (_, index) => ({
        label: `golden-${index}`,
        description: "[tenon:me]",
        created: new Date(Date.UTC(2020, 0, 1 + ((index * 7) % 1_200))).toISOString().slice(0, 19),
      })),
    },
  });
  try {
    const { desired } = await many.load(
      "tenon: 1\nowner: me\nimages: [{ label: golden-0, family: golden, keep: 200 }]\n",
    );
    many.takeRequests();
    const plan = await many.plan(desired as Desired);
    expect(many.takeRequests().filter((request) => !request.startsWith("GET /images"))).toEqual([
      "GET /vpcs",
      "GET /domains",
    ]);
    const retired = plan.changes.filter(({ labels: words }) => words.includes("retire"));
    expect(retired).toHaveLength(1_000);
    const fates = plan.families[0]?.members.map(({ fate }) => fate) ?? [];
    // The declared one is the oldest of all, and takes a place all the same.
    expect(fates.slice(0, 199).every((fate) => fate === "kept")).toBe(true);
    expect(fates.at(-1)).toBe("declared");
  } finally {
    await many.close();
  }
});
