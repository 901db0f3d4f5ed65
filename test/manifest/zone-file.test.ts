import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { codes, declaredZone, type Files, folder, load, loadFiles, places, records } from "./support.ts";

const SOA = "@ IN SOA ns1.old.example. host.old.example. 1 7200 3600 1209600 3600\n";

function manifest(lines: string, root = ""): string {
  const head = `tenon: 1\n${root}defaults:\n  domain: { type: master, soa_email: h@example.com }\n  record: { ttl_sec: 300 }\n`;
  return `${head}domains:\n  - domain: example.com\n    zone_file: zones/a.zone\n${lines.replace(/^(?=.)/gm, "    ")}`;
}

function project(zone: string, lines = "", files: Files = {}): Files {
  return { "tenon.yaml": manifest(lines), "zones/a.zone": zone, ...files };
}

describe("a zone file", () => {
  test("gives the domain its records, with their own TTLs, and nothing else is deleted by mistake", async () => {
    const zone =
      '$TTL 3600\n@ MX 10 mx\nmx A 192.0.2.1\n*.dev 5M IN CNAME mx\n_sip._tcp SRV 1 2 5060 mx\n@ TXT "a;b" "c\\"d"\n@ CAA 0 issue "ca.example"\nnone MX 0 .\n';
    const result = await loadFiles(project(zone));
    expect(result.diagnostics).toEqual([]);
    expect(records(result)).toEqual([
      { type: "MX", name: "", target: "mx.example.com", ttl_sec: 3600, priority: 10 },
      { type: "A", name: "mx", target: "192.0.2.1", ttl_sec: 3600 },
      { type: "CNAME", name: "*.dev", target: "mx.example.com", ttl_sec: 300 },
      { type: "SRV", name: "_sip._tcp", target: "mx.example.com", ttl_sec: 3600, priority: 1, weight: 2, port: 5060 },
      { type: "TXT", name: "", target: 'a;bc"d', ttl_sec: 3600 },
      { type: "CAA", name: "", target: "ca.example", ttl_sec: 3600, tag: "issue" },
      { type: "MX", name: "none", target: "", ttl_sec: 3600, priority: 0 },
    ]);
    expect(declaredZone(result).spec.records?.[1]?.span).toEqual({ file: "zones/a.zone", start: 21, end: 35 });
  });

  test("is the only source of records that are taken as they were read", async () => {
    const forged = "records: [{ type: A, name: www, target: nonsense, span: { file: a, start: 0, end: 1 } }]\n";
    const result = await loadFiles(project("$TTL 300\nwww A 192.0.2.1\n", `${forged}use: []\n`));
    expect(codes(result)).toEqual(["unknown-key"]);
  });

  test("is replaced, name and type, by what the manifest says with `override`", async () => {
    const zone = "$TTL 300\nwww A 192.0.2.1\nwww A 192.0.2.2\nwww TXT x\n@ MX 1 a.example.\nold A 192.0.2.9\n";
    const own = "use: [mail]\nrecords: [{ type: A, name: WWW, target: 192.0.2.7, override: true }, { ptr: {} }]\n";
    const result = await loadFiles({
      ...project(zone),
      "tenon.yaml": manifest(own, "record_sets: { mail: [{ type: MX, target: mx.example.net., override: true }] }\n"),
    });
    expect(result.diagnostics).toEqual([]);
    expect(records(result).map(({ name, type, target }) => `${name} ${type} ${target}`)).toEqual([
      "www TXT x",
      "old A 192.0.2.9",
      " MX mx.example.net",
      "www A 192.0.2.7",
    ]);
  });

  test("tells its SOA and apex NS by line, unless that is turned off or the name servers are declared", async () => {
    const zone = `$TTL 300\n${SOA}@ NS ns1.old.example.\n@ NS ns2.old.example.\nsub NS ns.sub\nns.sub A 192.0.2.1\n`;
    const told = await loadFiles(project(zone));
    expect(places(told)).toEqual([
      "zone-file-soa zones/a.zone:2:1",
      "zone-file-apex-ns zones/a.zone:3:1",
      "zone-file-apex-ns zones/a.zone:4:1",
    ]);
    expect(records(told).map(({ type, name }) => `${type} ${name}`)).toEqual(["NS sub", "A ns.sub"]);
    expect(
      codes(await loadFiles(project(zone, 'records: [{ type: NS, name: "@", target: ns.new.example. }]\n'))),
    ).toEqual(["zone-file-soa"]);
    expect(codes(await loadFiles(project(zone, "lint: { off: [zone-file-soa, zone-file-apex-ns] }\n")))).toEqual([]);
    const off = manifest("", "lint: { off: [zone-file-apex-ns] }\n");
    const projectWide = await loadFiles({ "tenon.yaml": off, "zones/a.zone": zone });
    expect(codes(projectWide)).toEqual(["zone-file-soa"]);
    expect(projectWide.project?.desired.lintOff).toEqual(["zone-file-apex-ns"]);
  });

  test("warns of what signing has added, and lets the zone be", async () => {
    const zone =
      "$TTL 300\n@ DNSKEY 256 3 13 AA==\nwww A 192.0.2.1\n  RRSIG A 13 2 300 1 1 1 a. AA==\nsub DS 1 13 2 AA\n";
    expect(places(await loadFiles(project(zone)))).toEqual([
      "zone-file-signing zones/a.zone:2:1",
      expect.stringMatching(/^zone-file-signing zones\/a\.zone:4:/),
      "zone-file-unsupported zones/a.zone:5:1",
    ]);
    const off = await loadFiles(project(zone, "lint: { off: [zone-file-signing] }\n"), { skipUnsupported: true });
    expect(codes(off)).toEqual(["zone-file-unsupported"]);
    expect(records(off)).toHaveLength(1);
  });

  test("has errors for what cannot be kept, or with skipUnsupported warnings that cannot be turned off", async () => {
    const zone = "$TTL 300\nhost SSHFP 1 1 abcd\nca CAA 128 issue ca.example\nwww A 192.0.2.1\n";
    const strict = await loadFiles(project(zone));
    expect(places(strict)).toEqual([
      "zone-file-unsupported zones/a.zone:2:1",
      "zone-file-unsupported zones/a.zone:3:1",
    ]);
    expect(strict.project).toBeNull();
    const off = project(zone, "lint: { off: [zone-file-unsupported] }\n");
    const skipped = await loadFiles(off, { skipUnsupported: true });
    expect(codes(skipped)).toEqual(["zone-file-unsupported", "zone-file-unsupported"]);
    expect(records(skipped)).toHaveLength(1);
  });

  test("is checked like records of a manifest, where they stand in the file", async () => {
    const zone =
      "$TTL 300\nwww A 192.0.2.1\nwww CNAME a.example.\nwww.example.com A 192.0.2.1\nwww A 192.0.2.1\n_acme-challenge TXT x\n";
    const result = await loadFiles(project(zone, "ignore: [{ preset: acme }]\n"));
    expect(places(result)).toEqual([
      "cname-conflict zones/a.zone:3:1",
      "zone-file-unsupported zones/a.zone:4:1",
      "duplicate-record zones/a.zone:5:1",
      "declared-and-ignored zones/a.zone:6:1",
    ]);
  });

  test("tells a TTL of 0 as 0, once, and beside one of 1, as an import does", async () => {
    const zone = "a 0 A 192.0.2.1\nb 1 A 192.0.2.1\nc 0 A 192.0.2.2\n";
    const result = await loadFiles(project(zone));
    expect(result.diagnostics.map(({ code, summary }) => [code, summary])).toEqual([
      ["rounded-seconds", "the TTL 0 is rounded to 300"],
      ["rounded-seconds", "`ttl_sec` is rounded to 300"],
    ]);
    expect(records(result).map(({ ttl_sec }) => ttl_sec)).toEqual([300, 300, 300]);
  });

  test("says once that a TTL is rounded, and how often", async () => {
    const result = await loadFiles(
      project("$TTL 3000\na A 192.0.2.1\nb A 192.0.2.1\nc 600 A 192.0.2.1\nd A 192.0.2.1\n"),
    );
    expect(places(result)).toEqual(["rounded-seconds zones/a.zone:2:1", "rounded-seconds zones/a.zone:4:1"]);
    expect(result.diagnostics[0]?.detail).toContain("2 more places");
  });

  test("may be shared by domains, each its own origin, and be named by default", async () => {
    const shared = `tenon: 1\ndefaults: { domain: { type: master, soa_email: h@example.com, zone_file: "z/\${zone}.zone" } }\ndomains:\n  - domain: [a.example, b.example]\n    zone_file: z/both.zone\n  - domain: c.example\n  - { domain: d.example, zone_file: null }\n  - { domain: e.example, zone_file: null, type: slave, master_ips: [192.0.2.1] }\n`;
    const result = await loadFiles({
      "tenon.yaml": shared,
      "z/both.zone": "$TTL 300\nwww CNAME @\n",
      "z/c.example.zone": "$TTL 300\nc A 192.0.2.1\n",
    });
    expect(result.diagnostics).toEqual([]);
    expect(records(result, 0)[0]?.target).toBe("a.example");
    expect(records(result, 1)[0]?.target).toBe("b.example");
    expect(records(result, 2)[0]?.name).toBe("c");
    expect(declaredZone(result, 3).spec.records).toBeNull();
  });

  test("has no place at a slave", async () => {
    const lines = "type: slave\nmaster_ips: [192.0.2.1]\n";
    expect(places(await loadFiles(project("$TTL 300\na A 192.0.2.1\n", lines)))).toEqual([
      "records-on-slave tenon.yaml:7:16",
    ]);
  });
});

