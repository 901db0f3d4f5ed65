import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { EXIT } from "../../src/cli/exit-codes.ts";
import { folder } from "../cli/run.ts";
import { SCRIPTS } from "../examples/ci/workflow.ts";

const names = readdirSync(SCRIPTS).filter((name) => name.endsWith(".sh"));

it.each(names)("%s is valid bash", (name) => {
  const parsed = spawnSync("bash", ["-n", join(SCRIPTS, name)], { encoding: "utf8" });
  expect(parsed).toMatchObject({ status: 0, stderr: "" });
});

it("common.sh has a sentence for every exit code", () => {
  const codes = Object.values(EXIT);
  const script = `source "${join(SCRIPTS, "common.sh")}"; for code in ${codes.join(" ")}; do meaning $code; done`;
  const { stdout } = spawnSync("bash", ["-euo", "pipefail", "-c", script], { encoding: "utf8" });
  const sentences = stdout.trim().split("\n");
  expect(sentences).toHaveLength(codes.length);
  for (const sentence of sentences) expect(sentence).not.toContain("unknown");
});

it("apply.sh takes no plan of another goal, environment or variables than plan.sh asks for", async () => {
  const inputs = { environment: null, variables: {}, targets: [], excludes: [] };
  const cwd = await folder({ "bin/tenon": '#!/bin/sh\necho "ran: $*"\n' });
  await chmod(join(cwd, "bin/tenon"), 0o755);
  const applied = async (plan: unknown) => {
    await writeFile(join(cwd, "the.plan"), typeof plan === "string" ? plan : JSON.stringify(plan));
    const env = { PATH: `${join(cwd, "bin")}:${process.env["PATH"]}` };
    const { status, stdout } = spawnSync("bash", [join(SCRIPTS, "apply.sh"), "the.plan"], {
      cwd,
      encoding: "utf8",
      env,
    });
    return { status, isRun: stdout.includes("ran: apply") };
  };
  expect(await applied({ tenon: { goal: "apply", inputs } })).toEqual({ status: 0, isRun: true });
  for (const forged of [
    { tenon: { goal: "destroy", inputs } },
    { tenon: { goal: "apply", inputs: { ...inputs, environment: "other" } } },
    { tenon: { goal: "apply", inputs: { ...inputs, variables: { protect: { value: false, source: "false" } } } } },
    { tenon: { goal: "apply" } },
    "cut off {",
  ]) {
    expect(await applied(forged)).toEqual({ status: 1, isRun: false });
  }
});

it("common.sh shortens long messages in their middle, and says so; short ones are as they are", async () => {
  const cwd = await folder({});
  const shortened = async (text: string): Promise<string> => {
    await writeFile(join(cwd, "messages.txt"), text);
    const script = `source "${join(SCRIPTS, "common.sh")}"; shortened messages.txt`;
    const { status, stdout } = spawnSync("bash", ["-euo", "pipefail", "-c", script], { cwd, encoding: "utf8" });
    expect(status).toBe(0);
    return stdout;
  };
  const short = "error: a\n".repeat(3_000);
  expect(await shortened(short)).toBe(short);
  for (const filler of ["x\n".repeat(50_000), "x".repeat(100_000)]) {
    const text = await shortened(`the first error\n${filler}3,000 errors\n`);
    expect(text.length).toBeLessThan(31_000);
    expect(text).toMatch(/^the first error\n/);
    expect(text).toMatch(/3,000 errors\n$/);
    expect(text).toContain("\n\n[70029 of 100029 bytes are left out here. The log of this run has all of it.]\n\n");
  }
});
