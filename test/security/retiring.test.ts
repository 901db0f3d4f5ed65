/** Images go without a further consent for newer ones: `keep` is the consent, and it holds for no other image. */

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { contentsInside } from "../../src/manifest/read.ts";
import { here as run } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { Account, changeList, HASTY_CLOCK } from "../support/account.ts";
import { writeInto } from "../support/files.ts";

const [OLD, NEW] = ["old", "new"].map((text) => gzipSync(text)) as [Buffer, Buffer];
const [TAG, NEW_TAG] = [OLD, NEW].map((content) => `[tenon:me sha256:${hash(content)}]`) as [string, string];

function hash(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex").slice(0, 16);
}

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

test("an image that is pruned or removed is not deleted once another project has taken it over while new ones were made", async () => {
  const files = {
    "tenon.yaml": `tenon: 1
owner: me
images: [{ label: golden-2, upload: { file: i.img.gz, region: us-east } }]
removed: [{ image: by-hand }]
allow: [{ delete: image/golden-1 }, { delete: image/by-hand }]
`,
    "i.img.gz": NEW,
  };
  const byHand = { label: "by-hand", region: "us-east" };
  const made = await account.api.send({ method: "POST", path: ["images", "upload"], body: byHand });
  const upload = made.ok ? (made.body as { upload_to: string }).upload_to : "";
  await fetch(upload, { method: "PUT", headers: { "content-type": "application/octet-stream" }, body: OLD });
  await expect
    .poll(async () => (await account.list("images")).at(-1), { timeout: 20_000 })
    .toMatchObject({ status: "available" });
  const { desired } = await account.load(files);
  const plan = await account.plan(desired as never, { contentOf: contentsInside(account.folder) });
  expect(changeList(plan)).toEqual(["delete image/by-hand", "delete image/golden-1", "create image/golden-2"]);
  for (const { id, action } of plan.changes) {
    if (action !== "delete") continue;
    const body = { description: "[tenon:other]" };
    expect((await account.api.send({ method: "PUT", path: ["images", String(id)], body })).ok).toBe(true);
  }
  const report = await account.apply(plan, { clock: HASTY_CLOCK });
  const outcomes = report.steps.map(({ step, outcome }) => `${step}: ${outcome}`);
  for (const label of ["golden-1", "by-hand"])
    expect(outcomes).toEqual(
      expect.arrayContaining([`check image/${label}: failed`, `delete image/${label}: skipped`]),
    );
  expect(await account.list("images")).toHaveLength(3);
});

const ROOT = `tenon: 1
owner: me
environments:
  staging: { variables: { file: staging, number: "5", former: none, id: "2" } }
  production: { variables: { file: production, number: "9", former: golden-8, id: "1" } }
variables: { file: { default: staging }, number: { default: "5" }, former: { default: none }, id: { default: "2" } }
files: [more.yaml]
`;

async function project(files: Readonly<Record<string, string>>): Promise<string> {
  const cwd = await folder({ "tenon.yaml": ROOT, "values.json": '{ "number": "5" }', ...files });
  await writeInto(cwd, { "staging.img.gz": NEW, "production.img.gz": OLD });
  return cwd;
}

function image(id: number, label: string, description = "[tenon:me]") {
  return { id: `private/${id}`, label, description, created: `2026-10-0${id}T00:00:00` };
}

const TRACKED =
  'label: golden-1, family: golden, keep: 3, track: content, upload: { file: "${var.file}.img.gz", region: us-east }';
const LABELLED = 'label: "golden-${var.number}", family: golden, keep: 1';
const IDENTIFIED = 'label: "golden-x${var.number}", id: "private/${var.id}", family: golden, keep: 1';

