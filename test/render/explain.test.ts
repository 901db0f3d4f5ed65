/** Fields of a manifest, explained from the schema: every one of them, with examples that are valid. */

import { readFileSync } from "node:fs";
import { describe, expect, it, test } from "vitest";
import { parse } from "yaml";
import { RECORD_TYPES } from "../../src/dns/record.ts";
import type { Json, JsonObject } from "../../src/model/resource.ts";
import { type Explanation, explainField, fieldTree, renderExplanation, yaml } from "../../src/render/explain.ts";
import { loadFiles } from "../manifest/support.ts";

const schema: JsonObject = JSON.parse(
  readFileSync(new URL("../../schemas/manifest.schema.json", import.meta.url), "utf8"),
);

function explained(path: string): Explanation {
  const found = explainField(schema, path);
  if (!found.ok) throw new Error(`${path}: ${found.where} has no ${found.word}`);
  return found.explanation;
}

function everyPath(path = ""): string[] {
  const inner = explained(path).fields.map(({ name }) => (path === "" ? name : `${path}.${name}`));
  return [path, ...inner.flatMap((below) => everyPath(below))];
}

const PATHS = everyPath();

describe("every field of the schema", () => {
  it("is reached by its path, and says what it is", () => {
    expect(PATHS.length).toBeGreaterThan(200);
    const silent = PATHS.filter((path) => path !== "" && explained(path).description === "");
    expect(silent).toEqual([]);
  });

  it("fits 80 columns, but for examples and single words", () => {
    for (const path of PATHS) {
      const text = renderExplanation(explained(path), 80);
      const [prose = ""] = text.split("\nExamples:");
      expect(prose.split("\n").filter((line) => line.length > 80 && line.trim().includes(" "))).toEqual([]);
    }
  });

  it("has examples that YAML reads as what the schema says", () => {
    let count = 0;
    for (const path of PATHS) {
      const { examples } = explained(path);
      for (const example of examples) {
        expect(parse(example), path).not.toBe(null);
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(80);
  });
});

describe("a path", () => {
  it.each([
    ["domain.records", "domains.records"],
    ["domains.record.TTL_SEC", "domains.records.ttl_sec"],
    ["vpc.subnet.ipv4", "vpcs.subnets.ipv4"],
    ["record.spf", "record.spf"],
    ["variables.anything.default", "variables.anything.default"],
    ["environments.prod.variables", "environments.prod.variables"],
    ["record_sets.mail.type", "record_sets.mail.type"],
    ["domain.records.a", "domains.records.A"],
    ["record.caa", "record.caa"],
    ["record.CAA", "record.CAA"],
  ])("%s leads to %s", (path, to) => {
    expect(explained(path).path).toBe(to);
  });

  it.each([
    ["domian", "a manifest", "Did you mean `domain`?"],
    ["domains.recrods", "domains", "Did you mean `records`?"],
    ["vpcs.subnets.cidr", "vpcs.subnets", "Known are: `label`, `ipv4`"],
    ["constructor", "a manifest", "Known are"],
    ["owner.x", "owner", ""],
  ])("%s is not there, and what is near is named", (path, where, words) => {
    const found = explainField(schema, path);
    expect(found).toMatchObject({ ok: false, where, suggestion: expect.stringContaining(words) });
  });
});

describe("a type of record", () => {
  it.each(RECORD_TYPES.map((type) => [type]))(
    "%s has the fields that it takes, and an example that loads",
    async (type) => {
      const { fields, examples } = explained(`domains.records.${type}`);
      const names = fields.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(["name", "target", "targets", "ttl_sec"]));
      expect(names.includes("priority")).toBe(type === "MX" || type === "SRV");
      expect(fields.every((field) => field.type !== "object" && field.description !== "")).toBe(true);
      const entry = examples[0] ?? "";
      const manifest = `tenon: 1\ndomains:\n  - domain: example.com\n    type: master\n    soa_email: a@example.com\n    records:\n      - ${entry}\n`;
      const { project, diagnostics } = await loadFiles({ "tenon.yaml": manifest });
      expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
      expect(project).not.toBe(null);
    },
  );
});

test("the tree of a field names all below it", () => {
  expect(fieldTree(schema, explained("vpcs"))).toContain("  ipv4  <text>");
});

test.each<[Json]>([
  ["true"],
  ["1e3"],
  ["010"],
  ["@"],
  ["*.dev"],
  ["a: b"],
  ["v=spf1 -all"],
  ["192.0.2.1"],
  ["null"],
  ["~"],
  ["${var.env}"],
  ["a\u202eb\n"],
  [["a", 1, null, true]],
  [{ a: { b: ["x.", ""] }, c: {} }],
])("YAML of %j is read as the same value", (value) => {
  expect(parse(yaml(value))).toEqual(value);
});
