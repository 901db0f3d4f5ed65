/** What the writers of formats do with texts, names and many objects; whether other tools agree is in test/system. */

import { describe, expect, it } from "vitest";
import type { DnsRecord } from "../../src/dns/record.ts";
import type { Exported, ExportedDomain, ExportedRecord } from "../../src/export/exported.ts";
import { compareNaturally, writeOctodns } from "../../src/export/octodns.ts";
import { quote, writeTerraform } from "../../src/export/terraform.ts";
import { writeZones } from "../../src/export/zones.ts";
import { growth } from "../support/operations.ts";

function recordOf(record: DnsRecord, id: number | null = null): ExportedRecord {
  return { address: `domain/a.example/${record.name}/${record.type}`, id, note: null, record, fields: { ...record } };
}

function domainOf(zone: string, records: readonly DnsRecord[]): ExportedDomain {
  return {
    ...{ address: `domain/${zone}`, id: null, protect: false, note: null, zone, domain: zone, isPart: false },
    ...{ fields: { type: "master" }, records: records.map((record) => recordOf(record)), others: [], rendered: [] },
  };
}

function exportedOf(domains: readonly ExportedDomain[]): Exported {
  return { vpcs: [], domains, images: [], extras: [] };
}

const text = (name: string, target: string): DnsRecord => ({ type: "TXT", name, target, ttl_sec: 300 });

