import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { here } from "../cli/here.ts";
import { emulator, envOf, expectPlain, folder, PROJECT, type RunOptions, run } from "../cli/run.ts";

test("git is asked for the commit without the token, and runs nothing that a folder's settings name", async () => {
  // The project folder is itself what git takes for a bare repository: files that a pull request can bring.
  const cwd = await folder({ "tenon.yaml": PROJECT, evil: "#!/bin/sh\necho ran > ran\n" });
  await chmod(join(cwd, "evil"), 0o755);
  execFileSync("git", ["init", "--quiet", "--bare", cwd]);
  const settings = `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ${cwd}\n`;
  const programs = `\tfsmonitor = ${cwd}/evil\n\thooksPath = ${cwd}\n\tpager = ${cwd}/evil\n\teditor = ${cwd}/evil\n`;
  await writeFile(join(cwd, "config"), settings + programs);
  const bin = await folder({
    git: '#!/bin/sh\nenv > "$(dirname "$0")/seen"\necho "$@" >> "$(dirname "$0")/seen"\nexit 1\n',
  });
  await chmod(join(bin, "git"), 0o755);
  const service = await emulator();
  expect((await run(["apply", "--yes"], { cwd, env: envOf(service) })).code).toBe(0);
  await expect(readFile(join(cwd, "ran"))).rejects.toThrow("ENOENT");
  const own = { TENON_TOKEN_READ: "read-token-4711", TENON_GITLAB_TOKEN: "forge-token-4711" };
  const tokens = { ...own, LINODE_TOKEN: "service-token-4711" };
  const watched = { ...envOf(service), ...tokens, PATH: `${bin}:${process.env["PATH"]}` };
  await writeFile(join(cwd, "tenon.yaml"), PROJECT.replace("192.0.2.1", "192.0.2.2"));
  expect((await run(["apply", "--yes"], { cwd, env: watched })).code).toBe(0);
  const seen = await readFile(join(bin, "seen"), "utf8");
  expect(seen).toContain("safe.bareRepository=explicit");
  expect(seen).toContain("rev-parse HEAD");
  expect(seen).not.toMatch(/emulator-token|token-4711/);
});

const IDENTITY = ["-c", "user.email=a@b.example", "-c", "user.name=a", "-c", "commit.gpgsign=false"];

function git(cwd: string, ...args: readonly string[]): string {
  const env = { PATH: process.env["PATH"] };
  return execFileSync("git", [...IDENTITY, ...args], { cwd, encoding: "utf8", env }).trim();
}

/** A clone whose `HEAD` changes a record, as CI has it of a pull request: `origin/main` is the base. */
async function pullRequest() {
  const service = await emulator();
  const upstream = await folder({ "tenon.yaml": PROJECT });
  git(upstream, "init", "--quiet", "--initial-branch", "main");
  git(upstream, "add", "--all");
  git(upstream, "commit", "--quiet", "--message", "base");
  const place = await folder({});
  git(place, "clone", "--quiet", `file://${upstream}`, "clone");
  const cwd = join(place, "clone");
  await writeFile(join(cwd, "tenon.yaml"), PROJECT.replace("192.0.2.1", "192.0.2.66"));
  git(cwd, "commit", "--quiet", "--all", "--message", "change");
  return { cwd, options: { cwd, env: envOf(service) } };
}

