import { execFileSync } from "node:child_process";
import { linkSync } from "node:fs";
import { mkdir, readdir, readFile, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { UploadFiles } from "../../src/index.ts";
import { here as run } from "../cli/here.ts";
import { emulator, envOf, expectPlain, folder, PROJECT } from "../cli/run.ts";
import { codes, load } from "../manifest/support.ts";
import { besideSecret, link, refuse, SECRET } from "./hostile.ts";

const ZONE = "tenon: 1\ndomains:\n  - { domain: a.example, type: master, soa_email: a@a.example, zone_file: FILE }\n";
const UPLOAD = "tenon: 1\nimages:\n  - { label: a, upload: { file: FILE, region: us-east } }\n";
const FILES = "tenon: 1\nfiles: [FILE]\n";
const IR = JSON.stringify({
  registrars: [],
  dns_providers: [],
  domains: [{ name: "a.example", dnsProviders: { a: -1 }, records: [{ type: "A", name: "a", target: "192.0.2.1" }] }],
});

/** What a project that names `file` in this place is told, in the codes of its errors; never a word of the secret. */
async function naming(manifest: string, file: string, prepare: (cwd: string) => Promise<void>): Promise<string[]> {
  const cwd = await besideSecret({ "tenon.yaml": manifest.replace("FILE", JSON.stringify(file)) });
  await prepare(cwd);
  const result = await load(cwd);
  expect(
    JSON.stringify([result.diagnostics, result.sources.files().map((name) => result.sources.text(name))]),
  ).not.toContain(SECRET);
  expect(result.project).toBeNull();
  return codes(result);
}

/** Every way out of the project that git can carry: a path, a link to a file, a link to a folder. */
async function expectNoWayOut(manifest: string, secret: string): Promise<void> {
  const links = async (cwd: string): Promise<void> => {
    await link(cwd, "file-link", `../outside/${secret}`);
    await link(cwd, "folder-link", "../outside");
    await link(cwd, "second-link", "file-link");
  };
  const ways = [`../outside/${secret}`, "/etc/hostname", "file-link", `folder-link/${secret}`, "second-link"];
  for (const way of [...ways, `x/../../outside/${secret}`]) {
    expect([way, await naming(manifest, way, links)]).toEqual([way, ["outside-project"]]);
  }
}

test("an image to upload lies inside the project, by its path and by every link", async () => {
  await expectNoWayOut(UPLOAD, "secret.gz");
  const cwd = await besideSecret({ "tenon.yaml": UPLOAD.replace("FILE", "file-link") });
  await link(cwd, "file-link", "../outside/secret.gz");
  await refuse(cwd, ["error[outside-project]", "a manifest cannot reach beyond its folder"], {
    args: ["apply", "--yes"],
  });
});

test("a gzip bomb ends at the limit of what an image may hold, before its end is read", async () => {
  const member = gzipSync(Buffer.alloc(64 * 1024 ** 2), { level: 1 });
  const cwd = await folder({ "tenon.yaml": UPLOAD.replace("FILE", "bomb.gz") });
  await writeFile(join(cwd, "bomb.gz"), Buffer.concat(Array.from({ length: 64 }, () => member)));
  const files = new UploadFiles(cwd, 256 * 1024 ** 2);
  const read: number[] = [];
  expect(await files.contentOf("bomb.gz", { progress: (_, done) => read.push(done) })).toBeNull();
  expect(files.problemOf("bomb.gz")?.code).toBe("file-too-large");
  expect(Math.max(...read)).toBeLessThan(32 * member.length);
});

test("many files that each hold less than an image may are refused once they hold more together than a run may", async () => {
  const names = ["a", "b", "c", "d"].map((name) => `${name}.gz`);
  const cwd = await folder({ "tenon.yaml": UPLOAD.replace("FILE", "a.gz") });
  const member = gzipSync(Buffer.alloc(64 * 1024 ** 2), { level: 1 });
  for (const name of names) await writeFile(join(cwd, name), member);
  const files = new UploadFiles(cwd, 100 * 1024 ** 2, 150 * 1024 ** 2);
  const found: (string | null)[] = [];
  for (const name of [...names, "a.gz"]) {
    const content = await files.contentOf(name);
    found.push(content === null ? (files.problemOf(name)?.summary ?? "") : null);
  }
  const more = (name: string) => expect.stringMatching(`${name} and the files checked before it hold more than `);
  // What was checked is not decompressed again.
  expect(found).toEqual([null, null, more("c.gz"), more("d.gz"), null]);
});

test("the name of a file is quoted in a command that a message proposes", async () => {
  const name = "a'$(touch owned)'.img";
  const cwd = await folder({ "tenon.yaml": UPLOAD.replace("FILE", JSON.stringify(name)) });
  await writeFile(join(cwd, name), "raw");
  const [found] = (await load(cwd)).diagnostics;
  const command = /gzip --keep .*/.exec(found?.fix ?? "")?.[0] ?? "";
  execFileSync("sh", ["-c", command.replace("gzip --keep", "printf %s >told")], { cwd });
  expect(await readFile(join(cwd, "told"), "utf8")).toBe(name);
  expect((await readdir(cwd)).sort()).toEqual([name, "tenon.yaml", "told"].sort());
});

test("the name of a folder is quoted in a command that a summary proposes", async () => {
  const name = "a'$(touch owned)'b";
  const cwd = await folder({ "ir.json": IR });
  for (const args of [
    ["init", "--yes", name],
    ["import", "--from", "dnscontrol", "ir.json", "--out", `${name}2`],
  ]) {
    const { code, stdout } = await run(args, { cwd });
    expect(code).toBe(0);
    const command = / *tenon plan .*/.exec(stdout)?.[0] ?? "";
    execFileSync("sh", ["-c", command.replace("tenon plan", "printf %s >told")], { cwd });
    expect(await readFile(join(cwd, "told"), "utf8")).toBe(args.at(-1));
  }
  expect(await readdir(cwd)).not.toContain("owned");
});

test("the name of an environment is quoted in a command that a message proposes", async () => {
  const name = "a'$(touch owned)'b";
  const set = `environments: { ${JSON.stringify(name)}: { variables: { x: a } } }\nvariables: { x: {} }\n`;
  const cwd = await folder({ "tenon.yaml": `tenon: 1\n${set}vpcs: [{ label: "\${var.x}", region: us-east }]\n` });
  for (const args of [["validate"], ["plan"]]) {
    const { stdout, stderr } = await run(args, { cwd });
    const option = /--env ('.*[^.]')\./.exec((stdout + stderr).replace(/\s+/g, " "))?.[1] ?? "";
    execFileSync("sh", ["-c", `printf %s ${option} >told`], { cwd });
    expect([args, await readFile(join(cwd, "told"), "utf8")]).toEqual([args, name]);
  }
  expect((await readdir(cwd)).sort()).toEqual(["tenon.yaml", "told"]);
});

test("a zone file lies inside the project, by its path and by every link", async () => {
  await expectNoWayOut(ZONE, "secret.txt");
});

test("a manifest lies inside the project, by its path, by every link, and by globs that meet links", async () => {
  await expectNoWayOut(FILES, "secret.txt");
  const links = async (cwd: string): Promise<void> => {
    await link(cwd, "folder-link", "../outside");
    await link(cwd, "a.txt", "../outside/secret.txt");
  };
  expect(await naming(FILES, "*.txt", links)).toEqual(["outside-project"]);
  const cwd = await besideSecret({ "tenon.yaml": FILES.replace("FILE", '"**/*.txt"') });
  await link(cwd, "folder-link", "../outside");
  // No file is found at all: links to folders are not walked.
  expect(codes(await load(cwd))).toEqual(["no-match"]);
});

test("a root file that is a link out of the project is refused", async () => {
  const cwd = await besideSecret({ "README.md": "" });
  await link(cwd, "tenon.yaml", "../outside/secret.txt");
  await refuse(cwd, ["error[outside-project]"], { args: ["validate"] });
});

test("a root file that is a link into a folder of git or of Tenon is refused, and none of its lines is shown", async () => {
  for (const file of [".git/config", ".tenon/journal/old.jsonl"]) {
    for (const args of [["validate"], ["fmt", "--check"], ["plan"], ["show", "--expanded"]]) {
      const cwd = await besideSecret({ "README.md": "" });
      await mkdir(join(cwd, dirname(file)), { recursive: true });
      await writeFile(join(cwd, file), `\tx = ${SECRET}\n`);
      await link(cwd, "tenon.yaml", file);
      await refuse(cwd, ["error[outside-project]"], { args });
    }
  }
});

test("an imported zone file includes no file of git or of Tenon", async () => {
  const cwd = await besideSecret({ "a.test.zone": "$INCLUDE .git/config\n", "b.test.zone": "$INCLUDE innocent\n" });
  await mkdir(join(cwd, ".git"));
  await writeFile(join(cwd, ".git/config"), `\tx = ${SECRET}\n`);
  await link(cwd, "innocent", ".git/config");
  for (const zone of ["a.test.zone", "b.test.zone"]) {
    await refuse(cwd, ["belongs to git or to Tenon"], { args: ["import", "--from", "zone", zone, "--out", "new"] });
  }
});

test("a file of variables is no link that leads elsewhere, and none of its lines is shown", async () => {
  const cwd = await besideSecret({ "tenon.yaml": PROJECT, "vars/real.yaml": "{}\n" });
  await mkdir(join(cwd, ".git"));
  await writeFile(join(cwd, ".git/config"), `\tx = ${SECRET}\n`);
  await link(cwd, "a.yaml", ".git/config");
  await link(cwd, "b.yaml", "../outside/secret.txt");
  await link(cwd, "c.yaml", "/proc/self/environ");
  await link(cwd, "folder", "../outside");
  await link(cwd, "good.yaml", "vars/real.yaml");
  const service = await emulator();
  for (const file of ["a.yaml", "b.yaml", "c.yaml", "folder/secret.txt", join(cwd, "a.yaml"), "./b.yaml"]) {
    for (const command of ["plan", "validate", "drift"]) {
      const env = { ...envOf(service), TENON_HIDDEN: SECRET };
      const ended = await run([command, "--var-file", file], { cwd, env });
      expectPlain(ended, 1, ["A symbolic link leads outside the working folder"]);
      expect(ended.stderr).not.toContain(SECRET);
    }
    const { stdout, stderr } = await run(["fmt", "--var-file", file], { cwd });
    expect(stdout + stderr).not.toContain(SECRET);
  }
  expect((await run(["validate", "--var-file", "good.yaml"], { cwd })).code).toBe(0);
});

test("a plan or a zone file is written through no link into a folder of git", async () => {
  const cwd = await besideSecret({ "tenon.yaml": PROJECT });
  await mkdir(join(cwd, ".git"));
  await writeFile(join(cwd, ".git/config"), "[core]\n");
  await link(cwd, "the.plan", ".git/config");
  await link(cwd, "new.plan", ".git/hooks");
  const env = envOf(await emulator());
  for (const args of [["plan"], ["live"], ["zone", "export", "example.com", "--from-manifest", "--force"]]) {
    const ended = await run([...args, "--out", "the.plan"], { cwd, env });
    expect([args, ended.code]).toEqual([args, 1]);
    expect(ended.stderr.replace(/\s+/g, " ")).toContain("leads into a folder of git or of Tenon by a symbolic link");
  }
  expect(await readFile(join(cwd, ".git/config"), "utf8")).toBe("[core]\n");
});

test("an imported file is no link into a folder of git or of Tenon", async () => {
  const cwd = await besideSecret({ "zones/b.test.yaml": "www: { type: A, value: 192.0.2.1 }\n" });
  await mkdir(join(cwd, ".git"));
  await writeFile(join(cwd, ".git/config"), `\tx = ${SECRET}\n`);
  await link(cwd, "a.test.zone", ".git/config");
  await link(cwd, "zones/a.test.yaml", "../.git/config");
  for (const args of [
    ["--from", "zone", "a.test.zone"],
    ["--from", "octodns", "zones/a.test.yaml"],
  ]) {
    const words = ["it is a link into a folder of git or of Tenon"];
    await refuse(cwd, words, { code: 1, args: ["import", ...args, "--out", "new"] });
  }
});

test("an octoDNS folder that is imported is read through none of its links", async () => {
  const outside = "www: { type: A, value: 203.0.113.66 }\n";
  const cwd = await besideSecret({
    "zones/a.test.yaml": "www: { type: A, value: 192.0.2.1 }\n",
    "zones/split.test./www.yaml": "www: { type: A, value: 192.0.2.2 }\n",
  });
  await writeFile(join(cwd, "../outside/x.yaml"), outside);
  await link(cwd, "zones/b.test.yaml", "../../outside/x.yaml");
  await link(cwd, "zones/c.test.", "../../outside");
  await link(cwd, "zones/split.test./x.yaml", "../../../outside/x.yaml");
  const env = envOf(await emulator());
  const { code, stdout, stderr } = await run(["import", "--from", "octodns", "zones", "--out", "-"], { cwd, env });
  expect(code).toBe(0);
  expect(stdout).toContain("192.0.2.1");
  expect(stdout).toContain("192.0.2.2");
  expect(stdout + stderr).not.toMatch(/203\.0\.113\.66|domain: [bc]\.test/);
  const said = stderr.replace(/\s+/g, " ");
  for (const file of ["zones/b.test.yaml", "zones/c.test.", "zones/split.test./x.yaml"])
    expect(said).toContain(`${file} is a symbolic link and is left out`);
});

test("an octoDNS configuration leads to no folder elsewhere, by its path or by a link", async () => {
  const cwd = await besideSecret({ "config/keep": "", "zones/a.test.yaml": "www: { type: A, value: 192.0.2.1 }\n" });
  await writeFile(join(cwd, "../outside/secrets.prod.yaml"), `password: ${SECRET}\n`);
  await link(cwd, "linked", "../outside");
  const env = envOf(await emulator());
  const importing = async (directory: string) => {
    const provider = `providers:\n  config:\n    class: octodns.provider.yaml.YamlProvider\n    directory: ${directory}\nzones:\n  "*": { sources: [config] }\n`;
    await writeFile(join(cwd, "config/production.yaml"), provider);
    return run(["import", "--from", "octodns", "config/production.yaml", "--out", "-"], { cwd, env });
  };
  for (const directory of [join(cwd, "../outside"), "../outside", "../../outside", "linked", "./zones/../../outside"]) {
    const { code, stdout, stderr } = await importing(directory);
    expect([directory, code, stderr]).toEqual([directory, 1, expect.stringContaining("there is no folder")]);
    expect(stdout + stderr).not.toMatch(/secrets\.prod|SECRET/);
    expect(stdout + stderr).not.toContain(SECRET);
  }
  expect((await importing("./zones")).stdout).toContain("192.0.2.1");
});

test("an imported project is written through no link that leads out of the checkout, at whatever depth", async () => {
  const cwd = await besideSecret({ "a.test.zone": "@ 300 SOA ns1.a.test. a.a.test. 1 2 3 4 5\nwww 300 A 192.0.2.1\n" });
  await link(cwd, "logs", "../outside");
  for (const out of ["logs", "logs/deep", "logs/deep/deeper", "./logs/../logs/deep"]) {
    const args = ["import", "--from", "zone", "a.test.zone", "--out", out];
    await refuse(cwd, ["error[symbolic-link]"], { code: 4, args });
  }
  expect((await readdir(join(cwd, "../outside"))).sort()).toEqual(["secret.gz", "secret.txt"]);
});

test("a file that a zone file includes lies inside the project, by its path and by every link", async () => {
  for (const way of ["../outside/secret.txt", "/etc/hostname", "file-link", "folder-link/secret.txt"]) {
    const include = async (cwd: string): Promise<void> => {
      await writeFile(join(cwd, "a.zone"), `$INCLUDE ${way}\n`);
      await link(cwd, "file-link", "../outside/secret.txt");
      await link(cwd, "folder-link", "../outside");
    };
    expect([way, await naming(ZONE, "a.zone", include)]).toEqual([way, ["include-failed"]]);
  }
});

test("folders of git and of Tenon are no part of the project, so that no error shows their lines", async () => {
  const keep = async (cwd: string): Promise<void> => {
    await mkdir(join(cwd, ".git"));
    await mkdir(join(cwd, ".tenon/journal"), { recursive: true });
    for (const file of [".git/config", ".tenon/journal/old.jsonl"])
      await writeFile(join(cwd, file), `\tx = ${SECRET}\n`);
    await link(cwd, "innocent.zone", ".git/config");
  };
  for (const file of [".git/config", "innocent.zone", ".tenon/journal/old.jsonl"]) {
    expect([file, await naming(ZONE, file, keep)]).toEqual([file, ["outside-project"]]);
    expect([file, await naming(FILES, file, keep)]).toEqual([file, ["outside-project"]]);
  }
});

test("a manifest names no file of variables: those come from the command line only", async () => {
  const cwd = await besideSecret({ "tenon.yaml": `${PROJECT}var_files: [../outside/secret.txt]\nvar_file: x\n` });
  expect(codes(await load(cwd))).toEqual(["unknown-key", "unknown-key"]);
  for (const tag of ["!include ../outside/secret.txt", "!!js/function 'x'", "!env PATH", "!!binary c2VjcmV0"]) {
    const tagged = await besideSecret({ "tenon.yaml": `tenon: 1\nvpcs: [{ label: ${tag}, region: us-east }]\n` });
    expect([tag, codes(await load(tagged))]).toEqual([tag, ["unknown-tag"]]);
  }
});

test("a pipe, a socket or a device is not read, and not waited for", async () => {
  const special = async (cwd: string): Promise<void> => {
    execFileSync("mkfifo", [join(cwd, "pipe")]);
    await link(cwd, "device", "/dev/zero");
  };
  for (const manifest of [UPLOAD, ZONE, FILES]) {
    expect(await naming(manifest, "pipe", special)).toEqual(["unreadable-file"]);
    expect(await naming(manifest, "device", special)).toEqual(["outside-project"]);
  }
});

test("a project is begun beside a pipe or a device called .gitignore, which is not read and not waited for", async () => {
  const cwd = await folder({ "a/x": "", "b/x": "" });
  execFileSync("mkfifo", [join(cwd, "a/.gitignore")]);
  await link(cwd, "b/.gitignore", "/dev/zero");
  for (const name of ["a", "b"]) {
    expectPlain(await run(["init", "--yes", name], { cwd }), 4, [".gitignore is no regular file of this folder"]);
    expect((await readdir(join(cwd, name))).sort()).toEqual([".gitignore", "x"]);
  }
});

test("an import is added to no project to which a link leads out of the checkout", async () => {
  const parent = await folder({ "checkout/ir.json": IR, "other/tenon.yaml": "tenon: 1\n" });
  const cwd = join(parent, "checkout");
  await link(cwd, "infra", "../other");
  const args = ["import", "--from", "dnscontrol", "ir.json", "--into", "infra"];
  expectPlain(await run(args, { cwd }), 4, ["infra leads out of this folder by a symbolic link"]);
  expect(await readdir(join(parent, "other"))).toEqual(["tenon.yaml"]);
});

test("a file of a terabyte, all of it a hole, is refused by its size before it is read", async () => {
  const grow = (cwd: string): Promise<void> =>
    writeFile(join(cwd, "big"), "").then(() => truncate(join(cwd, "big"), 2 ** 40));
  for (const manifest of [UPLOAD, ZONE, FILES]) {
    expect(await naming(manifest, "big", grow)).toEqual(["file-too-large"]);
  }
  const include = (cwd: string): Promise<void> =>
    grow(cwd).then(() => writeFile(join(cwd, "a.zone"), "$INCLUDE big\n"));
  expect(await naming(ZONE, "a.zone", include)).toEqual(["include-failed"]);
});

test("a journal is written through no link of the project, and then nothing is applied", async () => {
  for (const name of [".tenon", ".tenon/journal"]) {
    const cwd = await besideSecret({ "tenon.yaml": PROJECT });
    if (name !== ".tenon") await mkdir(join(cwd, ".tenon"));
    await link(cwd, name, join(cwd, "../outside"));
    const service = await emulator();
    const result = await run(["apply", "--yes"], { cwd, env: envOf(service) });
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("error[journal-symlink]");
    expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
    expect((await readdir(join(cwd, "../outside"))).sort()).toEqual(["secret.gz", "secret.txt"]);
  }
});

test("a journal that is named is written through no link out of the checkout, and to no file that has another name", async () => {
  const cwd = await besideSecret({ "infra/tenon.yaml": PROJECT, "old.jsonl": "" });
  await link(cwd, "logs", "../outside");
  await link(cwd, "dangling", "../outside/new.jsonl");
  await link(cwd, "within", "infra");
  await link(cwd, "on", "within/../logs");
  linkSync(join(cwd, "../outside/secret.txt"), join(cwd, "second-name.jsonl"));
  const service = await emulator();
  for (const file of ["logs/new.jsonl", "dangling", "on/new.jsonl", "logs/deep/new.jsonl", "second-name.jsonl"]) {
    const { code, stderr } = await run(["apply", "infra", "--yes", "--journal", file], { cwd, env: envOf(service) });
    expect([file, code]).toEqual([file, 1]);
    expect(stderr).toMatch(/error\[journal-(symlink|unwritable)\]/);
  }
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  expect(await readFile(join(cwd, "../outside/secret.txt"), "utf8")).toBe(`${SECRET}\n`);
  expect((await readdir(join(cwd, "../outside"))).sort()).toEqual(["secret.gz", "secret.txt"]);
  // A link that stays within is nobody's trap.
  expect((await run(["apply", "infra", "--yes", "--journal", "old.jsonl"], { cwd, env: envOf(service) })).code).toBe(0);
});

test("a plan, a zone file or a snapshot is written through no link that leads out of the checkout", async () => {
  const cwd = await besideSecret({ "tenon.yaml": PROJECT });
  await link(cwd, "the.plan", "../outside/secret.txt");
  await link(cwd, "out", "../outside");
  const service = await emulator();
  for (const file of ["the.plan", "out/the.plan", "./out/../the.plan"]) {
    const { code, stderr } = await run(["plan", "--out", file], { cwd, env: envOf(service) });
    expect([file, code]).toEqual([file, 1]);
    expect(stderr).toContain("by a symbolic link");
  }
  service.clearRequests();
  for (const file of ["the.plan", "out/the.live"]) {
    expectPlain(await run(["live", "--out", file], { cwd, env: envOf(service) }), 1, ["by a symbolic link"]);
  }
  expect(service.requests).toEqual([]);
  const args = ["zone", "export", "example.com", "--from-manifest", "--force", "--out", "the.plan"];
  expectPlain(await run(args, { cwd }), 1, ["the zone file cannot be written: the.plan", "symbolic link"]);
  expect(await readFile(join(cwd, "../outside/secret.txt"), "utf8")).toBe(`${SECRET}\n`);
  expect((await readdir(join(cwd, "../outside"))).sort()).toEqual(["secret.gz", "secret.txt"]);
});
