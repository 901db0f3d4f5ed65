/** A real git repository with a project, the pipeline's scripts, its tool, and pull requests. */

import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { addTool } from "./tool.ts";
import { SCRIPTS } from "./workflow.ts";

const run = promisify(execFile);

const IDENTITY = {
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.com",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
};

export class Repository {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** `main` holds the manifest, the scripts and the tool. Gone after the test. */
  static async open(manifest: string): Promise<Repository> {
    const folder = await mkdtemp(join(tmpdir(), "tenon-repository-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const repository = new Repository(folder);
    await repository.git("init", "--quiet", "--initial-branch", "main");
    await mkdir(join(folder, "ci"));
    await cp(SCRIPTS, join(folder, "ci/tenon"), { recursive: true });
    await addTool(join(folder, "ci/tool"));
    await writeFile(join(folder, ".gitignore"), "node_modules/\n.tenon/\ntenon-*/\n");
    await repository.commit(manifest);
    return repository;
  }

  async git(...args: readonly string[]): Promise<string> {
    const { stdout } = await run("git", args, { cwd: this.folder, env: { PATH: process.env["PATH"], ...IDENTITY } });
    return stdout.trim();
  }

  /** @returns the commit, on the current branch @param isForced what .gitignore names is added, too */
  async commit(manifest: string, isForced = false): Promise<string> {
    await writeFile(join(this.folder, "tenon.yaml"), manifest);
    await this.git("add", "--all", ...(isForced ? ["--force"] : []));
    await this.git("commit", "--quiet", "--message", "change");
    return this.git("rev-parse", "HEAD");
  }

  /**
   * The merge that GitHub makes of a branch with this manifest for its checks.
   * @param change what the branch changes beside the manifest
   * @returns its commit, and the branch's
   */
  async propose(
    manifest: string,
    branch = "proposal",
    change: () => Promise<unknown> = async () => undefined,
  ): Promise<{ readonly head: string; readonly merge: string }> {
    await this.git("checkout", "--quiet", "-B", branch, "main");
    await change();
    const head = await this.commit(manifest, true);
    await this.git("checkout", "--quiet", "--detach", "main");
    await this.git("merge", "--quiet", "--no-ff", "--message", "merge", branch);
    const merge = await this.git("rev-parse", "HEAD");
    // A clone fetches only what a branch or a tag reaches.
    await this.git("tag", "--force", `pull-${branch}`, merge);
    await this.git("checkout", "--quiet", "main");
    return { head, merge };
  }

  /** @returns main's new commit */
  async merge(branch = "proposal"): Promise<string> {
    await this.git("merge", "--quiet", "--no-ff", "--message", "merge", branch);
    return this.git("rev-parse", "HEAD");
  }
}
