/** Images whose content is tracked: a changed file under the same label is a replace that a killed run leaves recognisable. */

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Consent, type Desired, findUnreviewed, type Plan, type PlanRequest } from "../../../src/index.ts";
import { contentsInside } from "../../../src/manifest/read.ts";
import { renderPlanText } from "../../../src/render/index.ts";
import { contentOfImage } from "../../../src/units/image/live.ts";
import { Account, changeList, HASTY_CLOCK } from "../../support/account.ts";

const FILE = "image.img.gz";
const [OLD, NEW, NEWER] = ["old", "new", "newer"].map((text) => gzipSync(text)) as [Buffer, Buffer, Buffer];
const REPLACE: Consent = { rule: "replace", address: "image/golden-1", until: null, reason: null, span: null };

let account: Account;
beforeEach(async () => {
  account = await Account.open();
});
afterEach(() => account.close());

async function load(keys: string, content: Buffer, label = "golden-1"): Promise<Desired> {
  const entry = `{ label: ${label}${keys}, upload: { file: ${FILE}, region: us-east } }`;
  const files = { "tenon.yaml": `tenon: 1\nowner: me\nimages: [${entry}]\n`, [FILE]: content };
  const { desired, diagnostics } = await account.load(files);
  if (desired === null) throw new Error(JSON.stringify(diagnostics));
  return desired;
}

const TRACKED = ", track: content";
const IN_FAMILY = ", track: content, family: golden, keep: 2";

function plan(desired: Desired, options: Partial<PlanRequest> = {}): Promise<Plan> {
  return account.plan(desired, { contentOf: contentsInside(account.folder), ...options });
}

/** Applies what is left when only consents that are given count; fails if a guard stops it. */
async function apply(made: Plan): Promise<void> {
  expect(made.guards.filter(({ consent }) => consent !== "given")).toEqual([]);
  const report = await account.apply(made, { clock: HASTY_CLOCK });
  expect(report.steps.filter(({ outcome }) => outcome !== "done")).toEqual([]);
}

function hash(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex").slice(0, 16);
}

/** The descriptions of all images, sorted. */
async function descriptions(): Promise<unknown[]> {
  return (await account.list("images")).map(({ description }) => description).sort();
}

/** An image that is there, as a run with this content would have made it. */
async function make(content: Buffer | null, label = "golden-1", words = ""): Promise<string> {
  const tag = content === null ? "[tenon:me]" : `[tenon:me sha256:${hash(content)}]`;
  const body = { label, region: "us-east", description: `${words}${tag}` };
  const answer = await account.api.send({ method: "POST", path: ["images", "upload"], body });
  if (!answer.ok) throw new Error(answer.failure.message);
  const { image, upload_to } = answer.body as { image: { id: string }; upload_to: string };
  const headers = { "content-type": "application/octet-stream" };
  expect((await fetch(upload_to, { method: "PUT", headers, body: gzipSync("x") })).ok).toBe(true);
  await expect
    .poll(async () => (await account.list("images")).every(({ status }) => status === "available"))
    .toBe(true);
  return image.id;
}

