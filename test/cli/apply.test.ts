import { existsSync, readFileSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import { here as run } from "./here.ts";
import { emulator, envOf, folder, PROJECT } from "./run.ts";

const NO_CHANGES = "No changes. Your infrastructure matches the configuration.\n";

function writes(service: Emulator): string[] {
  return service.requests.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);
}

async function applied(
  manifest: string = PROJECT,
): Promise<{ service: Emulator; cwd: string; env: Record<string, string> }> {
  const service = await emulator();
  const cwd = await folder({ "tenon.yaml": manifest });
  const env = envOf(service);
  expect((await run(["apply", "--yes"], { cwd, env })).code).toBe(0);
  service.clearRequests();
  return { service, cwd, env };
}

describe("tenon apply", () => {
  it("asks nobody where there is nobody, and sends nothing without --yes", async () => {
    const service = await emulator();
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const { code, stdout, stderr } = await run(["apply"], { cwd, env: envOf(service) });
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining("Plan: 5 to add") });
    expect(stderr).toContain("Give --yes to apply without being asked.");
    expect(writes(service)).toEqual([]);
  });

  it("makes the account fit, keeps a journal, and has nothing left to do", async () => {
    const service = await emulator();
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const first = await run(["apply", "--yes"], { cwd, env: envOf(service) });
    expect(first.code).toBe(0);
    expect(first.stdout).toMatch(/Plan: 5 to add, 0 to change, 0 to destroy\.\n\nApply complete! Resources: 5 added, /);
    expect(await readdir(join(cwd, ".tenon/journal"))).toHaveLength(1);
    expect(await run(["apply", "--yes"], { cwd, env: envOf(service) })).toEqual({
      code: 0,
      stdout: NO_CHANGES,
      stderr: "",
    });
    expect(await run(["plan", "--detailed-exitcode"], { cwd, env: envOf(service) })).toMatchObject({ code: 0 });
  });

  it("streams JSON lines, and the last fits the published schema of reports", async () => {
    const options = { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(await emulator()) };
    const schema = JSON.parse(readFileSync(new URL("../../schemas/report.schema.json", import.meta.url), "utf8"));
    const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);
    for (const added of [5, 0]) {
      const { code, stdout } = await run(["apply", "--yes", "--format", "json"], options);
      const lines = stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      validate(lines.at(-1));
      expect({ code, errors: validate.errors, added: lines.at(-1).resources.added }).toEqual({
        code: 0,
        errors: null,
        added,
      });
    }
  });

  it("reports what failed in the service's words, does the rest, and exits with 6", async () => {
    const service = await emulator({ seed: { tokens: [{ token: "emulator-token", grants: { add_vpc: false } }] } });
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const { code, stdout, stderr } = await run(["apply", "--yes", "--journal", "here.jsonl"], {
      cwd,
      env: envOf(service),
    });
    expect(code).toBe(6);
    expect(stdout).toContain("Unauthorized");
    expect(stdout).toMatch(/Apply incomplete: 2 failed\. Resources: 3 added, 0 changed, 0 destroyed\.\n$/);
    expect(stderr).toContain("here.jsonl");
    expect(existsSync(join(cwd, "here.jsonl"))).toBe(true);
  });
});

describe("consent", () => {
  it("that is missing is refused with the words that give it, and nothing is done", async () => {
    const { service, cwd, env } = await applied();
    await writeFile(join(cwd, "tenon.yaml"), PROJECT.replace(/vpcs:[\s\S]*domains:/, "domains:"));
    const refused = await run(["apply", "--yes"], { cwd, env });
    expect(refused.code).toBe(4);
    expect(refused.stdout).toContain("--allow delete=vpc/prod");
    expect(writes(service)).toEqual([]);
    const asJson = await run(["apply", "--yes", "--format", "json"], { cwd, env });
    expect(asJson.code).toBe(4);
    const last = asJson.stdout.trimEnd().split("\n").at(-1) ?? "";
    expect(JSON.parse(last)).toMatchObject({ type: "refused", reason: "consent" });
    expect(asJson.stderr).toContain("--allow delete=vpc/prod");
    expect((await run(["plan"], { cwd, env })).code).toBe(0);
    expect((await run(["plan", "--fail-on", "refused"], { cwd, env })).code).toBe(4);
    const allowed = await run(["apply", "--yes", "--allow", "delete=vpc/prod"], { cwd, env });
    expect(allowed).toMatchObject({ code: 0, stdout: expect.stringContaining("2 destroyed.\n") });
  });
});

