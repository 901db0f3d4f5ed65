/** Files beside the manifests at a base: variables and images are those that a checkout of the base would have. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { here } from "../cli/here.ts";
import { emulator, envOf, expectPlain, folder, PROJECT } from "../cli/run.ts";

const IDENTITY = ["-c", "user.email=a@b.example", "-c", "user.name=a", "-c", "commit.gpgsign=false"];

function git(cwd: string, ...args: readonly string[]): string {
  const env = { PATH: process.env["PATH"] };
  return execFileSync("git", [...IDENTITY, ...args], { cwd, encoding: "utf8", env }).trim();
}

/** All files and links as they are, on a branch of their own. */
function commit(cwd: string, branch: string): void {
  git(cwd, "switch", "--quiet", "--create", branch);
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "--message", branch);
}

const WITH_IP = `${PROJECT.replace("192.0.2.1", '"${var.ip}"')}variables: { ip: {} }\n`;
const ip = (last: number): string => `ip: 192.0.2.${last}\n`;

test("a file of variables that is a link at the base is what the link led to, and never the text of the link", async () => {
  const options = { env: envOf(await emulator()) };
  const forged = "ip: 192.0.2.8";
  for (const target of [forged, "values.yaml", `../${forged}`]) {
    const cwd = await folder({ "a/tenon.yaml": WITH_IP });
    await writeFile(join(cwd, "a", target), ip(1));
    await symlink(target, join(cwd, "a/v.yaml"));
    git(cwd, "init", "--quiet");
    commit(cwd, "main");
    await writeFile(join(cwd, "a", target), ip(8));
    commit(cwd, "change");
    const plan = (...more: readonly string[]) =>
      here(["plan", "a", "--var-file", "a/v.yaml", ...more], { ...options, cwd });
    const based = await plan("--base", "main");
    expect([based.code, based.stderr]).toEqual([0, ""]);
    expect(based.stdout).toMatch(/This change, [\s\S]*\+ www A 192\.0\.2\.8[\s\S]*Already pending/);
    expect((await plan("--changed-since", "main")).stdout).toContain("was read: 1 domain.");
    // Of a link that led nowhere it is not known what it led to.
    await rm(join(cwd, "a", target));
    commit(cwd, "dangling");
    await writeFile(join(cwd, "a", target), ip(8));
    commit(cwd, "mended");
    expect((await plan("--base", "dangling")).stdout).toContain("the base dangling has no a/v.yaml");
  }
});

test("a file of variables outside the project's folder is that of the checkout which the base's folder lies in", async () => {
  const options = { env: envOf(await emulator()) };
  const cwd = await folder({ "infra/tenon.yaml": WITH_IP, "vars/prod.yaml": ip(1) });
  git(cwd, "init", "--quiet");
  commit(cwd, "main");
  const other = await folder({});
  git(cwd, "worktree", "add", "--quiet", "--detach", join(other, "checkout"), "main");
  for (const name of ["infra/tenon.yaml", "vars/prod.yaml"]) {
    await mkdir(join(other, "copy", dirname(name)), { recursive: true });
    await writeFile(join(other, "copy", name), name.startsWith("vars") ? ip(1) : WITH_IP);
  }
  await writeFile(join(cwd, "vars/prod.yaml"), ip(8));
  commit(cwd, "change");
  const plan = (...more: readonly string[]) =>
    here(["plan", "infra", "--var-file", "vars/prod.yaml", ...more], { ...options, cwd });
  for (const base of [join(other, "checkout/infra"), join(other, "copy/infra/tenon.yaml")]) {
    const based = await plan("--base", base);
    expect([based.code, based.stderr]).toEqual([0, ""]);
    expect(based.stdout).toMatch(/This change, [\s\S]*\+ www A 192\.0\.2\.8[\s\S]*Already pending/);
    expect((await plan("--changed-since", base)).stdout).toMatch(/was\s+read: 1 domain\./);
  }
  // The project alone says nothing of it; that another name stands in its way neither.
  await rm(join(other, "copy/vars"), { recursive: true });
  await writeFile(join(other, "tenon.yaml"), WITH_IP);
  for (const base of [join(other, "copy/infra"), other]) {
    for (const flag of ["--base", "--changed-since"])
      expectPlain(await plan(flag, base), 1, ["it has no vars/prod.yaml", "Give a git ref"]);
  }
  // What no commit holds is no part of the change, wherever it lies.
  await writeFile(join(cwd, ".git/info/exclude"), "made.yaml\n");
  await writeFile(join(cwd, "infra/tenon.yaml"), WITH_IP.replace("ip: {}", "ip: { default: 192.0.2.8 }"));
  for (const file of ["made.yaml", "infra/made.yaml"]) {
    await writeFile(join(cwd, file), ip(8));
    const made = await here(["plan", "infra", "--var-file", file, "--base", other], { ...options, cwd });
    expect([made.code, made.stdout]).toEqual([0, expect.stringContaining("compared with")]);
    expect(made.stdout).toMatch(/This change, compared with [^:]*: nothing/);
  }
});

