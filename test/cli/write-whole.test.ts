import { execFileSync, spawn } from "node:child_process";
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readProblem, writeProblem, writeWhole } from "../../src/files/files.ts";
import { here } from "./here.ts";
import { emulator, ended, envOf, expectPlain, folder, MAIN, PROJECT, run } from "./run.ts";

const OLDER = '{"format_version":1}';

it.each([
  ["plan", "--out"],
  ["plan", "--json-into"],
  ["plan", "--html-into"],
  ["apply", "--yes", "--json-into"],
  ["apply", "--yes", "--html-into"],
  ["live", "--out"],
  ["validate", "--json-into"],
  ["drift", "--html-into"],
])("what is no document or page is not replaced by one, and nothing is done: %s %s %s", async (...args) => {
  const journal = '{"type":"run","format_version":1}\n';
  const [other, text] = args.includes("--html-into") ? ["plan.json", OLDER] : ["page.html", "<!doctype html>\n"];
  const files = {
    "tenon.yaml": PROJECT,
    token: "emulator-token\n",
    "run.jsonl": journal,
    "more.jsonl": '{"run":"1"}\n',
    "more.json": '{ "tenon": 1 }\n',
    "vars.json": '{"zone": "example.com"}\n',
    "key.json": '{"type":"service_account","private_key":"x"}\n',
    "terraform.json": '{"format_version":"1.2","terraform_version":"1.9.0"}\n',
    [other]: text,
  };
  const cwd = await folder(files);
  const service = await emulator();
  for (const [file, text] of Object.entries(files)) {
    const { code, stdout, stderr } = await here([...args.filter((arg) => arg !== undefined), file], {
      cwd,
      env: envOf(service),
    });
    expect([file, code, stdout + stderr]).toEqual([
      file,
      1,
      expect.stringMatching(new RegExp(`${file} holds\\s+something\\s+else`)),
    ]);
    expect(await readFile(join(cwd, file), "utf8")).toBe(text);
  }
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
});

it("two flags name one file also through links, whether it is there or not", async () => {
  const cwd = await folder({ "tenon.yaml": PROJECT, "d/there.json": OLDER });
  await symlink("d", join(cwd, "link"));
  for (const name of ["there.json", "new.json"]) {
    const ended = await here(["plan", "--out", `link/${name}`, "--json-into", `d/${name}`], { cwd });
    expectPlain(ended, 1, ["--out and --json-into name the same file"]);
  }
});

it("a plan written over another file is for its owner's eyes, and nothing else is left", async () => {
  const cwd = await folder({ "tenon.yaml": PROJECT, "the.plan": OLDER });
  await chmod(join(cwd, "the.plan"), 0o644);
  const before = await stat(join(cwd, "the.plan"));
  expect((await run(["plan", "--out", "the.plan"], { cwd, env: envOf(await emulator()) })).code).toBe(0);
  const after = await stat(join(cwd, "the.plan"));
  expect(after.mode & 0o777).toBe(0o600);
  // Another file took its name: whoever reads the older one meanwhile reads all of it.
  expect(after.ino).not.toBe(before.ino);
  expect(JSON.parse(await readFile(join(cwd, "the.plan"), "utf8"))).toHaveProperty("tenon");
  expect((await readdir(cwd)).sort()).toEqual(["tenon.yaml", "the.plan"]);
});

it("a link is followed, and stays a link", async () => {
  const cwd = await folder({ target: "old" });
  await symlink("target", join(cwd, "link"));
  await writeWhole(join(cwd, "link"), "new", 0o600);
  expect(await readFile(join(cwd, "target"), "utf8")).toBe("new");
  expect((await readdir(cwd, { withFileTypes: true })).find(({ name }) => name === "link")?.isSymbolicLink()).toBe(
    true,
  );
});

