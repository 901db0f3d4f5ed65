/** What somebody who writes the first manifest gets wrong, and what the message says to write instead. */

import { describe, expect, test } from "vitest";
import { loadFiles, loadText } from "./support.ts";

/** The lines of a record list of example.com. */
function records(...lines: readonly string[]): string {
  const domain = [
    "domains:",
    "  - domain: example.com",
    "    type: master",
    "    soa_email: a@example.com",
    "    records:",
  ];
  return `${[...domain, ...lines.map((line) => `      ${line}`)].join("\n")}\n`;
}

/** `line:column summary` and the fix of each error; the first record is in line 7. */
async function errorsOf(text: string): Promise<string[][]> {
  const { diagnostics, sources } = await loadText(text);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  return errors.map(({ span, summary, fix = "" }) => {
    if (span === undefined) return [summary, fix];
    const { line, column } = sources.position(span.file, span.start);
    return [`${line}:${column} ${summary}`, fix];
  });
}

const STAR = 'If a star is meant, as in the name of a wildcard record, quote it: "*".';
const ENTRY =
  "Begin it in the column of the entry's first key, behind the dash; or write `- ` before it for an entry of its own.";
const COLUMN = "Begin the line in the column of the entries that it belongs to.";
const QUOTE = "Close the quote; a quote inside the value is written \\\" or, in single quotes, ''.";

describe("what is wrong with the YAML is said in its own terms:", () => {
  const starred = "a value that begins with `*` must be quoted";
  const unindented = "the indentation does not fit";
  const colon = "a colon with a space behind it is missing";
  test.each([
    ["a bare star in braces", records("- { type: A, name: *, target: 192.0.2.1 }"), `7:26 ${starred}`, STAR],
    ["a bare star", records("- type: A", "  name: *", "  target: 192.0.2.1"), `8:15 ${starred}`, STAR],
    [
      "another reserved character",
      records("- { type: TXT, name: x, target: %foo }"),
      "7:39 a value that begins with `%` must be quoted",
      'Quote it: "%foo".',
    ],
    [
      "no comma",
      records("- { type: A, name: www target: 192.0.2.1 }"),
      "7:26 a comma is missing",
      "Write `www, target: …`; a value with `: ` in it needs quotes.",
    ],
    [
      "no colon in the first line",
      records("- type A", "  name: www"),
      `7:9 ${colon}`,
      "If `type` is the key, write `type: A`.",
    ],
    [
      "no colon in the last line",
      records("- type: A", "  name www"),
      `8:9 ${colon}`,
      "If `name` is the key, write `name: www`.",
    ],
    [
      "no space behind the colon",
      records("- type:A", "  name: www"),
      `7:9 ${colon}`,
      "If `type` is the key, write `type: A`.",
    ],
    ["a key left of its entry", "domains:\n  - domain: example.com\n   type: master\n", `4:1 ${unindented}`, ENTRY],
    [
      "a dash left of those above it",
      `${records("- { type: A, name: www, target: 192.0.2.1 }")}     - { type: A, target: 192.0.2.1 }\n`,
      `8:6 ${unindented}`,
      COLUMN,
    ],
    [
      "a dash left of those above it, and nothing of the lines behind it",
      `${records("- { type: A, name: www, target: 192.0.2.1 }")} - domain: b.example\n    type: master\n    soa_email: a@b.example\n`,
      `8:2 ${unindented}`,
      COLUMN,
    ],
    [
      "a key right of those of its entry",
      "domains:\n  - domain: example.com\n     type: master\n     soa_email: a@example.com\n",
      `4:6 ${unindented}`,
      "Begin it in column 5, as `domain` does.",
    ],
    [
      "a value with a colon in it, which is none of these",
      "domains:\n  - domain: example.com\n    description: note: this\n    type: master\n",
      "4:18 a value with `: ` in it must be quoted",
      'Quote the whole value: key: "text: more text". If a nested key was meant, put it on its own line.',
    ],
    ["a key between two columns", "x-a:\n  b: 1\n c: 2\n", `4:1 ${unindented}`, COLUMN],
    [
      "an open quote",
      `${records('- { type: TXT, target: "abc }')}x-a: 1\n`,
      "7:30 a quoted value is not closed",
      QUOTE,
    ],
    [
      "an open quote over several lines",
      records("- type: TXT", "  target: 'it''s", "- type: A"),
      "8:17 a quoted value is not closed",
      QUOTE,
    ],
  ])("%s", async (_, text, summary, fix) => {
    expect(await errorsOf(text)).toEqual([[summary, fix]]);
  });

  test("an error of its own behind text that does not belong there", async () => {
    const text = 'x-a: "a" b\nx-b: c\ndomains:\n  - domain: example.com\n    description: note: this\n';
    const summaries = (await errorsOf(text)).map(([summary]) => summary);
    expect(summaries).toEqual(["2:10 unexpected text", "6:18 a value with `: ` in it must be quoted"]);
  });
});