test("an image that is a link at the base is what the link led to, and its text no pointer to another file", async () => {
  const images = "images: [{ label: golden, upload: { file: golden.img.gz, region: us-east } }]\n";
  const cwd = await folder({ "tenon.yaml": `tenon: 1\n${images}` });
  const [good, evil] = [gzipSync(Buffer.alloc(4096, 1)), gzipSync(Buffer.alloc(4096, 2))];
  const digest = createHash("sha256").update(evil).digest("hex");
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${digest}\nsize ${evil.length}\n`;
  await mkdir(join(cwd, dirname(pointer)), { recursive: true });
  await writeFile(join(cwd, pointer), good);
  await symlink(pointer, join(cwd, "golden.img.gz"));
  git(cwd, "init", "--quiet");
  commit(cwd, "main");
  const options = { cwd, env: envOf(await emulator()) };
  expect((await here(["plan", "--base", "main"], options)).stdout).toContain(
    "This change, compared with main: nothing",
  );
  await writeFile(join(cwd, pointer), evil);
  commit(cwd, "change");
  const { code, stdout } = await here(["plan", "--base", "main"], options);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/This change, compared with main:\n\n\+ image golden/)]);
});

test("an image that is to be uploaded is read even if its entry is the same: its file may hold something else", async () => {
  const image = "tenon: 1\nimages: [{ label: golden, upload: { file: golden.img.gz, region: us-east } }]\n";
  const files = [
    ...["main", "head"].flatMap((name) => [[`${name}/tenon.yaml`, "tenon: 1\nowner: edge\nfiles: [image.yaml]\n"]]),
    ...["main", "head"].map((name) => [`${name}/image.yaml`, image]),
  ];
  const place = await folder(Object.fromEntries(files));
  for (const [index, name] of ["main", "head"].entries())
    await writeFile(join(place, name, "golden.img.gz"), gzipSync(Buffer.alloc(4096, index)));
  const options = { cwd: join(place, "head"), env: envOf(await emulator()) };
  const { stdout } = await here(["plan", "--changed-since", "../main"], options);
  expect(stdout).toMatch(/This change, compared with \.\.\/main:\n\n\+ image golden/);
});

test("a base whose files a checkout changes is no base: what the attribute hid is not shown as pending before", async () => {
  const options = { env: envOf(await emulator()) };
  const zone = (records: string) =>
    `tenon: 1\nowner: edge\ndomains: [{ domain: a.example, type: master, soa_email: a@a.example, records: [${records}] }]\n`;
  const www = '{ type: A, name: www, target: 192.0.2.1, x-a: "';
  const hidden = zone(`${www}$Id:" }, { type: A, name: login, target: 203.0.113.66, x-a: "$" }`);
  for (const [attributes, isRefused] of [
    ["*.yaml ident\n", true],
    ["[attr]odd ident\nsub/*.yaml odd\n", true],
    ["*.yaml working-tree-encoding=latin1\n", true],
    ["*.gz filter=lfs\n*.yaml text=auto -ident\n", false],
  ] as const) {
    const cwd = await folder({ "sub/tenon.yaml": hidden, ".gitattributes": attributes });
    git(cwd, "init", "--quiet");
    commit(cwd, "main");
    await rm(join(cwd, ".gitattributes"));
    commit(cwd, "change");
    const based = await here(["plan", "sub", "--base", "main"], { ...options, cwd });
    expect(based.code).toBe(0);
    expect(based.stdout).toContain("+ login A 203.0.113.66");
    const words = `the base main has a file that a checkout changes`;
    expect([attributes, (based.stdout + based.stderr).includes(words)]).toEqual([attributes, isRefused]);
    expect([attributes, based.stdout.includes("Already pending")]).toEqual([attributes, !isRefused]);
    const since = await here(["plan", "sub", "--changed-since", "main"], { ...options, cwd });
    expect([attributes, since.stdout.includes("+ login A")]).toEqual([attributes, isRefused]);
  }
});