test("a base name that several refs or commits have is refused", async () => {
  const { cwd, options } = await pullRequest();
  const base = git(cwd, "rev-parse", "refs/remotes/origin/main");
  // With a letter: digits have no capitals.
  const short = base.slice(0, Math.max(12, base.search(/[a-f]/) + 1));
  const [capitals, described] = [short.toUpperCase(), `v1-2-g${short}`];
  for (const ref of ["origin/main", "HEAD", capitals, described]
    .map((name) => `tags/${name}`)
    .concat(`heads/${short}`)) {
    git(cwd, "update-ref", `refs/${ref}`, git(cwd, "rev-parse", "refs/heads/main"));
  }
  for (const [name, meanings] of [
    ["origin/main", "refs/remotes/origin/main, refs/tags/origin/main"],
    [capitals, `commit ${capitals}, refs/tags/${capitals}`],
    [described, `commit ${short}, refs/tags/${described}`],
    ["origin/main~0", "refs/remotes/origin/main, refs/tags/origin/main"],
    ["origin/main^{commit}", "refs/remotes/origin/main, refs/tags/origin/main"],
    ["HEAD~1", "HEAD, refs/tags/HEAD"],
    [short, `commit ${short}, refs/heads/${short}`],
  ] as const) {
    const { code, stdout, stderr } = await here(["plan", "--base", name], options);
    expect({ name, code, stdout }).toEqual({ name, code: 1, stdout: "" });
    expect(stderr).toContain("error[base-ambiguous]");
    expect(stderr.replace(/\s+/g, " ")).toContain(`It may mean ${meanings}.`);
  }
  // A whole id is the commit, whatever ref is named like it; and a full name is no tag's.
  git(cwd, "update-ref", `refs/heads/${base}`, "HEAD");
  git(cwd, "update-ref", "refs/tags/refs/remotes/origin/gone", "HEAD");
  for (const flag of ["--base", "--changed-since"]) {
    const gone = await here(["plan", flag, "refs/remotes/origin/gone"], options);
    expectPlain(gone, 1, ["there is no such ref: refs/remotes/origin/gone"]);
  }
  // Whoever may push tags can give one the very name that the advice says.
  git(cwd, "update-ref", "refs/tags/refs/remotes/origin/main", "HEAD");
  for (const name of ["refs/remotes/origin/main", base]) {
    const { code, stdout } = await here(["plan", "--base", name, "--format", "json"], options);
    expect({ name, code, isThisChange: stdout.includes('"this-change"') }).toEqual({
      name,
      code: 0,
      isThisChange: true,
    });
  }
});

test("a replace ref or a graft does not change what the base holds", async () => {
  const { cwd, options } = await pullRequest();
  const [base, head] = [git(cwd, "rev-parse", "refs/remotes/origin/main"), git(cwd, "rev-parse", "HEAD")];
  const changes = async (environment: Readonly<Record<string, string>> = {}) => {
    const run = { ...options, env: { ...options.env, ...environment } };
    const { code, stdout } = await here(["plan", "--base", "HEAD~1", "--format", "json"], run);
    expect(code).toBe(0);
    return stdout.match(/"this-change"/g)?.length ?? 0;
  };
  const found = await changes();
  expect(found).toBeGreaterThan(0);
  git(cwd, "replace", base, head);
  expect(await changes()).toBe(found);
  git(cwd, "replace", "--delete", base);
  git(cwd, "replace", `${base}^{tree}`, `${head}^{tree}`);
  expect(await changes()).toBe(found);
  git(cwd, "replace", "--delete", git(cwd, "rev-parse", `${base}^{tree}`));
  // A graft makes a commit of the change its own parent's parent.
  const other = git(cwd, "commit-tree", "HEAD^{tree}", "-m", "a base with the change");
  await writeFile(join(cwd, ".git/info/grafts"), `${head} ${other}\n`);
  expect(await changes()).toBe(found);
  expect(await changes({ GIT_GRAFT_FILE: join(cwd, ".git/info/grafts") })).toBe(found);
});

const WITH_VARIABLE = `tenon: 1
variables: { ip: {} }
domains:
  - { domain: example.com, type: master, soa_email: a@example.com, records: [{ type: A, name: www, target: "\${var.ip}" }] }
`;