describe("HCL", () => {
  it.each([
    ["plain", '"plain"'],
    ['a "b" \\ c', '"a \\"b\\" \\\\ c"'],
    ["${a} %{b} $${c} $", '"$\\u007ba} %\\u007bb} $$\\u007bc} $"'],
    ["a\nb\tc\r", '"a\\nb\\tc\\r"'],
    ["\u0000\u001b\u0085\u202e\u2028", '"\\u0000\\u001b\\u0085\\u202e\\u2028"'],
    ["é 🦦", '"é 🦦"'],
    ["\u{e0001}", '"\\U000e0001"'],
  ])("%j is %s", (value, written) => {
    expect(quote(value)).toBe(written);
  });

  it("names resources alone by letters, digits and underscores, each once, however their objects are called", () => {
    const labels = [
      "a.b",
      "a-b",
      "a_b",
      "A_B",
      "1",
      "..",
      "a_b_2",
      "../x",
      "é",
      "\u0000",
      "x".repeat(300),
      `${"x".repeat(300)}y`,
    ];
    const vpcs = labels.map((label) => ({
      ...{ address: `vpc/${label}`, id: null, protect: false, note: null, label, region: "us-east" },
      ...{ description: "", subnets: [] },
    }));
    const [file] = writeTerraform({ ...exportedOf([]), vpcs }, { projectPath: "" }).files;
    const names = [...(file?.text ?? "").matchAll(/^resource "linode_vpc" "(.*)" \{$/gm)].map(([, name = ""]) => name);
    expect(names).toHaveLength(labels.length);
    expect(new Set(names).size).toBe(labels.length);
    for (const name of names) expect(name).toMatch(/^[a-z_][a-z0-9_]{0,110}$/);
  });

  it("lets no note end its comment", () => {
    const note = "a\nresource {}\r\nb\u2028c\u0000d";
    const vpc = {
      address: "vpc/a",
      id: null,
      protect: false,
      note,
      label: "a",
      region: "r",
      description: "",
      subnets: [],
    };
    const [file] = writeTerraform({ ...exportedOf([]), vpcs: [vpc] }, { projectPath: "" }).files;
    expect(file?.text).toContain('# a\n# resource {}\n# b\n# c d\nresource "linode_vpc" "a" {');
  });

  it("of a part of a zone has its records, and leaves the domain to whose it is", () => {
    const part = { ...domainOf("a.example", [text("x", "y")]), id: 12, isPart: true };
    const written = writeTerraform(exportedOf([part]), { projectPath: "" });
    expect(written.files[0]?.text).toMatch(/"linode_domain_record" "a_example_x_txt" \{\n {2}domain_id {3}= 12\n/);
    expect(written.files[0]?.text).not.toContain('"linode_domain" ');
    const unknown = writeTerraform(exportedOf([{ ...part, id: null }]), { projectPath: "" });
    expect(unknown.leftOut).toEqual([expect.objectContaining({ what: "domain" })]);
  });
});

describe("octoDNS", () => {
  it("orders names by the numbers in them, as natsort does", () => {
    const names = ["a10", "a9", "*", "", "10", "9", "a9b", "a09", "b", "_x", "a"];
    expect(names.toSorted(compareNaturally)).toEqual(["", "9", "10", "*", "_x", "a", "a9", "a09", "a9b", "a10", "b"]);
    expect(compareNaturally(`a${"9".repeat(30)}`, `a1${"0".repeat(30)}`)).toBeLessThan(0);
  });

  it.each([
    ["a; b", "'a\\; b'"],
    ["a\\; b", "'a\\\\; b'"],
    ['"a"', `'""a""'`],
    ['a" "b', `'a"" " "b'`],
    ['" " "', `'""" " "" " ""'`],
    ["it's", "'it''s'"],
    ["yes", "'yes'"],
    ["1e3", "'1e3'"],
    ["v_1.0-x", "v_1.0-x"],
    ["é\u0007\u0085\u2028", '"é\\u0007\\u0085\\u2028"'],
  ])("writes the text %j as %s", (target, written) => {
    const [file] = writeOctodns(exportedOf([domainOf("a.example", [text("t", target)])])).files;
    expect(file?.text).toContain(`\n  value: ${written}\n`);
  });

  it.each([
    [text("t", "é"), true],
    [text("t", "\\;"), true],
    [text("t", "a; b"), false],
    [{ type: "CNAME", name: "w", target: "localhost", ttl_sec: 0 }, true],
    [{ type: "CNAME", name: "w", target: "www.a.example", ttl_sec: 0 }, false],
    [{ type: "MX", name: "", target: "", priority: 0, ttl_sec: 0 }, false],
    [{ type: "SRV", name: "x", target: "", priority: 0, weight: 0, port: 0, ttl_sec: 0 }, true],
  ] as const)("of %j asks for leniency: %j", (record, isLenient) => {
    const [file] = writeOctodns(exportedOf([domainOf("a.example", [record])])).files;
    expect(file?.text.includes("lenient: true")).toBe(isLenient);
  });

  it("tells what a record set cannot hold: two TTLs, an empty text", () => {
    const records = [text("t", "a"), { ...text("t", "b"), ttl_sec: 60 }, text("e", "")];
    const { files, leftOut } = writeOctodns(exportedOf([domainOf("a.example", records)]));
    expect(files[0]?.text).toBe("---\nt:\n  ttl: 60\n  type: TXT\n  values:\n  - a\n  - b\n");
    expect(leftOut.map(({ what }) => what)).toEqual(["e TXT", "t TXT"]);
  });

  it("says what its file is called where not every system can have the zone's name", () => {
    const { files, leftOut } = writeOctodns(exportedOf([domainOf("con.example", []), domainOf("../x", [])]));
    expect(files.map(({ file }) => file)).toEqual([
      "zone-con.example.yaml",
      expect.stringMatching(/^__+x-[0-9a-f]{12}\.yaml$/),
    ]);
    expect(leftOut.map(({ what }) => what)).toEqual(["file name", "file name"]);
  });
});

describe("hostile names", () => {
  it("of zones stay in their folder, and apart from each other", () => {
    const zones = ["../x", "a/b", "a_b", "a\\b", "..", "aux", "a\u0000b", "a".repeat(300)];
    const options = { nameservers: ["ns1.example.net"], serial: 1, nowMilliseconds: 0 };
    const { files } = writeZones(exportedOf(zones.map((zone) => domainOf(zone, []))), options);
    for (const { file } of files) expect(file).toMatch(/^[a-z0-9_-][a-z0-9._-]{0,250}\.zone$/);
    expect(new Set(files.map(({ file }) => file)).size).toBe(zones.length);
  });
});

describe("many objects", () => {
  it.each(["terraform", "octodns"] as const)("take as much work each as few, as %s", async (format) => {
    const records = (count: number) =>
      Array.from({ length: count }, (_, index) => text(index % 2 === 0 ? "same" : `n${index}`, `t${index}`));
    const more = await growth(300, 4, (count) => {
      const exported = exportedOf([domainOf("a.example", records(count))]);
      const { files } = format === "terraform" ? writeTerraform(exported, { projectPath: "" }) : writeOctodns(exported);
      expect(files[0]?.text.match(/\bt\d+$|"t\d+"$/gm)).toHaveLength(count);
    });
    expect(more).toBeLessThan(6);
  });
});
