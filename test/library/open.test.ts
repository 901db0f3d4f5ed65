/** The library as a program uses it: a project opened, planned, applied, compared and closed. */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { type OpenOptions, type OpenProject, open, parsePlanFile, TenonError } from "../../src/index.ts";
import { renderPlanJson } from "../../src/render/index.ts";
import { here } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";

const PROJECT = `tenon: 1
owner: edge
vpcs:
  - { label: prod, region: us-east, subnets: [{ label: web, ipv4: 10.0.1.0/24 }] }
domains:
  - domain: example.com
    type: master
    soa_email: hostmaster@example.com
    records: [{ type: A, name: www, target: 192.0.2.1 }]
`;
const SEED = {
  vpcs: [{ id: 1, label: "prod", region: "us-east", description: "[tenon:edge]" }],
  domains: [{ id: 5, domain: "gone.example", soa_email: "hostmaster@example.com", tags: ["tenon:edge"] }],
};
const CONSENTS = [{ rule: "delete", address: "domain/gone.example", until: null, reason: null, span: null }] as const;

async function opened(more: Partial<OpenOptions> = {}, text = PROJECT) {
  const service = await emulator({ seed: SEED });
  const dir = await folder({ "tenon.yaml": text });
  const project = await open({ dir, baseUrl: service.baseUrl, token: "emulator-token", retryForSeconds: 0, ...more });
  onTestFinished(() => project.close());
  return { service, dir, project };
}

async function errorOf(work: Promise<unknown>): Promise<TenonError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof TenonError)) throw new Error(`not refused: ${String(error)}`);
  return error;
}

test("a journal that a program's apply has written is enough for an undo, with the records of deleted zones", async () => {
  const records = [{ type: "A" as const, name: "www", target: "192.0.2.7" }];
  const service = await emulator({ seed: { domains: SEED.domains.map((domain) => ({ ...domain, records })) } });
  const dir = await folder({ "tenon.yaml": "tenon: 1\nowner: edge\n" });
  const consents = CONSENTS;
  const project = await open({ dir, baseUrl: service.baseUrl, token: "emulator-token", consents });
  onTestFinished(() => project.close());
  await project.apply(undefined, { journal: join(dir, "run.jsonl") });
  const { code, stdout } = await here(["undo", "run.jsonl"], { cwd: dir, env: envOf(service) });
  expect(code).toBe(0);
  expect(stdout).toContain("+ domain gone.example");
  expect(stdout).toContain("+ www A 192.0.2.7");
});

const codesOf = async (work: Promise<unknown>): Promise<string[]> =>
  (await errorOf(work)).diagnostics.map(({ code }) => code);

