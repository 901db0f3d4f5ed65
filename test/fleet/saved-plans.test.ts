/** The files of saved plans: what workers keep, and what whoever asked for it has of that. */

import { mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { planDigestOf } from "../../src/fleet/digest.ts";
import {
  approvedPlan,
  fetchPlan,
  keepPlan,
  MAX_KEPT_PLANS,
  newPlanFile,
  planFile,
} from "../../src/fleet/saved-plans.ts";
import { folder } from "../cli/run.ts";

const ACCOUNT = { name: "a1" };

async function kept(path: string, account: { readonly name: string }, text: string): Promise<string> {
  const file = await newPlanFile(path, account);
  await writeFile(file, text);
  return (await keepPlan(file)) ?? "none";
}

test("a plan that a worker keeps replaces none, and is found by its digest, whatever the account is called", async () => {
  const path = await folder({ "a1.plan": "reviewed" });
  const reviewed = await planDigestOf(join(path, "a1.plan"));
  const first = await kept(path, ACCOUNT, "first");
  const second = await kept(path, ACCOUNT, "second");
  const other = await kept(path, { name: "a1.plan" }, "other");
  expect(await readFile(join(path, "a1.plan"), "utf8")).toBe("reviewed");
  const textOf = async (account: { readonly name: string }, digest: string) =>
    readFile((await approvedPlan(path, account, digest)) ?? "none", "utf8");
  expect(await textOf(ACCOUNT, first)).toBe("first");
  expect(await textOf(ACCOUNT, second)).toBe("second");
  expect(await textOf({ name: "a1.plan" }, other)).toBe("other");
  // One that was made without workers.
  expect(await textOf(ACCOUNT, reviewed)).toBe("reviewed");
  expect(await approvedPlan(path, ACCOUNT, other)).toBeNull();
  await writeFile(join(path, "by-digest/a1", `${first}.plan`), "changed");
  expect(await approvedPlan(path, ACCOUNT, first)).toBeNull();
  const nothing = await planDigestOf(join(path, "none"));
  expect(await approvedPlan(path, { name: "none" }, nothing)).toBe(join(path, "none.plan"));
});

test("what was not saved is kept under no digest", async () => {
  const path = await folder({});
  expect(await keepPlan(await newPlanFile(path, ACCOUNT))).toBeNull();
  expect(await readdir(join(path, "by-digest/a1"))).toEqual([]);
});

test("of an account so many plans are kept, and the oldest go", async () => {
  const path = await folder({});
  const digests: string[] = [];
  for (let index = 0; index < MAX_KEPT_PLANS; index += 1) {
    const digest = await kept(path, ACCOUNT, `plan ${index}`);
    digests.push(digest);
    await utimes(join(path, "by-digest/a1", `${digest}.plan`), index, index);
  }
  digests.push(await kept(path, ACCOUNT, "one more"));
  const [oldest, ...others] = digests;
  const names = await readdir(join(path, "by-digest/a1"));
  expect(names.sort()).toEqual(others.map((digest) => `${digest}.plan`).sort());
  expect(names).not.toContain(`${oldest}.plan`);
  await kept(path, { name: "a2" }, "another account's");
  expect(await readdir(join(path, "by-digest/a1"))).toHaveLength(MAX_KEPT_PLANS);
});

test("whoever asked has the plan that was reported, or none", async () => {
  const [workers, own] = [await folder({}), await folder({})];
  const digest = await kept(workers, ACCOUNT, "plan");
  expect(await fetchPlan(workers, own, ACCOUNT, digest)).toBe(true);
  expect(await readFile(planFile(own, ACCOUNT), "utf8")).toBe("plan");
  expect((await stat(join(workers, "by-digest/a1", `${digest}.plan`))).isFile()).toBe(true);
  await writeFile(join(workers, "by-digest/a1", `${digest}.plan`), "another");
  expect(await fetchPlan(workers, own, ACCOUNT, digest)).toBe(false);
  expect(await readdir(own)).toEqual([]);
  await rm(join(workers, "by-digest"), { recursive: true });
  expect(await fetchPlan(workers, own, ACCOUNT, digest)).toBe(false);
});

test("a link in a checkout has no folder for plans made elsewhere", async () => {
  const path = await folder({ "checkout/.git/HEAD": "ref: refs/heads/main\n" });
  await mkdir(join(path, "elsewhere"));
  await mkdir(join(path, "checkout/plans"));
  await symlink(join(path, "elsewhere"), join(path, "checkout/plans/by-digest"));
  await newPlanFile(join(path, "checkout/plans"), ACCOUNT);
  expect(await readdir(join(path, "elsewhere"))).toEqual([]);
});
