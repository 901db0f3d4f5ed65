/** What is said of values and keys that people try: the fix names what they meant. */

import { describe, expect, test } from "vitest";
import { codes, domain, loadFiles, loadText, zone } from "./support.ts";

async function fixOf(text: string, code: string): Promise<string> {
  const { diagnostics } = await loadText(text);
  const found = diagnostics.filter((diagnostic) => diagnostic.code === code);
  expect(found.map(({ span }) => span)).toEqual([expect.anything()]);
  return found[0]?.fix ?? "";
}

const subnets = (list: string): string => `vpcs: [{ label: prod, region: us-east, subnets: ${list} }]\n`;

describe("a value of the wrong type", () => {
  test.each([
    ["a list as `target`", zone("type: A, target: [192.0.2.1, 192.0.2.2]"), "Did you mean `targets`?"],
    ["one of `targets`", zone("type: A, targets: 192.0.2.1"), "Write `targets: [192.0.2.1]`, or `target: 192.0.2.1`."],
    ["a TTL with a unit", zone("type: A, target: 192.0.2.1, ttl_sec: 1h"), "Write 3600: seconds, without a unit."],
    ["a TTL with units", zone("type: A, target: 192.0.2.1, ttl_sec: 1h30m"), "Write 5400: seconds, without a unit."],
    ["a TTL in words", zone("type: A, target: 192.0.2.1, ttl_sec: 2 days"), "Write 172800: seconds, without a unit."],
    ["a time of a domain", domain("refresh_sec: 1W\n"), "Write 604800: seconds, without a unit."],
    ["a TTL in quotes", zone('type: A, target: 192.0.2.1, ttl_sec: "300"'), "Write it without quotes."],
    ["a TTL that is no time", zone("type: A, target: 192.0.2.1, ttl_sec: soon"), "Write a whole number."],
    ["a TTL of another unit", zone("type: A, target: 192.0.2.1, ttl_sec: 1 hectare"), "Write a whole number."],
    ["nothing as a time", zone("type: A, target: 192.0.2.1, ttl_sec: 0h"), "Write a whole number."],
    ["a time elsewhere", zone("type: MX, target: mx, priority: 1h"), "Write a whole number."],
    ["a range as a subnet", subnets("[10.0.0.0/24]"), "example `{ label: web, ipv4: 10.0.0.0/24 }`."],
    ["a label as a subnet", subnets("[db]"), "example `{ label: db, ipv4: 10.0.1.0/24 }`."],
    ["a number as a subnet", subnets("[10]"), "example `{ label: web, ipv4: 10.0.1.0/24 }`."],
    ["a name as a domain", "domains: [shop.example]\n", "{ domain: shop.example, type: master, soa_email:"],
    [
      "a name as what is removed",
      "removed: [old.example]\n",
      "Write a mapping, for example `{ domain: old.example }`.",
    ],
    ["a long text as a subnet", subnets(`[${"x".repeat(61)}]`), "Write a mapping."],
    ["a list as a subnet", subnets("[[10.0.0.0/24]]"), "Write a mapping."],
    ["one set under `use`", domain("use: mail\n"), "Write `use: [mail]`."],
    ["one pattern under `files`", 'files: "*.yaml"\n', 'Write `files: ["*.yaml"]`.'],
    ["one domain without a list", "domains: shop.example\n", "Write a list."],
    ["a list as a label", "vpcs: [{ label: [a, b], region: us-east }]\n", "Write text."],
    ["a switch in quotes", 'vpcs: [{ label: a, region: us-east, protect: "true" }]\n', "Write it without quotes."],
  ])("is answered with what was meant: %s", async (_, text, fix) => {
    expect(await fixOf(text, "wrong-type")).toContain(fix);
  });

  test("an entry that is proposed declares no empty zone: its records would go", async () => {
    expect(await fixOf("domains: [shop.example]\n", "wrong-type")).not.toContain("records");
  });
});

describe("a key in the wrong place", () => {
  test.each([
    ["`region` at a domain", domain("region: us-east\n"), "not a key of a domain, but of a VPC and an upload."],
    ["`subnets` at the root", "subnets: []\n", "not a key of a manifest, but of a VPC."],
    ["`account` at a VPC", "vpcs: [{ label: a, region: b, account: me }]\n", "not a key of a vpc, but of"],
    ["what nothing has", domain("registrar: gandi\n"), "`registrar` is not a key of a domain."],
    // Of a constructor's name there is no home.
    ["`constructor`", domain("constructor: x\n"), "`constructor` is not a key of a domain."],
  ])("is said to be at home elsewhere: %s", async (_, text, detail) => {
    const { diagnostics } = await loadText(text);
    expect(diagnostics.map((found) => found.detail)).toEqual([expect.stringContaining(detail)]);
  });

  test("that is a typing error is corrected, and has no home", async () => {
    const { diagnostics } = await loadText(domain("soa_emial: a@b.c\n"));
    expect(diagnostics).toMatchObject([{ detail: "`soa_emial` is not a key of a domain." }]);
  });
});

test("an unknown environment is one error, and what it would have set is not missing", async () => {
  const text = `variables: { env: {}, size: {} }
environments: { staging: { variables: { env: a, size: b } }, production: { variables: { env: c, size: d } } }
vpcs: [{ label: "\${var.env}", region: "\${var.size}" }]
`;
  const unknown = await loadText(text, { environment: "stagging" });
  expect(unknown.diagnostics).toMatchObject([{ code: "unknown-environment", fix: "Did you mean `staging`?" }]);
  expect(unknown).toMatchObject({ project: null, fault: "request", environments: ["staging", "production"] });
  expect(codes(await loadText(text))).toEqual(["missing-variable", "missing-variable"]);
});

describe("a domain that is declared twice", () => {
  const entry = "domains: [{ domain: example.com, type: master, soa_email: a@example.com }]\n";

  test("by two files of a team: the fix names record sets", async () => {
    const files = { "tenon.yaml": `tenon: 1\nfiles: [web.yaml]\n${entry}`, "web.yaml": `tenon: 1\n${entry}` };
    const { diagnostics } = await loadFiles(files);
    expect(diagnostics).toMatchObject([{ code: "duplicate-entry", fix: expect.stringContaining("`record_sets: {") }]);
  });

  test("by one file, or as two VPCs: there is no word of them", async () => {
    const vpc = "vpcs: [{ label: a, region: b }]\n";
    const twice = `${entry}${vpc}`.replace(/\[(.*)\]/g, "[$1, $1]");
    const files = { "tenon.yaml": `tenon: 1\nfiles: [net.yaml]\n${vpc}`, "net.yaml": `tenon: 1\n${vpc}` };
    for (const { diagnostics } of [await loadText(twice), await loadFiles(files)]) {
      expect(new Set(diagnostics.map(({ code }) => code))).toEqual(new Set(["duplicate-entry"]));
      expect(diagnostics.map(({ fix }) => fix).join()).not.toContain("record_sets");
    }
  });
});
