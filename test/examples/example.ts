/** A copy of an example, and the account it is applied to, by the command line. */

import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../src/emulator/index.ts";
import type { JsonObject } from "../../src/model/resource.ts";
import { here } from "../cli/here.ts";
import { type Ended, envOf } from "../cli/run.ts";
import { tested } from "../support/emulator.ts";

const EXAMPLES = join(import.meta.dirname, "../../examples");
/** Pages of this size are asked for; a test's account has few of them. */
const PAGE_SIZE = 500;
const NO_CHANGES = /^No changes\. Your infrastructure matches the configuration\.$/m;

export class Example {
  readonly emulator: Emulator;
  readonly folder: string;

  private constructor(emulator: Emulator, folder: string) {
    this.emulator = emulator;
    this.folder = folder;
  }

  /** Both are gone after the test. */
  static async open(name: string, options: EmulatorOptions = {}): Promise<Example> {
    const folder = await mkdtemp(join(tmpdir(), "tenon-example-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await cp(join(EXAMPLES, name), folder, { recursive: true });
    const emulator = await startEmulator(options);
    onTestFinished(() => emulator.close());
    return new Example(emulator, folder);
  }

  run(...args: readonly string[]): Promise<Ended> {
    return here(args, { cwd: this.folder, env: envOf(this.emulator) });
  }

  /** Validates without a warning, applies, and has nothing left to do. @returns what apply printed */
  async converge(...flags: readonly string[]): Promise<string> {
    const valid = await this.run("validate", "--strict", ...flags);
    expect(valid).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^The manifest is valid: \d+ declared\.\n$/),
      stderr: "",
    });
    const applied = await this.run("apply", "--yes", ...flags);
    expect(applied).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Apply complete! /m) });
    const { stderr, ...planned } = await this.run("plan", "--detailed-exitcode", ...flags);
    expect({ ...planned, stderr }).toEqual({ code: 0, stdout: expect.stringMatching(NO_CHANGES), stderr: "" });
    return applied.stdout;
  }

  /** All pages of a list, as the service sends them. */
  async list(path: string): Promise<JsonObject[]> {
    const { send } = tested(this.emulator);
    const items: JsonObject[] = [];
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const { body } = await send("GET", `${path}?page=${page}&page_size=${PAGE_SIZE}`);
      items.push(...(body.data as JsonObject[]));
      pages = body.pages as number;
    }
    return items;
  }

  async recordsOf(domain: string): Promise<JsonObject[]> {
    const found = (await this.list("/domains")).find((item) => item["domain"] === domain);
    return this.list(`/domains/${found?.["id"]}/records`);
  }
}
