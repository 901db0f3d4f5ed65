import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import { open, parsePlanFile } from "../../src/index.ts";
import { renderPlanJson } from "../../src/render/index.ts";
import { here as run } from "../cli/here.ts";
import { emulator, envOf, folder, PROJECT } from "../cli/run.ts";
import { faults } from "../cli/stage.ts";
import { tested } from "../support/emulator.ts";
import { withDigest } from "./hostile.ts";

interface Saved {
  resource_changes: { address: string; change: { actions: string[]; after: Record<string, unknown> | null } }[];
  planned_values: unknown;
  tenon: { guards: object[]; steps: object[]; changes: Record<string, object>; requests: number; owner: string | null };
}

const FOREIGN = { id: 77, label: "theirs", region: "us-east", description: "not yours" };

/** An account with something of somebody else's, a project, and a plan that was forged after its review. */
async function forged(forge: (plan: Saved) => void, manifest: string = PROJECT): Promise<Applied> {
  const service = await emulator({
    seed: { vpcs: [FOREIGN, { id: 5, label: "old", region: "us-east", description: "x [tenon:edge]" }] } as never,
  });
  const cwd = await folder({ "tenon.yaml": manifest });
  const options = { cwd, env: envOf(service) };
  const plan = JSON.parse((await run(["plan", "--format", "json"], options)).stdout) as Saved;
  forge(plan);
  // The digest keeps nobody from forging: it is a sum of what the file says, without a key.
  await writeFile(join(cwd, "the.plan"), withDigest(JSON.stringify(plan)));
  service.clearRequests();
  const { code, stderr } = await run(["apply", "--yes", "--plan", "the.plan"], options);
  return { service, code, stderr };
}

interface Applied {
  readonly service: Emulator;
  readonly code: number | null;
  readonly stderr: string;
}

function writes({ requests }: Emulator): string[] {
  return requests.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);
}

const WITHOUT_OWNER: string = PROJECT.replace("owner: edge\n", "");

test("changes and requests that were forged into a reviewed plan are never done", async () => {
  const { code, service } = await forged((plan) => {
    const [first] = plan.resource_changes;
    const extra = structuredClone(first);
    const key = "vpc/theirs";
    if (extra === undefined) throw new Error("the plan is empty");
    extra.address = key;
    extra.change = { actions: ["delete"], after: null, before: FOREIGN } as never;
    plan.resource_changes.push(extra);
    plan.tenon.changes[key] = { ...plan.tenon.changes[first?.address ?? ""] };
    plan.tenon.steps = plan.tenon.steps.map((step) => ({ ...step, method: "DELETE", path: ["vpcs", "77"] }));
    for (const change of plan.resource_changes)
      if (change.change.after !== null) change.change.after["note"] = "forged";
  }, WITHOUT_OWNER);
  // What the project says is not what the forged file shows, or it is done as the project says it.
  expect([0, 1, 5]).toContain(code);
  expect(writes(service).filter((request) => request.startsWith("DELETE"))).toEqual([]);
  expect(writes(service).filter((request) => request.includes("/77"))).toEqual([]);
});

test("a reviewed plan with a change taken out of it refuses that change", async () => {
  const { code, service, stderr } = await forged((plan) => {
    plan.resource_changes = plan.resource_changes.filter(({ address }) => address !== "vpc/prod");
  }, WITHOUT_OWNER);
  expect(code).toBe(5);
  expect(stderr).toContain("create vpc/prod");
  expect(writes(service)).toEqual([]);
});

test("consent that was forged into a reviewed plan does not count", async () => {
  const { code, service } = await forged((plan) => {
    expect(plan.tenon.guards).not.toEqual([]);
    plan.tenon.guards = plan.tenon.guards.map((guard) => ({ ...guard, consent: "given" }));
  });
  expect(code).toBe(4);
  expect(writes(service)).toEqual([]);
});

test("an owner that was forged into a reviewed plan takes nothing over", async () => {
  const { code, service } = await forged((plan) => {
    plan.tenon.owner = "edge";
  }, WITHOUT_OWNER);
  expect([0, 5]).toContain(code);
  expect(writes(service).filter((request) => /DELETE|\/77|\/5$/.test(request))).toEqual([]);
});

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

