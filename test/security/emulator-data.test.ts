import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { expect, test } from "vitest";
import { startEmulator } from "../../src/emulator/index.ts";
import { here } from "../cli/here.ts";
import { expectPlain, folder, run } from "../cli/run.ts";
import { besideSecret, link, SECRET } from "./hostile.ts";

const HEADER = '{"format":"tenon-emulator","version":2}\n';

/** A data file with the checksums that fit what it says: who forges one can reckon. */
function dataFile(lines: readonly string[]): string {
  let checksum = crc32(HEADER);
  return lines.reduce((file, text) => {
    checksum = crc32(text, checksum);
    return `${file}{"crc":${checksum},"changes":${text}}\n`;
  }, HEADER);
}

test("a forged data file is damage: the emulator sets it aside, says so, and changes no prototype", async () => {
  const forged = [
    "null",
    "{}",
    "1",
    '"x"',
    "[null]",
    "[1]",
    "[[]]",
    '[["vpcs"]]',
    '[["vpcs",1,1]]',
    '[["vpcs",1,[]]]',
    '[["vpcs",1,{"id":2}]]',
    '[["vpcs",{},{"id":{}}]]',
    '[["__proto__",1,{"id":1}]]',
    '[["constructor",1,null]]',
    "[[[",
    "x",
  ];
  for (const text of forged) {
    const cwd = await folder({ "account.log": dataFile([text, "[]"]) });
    const emulator = await startEmulator({ data: join(cwd, "account.log") });
    await emulator.close();
    expect([text, emulator.notices]).toEqual([text, [expect.stringMatching(/line 2 is damaged.*set aside as/)]]);
  }
  expect(({} as Record<string, unknown>)["id"]).toBeUndefined();
});

test("the emulator writes its data through no link that lies beside it", async () => {
  const cwd = await folder({ "theirs/secret.txt": "theirs\n", "mine/keep": "" });
  const data = join(cwd, "mine/account.log");
  await symlink("../theirs/secret.txt", join(cwd, "mine/.account.log.new"));
  await symlink("../theirs/secret.txt", join(cwd, "mine/other.log"));
  await (await startEmulator({ data })).close();
  expect(await readFile(join(cwd, "theirs/secret.txt"), "utf8")).toBe("theirs\n");
  expect(await readFile(data, "utf8")).toMatch(/^\{"format":"tenon-emulator"/);
  // One that is the data file itself leads to what is none.
  await expect(startEmulator({ data: join(cwd, "mine/other.log") })).rejects.toThrow("was left as it is");
  await writeFile(join(cwd, "theirs/secret.txt"), "");
  await (await startEmulator({ data: join(cwd, "mine/other.log") })).close();
  expect(await readFile(join(cwd, "theirs/secret.txt"), "utf8")).toBe("");
  expect((await readdir(join(cwd, "theirs"))).length).toBe(1);
});

test("the emulator takes no seed and writes no log through a link that leads out of the checkout", async () => {
  const cwd = await besideSecret({ "folder/keep": "" });
  await link(cwd, "seed.yaml", "../outside/secret.txt");
  await link(cwd, "folder/log", "../../outside");
  await link(cwd, "hidden.log", ".git/config");
  await link(cwd, "dangling.log", "../outside/new.log");
  await mkdir(join(cwd, ".git"));
  await writeFile(join(cwd, ".git/config"), `\tx = ${SECRET}\n`);
  for (const flags of [
    ["--seed", "seed.yaml"],
    ["--request-log", "folder/log/new.log"],
    ["--request-log", "hidden.log"],
    ["--request-log", "dangling.log"],
  ]) {
    const ended = await here(["emulate", "--port", "0", ...flags], { cwd });
    expectPlain(ended, 1, [/symbolic link( that leads nowhere)?; name the place itself/]);
    expect(ended.stderr).not.toContain(SECRET);
  }
  expect((await readdir(join(cwd, "../outside"))).sort()).toEqual(["secret.gz", "secret.txt"]);
  expect(await readFile(join(cwd, ".git/config"), "utf8")).toBe(`\tx = ${SECRET}\n`);
});

test("the emulator does not wait for a named pipe in the place of its data file, a lock or its log", async () => {
  for (const [pipe, args, message] of [
    ["em.data", ["--data", "em.data"], "em.data is no regular file"],
    ["em.data.lock", ["--data", "em.data"], "em.data.lock is no regular file"],
    ["em.data.lock.takeover", ["--data", "em.data"], "em.data.lock.takeover is no regular file"],
    ["em.log", ["--request-log", "em.log"], "em.log"],
  ] as const) {
    const cwd = await folder(pipe.endsWith("takeover") ? { "em.data.lock": '{"pid":1,"start":"gone"}\n' } : {});
    execFileSync("mkfifo", [join(cwd, pipe)]);
    const { code, stderr } = await run(["emulate", "--port", "0", ...args], { cwd });
    expect({ pipe, code }).toEqual({ pipe, code: 1 });
    expect(stderr.replace(/\s+/g, " ")).toContain(message);
  }
});