const APEX = 'Begin each entry with a dash, and write its name inside: `- { name: "", … }`.';
const NAMED = "Begin each entry with a dash, and write its name inside: `- { domain: example.com, … }`.";

describe("what does not fit the schema is said with what to write instead:", () => {
  test.each([
    ["records under their names", records('"":', "  type: A"), "7:7 `records` must be a list", APEX],
    [
      "domains under their names",
      "domains:\n  example.com:\n    type: master\n",
      "3:3 `domains` must be a list",
      NAMED,
    ],
    [
      "an entry without its dash",
      "domains:\n  domain: example.com\n",
      "3:3 `domains` must be a list",
      "Begin the entry with a dash: `- domain: example.com`.",
    ],
    [
      "no space behind any colon",
      records("- type:A", "  name:www"),
      "7:9 an entry of `records` must be a mapping",
      "Write a space behind the colon: `type: A`.",
    ],
    [
      "a record that is a word",
      records("- www"),
      "7:9 an entry of `records` must be a mapping",
      "Write a mapping, for example `{ type: A, name: www, targets: [192.0.2.10, 192.0.2.11] }`.",
    ],
    ["equals signs", "lint: { off = x }\n", "2:9 unknown key `off = x`", "Write `off: x`."],
  ])("%s", async (_, text, summary, fix) => {
    expect(await errorsOf(text)).toEqual([[summary, fix]]);
  });

  test.each([
    ["https://www.example.net/", "a URL where a name belongs"],
    ["http://www.example.net:8080/path?a=b", "a URL where a name belongs"],
    ["www.example.net", "it is unclear whether the target is absolute or relative"],
  ])("the target %s", async (target, summary) => {
    const url = "Write `www.example.net.`; a web server there can send visitors on to the path.";
    const name = "Write `www.example.net.` or `www.example.net.example.com.`.";
    const errors = await errorsOf(records(`- { type: CNAME, name: www, target: "${target}" }`));
    expect(errors).toEqual([[`7:43 ${summary}`, target.includes("://") ? url : name]]);
  });

  test("no space behind the colon in braces", async () => {
    const errors = await errorsOf(records("- { type: A, name: www, target:192.0.2.1 }"));
    expect(errors).toContainEqual(["7:31 unknown key `target:192.0.2.1`", "Write `target: 192.0.2.1`."]);
  });

  test.each([
    ["tags: [a]", '`"a"` has fewer than 3 characters.'],
    ["tags: ['']", '`""` has fewer than 3 characters.'],
    [`description: ${"x".repeat(300)}`, "has more than 253 characters."],
    ["records: [{ type: A, targets: [] }]", "`[]` is empty."],
    ["lint: { of: [] }", "`of` is not a key of `lint`."],
  ])("the rule is said in words: %s", async (line, detail) => {
    const text = `domains:\n  - domain: example.com\n    type: master\n    soa_email: a@example.com\n    ${line}\n`;
    const { diagnostics } = await loadText(text);
    expect(diagnostics.find(({ severity }) => severity === "error")?.detail).toContain(detail);
  });
});

test("a consent whose address is indented as a mapping is an error at its place", async () => {
  const text = "owner: a\nallow:\n  - delete: image/lead\n      until: 2999-01-01\n  - delete: { a: b }\n";
  const { diagnostics } = await loadText(text);
  expect(diagnostics.length).toBeGreaterThan(0);
  const whole = await loadText("owner: a\nallow:\n  - delete: { image: lead }\n");
  expect(whole.diagnostics.map(({ code }) => code)).toEqual(["wrong-type"]);
});

describe("a file of another tool is said to be one:", () => {
  test.each([
    ["a zone file", "$ORIGIN example.com.\n$TTL 3600\n@ IN SOA ns1 admin ( 1 2 3 4 5 )\n", "a zone file, not YAML"],
    ["records", "example.com. 3600 IN MX 10 mail.example.com.\nwww IN A 192.0.2.1\n", "a zone file, not YAML"],
    ["HCL", 'resource "linode_domain" "a" {\n  domain = "example.com"\n}\n', "Terraform's configuration, not YAML"],
  ])("%s", async (_name, text, summary) => {
    const { diagnostics, sources } = await loadFiles({ "tenon.yaml": text });
    expect(diagnostics.map(({ code, summary }) => [code, summary])).toEqual([["foreign-format", summary]]);
    const [{ span } = {}] = diagnostics;
    expect(span && sources.position(span.file, span.start)).toMatchObject({ line: 1, column: 1 });
  });

  test("a manifest whose text stands in the first column is none, and its own error is said", async () => {
    const { diagnostics } = await loadText("domains:\n  - domain: a.example\n    notes: |\nwww  IN A 192.0.2.1\n");
    expect(diagnostics.map(({ code }) => code)).not.toContain("foreign-format");
    expect(diagnostics.length).toBeGreaterThan(0);
  });

  test("text within a manifest that looks like one is not", async () => {
    const { diagnostics } = await loadText("x-note: |\n  $ORIGIN example.com.\n  www IN A 192.0.2.1\n");
    expect(diagnostics).toEqual([]);
  });
});
