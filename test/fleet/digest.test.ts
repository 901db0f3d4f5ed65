/** What two machines must have alike of an account and its project. */

import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { planDigestOf, digestOf as readDigest } from "../../src/fleet/digest.ts";
import type { FleetAccount } from "../../src/fleet/fleet-file.ts";
import { folder } from "../cli/run.ts";

function accountOf(project: string, more: Partial<FleetAccount> = {}): FleetAccount {
  return {
    ...{ name: "a", project, environment: null, variables: { x: "1", y: "2" }, baseUrl: "http://127.0.0.1/v4" },
    ...{ dialect: "linode", account: null, token: { env: "TOKEN" }, labels: {} },
    ...more,
  };
}

async function digestOf(account: FleetAccount): Promise<string> {
  const read = await readDigest(account);
  if (!read.ok) throw new Error(read.problem);
  return read.digest;
}

const PROJECT = { "tenon.yaml": "tenon: 1\n", "zones/a.zone": "@ A 192.0.2.1\n" };

test("what runs and other tools leave in a project does not count, and every other file does", async () => {
  const project = await folder(PROJECT);
  const before = await digestOf(accountOf(project));
  for (const name of [".git", ".tenon/journal", "node_modules/x", "zones/node_modules"])
    await mkdir(join(project, name), { recursive: true });
  for (const name of [".env", ".git/HEAD", "a.plan", "zones/run.jsonl", "node_modules/x/i.js", "zones/node_modules/y"])
    await writeFile(join(project, name), "new");
  expect(await digestOf(accountOf(project))).toBe(before);
  await writeFile(join(project, "zones/planned"), "new");
  const more = await digestOf(accountOf(project));
  expect(more).not.toBe(before);
  await writeFile(join(project, "zones/planned"), "other");
  expect(await digestOf(accountOf(project))).not.toBe(more);
});

test("the same project elsewhere is the same; a link counts by what it says", async () => {
  const [one, two] = [await folder(PROJECT), await folder(PROJECT)];
  expect(await digestOf(accountOf(one))).toBe(await digestOf(accountOf(two)));
  expect(await digestOf(accountOf(join(one, "tenon.yaml")))).toBe(await digestOf(accountOf(join(two, "tenon.yaml"))));
  expect(await digestOf(accountOf(join(one, "tenon.yaml")))).not.toBe(await digestOf(accountOf(one)));
  await symlink("/etc/hostname", join(one, "link"));
  expect(await digestOf(accountOf(one))).not.toBe(await digestOf(accountOf(two)));
  await symlink("/etc/hosts", join(two, "link"));
  expect(await digestOf(accountOf(one))).not.toBe(await digestOf(accountOf(two)));
  await rm(join(two, "link"));
  await symlink("/etc/hostname", join(two, "link"));
  expect(await digestOf(accountOf(one))).toBe(await digestOf(accountOf(two)));
});

test("of the entry all counts but its token and labels, and the order of variables does not", async () => {
  const project = await folder(PROJECT);
  const digest = await digestOf(accountOf(project));
  const same = [{ token: { file: "/run/secrets/a" } }, { labels: { tier: "gold" } }, { variables: { y: "2", x: "1" } }];
  for (const more of same) expect(await digestOf(accountOf(project, more))).toBe(digest);
  const different = [
    ...[{ name: "b" }, { environment: "prod" }, { variables: { x: "1" } }, { account: "7" }],
    ...[{ baseUrl: "http://127.0.0.1/v5" }, { dialect: "akamai" }],
  ];
  for (const more of different) expect([more, await digestOf(accountOf(project, more))]).not.toContain(digest);
});

test("a plan that is not there has the digest of nothing", async () => {
  const path = await folder({ "a.plan": "plan", "empty.plan": "" });
  const [plan, empty, none] = ["a.plan", "empty.plan", "none.plan"].map((name) => planDigestOf(join(path, name)));
  expect(await none).toBe(await empty);
  expect(await plan).not.toBe(await none);
});

test("a folder that cannot be read has no digest: two of them may differ", async () => {
  const project = join(await folder({}), "none");
  expect(await readDigest(accountOf(project))).toEqual({ ok: false, problem: "the system says ENOENT" });
});
