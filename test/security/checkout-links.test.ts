/** Links that a checkout holds beside the working folder, as where a pipeline runs Tenon in one of its folders and names a file of another. */

import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { here } from "../cli/here.ts";
import { emulator, envOf, folder } from "../cli/run.ts";
import { link } from "./hostile.ts";

const MANIFEST =
  "tenon: 1\nvpcs: [{ label: prod, region: us-east }]\ndomains: [{ domain: a.test, type: master, soa_email: a@a.test, records: [{ name: www, type: A, targets: [192.0.2.1] }] }]\n";
const FLEET = "fleet: 1\naccounts:\n  - { name: a1, project: infra, token: { env: TENON_TOKEN }, base_url: URL }\n";
const REFUSED =
  /leads\s+(?:out|into)[\s\S]*by\s+a\s+symbolic\s+link|it is a link into a folder of git|error\[(?:journal-symlink|outside-project)\]/;

/** A checkout whose `tools` is the working folder, and beside the checkout a folder of the user's. */
async function checkout() {
  const service = await emulator({
    seed: { domains: [{ id: 7, domain: "b.test", type: "master", soa_email: "a@b.test" }] } as never,
  });
  const parent = await folder({
    "home/config": "SECRET\n",
    "repo/.git/config": "SECRET\n",
    "repo/infra/tenon.yaml": MANIFEST,
    "repo/fleet.yaml": FLEET.replace("URL", service.baseUrl),
    "repo/tools/keep": "",
  });
  const repo = join(parent, "repo");
  await mkdir(join(parent, "home/folder"));
  const go = (...args: string[]) => here(args, { cwd: join(repo, "tools"), env: envOf(service) });
  return { service, parent, repo, home: join(parent, "home"), go };
}

const WRITES = (file: string, inFolder: string): string[][] => [
  ["plan", "../infra", "--out", file],
  ["plan", "../infra", "--json-into", file],
  ["plan", "../infra", "--html-into", file],
  ["live", "../infra", "--out", file],
  ["apply", "../infra", "--yes", "--journal", file],
  ["plan", "../infra", "--out", `${inFolder}/new`],
  // For the system, the parent of a link is that of what it leads to.
  ["plan", "../infra", "--out", `${inFolder}/../new`],
  ["apply", "../infra", "--yes", "--journal", `${inFolder}/new`],
  ["export", "../infra", "--to", "octodns", "--out", `${inFolder}/sub`],
  ["import", "--out", `${inFolder}/sub`],
  ["init", `${inFolder}/sub`, "--yes", "--domain", "a.test"],
  ["fleet", "plan", "../fleet.yaml", "--out", inFolder],
];

const READS = (file: string, inFolder: string): string[][] => [
  ["apply", "../infra", "--yes", "--plan", file],
  ["plan", "../infra", "--live", file],
  ["show", file],
  ["undo", file, "../infra"],
  ["ticket", "open", "--summary", "s", "--file", file],
  ["plan", "../infra", "--var-file", file],
  ["plan", "../infra", "--var-file", `${inFolder}/config`],
  ...["zone", "octodns", "dnscontrol", "terraform"].map((from) => ["import", "--from", from, file, "--out", "-"]),
  ["fleet", "list", `${inFolder}/config`],
  ["fleet", "init", "--from", `${inFolder}/config`, "--out", "-"],
];

test("no link of a checkout is followed out of it, or into its folder of git, from whichever of its folders Tenon runs", async () => {
  const { service, repo, home, go } = await checkout();
  for (const [file, inFolder] of [
    [join(home, "config"), home],
    [join(repo, ".git/config"), join(repo, ".git")],
  ] as const) {
    await link(repo, "file", file);
    await link(repo, "folder", inFolder);
    await link(repo, "again", "infra/../file");
    for (const args of [
      ...WRITES("../file", "../folder"),
      ...WRITES("../again", join(repo, "folder")),
      ...READS("../again", "../folder"),
      ["show", join(repo, "file")],
    ]) {
      const { code, stdout, stderr } = await go(...args);
      expect([args, code, stdout + stderr]).toEqual([args, expect.any(Number), expect.stringMatching(REFUSED)]);
      expect([args, code]).not.toEqual([args, 0]);
      expect(stdout + stderr).not.toContain("SECRET");
    }
    for (const name of ["file", "folder", "again"]) await rm(join(repo, name));
  }
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  expect((await readdir(home, { recursive: true })).sort()).toEqual(["config", "folder"]);
  expect((await readdir(join(repo, ".git"))).sort()).toEqual(["config"]);
  for (const file of [join(home, "config"), join(repo, ".git/config")])
    expect(await readFile(file, "utf8")).toBe("SECRET\n");
});

