import { spawn, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { EXIT } from "../../src/cli/exit.ts";
import { emulator, ended, envOf, folder, MAIN, run } from "../cli/run.ts";
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

it("apply.sh takes no plan of another goal, environment, variables or flags than plan.sh asks for", async () => {
  const service = await emulator();
  const manifest = `tenon: 1
variables: { protect: { default: true }, env: { default: prod } }
environments: { other: { variables: { env: other } } }
vpcs: [{ label: "\${var.env}", region: us-east, protect: "\${var.protect}" }]
`;
  const tenon = `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`;
  const cwd = await folder({ "tenon.yaml": manifest, "bin/tenon": tenon, "cut.plan": "cut off {" });
  await chmod(join(cwd, "bin/tenon"), 0o755);
  const options = { cwd, env: { ...envOf(service), PATH: `${join(cwd, "bin")}:${process.env["PATH"]}` } };
  const applied = async (file: string) => {
    service.clearRequests();
    const child = spawn("bash", [join(SCRIPTS, "apply.sh"), file], options);
    const { code, stdout, stderr } = await ended(child);
    return { code, isAsked: service.requests.length > 0, told: stdout + stderr };
  };
  const forgeries = {
    destroy: ["--destroy"],
    environment: ["--env", "other"],
    variables: ["--var", "protect=false"],
    targets: ["--target", "vpc/*"],
    owners: ["--take-ownership-from", "others"],
  };
  for (const [name, flags] of Object.entries(forgeries)) {
    expect(await run(["plan", "--out", `${name}.plan`, ...flags], options)).toMatchObject({ code: 0 });
    const { code, isAsked, told } = await applied(`${name}.plan`);
    expect([name, code, isAsked]).toEqual([name, 1, false]);
    expect(told).toContain("plan-file-differs");
  }
  expect(await applied("cut.plan")).toMatchObject({ code: 1, isAsked: false });
  expect(await run(["plan", "--out", "the.plan"], options)).toMatchObject({ code: 0 });
  expect(await applied("the.plan")).toMatchObject({ code: 0, isAsked: true });
});

it("plan.sh writes the plan to the log as text for people, and as markdown to the comment and once to the summary", async () => {
  const tenon = `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`;
  const manifest = "tenon: 1\nvpcs: [{ label: prod, region: us-east }]\n";
  const cwd = await folder({ "tenon.yaml": manifest, "bin/tenon": tenon, summary: "" });
  await chmod(join(cwd, "bin/tenon"), 0o755);
  const path = `${join(cwd, "bin")}:${process.env["PATH"]}`;
  const env = { ...envOf(await emulator()), PATH: path, GITHUB_STEP_SUMMARY: join(cwd, "summary") };
  const { code, stdout } = await ended(spawn("bash", [join(SCRIPTS, "plan.sh")], { cwd, env }));
  const [shown, comment, summary] = await Promise.all([
    run(["show", "tenon-out/plan.json"], { cwd }),
    readFile(join(cwd, "tenon-out/comment.md"), "utf8"),
    readFile(join(cwd, "summary"), "utf8"),
  ]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: shown.stdout });
  expect(stdout).toContain('+ vpc prod\n    region  "us-east"\n');
  expect(comment).toContain("<summary><code>vpc prod</code>");
  expect(summary.match(/<details/g)).toHaveLength(1);
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
