import { execFileSync } from "node:child_process";
import { mkdir, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { CommitFiles } from "../../src/cli/git-tree.ts";
import { here } from "../cli/here.ts";
import { emulator, envOf, expectPlain, folder, type RunOptions, run } from "../cli/run.ts";
import { writeInto } from "../support/files.ts";

const IDENTITY = ["-c", "user.email=a@b.example", "-c", "user.name=a", "-c", "commit.gpgsign=false"];

function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync("git", [...IDENTITY, ...args], { cwd, encoding: "utf8", env: { PATH: process.env["PATH"] } });
}

const manifest = (...records: readonly string[]) => `tenon: 1
domains:
  - domain: example.com
    type: master
    soa_email: a@example.com
    records: [${records.map((name) => `{ type: A, name: "${name}", target: 192.0.2.1 }`).join(", ")}]
`;

async function commit(cwd: string, files: Readonly<Record<string, string>>, message: string): Promise<void> {
  await writeInto(cwd, files);
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "--message", message);
}

/** A repository whose branch `main` holds `files`, and an empty account. */
async function repository(files: Readonly<Record<string, string>>) {
  const service = await emulator();
  const cwd = await folder({});
  git(cwd, "init", "--quiet", "--initial-branch", "main");
  await commit(cwd, files, "first");
  const temporary = await folder({});
  onTestFinished(async () => expect(await readdir(temporary)).toEqual([]));
  return { service, cwd, options: { cwd, env: { ...envOf(service), TMPDIR: temporary } } };
}

