/** `tenon init`: what it writes is valid, in the one form, and never over what is there. */

import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SCRIPTS } from "../examples/ci/workflow.ts";
import { here } from "./here.ts";
import { emulator, envOf, expectPlain, folder, run } from "./run.ts";

async function filesOf(cwd: string): Promise<string[]> {
  const entries = await readdir(cwd, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  return files.map((file) => file.slice(cwd.length + 1)).sort();
}

describe("what is written without a terminal", () => {
  test.each([
    ["nothing asked for", [], 0],
    ["a domain", ["--domain", "example.com"], 1],
    ["domains, an owner and an address", ["--domain", "a.example", "--domain", "b.example", "--owner", "edge"], 2],
    ["a name in Unicode", ["--domain", "bücher.example", "--soa-email", "post@bücher.example"], 1],
    [
      "names that YAML takes for something else",
      ["--domain", "1e3", "--domain", "null", "--owner", "10", "--soa-email", "a@b.example"],
      2,
    ],
  ])("validates strictly, is formatted, and plans no deletion: %s", async (_, flags, declared) => {
    const cwd = await folder({});
    const { code, stderr } = await run(["init", "infra", ...flags], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(await filesOf(cwd)).toEqual(["infra/.gitignore", "infra/tenon.yaml"]);
    const text = await readFile(join(cwd, "infra/tenon.yaml"), "utf8");
    expect(text).toMatch(/^# yaml-language-server: \$schema=node_modules\/tenon\/schemas\/manifest\.schema\.json\n/);
    expect(await run(["validate", "--strict", "infra"], { cwd })).toMatchObject({
      code: 0,
      stdout: `The manifest is valid: ${declared} declared.\n`,
    });
    expect(await run(["fmt", "--check", "infra"], { cwd })).toEqual({ code: 0, stdout: "", stderr: "" });
    const seed = { domains: [{ domain: "example.com", records: [{ type: "A", name: "www", target: "192.0.2.1" }] }] };
    const service = await emulator({ seed: seed as never });
    const { stdout } = await run(["plan", "infra"], { cwd, env: envOf(service) });
    expect(stdout).toMatch(/0 to destroy|^No changes/m);
  });

  test("declares what its comments propose, once they are comments no more", async () => {
    const cwd = await folder({});
    await here(["init", "."], { cwd });
    const path = join(cwd, "tenon.yaml");
    const text = await readFile(path, "utf8");
    const lines = text.split("\n").map((line) => line.replace(/^# (?=owner|domains|vpcs| )/, ""));
    await writeFile(path, lines.join("\n"));
    const { code, stdout } = await here(["validate"], { cwd });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("valid: 2 declared") });
  });

  test("proposes a network at the margin behind one domain, too, so that it is valid as it stands", async () => {
    const cwd = await folder({});
    await here(["init", ".", "--domain", "bücher.example"], { cwd });
    const path = join(cwd, "tenon.yaml");
    const text = await readFile(path, "utf8");
    expect(text).toContain("soa_email: hostmaster@xn--bcher-kva.example }");
    await writeFile(path, text.replace(/^# (?=vpcs| {3})/gm, "").replace(/^# {3}/gm, "  "));
    const { code, stdout } = await here(["validate"], { cwd });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("valid: 2 declared") });
  });

  test("is refused where it would be invalid, and nothing is written", async () => {
    const cwd = await folder({});
    expectPlain(await here(["init", "--domain", "b..c"], { cwd }), 1, ["bad-domain", "Nothing was written."]);
    expectPlain(await here(["init", "--owner", "Edge Team"], { cwd }), 1, ["bad-format", "Nothing was written."]);
    expectPlain(await here(["init", "--domain", "${var.x}"], { cwd }), 1, ["unknown-variable"]);
    expect(await filesOf(cwd)).toEqual([]);
  });
});

describe("what is there already", () => {
  test("is never overwritten without --force, not in part either", async () => {
    const cwd = await folder({ "tenon.yaml": "tenon: 1 # mine\n", "ci/tenon/plan.sh": "mine\n" });
    const refused = await here(["init", "--pipeline", "github"], { cwd });
    expectPlain(refused, 4, ["these files are there already: tenon.yaml, ci/tenon/plan.sh", "--force"]);
    expect(await filesOf(cwd)).toEqual(["ci/tenon/plan.sh", "tenon.yaml"]);
    expect((await here(["init", "--pipeline", "github", "--force"], { cwd })).code).toBe(0);
    expect(await readFile(join(cwd, "tenon.yaml"), "utf8")).toContain("requires:");
  });

  test("as .gitignore is left as it is, and what it lacks is told", async () => {
    const cwd = await folder({ ".gitignore": "/node_modules/\n*.log\n" });
    const { code, stdout } = await here(["init"], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain(".gitignore was there and is left as it is; it lacks: .tenon/, tenon-*/, *.plan\n");
    expect(await readFile(join(cwd, ".gitignore"), "utf8")).toBe("/node_modules/\n*.log\n");
  });

  test("as a symbolic link or a folder is refused, with --force too", async () => {
    const cwd = await folder({ "elsewhere/tenon.yaml": "mine\n" });
    await mkdir(join(cwd, "a"));
    await symlink("../elsewhere/tenon.yaml", join(cwd, "a/tenon.yaml"));
    await mkdir(join(cwd, "b/tenon.yaml"), { recursive: true });
    for (const name of ["a", "b"])
      expectPlain(await here(["init", name, "--force"], { cwd }), 4, ["tenon.yaml is no regular file"]);
    expect(await readFile(join(cwd, "elsewhere/tenon.yaml"), "utf8")).toBe("mine\n");
  });

  test("never through a link that leads out of the working folder", async () => {
    const cwd = await folder({});
    const elsewhere = await folder({});
    await symlink(elsewhere, join(cwd, "out"));
    for (const name of ["out", "out/deep"]) {
      const words = [`${name} leads out of this folder by a symbolic link`, "Name the place itself."];
      expectPlain(await run(["init", name], { cwd }), 4, words);
    }
    expect(await filesOf(elsewhere)).toEqual([]);
  });
});

describe("a pipeline", () => {
  test("goes to the root of the repository, and names the project and the service", async () => {
    const cwd = await folder({ ".git/HEAD": "ref: refs/heads/main\n" });
    const args = ["init", "infra/dns", "--pipeline", "github", "--service", "linode"];
    expect((await here(args, { cwd })).code).toBe(0);
    const scripts = (await readdir(SCRIPTS)).map((name) => `ci/tenon/${name}`);
    const workflows = ["apply", "drift", "plan"].map((name) => `.github/workflows/tenon-${name}.yml`);
    const own = [".git/HEAD", "infra/dns/.gitignore", "infra/dns/tenon.yaml"];
    expect(await filesOf(cwd)).toEqual([...own, ...workflows, ...scripts].sort());
    for (const file of workflows) {
      const text = await readFile(join(cwd, file), "utf8");
      expect(text).toContain(
        "\n  TENON_BASE_URL: https://api.linode.com/v4\n  TENON_DIALECT: linode\n  PROJECT: infra/dns\n",
      );
    }
    expect(await readFile(join(cwd, "ci/tenon/plan.sh"), "utf8")).toBe(
      await readFile(join(SCRIPTS, "plan.sh"), "utf8"),
    );
  });

  test("names the project as text, whatever a version of YAML takes its name for", async () => {
    for (const name of ["no", "On", "0x10", "0o17", "1_000", "1e3", "2020-01-01", "null"]) {
      const cwd = await folder({ ".git/HEAD": "ref: refs/heads/main\n" });
      expect((await here(["init", name, "--pipeline", "gitlab"], { cwd })).code).toBe(0);
      const text = await readFile(join(cwd, ".gitlab-ci.yml"), "utf8");
      expect(text).toContain(`\n  PROJECT: "${name}"\n`);
    }
  });

  test("for GitLab is one file beside the scripts", async () => {
    const cwd = await folder({});
    expect((await here(["init", "--pipeline", "gitlab"], { cwd })).code).toBe(0);
    const text = await readFile(join(cwd, ".gitlab-ci.yml"), "utf8");
    expect(text).toContain("\n  PROJECT: .\n");
    expect(text).toContain("https://api.example.com/v4");
  });

  test("for a folder in whose path a forge would put values is refused", async () => {
    const cwd = await folder({ ".git/HEAD": "ref: refs/heads/main\n" });
    for (const [forge, name] of [
      ["github", "${{ github.token }}"],
      ["gitlab", "a/$CI_JOB_TOKEN"],
    ] as const) {
      const refused = await here(["init", name, "--pipeline", forge], { cwd });
      expectPlain(refused, 1, ["a forge would put values into the path", "has no $ in it"]);
    }
    expect(await filesOf(cwd)).toEqual([".git/HEAD"]);
  });

  test("of another forge is refused", async () => {
    expectPlain(await here(["init", "--pipeline", "jenkins"]), 1, ["Allowed choices are github, gitlab, none"]);
  });
});

test("who runs a command where there is no project is told of it", async () => {
  const { stderr } = await run(["plan"], { cwd: await folder({}) });
  expect(stderr).toContain("`tenon init`");
});

test("init of a file says what it wants, and writes nothing", async () => {
  const cwd = await folder({ "there/tenon.yaml": "tenon: 1\n", "tenon.yaml": "tenon: 1\n" });
  expectPlain(await here(["init", "missing/tenon.yaml"], { cwd }), 1, [
    "missing/tenon.yaml names a file, and init makes that itself",
    "tenon init missing.",
  ]);
  expectPlain(await here(["init", "there/tenon.yaml", "--force"], { cwd }), 1, ["is a file", "tenon init there."]);
  expectPlain(await here(["init", "tenon.yaml"], { cwd }), 1, ["Name the project's folder: tenon init."]);
  expect(await filesOf(cwd)).toEqual(["tenon.yaml", "there/tenon.yaml"]);
});

test("init with a domain says how one that the account has is written as it is there", async () => {
  const cwd = await folder({});
  const { stdout } = await here(["init", "infra", "--domain", "example.com"], { cwd });
  expect(stdout).toContain("tenon import --into infra --domain NAME writes it as it is there.\n");
  expect((await here(["init", "other"], { cwd })).stdout).not.toContain("--domain NAME");
});
