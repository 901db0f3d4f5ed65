import { cpSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import type { SkippedRecord } from "../../src/dns/record.ts";
import type { JsonObject } from "../../src/model/resource.ts";
import { folder } from "../manifest/support.ts";
import { Account, loadFolder } from "../support/account.ts";
import { codesOf, fileOf, importFiles, written } from "../support/imports.ts";

const UNIT_TESTS = join(import.meta.dirname, "../fixtures/octodns/unit.tests.yaml");

/** The domain that comes of one file of octoDNS. */
async function imported(
  text: string,
  zone = "a.test",
): Promise<{ records: JsonObject[]; codes: string[]; skipped: string[] }> {
  const root = folder({ [`${zone}.yaml`]: text });
  const result = await importFiles("octodns", [root], { soaEmail: "a@a.test", skipUnsupported: true });
  const shown = (result.ok ? result : result.imported)?.skipped ?? [];
  const [domain] = result.ok ? (parse(fileOf(result)).domains as { records: JsonObject[] }[]) : [];
  return { records: domain?.records ?? [], codes: codesOf(result), skipped: shown.map(shownAs) };
}

function shownAs({ reason, type, name }: SkippedRecord): string {
  return `${reason} ${type} ${name}`;
}

describe("octoDNS's own test zone", () => {
  it("comes in but for what the service cannot hold, every one of which is told by its line", async () => {
    const result = await importFiles("octodns", [UNIT_TESTS], { skipUnsupported: true });
    if (!result.ok) throw new Error("not imported");
    const lines = result.skipped.map(
      (one) => `${result.sources.position(one.span.file, one.span.start).line} ${shownAs(one)}`,
    );
    expect(lines).toEqual([
      "3 unsupported-type A ",
      "22 unsupported-type SSHFP ",
      "30 apex-ns NS ",
      "77 unsupported-type DNAME dname",
      "98 unsupported-type LOC loc",
      "138 unsupported-type NAPTR naptr",
      "158 unsupported-type SPF spf",
      "184 unsupported-type URLFWD urlfwd",
    ]);
    expect(codesOf(result)).toEqual(["default-ttl", "guessed-email", "rounded-seconds"]);
  });

  it("is an error without --skip-unsupported", async () => {
    const result = await importFiles("octodns", [UNIT_TESTS]);
    expect(result.ok).toBe(false);
    expect(codesOf(result)).toContain("unsupported-records");
  });

  it("applied to an account it plans empty", async () => {
    const account = await Account.open();
    onTestFinished(() => account.close());
    const result = await importFiles("octodns", [dirname(UNIT_TESTS)], { skipUnsupported: true, split: true });
    const { desired } = await loadFolder(await written(result));
    if (desired === null) throw new Error("not loaded");
    const report = await account.apply(await account.plan(desired));
    expect(report.steps.filter(({ outcome }) => outcome !== "done")).toEqual([]);
    expect((await account.plan(desired)).steps).toEqual([]);
  });
});

describe("records of octoDNS", () => {
  it("have the values of each type, in every spelling", async () => {
    const { records, codes } = await imported(`
'': [{ type: MX, ttl: 300, values: [{ exchange: mx1.a.test., preference: 5 }, { value: mx2.a.test., priority: 7 }] }]
caa: { type: CAA, ttl: 300, value: { flags: 0, tag: iodef, value: "mailto:a@a.test" } }
'*.w': { type: A, ttl: 3600, value: 192.0.2.1 }
_sip._tcp: { type: SRV, ttl: 300, value: { priority: 1, weight: 2, port: 3, target: . } }
txt: { type: TXT, ttl: 300, values: ['a\\; b', '"chunk one" "chunk two"', 1.0, "\${x}"] }
bücher: { type: CNAME, ttl: 300, value: www.A.test. }
`);
    expect(codes).toEqual([]);
    expect(records).toEqual([
      { type: "MX", target: "mx1", priority: 5 },
      { type: "MX", target: "mx2", priority: 7 },
      { type: "SRV", name: "_sip._tcp", target: ".", priority: 1, weight: 2, port: 3 },
      { type: "CAA", name: "caa", tag: "iodef", target: "mailto:a@a.test" },
      ...["$${x}", "1.0", "a; b", "chunk onechunk two"].map((target) => ({ type: "TXT", name: "txt", target })),
      { type: "A", name: "*.w", target: "192.0.2.1", ttl_sec: 3600 },
      { type: "CNAME", name: "xn--bcher-kva", target: "www" },
    ]);
  });

  it("may have an absolute name, in any spelling of the zone's", async () => {
    const { records } = await imported(`
Www.A.TEST.: { type: A, ttl: 300, value: 192.0.2.1 }
BÜCHER.a.test.: { type: A, ttl: 300, value: 192.0.2.2 }
`);
    expect(records.map(({ name, target }) => `${name} ${target}`)).toEqual([
      "www 192.0.2.1",
      "xn--bcher-kva 192.0.2.2",
    ]);
    const other = await imported("www.Bücher.test.: { type: A, ttl: 300, value: 192.0.2.1 }\n", "xn--bcher-kva.test");
    expect(other.records.map(({ name, target }) => `${name} ${target}`)).toEqual(["www 192.0.2.1"]);
    const { skipped } = await imported("A.Test.: { type: NS, ttl: 300, values: [ns1.x.test., ns2.x.test.] }\n");
    expect(skipped).toEqual(["apex-ns NS "]);
  });

  it("may share parts by anchors and merge keys", async () => {
    const { records } = await imported(
      "a: &a { type: A, ttl: 300, value: 192.0.2.1 }\nb: { <<: *a, value: 192.0.2.2 }\nc: *a\n",
    );
    expect(records.map(({ name, target }) => `${name} ${target}`)).toEqual([
      "a 192.0.2.1",
      "b 192.0.2.2",
      "c 192.0.2.1",
    ]);
  });

  it("that the service would refuse are set aside, those beside them taken", async () => {
    const { records, skipped } = await imported(`
a: [{ type: CNAME, value: b.a.test. }, { type: A, value: 192.0.2.1 }]
b: { type: A, values: [192.0.2.300, 192.0.2.2] }
c: { type: CAA, value: { flags: 128, tag: issue, value: x.test } }
`);
    expect(skipped.sort()).toEqual(["not-holdable A b", "not-holdable CAA c", "not-holdable CNAME a"]);
    expect(records.map(({ type, name }) => `${type} ${name}`)).toEqual(["A a", "A b"]);
  });

  it("with a number or a tag that the service does not keep are set aside by line, those beside them taken", async () => {
    const { records, skipped } = await imported(`
'':
  - type: MX
    values: [{ exchange: mx1.a.test., preference: 500 }, { exchange: mx2.a.test., preference: 255 }]
_sip._tcp:
  type: SRV
  values:
    - { priority: 256, weight: 1, port: 1, target: a.a.test. }
    - { priority: 1, weight: 65536, port: 1, target: b.a.test. }
    - { priority: 1, weight: 1, port: 99999999999999999999, target: c.a.test. }
    - { priority: 255, weight: 65535, port: 65535, target: d.a.test. }
caa: { type: CAA, values: [{ tag: contactemail, value: a@a.test }, { tag: issue, value: x.test }] }
`);
    expect(skipped.sort()).toEqual([
      "not-holdable CAA caa",
      "not-holdable MX ",
      "not-holdable SRV _sip._tcp",
      "not-holdable SRV _sip._tcp",
      "not-holdable SRV _sip._tcp",
    ]);
    expect(records.map(({ type, target }) => `${type} ${target}`)).toEqual(["MX mx2", "SRV d", "CAA x.test"]);
  });

  it("have the names that octoDNS makes of keys which are no text in YAML 1.1", async () => {
    const value = "{ type: A, value: 192.0.2.1 }";
    const names = {
      ...{ null: "none", "~": "none", Yes: "true", off: "false", "'null'": "null", '"no"': "no" },
      ...{ "010": "8", "0x1F": "31", "0b101": "5", "1_000": "1000", "12": "12", "+5": "5", "0": "0", "08": "08" },
      // In a reverse zone this is another name than the one that is written.
      ...{ "1.10": "1.1", "1.0": "1.0", "20.": "20.0", "1.2.3": "1.2.3", "'1.10'": "1.10", "? 1:30\n": "90" },
    };
    for (const [key, name] of Object.entries(names)) {
      const { records } = await imported(`${key}: ${value}\n`);
      expect([key, records.map((record) => record["name"])]).toEqual([key, [name]]);
    }
  });

  it("have the numbers that YAML 1.1 makes of plain ones, and Python of text", async () => {
    const numbers = { "010": 8, "'010'": 10, "0x10": 16, "1_0": 10, "1:30": 90, "10.0": 10, '" 7 "': 7 };
    for (const [written, number] of Object.entries(numbers)) {
      const { records } = await imported(`m: { type: MX, value: { preference: ${written}, exchange: mx. } }\n`);
      expect([written, records.map(({ priority }) => priority)]).toEqual([written, [number]]);
    }
    const { records } = await imported("a: { type: A, ttl: 1:00:00, value: 192.0.2.1 }\n");
    expect(records.map(({ ttl_sec }) => ttl_sec)).toEqual([3600]);
  });

  it("have texts joined, and without the quotes that they begin with, as octoDNS has them", async () => {
    const { records } = await imported(`a: { type: TXT, values: ['"x" "y"', 'x" "z', '"wx'] }\n`);
    expect(records.map(({ target }) => target)).toEqual(["w", "xy", "xz"]);
  });

  it.each([
    ["no type", "a: { value: 192.0.2.1 }"],
    ["no value", "a: { type: A }"],
    ["a ttl that is no number", "a: { type: A, ttl: soon, value: 192.0.2.1 }"],
    ["an MX without its host", "a: { type: MX, value: { preference: 1 } }"],
    ["an MX without a number", "a: { type: MX, value: { exchange: mx. } }"],
    ["a CAA without its tag", "a: { type: CAA, value: { value: ca.test } }"],
    ["an MX whose number is none", "a: { type: MX, value: { preference: 'x', exchange: mx. } }"],
    ["a name twice", "a: { type: A, value: 192.0.2.1 }\na: { type: A, value: 192.0.2.1 }"],
    ["a key that is too long", `{ ? "${"k".repeat(16_384)}" : { type: A, value: 192.0.2.1 } }`],
    ["an unknown tag", "a: !include b.yaml"],
    ["no mapping", "- a"],
    ["no YAML", "a: [\n"],
    ["an alias of itself", "a: &a [*a]"],
    ["nesting without end", "a: ".concat("[".repeat(100_000))],
    [
      "aliases that multiply",
      `a: &a [x,x,x,x,x,x,x,x,x,x]\n${"bcdefgh".replace(/./g, (key) => `${key}: &${key} [${`*${String.fromCharCode(key.charCodeAt(0) - 1)},`.repeat(10)}]\n`)}`,
    ],
  ])("with %s are errors", async (_, text) => {
    const { codes } = await imported(text);
    expect(codes).toContain("bad-octodns");
  });
});

describe("a folder of octoDNS", () => {
  it("has a file for each zone, or a folder with a file for each name", async () => {
    const root = folder({
      "one.test.yaml": "a: { type: A, value: 192.0.2.1 }\n",
      "two.test./a.yaml": "a: { type: A, value: 192.0.2.1 }\n",
      "two.test./$two.test.yaml": "b: { type: A, value: 192.0.2.2 }\n",
      "README.md": "no zone",
    });
    cpSync(UNIT_TESTS, join(root, "unit.tests.yaml"));
    const result = await importFiles("octodns", [root], { soaEmail: "a@a.test", skipUnsupported: true });
    const domains = parse(fileOf(result)).domains as { domain: string; records: unknown[] }[];
    expect(domains.map(({ domain, records }) => [domain, records.length])).toEqual([
      ["one.test", 1],
      ["two.test", 2],
      ["unit.tests", 23],
    ]);
  });

  it.each([
    ["that is not there", {}, "nowhere", "unreadable-file"],
    ["without a zone", { "a.txt": "x" }, ".", "no-zones"],
    ["with a file that is named after no zone", { "a b.test.yaml": "{}" }, ".", "unknown-zone"],
    ["with a file that is not UTF-8", { "a.test.yaml": Buffer.from("a: \xff", "latin1") }, ".", "not-utf8"],
  ])("%s is an error", async (_, files, path, code) => {
    expect(codesOf(await importFiles("octodns", [join(folder(files), path)]))).toContain(code);
  });
});