describe("a zone file cannot be", () => {
  test("missing, a folder, absolute, above the project, or a link that leads out", async () => {
    const outside = folder({ "secret.zone": "a A 192.0.2.1\n" });
    const root = folder({ "zones/b/c": "x" });
    symlinkSync(join(outside, "secret.zone"), join(root, "zones/link.zone"));
    symlinkSync(outside, join(root, "zones/folder"));
    const found: string[] = [];
    for (const path of [
      "zones/none",
      "zones/b",
      join(outside, "secret.zone"),
      "../secret.zone",
      "zones/link.zone",
      "zones/folder/secret.zone",
      "zones/../../x",
    ]) {
      writeFileSync(join(root, "tenon.yaml"), manifest("").replace("zones/a.zone", path));
      const result = await load(root);
      found.push(...places(result));
      expect(result.sources.files()).toEqual(["tenon.yaml"]);
    }
    expect(found).toEqual([
      "file-not-found tenon.yaml:7:16",
      "unreadable-file tenon.yaml:7:16",
      ...Array.from({ length: 5 }, () => "outside-project tenon.yaml:7:16"),
    ]);
  });

  test("other than UTF-8, or larger than a manifest", async () => {
    const latin = Buffer.from("$TTL 300\na TXT caf\u00e9\n", "latin1");
    expect(places(await loadFiles({ ...project(""), "zones/a.zone": latin }))).toEqual(["not-utf8 zones/a.zone:2:10"]);
    const large = await loadFiles(project(`; ${"x".repeat(8 * 1024 * 1024)}\n`));
    expect(places(large)).toEqual(["file-too-large tenon.yaml:7:16"]);
  });

  test("a way out through $INCLUDE, which is relative to the file that has it", async () => {
    const outside = folder({ secret: "a A 192.0.2.1\n" });
    const root = folder(
      project("$TTL 300\n$INCLUDE parts/one\n$INCLUDE ../../x\n$INCLUDE /etc/hostname\n$INCLUDE link\n", "", {
        "zones/parts/one": "one A 192.0.2.1\n$INCLUDE ../../shared/two\n$INCLUDE bad\n",
        "zones/parts/bad": Buffer.from("b TXT \xe9\n", "latin1"),
        "shared/two": "two A 192.0.2.2\ntwo A 192.0.2.2\n",
      }),
    );
    symlinkSync(join(outside, "secret"), join(root, "zones/link"));
    const result = await load(root);
    expect(places(result).sort()).toEqual([
      "duplicate-record shared/two:2:1",
      "include-failed zones/a.zone:3:10",
      "include-failed zones/a.zone:4:10",
      "include-failed zones/a.zone:5:10",
      "include-failed zones/parts/one:3:10",
    ]);
    const bad = result.diagnostics.find(({ span }) => span?.file === "zones/parts/one");
    expect(bad?.detail).toContain("zones/parts/bad, line 1, column 7");
  });

  test("part of a circle of includes", async () => {
    const result = await loadFiles(
      project("$INCLUDE b\n", "", { "zones/b": "$TTL 300\nb A 192.0.2.1\n$INCLUDE a.zone\n" }),
    );
    expect(places(result)).toEqual(["include-loop zones/b:3:10"]);
  });
});