test("a file of variables that the change brings is read at the base as it was there, and one that no commit holds as it is", async () => {
  const service = await emulator();
  const [before, after] = ["ip: 192.0.2.1\n", "ip: 203.0.113.66\n"];
  const cwd = await folder({
    "infra/tenon.yaml": WITH_VARIABLE,
    "infra/prod.yaml": before,
    "beside.yaml": before,
    "infra/untracked.yaml": after,
  });
  git(cwd, "init", "--quiet", "--initial-branch", "main");
  git(cwd, "add", "infra/tenon.yaml", "infra/prod.yaml", "beside.yaml");
  git(cwd, "commit", "--quiet", "--message", "base");
  const other = join(await folder({}), "base");
  git(cwd, "worktree", "add", "--quiet", "--detach", other);
  const options = { cwd: join(cwd, "infra"), env: envOf(service) };
  expect((await run(["apply", "--yes", "--var-file", "prod.yaml"], options)).code).toBe(0);
  for (const file of ["infra/prod.yaml", "beside.yaml"]) await writeFile(join(cwd, file), after);
  await writeFile(join(cwd, "infra/new.yaml"), after);
  git(cwd, "add", "infra/new.yaml");
  git(cwd, "commit", "--quiet", "--all", "--message", "change");
  const origins = async (base: string, ...files: readonly string[]): Promise<unknown> => {
    const args = files.flatMap((file) => ["--var-file", file]);
    const { code, stdout } = await here(["plan", "--base", base, "--format", "json", ...args], options);
    expect(code).toBe(0);
    const { tenon } = JSON.parse(stdout) as { tenon: { changes: object; warnings: readonly { code: string }[] } };
    const record = (tenon.changes as Record<string, { origin: string | null }>)["domain/example.com/www/A"];
    return [record?.origin, tenon.warnings.map((warning) => warning.code).filter((code) => code !== "cached-target")];
  };
  const isThisChange = ["this-change", []];
  expect(await origins("refs/heads/main~1", "prod.yaml")).toEqual(isThisChange);
  expect(await origins("refs/heads/main~1", "../beside.yaml")).toEqual(isThisChange);
  // A file that the base has not: a pipeline may have made it there, with values of which nobody knows.
  expect(await origins("refs/heads/main~1", "prod.yaml", "new.yaml")).toEqual([null, ["base-invalid"]]);
  expect(await origins(join(other, "infra"), "prod.yaml")).toEqual(isThisChange);
  // The change makes it a link to a file of its own.
  await rm(join(cwd, "infra/prod.yaml"));
  await symlink("new.yaml", join(cwd, "infra/prod.yaml"));
  expect(await origins("refs/heads/main~1", "prod.yaml")).toEqual(isThisChange);
  expect(await origins(join(other, "infra"), "prod.yaml")).toEqual(isThisChange);
  // A pipeline has made it: it is as good for the base.
  expect(await origins("refs/heads/main~1", "untracked.yaml")).toEqual(["already-pending", []]);
  // Nothing is known of the base without a value, and nothing is said of whose change it is.
  expect(await origins("refs/heads/main~1", "new.yaml")).toEqual([null, ["base-invalid"]]);
});

const IMAGES = `tenon: 1
images: [{ label: golden, upload: { file: images/g.img.gz, region: us-east } }]
`;

test("a file to upload that the pull request replaces is part of its changes, compared with the file in the base commit", async () => {
  const service = await emulator();
  const cwd = await folder({ "tenon.yaml": IMAGES, "images/g.img.gz": "", "other/g.img.gz": "" });
  const good = gzipSync("good");
  const write = (file: string, bytes: Buffer | string) => writeFile(join(cwd, file), bytes);
  await write("images/g.img.gz", good);
  await write("other/g.img.gz", gzipSync("evil"));
  git(cwd, "init", "--quiet", "--initial-branch", "main");
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "--message", "base");
  const origin = async (): Promise<string> => {
    const options = { cwd, env: envOf(service) };
    const { stdout } = await here(["plan", "--format", "json", "--base", "refs/heads/main"], options);
    return JSON.parse(stdout).tenon.changes["image/golden"].origin;
  };
  expect(await origin()).toBe("already-pending");
  await write("images/g.img.gz", gzipSync("evil"));
  expect(await origin()).toBe("this-change");
  // The folder leads to a file that the base held as well, under another name.
  await rm(join(cwd, "images"), { recursive: true });
  await symlink("other", join(cwd, "images"));
  expect(await origin()).toBe("this-change");
  await rm(join(cwd, "images"));
  await mkdir(join(cwd, "images"));
  await write("images/g.img.gz", good);
  expect(await origin()).toBe("already-pending");
  // Where git has a note in its place, what that names counts.
  const sha256 = createHash("sha256").update(good).digest("hex");
  const note = (oid: string) => `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${good.length}\n`;
  for (const [oid, expected] of [
    [sha256, "already-pending"],
    ["0".repeat(64), "this-change"],
  ] as const) {
    await write("images/g.img.gz", note(oid));
    git(cwd, "commit", "--quiet", "--all", "--message", "note");
    await write("images/g.img.gz", good);
    expect(await origin()).toBe(expected);
  }
  // What no commit ever held is made by a build: no commit can exchange it.
  git(cwd, "rm", "--quiet", "--cached", "images/g.img.gz");
  git(cwd, "commit", "--quiet", "--message", "built");
  expect(await origin()).toBe("already-pending");
});

