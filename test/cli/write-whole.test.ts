import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeWhole } from "../../src/cli/write-whole.ts";
import { emulator, envOf, folder, PROJECT, run } from "./run.ts";

it("a plan written over another file is for its owner's eyes, and nothing else is left", async () => {
  const cwd = await folder({ "tenon.yaml": PROJECT, "the.plan": "an older one" });
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

it("a device is written to, and not replaced", async () => {
  await writeWhole("/dev/null", "text", 0o600);
  expect((await stat("/dev/null")).isCharacterDevice()).toBe(true);
});

it("what cannot be written leaves what was there, and nothing beside it", async () => {
  const cwd = await folder({});
  await mkdir(join(cwd, "folder"));
  await writeFile(join(cwd, "file"), "old");
  await expect(writeWhole(join(cwd, "folder"), "new", 0o600)).rejects.toThrow("EISDIR");
  await expect(writeWhole(join(cwd, "missing/file"), "new", 0o600)).rejects.toThrow("ENOENT");
  expect((await readdir(cwd)).sort()).toEqual(["file", "folder"]);
});