/** A repository whose `build` holds what a pipeline makes, and git ignores. */
async function withBuild(files: Readonly<Record<string, string>>): Promise<string> {
  const cwd = await folder({ ...files, ".gitignore": "build/\n" });
  git(cwd, "init", "--quiet");
  return cwd;
}

test("what a link led to at the base is what counts, also where it leads to a file that no commit holds: images and files of variables", async () => {
  const image = "images: [{ label: golden, track: content, upload: { file: golden.img.gz, region: us-east } }]\n";
  const values = "variables: { ip: { default: 192.0.2.66 } }\n";
  const zone = `domains: [{ domain: a.example, type: master, soa_email: a@a.example, records: [{ type: A, name: www, target: "\${var.ip}" }] }]\n`;
  const cwd = await withBuild({
    ...{ "tenon.yaml": `tenon: 1\nowner: edge\n${image}${values}${zone}` },
    ...{ "build/prod.yaml": "ip: 192.0.2.1\n", "build/other.yaml": "ip: 192.0.2.66\n" },
  });
  await writeFile(join(cwd, "build/good.img.gz"), gzipSync(Buffer.alloc(4096, 1)));
  await writeFile(join(cwd, "build/evil.img.gz"), gzipSync(Buffer.alloc(4096, 2)));
  const lead = async (name: string, target: string): Promise<void> => {
    await rm(join(cwd, name), { force: true });
    await symlink(target, join(cwd, name));
  };
  await lead("golden.img.gz", "build/good.img.gz");
  await lead("values.yaml", "build/prod.yaml");
  commit(cwd, "main");
  const options = { cwd, env: envOf(await emulator()) };
  const planned = async (...args: readonly string[]) =>
    (await here(["plan", "--var-file", "values.yaml", ...args], options)).stdout;
  expect((await here(["apply", "--yes", "--var-file", "values.yaml"], options)).code).toBe(0);
  expect(await planned("--base", "main")).toContain(": nothing");
  await lead("golden.img.gz", "build/evil.img.gz");
  await lead("values.yaml", "build/other.yaml");
  commit(cwd, "change");
  for (const flag of ["--base", "--changed-since"]) {
    expect(await planned(flag, "main")).toMatch(
      /This change, [\s\S]*www A 192\.0\.2\.1 → 192\.0\.2\.66[\s\S]*image golden[\s\S]*Already pending: 0 to add, 0\s+to change, 0 to/,
    );
  }
  // The files themselves are drift, of no change, whatever commits lie between.
  await rm(join(cwd, "build/evil.img.gz"));
  await writeFile(join(cwd, "build/evil.img.gz"), gzipSync(Buffer.alloc(4096, 3)));
  expect(await planned("--base", "change")).toContain(": nothing");
  // A link on the way that a commit brings in place of what no commit held.
  await lead("golden.img.gz", "made.img.gz");
  await writeFile(join(cwd, ".gitignore"), "build/\nmade.img.gz\n");
  await writeFile(join(cwd, "made.img.gz"), gzipSync(Buffer.alloc(4096, 1)));
  commit(cwd, "made");
  await lead("made.img.gz", "build/evil.img.gz");
  git(cwd, "add", "--force", "made.img.gz");
  commit(cwd, "linked");
  expect(await planned("--base", "made")).toMatch(/This change, compared with made:\n\n-\/\+ image golden/);
});

test("where a link of a pipeline leads back through a link of the repository, nobody can tell what the base had there", async () => {
  const image = "images: [{ label: golden, track: content, upload: { file: golden.img.gz, region: us-east } }]\n";
  const cwd = await withBuild({ "tenon.yaml": `tenon: 1\nowner: edge\n${image}` });
  for (const [index, name] of ["a", "b"].entries()) {
    await mkdir(join(cwd, "build", name, "inner"), { recursive: true });
    await writeFile(join(cwd, "build", name, "g.img.gz"), gzipSync(Buffer.alloc(4096, index)));
  }
  await symlink("../t/../g.img.gz", join(cwd, "build/led"));
  await symlink("build/led", join(cwd, "golden.img.gz"));
  await symlink("build/a/inner", join(cwd, "t"));
  // As letters, `../t/../g.img.gz` is this file; as a path it is the one beside where `t` leads.
  await writeFile(join(cwd, "g.img.gz"), gzipSync(Buffer.alloc(4096, 3)));
  await writeFile(join(cwd, ".gitignore"), "build/\ng.img.gz\n");
  commit(cwd, "main");
  const options = { cwd, env: envOf(await emulator()) };
  expect((await here(["apply", "--yes"], options)).code).toBe(0);
  await rm(join(cwd, "t"));
  await symlink("build/b/inner", join(cwd, "t"));
  commit(cwd, "change");
  const { code, stdout } = await here(["plan", "--base", "main"], options);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/This change, compared with main:\n\n-\/\+ image golden/)]);
});

