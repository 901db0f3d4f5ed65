/** `tenon fleet`: many accounts by one command. */

import { readFileSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { runAccount } from "../../src/cli/fleet-account.ts";
import { FLEET_SCHEMA, loadFleet } from "../../src/fleet/index.ts";
import { expectWords, textOf } from "../render/html/page-text.ts";
import { type Account, domainsOf, fileOf, fleetOf, PROJECT } from "../support/fleet.ts";
import { here } from "./here.ts";
import { ended, expectPlain, folder, run, start } from "./run.ts";
import { stage } from "./stage.ts";

const SCHEMA = JSON.parse(readFileSync(new URL("../../schemas/fleet-report.schema.json", import.meta.url), "utf8"));
const fitsSchema = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(SCHEMA);

function documentOf(stdout: string) {
  const document = JSON.parse(stdout);
  expect(fitsSchema(document), JSON.stringify(fitsSchema.errors)).toBe(true);
  return document as {
    readonly summary: Readonly<Record<string, number>>;
    readonly accounts: readonly {
      readonly name: string;
      readonly exit_code?: number;
      readonly headline?: string;
      readonly reason?: string;
      readonly document?: Readonly<Record<string, unknown>>;
    }[];
  };
}

test("the published schema of a fleet file is the one that files are checked against", async () => {
  await expect(`${JSON.stringify(FLEET_SCHEMA, null, 2)}\n`).toMatchFileSnapshot("../../schemas/fleet.schema.json");
});

test("each account is planned, applied and compared as it would be alone", async () => {
  const { cwd, env, accounts } = await fleetOf(12);
  const planned = await run(["fleet", "plan"], { cwd, env });
  expect(planned).toMatchObject({ code: 0, stderr: "" });
  expect(planned.stdout).toContain("== a12\n\n+ domain a12.example\n");
  expect(planned.stdout).toContain("\n12 accounts  3 to add: a1, a2, a3, a4, a5, a6, a7, … a12\n");
  expect(planned.stdout.endsWith("\nFleet: 12 accounts: 12 pending.\n")).toBe(true);
  expect((await here(["fleet", "plan", "--detailed-exitcode"], { cwd, env })).code).toBe(2);
  const applied = await run(["fleet", "apply", "--yes", "--workers", "5", "--format", "json"], { cwd, env });
  expect(applied.code).toBe(0);
  expect(documentOf(applied.stdout).summary).toEqual({
    done: 12,
    pending: 0,
    refused: 0,
    failed: 0,
    interrupted: 0,
    not_run: 0,
  });
  for (const account of accounts) expect(await domainsOf(account)).toEqual([`${account.name}.example`]);
  expect(await here(["fleet", "plan"], { cwd, env })).toMatchObject({
    code: 0,
    stdout: "12 accounts  no changes: a1, a2, a3, a4, a5, a6, a7, … a12\n\nFleet: 12 accounts: 12 done.\n",
  });
  const full = await here(["fleet", "drift", "--full"], { cwd, env });
  expect(full.stdout.split("\n").filter((line) => /^a\d+ +no drift$/.test(line))).toHaveLength(12);
  // The same plan as alone, byte for byte.
  const service = (accounts[0] as Account).service;
  const alone = { TENON_BASE_URL: service.baseUrl, TENON_TOKEN: "emulator-token" };
  const single = await here(["plan", "project", "--var", "domain=a1.example", "--format", "json"], { cwd, env: alone });
  const fleet = documentOf((await here(["fleet", "plan", "--format", "json"], { cwd, env })).stdout);
  expect(fleet.accounts.find(({ name }) => name === "a1")?.document).toEqual(JSON.parse(single.stdout));
});

test("what is wrong with one account leaves the others alone, and the worst exit code counts", async () => {
  const { cwd, env, accounts } = await fleetOf(6);
  const wrong: Readonly<Record<string, string>> = {
    a1: ", account: another",
    a2: ", project: ./nowhere",
    a3: ', variables: { domain: "not a domain" }',
    a4: ", token: { file: missing.token }",
  };
  const text = fileOf(accounts).replace("project }", "project, account: other }");
  const lines = text.split("\n").map((line) => {
    const extra = wrong[/name: (a\d)/.exec(line)?.[1] ?? ""];
    const key = /^, (\w+):/.exec(extra ?? "")?.[1] ?? "none";
    return line.replace(new RegExp(`, ${key}: \\{[^}]*\\}`), "").replace(/^( +- .*) \}$/, `$1${extra ?? ""} }`);
  });
  await writeFile(join(cwd, "fleet.yaml"), lines.join("\n"));
  await writeFile(join(cwd, "project/tenon.yaml"), PROJECT.replace("owner: edge", "owner: edge\naccount: other"));
  const given = { ...env, TOKEN_A6: "" };
  const { code, stdout, stderr } = await run(["fleet", "apply", "--yes", "--format", "json"], { cwd, env: given });
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  const document = documentOf(stdout);
  expect(document.summary).toEqual({ done: 1, pending: 0, refused: 1, failed: 4, interrupted: 0, not_run: 0 });
  const results = document.accounts.map(({ name, exit_code, headline }) => `${name} ${exit_code} ${headline}`);
  expect(results).toEqual([
    expect.stringMatching(/^a1 4 error: .*account/),
    expect.stringMatching(/^a2 1 error: .*nowhere/),
    expect.stringMatching(/^a3 3 error: /),
    expect.stringMatching(/^a4 1 error: the token file cannot be read/),
    "a5 0 3 added",
    "a6 1 error: no token is set: TOKEN_A6 is empty",
  ]);
  for (const account of accounts) expect(await domainsOf(account)).toEqual(account.name === "a5" ? ["a5.example"] : []);
});

