import { spawn, spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import type { Emulator } from "../../src/emulator/index.ts";
import { emulator, ended, envOf, folder, MAIN, PROJECT, run, start } from "./run.ts";

const RECORDS = Array.from(
  { length: 20 },
  (_, index) => `      - { type: A, name: h${index}, target: 192.0.2.1 }`,
).join("\n");
const LONG = `${PROJECT}${RECORDS}\n`;

function posts(service: Emulator): number {
  return service.requests.filter(({ method }) => method === "POST").length;
}

describe("a signal", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "%s ends an apply in order with %i, and the next run finishes it without duplicates",
    async (signal, code) => {
      const service = await emulator({ latencyMilliseconds: 100 });
      const options = { cwd: await folder({ "tenon.yaml": LONG }), env: envOf(service) };
      const child = start(["apply", "--yes", "--concurrency", "2"], options);
      const end = ended(child);
      await expect.poll(() => posts(service), { timeout: 15_000 }).toBeGreaterThan(4);
      child.kill(signal);
      const { code: actual, stdout, stderr } = await end;
      expect(actual).toBe(code);
      expect(stdout).toContain("Apply interrupted: ");
      expect(stderr).toContain("Interrupted: finishing what is under way.");
      expect(posts(service)).toBeLessThan(20);
      const rest = await run(["apply", "--yes"], options);
      expect(rest.code).toBe(0);
      expect((await run(["plan", "--detailed-exitcode"], options)).code).toBe(0);
      const made = service.requests.filter(({ method, status }) => method === "POST" && status === 200);
      expect(made).toHaveLength(2 + 22);
    },
  );

  it("ends reading at once, with nothing done", async () => {
    const service = await emulator({ latencyMilliseconds: 5_000 });
    const child = start(["plan"], { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) });
    const end = ended(child);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const started = Date.now();
    child.kill("SIGINT");
    expect(await end).toMatchObject({ code: 130, stdout: "" });
    expect(Date.now() - started).toBeLessThan(3_000);
  });

  it("that comes a second time ends an apply at once", async () => {
    const service = await emulator();
    const options = { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) };
    const slow = await emulator({ latencyMilliseconds: 3_000 });
    const child = start(["apply", "--yes"], { ...options, env: envOf(slow) });
    let told = "";
    child.stderr.on("data", (text: Buffer) => {
      told += text.toString();
    });
    const end = ended(child);
    // Reading takes one round; then the first POST is under way.
    await new Promise((resolve) => setTimeout(resolve, 4_500));
    child.kill("SIGINT");
    await expect.poll(() => told, { timeout: 5_000 }).toContain("Interrupt again");
    const started = Date.now();
    child.kill("SIGINT");
    expect((await end).code).toBe(130);
    expect(Date.now() - started).toBeLessThan(2_000);
  });
});

describe("a person at a terminal", () => {
  const hasScript = spawnSync("script", ["--version"]).status === 0;

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
    const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
    return { code, output, writes: posts(service) };
  }

  it.skipIf(!hasScript)("is shown the plan in colour and asked, and yes means yes", async () => {
    const { code, output, writes } = await answer("yes\r");
    expect(output).toContain("\u001b[32m+\u001b[39m");
    expect(output).toContain("Apply complete!");
    expect({ code, wrote: writes > 0 }).toEqual({ code: 0, wrote: true });
  });

  it.skipIf(!hasScript)("who answers anything else, or Ctrl-C, gets nothing done", async () => {
    const no = await answer("y\r");
    expect(no).toMatchObject({ code: 1, writes: 0, output: expect.stringContaining("Nothing was done.") });
    expect(await answer("\u0003")).toMatchObject({ code: 130, writes: 0 });
  });
});
