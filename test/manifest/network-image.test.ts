import { symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { codes, folder, load, loadFiles, loadText, places } from "./support.ts";

function vpc(lines: string): string {
  return `vpcs:\n  - label: prod\n    region: us-east\n${lines}`;
}

describe("networks", () => {
  test.each([
    ["10.0.0.0", "bad-range"],
    ["10.0.0.1/24", "bad-range"],
    ["10.0.0.0/30", "bad-range"],
    ["10.0.0.0/0", "bad-range"],
    ["10.0.0.0/7", "bad-range"],
    ["172.32.0.0/16", "bad-range"],
    ["192.0.2.0/24", "bad-range"],
    ["10.0.0.0/024", "bad-range"],
    ["010.0.0.0/24", "bad-range"],
    ["10.0/16", "bad-range"],
    ['"fd00::/64"', "bad-range"],
  ])("the range %s is refused", async (range, code) => {
    expect(codes(await loadText(vpc(`    subnets: [{ label: a, ipv4: ${range} }]\n`)))).toEqual([code]);
  });

  test.each(["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "10.255.255.248/29"])(
    "the range %s is taken",
    async (range) => {
      const result = await loadText(vpc(`    subnets: [{ label: a, ipv4: ${range}, note: n }]\n`));
      expect(result.diagnostics).toEqual([]);
      expect(result.project?.desired.declared[0]?.spec).toMatchObject({
        subnets: [{ label: "a", ipv4: range, note: "n" }],
      });
    },
  );

  test("host bits are answered with the canonical form", async () => {
    const result = await loadText(vpc("    subnets: [{ label: a, ipv4: 172.16.5.77/20 }]\n"));
    expect(result.diagnostics[0]?.fix).toBe("Write 172.16.0.0/20.");
  });

  test("overlaps and equal labels of subnets are reported with both positions", async () => {
    const result = await loadText(
      vpc(
        "    subnets:\n      - { label: a, ipv4: 10.0.0.0/16 }\n      - { label: a, ipv4: 10.1.0.0/16 }\n      - { label: c, ipv4: 10.0.7.0/24 }\n      - { label: d, ipv4: 10.0.7.0/24 }\n",
      ),
    );
    expect(places(result)).toEqual([
      "duplicate-subnet tenon.yaml:7:18",
      "overlapping-subnets tenon.yaml:8:27",
      "overlapping-subnets tenon.yaml:9:27",
    ]);
    expect(result.diagnostics.every(({ related }) => related?.length === 1)).toBe(true);
  });

  test("an overlap names the next range of its size that is free, and none where there is none", async () => {
    const fixes = async (...ranges: string[]) => {
      const subnets = ranges.map((ipv4, index) => `      - { label: s${index}, ipv4: ${ipv4} }\n`);
      const { diagnostics } = await loadText(vpc(`    subnets:\n${subnets.join("")}`));
      return diagnostics.map(({ fix }) => fix);
    };
    const free = (range: string) => `The next range of this size that is free in the VPC is ${range}.`;
    expect(await fixes("10.0.0.0/24", "10.0.1.0/24", "10.0.0.128/25")).toEqual([free("10.0.2.0/25")]);
    // Nothing is free above it: the first one beneath.
    expect(await fixes("192.168.255.0/24", "192.168.0.0/24", "192.168.255.0/24")).toEqual([free("192.168.1.0/24")]);
    expect(await fixes("10.0.0.0/8", "10.0.0.0/16")).toEqual(["Choose another range for one of the two."]);
  });

  test("of thousands of overlaps the first are answered with a range, each of which takes a look at all", async () => {
    const subnets = Array.from({ length: 2_000 }, (_, index) => `      - { label: s${index}, ipv4: 10.0.0.0/24 }\n`);
    const { diagnostics } = await loadText(vpc(`    subnets:\n${subnets.join("")}`));
    const named = diagnostics.filter(({ fix }) => fix?.includes("10.0.1.0/24"));
    expect([diagnostics.length, named.length]).toEqual([1_999, 20]);
  });

  test.each(["a b", "a--b", "ä", "a_b"])("the label %s is refused", async (label) => {
    expect(
      codes(
        await loadText(
          `vpcs: [{ label: "${label}", region: r, subnets: [{ label: "${label}", ipv4: 10.0.0.0/24 }] }]\n`,
        ),
      ),
    ).toEqual(["bad-label", "bad-label"]);
  });

  test("the owner's tag counts towards the description, and text cannot forge one", async () => {
    const full = vpc(`    description: ${"d".repeat(242)}\n`);
    expect(codes(await loadText(`owner: edge\n${full}`))).toEqual([]);
    expect(codes(await loadText(`owner: edgy1\n${full}`))).toEqual(["too-long"]);
    expect(codes(await loadText(vpc(`    description: ${"d".repeat(255)}\n`)))).toEqual([]);
    expect(codes(await loadText(vpc("    description: x [Tenon:other]\n")))).toEqual(["reserved-tag"]);
  });

  test("a schema error beside semantic ones does not hide them", async () => {
    const result = await loadText(
      "vpcs:\n  - label: a b\n    regoin: us-east\n    subnets: [{ label: x, ipv4: bad }, { label: y }]\n",
    );
    expect(codes(result).sort()).toEqual(["bad-label", "bad-range", "missing-key", "unknown-key"]);
  });
});

describe("images", () => {
  const gzip = gzipSync("disk");
  const upload =
    "images: [{ label: golden, upload: { file: ./images/a.img.gz, region: us-east, cloud_init: true } }]\n";

  test("an upload names a gzip file of the project", async () => {
    const root = folder({ "tenon.yaml": `tenon: 1\n${upload}`, "images/a.img.gz": gzip });
    expect((await load(root)).project?.desired.declared[0]).toMatchObject({
      key: "golden",
      address: "image/golden",
      spec: { source: { type: "upload", file: "images/a.img.gz", region: "us-east", cloud_init: true } },
    });
  });

  test("a file that is missing, no gzip, too large or outside is refused at its place", async () => {
    const outside = folder({ "a.gz": gzip });
    const entry = (label: string, file: string): string =>
      `  - { label: ${label}, upload: { region: r, file: ${file} } }\n`;
    const root = folder({
      "tenon.yaml": `tenon: 1\nimages:\n${entry("a", "none.gz")}${entry("b", "plain.gz")}${entry("c", "big.gz")}${entry("d", "link.gz")}${entry("e", "../a.gz")}${entry("f", join(outside, "a.gz"))}${entry("g", "images")}`,
      "plain.gz": "plain",
      "big.gz": gzip,
      "images/a.gz": gzip,
    });
    truncateSync(join(root, "big.gz"), 6 * 1024 ** 3);
    symlinkSync(join(outside, "a.gz"), join(root, "link.gz"));
    const result = await load(root);
    expect(codes(result)).toEqual([
      "file-not-found",
      "not-gzip",
      "file-too-large",
      "outside-project",
      "outside-project",
      "outside-project",
      "unreadable-file",
    ]);
    expect(places(result)[0]).toBe("file-not-found tenon.yaml:3:44");
  });

  test("an image is made in one way at most", async () => {
    expect(
      codes(await loadText("images: [{ label: a, capture: { disk_id: 1 }, upload: { file: a, region: r } }]\n")),
    ).toEqual(["conflicting-keys"]);
    expect(codes(await loadText("images: [{ label: a }]\n"))).toEqual([]);
    const result = await loadText('images: [{ label: "a, b? c_d\'s", id: private/1, capture: { disk_id: 123 } }]\n');
    expect(result.diagnostics).toEqual([]);
    expect(result.project?.desired.declared[0]).toMatchObject({
      id: "private/1",
      spec: { source: { type: "capture", disk_id: 123, cloud_init: false } },
    });
  });

  test.each(["a/b", "ü", "a".repeat(51)])("the label %s is refused", async (label) => {
    expect(codes(await loadText(`images: [{ label: ${label}, capture: { disk_id: 1 } }]\n`))).toHaveLength(1);
  });
});

describe("image families", () => {
  test.each([
    ["family: golden, keep: 0", "out-of-range"],
    ["family: golden, keep: 1001", "out-of-range"],
    ["family: golden, keep: three", "wrong-type"],
    ["family: golden", "missing-key"],
    ["keep: 3", "missing-key"],
    ["family: gold, keep: 3", "bad-family"],
    ["family: golden-2026-11, keep: 3", "bad-family"],
    ["family: '', keep: 3", "too-short"],
    ["family: gold/en, keep: 3", "bad-format"],
  ])("%s is refused at its place", async (keys, code) => {
    const result = await loadText(`owner: me\nimages:\n  - { label: golden-2026-11, ${keys} }\n`);
    expect(places(result)).toEqual([expect.stringMatching(`^${code} tenon.yaml:4:`)]);
  });

  test("a family without an owner is an error: nothing without our tag is ever retired", async () => {
    const result = await loadText("images: [{ label: golden-1, family: golden, keep: 3 }]\n");
    expect(places(result)).toEqual(["bad-family tenon.yaml:2:37"]);
  });

  test("two families overlap whichever stands first, in two files, too; names that only begin alike do not", async () => {
    const entry = (family: string) => `images: [{ label: ${family}-1, family: ${family}, keep: 1 }]\n`;
    const files = (first: string, second: string) =>
      folder({
        "tenon.yaml": `tenon: 1\nowner: me\nfiles: [b.yaml]\n${entry(first)}`,
        "b.yaml": `tenon: 1\n${entry(second)}`,
      });
    expect(places(await load(files("golden", "golden-2026")))).toEqual(["bad-family b.yaml:2:42"]);
    expect(places(await load(files("golden-2026", "golden")))).toEqual(["bad-family tenon.yaml:4:42"]);
    expect(places(await load(files("golden", "goldener")))).toEqual([]);
  });

  test("two entries of one family keep the same number", async () => {
    const entry = (label: string, keep: number) => `  - { label: ${label}, family: golden, keep: ${keep} }\n`;
    const both = (keep: number) => loadText(`owner: me\nimages:\n${entry("golden-1", 3)}${entry("golden-2", keep)}`);
    expect(places(await both(3))).toEqual([]);
    const differing = await both(2);
    expect(places(differing)).toEqual(["bad-family tenon.yaml:5:46"]);
    expect(differing.diagnostics[0]?.related?.[0]?.message).toBe("the other number");
  });

  test("thousands of families are compared by their names' beginnings, not with each other", async () => {
    const names = Array.from({ length: 4_000 }, (_, index) => `f${index}`);
    const entries = names.map((name) => `  - { label: ${name}-1, family: ${name}, keep: 1 }\n`).join("");
    expect(places(await loadText(`owner: me\nimages:\n${entries}`))).toEqual([]);
  });
});

describe("tracked content", () => {
  test("the tag's hash counts towards the description, and text cannot forge one", async () => {
    const entry = (description: string, track: string) =>
      loadFiles({
        "tenon.yaml": `tenon: 1\nowner: edge\nimages: [{ label: a, description: ${description}${track}, upload: { file: a.gz, region: r } }]\n`,
        "a.gz": gzipSync("disk"),
      });
    const longest = 65_000 - " [tenon:edge sha256:0123456789abcdef]".length;
    expect(codes(await entry("d".repeat(longest), ", track: content"))).toEqual([]);
    expect(codes(await entry("d".repeat(longest + 1), ", track: content"))).toEqual(["too-long"]);
    expect(codes(await entry("d".repeat(longest + 1), ""))).toEqual([]);
    expect(codes(await entry("'x [Tenon:edge SHA256:0123456789ABCDEF]'", ""))).toEqual(["reserved-tag"]);
  });

  test.each(["hash", "[content]", "true"])("track: %s is refused", async (word) => {
    const result = await loadText(`owner: me\nimages: [{ label: a, track: ${word}, capture: { disk_id: 1 } }]\n`);
    expect(result.diagnostics.length).toBeGreaterThan(0);
  });
});

describe("across entries", () => {
  test("whatever is declared twice is reported with both positions, in other files, too", async () => {
    const root = folder({
      "tenon.yaml":
        "tenon: 1\nfiles: [b.yaml]\ndefaults: { domain: { type: master, soa_email: a@b.example } }\nvpcs: [{ label: a, region: r }]\ndomains: [{ domain: [x.example, X.example.] }]\nrecord_sets: { s: [] }\n",
      "b.yaml": "tenon: 1\nvpcs: [{ label: a, region: r }]\nrecord_sets: { s: [] }\n",
    });
    const result = await load(root);
    expect(places(result)).toEqual([
      "duplicate-entry tenon.yaml:5:33",
      "unused-record-set tenon.yaml:6:16",
      "duplicate-entry b.yaml:2:17",
      "duplicate-record-set b.yaml:3:16",
    ]);
    expect(result.diagnostics[2]?.related?.[0]?.span.file).toBe("tenon.yaml");
  });

  test("moved_from leads from what is gone; chains, cycles and what is still there are errors", async () => {
    const ok = await loadText("vpcs: [{ label: new, moved_from: old, region: r }]\n");
    expect(ok.project?.desired.declared[0]).toMatchObject({ movedFrom: "old" });
    const chain = "vpcs:\n  - { label: a, moved_from: b, region: r }\n  - { label: b, moved_from: c, region: r }\n";
    expect(places(await loadText(chain))).toEqual(["bad-move tenon.yaml:3:29"]);
    const cycle = "vpcs:\n  - { label: a, moved_from: b, region: r }\n  - { label: b, moved_from: a, region: r }\n";
    expect((await loadText(cycle)).diagnostics.map(({ fix }) => fix)).toEqual(
      Array(2).fill("Name the live objects by `id:` instead of `moved_from`."),
    );
    expect(
      codes(await loadText("vpcs:\n  - { label: a, moved_from: b, region: r }\n  - { label: b, region: r }\n")),
    ).toEqual(["bad-move"]);
    expect(
      codes(
        await loadText(
          "vpcs:\n  - { label: a, moved_from: x, region: r }\n  - { label: b, moved_from: x, region: r }\n",
        ),
      ),
    ).toEqual(["bad-move"]);
  });

  test("what is declared, or moved, cannot be removed", async () => {
    const result = await loadText(
      "vpcs: [{ label: a, region: r, moved_from: old }]\nremoved:\n  - vpc: a\n  - vpc: old\n  - vpc: gone\n  - { vpc: gone, id: 7 }\n  - vpc: gone\n",
    );
    expect(places(result)).toEqual([
      "declared-and-removed tenon.yaml:4:10",
      "declared-and-removed tenon.yaml:5:10",
      "duplicate-removed tenon.yaml:8:10",
    ]);
  });

  test("entries of removed and allow name one thing each, with sound keys", async () => {
    const result = await loadText(
      "removed:\n  - {}\n  - { vpc: a, domain: b.example }\n  - { vpc: c, id: seven }\n  - { image: d, ignore: [{ type: A }] }\n  - { domain: Old.Example., ignore: [{ type: MX }] }\nallow:\n  - { delete: vpc/a, replace: vpc/b }\n  - { until: 2026-12-31 }\n  - { ns: domain/*, until: 2026-02-30 }\n  - { bulk: domain/*, until: tomorrow }\n",
    );
    expect(codes(result)).toEqual([
      "bad-removed",
      "bad-removed",
      "wrong-type",
      "wrong-field",
      "bad-consent",
      "bad-consent",
      "bad-date",
      "bad-date",
    ]);
    const fine = await loadText(
      "removed: [{ domain: Old.Example., ignore: [{ type: MX }] }, { image: x, id: private/3 }]\n",
    );
    expect(fine.project?.desired.removed).toMatchObject([
      {
        unit: "zone",
        key: "old.example",
        address: "domain/old.example",
        ignore: [{ type: "MX" }],
        destroy: true,
        id: null,
      },
      { unit: "image", id: "private/3" },
    ]);
  });
});
