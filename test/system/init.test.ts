/** The questions of `tenon init` and `tenon import --into` at a terminal. Needs script (util-linux). */

import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { emulator, envOf, folder, MAIN, run } from "../cli/run.ts";

/** Types each answer once its question is there. */
async function dialogue(
  cwd: string,
  args: string,
  answers: readonly (readonly [question: string, keys: string])[],
  more: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; output: string }> {
  const command = `stty cols 80 rows 24; exec ${process.execPath} ${MAIN} ${args}`;
  const env = { PATH: process.env["PATH"], TERM: "xterm", ...more };
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
    const { code, output } = await dialogue(cwd, "init --soa-email me@example.com", [
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
    const { code, output } = await dialogue(cwd, "init", [
      ["The first domain?", "example.com\r"],
      ["The e-mail address", "\u0003"],
    ]);
    expect({ code, output }).toMatchObject({ code: 130, output: expect.stringContaining("Nothing was written.") });
    expect(await readdir(cwd)).toEqual([]);
  });

  it("asks nothing with --yes", async () => {
    const cwd = await folder({});
    const { code, output } = await dialogue(cwd, "init --yes", []);
    expect(code).toBe(0);
    expect(output).not.toContain("?");
  });
});

describe("tenon import --into at a terminal", () => {
  const domains = Array.from({ length: 1_200 }, (_, index) => ({ domain: `d${index}.example` }));

  it("offers what is not declared as a list to tick, which typing searches", async () => {
    const env = envOf(await emulator({ seed: { domains } }));
    const declared = "domains: [{ domain: d7.example, type: master, soa_email: hostmaster@example.com }]";
    const cwd = await folder({ "tenon.yaml": `tenon: 1\n${declared}\n` });
    const answers = [
      ["What is to be imported?", "d119"],
      ["d1199.example", "\t\u001b[B\t\r"],
    ] as const;
    const { code, output } = await dialogue(cwd, "import --into .", answers, env);
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining("Imported 2 domains") });
    expect(output).not.toContain("d7.example");
    const text = await readFile(join(cwd, "imported.yaml"), "utf8");
    expect([...text.matchAll(/domain: (d\d+)/g)].map(([, name]) => name)).toEqual(["d119", "d1190"]);
  });

  it("writes nothing after Ctrl-C", async () => {
    const env = envOf(await emulator({ seed: { domains: domains.slice(0, 3) } }));
    const cwd = await folder({ "tenon.yaml": "tenon: 1\n" });
    const { code, output } = await dialogue(cwd, "import --into .", [["What is to be imported?", "\u0003"]], env);
    expect({ code, output }).toMatchObject({ code: 130, output: expect.stringContaining("Nothing was written.") });
    expect(await readdir(cwd)).toEqual(["tenon.yaml"]);
  });
});