async function originsOf(args: readonly string[], options: RunOptions) {
  const { code, stdout, stderr } = await here(["plan", "--format", "json", ...args], options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { tenon } = JSON.parse(stdout);
  const changes = Object.entries(tenon.changes as Record<string, { origin: string | null }>);
  const origins = Object.fromEntries(changes.map(([key, { origin }]) => [key, origin]));
  return { origins, base: tenon.base, warnings: tenon.warnings as { readonly code: string }[] };
}

describe("tenon plan --base", () => {
  it("tells this change from what is pending at a ref, with one read of the account", async () => {
    const { service, cwd, options } = await repository({ "tenon.yaml": manifest("old", "gone") });
    await writeFile(join(cwd, "tenon.yaml"), manifest("old", "new"));
    const { origins, base } = await originsOf(["--base", "main"], options);
    expect(origins).toEqual({
      "domain/example.com": "already-pending",
      "domain/example.com/new/A": "this-change",
      "domain/example.com/old/A": "already-pending",
    });
    expect(base).toEqual({ name: "main", withdrawn: [{ key: "domain/example.com/gone/A", action: "create" }] });
    expect(service.requests).toHaveLength(1);
    expect(git(cwd, "status", "--porcelain")).toBe(" M tenon.yaml\n");
  });

  it("shows first what the change brings", async () => {
    const { cwd, options } = await repository({ "tenon.yaml": manifest("old", "gone") });
    await writeFile(join(cwd, "tenon.yaml"), manifest("old", "new"));
    const { stdout } = await run(["plan", "--base", "main"], options);
    expect(stdout.split("\n\n").slice(0, 5)).toEqual([
      "This change, compared with main:",
      "  domain example.com\n  + new A 192.0.2.1",
      "Already pending before this change (drift, or not yet applied):",
      '+ domain example.com\n    soa_email  "a@example.com"\n  + old A 192.0.2.1',
      "Withdrawn, or done otherwise: main would do this without this change:\n  create domain/example.com/gone/A",
    ]);
    expect(stdout.endsWith("destroy.\nPlan: 3 to add, 0 to change, 0 to destroy.\n")).toBe(true);
  });

  it("needs neither a token nor a request where there is a snapshot", async () => {
    const { service, cwd, options } = await repository({ "tenon.yaml": manifest("old") });
    await here(["live", "--out", "live.json"], options);
    await writeFile(join(cwd, "tenon.yaml"), manifest("old", "new"));
    const live = await here(["plan", "--base", "main"], options);
    service.clearRequests();
    const offline = await here(["plan", "--base", "main", "--live", "live.json"], { cwd, env: { TMPDIR: cwd } });
    expect({ code: offline.code, stdout: offline.stdout }).toEqual({ code: 0, stdout: live.stdout });
    expect(service.requests).toEqual([]);
  });

  it("takes for a folder only what is written as a path, so that no change brings its own base", async () => {
    const { cwd, options } = await repository({ "tenon.yaml": manifest("a", "b") });
    await commit(cwd, { "main/tenon.yaml": manifest("a") }, "second");
    const origin = async (base: string) =>
      (await originsOf(["--base", base], options)).origins["domain/example.com/b/A"];
    expect(await origin("./main")).toBe("this-change");
    expect(await origin(join(cwd, "main"))).toBe("this-change");
    expect(await origin("main")).toBe("already-pending");
    await rm(join(cwd, "main/tenon.yaml"));
    expectPlain(await here(["plan", "--base", "./main"], options), 1, ["no folder with a tenon.yaml in it"]);
    expect((await originsOf(["--base", "main~1"], options)).base.name).toBe("main~1");
  });

  it("reads a project in a folder of the repository, with its files, links and odd names, also from within a hook", async () => {
    const files = { "infra/ü [x]/tenon.yaml": "tenon: 1\nfiles: ['zones/*.yaml']\n", "infra/tenon.yaml": "broken: [" };
    const { cwd, options } = await repository({ ...files, "infra/ü [x]/shared/-q --x\n.yaml": manifest("a") });
    const project = join(cwd, "infra/ü [x]");
    await mkdir(join(project, "zones"));
    await symlink("../shared/-q --x\n.yaml", join(project, "zones/linked.yaml"));
    await commit(cwd, {}, "a link");
    const env = { ...options.env, GIT_DIR: ".git", GIT_INDEX_FILE: ".git/index" };
    const { origins } = await originsOf(["--base", "HEAD"], { cwd: project, env });
    expect(origins["domain/example.com/a/A"]).toBe("already-pending");
  });

  it("takes all of it for this change where there was no project, or not this environment", async () => {
    const { cwd, options } = await repository({ README: "nothing", infra: "a file" });
    await writeFile(join(cwd, "tenon.yaml"), `${manifest("a")}environments: { staging: {} }\n`);
    const changed = { "domain/example.com": "this-change", "domain/example.com/a/A": "this-change" };
    expect((await originsOf(["--base", "main"], options)).origins).toEqual(changed);
    await rm(join(cwd, "infra"));
    await mkdir(join(cwd, "infra"));
    await writeFile(join(cwd, "infra/tenon.yaml"), manifest("a"));
    expect((await originsOf(["infra", "--base", "main"], options)).origins).toEqual(changed);
    await commit(cwd, { "tenon.yaml": manifest("a") }, "without the environment");
    await writeFile(join(cwd, "tenon.yaml"), `${manifest("a")}environments: { staging: {} }\n`);
    expect((await originsOf(["--base", "main", "--env", "staging"], options)).origins).toEqual(changed);
  });

  it("gives the base the same flags, as far as it knows them, and asks it for no file to upload", async () => {
    const image = 'images: [{ label: a, upload: { file: a.img.gz, region: "us-east" } }]\n';
    const { cwd, options } = await repository({ "tenon.yaml": image.replace(/^/, "tenon: 1\n") });
    const more = `tenon: 1\nvariables: { new: {} }\nvpcs: [{ label: "\${var.new}", region: x }]\n${image}`;
    await writeFile(join(cwd, "tenon.yaml"), more);
    await writeFile(join(cwd, "a.img.gz"), gzipSync("a disk"));
    expect((await originsOf(["--base", "main", "--var", "new=prod"], options)).origins).toEqual({
      "image/a": "already-pending",
      "vpc/prod": "this-change",
    });
  });

  it("plans without a base that is invalid, as the change may mend it, and says so and where", async () => {
    const keys = ["a", "b", "c", "d"].map((key) => `${key}: 1\n`).join("");
    const { service, cwd, options } = await repository({ "tenon.yaml": `tenon: 1\nvpcs: 7\n${keys}` });
    await writeFile(join(cwd, "tenon.yaml"), manifest("a"));
    const { origins, base, warnings } = await originsOf(["--base", "main", "--out", "the.plan"], options);
    expect(origins).toEqual({ "domain/example.com": null, "domain/example.com/a/A": null });
    expect(base).toBeNull();
    const [warning, ...rest] = warnings.filter(({ code }) => code === "base-invalid");
    expect(rest).toEqual([]);
    expect(warning).toMatchObject({
      severity: "warning",
      summary: "the base main is invalid; the plan cannot show which changes are new",
      detail: expect.stringMatching(/^main:tenon\.yaml:2:7: .*; main:tenon\.yaml:3:1: .*; and 2 more$/),
    });
    expect(warning).not.toHaveProperty("span");
    // The two others show it, too, and never a place that looks like one of the project.
    for (const format of ["text", "markdown"]) {
      const { code, stdout, stderr } = await here(["plan", "--base", "main", "--format", format], options);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toContain("the base main is invalid");
      // What is folded is not read.
      if (format === "markdown") expect(stdout).toMatch(/^.*\n\n\*\*The base was not used:\*\*/);
      expect(stdout.match(/\S*tenon\.yaml:\d+:\d+/g)?.every((place) => place.startsWith("main:"))).toBe(true);
    }
    // It bounds an apply like any other.
    expect((await here(["apply", "--yes", "--plan", "the.plan"], options)).code).toBe(0);
    expect(service.requests.some(({ method }) => method === "POST")).toBe(true);
  });

  it("never follows a link out of the base", async () => {
    const secret = await folder({ "secret.yaml": manifest("secret") });
    const { cwd, options } = await repository({ "tenon.yaml": "tenon: 1\nfiles: [a.yaml]\n" });
    await symlink(join(secret, "secret.yaml"), join(cwd, "a.yaml"));
    await commit(cwd, {}, "a link");
    await rm(join(cwd, "a.yaml"));
    await writeFile(join(cwd, "tenon.yaml"), "tenon: 1\n");
    const ended = await here(["plan", "--base", "main"], options);
    expect(ended).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^The project declares nothing.*\n$/),
      stdout: expect.stringContaining("the base main is invalid"),
    });
    expect(ended.stdout).toContain("main:tenon.yaml:2:9: ");
    expect(ended.stdout).not.toContain('secret"');
  });

  it("has nothing that no checkout can have, whatever a commit was forged to hold", async () => {
    const { cwd, options } = await repository({ "tenon.yaml": 'tenon: 1\nfiles: ["*/*.yaml", ".*/*.yaml"]\n' });
    const root = git(cwd, "rev-parse", "HEAD:tenon.yaml").trim();
    const make = (args: readonly string[], input: string) =>
      execFileSync("git", args, { cwd, input, encoding: "utf8" }).trim();
    const blob = make(["hash-object", "-w", "--stdin"], manifest("evil"));
    const evil = make(["mktree"], `100644 blob ${blob}\tevil.yaml\n`);
    for (const name of ["..", ".", ".git", ".GIT"]) {
      const tree = make(["mktree"], `100644 blob ${root}\ttenon.yaml\n040000 tree ${evil}\t${name}\n`);
      const forged = git(cwd, "commit-tree", tree, "-m", "forged").trim();
      const { code, stdout } = await here(["plan", "--base", forged], options);
      const nothing = expect.stringContaining(`compared with ${forged}: nothing.`);
      expect({ name, code, stdout }).toEqual({ name, code: 0, stdout: nothing });
      expect(stdout).not.toContain("Withdrawn");
    }
  });

  it("is refused where git lacks a manifest, a link or a folder of it", async () => {
    const { cwd, options } = await repository({
      "tenon.yaml": "tenon: 1\nfiles: ['zones/*.yaml']\n",
      "zones/x.txt": "",
    });
    await symlink("x.txt", join(cwd, "zones/a.yaml"));
    await commit(cwd, { "zones/b.yaml": manifest("b") }, "second");
    await commit(cwd, { "tenon.yaml": "tenon: 1\n" }, "third");
    for (const name of ["tenon.yaml", "zones/a.yaml", "zones/b.yaml", "zones"]) {
      const id = git(cwd, "rev-parse", `HEAD~1:${name}`).trim();
      const object = join(cwd, ".git/objects", id.slice(0, 2), id.slice(2));
      await rename(object, join(cwd, "kept"));
      const ended = await here(["plan", "--base", "HEAD~1"], options);
      expectPlain(ended, 1, [`cannot be read: git does not have the object ${id}`]);
      await rename(join(cwd, "kept"), object);
    }
  });

  it("names what a shallow clone lacks, and how to get it", async () => {
    const { cwd, options } = await repository({ "tenon.yaml": manifest("a") });
    git(cwd, "branch", "other");
    await commit(cwd, { "tenon.yaml": manifest("a", "b") }, "second");
    const clone = await folder({});
    git(clone, "clone", "--quiet", "--depth", "1", `file://${cwd}`, "here");
    const shallow = { ...options, cwd: join(clone, "here") };
    expect((await originsOf(["--base", "origin/main"], shallow)).base.withdrawn).toEqual([]);
    const fetch = "+refs/heads/other:refs/remotes/origin/other";
    for (const [ref, advice] of [
      ["HEAD~1", "git fetch --unshallow origin."],
      ["other", `git fetch origin ${fetch}, and give --base origin/other.`],
      ["origin/other", `git fetch origin ${fetch}.`],
    ] as const) {
      const ended = await here(["plan", "--base", ref], shallow);
      expectPlain(ended, 1, ["error[base-unknown]", "shallow clone", "fetch-depth: 0"]);
      expect(ended.stderr.replace(/\s+/g, " ")).toContain(advice);
    }
    // The advice is enough.
    git(shallow.cwd, "fetch", "--quiet", "origin", fetch);
    expect((await originsOf(["--base", "origin/other"], shallow)).base.name).toBe("origin/other");
    git(shallow.cwd, "fetch", "--quiet", "--unshallow", "origin");
    expect((await originsOf(["--base", "HEAD~1"], shallow)).base.name).toBe("HEAD~1");
  });

  it("does not take a whole clone for a shallow one where a ref is mistyped, and names the nearest", async () => {
    const { cwd, options } = await repository({ "tenon.yaml": manifest("a") });
    git(cwd, "branch", "release");
    const clone = await folder({});
    git(clone, "clone", "--quiet", `file://${cwd}`, "here");
    const whole = { ...options, cwd: join(clone, "here") };
    for (const [ref, advice] of [
      ["origin/mian", "Did you mean origin/main?"],
      ["release", "Did you mean origin/release?"],
      ["0123456789abcdef", "git branch --all"],
    ] as const) {
      const ended = await here(["plan", "--base", ref], whole);
      expectPlain(ended, 1, [`there is no such ref: ${ref}`]);
      expect(ended.stderr.replace(/\s+/g, " ")).toContain(advice);
      expect(ended.stderr).not.toContain("shallow");
    }
  });

  it("has the files byte for byte, whatever they begin and end with", async () => {
    const files = {
      "tenon.yaml": manifest("a"),
      "\n.txt": "",
      blank: "\n\nx",
      "empty.yaml": "",
      "zones/é.zone": "@ A 192.0.2.1\r\n",
    };
    const { cwd } = await repository(files);
    const commit = new CommitFiles({ tree: git(cwd, "rev-parse", "HEAD^{tree}").trim(), top: cwd }, process.env);
    for (const [name, text] of Object.entries(files))
      expect(await commit.read(join(cwd, name))).toEqual({ ok: true, text, badOffset: null });
    commit.close();
  });

  it("passes over a folder called .git that is no repository, as git does", async () => {
    const { cwd, options } = await repository({
      "sub/proj/tenon.yaml": manifest("a"),
      "proj/tenon.yaml": manifest("b"),
    });
    await mkdir(join(cwd, "sub/.git"));
    const { code, stdout } = await here(["plan", "sub/proj", "--base", "refs/heads/main"], options);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining("This change, compared with refs/heads/main: nothing."),
    ]);
  });

  it("refuses what cannot be a ref, and where there is no repository", async () => {
    const { options } = await repository({ "tenon.yaml": manifest("a") });
    for (const ref of ["", "-x", "--output=x", "--upload-pack=touch x"]) {
      expectPlain(await here(["plan", `--base=${ref}`], options), 1, ["neither a project folder nor a git ref"]);
    }
    for (const ref of ["main:tenon.yaml", "main..main", "$(touch x)", "a b", "@{-1}"]) {
      expectPlain(await here(["plan", "--base", ref], options), 1, ["error[base-unknown]"]);
    }
    const alone = { ...options, cwd: await folder({ "tenon.yaml": manifest("a") }) };
    expectPlain(await here(["plan", "--base", "main"], alone), 1, ["error[base-unreadable]", "not a git repository"]);
    const pathless = { ...options, env: { ...options.env, PATH: alone.cwd } };
    expectPlain(await here(["plan", "--base", "main"], pathless), 1, ["there is no git to run"]);
  });
});

