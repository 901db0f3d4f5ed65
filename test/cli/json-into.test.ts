/** `--json-into FILE`: the document of `--format json` beside what a person reads. */

import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { here } from "./here.ts";
import { emulator, envOf, expectPlain, folder, PROJECT, run } from "./run.ts";

async function project(manifest = PROJECT, options: Parameters<typeof emulator>[0] = {}) {
  const service = await emulator(options);
  const cwd = await folder({ "tenon.yaml": manifest });
  const text = (file = "the.json") => readFile(join(cwd, file), "utf8");
  return { service, text, options: { cwd, env: envOf(service) } };
}

describe("--json-into", () => {
  it.each(["plan", "drift", "validate"])(
    "of %s writes what --format json prints, and prints what it prints without",
    async (command) => {
      const { text, options } = await project();
      const plain = await run([command], options);
      const both = await run([command, "--json-into", "the.json"], options);
      expect(both).toEqual(plain);
      const data = await run([command, "--format", "json", "--json-into", "again.json"], options);
      expect(data.code).toBe(plain.code);
      expect(await text()).toBe(data.stdout);
      expect(await text("again.json")).toBe(data.stdout);
      expect(JSON.parse(data.stdout)).toHaveProperty(command === "plan" ? "tenon" : "format_version");
      expect((await stat(join(options.cwd, "the.json"))).mode & 0o777).toBe(0o600);
      expect((await readdir(options.cwd)).sort()).toEqual(["again.json", "tenon.yaml", "the.json"]);
    },
  );

  it("of apply writes the last line of the stream: the report, or why nothing was done", async () => {
    const { text, options } = await project();
    const last = (stdout: string) => `${stdout.trimEnd().split("\n").at(-1)}\n`;
    const unasked = await here(["apply", "--json-into", "the.json"], options);
    expect(unasked.code).toBe(1);
    expect(JSON.parse(await text())).toMatchObject({ type: "error", diagnostics: [{ code: "consent-not-asked" }] });
    const limited = await here(["apply", "--yes", "--max-changes", "1", "--json-into", "the.json"], options);
    expect(limited.code).toBe(4);
    const refusal = await here(["apply", "--yes", "--max-changes", "1", "--format", "json"], options);
    expect(await text()).toBe(last(refusal.stdout));
    expect(JSON.parse(await text())).toMatchObject({ type: "refused", reason: "consent" });
    const applied = await run(["apply", "--yes", "--format", "json", "--json-into", "the.json"], options);
    expect(applied.code).toBe(0);
    expect(await text()).toBe(last(applied.stdout));
    expect(JSON.parse(await text())).toMatchObject({ type: "report" });
    const idle = await here(["apply", "--yes", "--json-into", "the.json"], options);
    expect(idle.stdout).toContain("No changes.");
    expect(JSON.parse(await text())).toMatchObject({ type: "report" });
    const destroyed = await here(["destroy", "--yes", "--json-into", "the.json"], options);
    expect(destroyed.stdout).toContain("Resources: 0 added, 0 changed");
    expect(JSON.parse(await text())).toMatchObject({ type: "report" });
  });

  it("writes the errors where there is nothing else", async () => {
    const { text, options } = await project("tenon: 1\nvpcs: [{ label: a }]\n");
    for (const command of ["plan", "apply", "drift", "validate"]) {
      const { code, stdout } = await here([command, "--json-into", "the.json"], options);
      expect({ command, code, stdout }).toEqual({ command, code: 3, stdout: "" });
      const data = await here([command, "--format", "json"], options);
      expect(await text()).toBe(data.stdout);
      expect(JSON.parse(data.stdout)).toMatchObject({
        diagnostics: expect.arrayContaining([expect.objectContaining({ severity: "error" })]),
      });
    }
  });

  it("writes the plan that was refused", async () => {
    const vpc = { id: 1, label: "prod", region: "us-east", description: "[tenon:others]" };
    const { text, options } = await project(PROJECT, { seed: { vpcs: [vpc] } });
    expect(await here(["plan", "--json-into", "the.json"], options)).toMatchObject({ code: 4, stdout: "" });
    expect(await text()).toBe((await here(["plan", "--format", "json"], options)).stdout);
    expect(JSON.parse(await text())).toMatchObject({ errored: true });
    expect(await here(["apply", "--yes", "--json-into", "the.json"], options)).toMatchObject({ code: 4 });
    expect(JSON.parse(await text())).toMatchObject({ type: "refused", reason: "identity" });
  });

  it("begins nothing where the file cannot be written, and follows no link that leads out", async () => {
    const { service, options } = await project();
    const outside = await folder({ "other.json": "kept" });
    await symlink(join(outside, "other.json"), join(options.cwd, "link.json"));
    await mkdir(join(options.cwd, "sub"));
    service.clearRequests();
    for (const [file, words] of [
      ["missing/a.json", "there is no folder missing"],
      ["sub", "sub is a folder"],
      ["-", "- is stdout, and that is what --format json is for"],
      ["link.json", "link.json leads out of this folder by a symbolic link; name the place itself"],
    ] as const) {
      for (const command of ["plan", "apply", "drift", "validate"]) {
        const ended = await here([command, "--json-into", file], options);
        expectPlain(ended, 1, [`the JSON file cannot be written: ${words}`]);
      }
    }
    const data = await here(["plan", "--format", "json", "--json-into", "sub"], options);
    expect(JSON.parse(data.stdout)).toMatchObject({ diagnostics: [{ code: "file-unwritable" }] });
    expect(await readFile(join(outside, "other.json"), "utf8")).toBe("kept");
    expect(service.requests).toEqual([]);
  });

  it("does not save the token", async () => {
    const manifest = "tenon: 1\nvpcs: [{ label: a, region: us-east, description: emulator-token }]\n";
    const { options } = await project(manifest);
    await writeFile(join(options.cwd, "the.json"), '{"format_version":1}');
    for (const command of ["plan", "drift"]) {
      const { code, stdout, stderr } = await here([command, "--json-into", "the.json"], options);
      expect(stderr).toContain(
        "error: the document holds the token, in some name, text, record or variable, and is not saved",
      );
      expect({ command, code }).toEqual({ command, code: 1 });
      expect(stdout).not.toBe("");
    }
    expect(await readFile(join(options.cwd, "the.json"), "utf8")).toBe('{"format_version":1}');
  });

  it("writes a plan of 12,000 changes whole", async () => {
    const records = Array.from({ length: 12 }, (_, index) => `{ type: A, name: h${index}, target: 192.0.2.1 }`);
    const names = Array.from({ length: 1_000 }, (_, index) => `brand${index}.example`);
    const { text, options } = await project(
      `tenon: 1\ndomains: [{ domain: [${names.join(", ")}], type: master, soa_email: a@example.com, records: [${records.join(", ")}] }]\n`,
    );
    const { stdout } = await run(["plan", "--json-into", "the.json", "--no-clone"], options);
    expect(stdout).toMatch(/\nPlan: 13000 to add, 0 to change, 0 to destroy\.\n$/);
    expect(stdout.split("\n").length).toBeLessThan(30);
    expect(JSON.parse(await text()).resource_changes).toHaveLength(13_000);
  });
});