test("a folder that the change turns into a link is not compared with the base of where the link leads", async () => {
  const service = await emulator();
  const values = (ip: string): string => `ip: ${ip}\n`;
  const project = `${PROJECT.replace("192.0.2.1", '"${var.ip}"')}variables: { ip: {} }\n`;
  const cwd = await folder({
    ...{ "infra/tenon.yaml": project, "other/tenon.yaml": project },
    ...{ "vars/prod.yaml": values("192.0.2.1"), "vars2/prod.yaml": values("192.0.2.66") },
  });
  git(cwd, "init", "--quiet", "--initial-branch", "main");
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "--message", "base");
  git(cwd, "switch", "--quiet", "--create", "change");
  for (const [name, target] of [
    ["infra", "other"],
    ["vars", "vars2"],
  ] as const) {
    await rm(join(cwd, name), { recursive: true });
    await symlink(target, join(cwd, name));
    git(cwd, "add", "--all");
    git(cwd, "commit", "--quiet", "--message", "change");
    for (const [directory, where] of [
      ["infra", cwd],
      ["infra/tenon.yaml", cwd],
      [".", join(cwd, "infra")],
    ] as const) {
      for (const base of ["refs/heads/main", join(cwd, "infra")]) {
        const file = join(cwd, "vars/prod.yaml");
        const options = { cwd: where, env: { ...envOf(service), PWD: where } };
        const { code, stdout, stderr } = await run(["plan", directory, "--var-file", file, "--base", base], options);
        expect({ name, directory, base, code, stdout }).toEqual({ name, directory, base, code: 1, stdout: "" });
        expect(stderr).toContain("error[base-unreadable]");
        expect(stderr).toContain(`${name} is a symbolic link`);
      }
    }
    // The next round has the other link alone.
    git(cwd, "reset", "--quiet", "--hard", "main");
  }
}, 120_000);

test("a link that the change moves is found beyond a link that no commit holds", async () => {
  const service = await emulator();
  const cwd = await folder({
    ...{ "a/tenon.yaml": PROJECT, "b/tenon.yaml": PROJECT.replace("192.0.2.1", "192.0.2.66") },
    ".gitignore": "current\n",
  });
  await mkdir(join(cwd, "envs"));
  await symlink("../a", join(cwd, "envs/prod"));
  git(cwd, "init", "--quiet", "--initial-branch", "main");
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "--message", "base");
  git(cwd, "switch", "--quiet", "--create", "change");
  await rm(join(cwd, "envs/prod"));
  await symlink("../b", join(cwd, "envs/prod"));
  git(cwd, "commit", "--quiet", "--all", "--message", "change");
  await symlink("envs", join(cwd, "current"));
  const options = { cwd, env: envOf(service) };
  const { code, stdout, stderr } = await run(["plan", "current/prod", "--base", "refs/heads/main"], options);
  expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining("current/prod is a symbolic link")]);
});