test("a token that is not accepted is looked for where the fleet file says that it is", async () => {
  const { cwd, env } = await fleetOf(2);
  const { stdout } = await here(["fleet", "plan"], { cwd, env: { ...env, TOKEN_A2: "revoked-yesterday" } });
  expect(stdout).toContain("Check the token in TOKEN_A2: it may be wrong, expired or revoked.");
  expect(stdout).not.toContain("TENON_TOKEN");
});

test("saved plans bound what is done in each account", async () => {
  const { cwd, env, accounts } = await fleetOf(3);
  expect((await run(["fleet", "plan", "--out", "plans"], { cwd, env })).code).toBe(0);
  expect((await readdir(join(cwd, "plans"))).sort()).toEqual(["a1.plan", "a2.plan", "a3.plan"]);
  // Somebody makes another change of the project in between, and one plan is missing.
  const fleet = await readFile(join(cwd, "fleet.yaml"), "utf8");
  await writeFile(
    join(cwd, "fleet.yaml"),
    fleet.replace("domain: a2.example", "domain: a2.example, address: 192.0.2.9"),
  );
  await writeFile(join(cwd, "plans/a3.plan"), "{");
  const { code, stdout } = await run(["fleet", "apply", "--yes", "--plan", "plans", "--format", "json"], { cwd, env });
  expect(code).toBe(1);
  expect(documentOf(stdout).accounts.map(({ name, exit_code }) => [name, exit_code])).toEqual([
    ["a1", 0],
    ["a2", 1],
    ["a3", 1],
  ]);
  for (const account of accounts) expect(await domainsOf(account)).toEqual(account.name === "a1" ? ["a1.example"] : []);
  // What the account has otherwise since the plan: superseded.
  await writeFile(join(cwd, "fleet.yaml"), fleet);
  expect((await run(["fleet", "apply", "--yes", "--select", "name=a2"], { cwd, env })).code).toBe(0);
  await writeFile(join(cwd, "project/tenon.yaml"), PROJECT.replace("192.0.2.1", "192.0.2.7"));
  const superseded = await here(["fleet", "apply", "--yes", "--plan", "plans", "--select", "name=a2"], { cwd, env });
  expect(superseded.code).toBe(5);
  expect(superseded.stdout).toContain("Fleet: 1 account: 1 refused.\n");
});

test("a plan that fails leaves no older one behind, which an apply would find", async () => {
  const { cwd, env } = await fleetOf(2);
  expect((await here(["fleet", "plan", "--out", "plans"], { cwd, env })).code).toBe(0);
  const failed = await here(["fleet", "plan", "--out", "plans"], { cwd, env: { ...env, TOKEN_A1: "" } });
  expect([failed.code, await readdir(join(cwd, "plans"))]).toEqual([1, ["a2.plan"]]);
  expect((await here(["fleet", "apply", "--yes", "--plan", "plans", "--select", "name=a1"], { cwd, env })).code).toBe(
    1,
  );
});

test("a folder of workers is refused where no worker saves a plan", async () => {
  const { cwd, env } = await fleetOf(1);
  const queue = ["--queue", "redis://127.0.0.1:9"];
  for (const flags of [
    ["--plans", "kept"],
    ["--plans", "kept", "--out", "plans"],
    ["--plans", "kept", ...queue],
  ]) {
    expectPlain(await here(["fleet", "plan", ...flags], { cwd, env }), 1, ["--plans is for plans that workers save"]);
  }
});

test("apply asks for --yes before it looks at anything", async () => {
  const cwd = await folder({});
  expectPlain(await run(["fleet", "apply"], { cwd }), 1, ["fleet apply does not ask for each account", /--plan plans/]);
});