it("what cannot be written to its end leaves what was there", async () => {
  const cwd = await folder({ "tenon.yaml": PROJECT, "the.plan": OLDER });
  const env = { ...envOf(await emulator()), PATH: process.env["PATH"] };
  // No file may have more than 1 KiB: the write fails as it does on a disk that is full.
  const limited = `ulimit -f 1; exec "${process.execPath}" "${MAIN}" plan --out the.plan`;
  const child = spawn("bash", ["-c", limited], { cwd, env });
  const { code, stderr } = await ended(child);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("the plan file cannot be written") });
  expect(await readFile(join(cwd, "the.plan"), "utf8")).toBe(OLDER);
  expect((await readdir(cwd)).sort()).toEqual(["tenon.yaml", "the.plan"]);
});

it("a pipe, as a device, is written to and not replaced", async () => {
  // Of our own: who runs the tests may have the right to replace the machine's devices.
  const pipe = join(await folder({}), "pipe");
  execFileSync("mkfifo", [pipe]);
  const reading = readFile(pipe, "utf8");
  await writeWhole(pipe, "text", 0o600);
  expect((await stat(pipe)).isFIFO()).toBe(true);
  expect(await reading).toBe("text");
});

it("what cannot be written leaves what was there, and nothing beside it", async () => {
  const cwd = await folder({});
  await mkdir(join(cwd, "folder"));
  await writeFile(join(cwd, "file"), "old");
  await expect(writeWhole(join(cwd, "folder"), "new", 0o600)).rejects.toThrow("EISDIR");
  await expect(writeWhole(join(cwd, "missing/file"), "new", 0o600)).rejects.toThrow("ENOENT");
  expect((await readdir(cwd)).sort()).toEqual(["file", "folder"]);
});

it("of many runs that replace the same text at once one does, and the others leave its text", async () => {
  const cwd = await folder({ file: "old" });
  const path = join(cwd, "file");
  const texts = Array.from({ length: 60 }, (_, index) => `text ${index}`);
  const ended = await Promise.allSettled(texts.map((text) => writeWhole(path, text, 0o600, "old")));
  const written = texts.filter((_, index) => ended[index]?.status === "fulfilled");
  expect([await readFile(path, "utf8")]).toEqual(written);
  const failed = ended.flatMap((one) => (one.status === "rejected" ? [String(one.reason.message)] : []));
  expect(new Set(failed)).toEqual(new Set([`${path} was changed meanwhile`]));
  expect(await readdir(cwd)).toEqual(["file"]);
});

it("what a killed run has left of its writing is named, with what to do", async () => {
  const cwd = await folder({ file: "old", "file.writing": "ol" });
  const write = writeWhole(join(cwd, "file"), "new", 0o600, "old");
  await expect(write).rejects.toThrow(`another run is writing it, or was killed: remove ${join(cwd, "file.writing")}`);
  expect(await readFile(join(cwd, "file"), "utf8")).toBe("old");
  expect(await readFile(join(cwd, "file.writing"), "utf8")).toBe("ol");
});

it("where a plan cannot be written is told in words, before the account is read", async () => {
  const service = await emulator();
  const cwd = await folder({ "tenon.yaml": PROJECT });
  for (const [out, words] of [
    ["/nosuch/dir/p", "there is no folder /nosuch/dir"],
    ["missing/p", "there is no folder missing"],
    ["tenon.yaml/p", "there is no folder tenon.yaml"],
    [".", ". is a folder"],
  ] as const) {
    const ended = await here(["plan", "--out", out], { cwd, env: envOf(service) });
    expectPlain(ended, 1, [`the plan file cannot be written: ${words}\n`]);
  }
  expect(service.requests).toEqual([]);
});

it("what only writing shows is told without codes where they are known, and never with a temporary name", () => {
  const error = (code: string) => Object.assign(new Error(`${code}: no, open 'p.0b5c'`), { code });
  for (const code of ["ENOENT", "ENOTDIR", "EISDIR", "EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT", "ELOOP"]) {
    for (const text of [writeProblem(error(code), "p"), readProblem(error(code), "p")]) {
      if (text !== "p (EISDIR)") expect(text).toMatch(/^(?!.*\bE[A-Z]{3}).*\bp\b/);
      expect(text).not.toContain("0b5c");
    }
  }
  expect(writeProblem(error("EODD"), "p")).toBe("p (EODD)");
  expect(writeProblem(new Error("p leads out"), "p")).toBe("p leads out");
});
