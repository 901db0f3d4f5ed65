/** A saved plan carries what it was made with, so that `apply --plan` needs none of it again. */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withDigest } from "../security/hostile.ts";
import { here } from "./here.ts";
import { emulator, envOf, expectPlain, folder, PROJECT, run } from "./run.ts";

const ENVIRONMENTS = `tenon: 1
owner: \${var.env}
variables: { env: {}, text: {}, size: { default: 1 } }
environments:
  staging: { variables: { env: staging } }
  production: { variables: { env: production } }
vpcs:
  - { label: "a-\${var.env}", region: us-east, description: "\${var.text} \${var.size}" }
  - { label: "b-\${var.env}", region: us-east, description: "" }
`;

const MADE_WITH = ["--env", "staging", "--var", "text=one", "--var-file", "more.yaml", "--target", "vpc/a-*"];

async function saved(made: readonly string[] = MADE_WITH, manifest = ENVIRONMENTS) {
  const service = await emulator();
  const cwd = await folder({ "tenon.yaml": manifest, "more.yaml": "size: 010\nunknown: kept-out\n" });
  const options = { cwd, env: envOf(service) };
  expect(await here(["plan", "--out", "the.plan", ...made], options)).toMatchObject({ code: 0 });
  service.clearRequests();
  const vpcs = async () => {
    const headers = { authorization: "Bearer emulator-token" };
    const answer = await fetch(`${service.baseUrl}/vpcs`, { headers });
    return ((await answer.json()) as { data: { label: string; description: string }[] }).data;
  };
  return {
    service,
    options,
    vpcs,
    apply: (...args: string[]) => here(["apply", "--plan", "the.plan", ...args], options),
  };
}

describe("apply --plan", () => {
  it("takes environment, variables and targets from the file, and again when it is run again", async () => {
    const { apply, vpcs, options } = await saved();
    expect(await apply("--yes")).toMatchObject({ code: 0 });
    const made = await vpcs();
    expect(made.map(({ label, description }) => [label, description])).toEqual([
      ["a-staging", "one 010 [tenon:staging]"],
    ]);
    expect(await apply("--yes")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("No changes within the targets."),
    });
    const { inputs } = JSON.parse(await readFile(join(options.cwd, "the.plan"), "utf8")).tenon;
    expect(inputs).toEqual({
      environment: "staging",
      variables: { size: { source: "010", value: expect.anything() }, text: { source: null, value: "one" } },
      targets: ["vpc/a-*"],
      excludes: [],
      skip_unsupported: false,
      take_ownership_from: [],
      clone: true,
    });
  });

  it("takes from the file what was skipped, taken over, and not to be cloned", async () => {
    const domain = (name: string) =>
      `  - { domain: ${name}, type: master, soa_email: a@a.example, zone_file: a.zone }\n`;
    const manifest = `tenon: 1\nowner: edge\ndomains:\n${["a.example", "b.example", "c.example"].map(domain).join("")}`;
    const zone = "$TTL 1h\nx A 192.0.2.1\nx A 192.0.2.2\ny A 192.0.2.3\nx SSHFP 1 1 aa\n";
    const others = { domain: "c.example", soa_email: "a@a.example", tags: ["tenon:others"] };
    const service = await emulator({ seed: { domains: [others] } });
    const options = { cwd: await folder({ "tenon.yaml": manifest, "a.zone": zone }), env: envOf(service) };
    const flags = ["--skip-unsupported", "--take-ownership-from", "others", "--no-clone"];
    expect(await here(["plan", "--out", "the.plan", ...flags], options)).toMatchObject({ code: 0 });
    const applied = await here(["apply", "--yes", "--plan", "the.plan"], options);
    expect(applied).toMatchObject({ code: 0, stdout: expect.stringContaining("Resources: 11 added, 1 changed") });
    expect(service.requests.filter(({ path }) => path.endsWith("/clone"))).toEqual([]);
    const { tenon } = JSON.parse(await readFile(join(options.cwd, "the.plan"), "utf8"));
    expect(tenon.inputs).toMatchObject({ skip_unsupported: true, take_ownership_from: ["others"], clone: false });
  });

  it("takes the same beside the file", async () => {
    const { apply } = await saved();
    expect(await apply("--yes", ...MADE_WITH)).toMatchObject({ code: 0 });
  });

  it.each([
    [["--env", "production"], "environment", "--env production", "--env staging"],
    [["--var", "text=two"], "variables", "text", "other values"],
    [["--var", "size=10"], "variables", "size", "other values"],
    [["--var", "env=staging"], "variables", "env", "no values"],
    [["--target", "vpc/b-*"], "targets", "--target 'vpc/b-*'", "--target 'vpc/a-*'"],
    [["--exclude", "vpc/b-*"], "excludes", "--exclude 'vpc/b-*'", "no --exclude"],
    [["--skip-unsupported"], "options", "--skip-unsupported", "without it"],
    [["--no-clone"], "options", "--no-clone", "without it"],
    [["--take-ownership-from", "x"], "owners to take from", "--take-ownership-from x", "no --take-ownership-from"],
  ])("refuses %j beside it, as the file was made with another", async (args, what, given, made) => {
    const { apply, service } = await saved();
    const words = ["error[plan-file-differs]", `was made with other ${what}`, given, made];
    expectPlain(await apply("--yes", ...args), 1, words);
    expect(service.requests).toEqual([]);
  });

  it("resumes a narrowed plan whose target is gone by now", async () => {
    const { apply, options } = await saved([], PROJECT);
    expect(await apply("--yes")).toMatchObject({ code: 0 });
    await writeFile(join(options.cwd, "tenon.yaml"), PROJECT.replace(/ +- \{ type: A.*\n/, ""));
    const target = ["--target", "domain/example.com/www/A"];
    expect(await here(["plan", "--out", "the.plan", ...target], options)).toMatchObject({ code: 0 });
    const gone = await apply("--yes", "--allow", "bulk=*");
    expect(gone).toMatchObject({ code: 0, stdout: expect.stringContaining("1 destroyed") });
    expect(await apply("--yes")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("No changes within the targets."),
    });
  });

  it("says so when the project no longer declares a variable of the file", async () => {
    const { apply, options } = await saved();
    const manifest = ENVIRONMENTS.replace(", size: { default: 1 }", "").replace(" ${var.size}", "");
    await writeFile(join(options.cwd, "tenon.yaml"), manifest);
    expectPlain(await apply("--yes"), 1, ["error[unknown-variable]", "`size`", "The plan file sets", "Plan again."]);
  });
});