/** How production means the image that staging would retire. */
const MEANT = [
  ["another file under one label", TRACKED, [image(1, "golden-1", TAG)], []],
  ["what a killed replace has left", TRACKED, [image(1, "golden-1", TAG), image(2, "golden-1", NEW_TAG)], []],
  ["a former label", `${LABELLED}, moved_from: "\${var.former}"`, [image(1, "golden-8"), image(2, "golden-5")], []],
  ["its id", IDENTIFIED, [image(1, "golden-1"), image(2, "golden-2")], []],
  ["a variable that is given here", LABELLED, [image(1, "golden-9"), image(2, "golden-5")], ["--var", "number=5"]],
  ["a file of variables", LABELLED, [image(1, "golden-9"), image(2, "golden-5")], ["--var-file", "values.json"]],
] as const;

test("an image is not retired that another environment declares by another file, a former label, its id, or a variable that has another value there", async () => {
  for (const [how, entry, images, args] of MEANT) {
    const service = await emulator({ seed: { images } });
    const cwd = await project({ "more.yaml": `tenon: 1\nimages: [{ ${entry} }]\n` });
    const { code, stderr } = await run(["apply", "--yes", "--env", "staging", ...args], { cwd, env: envOf(service) });
    expect([how, code]).toEqual([how, 4]);
    expect(stderr.replace(/\s+/g, " ")).toMatch(
      /error\[retired-elsewhere\]: \S+ would be retired, and the environment `production` declares it/,
    );
    expect(service.requests.every(({ method }) => method === "GET")).toBe(true);
  }
});

test("an image is not retired in an environment if the project declares it without one", async () => {
  const service = await emulator({ seed: { images: [image(1, "golden-5"), image(2, "golden-9")] } });
  const cwd = await project({ "more.yaml": `tenon: 1\nimages: [{ ${LABELLED} }]\n` });
  const { code, stderr } = await run(["apply", "--yes", "--env", "production"], { cwd, env: envOf(service) });
  expect(code).toBe(4);
  expect(stderr.replace(/\s+/g, " ")).toContain(
    "image/golden-5 would be retired, and the environment `staging` and the project without --env declare it",
  );
  expect(service.requests.every(({ method }) => method === "GET")).toBe(true);
});

test("an image that somebody else has made with the project's tag is named where it displaces an older one, and lists say who made it", async () => {
  const tokens = [
    { token: "emulator-token" },
    { token: "alice", username: "alice", scopes: ["images:read_write"], grants: {} },
  ];
  const service = await emulator({
    seed: { tokens, images: [image(1, "golden-1"), image(2, "golden-2")] } as never,
    readsUntilAvailable: { creating: 1, pendingUpload: 0 },
  });
  const options = {
    cwd: await folder({
      "tenon.yaml": `tenon: 1\nowner: me\nimages: [{ label: golden-2, family: golden, keep: 2 }]\n`,
    }),
    env: envOf(service),
  };
  const headers = { authorization: "Bearer alice", "content-type": "application/json" };
  const body = JSON.stringify({ label: "golden-x", region: "us-east", description: "[tenon:me]" });
  const made = await fetch(`${service.baseUrl}/images/upload`, { method: "POST", headers, body });
  const { upload_to } = (await made.json()) as { upload_to: string };
  const sent = { method: "PUT", headers: { "content-type": "application/octet-stream" }, body: NEW };
  expect((await fetch(upload_to, sent)).status).toBe(200);
  const list = async () => JSON.parse((await run(["list", "images", "--format", "json"], options)).stdout).images;
  await expect.poll(async () => (await list()).at(-1)).toMatchObject({ label: "golden-x", status: "available" });
  const plan = await run(["plan"], options);
  expect(plan.stdout.replace(/ +/g, " ")).toMatch(
    /\n golden-x today .*\n golden-2 .* declared\n - golden-1 .* retire\n/,
  );
  const makers = (await list()).map(({ label, created_by }: Record<string, unknown>) => [label, created_by]);
  expect(makers).toEqual([
    ["golden-1", "emulator"],
    ["golden-2", "emulator"],
    ["golden-x", "alice"],
  ]);
  expect((await run(["list", "images"], options)).stdout).toMatch(/MADE BY.*golden-x .* alice\s/s);
});
