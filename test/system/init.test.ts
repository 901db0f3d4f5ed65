/** `tenon init` at a terminal. Needs script (util-linux). */

import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { folder, MAIN, run } from "../cli/run.ts";

/** Types each answer once its question is there. */
async function dialogue(
  cwd: string,
  flags: string,
  answers: readonly (readonly [question: string, keys: string])[],
): Promise<{ code: number | null; output: string }> {
  const command = `stty cols 80 rows 24; exec ${process.execPath} ${MAIN} init ${flags}`;
  const env = { PATH: process.env["PATH"], TERM: "xterm" };
  const child = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"], { cwd, env });
  let output = "";
  const left = [...answers];
  child.stdout.on("data", (data: Buffer) => {
    output += stripVTControlCharacters(data.toString());
    const [next] = left;
    if (next === undefined || !output.includes(next[0])) return;
    left.shift();
    child.stdin.write(next[1]);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { code, output };
}

describe("tenon init at a terminal", () => {
  it("asks for what no flag says, corrects an answer, and writes what validates", async () => {
    const cwd = await folder({});
    const { code, output } = await dialogue(cwd, "--soa-email me@example.com", [
      ["The first domain?", "example.com\r"],
      ["An owner,", "Edge\r"],
      ["Lower-case letters", "\u007f\u007f\u007f\u007fedge\r"],
      ["A pipeline that", "\u001b[B\u001b[B\r"],
    ]);
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining("Next:") });
    expect(output).not.toContain("e-mail address for its SOA");
    expect(await readFile(join(cwd, "tenon.yaml"), "utf8")).toMatch(
      /\nowner: edge\n[\s\S]*soa_email: me@example\.com[\s\S]*domain: example\.com\n/,
    );
    expect(await readdir(cwd)).toContain(".gitlab-ci.yml");
    expect((await run(["validate", "--strict"], { cwd })).code).toBe(0);
  });

  it("writes nothing after Ctrl-C", async () => {
    const cwd = await folder({});
    const { code, output } = await dialogue(cwd, "", [
      ["The first domain?", "example.com\r"],
      ["The e-mail address", "\u0003"],
    ]);
    expect({ code, output }).toMatchObject({ code: 130, output: expect.stringContaining("Nothing was written.") });
    expect(await readdir(cwd)).toEqual([]);
  });

  it("asks nothing with --yes", async () => {
    const cwd = await folder({});
    const { code, output } = await dialogue(cwd, "--yes", []);
    expect(code).toBe(0);
    expect(output).not.toContain("?");
  });
});