test("a file of variables in a submodule is read as it was in the commit of the base", async () => {
  const service = await emulator();
  const shared = await folder({ "vars.yaml": "ip: 192.0.2.1\n" });
  git(shared, "init", "--quiet", "--initial-branch", "main");
  git(shared, "add", "--all");
  git(shared, "commit", "--quiet", "--message", "1");
  const cwd = await folder({ "tenon.yaml": `${PROJECT.replace("192.0.2.1", '"${var.ip}"')}variables: { ip: {} }\n` });
  git(cwd, "init", "--quiet", "--initial-branch", "main");
  git(cwd, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", shared, "shared");
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "--message", "base");
  const options = { cwd, env: envOf(service) };
  const plan = ["plan", "--var-file", "shared/vars.yaml", "--base", "refs/heads/main", "--format", "json"];
  const apply = ["apply", "--yes", "--var-file", "shared/vars.yaml"];
  expect((await run(apply, options)).code).toBe(0);
  git(cwd, "switch", "--quiet", "--create", "change");
  await writeFile(join(cwd, "shared/vars.yaml"), "ip: 192.0.2.66\n");
  git(join(cwd, "shared"), "commit", "--quiet", "--all", "--message", "2");
  git(cwd, "commit", "--quiet", "--all", "--message", "change");
  const { code, stdout } = await run(plan, options);
  expect({ code, origins: stdout.match(/"(?:this-change|already-pending)"/g) }).toEqual({
    ...{ code: 0, origins: ['"this-change"'] },
  });
  // A shallow submodule lacks the commit that the base has.
  const first = git(join(cwd, "shared"), "rev-parse", "HEAD~1");
  git(
    join(cwd, "shared"),
    "update-ref",
    "refs/heads/main",
    git(join(cwd, "shared"), "commit-tree", "HEAD^{tree}", "-m", "3"),
  );
  const objects = join(cwd, ".git/modules/shared/objects", first.slice(0, 2));
  await rm(objects, { recursive: true });
  const lacking = await run(plan, options);
  expect(lacking.code).toBe(1);
  expect(lacking.stdout).toContain("whose commit is not there");
}, 120_000);

test("manifests in a submodule are read as they were in the commit of the base, or the base is not used", async () => {
  const labels = ["a", "b"];
  const vpc = (label: string, index: number) => ({
    id: index + 1,
    label,
    region: "us-east",
    description: "[tenon:edge]",
  });
  const service = await emulator({ seed: { vpcs: labels.map(vpc) } });
  const manifest = (some: readonly string[]) =>
    `tenon: 1\nvpcs: [${some.map((label) => `{ label: ${label}, region: us-east }`).join(", ")}]\n`;
  const shared = await folder({ "deep/net.yaml": manifest(labels) });
  git(shared, "init", "--quiet", "--initial-branch", "main");
  git(shared, "add", "--all");
  git(shared, "commit", "--quiet", "--message", "1");
  const root = 'tenon: 1\nowner: edge\nallow: [{ delete: "vpc/*" }]\nfiles: ["shared/**/*.yaml"]\n';
  const cwd = await folder({ "tenon.yaml": root });
  git(cwd, "init", "--quiet", "--initial-branch", "main");
  for (const name of ["shared", "other"])
    git(cwd, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", shared, name);
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "--message", "base");
  git(cwd, "switch", "--quiet", "--create", "change");
  await writeFile(join(cwd, "shared/deep/net.yaml"), manifest(["b"]));
  git(join(cwd, "shared"), "commit", "--quiet", "--all", "--message", "2");
  git(cwd, "commit", "--quiet", "--all", "--message", "change");
  const plan = async (...args: readonly string[]) => {
    const { code, stdout } = await here(["plan", ...args, "--format", "json"], { cwd, env: envOf(service) });
    return { code, origins: stdout.match(/"(?:this-change|already-pending)"/g), stdout };
  };
  const base = ["--base", "refs/heads/main"] as const;
  expect(await plan(...base)).toMatchObject({ code: 0, origins: ['"this-change"'] });
  // What no pattern leads to may be missing.
  await rm(join(cwd, "other"), { recursive: true });
  expect(await plan(...base)).toMatchObject({ code: 0, origins: ['"this-change"'] });
  // A change can take the submodule out, and a shallow one lacks the commit of the base.
  for (const take of [
    () => rm(join(cwd, ".git/modules/shared/objects"), { recursive: true }),
    () => rm(join(cwd, "shared"), { recursive: true }),
  ]) {
    await take();
    const lacking = await plan(...base);
    expect(lacking).toMatchObject({ code: 0, origins: null, stdout: expect.stringContaining("base-invalid") });
    expect(lacking.stdout).toContain("cannot use shared");
  }
});