test("a checkout is one without git, too, if it holds a project, and a link that leads to no file yet is no way for a journal", async () => {
  const { service, repo, home, go } = await checkout();
  await rm(join(repo, ".git"), { recursive: true });
  await link(repo, "infra/the.plan", join(home, "config"));
  await link(repo, "infra/new.jsonl", join(home, "new.jsonl"));
  for (const args of [
    ["plan", "../infra", "--out", "../infra/the.plan"],
    ["apply", "../infra", "--yes", "--journal", "../infra/new.jsonl"],
  ]) {
    const { code, stdout, stderr } = await go(...args);
    expect([args, code, stdout + stderr]).toEqual([args, 1, expect.stringMatching(REFUSED)]);
  }
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  expect((await readdir(home)).sort()).toEqual(["config", "folder"]);
});

test("of projects within projects in no checkout of git, the outermost holds the links of all", async () => {
  const { repo, home, go } = await checkout();
  await rm(join(repo, ".git"), { recursive: true });
  await writeFile(join(repo, "tenon.yaml"), "tenon: 1\n");
  await mkdir(join(repo, "shared"));
  await symlink("../shared", join(repo, "infra/shared"));
  await link(repo, "infra/away", home);
  expect((await go("plan", "../infra", "--out", "../infra/shared/a.plan")).code).toBe(0);
  expect((await go("plan", "../infra", "--out", "../infra/away/a.plan")).stderr).toMatch(REFUSED);
  expect([await readdir(join(repo, "shared")), (await readdir(home)).sort()]).toEqual([
    ["a.plan"],
    ["config", "folder"],
  ]);
});

test("links within a folder of Tenon stay usable, and those into it from beside it are refused", async () => {
  const { repo, go } = await checkout();
  await mkdir(join(repo, "infra/.tenon/journal"), { recursive: true });
  await writeFile(join(repo, "infra/.tenon/journal/one.plan"), "");
  await symlink("one.plan", join(repo, "infra/.tenon/journal/last.plan"));
  await symlink("infra/.tenon/journal/one.plan", join(repo, "one.plan"));
  expect((await go("plan", "../infra", "--out", "../infra/.tenon/journal/last.plan")).code).toBe(0);
  expect((await go("plan", "../infra", "--out", "../one.plan")).stderr).toMatch(REFUSED);
});

test("links of the user's own folders are followed, into a checkout as well, and links of a checkout within it", async () => {
  const { parent, repo, home, go } = await checkout();
  await symlink(join(home, "folder"), join(parent, "plans"));
  await symlink("folder/a.plan", join(home, "latest.plan"));
  await symlink(repo, join(parent, "current"));
  await symlink("infra", join(repo, "live"));
  for (const out of [
    join(parent, "plans/a.plan"),
    join(home, "latest.plan"),
    join(parent, "current/a.plan"),
    "../live/a.plan",
  ]) {
    expect([out, (await go("plan", "../infra", "--out", out)).code]).toEqual([out, 0]);
    expect([out, (await go("show", out)).code]).toEqual([out, 0]);
  }
  expect(await readFile(join(home, "latest.plan"), "utf8")).toBe(await readFile(join(home, "folder/a.plan"), "utf8"));
  expect((await readdir(join(repo, "infra"))).sort()).toEqual(["a.plan", "tenon.yaml"]);
  // What leads from a checkout that such a link names out of it is a link of that checkout.
  await symlink(join(home, "config"), join(repo, "out.plan"));
  expect((await go("plan", "../infra", "--out", join(parent, "current/out.plan"))).stderr).toMatch(REFUSED);
});
