/** Accounts, files and projects that somebody changes between the review of a plan and its apply. */

import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import { here as run } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { faults } from "../cli/stage.ts";
import { tested } from "../support/emulator.ts";
import { writes } from "./hostile.ts";

const IMAGES = `tenon: 1
owner: edge
images: [{ label: golden, upload: { file: g.img.gz, region: us-east } }]
`;

test("a file to upload that was replaced after the review, or between plan and upload, is not sent", async () => {
  const service = await emulator(faults("slow-headers=1000,method=POST"));
  const cwd = await folder({ "tenon.yaml": IMAGES });
  const options = { cwd, env: envOf(service) };
  const file = join(cwd, "g.img.gz");
  const good = gzipSync("good");
  await writeFile(file, good);
  expect((await run(["plan", "--out", "the.plan"], options)).code).toBe(0);
  await writeFile(file, gzipSync("evil"));
  service.clearRequests();
  const exchanged = await run(["apply", "--yes", "--plan", "the.plan"], options);
  expect(exchanged).toMatchObject({ code: 5, stderr: expect.stringContaining("create image/golden") });
  expect(writes(service)).toEqual([]);
  await writeFile(file, good);
  const applying = run(["apply", "--yes", "--plan", "the.plan"], options);
  await vi.waitFor(() => expect(writes(service)).not.toEqual([]), { timeout: 10_000 });
  await writeFile(file, gzipSync("evil"));
  expect(await applying).toMatchObject({ code: 6, stderr: expect.stringContaining("plan again") });
  expect(writes(service)).toEqual(["POST /v4/images/upload"]);
});

test("a zone that was filled after the review is not deleted with more records than the plan shows", async () => {
  const records = [1, 2].map((index) => ({ type: "A", name: `n${index}`, target: "192.0.2.1" }));
  const zone = {
    id: 9,
    domain: "x1.example",
    type: "master",
    soa_email: "a@x1.example",
    tags: ["tenon:edge"],
    records,
  };
  const service = await emulator({ seed: { domains: [zone] } as never });
  const cwd = await folder({ "tenon.yaml": "tenon: 1\nowner: edge\nremoved: [{ domain: x1.example }]\n" });
  const options = { cwd, env: envOf(service) };
  expect((await run(["plan", "--out", "the.plan"], options)).stdout).toContain("- domain x1.example and its 2 records");
  const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
  const body = JSON.stringify({ type: "A", name: "important", target: "192.0.2.9" });
  await fetch(`${service.baseUrl}/domains/9/records`, { method: "POST", headers, body });
  service.clearRequests();
  const filled = await run(["apply", "--yes", "--plan", "the.plan"], options);
  expect(filled).toMatchObject({ code: 5, stderr: expect.stringContaining("delete domain/x1.example") });
  expect(writes(service)).toEqual([]);
});

test("an upload that was finished after the review is not deleted with a plan that shows it as unfinished", async () => {
  const service = await emulator({ readsUntilAvailable: { creating: 1, pendingUpload: 0 } });
  const cwd = await folder({ "tenon.yaml": IMAGES });
  await writeFile(join(cwd, "g.img.gz"), gzipSync("good"));
  const options = { cwd, env: envOf(service) };
  const begun = { label: "golden", region: "us-east", description: "[tenon:edge]" };
  const { image, upload_to } = await send(service, "images/upload", begun);
  const review = ["plan", "--destroy", "--allow", "delete=image/golden", "--out", "the.plan"];
  expect((await run(review, options)).stdout).toContain("- image golden");
  const headers = { "content-type": "application/octet-stream" };
  expect((await fetch(String(upload_to), { method: "PUT", headers, body: gzipSync("good") })).status).toBe(200);
  const status = async () => (await send(service, `images/${(image as { id: string }).id}`))["status"];
  await vi.waitFor(async () => expect(await status()).toBe("available"));
  service.clearRequests();
  const late = await run(["destroy", "--yes", "--allow", "delete=image/golden", "--plan", "the.plan"], options);
  expect(late).toMatchObject({ code: 5, stderr: expect.stringContaining("delete image/golden") });
  expect(writes(service)).toEqual([]);
});

