import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { here as run } from "./here.ts";
import { emulator, ended, envOf, folder, PROJECT, start } from "./run.ts";

describe("tenon validate", () => {
  it("accepts a sound project without any connection", async () => {
    const cwd = await folder({ "tenon.yaml": PROJECT });
    expect(await run(["validate"], { cwd })).toEqual({
      code: 0,
      stdout: "The manifest is valid: 2 declared.\n",
      stderr: "",
    });
  });

  it("shows where an error is, and exits with 3", async () => {
    const cwd = await folder({ "tenon.yaml": PROJECT.replace("soa_email", "soa_emial") });
    const { code, stdout, stderr } = await run(["validate"], { cwd });
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain("tenon.yaml:10:5");
    expect(stderr).toContain("soa_email");
  });

  it("says the same as JSON", async () => {
    const cwd = await folder({ "tenon.yaml": PROJECT.replace("soa_email", "soa_emial") });
    const { code, stdout, stderr } = await run(["validate", "--format", "json"], { cwd });
    expect({ code, stderr }).toEqual({ code: 3, stderr: "" });
    const found = JSON.parse(stdout);
    expect(found).toMatchObject({ valid: false, warning_count: 0 });
    expect(found.diagnostics).toHaveLength(found.error_count);
    expect(found.diagnostics[0]).toMatchObject({ file: "tenon.yaml", severity: "error" });
  });

  it("takes warnings for errors only when it is strict", async () => {
    const cwd = await folder({ "tenon.yaml": PROJECT.replace("ttl_sec: 300", "ttl_sec: 301") });
    const lenient = await run(["validate"], { cwd });
    expect(lenient.code).toBe(0);
    expect(lenient.stdout).toContain("1 warning");
    expect((await run(["validate", "--strict"], { cwd })).code).toBe(3);
  });
});

describe("tenon plan", () => {
  it("shows what is missing, sends nothing but GETs, and exits with 2 only when asked to", async () => {
    const service = await emulator();
    const options = { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) };
    const { code, stdout, stderr } = await run(["plan"], options);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("+ domain example.com\n");
    expect(stdout).toContain("  + www A  192.0.2.1 ttl 300\n");
    expect(stdout.endsWith("\nPlan: 5 to add, 0 to change, 0 to destroy.\n")).toBe(true);
    expect(new Set(service.requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
    expect((await run(["plan", "--detailed-exitcode"], options)).code).toBe(2);
  });

  it("writes a file for its owner's eyes, and show shows the very same plan", async () => {
    const service = await emulator();
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const options = { cwd, env: envOf(service) };
    const planned = await run(["plan", "--out", "the.plan"], options);
    expect((await stat(join(cwd, "the.plan"))).mode & 0o777).toBe(0o600);
    const json = await run(["plan", "--format", "json"], options);
    expect(await readFile(join(cwd, "the.plan"), "utf8")).toBe(json.stdout);
    expect(json.stdout).not.toContain("emulator-token");
    expect(await run(["show", "the.plan"], { cwd })).toEqual({ code: 0, stdout: planned.stdout, stderr: "" });
    expect((await run(["show", "the.plan", "--format", "json"], { cwd })).stdout).toBe(json.stdout);
  });

  it("narrows to targets", async () => {
    const options = { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(await emulator()) };
    const target = await run(["plan", "--target", "vpc/*"], options);
    expect(target.stdout).toContain("Plan: 2 to add");
    const rest = await run(["plan", "--exclude", "vpc/prod"], options);
    expect(rest.stdout).toContain("Plan: 3 to add");
  });

  it("exits with 3 for an invalid manifest, before it asks for a connection", async () => {
    const cwd = await folder({ "tenon.yaml": "tenon: 1\nvpcs: 7\n" });
    expect((await run(["plan"], { cwd })).code).toBe(3);
  });

  it("exits with 1 where nothing is known to be wrong with a manifest", async () => {
    const cwd = await folder({ "tenon.yaml": "tenon: 1\nvariables: { a: {} }\n" });
    expect((await run(["plan", "missing"], { cwd })).code).toBe(1);
    for (const flags of [[], ["--env", "none"], ["--var-file", "none"], ["--var", "a=1", "--var", "b=1"]])
      expect((await run(["validate", ...flags], { cwd })).code).toBe(1);
  });

  it("shows the expanded manifests as the service of a dialect keeps them", async () => {
    const zone = "{ domain: a.example, type: master, soa_email: a@b.example, ttl_sec: 30 }";
    const cwd = await folder({ "tenon.yaml": `tenon: 1\ndomains: [${zone}]\n` });
    expect((await run(["show", "--expanded"], { cwd })).stdout).toContain("ttl_sec: 300");
    const elsewhere = await run(["show", "--expanded", "--dialect", "box"], { cwd });
    expect(elsewhere.stdout).toMatch(/ttl_sec: 30$/m);
    expect((await run(["show", "--expanded", "--dialect", "../x"], { cwd })).code).toBe(1);
  });

  it("ends in silence when nobody reads its result", async () => {
    const records = Array.from(
      { length: 3000 },
      (_, index) => `      - { type: A, name: h${index}, target: 192.0.2.1 }`,
    );
    const cwd = await folder({ "tenon.yaml": `${PROJECT}${records.join("\n")}\n` });
    const child = start(["plan"], { cwd, env: envOf(await emulator()) });
    child.stdout.destroy();
    const { code, stderr } = await ended(child);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });
});

describe("tenon show", () => {
  it("names what is wrong with a plan file", async () => {
    const cwd = await folder({
      cut: '{"format_version":"1.2","tenon":{',
      other: '{"format_version":"1.2"}',
      soup: "soup",
    });
    for (const [file, problem] of [
      ["cut", "plan-file-truncated"],
      ["other", "plan-file-foreign"],
      ["soup", "plan-file-damaged"],
      ["missing", "cannot be read"],
    ] as const) {
      const { code, stdout, stderr } = await run(["show", file], { cwd });
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toContain(problem);
    }
  });

  it("shows the manifests with everything in place, as YAML and as JSON", async () => {
    const manifest = `tenon: 1
variables: { ip: {} }
defaults: { record: { ttl_sec: 3600 } }
record_sets:
  web: [{ type: A, name: www, target: "\${var.ip}" }]
domains:
  - { domain: example.com, type: master, soa_email: a@example.com, use: [web] }
`;
    const cwd = await folder({ "tenon.yaml": manifest });
    const yaml = await run(["show", "--expanded", "--var", "ip=192.0.2.7"], { cwd });
    expect(yaml.stdout).toContain("\n      - { type: A, name: www, target: 192.0.2.7, ttl_sec: 3600 }\n");
    expect((await run(["validate"], { cwd: await folder({ "tenon.yaml": yaml.stdout }) })).code).toBe(0);
    const json = await run(["show", "--expanded", "--var", "ip=192.0.2.7", "--format", "json"], { cwd });
    expect(JSON.parse(json.stdout).domains.map(({ domain }: { domain: string }) => domain)).toEqual(["example.com"]);
  });
});