test("a file whose name holds a replacement character is part of the base", async () => {
  const { cwd, options } = await pullRequest();
  const name = join(cwd, "\ufffd.yaml");
  await writeFile(join(cwd, "tenon.yaml"), `${PROJECT}files: ["*.yaml"]\n`);
  await writeFile(name, "tenon: 1\nvpcs: [{ label: more, region: us-east }]\n");
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "--message", "more");
  const { stdout } = await here(["plan", "--base", "HEAD"], options);
  expect(stdout).toContain("This change, compared with HEAD: nothing.");
});

async function expectCompared(cwd: string, options: RunOptions): Promise<void> {
  await writeFile(join(cwd, "tenon.yaml"), PROJECT.replace("192.0.2.1", "192.0.2.77"));
  const { code, stdout } = await here(["plan", "--base", "refs/heads/main"], options);
  expect({ code, isCompared: stdout.includes("compared with refs/heads/main") }).toEqual({ code: 0, isCompared: true });
}

test("file names that are not UTF-8 do not keep the base from being read", async () => {
  const { cwd, options } = await pullRequest();
  const names = ["a\xff.txt", "a\xfe.txt"].map((name) =>
    Buffer.concat([Buffer.from(`${cwd}/`), Buffer.from(name, "latin1")]),
  );
  for (const name of names) await writeFile(name, "x");
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "--message", "names");
  await expectCompared(cwd, options);
});

test("links that no checkout can make do not keep the base from being read", async () => {
  const { cwd, options } = await pullRequest();
  for (const [name, target] of [
    ["link-a", "tenon.yaml\0b"],
    ["link-b", "\0"],
  ] as const) {
    await writeFile(join(cwd, "target"), target);
    const object = git(cwd, "hash-object", "-w", "target").trim();
    git(cwd, "update-index", "--add", "--cacheinfo", `120000,${object},${name}`);
  }
  git(cwd, "commit", "--quiet", "--message", "links");
  await expectCompared(cwd, options);
});

test("paths and links that are too long for this machine do not keep the base from being read", async () => {
  const { cwd, options } = await pullRequest();
  await writeFile(join(cwd, "long"), "x".repeat(5_000));
  const object = git(cwd, "hash-object", "-w", "long").trim();
  for (const [mode, name] of [
    ["100644", `${"a".repeat(200)}/`.repeat(20) + "b".repeat(60)],
    ["100644", "n".repeat(300)],
    ["120000", "link"],
  ] as const) {
    git(cwd, "update-index", "--add", "--cacheinfo", `${mode},${object},${name}`);
  }
  git(cwd, "commit", "--quiet", "--message", "long");
  await expectCompared(cwd, options);
});

test("a manifest whose path has thousands of octets is part of the base, and what takes it away is of this change", async () => {
  const { cwd, options } = await pullRequest();
  const file = `zones/${`${"d".repeat(200)}/`.repeat(10)}net.yaml`;
  await writeFile(join(cwd, "tenon.yaml"), `${PROJECT}files: ["zones/**/*.yaml"]\n`);
  await mkdir(dirname(join(cwd, file)), { recursive: true });
  await writeFile(join(cwd, file), "tenon: 1\nvpcs: [{ label: deep, region: us-east }]\n");
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "--message", "deep");
  git(cwd, "rm", "--quiet", file);
  const { code, stdout } = await here(["plan", "--base", "HEAD", "--format", "json"], options);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).tenon.base.withdrawn).toEqual([{ key: "vpc/deep", action: "create" }]);
});