describe("a large zone file", () => {
  const line = (index: number): string => `h${index} A 192.0.${index >> 8}.${index & 255}`;

  test("of 12,001 records is refused, one of 12,000 is not", async () => {
    const lines = ["$TTL 300", ...Array.from({ length: 12_000 }, (_, index) => line(index))];
    expect(codes(await loadFiles(project(lines.join("\n"))))).toEqual([]);
    expect(places(await loadFiles(project([...lines, "one A 192.0.2.1"].join("\n"))))).toEqual([
      "too-many-records zones/a.zone:12002:1",
    ]);
    const generated = "$TTL 300\n$GENERATE 0-60000 a$ A 192.0.2.1\n$GENERATE 0-60000 b$ A 192.0.2.1\n";
    expect(places(await loadFiles(project(generated)))).toEqual(["too-many-records zones/a.zone:2:1"]);
  });

  test("has its errors in line 8,000 there", async () => {
    const lines = Array.from({ length: 9000 }, (_, index) => line(index));
    lines[0] = "$TTL 300";
    lines[7999] = 'broken TXT "never closed';
    lines[8499] = "broken A 192.0.2.256";
    const found = places(await loadFiles(project(lines.join("\n"))));
    expect(found).toHaveLength(2);
    expect(found[0]).toMatch(/zones\/a\.zone:8000:\d+$/);
    expect(found[1]).toMatch(/zones\/a\.zone:8500:\d+$/);
  });

  test("of the real world loads once what the service cannot keep is skipped", async () => {
    const zone = readFileSync(new URL("../fixtures/zones/example.org.zone", import.meta.url), "utf8");
    const files = { "tenon.yaml": manifest("").replaceAll("example.com", "example.org"), "zones/a.zone": zone };
    const strict = await loadFiles(files);
    expect(strict.diagnostics.filter(({ code }) => code === "zone-file-unsupported")).toHaveLength(86);
    const skipped = await loadFiles(files, { skipUnsupported: true });
    expect(skipped.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(codes(skipped).filter((code) => code === "zone-file-apex-ns")).toHaveLength(4);
    expect(codes(skipped).filter((code) => code === "zone-file-soa")).toHaveLength(1);
    const expected = JSON.parse(
      readFileSync(new URL("../fixtures/zones/example.org.records.json", import.meta.url), "utf8"),
    );
    expect(expected.length - records(skipped).length).toBe(4);
  });
});