describe("--select", () => {
  test("takes globs of names and labels, with commas all of them, repeated any", async () => {
    const { cwd } = await fleetOf(4);
    const namesOf = async (...terms: readonly string[]) => {
      const args = terms.flatMap((term) => ["--select", term]);
      const { stdout } = await here(["fleet", "list", ...args, "--format", "json"], { cwd });
      return JSON.parse(stdout).accounts.map(({ name }: { name: string }) => name);
    };
    expect(await namesOf()).toEqual(["a1", "a2", "a3", "a4"]);
    expect(await namesOf("label.tier=g*")).toEqual(["a1", "a3"]);
    expect(await namesOf("label.tier=gold, name=*3")).toEqual(["a3"]);
    expect(await namesOf("name=a4", "name=a1")).toEqual(["a1", "a4"]);
  });

  test("says what is wrong with a term, and that nothing fits", async () => {
    const { cwd } = await fleetOf(1);
    for (const term of ["a1", "tier=gold", "label.=x", "=a1"]) {
      expectPlain(await here(["fleet", "plan", "--select", term], { cwd }), 1, [`--select does not take '${term}'`]);
    }
    const label = await here(["fleet", "plan", "--select", "tier=gold"], { cwd });
    expectPlain(label, 1, ["tier is a label: write label.tier=gold."]);
    expectPlain(await here(["fleet", "plan", "--select", "label.zone=*"], { cwd }), 1, [
      "no account fits",
      /fleet list/,
    ]);
  });
});

test("a signal ends the run in order: what was begun is finished, and the rest is said not to have run", async () => {
  const { cwd, env, accounts } = await fleetOf(6, { latencyMilliseconds: 150 });
  const child = start(["fleet", "apply", "--yes", "--workers", "2", "--format", "json"], { cwd, env });
  const done = ended(child);
  const service = (accounts[0] as Account).service;
  while (service.requests.every(({ method }) => method === "GET"))
    await new Promise((resolve) => setTimeout(resolve, 10));
  child.kill("SIGTERM");
  const { code, stdout } = await done;
  expect(code).toBe(143);
  const { accounts: results } = documentOf(stdout);
  expect(results.filter(({ reason }) => reason === "interrupted").length).toBeGreaterThanOrEqual(4);
  expect(results).toHaveLength(6);
});

test("a service that slows down, and one that refuses for a while, cost the others nothing", async () => {
  const { cwd, env } = await fleetOf(4, { rateLimit: { requests: 6, seconds: 1 } });
  const { code, stdout } = await run(["fleet", "apply", "--yes"], { cwd, env });
  expect({ code, tally: stdout.trim().split("\n").at(-1) }).toEqual({ code: 0, tally: "Fleet: 4 accounts: 4 done." });
});

test("a fleet as markdown fits a comment, however many accounts differ, and names hostile text as text", async () => {
  const accounts = Array.from({ length: 3_000 }, (_, index) => `  - { name: a${index}, token: { env: T${index} } }\n`);
  const file = `fleet: 1\ndefaults: { project: ./project, base_url: "http://127.0.0.1:1/v4" }\naccounts:\n${accounts.join("")}`;
  const cwd = await folder({ "fleet.yaml": file, "project/tenon.yaml": "tenon: 1\n" });
  const { code, stdout } = await here(["fleet", "plan", "--format", "markdown", "--workers", "64"], { cwd });
  expect(code).toBe(1);
  expect(stdout.length).toBeLessThan(65_000);
  expect(stdout).toMatch(/^\*\*Fleet: 3000 accounts: 3000 failed\.\*\*/);
  expect(stdout).toContain("further lines");
  expect(stdout).toMatch(/no room for the details of \d+ further accounts/);
});

test("a fleet as markdown shows of each account the one record that changes among very many new ones", async () => {
  const { cwd, env, accounts } = await fleetOf(4);
  expect((await run(["fleet", "apply", "--yes"], { cwd, env })).code).toBe(0);
  const added = Array.from({ length: 1_200 }, (_, index) => `{ type: A, name: host-${index}, target: 192.0.2.9 }`);
  const project = PROJECT.replace("192.0.2.1", "203.0.113.66").replace("records: [", `records: [${added.join(", ")}, `);
  await writeFile(join(cwd, "project/tenon.yaml"), project);
  const { code, stdout } = await run(["fleet", "plan", "--format", "markdown"], { cwd, env });
  expect(code).toBe(0);
  expect(stdout.length).toBeLessThan(65_000);
  for (const { name } of accounts) {
    const [, own = ""] = stdout.split(`<summary><code>${name}</code></summary>`);
    const [plan = ""] = own.split("<summary><code>a");
    expect(plan).toMatch(/^! www +A 192\.0\.2\.1 → 203\.0\.113\.66$/m);
    expect(plan).toMatch(/^\+ host-0 +A 192\.0\.2\.9$/m);
  }
  expect(stdout).not.toContain("no room for the details");
});

