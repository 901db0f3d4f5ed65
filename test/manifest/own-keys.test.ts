import { describe, expect, test } from "vitest";
import { codes, declaredZone, domain, loadFiles, loadText, records } from "./support.ts";

describe("keys that begin with x-", () => {
  test("hold text with ${ that is nobody's business", async () => {
    const result = await loadText('x-notes: "${HOME} ${var.none}"\nx-more: { a: ["${zone}"] }\nvpcs: []\n');
    expect(result.diagnostics).toEqual([]);
  });

  test("may stand among patterns, record sets and environments", async () => {
    const text = `environments: { x-base: 1, test: {} }
record_sets:
  x-base: &base { type: TXT, target: a }
  mail: [*base]
${domain('use: [mail]\nignore: [{ x-why: ["${HOME}"], name: b }]\n')}`;
    const result = await loadText(text, { environment: "test" });
    expect(result.diagnostics).toEqual([]);
    expect(records(result)).toMatchObject([{ type: "TXT", target: "a" }]);
    expect(codes(await loadText(text, { environment: "x-base" }))).toEqual(["unknown-environment"]);
    expect(codes(await loadText(text.replace("use: [mail]", "use: [x-base, mail]")))).toEqual(["unknown-record-set"]);
  });

  test("make no pattern by themselves: it would match everything", async () => {
    expect(codes(await loadText(domain("ignore: [{ x-why: a }, {}]\n")))).toEqual(["bad-format", "bad-format"]);
  });
});

test("$${ is a literal ${ in lists and mappings of defaults, too", async () => {
  const result = await loadText(
    `variables: { texts: { default: ["$\${a}", "b"] } }\n${domain(`records:\n  - { type: TXT, name: t, targets: "\${var.texts}" }\n`)}`,
  );
  expect(result.diagnostics).toEqual([]);
  expect(records(result).map(({ target }) => target)).toEqual(["${a}", "b"]);
});

test("a record set that no domain uses is a warning", async () => {
  const sets = "record_sets:\n  mail: []\n  old: []\n";
  const result = await loadText(sets + domain("use: [mail]\n"));
  expect(result.diagnostics).toMatchObject([{ code: "unused-record-set", severity: "warning" }]);
  expect(result.diagnostics[0]?.summary).toContain("`old`");
  expect(declaredZone(result).spec.records).toEqual([]);
});

test("zones/** is every file below zones", async () => {
  const vpc = (label: string): string => `tenon: 1\nvpcs: [{ label: ${label}, region: us-east }]\n`;
  const result = await loadFiles({
    "tenon.yaml": "tenon: 1\nfiles: ['zones/**']\n",
    "zones/a.yaml": vpc("a"),
    "zones/b/c/d.yaml": vpc("d"),
    "other.yaml": vpc("other"),
  });
  expect(result.diagnostics).toEqual([]);
  expect(result.project?.desired.declared.map(({ key }) => key)).toEqual(["a", "d"]);
});