describe("with `track: content`", () => {
  test("the hash is in the tag, and no plan shows the tag", async () => {
    const desired = await load(`, description: Words${TRACKED}`, OLD);
    await apply(await plan(desired));
    expect(await descriptions()).toEqual([`Words [tenon:me sha256:${hash(OLD)}]`]);
    const again = await plan(desired);
    expect(changeList(again)).toEqual([]);
    expect(again.leftAlone).toEqual([]);
    const other = await plan(await load(`, description: Other${TRACKED}`, OLD));
    expect(changeList(other)).toEqual(["update image/golden-1"]);
    expect(renderPlanText(other, { colour: false })).not.toContain("tenon:");
    await apply(other);
    expect(await descriptions()).toEqual([`Other [tenon:me sha256:${hash(OLD)}]`]);
  });

  test("an image that is pruned while one is made of the same file is a likely rename, and of another file none", async () => {
    await make(OLD);
    const renamed = await plan(await load(TRACKED, OLD, "base"));
    expect(changeList(renamed)).toEqual(["create image/base", "delete image/golden-1"]);
    expect(renamed.warnings).toMatchObject([
      { code: "likely-rename", address: "image/base", fix: expect.stringContaining('`moved_from: "golden-1"`') },
    ]);
    const moved = await plan(await load(`${TRACKED}, moved_from: golden-1`, OLD, "base"));
    expect(changeList(moved)).toEqual(["update image/base"]);
    expect(moved.warnings).toEqual([]);
    expect((await plan(await load(TRACKED, NEW, "base"))).warnings).toEqual([]);
    await make(OLD, "golden-2");
    expect((await plan(await load(TRACKED, OLD, "base"))).warnings).toEqual([]);
  });

  test("a changed file is a replace with consent: made first, the old one deleted last", async () => {
    await apply(await plan(await load(TRACKED, OLD)));
    const desired = await load(TRACKED, NEW);
    const refused = await plan(desired);
    expect(changeList(refused)).toEqual(["replace image/golden-1"]);
    expect(refused.guards).toMatchObject([{ rule: "replace", address: "image/golden-1", consent: "missing" }]);
    expect(refused.steps.map(({ id }) => id)).toEqual([
      "create image/golden-1",
      "upload image/golden-1",
      "wait for image/golden-1",
      "check image/golden-1",
      "delete image/golden-1",
    ]);
    expect(renderPlanText(refused, { colour: false })).toContain(
      `content  # forces replacement\n      - "sha256:${hash(OLD)}"\n      + "sha256:${hash(NEW)}"\n`,
    );
    await apply(await plan(desired, { consents: [REPLACE] }));
    expect(await descriptions()).toEqual([`[tenon:me sha256:${hash(NEW)}]`]);
    expect(changeList(await plan(desired))).toEqual([]);
  });

  test("within a family `keep` is the consent, and `protect` beats it", async () => {
    await apply(await plan(await load(IN_FAMILY, OLD)));
    const changed = await plan(await load(IN_FAMILY, NEW));
    expect(changed.changes).toMatchObject([{ action: "replace", labels: ["retire"] }]);
    expect(changed.guards).toEqual([]);
    const kept = await plan(await load(`${IN_FAMILY}, protect: true`, NEW));
    expect(kept.guards).toMatchObject([{ rule: "protect", address: "image/golden-1", consent: "impossible" }]);
    await apply(await plan(await load(IN_FAMILY, NEW)));
    expect(await descriptions()).toEqual([`[tenon:me sha256:${hash(NEW)}]`]);
  });

  test("an image of a former label whose file has changed is not one of the family: `replace` is asked for", async () => {
    await apply(await plan(await load(IN_FAMILY, OLD)));
    const found = await plan(await load(`, moved_from: golden-1${IN_FAMILY}`, NEW, "golden-2"));
    expect(changeList(found)).toEqual(["replace image/golden-2"]);
    expect(found.guards).toMatchObject([{ rule: "replace", address: "image/golden-1", consent: "missing" }]);
  });

  test("an image that was made before has no hash: it stays as it is, and the plan says so", async () => {
    await apply(await plan(await load("", OLD)));
    const desired = await load(TRACKED, NEW);
    const unknown = await plan(desired);
    expect(changeList(unknown)).toEqual([]);
    expect(unknown.leftAlone).toEqual([{ kind: "image", count: 1, reason: "content-unknown" }]);
    expect(await descriptions()).toEqual(["[tenon:me]"]);
  });

  test("without `track` any more, or without an owner, the hash goes out of the tag", async () => {
    await apply(await plan(await load(TRACKED, OLD)));
    const untracked = await plan(await load("", OLD));
    expect(changeList(untracked)).toEqual(["update image/golden-1"]);
    await apply(untracked);
    expect(await descriptions()).toEqual(["[tenon:me]"]);
  });

  test("an entry without an upload leaves the hash alone, and `removed` takes it off with the tag", async () => {
    await apply(await plan(await load(TRACKED, OLD)));
    const found = await account.load("tenon: 1\nowner: me\nimages: [{ label: golden-1 }]\n");
    expect(changeList(await plan(found.desired as Desired))).toEqual([]);
    const { desired } = await account.load("tenon: 1\nowner: me\nremoved: [{ image: golden-1, destroy: false }]\n");
    await apply(await plan(desired as Desired));
    expect(await descriptions()).toEqual([null]);
  });
});