describe("tenon apply --plan", () => {
  it("does what the reviewed plan shows, and resumes under the same file", async () => {
    const options = { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(await emulator()) };
    await run(["plan", "--out", "the.plan"], options);
    expect((await run(["apply", "--yes", "--target", "vpc/prod"], options)).code).toBe(0);
    const rest = await run(["apply", "--yes", "--plan", "the.plan"], options);
    expect(rest).toMatchObject({ code: 0, stdout: expect.stringContaining("Resources: 3 added") });
    expect((await run(["apply", "--yes", "--plan", "the.plan"], options)).stdout).toBe(NO_CHANGES);
  });

  it("refuses what it does not show, names it, and does nothing", async () => {
    const service = await emulator();
    const options = { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) };
    await run(["plan", "--out", "the.plan"], options);
    await writeFile(join(options.cwd, "tenon.yaml"), PROJECT.replace("192.0.2.1", "192.0.2.66"));
    const { code, stderr } = await run(["apply", "--yes", "--plan", "the.plan"], options);
    expect(code).toBe(5);
    expect(stderr).toContain("create domain/example.com/www/A");
    expect(stderr).not.toContain("vpc/prod");
    expect(writes(service)).toEqual([]);
  });

  it("refuses a damaged plan before anything is read", async () => {
    const service = await emulator();
    const options = { cwd: await folder({ "tenon.yaml": PROJECT, "the.plan": "{" }), env: envOf(service) };
    expect(await run(["apply", "--yes", "--plan", "the.plan"], options)).toMatchObject({ code: 1, stdout: "" });
    expect(service.requests).toEqual([]);
  });
});

describe("interfaces", () => {
  const TWO = PROJECT.replace("subnets: [", "subnets: [{ label: old, ipv4: 10.0.9.0/24 }, ");
  const ATTACHMENT = { node_id: 123, interface_id: 456, active: true, config_id: 789 };

  async function attached(): Promise<Awaited<ReturnType<typeof applied>>> {
    const state = await applied(TWO);
    const vpcs = await fetch(`${state.env["TENON_BASE_URL"]}/vpcs`, {
      headers: { authorization: "Bearer emulator-token" },
    });
    const { data } = (await vpcs.json()) as { data: { subnets: { id: number; label: string }[] }[] };
    const subnet = data[0]?.subnets.find(({ label }) => label === "old");
    await state.service.attach({ ...ATTACHMENT, subnet_id: subnet?.id ?? 0 });
    await writeFile(join(state.cwd, "tenon.yaml"), PROJECT);
    return state;
  }

  it("that hold a subnet block its deletion, by name and with what to do", async () => {
    const { service, ...options } = await attached();
    const planned = await run(["plan", "--detailed-exitcode"], options);
    expect(planned.code).toBe(2);
    expect(planned.stdout.replace(/\s+/g, " ")).toContain(
      "node 123, interface 456 (active), configuration profile 789, address 10.0.9.2: shut down node 123, then delete interface 456",
    );
    expect((await run(["plan", "--fail-on", "blocked"], options)).code).toBe(4);
    expect((await run(["apply", "--yes"], options)).code).toBe(6);
    expect(writes(service)).toEqual([]);
  });

  it("are waited for with --wait-detached", async () => {
    const { service, ...options } = await attached();
    const running = run(["apply", "--yes", "--wait-detached", "1m"], options);
    await expect.poll(() => service.requests.some(({ path }) => path.endsWith("/ips")), { timeout: 15_000 }).toBe(true);
    await service.detach(456);
    expect(await running).toMatchObject({ code: 0, stdout: expect.stringContaining("1 destroyed.\n") });
  });
});

describe("tenon destroy", () => {
  it("deletes what is declared, and only that", async () => {
    const { cwd, env } = await applied();
    const { code, stdout } = await run(["destroy", "--yes"], { cwd, env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/Destroy complete! Resources: 0 added, 0 changed, \d destroyed\.\n$/);
    expect((await run(["destroy", "--yes"], { cwd, env })).stdout).toBe(
      "No changes. No objects need to be destroyed.\n",
    );
  });

  it("stops for what is protected", async () => {
    const { service, cwd, env } = await applied(
      PROJECT.replace("region: us-east", "region: us-east\n    protect: true"),
    );
    expect((await run(["destroy", "--yes"], { cwd, env })).code).toBe(4);
    expect(writes(service)).toEqual([]);
  });
});