test("a file of variables that a pipeline makes, and a pull request commits, is not known at the base", async () => {
  const zone = (ip: string): string =>
    `domains: [{ domain: a.example, type: master, soa_email: a@a.example, records: [{ type: A, name: www, target: "${ip}" }] }]\n`;
  const head = "tenon: 1\nowner: edge\nvariables: { ip: { default: 192.0.2.66 } }\n";
  const cwd = await withBuild({ "tenon.yaml": head + zone("${var.ip}"), "build/prod.yaml": "ip: 192.0.2.1\n" });
  commit(cwd, "main");
  const options = { cwd, env: envOf(await emulator()) };
  const flags = ["--var-file", "build/prod.yaml"];
  expect((await here(["apply", "--yes", ...flags], options)).code).toBe(0);
  await writeFile(join(cwd, "tenon.yaml"), head + zone("192.0.2.66"));
  git(cwd, "add", "--force", "build/prod.yaml");
  commit(cwd, "change");
  for (const flag of ["--base", "--changed-since"]) {
    const { code, stdout } = await here(["plan", ...flags, flag, "main"], options);
    expect([code, stdout]).toEqual([0, expect.stringContaining("the base main has no build/prod.yaml")]);
    expect(stdout).toContain("192.0.2.1 → 192.0.2.66");
    expect(stdout).not.toMatch(/already pending|: nothing/i);
  }
  // Where the folder was a file, there was none either.
  await writeFile(join(cwd, "vars"), "");
  commit(cwd, "file");
  await rm(join(cwd, "vars"));
  await mkdir(join(cwd, "vars"));
  await writeFile(join(cwd, "vars/prod.yaml"), "ip: 192.0.2.1\n");
  commit(cwd, "folder");
  const { code, stdout } = await here(["plan", "--var-file", "vars/prod.yaml", "--base", "file"], options);
  expect([code, stdout]).toEqual([0, expect.stringContaining("the base file has no vars/prod.yaml")]);
});

test("manifests that a pipeline makes are not known at the base: that a pull request no longer names them is not pending before", async () => {
  const zone = "domains: [{ domain: made.example, type: master, soa_email: a@a.example, records: [] }]\n";
  const cwd = await withBuild({
    "tenon.yaml": 'tenon: 1\nowner: edge\nfiles: ["build/**", "more/*.yaml"]\n',
    "build/deep/made.yaml": `tenon: 1\n${zone}`,
  });
  commit(cwd, "main");
  const options = { cwd, env: envOf(await emulator()) };
  expect((await here(["apply", "--yes"], options)).code).toBe(0);
  const planned = async (...args: readonly string[]) => (await here(["plan", ...args], options)).stdout;
  await writeFile(join(cwd, "tenon.yaml"), 'tenon: 1\nowner: edge\nfiles: ["more/*.yaml"]\n');
  commit(cwd, "change");
  for (const flag of ["--base", "--changed-since"]) {
    const plan = await planned(flag, "main");
    expect(plan).toContain("- domain made.example");
    expect(plan).toMatch(/the base main may have had\s+build\/deep\/made\.yaml, which\s+git does not\s+track/);
    expect(plan).not.toMatch(/already pending|: nothing/i);
  }
  // What the change itself brings is no such file, however it is called and wherever it lies.
  const brought = ["more/new.yaml", "more/ü $(id) *.yaml", "more/-- HEAD:x.yaml"];
  await mkdir(join(cwd, "more"));
  for (const [index, file] of brought.entries()) {
    await writeFile(join(cwd, file), `tenon: 1\n${zone.replaceAll("made.example", `b${index}.example`)}`);
  }
  commit(cwd, "brought");
  expect(await planned("--base", "change")).toMatch(/This change, [\s\S]*\+ domain b0[\s\S]*\+ domain b2/);
  // Git takes a name from a line without the CR at its end: that one is tracked, and this one is not.
  await writeFile(join(cwd, "tenon.yaml"), 'tenon: 1\nowner: edge\nfiles: ["more/*"]\n');
  commit(cwd, "wider");
  await writeFile(join(cwd, "more/z.yaml"), "tenon: 1\n");
  commit(cwd, "narrower");
  await writeFile(join(cwd, "more/z.yaml\r"), "tenon: 1\n");
  expect(await planned("--base", "wider")).toContain("the base wider may have had more/z.yaml\\r");
});

