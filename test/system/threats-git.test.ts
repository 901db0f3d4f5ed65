import { execFileSync } from "node:child_process";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emulator, envOf, folder, PROJECT, run } from "../cli/run.ts";

test("git is asked for the commit without the token, and runs nothing that a folder's settings name", async () => {
  // The project folder is itself what git takes for a bare repository: files that a pull request can bring.
  const cwd = await folder({ "tenon.yaml": PROJECT, evil: "#!/bin/sh\necho ran > ran\n" });
  await chmod(join(cwd, "evil"), 0o755);
  execFileSync("git", ["init", "--quiet", "--bare", cwd]);
  const settings = `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ${cwd}\n`;
  const programs = `\tfsmonitor = ${cwd}/evil\n\thooksPath = ${cwd}\n\tpager = ${cwd}/evil\n\teditor = ${cwd}/evil\n`;
  await writeFile(join(cwd, "config"), settings + programs);
  const bin = await folder({
    git: '#!/bin/sh\nenv > "$(dirname "$0")/seen"\necho "$@" >> "$(dirname "$0")/seen"\nexit 1\n',
  });
  await chmod(join(bin, "git"), 0o755);
  const service = await emulator();
  expect((await run(["apply", "--yes"], { cwd, env: envOf(service) })).code).toBe(0);
  await expect(readFile(join(cwd, "ran"))).rejects.toThrow("ENOENT");
  const watched = { ...envOf(service), PATH: `${bin}:${process.env["PATH"]}` };
  await writeFile(join(cwd, "tenon.yaml"), PROJECT.replace("192.0.2.1", "192.0.2.2"));
  expect((await run(["apply", "--yes"], { cwd, env: watched })).code).toBe(0);
  const seen = await readFile(join(bin, "seen"), "utf8");
  expect(seen).toContain("safe.bareRepository=explicit");
  expect(seen).toContain("rev-parse HEAD");
  expect(seen).not.toContain("emulator-token");
});
