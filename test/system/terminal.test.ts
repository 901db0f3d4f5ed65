/** What only a person at a terminal meets. Needs script (util-linux), for the terminal. */

import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import { emulator, envOf, folder, MAIN, PROJECT } from "../cli/run.ts";

function posts(service: Emulator): number {
  return service.requests.filter(({ method }) => method === "POST").length;
}

describe("a person at a terminal", () => {
  async function answer(text: string): Promise<{ code: number | null; output: string; writes: number }> {
    const service = await emulator();
    const cwd = await folder({ "tenon.yaml": PROJECT });
    const env = { ...envOf(service), PATH: process.env["PATH"], TERM: "xterm" };
    const command = `${process.execPath} ${MAIN} apply`;
    const child = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"], { cwd, env });
    let output = "";
    child.stdout.on("data", (data: Buffer) => {
      output += data.toString();
      if (output.includes('Only "yes" does: ') && text !== "") {
        child.stdin.write(text);
        text = "";
      }
    });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", resolve);
    });
    return { code, output, writes: posts(service) };
  }

  it("is shown the plan in colour and asked, and yes means yes", async () => {
    const { code, output, writes } = await answer("yes\r");
    expect(output).toContain("\u001b[32m+\u001b[39m");
    expect(output).toContain("Apply complete!");
    expect({ code, wrote: writes > 0 }).toEqual({ code: 0, wrote: true });
  });

  it("who answers anything else, or Ctrl-C, gets nothing done", async () => {
    const no = await answer("y\r");
    expect(no).toMatchObject({ code: 1, writes: 0, output: expect.stringContaining("Nothing was done.") });
    expect(await answer("\u0003")).toMatchObject({ code: 130, writes: 0 });
  });
});