test("an image whose octets a checkout changes is not known at the base: what replaces it is not shown as pending before", async () => {
  const image = "images: [{ label: golden, track: content, upload: { file: golden.img.gz, region: us-east } }]\n";
  const cwd = await folder({ "tenon.yaml": `tenon: 1\nowner: edge\n${image}` });
  const options = { cwd, env: envOf(await emulator()) };
  // The name in the header of gzip has a line end and a keyword: a checkout may write either in another way.
  const content = gzipSync(Buffer.alloc(4096, 1));
  const named = (name: string): Buffer =>
    Buffer.concat([
      Buffer.from([31, 139, 8, 8]),
      content.subarray(4, 10),
      Buffer.from(`${name}\0`),
      content.subarray(10),
    ]);
  const write = (file: Buffer | string): Promise<void> => writeFile(join(cwd, "golden.img.gz"), file);
  // What the pipeline of the base has uploaded is what its checkout held.
  await write(named("a\r\n$Id: 1 $"));
  expect((await here(["apply", "--yes"], options)).code).toBe(0);
  git(cwd, "init", "--quiet");
  const committed = named("a\n$Id$");
  const digest = createHash("sha256").update(committed).digest("hex");
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${digest}\nsize ${committed.length}\n`;
  for (const [index, [attributes, blob, isKnown]] of (
    [
      ["*.gz ident\n", committed, false],
      ["*.gz text eol=crlf\n", committed, false],
      ["[attr]odd eol=crlf\n*.gz odd\n", committed, false],
      ["*.gz working-tree-encoding=latin1\n", committed, false],
      ["*.gz filter=other\n", committed, false],
      ["*.gz filter=lfs ident\n", pointer, false],
      ["*.gz -text eol=crlf\n", committed, true],
      ["* text=auto eol=lf\n*.gz filter=lfs diff=lfs merge=lfs -text\n", pointer, true],
    ] as const
  ).entries()) {
    await write(blob);
    await writeFile(join(cwd, ".gitattributes"), attributes);
    // As it is, whatever git makes of it as it is added.
    const id = git(cwd, "hash-object", "-w", "--no-filters", "golden.img.gz");
    git(cwd, "update-index", "--add", "--cacheinfo", `100644,${id},golden.img.gz`);
    git(cwd, "add", "tenon.yaml", ".gitattributes");
    git(cwd, "commit", "--quiet", "--message", attributes);
    git(cwd, "branch", `base-${index}`);
    // The change takes the attributes away, and now its checkout holds what was committed.
    await write(committed);
    await rm(join(cwd, ".gitattributes"));
    for (const flag of ["--base", "--changed-since"]) {
      const { code, stdout } = await here(["plan", flag, `refs/heads/base-${index}`], options);
      const isPending = stdout.includes(": nothing");
      expect([attributes, code, isPending]).toEqual([attributes, 0, isKnown]);
      expect(stdout).toContain("-/+ image golden");
    }
  }
});

test("attributes hold for the files of their own repository: those of a submodule are asked, and those around it are not", async () => {
  const options = { env: envOf(await emulator()) };
  const zone = PROJECT.slice(PROJECT.indexOf("domains:"));
  for (const [inner, outer, isRefused] of [
    ["*.yaml ident\n", "", true],
    ["", "*.yaml ident\ntenon.yaml -ident\n", false],
  ] as const) {
    const module = await folder({ "zone.yaml": `tenon: 1\n${zone}`, ".gitattributes": inner });
    git(module, "init", "--quiet");
    commit(module, "main");
    const cwd = await folder({
      "tenon.yaml": "tenon: 1\nowner: edge\nfiles: [zones/*.yaml]\n",
      ".gitattributes": outer,
    });
    git(cwd, "init", "--quiet");
    git(cwd, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", module, "zones");
    commit(cwd, "main");
    const { code, stdout, stderr } = await here(["plan", "--base", "main"], { ...options, cwd });
    expect([inner, code, stdout]).toEqual([inner, 0, expect.stringMatching(/\+ www A +192\.0\.2\.1/)]);
    expect([inner, (stdout + stderr).includes("a file that a checkout changes")]).toEqual([inner, isRefused]);
  }
});