describe("a run that was killed between the new image and the delete of the old one", () => {
  test("is completed by the next one, with the consent to the replace", async () => {
    const old = await make(OLD);
    await make(NEW);
    const desired = await load(TRACKED, NEW);
    const refused = await plan(desired);
    expect(refused.changes.filter(({ action }) => action !== "no-op")).toMatchObject([
      { action: "delete", id: old, labels: ["superseded"], replacedBy: "image/golden-1" },
    ]);
    expect(refused.guards).toMatchObject([{ rule: "replace", address: "image/golden-1", consent: "missing" }]);
    await apply(await plan(desired, { consents: [REPLACE] }));
    expect(await descriptions()).toEqual([`[tenon:me sha256:${hash(NEW)}]`]);
  });

  test("is completed within a family by its `keep`", async () => {
    await make(OLD);
    await make(NEW);
    const desired = await load(IN_FAMILY, NEW);
    const rest = await plan(desired);
    expect(rest.changes.filter(({ action }) => action === "delete")).toMatchObject([{ labels: ["retire"] }]);
    await apply(rest);
    expect(await descriptions()).toEqual([`[tenon:me sha256:${hash(NEW)}]`]);
    expect(changeList(await plan(desired))).toEqual([]);
  });

  test("is completed by a plan that was reviewed since, not by the one that showed the new image to be made", async () => {
    await apply(await plan(await load(TRACKED, OLD)));
    const desired = await load(TRACKED, NEW);
    const reviewed = await plan(desired, { consents: [REPLACE] });
    await make(NEW);
    const rest = await plan(desired, { consents: [REPLACE] });
    expect(changeList(rest)).toEqual(["delete image/golden-1:private%2F5000001"]);
    // Somebody else may have made the new one, for all that the account says.
    expect(findUnreviewed(rest, reviewed)).toEqual(rest.changes.filter(({ action }) => action === "delete"));
    await make(NEWER);
    const other = await plan(desired, { consents: [REPLACE] });
    expect(findUnreviewed(other, rest).map(({ address }) => address)).toEqual(["image/golden-1:private%2F5000003"]);
  });

  test("and whose file has changed once more is made anew from the newest; both outdated ones go", async () => {
    await make(OLD);
    await make(NEW);
    const desired = await load(TRACKED, NEWER);
    const made = await plan(desired, { consents: [REPLACE] });
    expect(changeList(made)).toEqual(["replace image/golden-1", "delete image/golden-1:private%2F5000001"]);
    await apply(made);
    expect(await descriptions()).toEqual([`[tenon:me sha256:${hash(NEWER)}]`]);
  });

  test("keeps what is back: a file that is the old one again is met by the old image", async () => {
    const old = await make(OLD);
    await make(NEW);
    const desired = await load(TRACKED, OLD);
    await apply(await plan(desired, { consents: [REPLACE] }));
    expect(await account.list("images")).toMatchObject([{ id: old }]);
  });

  test("leaves a protected image alone until it is not protected any more", async () => {
    await make(OLD);
    await make(NEW);
    const kept = await plan(await load(`${TRACKED}, protect: true`, NEW), { consents: [REPLACE] });
    expect(kept.guards.map(({ rule, consent }) => [rule, consent])).toContainEqual(["protect", "impossible"]);
  });

  test("is destroyed with both images", async () => {
    await make(OLD);
    await make(NEW);
    const gone = await plan(await load(TRACKED, NEW), { goal: "destroy" });
    await apply(gone);
    expect(await descriptions()).toEqual([]);
  });

  test("is told apart from an image that nobody here made: without a hash, it could be anything", async () => {
    await make(null);
    await make(NEW);
    const found = await plan(await load(TRACKED, NEW), { consents: [REPLACE] });
    expect(found.guards).toMatchObject([
      { rule: "delete", address: "image/golden-1:private%2F5000001", consent: "missing" },
    ]);
  });

  test("leaves two images that no hash tells apart as ambiguous as they are", async () => {
    await make(null);
    await make(OLD);
    const found = await plan(await load(TRACKED, NEW));
    expect(found.changes[0]?.blocked?.type).toBe("ambiguous");
    expect(found.steps).toEqual([]);
  });
});

test("while another run uploads the changed file, the replace waits for it", async () => {
  await make(OLD);
  const body = { label: "golden-1", region: "us-east", description: `[tenon:me sha256:${hash(NEW)}]` };
  await account.api.send({ method: "POST", path: ["images", "upload"], body });
  const desired = await load(TRACKED, NEW);
  const waiting = await plan(desired, { consents: [REPLACE] });
  expect(waiting.steps).toEqual([]);
  expect(waiting.changes.find(({ address }) => address === "image/golden-1")?.blocked?.type).toBe("upload-in-progress");
  await account.advanceClock(2 * 3600);
  const free = await plan(desired, { consents: [REPLACE] });
  await apply(free);
  expect(await descriptions()).toEqual([`[tenon:me sha256:${hash(NEW)}]`]);
});

test("an upload that was begun and given up is within the plan that was to make it, and no other one is", async () => {
  await make(OLD);
  const desired = await load(TRACKED, NEW);
  const reviewed = await plan(desired);
  const begin = (content: Buffer) => {
    const body = { label: "golden-1", region: "us-east", description: `[tenon:me sha256:${hash(content)}]` };
    return account.api.send({ method: "POST", path: ["images", "upload"], body });
  };
  await begin(NEW);
  await account.advanceClock(2 * 3600);
  const rest = await plan(desired);
  expect(changeList(rest)).toEqual(["replace image/golden-1", "delete image/golden-1:private%2F5000002"]);
  expect(findUnreviewed(rest, reviewed)).toEqual([]);
  await begin(NEWER);
  await account.advanceClock(2 * 3600);
  const others = findUnreviewed(await plan(desired), reviewed);
  expect(others.map(({ address }) => address)).toEqual(["image/golden-1:private%2F5000003"]);
});

test("a hash in the tag of somebody else is no consent: the image is refused as it is without one", async () => {
  const body = { label: "golden-1", region: "us-east", description: `[tenon:you sha256:${hash(NEW)}]` };
  await account.api.send({ method: "POST", path: ["images", "upload"], body });
  expect((await plan(await load(TRACKED, NEW))).refusals.map(({ code }) => code)).toEqual(["foreign-owner"]);
});

test.each([5, {}, "abc", [5, { a: 1 }], true, null])(
  "capabilities that a service gives as %j are no reason to fail",
  (capabilities) => {
    const image = { id: "private/1", label: "g", description: "", status: "available", size: 1, capabilities };
    expect(contentOfImage(image as never)).toMatchObject({ label: "g", capabilities: expect.any(Array) });
  },
);