test("what somebody else makes after the review under the name of a create or a replace is not changed", async () => {
  const cwd = await folder({
    "tenon.yaml": `tenon: 1
vpcs: [{ label: prod, region: us-east, description: ours }]
domains: [{ domain: a.example, type: master, soa_email: us@a.example }]
`,
  });
  for (const [path, key, theirs] of [
    ["vpcs", "vpc/prod", { label: "prod", region: "us-east", description: "theirs" }],
    ["domains", "domain/a.example", { domain: "a.example", type: "master", soa_email: "them@a.example" }],
  ] as const) {
    const service = await emulator();
    const options = { cwd, env: envOf(service) };
    expect((await run(["plan", "--out", "the.plan"], options)).code).toBe(0);
    await send(service, path, theirs);
    service.clearRequests();
    const refused = await run(["apply", "--yes", "--plan", "the.plan"], options);
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining(`update ${key}`) });
    expect(writes(service)).toEqual([]);
  }
  for (const owner of ["", "owner: edge\n"]) {
    const description = owner === "" ? "old" : "old [tenon:edge]";
    const service = await emulator({
      seed: { vpcs: [{ id: 5, label: "prod", region: "us-east", description }] } as never,
    });
    const manifest = `tenon: 1\n${owner}vpcs: [{ label: prod, region: eu-west, description: ours }]\n`;
    const options = { cwd: await folder({ "tenon.yaml": manifest }), env: envOf(service) };
    const review = ["plan", "--allow", "replace=vpc/prod", "--out", "the.plan"];
    expect((await run(review, options)).stdout).toContain("-/+ vpc prod");
    await send(service, "vpcs/5", "DELETE");
    await send(service, "vpcs", { label: "prod", region: "eu-west", description: "theirs" });
    service.clearRequests();
    const refused = await run(["apply", "--yes", "--allow", "replace=vpc/prod", "--plan", "the.plan"], options);
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining("update vpc/prod") });
    expect(writes(service)).toEqual([]);
  }
});

test("what is within an object is not changed once another object has its name", async () => {
  const cwd = await folder({
    "tenon.yaml": `tenon: 1
vpcs: [{ label: prod, region: us-east, subnets: [{ label: web, ipv4: 10.0.1.0/24 }] }]
domains: [{ domain: a.example, type: master, soa_email: us@a.example, records: [{ type: A, name: new, target: 192.0.2.1 }] }]
`,
  });
  const VPC = { label: "prod", region: "us-east" };
  const DOMAIN = { domain: "a.example", type: "master", soa_email: "us@a.example" };
  for (const [path, key, ours, id] of [
    ["vpcs", "create vpc/prod/subnet/web", VPC, 101],
    ["domains", "create domain/a.example/new/A", DOMAIN, 30_001],
  ] as const) {
    const service = await emulator();
    const options = { cwd, env: envOf(service) };
    await send(service, path, ours);
    const target = `${path === "vpcs" ? "vpc/prod" : "domain/a.example"}`;
    expect((await run(["plan", "--target", target, "--out", "the.plan"], options)).stdout).toContain("1 to add");
    await send(service, `${path}/${id}`, "DELETE");
    await send(service, path, ours);
    service.clearRequests();
    const refused = await run(["apply", "--yes", "--plan", "the.plan"], options);
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining(key) });
    expect(writes(service)).toEqual([]);
  }
});

test("what is within an object is not changed once the tag is off that says whose it is, by an undo or a run of a part of it", async () => {
  const manifest = (target: string) => `tenon: 1
owner: edge
allow: [{ bulk: "**" }]
vpcs: [{ label: net, region: us-east, subnets: [{ label: ${target === "192.0.2.1" ? "web" : "app"}, ipv4: 10.0.0.0/24 }] }]
domains: [{ domain: a.example, type: master, soa_email: a@a.example, records: [{ type: A, name: www, target: ${target} }] }]
`;
  const service = await emulator();
  const cwd = await folder({ "tenon.yaml": manifest("192.0.2.1") });
  const go = (...args: string[]) => run(args, { cwd, env: envOf(service) });
  expect((await go("apply", "--yes")).code).toBe(0);
  await writeFile(join(cwd, "tenon.yaml"), manifest("192.0.2.2"));
  expect((await go("apply", "--yes", "--journal", "run.jsonl")).code).toBe(0);
  await go("undo", "run.jsonl", "--out", "undo.plan");
  await writeFile(join(cwd, "tenon.yaml"), manifest("192.0.2.3"));
  await go("plan", "--target", "domain/a.example/www/A", "--out", "part.plan");
  const { send } = tested(service);
  const [domain] = (await send("GET", "/domains")).body.data;
  const [vpc] = (await send("GET", "/vpcs")).body.data;
  await send("PUT", `/domains/${domain.id}`, { tags: [] });
  await send("PUT", `/vpcs/${vpc.id}`, { description: "" });
  service.clearRequests();
  for (const plan of ["undo.plan", "part.plan"])
    expect([plan, (await go("apply", "--yes", "--plan", plan)).code]).toEqual([plan, 5]);
  expect(writes(service)).toEqual([]);
});