test("a link leads at the base where it leads in a checkout: out of the project by its name and back, by an absolute path, or through names that are not UTF-8", async () => {
  const service = await emulator();
  const cwd = await folder({
    "infra/tenon.yaml": `${PROJECT}files: ["zones/*.yaml"]\n`,
    "infra/x/net.txt": "tenon: 1\nvpcs: [{ label: linked, region: us-east }]\n",
    "infra/zones/.keep": "",
  });
  git(cwd, "init", "--quiet", "--initial-branch", "main");
  const odd = Buffer.concat([Buffer.from(`${cwd}/`), Buffer.from("\xff", "latin1")]);
  await mkdir(odd);
  await writeFile(Buffer.concat([odd, Buffer.from("/y")]), "");
  const options = { cwd: join(cwd, "infra"), env: envOf(service) };
  const link = join(cwd, "infra/zones/net.yaml");
  for (const target of [
    "../../infra/x/net.txt",
    join(cwd, "infra/x/net.txt"),
    Buffer.from("../../\xff/../infra/x/net.txt", "latin1"),
  ]) {
    await rm(link, { force: true });
    await symlink(target, link);
    git(cwd, "add", "--all");
    git(cwd, "commit", "--quiet", "--message", "link");
    const { code, stdout } = await here(["plan", "--base", "HEAD"], options);
    expect({ target, code, stdout }).toMatchObject({ target, code: 0, stdout: expect.stringContaining("vpc linked") });
    expect(stdout).toContain("This change, compared with HEAD: nothing.");
  }
});

test("files that no manifest names do not keep the base from being read, however many and large they are", async () => {
  const { cwd, options } = await pullRequest();
  const zeros = join(await folder({}), "zeros");
  await writeFile(zeros, Buffer.alloc(16 * 1024 * 1024));
  const [large, empty] = [zeros, "/dev/null"].map((file) => git(cwd, "hash-object", "-w", file));
  const lines = (count: number, line: string) =>
    Array.from({ length: count }, (_, index) => `${line}/${index}\n`).join("");
  const input = lines(17, `100644 ${large}\tlarge`) + lines(100_001, `100644 ${empty}\tmany`);
  execFileSync("git", ["update-index", "--add", "--index-info"], { cwd, input });
  git(cwd, "commit", "--quiet", "--message", "large");
  await expectCompared(cwd, options);
});

test("thousands of deep files, and files beneath what differs from a link by case, do not keep the base from being read", async () => {
  const { cwd, options } = await pullRequest();
  await writeFile(join(cwd, "x"), "tenon.yaml");
  const object = git(cwd, "hash-object", "-w", "x").trim();
  const deep = Array.from({ length: 8_000 }, (_, index) => `100644 ${object}\t${"a/".repeat(500)}${index}\n`).join("");
  const commit = (...more: readonly string[]): void => {
    execFileSync("git", ["update-index", "--add", "--index-info"], { cwd, input: deep + more.join("") });
    git(cwd, "commit", "--quiet", "--message", "deep");
  };
  commit(`120000 ${object}\tLINK\n`, `120000 ${object}\tlink-b\n`, `100644 ${object}\tlink!/a\n`);
  await expectCompared(cwd, options);
  // Git's index refuses what is beneath a link, so that this one differs by case.
  commit(`100644 ${object}\tlink/a\n`);
  await expectCompared(cwd, options);
});

test("a link beside a folder of its name in other letters does not keep the base from being read", async () => {
  const { cwd, options } = await pullRequest();
  await mkdir(join(cwd, "readme"));
  await writeFile(join(cwd, "readme/x.md"), "x");
  await symlink("readme/x.md", join(cwd, "README"));
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "--message", "link");
  await expectCompared(cwd, options);
});

