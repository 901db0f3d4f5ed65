/**
 * The files of saved plans. `NAME.plan` in a folder is the plan of an account that was shown last to whoever asked for it; who asks writes it.
 * Workers keep what they plan under its digest beside that: no request has a worker write over a plan that somebody has reviewed.
 */

import { randomUUID } from "node:crypto";
import { copyFile, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readContent, whyLinkRefused } from "../files/files.ts";
import { planDigestOf } from "./digest.ts";
import type { FleetAccount } from "./fleet-file.ts";

/** Plans that workers keep of one account: whoever asks for more has the oldest removed. */
export const MAX_KEPT_PLANS = 100;

type Named = Pick<FleetAccount, "name">;

export function planFile(folder: string, { name }: Named): string {
  return join(folder, `${name}.plan`);
}

/** An account may be called `a.plan`: what workers keep has a folder of its own. */
function keptPlans(folder: string, { name }: Named): string {
  return join(folder, "by-digest", name);
}

function keptPlan(folder: string, account: Named, digest: string): string {
  return join(keptPlans(folder, account), `${digest}.plan`);
}

/** Where a worker saves a plan whose digest is not known yet. Its folder is made; why that is not possible, whoever writes the file says. */
export async function newPlanFile(folder: string, account: Named): Promise<string> {
  const kept = keptPlans(folder, account);
  if ((await whyLinkRefused(kept)) === null) await mkdir(kept, { recursive: true, mode: 0o700 }).catch(() => {});
  return join(kept, `${randomUUID()}.plan`);
}

/** @param file of `newPlanFile` @returns the digest that it is kept under; null: no plan was saved */
export async function keepPlan(file: string): Promise<string | null> {
  const digest = await planDigestOf(file);
  const folder = dirname(file);
  try {
    await rename(file, join(folder, `${digest}.plan`));
  } catch {
    return null;
  }
  await removeOldest(folder);
  return digest;
}

async function removeOldest(folder: string): Promise<void> {
  const names = await readdir(folder);
  if (names.length <= MAX_KEPT_PLANS) return;
  const files = await Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      const status = await stat(file).catch(() => null);
      return { file, savedAt: status?.mtimeMs ?? 0 };
    }),
  );
  files.sort((one, other) => other.savedAt - one.savedAt);
  for (const { file } of files.slice(MAX_KEPT_PLANS)) await rm(file, { force: true });
}

/**
 * Puts the plan that a worker has kept where whoever asked for it reviews it.
 * @param kept the workers' folder
 * @returns false: there is no such plan
 */
export async function fetchPlan(kept: string, folder: string, account: Named, digest: string): Promise<boolean> {
  const file = planFile(folder, account);
  const copy = `${file}.${randomUUID()}`;
  await copyFile(keptPlan(kept, account, digest), copy).catch(() => {});
  const isSame = (await planDigestOf(copy)) === digest;
  if (isSame) {
    await rename(copy, file);
    return true;
  }
  // Nor is one of before left, which an apply would find.
  for (const path of [copy, file]) await rm(path, { force: true });
  return false;
}

/** The file of the plan that was approved, which a worker has kept, or which was made without workers; null: the folder has it no longer. */
export async function approvedPlan(folder: string, account: Named, digest: string): Promise<string | null> {
  const kept = keptPlan(folder, account, digest);
  const content = await readContent(kept).catch(() => null);
  if (content?.sha256 === digest) return kept;
  // Whoever has no plan asks with the digest of nothing: the apply says that this file cannot be read.
  const file = planFile(folder, account);
  return (await planDigestOf(file)) === digest ? file : null;
}