test("what somebody has added to a list since the review is not taken out with it", async () => {
  const cwd = await folder({
    "tenon.yaml": `tenon: 1
domains: [{ domain: a.example, type: master, soa_email: us@a.example, axfr_ips: [192.0.2.1, 192.0.2.2] }]
`,
  });
  const service = await emulator();
  const options = { cwd, env: envOf(service) };
  const domain = {
    domain: "a.example",
    type: "master",
    soa_email: "us@a.example",
    axfr_ips: ["192.0.2.1", "192.0.2.9"],
  };
  await send(service, "domains", domain);
  expect((await run(["plan", "--out", "the.plan"], options)).stdout).toContain("axfr_ips");
  await send(service, "domains/30001", { axfr_ips: ["192.0.2.1", "192.0.2.9", "192.0.2.66"] }, "PUT");
  service.clearRequests();
  const refused = await run(["apply", "--yes", "--plan", "the.plan"], options);
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining("update domain/a.example") });
  expect(writes(service)).toEqual([]);
  // What was shown to go may go.
  await send(service, "domains/30001", { axfr_ips: ["192.0.2.9", "192.0.2.1"] }, "PUT");
  expect((await run(["apply", "--yes", "--plan", "the.plan"], options)).code).toBe(0);
});

test("of two objects that the plan shows as ambiguous, the one that is left is not deleted with that plan", async () => {
  const cwd = await folder({ "tenon.yaml": "tenon: 1\nremoved: [{ vpc: old }]\n" });
  const vpc = (id: number) => ({ id, label: "old", region: "us-east", description: `number ${id}` });
  for (const gone of [5, 6]) {
    const service = await emulator({ seed: { vpcs: [vpc(5), vpc(6)] } as never });
    const options = { cwd, env: envOf(service) };
    const review = await run(["plan", "--out", "the.plan"], options);
    expect(review.stdout).toContain("0 to destroy");
    await send(service, `vpcs/${gone}`, "DELETE");
    service.clearRequests();
    const refused = await run(["apply", "--yes", "--plan", "the.plan"], options);
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining("delete vpc/old") });
    expect(writes(service)).toEqual([]);
  }
});

test("the source of a clone that the plan shows is not deleted if somebody else has made a domain of the clone's name", async () => {
  for (const [owner, tags] of [
    ["", []],
    ["owner: edge\n", []],
    ["owner: edge\n", ["tenon:edge"]],
  ] as const) {
    const records = [{ type: "A", name: "", target: "192.0.2.1" }];
    const source = { domain: "old.example", type: "master", soa_email: "a@old.example", records };
    const seed = { domains: [{ ...source, ...(owner === "" ? {} : { tags: ["tenon:edge"] }) }] };
    const service = await emulator({ seed: seed as never });
    const manifest = `tenon: 1
${owner}removed: [{ domain: old.example }]
domains: [{ domain: new.example, create_from: { clone: old.example } }]
`;
    const options = { cwd: await folder({ "tenon.yaml": manifest }), env: envOf(service) };
    expect((await run(["plan", "--out", "the.plan"], options)).code).toBe(0);
    const theirs = { domain: "new.example", type: "master", soa_email: "them@new.example", tags };
    await send(service, "domains", theirs);
    service.clearRequests();
    const refused = await run(["apply", "--yes", "--plan", "the.plan"], options);
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining("delete domain/old.example") });
    const isAdopted = owner !== "" && tags.length === 0;
    expect(refused.stderr.includes("update domain/new.example")).toBe(isAdopted);
    expect(writes(service)).toEqual([]);
  }
});

const BUILD = gzipSync("the new build");
const [OLD_TAG, BUILD_TAG] = [gzipSync("the old build"), BUILD].map(
  (content) => `[tenon:edge sha256:${createHash("sha256").update(content).digest("hex").slice(0, 16)}]`,
) as [string, string];
const UPLOAD = "upload: { file: g.img.gz, region: us-east }";

/** What the rest of a plan file says that shows an image to be made, and another one to go: the image that goes, and the one that is made. */
const ROLLS = [
  [
    "a new month",
    "owner: edge",
    `{ label: g-2, family: g, keep: 1, ${UPLOAD} }`,
    "g-1 [tenon:edge]",
    "g-2 [tenon:edge]",
  ],
  ["a tracked file", "owner: edge", `{ label: g-1, track: content, ${UPLOAD} }`, `g-1 ${OLD_TAG}`, `g-1 ${BUILD_TAG}`],
  [
    "a tracked file of a family",
    "owner: edge",
    `{ label: g-1, family: g, keep: 2, track: content, ${UPLOAD} }`,
    `g-1 ${OLD_TAG}`,
    `g-1 ${BUILD_TAG}`,
  ],
  ["another label", "owner: edge", `{ label: base, ${UPLOAD} }`, "g-1 [tenon:edge]", "base [tenon:edge]"],
  ["no owner", "removed: [{ image: g-1 }]", `{ label: base, ${UPLOAD} }`, "g-1 x", "base "],
] as const;
const ROLL_CONSENTS = ["--allow", "replace=image/g-1", "--allow", "delete=image/g-1"];