describe("plan --destroy", () => {
  it("shows and saves what destroy would do, and apply --plan does it", async () => {
    const { apply, options, vpcs } = await saved([], PROJECT);
    expect(await apply("--yes")).toMatchObject({ code: 0 });
    const planned = await here(["plan", "--destroy", "--out", "destroy.plan"], options);
    expect(planned).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Plan: 0 to add, 0 to change, 3 to destroy."),
    });
    expect(await vpcs()).toHaveLength(1);
    const run = (...args: string[]) => here([...args, "--plan", "destroy.plan", "--yes"], options);
    expect(await run("apply")).toMatchObject({ code: 0, stdout: expect.stringContaining("Destroy complete!") });
    expect(await vpcs()).toEqual([]);
    const again = await here(["plan", "--destroy"], options);
    expect(again.stdout).toContain("No changes. No objects need to be destroyed.");
  });
});

describe("apply --plan --pin", () => {
  it.each([
    [["--env", "staging"], "environment"],
    [["--env", "production", "--var", "text=one"], "variables"],
    [["--env", "staging", "--target", "vpc/a-*"], "targets"],
    [["--env", "staging", "--exclude", "vpc/b-*"], "excludes"],
    [["--env", "staging", "--take-ownership-from", "others"], "owners to take from"],
    [["--env", "staging", "--no-clone"], "options"],
    [["--env", "staging", "--skip-unsupported"], "options"],
  ])("takes nothing from the file: one that was made with %j needs it beside it, too", async (flags, what) => {
    const manifest = ENVIRONMENTS.replace("text: {}", 'text: { default: "" }');
    const { apply, service } = await saved(flags, manifest);
    const environment = flags.length > 2 ? flags.slice(0, 2) : [];
    expectPlain(await apply("--yes", "--pin", ...environment), 1, ["error[plan-file-differs]", `other ${what}`]);
    expect(service.requests).toEqual([]);
    expect(await apply("--yes", "--pin", ...flags)).toMatchObject({ code: 0 });
  });

  it("carries out a plan that was made with nothing, and a destroy plan never", async () => {
    const service = await emulator();
    const options = { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) };
    expect(await run(["plan", "--out", "the.plan"], options)).toMatchObject({ code: 0 });
    const apply = ["apply", "--yes", "--pin", "--plan"];
    expect(await run([...apply, "the.plan"], options)).toMatchObject({ code: 0 });
    expect(await run(["plan", "--destroy", "--out", "destroy.plan"], options)).toMatchObject({ code: 0 });
    service.clearRequests();
    expectPlain(await run([...apply, "destroy.plan"], options), 1, [
      "error[plan-file-differs]",
      "the plan file is a plan for `destroy`",
      "tenon destroy --plan",
    ]);
    expect(service.requests).toEqual([]);
  });

  it("is for --plan", async () => {
    const { options } = await saved([], PROJECT);
    expectPlain(await here(["apply", "--yes", "--pin"], options), 1, ["--pin is for --plan"]);
  });
});