describe("open", () => {
  test("plans, applies and compares, with what a program gives and nothing else", async () => {
    const { service, dir, project } = await opened({ consents: CONSENTS });
    const before = await project.drift();
    expect(before.summary).toMatchObject({ missing: 3, unexpected: 1 });
    const plan = await project.plan();
    expect(plan.changes.filter(({ action }) => action === "create")).toHaveLength(3);
    expect(new Set(service.requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
    const steps: string[] = [];
    const emit = ({ type }: { readonly type: string }): void => void steps.push(type);
    const report = await project.apply(plan, { emit, journal: join(dir, "journal.jsonl"), actor: "a program" });
    expect(report).toMatchObject({ added: 3, destroyed: 1, failed: 0, notices: [] });
    expect(steps.length).toBeGreaterThan(3);
    const [first = ""] = (await readFile(join(dir, "journal.jsonl"), "utf8")).split("\n");
    expect(JSON.parse(first)).toMatchObject({ type: "run", actor: "a program", host: new URL(service.baseUrl).host });
    expect((await project.drift()).summary).toMatchObject({ changed: 0, missing: 0, unexpected: 0 });
    await project.close();
    await project.close();
  });

  test("refuses before anything is done what an apply needs consent for", async () => {
    const { service, project } = await opened();
    const error = await errorOf(project.apply());
    expect(error.message).toBe("error[consent-missing]: domain/gone.example needs consent to delete");
    expect(error.diagnostics[0]?.fix).toContain('{ rule: "delete", address: "domain/gone.example" }');
    const few = { maxChanges: 0, targets: ["vpc/*"] };
    expect(await codesOf(project.apply(undefined, few))).toEqual(["too-many-changes"]);
    expect(service.requests.every(({ method }) => method === "GET")).toBe(true);
  });

  test("names each problem of a manifest with its place", async () => {
    const work = opened({}, "tenon: 1\nvpcs:\n  - { labl: prod, region: us-east }\n");
    const error = await errorOf(work);
    expect(error.message).toContain("tenon.yaml:3:7: error[unknown-key]: unknown key `labl`");
    expect(error.diagnostics.length).toBeGreaterThan(0);
  });

  test("refuses an address, a dialect and an account that it cannot use, and says what the service said", async () => {
    expect(await codesOf(opened({ baseUrl: "http://example.com/v4" }))).toEqual(["base-url-insecure"]);
    expect(await codesOf(opened({ dialect: "a/b" }))).toEqual(["dialect-invalid"]);
    for (const concurrency of [0, -1, 1.5, Number.NaN])
      expect(await codesOf(opened({ concurrency }))).toEqual(["concurrency-invalid"]);
    for (const retryForSeconds of [-1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(await codesOf(opened({ retryForSeconds }))).toEqual(["retry-invalid"]);
    for (const token of ["", undefined, 4711])
      expect(await codesOf(opened({ token: token as string }))).toEqual(["no-token"]);
    const { project: asked } = await opened();
    for (const goal of ["Destroy", "", null])
      expect(await codesOf(asked.plan({ goal: goal as "apply" }))).toEqual(["goal-invalid"]);
    for (const uploadTimeoutSeconds of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(await codesOf(asked.plan({ uploadTimeoutSeconds }))).toEqual(["upload-timeout-invalid"]);
    const text = "tenon: 1\naccount: production\n";
    expect(await codesOf(opened({}, text))).toEqual(["wrong-account"]);
    const { project } = await opened({ account: "production", token: "of-nobody" }, `owner: edge\n${text}`);
    const error = await errorOf(project.plan());
    expect(error.message).toMatch(/^error\[account-unreadable\]: cannot read the list of [A-Za-z ]+: .*\(401\)/);
    expect(error.failure).toMatchObject({ type: "refused", status: 401 });
    expect(JSON.stringify(error) + error.message + error.stack).not.toContain("of-nobody");
  });
});

describe("a reviewed plan is the most that is done", () => {
  async function reviewedOf(project: OpenProject, change: (text: string) => string = (text) => text) {
    const parsed = await parsePlanFile(change(renderPlanJson(await project.plan())));
    if (!parsed.ok) throw new Error("the plan file cannot be read");
    return parsed.plan;
  }

  test("a change that it does not show is refused by its key", async () => {
    const { service, project } = await opened({ consents: CONSENTS });
    const reviewed = await project.plan();
    const less = { ...reviewed, changes: reviewed.changes.filter(({ unit }) => unit === "zone") };
    const error = await errorOf(project.apply(less));
    expect(error.diagnostics.map(({ code, address }) => [code, address])).toEqual([
      ["not-reviewed", "vpc/prod/subnet/web"],
    ]);
    expect(service.requests.every(({ method }) => method === "GET")).toBe(true);
  });

  test("a file to upload is what it holds: another one under its name is refused", async () => {
    const service = await emulator();
    const text = "tenon: 1\nimages: [{ label: golden, upload: { file: g.img.gz, region: us-east } }]\n";
    const dir = await folder({ "tenon.yaml": text });
    const file = join(dir, "g.img.gz");
    await writeFile(file, gzipSync("good"));
    const project = await open({ dir, baseUrl: service.baseUrl, token: "emulator-token" });
    onTestFinished(() => project.close());
    const reviewed = await project.plan();
    await writeFile(file, gzipSync("evil"));
    expect(await codesOf(project.apply(reviewed))).toEqual(["not-reviewed"]);
    expect(service.requests.every(({ method }) => method === "GET")).toBe(true);
    await writeFile(file, gzipSync("good"));
    const clock = { now: Date.now, sleep: () => new Promise<void>((resolve) => setImmediate(resolve)) };
    const again = await open({ dir, baseUrl: service.baseUrl, token: "emulator-token", clock });
    onTestFinished(() => again.close());
    expect(await again.apply(reviewed)).toMatchObject({ added: 1, failed: 0 });
  });

  test("one from elsewhere must have been asked the same: it does not say whose objects are taken over", async () => {
    const { service, project } = await opened({ consents: CONSENTS });
    const reviewed = await reviewedOf(project);
    const forged = { ...reviewed, inputs: { ...reviewed.inputs, takeOwnershipFrom: ["other"] } };
    const error = await errorOf(project.apply(forged));
    expect(error.message).toBe(
      "error[plan-differs]: the reviewed plan was made with other values of takeOwnershipFrom",
    );
    expect(await codesOf(project.apply({ ...reviewed, goal: "destroy" }))).toEqual(["plan-differs"]);
    expect(service.requests.every(({ method }) => method === "GET")).toBe(true);
    // One that was made here is asked the same again.
    const narrowed = await project.plan({ targets: ["vpc/*"] });
    expect(await project.apply(narrowed)).toMatchObject({ added: 1, destroyed: 0 });
  });

  test("is compared by values, not by the order in which they stand", async () => {
    const text = "tenon: 1\nvariables: { a: {}, b: {}, c: {} }\nvpcs: [{ label: '${var.a}', region: us-east }]\n";
    const { project } = await opened({ variables: { a: "one", b: "two", c: "three" } }, text);
    const reviewed = await project.plan();
    const { inputs } = reviewed;
    const entries = Object.entries(inputs.variables);
    const turned = { ...inputs, variables: Object.fromEntries(entries.toReversed()) };
    expect(await project.apply({ ...reviewed, inputs: turned })).toMatchObject({ added: 1 });
    const other = { ...inputs, variables: Object.fromEntries(entries.slice(1)) };
    expect(await codesOf(project.apply({ ...reviewed, inputs: other }))).toEqual(["plan-differs"]);
  });
});
