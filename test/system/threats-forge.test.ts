/** The example pipelines against what a forge says that others have a hand in: bases of merge requests, and lists that they can lengthen. */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emulator } from "../cli/run.ts";
import { Forge, REPOSITORY } from "../examples/ci/forge.ts";
import { Gitlab, type Pipeline } from "../examples/ci/gitlab.ts";
import { Repository } from "../examples/ci/repository.ts";
import { type RunEvent, Runner } from "../examples/ci/runner.ts";
import { gitlabText } from "../examples/ci/workflow.ts";

/** Many processes; a busy machine is no failure. */
const TIMEOUT_MILLISECONDS = 240_000;
const FORMED = (label: string) => `tenon: 1\n\nvpcs:\n  - label: ${label}\n    region: us-east\n`;
const PWNED = 'echo "PWNED ${TENON_TOKEN_READ:-by nobody}"\n';

/**
 * A commit of `theirs` with scripts of their own, whose revert was merged by fast-forward; and a request that branches off it: what it changes
 * against main is the manifest alone.
 */
async function revertedScripts(repository: Repository): Promise<{ readonly evil: string; readonly head: string }> {
  await repository.git("checkout", "--quiet", "-b", "theirs");
  for (const name of ["install.sh", "common.sh"]) {
    const file = join(repository.folder, "ci/tenon", name);
    await writeFile(file, PWNED + (await readFile(file, "utf8")));
  }
  const evil = await repository.commit("tenon: 1\n");
  await repository.git("revert", "--no-commit", evil);
  await repository.commit(FORMED("a"));
  await repository.git("checkout", "--quiet", "main");
  await repository.git("merge", "--quiet", "--ff-only", "theirs");
  await repository.git("branch", "--force", "theirs", evil);
  await repository.git("checkout", "--quiet", "-b", "second", evil);
  const head = await repository.commit(FORMED("a").replace("\n\n", "\n\n# reviewed\n"));
  await repository.git("checkout", "--quiet", "main");
  expect(await repository.git("diff", "--name-only", "main...second")).toBe("tenon.yaml");
  expect(await repository.git("merge-base", "main", "second")).toBe(evil);
  return { evil, head };
}

test("on GitLab a merge request's scripts are those of the default branch's tip, wherever it branches off, or nothing runs", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const repository = await Repository.open("tenon: 1\n");
  const { head } = await revertedScripts(repository);
  const gitlab = await Gitlab.open(repository.folder, (await emulator()).baseUrl);
  const request: Pipeline = { id: 3, source: "merge_request_event", sha: head };
  for (const name of ["tenon:validate", "tenon:plan", "tenon:comment"]) {
    const { code, log } = await gitlab.run(name, request);
    expect({ name, code, isTheirs: log.includes("PWNED") }).toEqual({ name, code: 0, isTheirs: false });
  }
  expect(gitlab.notes).toMatchObject([{ body: expect.stringContaining("## Plan: ") }]);

  // A branch of theirs has scripts of theirs; one that is not there has none, and those of the checkout take nobody's place.
  const branch = (target: string, own = "main") =>
    gitlab.run("tenon:plan", request, { CI_MERGE_REQUEST_TARGET_BRANCH_NAME: target, CI_DEFAULT_BRANCH: own });
  const refused = "Refused, this merge request does not go to the default branch";
  for (const [target, own, words] of [
    ["theirs", "main", refused],
    ["", "main", refused],
    ["gone", "gone", "refs/heads/gone"],
    ["", "", "refs/heads/"],
  ] as const) {
    const { code, log } = await branch(target, own);
    expect({ target, isWell: code === 0, isTheirs: log.includes("PWNED") }).toEqual({
      target,
      isWell: false,
      isTheirs: false,
    });
    expect(log).toContain(words);
  }
  const rule = '- if: $CI_PIPELINE_SOURCE == "merge_request_event"';
  expect(gitlabText()).toContain(`${rule} && $CI_MERGE_REQUEST_TARGET_BRANCH_NAME == $CI_DEFAULT_BRANCH\n`);
});

test("on GitHub a pull request's scripts are those of the base branch's tip, whatever commit the event says", {
  timeout: TIMEOUT_MILLISECONDS,
}, async () => {
  const repository = await Repository.open("tenon: 1\n");
  const { evil, head } = await revertedScripts(repository);
  const forge = await Forge.open();
  const runner = await Runner.open(forge, repository.folder, (await emulator()).baseUrl);
  // It was opened against a branch of theirs, and goes to main since.
  const event: RunEvent = {
    ...{ name: "pull_request", sha: head, ref: "refs/pull/7/merge", base_ref: "main", base_sha: evil },
    ...{ pull: { number: 7, repository: REPOSITORY }, secrets: { TENON_TOKEN_READ: "emulator-token" } },
  };
  const { jobs } = await runner.run("tenon-plan.yml", event, ["validate", "plan", "comment"]);
  for (const [name, { result, log }] of Object.entries(jobs)) {
    expect({ name, result, isTheirs: log.includes("PWNED") }).toEqual({ name, result: "success", isTheirs: false });
  }
  expect(forge.comments).toMatchObject([{ body: expect.stringContaining("## Plan: ") }]);
});