test("a program that passes a plan from a file to the library gets what its project says, or an error", async () => {
  const service = await emulator({ seed: { vpcs: [FOREIGN] } as never });
  const dir = await folder({ "tenon.yaml": PROJECT });
  const project = await open({ dir, baseUrl: service.baseUrl, token: "emulator-token" });
  try {
    const parsed = await parsePlanFile(renderPlanJson(await project.plan()));
    if (!parsed.ok) throw new Error("the plan file cannot be read");
    const { plan } = parsed;
    const steps = plan.steps.map((step) => ({ ...step, method: "DELETE", path: ["vpcs", String(FOREIGN.id)] }));
    const forgedInputs = { ...plan.inputs, takeOwnershipFrom: ["other"] };
    await expect(project.apply({ ...plan, inputs: forgedInputs })).rejects.toThrow("plan-differs");
    await expect(project.apply({ ...plan, goal: "destroy" })).rejects.toThrow("plan-differs");
    expect(writes(service)).toEqual([]);
    expect(await project.apply({ ...plan, steps: steps as never })).toMatchObject({ failed: 0, destroyed: 0 });
    expect(writes(service).filter((write) => write.endsWith(`/${FOREIGN.id}`))).toEqual([]);
  } finally {
    await project.close();
  }
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

const ZONE = { type: "master", soa_email: "a@a.example" };
const GOING = {
  domains: [{ id: 1, domain: "prod.example", ...ZONE, tags: ["tenon:me"] }],
  vpcs: [{ id: 2, label: "core", region: "us-east", description: "[tenon:me]" }],
};
const KEPT = { domain: "kept.example", ...ZONE, records: [{ type: "A", name: "www", target: "192.0.2.1" }] };
const LOGIN = { type: "A", name: "login", target: "198.51.100.66" };

const clone = (source: string, ...copies: string[]): object => ({
  ...{ type: "clone", source, copies },
  ...{ requests: 6, requests_without: 8, requestsWithout: 8 },
});

interface Forged extends Saved {
  tenon: Saved["tenon"] & { changes: Record<string, Record<string, unknown>>; strategies: object[] };
}

/** Plans, lets `forge` change the file, and takes it to `show` and to `apply`. */
async function shownAndApplied(seed: object, manifest: object, forge: (plan: Forged) => void) {
  const service = await emulator({ seed: seed as never });
  const cwd = await folder({ "tenon.yaml": JSON.stringify({ tenon: 1, owner: "me", ...manifest }) });
  const go = (...args: string[]) => run(args, { cwd, env: envOf(service) });
  const plan = JSON.parse((await go("plan", "--format", "json")).stdout) as Forged;
  forge(plan);
  await writeFile(join(cwd, "the.plan"), withDigest(JSON.stringify(plan)));
  service.clearRequests();
  const shown = [];
  for (const args of [[], ["--full"], ["--format", "markdown"]]) shown.push(await go("show", "the.plan", ...args));
  const { code } = await go("apply", "--yes", "--plan", "the.plan");
  return { shown, code, sent: writes(service) };
}

test("a plan in which a change has another place, name or sign than its values say is damaged", async () => {
  const records = [LOGIN, { type: "A", name: "going", target: "192.0.2.2" }];
  const manifest = {
    allow: [{ delete: "**" }, { bulk: "**" }],
    removed: [{ vpc: "core" }],
    vpcs: [{ label: "new", moved_from: "old", region: "us-east" }],
    domains: [{ domain: "prod.example", ...ZONE, records: [LOGIN, KEPT.records[0]] }],
  };
  const seed = {
    domains: [{ ...GOING.domains[0], records }],
    vpcs: [...GOING.vpcs, { id: 5, label: "old", region: "us-east", description: "[tenon:me]" }],
  };
  const made = "domain/prod.example/www/A";
  const gone = "domain/prod.example/going/A";
  const of = (plan: Forged, key: string) =>
    plan.resource_changes.find(({ address }) => address === key) as unknown as {
      previous_address: string;
      change: { actions: string[]; before: Record<string, unknown> | null; after: Record<string, unknown> | null };
    };
  const forgeries: readonly [string, string, (plan: Forged) => void][] = [
    [
      "vpc/core",
      "is not within vpc/all",
      (plan) => Object.assign(plan.tenon.changes["vpc/core"] ?? {}, { root: "vpc/all" }),
    ],
    [made, "is not within vpc/new", (plan) => Object.assign(plan.tenon.changes[made] ?? {}, { root: "vpc/new" })],
    ["vpc/core", "has values of another address", (plan) => (of(plan, "vpc/core").previous_address = "vpc/scratch")],
    ["vpc/new", "has values of another address", (plan) => (of(plan, "vpc/new").previous_address = "vpc/scratch")],
    [made, "has values of another address", (plan) => Object.assign(of(plan, made).change.after ?? {}, { name: "x" })],
    [gone, "has values that no create has", (plan) => (of(plan, gone).change.actions = ["create"])],
    [gone, "has values that no update has", (plan) => (of(plan, gone).change.actions = ["update"])],
    [made, "has values that no delete has", (plan) => (of(plan, made).change.actions = ["delete"])],
    [
      made,
      "has values that no create has",
      (plan) => {
        const { change } = of(plan, made);
        change.before = change.after;
      },
    ],
    [
      made,
      "has values that no update has",
      (plan) => Object.assign(of(plan, made).change, { actions: ["update"], before: of(plan, made).change.after }),
    ],
    [
      made,
      "was not within domain/other.example",
      (plan) => (of(plan, made).previous_address = "domain/other.example/x/A"),
    ],
    [
      gone,
      "was not within domain/other.example",
      (plan) => (of(plan, gone).previous_address = "domain/other.example/going/A"),
    ],
    [
      "vpc/core",
      "is there twice",
      (plan) => {
        plan.resource_changes.push(structuredClone(of(plan, "vpc/core")) as never);
      },
    ],
    [
      made,
      "says what is wanted and not what blocks it",
      (plan) =>
        Object.assign(plan.tenon.changes[made] ?? {}, { wanted: { ...of(plan, made).change, previous_address: null } }),
    ],
  ];
  for (const [key, words, forge] of forgeries) {
    const { shown, code, sent } = await shownAndApplied(seed, manifest, forge);
    for (const { code: refused, stderr } of shown) {
      expect([key, refused, stderr.replaceAll(/\s+/g, " ")]).toEqual([
        key,
        1,
        expect.stringContaining(`${key} ${words}`),
      ]);
    }
    expect([key, words, code, sent]).toEqual([key, words, 1, []]);
  }
  const honest = await shownAndApplied(seed, manifest, () => undefined);
  expect([honest.shown.map(({ code }) => code), honest.code]).toEqual([[0, 0, 0], 0]);
});

test("what a plan shows as a copy of another domain is one, or is shown as a whole", async () => {
  const copied = { domain: "new.example", ...ZONE, records: [{ type: "A", name: "x", target: "192.0.2.1" }] };
  const prod = { domain: "prod.example", ...ZONE, records: [LOGIN] };
  const also = { ...prod, domain: "also-new.example" };
  const { shown } = await shownAndApplied(GOING, { domains: [copied, prod, also] }, (plan) => {
    plan.tenon.strategies = [clone("domain/new.example", "domain/prod.example", "domain/also-new.example")];
  });
  for (const { stdout } of shown) expect(stdout.split("198.51.100.66").length - 1).toBeGreaterThanOrEqual(2);
  // Two new ones with the same records, each as a copy of the other, or of itself.
  const alike = { domains: [also, { ...also, domain: "third.example" }] };
  for (const to of ["domain/also-new.example", "domain/third.example"]) {
    const { shown: mutual } = await shownAndApplied({}, alike, (plan) => {
      plan.tenon.strategies = [
        clone("domain/third.example", "domain/also-new.example"),
        clone("domain/also-new.example", to),
      ];
    });
    for (const { stdout } of mutual) expect(stdout).toContain("198.51.100.66");
  }
});

test("a reviewed plan covers a delete with the region and the range that it shows, and a change with the name that it shows", async () => {
  const vpc = { ...GOING.vpcs[0], subnets: [{ id: 3, label: "net", ipv4: "10.0.0.0/24" }] };
  const own = { region: "us-east", description: "[tenon:me]" };
  const kept = { id: 7, label: "kept", ...own, subnets: [{ id: 8, label: "gone", ipv4: "10.1.0.0/24" }] };
  const seed = { vpcs: [vpc, { id: 5, label: "old", ...own }, { id: 6, label: "moved", ...own }, kept] };
  const vpcs = [
    { label: "new", moved_from: "old", region: "us-east" },
    { label: "moved", region: "eu-west", description: "as it will be" },
    { label: "kept", region: "us-east", subnets: [] },
  ];
  const manifest = { allow: [{ delete: "**" }, { replace: "**" }], removed: [{ vpc: "core" }], vpcs };
  const forge =
    (address: string, values: object, more: object = {}) =>
    (plan: Forged) => {
      const found = plan.resource_changes.find((change) => change.address === address) as never as {
        change: { before: object };
      };
      Object.assign(found, more);
      Object.assign(found.change.before, values);
    };
  const forgeries: Record<string, (plan: Forged) => void> = {
    "": () => undefined,
    "a VPC's region": forge("vpc/core", { region: "eu-west" }),
    "a subnet's range": forge("vpc/core/subnet/net", { ipv4: "10.9.0.0/24" }),
    "a description that goes with a region": forge("vpc/moved", { description: "as it will be" }),
    "a former name": forge("vpc/new", { label: "scratch" }, { previous_address: "vpc/scratch" }),
    "the name of what a change is in": (plan) => {
      forge("vpc/kept", { label: "scratch" }, { previous_address: "vpc/scratch" })(plan);
      const found = plan.resource_changes.find(({ address }) => address === "vpc/kept");
      Object.assign(found?.change ?? {}, { actions: ["delete"], after: null });
    },
    "a live name": forge("vpc/core", { label: "scratch" }, { previous_address: "vpc/scratch" }),
  };
  for (const [what, forgery] of Object.entries(forgeries)) {
    const { shown, code, sent } = await shownAndApplied(seed, manifest, forgery);
    expect([what, shown[0]?.code, code, sent.length > 0]).toEqual([what, 0, what === "" ? 0 : 5, what === ""]);
  }
});
