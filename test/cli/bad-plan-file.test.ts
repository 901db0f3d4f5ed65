import { execFileSync } from "node:child_process";
import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parsePlanFile } from "../../src/index.ts";
import { withDigest } from "../security/hostile.ts";
import { here, here as run } from "./here.ts";
import { emulator, envOf, expectPlain, folder, PROJECT } from "./run.ts";

const FOREIGN = JSON.stringify({ format_version: "1.2", terraform_version: "1.9.0", resource_changes: [] });
const SNAPSHOT = JSON.stringify({ kind: "tenon-live", format_version: 1, read_at: "2026-01-01T00:00:00Z", lists: {} });

describe("a plan file", () => {
  it.each<[string, (text: string) => string, string[]]>([
    ["empty", () => "", ["the plan file is empty"]],
    ["truncated", (text) => text.slice(0, text.length / 2), ["error[plan-file-truncated]", "its end is missing"]],
    ["without its last brace", (text) => text.trimEnd().slice(0, -1), ["error[plan-file-truncated]"]],
    ["damaged", (text) => text.replace('"actions"', '"action"'), ["error[plan-file-damaged]", "actions"]],
    [
      "changed",
      (text) => text.replace("192.0.2.1", "192.0.2.7"),
      ["error[plan-file-damaged]", "changed after it was written"],
    ],
    ["no JSON", () => "not a plan\n", ["error[plan-file-damaged]"]],
    ["a list", () => "[]", ["error[plan-file-damaged]"]],
    [
      "with a key that is too long",
      () => `{"${"k".repeat(16_384)}" :1}`,
      ["error[plan-file-damaged]", "a key of more than 16,383"],
    ],
    [
      "with the longest key that is read",
      () => `{"${"k".repeat(16_383)}" :1}`,
      ["error[plan-file-damaged]", "must have required property"],
    ],
    ["nested without an end", () => "[".repeat(200_000), ["error[plan-file-"]],
    ["of a newer tenon", (text) => newer(text), ["error[plan-file-newer]", "Use the same version of tenon"]],
    ["of another program", () => FOREIGN, ["error[plan-file-foreign]: the file is a plan, but not one of tenon"]],
    ["a snapshot", () => SNAPSHOT, ["error[plan-file-foreign]: the file is a snapshot of an account, not a plan"]],
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

  it("that is cut at any place is refused by name; what is cut off at the end only, a line break, is none", async () => {
    const text = await planText();
    for (let length = 0; length < text.trimEnd().length; length += 97) {
      const read = await parsePlanFile(text.slice(0, length));
      expect([length, read.ok ? "read" : read.diagnostic.code]).toEqual([length, "plan-file-truncated"]);
    }
  });

  it("with a byte that flipped is refused by name, wherever it is", async () => {
    const bytes = Buffer.from(await planText());
    // A linear congruence: the same places and bits in every run.
    let random = 20_261_121;
    const next = (below: number): number => {
      random = (random * 48_271) % 2_147_483_647;
      return random % below;
    };
    for (let count = 0; count < 200; count += 1) {
      const spoilt = Buffer.from(bytes);
      const place = next(spoilt.length);
      spoilt[place] = (spoilt[place] ?? 0) ^ (1 << next(8));
      const read = await parsePlanFile(spoilt.toString("utf8"));
      const outcome = read.ok ? "read" : read.diagnostic.code;
      expect([place, outcome]).toEqual([place, expect.stringMatching(/^plan-file-(truncated|damaged|newer|foreign)$/)]);
    }
  });

  it("in another coding, with NUL bytes, or nested without an end in any place is refused by name", async () => {
    const text = await planText();
    const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
    const spoilt = [
      `\ufeff${text}`,
      Buffer.from(text, "utf16le").toString("utf8"),
      Buffer.from(`\ufeff${text}`, "utf16le").toString("utf8"),
      "\0".repeat(1_000),
      text.replace('"us-east"', '"us-\0east"'),
      text.replace('"us-east"', deep),
      text.replace('"note":null', `"note":${"[".repeat(100_000)}${"]".repeat(100_000)}`),
      text.replaceAll('"after_unknown":{', `"after_unknown":{"x":${deep},`),
    ];
    for (const [index, each] of spoilt.entries()) {
      expect(each).not.toBe(text);
      const read = await parsePlanFile(each);
      expect([index, read.ok ? "read" : read.diagnostic.code]).toEqual([index, "plan-file-damaged"]);
    }
  });

  it("with objects in the place of values is shown, or refused by name", async () => {
    const text = await planText();
    const { resource_changes: all } = JSON.parse(text) as { resource_changes: { change: { after: object | null } }[] };
    const cwd = await folder({ "tenon.yaml": PROJECT });
    for (const [index, { change }] of all.entries()) {
      for (const field of Object.keys(change.after ?? {})) {
        const plan = JSON.parse(text);
        plan.resource_changes[index].change.after[field] = { toString: 1 };
        await writeFile(join(cwd, "the.plan"), withDigest(JSON.stringify(plan)));
        for (const format of ["text", "json", "markdown"]) {
          const ended = await here(["show", "the.plan", "--format", format], { cwd });
          expect([field, format, ended.stderr]).toEqual([field, format, expect.not.stringContaining("unexpected:")]);
          expect([0, 1]).toContain(ended.code);
        }
      }
    }
  });

  it("of 100 MB, or that is a named pipe, is refused by name and not waited for", async () => {
    const cwd = await folder({ "tenon.yaml": PROJECT, "big.plan": "" });
    await truncate(join(cwd, "big.plan"), 100_000_000);
    execFileSync("mkfifo", [join(cwd, "pipe.plan")]);
    expectPlain(await run(["show", "big.plan"], { cwd }), 1, ["error[plan-file-damaged]"]);
    await truncate(join(cwd, "big.plan"), 1_000_000_000_000);
    expectPlain(await run(["show", "big.plan"], { cwd }), 1, ["big.plan has more than", "MiB"]);
    expectPlain(await run(["show", "pipe.plan"], { cwd }), 1, ["pipe.plan is not a regular file"]);
  });

  it("that is not there, or is a folder, is named", async () => {
    const service = await emulator();
    const options = { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) };
    for (const [file, words] of [
      ["missing.plan", "there is no such file: missing.plan"],
      ["tenon.yaml/the.plan", "there is no such file: tenon.yaml/the.plan"],
      [".", ". is a folder"],
    ] as const) {
      const ended = await run(["apply", "--yes", "--plan", file], options);
      expectPlain(ended, 1, [`the plan file cannot be read: ${words}`]);
      expect(ended.stderr).not.toMatch(/ENO|EISDIR/);
    }
    expect(service.requests).toEqual([]);
  });

  it("that is given as the project, as elsewhere, is told where it belongs", async () => {
    const service = await emulator();
    const options = { cwd: await folder({ "tenon.yaml": PROJECT }), env: envOf(service) };
    expect((await here(["plan", "--out", "the.plan"], options)).code).toBe(0);
    service.clearRequests();
    for (const command of [["apply", "--yes"], ["plan"], ["destroy", "--yes"]]) {
      const words = ["the.plan is a saved plan, not a project", "Give it as --plan the.plan"];
      expectPlain(await here([...command, "the.plan"], options), 1, words);
    }
    expect(service.requests).toEqual([]);
    // What is no plan is a manifest, be it JSON.
    await writeFile(join(options.cwd, "other.json"), '{"format_version":"1.2","vpcs":7}');
    expect((await here(["plan", "other.json"], options)).stderr).not.toContain("saved plan");
  });
});

async function planText(): Promise<string> {
  const cwd = await folder({ "tenon.yaml": PROJECT });
  return (await run(["plan", "--format", "json"], { cwd, env: envOf(await emulator()) })).stdout;
}

function newer(text: string): string {
  const plan = JSON.parse(text) as { tenon: { format_version: number } };
  return JSON.stringify({ ...plan, tenon: { ...plan.tenon, format_version: plan.tenon.format_version + 1 } });
}

function withoutExtras(text: string): string {
  const plan = JSON.parse(text) as { tenon: object };
  return JSON.stringify({ ...plan, tenon: { ...plan.tenon, changes: {} } });
}
