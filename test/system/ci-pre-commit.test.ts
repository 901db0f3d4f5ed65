/** The hooks of the pre-commit example, run as pre-commit does: for what is staged, in a real repository, with the real tool. */

import { spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { expect, it } from "vitest";
import { folder } from "../cli/run.ts";
import { type Hook, hooksIn } from "../examples/ci/judge.ts";
import { Repository } from "../examples/ci/repository.ts";
import { bash, writeNode } from "../examples/ci/runner.ts";
import { CI } from "../examples/ci/workflow.ts";

const FORMED = "tenon: 1\nowner: edge\n\nvpcs:\n  - label: prod\n    region: us-east\n";

it.each([
  ["a project that is right", { "tenon.yaml": FORMED }, { "tenon-fmt": 0, "tenon-validate": 0 }],
  [
    "one in another form",
    { "tenon.yaml": FORMED.replace("region: ", "region:   ") },
    { "tenon-fmt": 1, "tenon-validate": 0 },
  ],
  ["one that is invalid", { "tenon.yaml": FORMED.replace("us-east", "''") }, { "tenon-fmt": 0, "tenon-validate": 3 }],
  ["one that is no YAML", { "tenon.yaml": "tenon: [" }, { "tenon-fmt": 3, "tenon-validate": 3 }],
  ["nothing of the project", { "notes.md": "# Notes\n" }, {}],
] as const)("%s", async (_, files, expected) => {
  expect(await commit(files)).toEqual(expected);
});

/** @returns the exit code of each hook that looks at one of the files */
async function commit(files: Readonly<Record<string, string>>): Promise<Record<string, number | null>> {
  const repository = await Repository.open(FORMED);
  const bin = await folder({});
  await writeNode(bin);
  const env = { PATH: [bin, process.env["PATH"]].join(delimiter), HOME: bin };
  expect(await bash("cd ci/tool && npm ci --ignore-scripts", repository.folder, env)).toMatchObject({ code: 0 });
  for (const [name, text] of Object.entries(files)) {
    const path = join(repository.folder, name);
    await mkdir(dirname(path), { recursive: true });
    // Other than what is there already, or nothing would be staged.
    await writeFile(path, text === FORMED ? `# The same.\n${text}` : text);
  }
  await repository.git("add", "--all", ".", ":!.step.sh");
  const staged = (await repository.git("diff", "--cached", "--name-only")).split("\n");
  expect(staged).toEqual(Object.keys(files));
  const hooks = hooksIn(await readFile(join(CI, "pre-commit/.pre-commit-config.yaml"), "utf8"));
  const wanted = hooks.filter((hook) => staged.some((file) => new RegExp(hook.files).test(file)));
  return Object.fromEntries(wanted.map((hook) => [hook.id, runHook(hook, repository.folder, env)]));
}

/** pre-commit splits the entry into words and starts it in the repository's root: there is no shell. */
function runHook({ entry }: Hook, cwd: string, env: Readonly<Record<string, string>>): number | null {
  const [command = "", ...args] = entry.split(" ");
  return spawnSync(command, args, { cwd, env, stdio: "ignore" }).status;
}