describe("destroy --plan", () => {
  it("takes a destroy plan only", async () => {
    const { options, service, apply, vpcs } = await saved([], PROJECT);
    expect(await apply("--yes")).toMatchObject({ code: 0 });
    service.clearRequests();
    expectPlain(await run(["destroy", "--yes", "--plan", "the.plan"], options), 1, [
      "error[plan-file-differs]",
      "the plan file is a plan for `apply`",
      "tenon apply --plan",
    ]);
    expect(service.requests).toEqual([]);
    expect(await here(["plan", "--destroy", "--out", "destroy.plan"], options)).toMatchObject({ code: 0 });
    expect(await run(["destroy", "--yes", "--pin", "--plan", "destroy.plan"], options)).toMatchObject({ code: 0 });
    expect(await vpcs()).toEqual([]);
  });
});

describe("a plan file of before", () => {
  it("that does not say what was skipped, taken over or not cloned, was made without", async () => {
    const { options, apply } = await saved([], PROJECT);
    const file = join(options.cwd, "the.plan");
    const plan = JSON.parse(await readFile(file, "utf8"));
    for (const name of ["skip_unsupported", "take_ownership_from", "clone"]) delete plan.tenon.inputs[name];
    await writeFile(file, withDigest(JSON.stringify(plan)));
    expect(await apply("--yes", "--pin")).toMatchObject({ code: 0 });
  });
});

describe("without a terminal and without --yes", () => {
  it.each(["text", "json", "markdown"])("apply and destroy show the plan before they refuse, as %s", async (format) => {
    const { options, service, apply } = await saved([], PROJECT);
    const refused = await here(["apply", "--format", format], options);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("Give --yes to apply") });
    expect(refused.stdout + refused.stderr).toContain("example.com");
    expect(refused.stdout).toContain(
      { text: "Plan: 5 to add", json: '"summary":{"add":5,', markdown: "Plan: 5" }[format],
    );
    expect(await apply("--yes")).toMatchObject({ code: 0 });
    service.clearRequests();
    const kept = await here(["destroy", "--format", format], options);
    expect(kept).toMatchObject({ code: 1, stderr: expect.stringContaining("Give --yes to destroy") });
    expect(kept.stdout).toContain(
      { text: "3 to destroy", json: '"destroy":3,', markdown: "Destroy plan: 0 to add, 0 to change, 3" }[format],
    );
    expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  });

  it("apply is content where there is nothing to do", async () => {
    const { options } = await saved([], "tenon: 1\n");
    expect(await here(["apply"], options)).toMatchObject({ code: 0 });
  });
});

describe("a plan that holds the token", () => {
  it.each(['quo"te-token', "plain-token"])("is not saved: %s", async (token) => {
    const service = await emulator({ seed: { tokens: [{ token, scopes: ["vpc:read_write"] }] } as never });
    const manifest = "tenon: 1\nvariables: { note: {} }\nvpcs: [{ label: a, region: us-east, description: x }]\n";
    const options = { cwd: await folder({ "tenon.yaml": manifest }), env: { ...envOf(service), TENON_TOKEN: token } };
    const octets = Buffer.from(token);
    for (const spelling of [
      ...[token, encodeURIComponent(token), octets.toString("hex"), octets.toString("hex").toUpperCase()],
      // As basic credentials have it, behind whatever is before it.
      ...["", "x", "user:"].map((before) => Buffer.from(`${before}${token}z`).toString("base64")),
    ]) {
      const ended = await here(["plan", "--out", "the.plan", "--var", `note=${spelling}`], options);
      expect([spelling, ended.code, ended.stderr]).toEqual([spelling, 1, expect.stringContaining("the plan holds")]);
      await expect(readFile(join(options.cwd, "the.plan"))).rejects.toThrow("ENOENT");
    }
    expect(await here(["plan", "--out", "the.plan", "--var", "note=other"], options)).toMatchObject({ code: 0 });
  });
});
