/** That every operation, rule and assumption of the emulator has its test, and that docs/reference/emulator.md lists them: the lists are made here. */

import { readdir, readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { API_ROUTES } from "../../src/emulator/routes.ts";

const ROOT = new URL("../../", import.meta.url);
const GUIDE = new URL("docs/reference/emulator.md", ROOT);
const api = await readFile(new URL("docs/reference/API.md", ROOT), "utf8");
const said = await readSaid();

/** What of API.md no request can break: fields that only the service writes, and what it does. */
const FORBIDS_NOTHING: readonly RegExp[] = [
  /^VPC: (id|created|updated)$/,
  /^VPC Subnet: (id|nodes|created|updated)$/,
  /^VPC IP address entry: /,
  /^Support ticket: (id|status|opened|opened_by|updated|updated_by|closed|attachments|avatar_id|entity)$/,
  /^Ticket reply: (id|created|created_by|from_linode|avatar_id)$/,
  /^Domain \(DNS zone\): id$/,
  /^Domain record: (id|created|updated)$/,
  /^Image: (?!label$|description$)/,
  /^Domains: rule [23]$/,
];

interface Said {
  readonly word: string;
  readonly name: string;
  /** Below the folder of the documentation. */
  readonly file: string;
}

/** What tests say in the words of test/support/emulated.ts. */
async function readSaid(): Promise<readonly Said[]> {
  const files = (await readdir(new URL("test", ROOT), { recursive: true }))
    .filter((file) => file.endsWith(".test.ts") && !file.startsWith("docs"))
    .toSorted();
  const found: Said[] = [];
  for (const file of files) {
    const text = await readFile(new URL(`test/${file}`, ROOT), "utf8");
    for (const [, word = "", names = ""] of text.matchAll(/^(operation|rule|assumption)\(\s*(\[[^\]]*\]|"[^"]*")/gm)) {
      for (const [, name = ""] of names.matchAll(/"([^"]*)"/g)) found.push({ word, name, file: `../../test/${file}` });
    }
  }
  return found;
}

function saidOf(word: string): ReadonlyMap<string, readonly string[]> {
  const files = new Map<string, string[]>();
  for (const one of said) {
    if (one.word === word) files.set(one.name, [...(files.get(one.name) ?? []), one.file]);
  }
  return files;
}

interface Operation {
  readonly name: string;
  /** As a route has it: `GET /vpcs/:vpcId`. */
  readonly request: string;
}

function operationsOfApi(): Operation[] {
  return [...api.matchAll(/^\| ([^|]+) \| ((?:GET|POST|PUT|DELETE) \/\S+) \|/gm)].map(
    ([, name = "", request = ""]) => ({
      name,
      request: request.replace(/\{(\w+)\}/g, ":$1"),
    }),
  );
}

/** The rows of tables that have a column of rules, and the numbered rules, by their keys. */
function rulesOfApi(): string[] {
  const keys: string[] = [];
  let section = "";
  let hasRules = false;
  let bullets = 0;
  for (const line of api.split("\n")) {
    const cells = line.startsWith("|")
      ? line
          .slice(1, -1)
          .split("|")
          .map((cell) => cell.trim())
      : [];
    const [first = ""] = cells;
    const heading = /^#+ (.*)/.exec(line)?.[1] ?? /^(Support Ticket Open body):/.exec(line)?.[1];
    if (heading !== undefined) [section, bullets] = [heading, 0];
    else if (cells.length === 0) hasRules = false;
    else if (first === "Field" || first === "Limit") hasRules = true;
    else if (hasRules && !first.startsWith("-")) keys.push(`${section}: ${first}`);
    const numbered = /^(\d+)\. /.exec(line)?.[1];
    if (numbered !== undefined) keys.push(`${section}: rule ${numbered}`);
    if (section === "Errors" && line.startsWith("- ")) {
      bullets += 1;
      keys.push(`Errors: rule ${bullets}`);
    }
  }
  return keys;
}

test("every operation of API.md is a route, and every route an operation of API.md", () => {
  const shown = operationsOfApi();
  expect(shown.length).toBeGreaterThan(35);
  const routes = new Set(API_ROUTES.map(({ operation, method, path }) => `${operation}: ${method} ${path}`));
  for (const { name, request } of shown) expect(routes).toContain(`${name}: ${request}`);
  const names = shown.map(({ name }) => name);
  for (const { operation } of API_ROUTES) expect(names).toContain(operation);
});

test("every rule of API.md has a test that sends the request it forbids", () => {
  const keys = rulesOfApi();
  expect(keys.length).toBeGreaterThan(100);
  const tested = saidOf("rule");
  const forbidding = keys.filter((key) => !FORBIDS_NOTHING.some((pattern) => pattern.test(key)));
  expect(forbidding.filter((key) => !tested.has(key))).toEqual([]);
  expect([...tested.keys()].filter((key) => !keys.includes(key))).toEqual([]);
  for (const pattern of FORBIDS_NOTHING)
    expect(
      keys.some((key) => pattern.test(key)),
      `${pattern}`,
    ).toBe(true);
});

test("docs/reference/emulator.md lists every operation with the test that proves it, and every assumption with the test that pins it", async () => {
  const guide = await readFile(GUIDE, "utf8");
  const proofs = saidOf("operation");
  const operations = operationsOfApi().map(({ name, request }) => {
    expect([...proofs.keys()]).toContain(name);
    return `| ${name} | \`${request}\` | ${(proofs.get(name) ?? []).map(link).join(", ")} |`;
  });
  const pinned = [...saidOf("assumption")].map(([sentence, files]) => `- ${sentence} ${files.map(link).join(", ")}`);
  expect(pinned.length).toBeGreaterThan(40);
  const lists = {
    operations: ["| Operation | Request | Proved by |", "| --- | --- | --- |", ...operations],
    assumptions: pinned,
  };
  let rewritten = guide;
  for (const [name, lines] of Object.entries(lists)) {
    const place = new RegExp(`(<!-- ${name} -->\\n).*?(<!-- end of ${name} -->)`, "s");
    expect(guide).toMatch(place);
    rewritten = rewritten.replace(place, (_, begin: string, end: string) => `${begin}\n${lines.join("\n")}\n\n${end}`);
  }
  // `npm run golden` writes it anew; the diff is for a person to read.
  if (process.env["TENON_GOLDEN"] === "write") await writeFile(GUIDE, rewritten);
  else expect(guide).toBe(rewritten);
});

/** Shown without the folder that most are in. */
function link(file: string): string {
  return `[${file.replace(/^\.\.\/\.\.\/test\/(emulator\/)?/, "").replace(/\.test\.ts$/, "")}](${file})`;
}
