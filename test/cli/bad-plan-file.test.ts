import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { emulator, envOf, expectPlain, folder, PROJECT, run } from "./run.ts";

const FOREIGN = JSON.stringify({ format_version: "1.2", terraform_version: "1.9.0", resource_changes: [] });

describe("a plan file", () => {
  it.each<[string, (text: string) => string, string[]]>([
    ["empty", () => "", ["the plan file is empty"]],
    ["truncated", (text) => text.slice(0, text.length / 2), ["error[plan-file-truncated]", "its end is missing"]],
    ["without its last brace", (text) => text.trimEnd().slice(0, -1), ["error[plan-file-truncated]"]],
    ["damaged", (text) => text.replace('"actions"', '"action"'), ["error[plan-file-damaged]", "actions"]],
    ["no JSON", () => "not a plan\n", ["error[plan-file-damaged]"]],
    ["a list", () => "[]", ["error[plan-file-damaged]"]],
    ["nested without an end", () => "[".repeat(200_000), ["error[plan-file-"]],
    ["of a newer tenon", (text) => newer(text), ["error[plan-file-newer]", "Use the same version of tenon"]],
    ["of another program", () => FOREIGN, ["error[plan-file-foreign]: the file is a plan, but not one of tenon"]],
    ["with a change it does not explain", (text) => withoutExtras(text), ["error[plan-file-damaged]", "is missing"]],
  ])("that is %s is refused by name before anything is sent, by apply and by show", async (_, spoil, words) => {
    const service = await emulator();
    const options = { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) };
    const { stdout } = await run(["plan", "--format", "json"], options);
    const spoilt = spoil(stdout);
    expect(spoilt).not.toBe(stdout);
    await writeFile(join(options.cwd, "the.plan"), spoilt);
    service.clearRequests();
    expectPlain(await run(["apply", "--yes", "--plan", "the.plan"], options), 1, words);
    expectPlain(await run(["show", "the.plan"], options), 1, words);
    expect(service.requests).toEqual([]);
  });

  it("that is not there, or is a folder, is named", async () => {
    const service = await emulator();
    const options = { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) };
    for (const file of ["missing.plan", "."]) {
      const words = ["the plan file cannot be read"];
      expectPlain(await run(["apply", "--yes", "--plan", file], options), 1, words);
    }
    expect(service.requests).toEqual([]);
  });
});

function newer(text: string): string {
  const plan = JSON.parse(text) as { tenon: { format_version: number } };
  return JSON.stringify({ ...plan, tenon: { ...plan.tenon, format_version: plan.tenon.format_version + 1 } });
}

function withoutExtras(text: string): string {
  const plan = JSON.parse(text) as { tenon: object };
  return JSON.stringify({ ...plan, tenon: { ...plan.tenon, changes: {} } });
}
