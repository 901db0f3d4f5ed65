/** `--target` and `--exclude` in every command that takes them: what matches nothing ends it, and nothing to do is told as what it is. */

import { describe, expect, it } from "vitest";
import { here } from "./here.ts";
import { type Ended, emulator, envOf, expectPlain, folder, PROJECT } from "./run.ts";

const COMMANDS = [["plan"], ["apply", "--yes"], ["destroy", "--yes"], ["drift"]];

/** An account in which the project was applied, and a VPC that it owns and declares no more. */
async function applied(manifest = PROJECT) {
  const service = await emulator({
    seed: { vpcs: [{ id: 77, label: "leftover", region: "us-east", description: "x [tenon:edge]" }] },
  });
  const options = { cwd: await folder({ "tenon.yaml": manifest }), env: envOf(service) };
  const prepared = await here(["apply", "--yes", "--target", "vpc/prod", "--target", "domain/*"], options);
  expect(prepared).toMatchObject({ code: 0 });
  service.clearRequests();
  return { service, options };
}

describe("a target or exclude that matches nothing", () => {
  it.each(COMMANDS)("is an error of %s, with the nearest address, and nothing is written", async (...command) => {
    const { service, options } = await applied();
    for (const [glob, near] of [
      ["domain/exmaple.com", "domain/example.com"],
      ["example.com", "domain/example.com"],
      ["domain/example.com/wwww/A", "domain/example.com/www/A"],
      ["vpc/prod/subnet/wbe", "vpc/prod/subnet/web"],
    ] as const) {
      // What goes as a whole is not read: its records are not known.
      if (command[0] === "destroy" && near.split("/").length > 2) continue;
      for (const flag of ["--target", "--exclude"]) {
        const ended = await here([...command, flag, glob], options);
        const code = flag === "--target" ? "error[unmatched-target]" : "error[unmatched-exclude]";
        expectPlain(ended, 1, [code, glob, `Did you mean \`${near}\`?`]);
      }
    }
    expectPlain(await here([...command, "--target", "vpc/prod", "--target", "image/*"], options), 1, ["image/*"]);
    expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  });

  it("that means something owned and no longer declared is told that a narrowed run never prunes", async () => {
    const { options } = await applied();
    for (const args of [
      ["--target", "vpc/leftover"],
      ["--target", "domain/*", "--target", "vpc/left*"],
      ["--exclude", "vpc/leftover"],
    ]) {
      const words = ["vpc/leftover", 'carries the tag of the owner "edge"', "never prunes"];
      expectPlain(await here(["plan", ...args], options), 1, words);
    }
  });

  it("that means something declared by its id, or about to be renamed, is no leftover, whatever its label is now", async () => {
    const { options } = await applied();
    const { writeFile } = await import("node:fs/promises");
    const declared = (entry: string): Promise<void> =>
      writeFile(`${options.cwd}/tenon.yaml`, `tenon: 1\nowner: edge\nvpcs: [${entry}]\n`);
    await declared("{ label: renamed, region: us-east, moved_from: leftover }");
    const moved = await here(["plan", "--target", "vpc/leftover"], options);
    expect(moved).toMatchObject({ code: 0, stderr: expect.not.stringContaining("never prunes") });
    expect(moved.stdout).toContain("vpc renamed");
    expectPlain(await here(["plan", "--target", "vpc/leftovr"], options), 1, ["Did you mean `vpc/leftover`?"]);
  });

  it("is judged by what is declared, so that what is there, done, missing or unread is no error", async () => {
    const manifest = `${PROJECT}removed: [{ vpc: gone }]\n  - { domain: gone.example }\n`.replace(
      "[{ vpc: gone }]",
      "\n  - { vpc: gone }",
    );
    const { options } = await applied(manifest);
    for (const args of [
      ["--target", "vpc/gone"],
      ["--target", "domain/gone.example"],
      ["--exclude", "domain/gone.example"],
      ["--target", "vpc/prod", "--exclude", "domain/example.com/www/A"],
      ["--target", "vpc/prod/*"],
    ]) {
      expect(await here(["plan", ...args], options)).toMatchObject({ code: 0 });
    }
  });
});

describe("a narrowed run with nothing to do", () => {
  const last = ({ stdout }: Ended): string => stdout.trimEnd().split("\n").at(-1) ?? "";

  it("does not say that the infrastructure matches, in any format", async () => {
    const { options } = await applied();
    const here_ = (...args: string[]) => here([...args, "--target", "domain/*"], options);
    expect(last(await here_("plan"))).toBe("No changes within the targets.");
    expect(last(await here_("apply", "--yes"))).toBe("No changes within the targets.");
    expect(last(await here_("drift"))).toBe("No drift within the targets.");
    expect((await here_("plan", "--format", "markdown")).stdout).toMatch(/^## No changes within the targets\.\n/);
    expect((await here_("apply", "--yes", "--format", "markdown")).stdout).toMatch(
      /^## No changes within the targets\.\n/,
    );
    expect((await here_("drift", "--format", "markdown")).stdout).toMatch(/^## No drift within the targets\.\n/);
    const inputs = { targets: ["domain/*"], excludes: [] };
    expect(JSON.parse((await here_("plan", "--format", "json")).stdout).tenon.inputs).toMatchObject(inputs);
    expect(JSON.parse((await here_("drift", "--format", "json")).stdout)).toMatchObject({ drift: false, ...inputs });
    expect(last(await here(["plan", "--exclude", "vpc/*"], options))).toBe("No changes within the targets.");
  });
});