test("an image that the plan shows to go stays once somebody else has made the one that the plan shows to be made", async () => {
  for (const [what, root, entry, old, theirs] of ROLLS) {
    const { service, options } = await rollOf(root, entry, old);
    const review = await run(["plan", "--out", "the.plan", ...ROLL_CONSENTS], options);
    expect(`${what}: ${review.stdout}`).toContain("Plan: 1 to add, 0 to change, 1 to destroy.");
    await upload(service, theirs);
    service.clearRequests();
    const refused = await run(["apply", "--yes", "--plan", "the.plan", ...ROLL_CONSENTS], options);
    expect([what, refused.code]).toEqual([what, 5]);
    expect(refused.stderr).toContain("delete image/g-1");
    expect(writes(service)).toEqual([]);
  }
});

test("an image whose delete waits for an upload stays if somebody else has begun the upload before the review", async () => {
  const { service, options } = await rollOf("owner: edge", ROLLS[0][2], "g-1 [tenon:edge]");
  const url = await beginUpload(service, "g-2 [tenon:edge]");
  expect((await run(["plan", "--out", "the.plan"], options)).stdout).toContain("2 blocked");
  await finishUpload(service, url);
  service.clearRequests();
  const refused = await run(["apply", "--yes", "--plan", "the.plan"], options);
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining("delete image/g-1") });
  expect(writes(service)).toEqual([]);
});

/** A project that makes an image of BUILD. @param old label and description of the image that is there */
async function rollOf(root: string, entry: string, old: string) {
  const [label = "", ...words] = old.split(" ");
  const image = { id: "private/1", label, description: words.join(" "), created: "2026-10-01T00:00:00" };
  const service = await emulator({
    seed: { images: [image] },
    readsUntilAvailable: { creating: 1, pendingUpload: 0 },
  });
  const cwd = await folder({ "tenon.yaml": `tenon: 1\n${root}\nimages: [${entry}]\n` });
  await writeFile(join(cwd, "g.img.gz"), BUILD);
  return { service, options: { cwd, env: envOf(service) } };
}

/** @param named label and description */
async function upload(service: Emulator, named: string): Promise<void> {
  await finishUpload(service, await beginUpload(service, named));
}

async function beginUpload(service: Emulator, named: string): Promise<string> {
  const [label = "", ...words] = named.split(" ");
  const description = words.join(" ");
  const body = { label, region: "us-east", ...(description === "" ? {} : { description }) };
  return String((await send(service, "images/upload", body))["upload_to"]);
}

async function finishUpload(service: Emulator, url: string): Promise<void> {
  const headers = { "content-type": "application/octet-stream" };
  expect((await fetch(url, { method: "PUT", headers, body: gzipSync("something else") })).status).toBe(200);
  const statuses = async () => (await send(service, "images"))["data"] as { status: string }[];
  await vi.waitFor(async () => expect((await statuses()).every(({ status }) => status === "available")).toBe(true));
}

/** A GET, a DELETE, or a POST of the body. */
async function send(
  service: Emulator,
  path: string,
  what?: object | "DELETE",
  method: "POST" | "PUT" = "POST",
): Promise<Record<string, unknown>> {
  const headers = { authorization: "Bearer emulator-token", "content-type": "application/json" };
  const init = typeof what === "object" ? { method, body: JSON.stringify(what) } : { method: what ?? "GET" };
  const answer = await fetch(`${service.baseUrl}/${path}`, { headers, ...init });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
}

test("a VPC is not replaced under a label that somebody has given another one after the review: it would be deleted, and not made anew", async () => {
  const vpc = { id: 104, label: "old", region: "us-east", description: "[tenon:edge]" };
  const entry = "{ label: new, id: 104, region: us-west }";
  const manifest = `tenon: 1\nowner: edge\nallow: [{ replace: vpc/old }]\nvpcs: [${entry}]\n`;
  const cwd = await folder({ "tenon.yaml": manifest });
  const service = await emulator({ uniqueLabels: true, seed: { vpcs: [vpc] } });
  const options = { cwd, env: envOf(service) };
  expect((await run(["plan", "--out", "a.plan"], options)).code).toBe(0);
  const made = await tested(service).send("POST", "/vpcs", { label: "new", region: "us-east" });
  expect(made.status).toBe(200);
  service.clearRequests();
  const { code, stdout } = await run(["apply", "--yes", "--plan", "a.plan"], options);
  expect([code, stdout.replace(/\s+/g, " ")]).toEqual([6, expect.stringContaining("keeps the label `new`")]);
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
});