describe("tenon plan --changed-since", () => {
  it("reads only what a git ref declares otherwise, and leaves the work tree as it is", async () => {
    const zone = (name: string, ...records: readonly string[]) => manifest(...records).replace("example.com", name);
    const { service, cwd, options } = await repository({
      "tenon.yaml": "tenon: 1\nfiles: [zones/*.yaml]\n",
      "zones/a.yaml": zone("a.example", "old"),
      "zones/b.yaml": zone("b.example", "old"),
    });
    expect((await here(["apply", "--yes"], options)).code).toBe(0);
    service.clearRequests();
    await commit(cwd, { "zones/a.yaml": zone("a.example", "old", "new") }, "change");
    const { origins, base } = await originsOf(["--changed-since", "refs/heads/main~1"], options);
    expect(origins).toEqual({
      "domain/a.example": null,
      "domain/a.example/new/A": "this-change",
      "domain/a.example/old/A": null,
    });
    expect(base).toEqual({ name: "refs/heads/main~1", withdrawn: [] });
    expect(service.requests.map(({ path }) => path)).toEqual(["/v4/domains", "/v4/domains/30001/records"]);
    expect(git(cwd, "status", "--porcelain")).toBe("");
    const none = await here(["plan", "--changed-since", "mian"], options);
    expectPlain(none, 1, ["there is no such ref: mian", "Did you mean main?"]);
  });
});
