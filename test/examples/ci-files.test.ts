/** GitLab's file and pre-commit's hold nothing that neither knows: a typo in them fails here, not in somebody's pipeline. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { gitlabProblems, hooksIn, preCommitProblems } from "./ci/judge.ts";
import { CI, gitlabText } from "./ci/workflow.ts";

const PRE_COMMIT = readFileSync(join(CI, "pre-commit/.pre-commit-config.yaml"), "utf8");

describe(".gitlab-ci.yml", () => {
  it("is right", () => {
    expect(gitlabProblems(gitlabText())).toEqual([]);
  });

  it.each([
    ["job: tenon:plan\n", "job: tenon:plann\n", "tenon:comment: no job tenon:plann"],
    ["job: tenon:replan", "job: tenon:replann", "tenon:apply: no job tenon:replann"],
    ["optional: true", "optional: false", "tenon:apply: tenon:replan may not be there"],
    ["stage: comment", "stage: coment", "tenon:comment: no stage coment"],
    ["[check, plan, comment, apply]", "[check, comment, plan, apply]", "tenon:comment: tenon:plan comes later"],
    ["[check, plan,", "[check, more, plan,", "no job is in the stage more"],
    ["extends: .tenon", "extends: .tennon", "tenon:replan: no job .tennon"],
    ["extends: .request", "extends: .requests", "tenon:validate: no job .requests"],
    [
      "expire_in: 90 days",
      "expire_inn: 90 days",
      "/tenon:plan/artifacts must NOT have additional properties: expire_inn",
    ],
    ["expire_in: 90 days", "expire_in: 90 daze", /^\/tenon:plan\/artifacts\/expire_in must match pattern/],
    [
      "access: developer",
      "access: developper",
      "/tenon:plan/artifacts/access must be equal to one of the allowed values",
    ],
    ["when: manual", "when: manuel", /^\/tenon:apply\/rules\/0\/when must be equal to one/],
    ["allow_failure: false", "allow_failures: false", /^\/tenon:apply\/rules\/0 must NOT .*: allow_failures$/],
    ["resource_group:", "resource_grop:", "/tenon:apply must NOT have additional properties: resource_grop"],
    ["environment:", "environmnt:", "/tenon:apply must NOT have additional properties: environmnt"],
    ["interruptible: false", "interuptible: false", "/default must NOT have additional properties: interuptible"],
    ["before_script:", "befor_script:", "/.tenon must NOT have additional properties: befor_script"],
    ["variables:", "variabels:", /^\/variabels must NOT have additional properties: TENON_BASE_URL$/],
    ["stages:", "stagse:", " must have required property 'stages'"],
    ["$CI_COMMIT_BRANCH ==", "$CI_COMIT_BRANCH ==", "no variable CI_COMIT_BRANCH"],
    // Its author chooses it.
    ["$CI_COMMIT_SHA", "$CI_MERGE_REQUEST_DIFF_BASE_SHA", "no variable CI_MERGE_REQUEST_DIFF_BASE_SHA"],
    ['== "schedule"', '== "shedule"', "no source shedule"],
    ["(push|web|schedule)", "(push|web|scheduled)", "no source scheduled"],
    ["/tenon/drift.sh", "/tenon/drifts.sh", 'tenon:drift: no /tenon/drifts.sh"'],
    ['gitlab.mjs" note', 'gitlab.mjs" notes', 'tenon:comment: no /tenon/gitlab.mjs" notes'],
    ['gitlab.mjs" reviewed-plan', 'gitlab.mjs" reviewed', 'tenon:apply: no /tenon/gitlab.mjs" reviewed'],
    ['bash "$RUNNER_TEMP/tenon/check.sh"', "tenon validat", "tenon validat: no such command"],
  ])("%s, written %s, is found", (right, wrong, problem) => {
    expect(gitlabText()).toContain(right);
    expect(gitlabProblems(gitlabText().replace(right, wrong))).toContainEqual(matching(problem));
  });
});

describe(".pre-commit-config.yaml", () => {
  it("is right", () => {
    expect(preCommitProblems(PRE_COMMIT)).toEqual([]);
  });

  it.each([
    ["entry:", "entri:", "/repos/0/hooks/0 must NOT have additional properties: entri"],
    ["repo: local", "repo: lokal", "/repos/0/repo must be equal to constant"],
    ["repos:", "repo:", " must have required property 'repos'"],
    ["language: system", "language: sytem", "/repos/0/hooks/0/language must be equal to constant"],
    ["pass_filenames: false", "pass_filenames: true", "/repos/0/hooks/0/pass_filenames must be equal to constant"],
    ["pass_filenames:", "pass_filename:", "/repos/0/hooks/0 must NOT have additional properties: pass_filename"],
    ["files:", "file:", "/repos/0/hooks/0 must have required property 'files'"],
    ["id: tenon-fmt", "id: tenon-validate", "an id is there twice"],
    ["tenon fmt --check", "tenon fmt --chek", "tenon fmt has no --chek"],
    ["tenon fmt --check", "tenon fmt", "tenon-fmt: writes"],
    ["tenon validate --strict", "tenon validat --strict", "tenon validat: no such command"],
    ["tenon validate --strict", "tenon plan", "calls fmt and plan"],
    [
      "ci/tool/node_modules/.bin/tenon fmt",
      "node_modules/.bin/tenon fmt",
      "tenon-fmt: not the tool that the repository has installed",
    ],
  ])("%s, written %s, is found", (right, wrong, problem) => {
    const text = PRE_COMMIT.replace(new RegExp(`(?<=^[^#]*)${right}`, "m"), wrong);
    expect(text).not.toBe(PRE_COMMIT);
    expect(preCommitProblems(text)).toContainEqual(matching(problem));
  });

  it.each([
    ["tenon.yaml", true],
    ["networks/prod.yml", true],
    ["zones/example.com.zone", true],
    ["README.md", false],
    ["zones/yaml.txt", false],
  ])("%s is looked at: %s", (file, isLookedAt) => {
    for (const { files } of hooksIn(PRE_COMMIT)) expect(new RegExp(files).test(file)).toBe(isLookedAt);
  });
});

function matching(problem: string | RegExp): unknown {
  return typeof problem === "string" ? problem : expect.stringMatching(problem);
}
