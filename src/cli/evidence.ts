/** Who runs this, from which commit: for the journal, from what CI systems and git say. */

import { userInfo } from "node:os";
import type { JournalHeader } from "../index.ts";
import { type Environment, headCommit } from "./git.ts";
import { readVersion } from "./version.ts";

const ACTOR_VARIABLES = ["GITHUB_ACTOR", "GITLAB_USER_LOGIN", "BUILD_USER_ID"];
const COMMIT_VARIABLES = ["GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT"];

export async function gatherEvidence(root: string, baseUrl: string, environment: Environment): Promise<JournalHeader> {
  return {
    version: readVersion(),
    actor: firstOf(ACTOR_VARIABLES, environment) ?? localUser(),
    commit: firstOf(COMMIT_VARIABLES, environment) ?? (await headCommit(root, environment)),
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
