import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { EXIT } from "../../src/cli/exit-codes.ts";
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
