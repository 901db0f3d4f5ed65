import { expect, test } from "vitest";
import { folder as project, run } from "../cli/run.ts";
import { codes, loadText, zone } from "../manifest/support.ts";
import { refuse } from "./hostile.ts";

// Taken at its word, each of these would take minutes, or all memory: no test would end within its time.

test("aliases that multiply each other are refused once they expand to 100,000 values", async () => {
  const levels = Array.from({ length: 30 }, (_, level) => {
    const before = level === 0 ? '"lol"' : `*a${level - 1}`;
    return `  x-${level}: &a${level} [${Array.from({ length: 9 }, () => before).join(", ")}]\n`;
  });
  const text = `x-bomb:\n${levels.join("")}vpcs: *a29\n`;
  expect(codes(await loadText(text))).toContain("too-many-aliases");
  await refuse(await project({ "tenon.yaml": `tenon: 1\n${text}` }), ["error[too-many-aliases]"]);
});

test("an alias of itself, in a list, a mapping or a key, is refused", async () => {
  for (const text of ["x-a: &a [*a]\n", "x-a: &a { b: *a }\n", "x-a: &a\n  b: &b [*a, *b]\n"]) {
    expect([text, codes(await loadText(text))]).toEqual([text, expect.arrayContaining(["circular-alias"])]);
  }
});

test("nesting of more than 64 levels is refused, in brackets, braces and indentation", async () => {
  const indented = Array.from({ length: 3_000 }, (_, depth) => `${" ".repeat(depth)}a:\n`).join("");
  for (const text of ["[".repeat(200_000), "{a: ".repeat(100_000), "- ".repeat(100_000), `\n${indented}`]) {
    const { project: loaded, diagnostics } = await loadText(`x-deep: ${text}`);
    expect(loaded).toBeNull();
    expect(diagnostics.length).toBeLessThan(10);
  }
});

test("a break that ends a line for some readers only hides nothing behind a comment", async () => {
  for (const odd of ["\r", "\v", "\f", "\x85", "\u2028", "\u2029"]) {
    const text = `owner: edge #${odd}    until: 2020-01-01\n`;
    expect([odd, codes(await loadText(text))]).toEqual([odd, ["odd-line-break"]]);
  }
  expect(codes(await loadText("owner: edge\rlint: { off: [a] }\n"))).toEqual(["odd-line-break"]);
  // A text may hold any of them.
  const texts = ['"a # b\u2028c"', "|\n        # a\u2028b\n", '"a\\rb"'];
  for (const text of texts)
    expect([text, codes(await loadText(`vpcs:\n  - label: a\n    region: x\n    description: ${text}\n`))]).toEqual([
      text,
      [],
    ]);
  expect(codes(await loadText("owner: edge # a\r\n# b\r\n"))).toEqual([]);
});

test("a merge key is a key like all others, and brings in nothing", async () => {
  const hidden = "x-base: &base { protect: true, region: us-east }\n";
  expect(codes(await loadText(`${hidden}vpcs: [{ label: a, region: us-east, <<: *base }]\n`))).toEqual(["unknown-key"]);
  expect(codes(await loadText("x-base: &base { owner: other }\n<<: *base\n"))).toEqual(["unknown-key"]);
});

test("a text of megabytes is refused by its field's limit, and shown in part", async () => {
  const long = "a".repeat(1_000_000);
  for (const text of [zone(`type: TXT, target: "${long}"`), `vpcs: [{ label: ${long}, region: us-east }]\n`]) {
    const { project: loaded, diagnostics } = await loadText(text);
    expect(loaded).toBeNull();
    for (const { summary, detail, fix } of diagnostics) {
      expect(`${summary}${detail}${fix}`.length).toBeLessThan(20_000);
    }
  }
});

test("six thousand errors fit into a log", async () => {
  const cwd = await project({ "tenon.yaml": `tenon: 1\nvpcs:\n${"  - { lable: a }\n".repeat(3_000)}` });
  const { stderr } = await refuse(cwd, ["error[", "and 2,997 more like these; --full shows each", "6000 errors"]);
  expect(stderr.length).toBeLessThan(10_000);
  const { stderr: full } = await run(["validate", "--full"], { cwd });
  expect(full).toContain("6000 errors; the first 1,000 are shown");
  expect(full.length).toBeLessThan(1_000_000);
});
