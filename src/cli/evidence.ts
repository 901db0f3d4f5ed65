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

/** A project folder may be made to look like a bare repository, whose settings name programs: none of it is followed. */
const GIT_SETTINGS = ["safe.bareRepository=explicit", "core.fsmonitor=false", "core.hooksPath=/dev/null"];

async function headCommit(root: string, environment: Environment): Promise<string | null> {
  try {
    // git has no use for the token.
    const { TENON_TOKEN: _, ...env } = environment;
    const { stdout } = await promisify(execFile)(
      "git",
      [...GIT_SETTINGS.flatMap((setting) => ["-c", setting]), "rev-parse", "HEAD"],
      {
        cwd: root,
        env,
        timeout: GIT_TIMEOUT_MILLISECONDS,
      },
    );
    return stdout.trim() || null;
  } catch {
    return null;
  }
}
