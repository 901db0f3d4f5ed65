/** The policies read what a plan has: each path in them is held against the schema and against a real plan. */

import { readdirSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseSeed } from "../../src/emulator/index.ts";
import { emulator, envOf, run } from "../cli/run.ts";
import { CI } from "./ci/workflow.ts";

const RULES = join(CI, "policies/rules");
const FIXTURES = join(CI, "policies/fixtures");
const SCHEMA = JSON.parse(readFileSync(join(CI, "../../schemas/plan.schema.json"), "utf8")) as Schema;
const FILES = readdirSync(RULES).filter((name) => name.endsWith(".rego") && !name.endsWith("_test.rego"));
/** `some x in input.list`, and functions that are handed what is so named. */
const LOOP = /some (?<name>\w+) in (?<path>input(?:\.\w+)+)/g;
const PATH = /\b(?<root>input|resource|change|guard|refusal)(?<steps>(?:\.\w+|\[resource\.address\])+)/g;

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

it("fixtures/plan.json is what tenon plans of the project beside it", async () => {
  const seed = await parseSeed(await readFile(join(FIXTURES, "account.yaml"), "utf8"));
  const service = await emulator({ seed });
  const { code, stdout } = await run(["plan", "--format", "json"], { cwd: FIXTURES, env: envOf(service) });
  expect(code).toBe(0);
  const file = join(FIXTURES, "plan.json");
  // `npm run golden` writes it anew; the diff is for a person to read.
  if (process.env["TENON_GOLDEN"] === "write") await writeFile(file, stdout);
  else expect(stdout).toBe(await readFile(file, "utf8"));
});

describe.each(FILES)("rules/%s", (file) => {
  const text = readFileSync(join(RULES, file), "utf8").replaceAll(/^#.*$/gm, "");

  it("is Rego 1, in the package that conftest looks into", () => {
    expect(text).toMatch(/^\s*package main\n\nimport rego\.v1\n/);
    expect(text).not.toMatch(/^(deny|violation|warn)\[/m);
  });

  it("reads only what the schema of plans has, and what the real plan has", async () => {
    const plan = JSON.parse(await readFile(join(FIXTURES, "plan.json"), "utf8"));
    const paths = pathsOf(text);
    expect(paths.length).toBeGreaterThan(0);
    for (const path of paths) expect([path, isInSchema(path)]).toEqual([path, true]);
    // No real plan with refusals is written: their shape is the schema's word alone.
    for (const path of paths.filter((steps) => !steps.includes("refusals"))) {
      expect([path, valuesAt(plan, path).length > 0]).toEqual([path, true]);
    }
  });
});

it("policies judge what is blocked by what it would do: an apply of the plan may do it later", async () => {
  for (const file of FILES.filter((name) => name !== "resource.rego")) {
    const text = await readFile(join(RULES, file), "utf8");
    // Only `intended` tells what a resource is to become.
    expect([file, /resource\.change\b/.test(text)]).toEqual([file, false]);
  }
  expect(await readFile(join(RULES, "resource.rego"), "utf8")).toContain("tenon.changes[resource.address].wanted");
});

it("a path that no plan has is found", () => {
  expect(isInSchema(["tenon", "guards", "*", "consent"])).toBe(true);
  expect(isInSchema(["tenon", "guards", "*", "assent"])).toBe(false);
  expect(isInSchema(["resource_changes", "*", "change", "action"])).toBe(false);
  expect(pathsOf("some guard in input.tenon.guards\nguard.assent")).toContainEqual(["tenon", "guards", "*", "assent"]);
});

it("what the policies say about the plan, as the README shows it, is about what is in the plan", async () => {
  const readme = await readFile(join(CI, "policies/README.md"), "utf8");
  const failures = [...readme.matchAll(/^FAIL - \S+ - main - (.*)$/gm)].map(([, message]) => message ?? "");
  expect(failures).toHaveLength(8);
  const plan = JSON.parse(await readFile(join(FIXTURES, "plan.json"), "utf8"));
  const addresses: string[] = plan.resource_changes.map(({ address }: { address: string }) => address);
  for (const failure of failures.filter((message) => !message.includes("split the pull request"))) {
    expect(
      addresses.filter((address) => failure.startsWith(`${address}:`) || failure.startsWith(`${address} `)),
    ).toHaveLength(1);
  }
});

/**
 * Each path from the plan's root; `*` stands for any item or key. `resource`, where no loop says, is a resource change, and `change` is what
 * it does.
 */
function pathsOf(text: string): string[][] {
  const roots: Record<string, string[]> = {
    input: [],
    resource: ["resource_changes", "*"],
    change: ["resource_changes", "*", "change"],
  };
  for (const { groups } of text.matchAll(LOOP)) {
    roots[groups?.["name"] ?? ""] = [...(groups?.["path"] ?? "").split(".").slice(1), "*"];
  }
  return [...text.matchAll(PATH)].map(({ groups }) => {
    const steps = (groups?.["steps"] ?? "").replace("[resource.address]", ".*").split(".").slice(1);
    const root = roots[groups?.["root"] ?? ""];
    if (root === undefined) throw new Error(`what is ${groups?.["root"]}?`);
    return [...root, ...steps];
  });
}

/** Values of fields are open in the schema: what is beneath `before` and `after` is the real plan's word alone. */
function isInSchema(path: readonly string[]): boolean {
  let at = SCHEMA;
  for (const step of path) {
    at = resolve(at);
    if (
      at.type !== undefined &&
      [at.type].flat().includes("object") &&
      at.properties === undefined &&
      at.additionalProperties === undefined
    )
      return true;
    const next = step === "*" ? (at.items ?? at.additionalProperties) : at.properties?.[step];
    if (next === undefined || typeof next === "boolean") return false;
    at = next;
  }
  return true;
}

function resolve(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.replace("#/$defs/", "");
  const found = SCHEMA.$defs?.[name];
  if (found === undefined) throw new Error(`no ${schema.$ref}`);
  return resolve(found);
}

function valuesAt(value: unknown, [step, ...rest]: readonly string[]): unknown[] {
  if (step === undefined) return [value];
  if (typeof value !== "object" || value === null) return [];
  const inner =
    step === "*" ? Object.values(value) : Object.hasOwn(value, step) ? [(value as Record<string, unknown>)[step]] : [];
  return inner.flatMap((next) => valuesAt(next, rest));
}