test("what is said of an account has a short form, too", async () => {
  const { cwd, env } = await fleetOf(2);
  const names = Array.from({ length: 900 }, (_, index) => `wrong name ${index} of a record`);
  const wrong = names.map((name) => `{ type: A, name: "${name}", target: 192.0.2.9 }`);
  await mkdir(join(cwd, "other"));
  await writeFile(join(cwd, "other/tenon.yaml"), PROJECT.replace("records: [", `records: [${wrong.join(", ")}, `));
  const text = (await readFile(join(cwd, "fleet.yaml"), "utf8")).replace("name: a2,", "name: a2, project: ./other,");
  await writeFile(join(cwd, "fleet.yaml"), text);
  const { stdout } = await here(["fleet", "plan", "--full", "--format", "markdown"], { cwd, env });
  expect(stdout.length).toBeLessThan(65_000);
  expect(stdout).toContain("wrong name 0 of a record");
  expect(stdout).toContain("… the rest is not shown here");
  expect(stdout).not.toContain("no room for the details");
});

test("a fleet as a page says of each account what the text says, on stdout or in a file beside the text", async () => {
  const { cwd, env } = await fleetOf(5);
  const given = { ...env, TOKEN_A2: "" };
  const printed = await run(["fleet", "plan", "--format", "html"], { cwd, env: given });
  expect(printed).toMatchObject({ code: 1, stderr: "" });
  expect(printed.stdout).toMatch(/^<!doctype html>\n[\s\S]*<\/html>\n$/);
  expect(textOf(printed.stdout)).toContain("Fleet: 5 accounts: 4 pending, 1 failed.");
  const args = ["fleet", "plan", "--html-into", "fleet.html", "--json-into", "fleet.json"];
  const text = await here(args, { cwd, env: given });
  expect(text.stdout.endsWith("\nFleet: 5 accounts: 4 pending, 1 failed.\n")).toBe(true);
  expect(await readFile(join(cwd, "fleet.html"), "utf8")).toBe(printed.stdout);
  expectWords(printed.stdout, text.stdout);
  documentOf(await readFile(join(cwd, "fleet.json"), "utf8"));
  // Colours of a terminal are none of a page's.
  const coloured = await run(["fleet", "plan", "--html-into", "coloured.html"], {
    cwd,
    env: { ...given, FORCE_COLOR: "1" },
  });
  expect(coloured.stdout).toContain("\u001b[");
  expect(await readFile(join(cwd, "coloured.html"), "utf8")).toBe(printed.stdout);
  for (const command of ["validate", "drift"] as const) {
    const page = await here(["fleet", command, "--format", "html"], { cwd, env });
    expect(page.stdout).toContain(`<p class="made">tenon fleet ${command}</p>`);
  }
  const unwritable = await here(["fleet", "plan", "--html-into", "none/fleet.html"], { cwd, env });
  expectPlain(unwritable, 1, ["the page cannot be written"]);
});

test("validate checks the project as each account has it, and sends nothing", async () => {
  const { cwd, accounts } = await fleetOf(3);
  await mkdir(join(cwd, "other"));
  await writeFile(join(cwd, "other/tenon.yaml"), "tenon: 1\ndomians: []\n");
  const text = (await readFile(join(cwd, "fleet.yaml"), "utf8")).replace("name: a2,", "name: a2, project: ./other,");
  await writeFile(join(cwd, "fleet.yaml"), text);
  const { code, stdout } = await run(["fleet", "validate"], { cwd });
  expect(code).toBe(3);
  expect(stdout).toContain("error[unknown-key]: unknown key `domians`");
  expect(stdout).toContain("\na1  valid\na2  error: unknown variable `domain` (and 1 more)\na3  valid\n");
  for (const { service } of accounts) expect(service.requests).toEqual([]);
});

test("an error of Tenon's own is the failure of the account that brought it to light, with its place if that is asked for", async () => {
  const { cwd, env } = await fleetOf(1);
  const { fleet } = await loadFleet(cwd, { service: "", baseUrl: "" });
  const account = { ...(fleet?.accounts[0] as NonNullable<typeof fleet>["accounts"][number]), project: 5 as never };
  const outcomeWith = async (more: Readonly<Record<string, string>>) => {
    const { terminal, printed, said } = stage({ ...env, ...more });
    const flags = { clone: true, format: "text" } as const;
    const outcome = await runAccount(terminal, "plan", account, flags, {
      hidden: new Set(),
      connect: null,
      keepsDocument: true,
    });
    expect(printed() + said()).toBe("");
    return outcome;
  };
  const plain = await outcomeWith({});
  expect(plain).toMatchObject({ code: 1, headline: expect.stringMatching(/^error: an error of Tenon: /) });
  expect(plain.text).not.toContain("load.ts");
  expect((await outcomeWith({ TENON_DEBUG: "1" })).text).toMatch(/at .*src.*\.ts:\d+/);
});
