/** Who runs this, from which commit: for the journal, from what CI systems and git say. */

import { execFile } from "node:child_process";
import { userInfo } from "node:os";
import { promisify } from "node:util";
import type { JournalHeader } from "../index.ts";
import { readVersion } from "./version.ts";

const GIT_TIMEOUT_MILLISECONDS = 2_000;
const ACTOR_VARIABLES = ["GITHUB_ACTOR", "GITLAB_USER_LOGIN", "BUILD_USER_ID"];
const COMMIT_VARIABLES = ["GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT"];

type Environment = Readonly<Record<string, string | undefined>>;

export async function gatherEvidence(root: string, baseUrl: string, environment: Environment): Promise<JournalHeader> {
  return {
    version: readVersion(),
    actor: firstOf(ACTOR_VARIABLES, environment) ?? localUser(),
    commit: firstOf(COMMIT_VARIABLES, environment) ?? (await headCommit(root)),
    host: new URL(baseUrl).host,
  };
}

function firstOf(names: readonly string[], environment: Environment): string | null {
  for (const name of names) if (environment[name]) return environment[name];
  return null;
}

/** A container's user may have no name. */
function localUser(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}

async function headCommit(root: string): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)("git", ["rev-parse", "HEAD"], {
      cwd: root,
      timeout: GIT_TIMEOUT_MILLISECONDS,
    });
    return stdout.trim() || null;
  } catch {
    return null;
  }
}