test("a project's folder that a commit makes look like a bare repository is compared all the same", async () => {
  const service = await emulator();
  const ip = (last: number): string => `ip: 192.0.2.${last}\n`;
  const project = `${PROJECT.replace("192.0.2.1", '"${var.ip}"')}variables: { ip: {} }\n`;
  const top = await folder({ "a/infra/tenon.yaml": project, "a/infra/prod.yaml": ip(1) });
  git(top, "init", "--quiet", "--initial-branch", "main");
  git(top, "add", "--all");
  git(top, "commit", "--quiet", "--message", "base");
  git(top, "switch", "--quiet", "--create", "change");
  const cwd = join(top, "a/infra");
  const bare = { HEAD: "ref: refs/heads/main\n", "objects/a": "", "refs/b": "", "prod.yaml": ip(66) };
  for (const [name, text] of Object.entries(bare)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), text);
  }
  git(top, "add", "--all");
  git(top, "commit", "--quiet", "--message", "change");
  expect(() => git(cwd, "-c", "safe.bareRepository=explicit", "rev-parse", "HEAD")).toThrow();
  const options = { cwd, env: envOf(service) };
  for (const flag of ["--base", "--changed-since"]) {
    const { code, stdout, stderr } = await run(["plan", "--var-file", "prod.yaml", flag, "main"], options);
    expect({ flag, code, stderr }).toEqual({ flag, code: 0, stderr: expect.not.stringContaining("base-") });
    expect(stdout).toContain("192.0.2.66");
  }
  // The variable was another one in the base.
  const { stdout } = await run(["plan", "--var-file", "prod.yaml", "--base", "main"], options);
  expect(stdout).toMatch(/This change, .*\n\n\s+domain example.com\n\s+\+ www A 192\.0\.2\.66 .*\n\nAlready pending/);
});

/** @returns the id of a tree whose modes are written as they are given */
function forgedTree(cwd: string, entries: readonly (readonly [mode: string, name: string, id: string])[]): string {
  const parts = entries.flatMap(([mode, name, id]) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]);
  const env = { PATH: process.env["PATH"] };
  const args = ["hash-object", "-t", "tree", "-w", "--literally", "--stdin"];
  return execFileSync("git", args, { cwd, input: Buffer.concat(parts), encoding: "utf8", env }).trim();
}

test("a folder or a file of the base is one by what git reads of its mode, whatever the other bits are", async () => {
  const options = { cwd: "", env: envOf(await emulator()) };
  const modes = [
    ["1040000", "100644"],
    ["040000", "100644"],
    ["40000", "101644"],
    ["40000", "00100755"],
  ] as const;
  for (const [folderMode, fileMode] of modes) {
    const zone = "tenon: 1\nvpcs: [{ label: more, region: us-east }]\n";
    const root = 'tenon: 1\nowner: edge\nfiles: ["zones/*.yaml"]\n';
    const cwd = await folder({ "tenon.yaml": root, "zones/a.yaml": zone });
    git(cwd, "init", "--quiet", "--initial-branch", "main");
    git(cwd, "add", "--all");
    git(cwd, "commit", "--quiet", "--message", "plain");
    const idOf = (path: string) => git(cwd, "rev-parse", `HEAD:${path}`);
    const zones = forgedTree(cwd, [[fileMode, "a.yaml", idOf("zones/a.yaml")]]);
    const tree = forgedTree(cwd, [
      ["100644", "tenon.yaml", idOf("tenon.yaml")],
      [folderMode, "zones", zones],
    ]);
    git(cwd, "update-ref", "refs/heads/main", git(cwd, "commit-tree", tree, "-m", "forged"));
    expect((await run(["apply", "--yes"], { ...options, cwd })).code).toBe(0);
    await rm(join(cwd, "zones/a.yaml"));
    const { stdout } = await run(["plan", "--base", "refs/heads/main"], { ...options, cwd });
    expect([folderMode, fileMode, stdout]).toEqual([
      folderMode,
      fileMode,
      expect.stringContaining("This change: 0 to add, 0 to change, 1 to destroy."),
    ]);
  }
});

test("a project's folder that the change turns into a submodule is not compared with the refs of that", async () => {
  const { cwd } = await pullRequest();
  const evil = await folder({ "tenon.yaml": PROJECT });
  git(evil, "init", "--quiet", "--initial-branch", "main");
  git(evil, "add", "--all");
  git(evil, "commit", "--quiet", "--message", "evil");
  git(cwd, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", evil, "infra");
  git(cwd, "commit", "--quiet", "--message", "submodule");
  const options = { cwd, env: envOf(await emulator()) };
  for (const flag of ["--base", "--changed-since"]) {
    const { code, stderr } = await run(["plan", "infra", flag, "refs/remotes/origin/main"], options);
    expect([code, stderr]).toEqual([1, expect.stringContaining("the project lies in a submodule")]);
  }
});
