/** docs/how-to/pipeline.md: the commands in it exist, its files are there, and its exit codes are the program's. */

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { EXIT } from "../../src/cli/exit.ts";
import { checkTenonCommands } from "../examples/ci/commands.ts";
import { readGitlab, readWorkflow, WORKFLOW_FILES } from "../examples/ci/workflow.ts";

const ROOT = join(import.meta.dirname, "../..");
const FOLDER = join(ROOT, "docs/how-to");

let guide = "";
let commands = "";
beforeAll(async () => {
  guide = await readFile(join(FOLDER, "pipeline.md"), "utf8");
  commands = [...guide.matchAll(/```sh\n(.*?)```/gs)].map(([, text]) => text).join("\n");
});

describe("docs/how-to/pipeline.md", () => {
  it("shows only commands and flags that exist, and each command of a pipeline", () => {
    const { called, problems } = checkTenonCommands(commands);
    expect(problems).toEqual([]);
    expect([...new Set(called)].sort()).toEqual(["apply", "drift", "fmt", "live", "plan", "validate"]);
  });

  it("copies files that are there, and links to what is there", () => {
    const copied = [...commands.matchAll(/node_modules\/tenon\/(\S+)/g)].map(([, path = ""]) =>
      path.replace(/\*.*$/, ""),
    );
    expect(copied.length).toBeGreaterThan(4);
    for (const path of copied) expect([path, existsSync(join(ROOT, path))]).toEqual([path, true]);
    const links = [...guide.matchAll(/\]\(([^)#]+)\)/g)].map(([, path = ""]) => path);
    for (const path of links) expect([path, existsSync(join(FOLDER, path))]).toEqual([path, true]);
  });

  it("says what to do for every exit code", () => {
    const rows = [...guide.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, codes = ""]) => codes.split(", ").map(Number));
    expect(rows).toEqual(Object.values(EXIT));
  });

  it("names flags that exist wherever it names one", () => {
    for (const [, name, flags = ""] of guide.matchAll(/`tenon (\w+)([^`]*)`/g)) {
      expect(checkTenonCommands(`tenon ${name}${flags}`).problems).toEqual([]);
    }
    const { problems } = checkTenonCommands("tenon apply --concurrency --retry-for --max-changes 200 --token-file");
    expect(problems).toEqual([]);
  });

  it("names the jobs, secrets and files that the pipelines have", () => {
    const jobs = WORKFLOW_FILES.flatMap((file) => Object.keys(readWorkflow(file).jobs));
    for (const name of ["validate", "plan", "comment", "find"]) {
      expect(jobs).toContain(name);
      expect(guide).toContain(`\`${name}\``);
    }
    for (const name of guide.match(/tenon:\w+/g) ?? []) expect(Object.keys(readGitlab())).toContain(name);
    for (const file of WORKFLOW_FILES) expect(guide).toContain(`\`${file}\``);
    const planning = Object.keys(readWorkflow("tenon-plan.yml").jobs);
    expect(guide).toContain(`\`tenon-plan.yml\` has ${["no", "one", "two", "three", "four"][planning.length]} jobs`);
    for (const name of planning) expect(guide).toContain(`\`${name}\``);
  });

  it("installs a file, and never what has this name in a registry", () => {
    const installs = [...commands.matchAll(/^npm (?:install|i|add) (.*)$/gm)].map(([, words = ""]) => words);
    expect(installs).toHaveLength(1);
    expect(installs[0]).toMatch(/(?:^| )\.\/tenon-\*\.tgz$/);
  });
});
