import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { codes, folder, load, loadFiles, places } from "./support.ts";

const vpc = (label: string): string => `tenon: 1\nvpcs: [{ label: ${label}, region: us-east }]\n`;

async function labels(files: Record<string, string>): Promise<string[]> {
  const result = await loadFiles(files);
  expect(result.diagnostics).toEqual([]);
  return result.project?.desired.declared.map(({ key }) => key) ?? [];
}

describe("the files of a project", () => {
  test("patterns find files in a fixed order, each once, the root file never again", async () => {
    const files = {
      "tenon.yaml": "tenon: 1\nfiles: ['**/*.yaml', b/*.yaml, './a.yaml', 'b/c?.yml']\n",
      "b/z.yaml": vpc("z"),
      "b/cc.yml": vpc("cc"),
      "b/d/e.yaml": vpc("e"),
      "a.yaml": vpc("a"),
      ".hidden/x.yaml": vpc("hidden"),
      "node_modules/m/x.yaml": vpc("module"),
    };
    expect(await labels(files)).toEqual(["a", "cc", "e", "z"]);
  });

  test("a path to the root file does as well as its folder, another file does not", async () => {
    const root = folder({ "tenon.yaml": vpc("a"), "other.yaml": vpc("b") });
    expect((await load(join(root, "tenon.yaml"))).project?.root).toBe((await load(root)).project?.root);
    expect(codes(await load(join(root, "other.yaml")))).toEqual(["no-project"]);
    expect(codes(await load(join(root, "nowhere")))).toEqual(["no-project"]);
    expect(codes(await load(folder({ "a.yaml": "" })))).toEqual(["no-project"]);
  });

  test("nothing outside the folder can be named", async () => {
    const outside = folder({ "secret.yaml": vpc("secret"), "sub/deep.yaml": vpc("deep") });
    const root = folder({
      "tenon.yaml": `tenon: 1\nfiles:\n  - ../x.yaml\n  - ${outside}/secret.yaml\n  - link.yaml\n  - linked/*.yaml\n  - a/../../x.yaml\n  - missing.yaml\n  - none*.yaml\n`,
    });
    symlinkSync(join(outside, "secret.yaml"), join(root, "link.yaml"));
    symlinkSync(join(outside, "sub"), join(root, "linked"));
    const result = await load(root);
    expect(places(result)).toEqual([
      "outside-project tenon.yaml:3:5",
      "outside-project tenon.yaml:4:5",
      "outside-project tenon.yaml:5:5",
      "no-match tenon.yaml:6:5",
      "outside-project tenon.yaml:7:5",
      "file-not-found tenon.yaml:8:5",
      "no-match tenon.yaml:9:5",
    ]);
    expect(result.sources.files()).toEqual(["tenon.yaml"]);
  });

  test("a root file that is a link out of its folder is refused", async () => {
    const outside = folder({ "real.yaml": vpc("a") });
    const root = folder({});
    symlinkSync(join(outside, "real.yaml"), join(root, "tenon.yaml"));
    expect(codes(await load(root))).toEqual(["outside-project"]);
  });

  test("a link within the folder to a file that is named, too, is the same file", async () => {
    const root = folder({ "tenon.yaml": "tenon: 1\nfiles: ['*.yaml']\n", "a.yaml": vpc("a") });
    symlinkSync(join(root, "a.yaml"), join(root, "b.yaml"));
    expect((await load(root)).project?.desired.declared).toHaveLength(1);
  });

  test("a file of 100 MB is refused without being read", async () => {
    const root = folder({ "tenon.yaml": "tenon: 1\nfiles: [big.yaml]\n", "big.yaml": "" });
    truncateSync(join(root, "big.yaml"), 100 * 1024 * 1024);
    expect(codes(await load(root))).toEqual(["file-too-large"]);
  });

  test("only the root file has what holds for the whole project", async () => {
    const result = await loadFiles({
      "tenon.yaml": "tenon: 1\nfiles: [a.yaml]\n",
      "a.yaml": "tenon: 1\nowner: x\naccount: y\nfiles: []\nvariables: {}\nenvironments: {}\nallow: []\n",
    });
    expect(places(result)).toEqual([2, 3, 4, 5, 6, 7].map((line) => `root-only-key a.yaml:${line}:1`));
  });
});

describe("bytes and YAML", () => {
  test("a BOM and CRLF are fine", async () => {
    expect(await labels({ "tenon.yaml": `\ufeff${vpc("a").replaceAll("\n", "\r\n")}` })).toEqual(["a"]);
  });

  test("bytes that are no UTF-8 are located", async () => {
    const bad = Buffer.concat([Buffer.from("tenon: 1\n# \ufffd é "), Buffer.from([0xe9]), Buffer.from("\n")]);
    expect(places(await loadFiles({ "tenon.yaml": bad }))).toEqual(["not-utf8 tenon.yaml:2:7"]);
  });

  test.each([
    ["", ["empty-file tenon.yaml:1:1"]],
    ["# only a comment\n", ["empty-file tenon.yaml:1:1"]],
    ["- a\n", ["not-a-manifest tenon.yaml:1:1"]],
    ["vpcs: []\n", ["missing-key tenon.yaml:1:1"]],
    ["tenon: 2\n", ["unknown-value tenon.yaml:1:8"]],
    ["tenon: 1\n---\ntenon: 1\n", ["several-documents tenon.yaml:2:1"]],
    ["%YAML 1.1\n---\ntenon: 1\n", ["yaml-version tenon.yaml:1:1"]],
    ["tenon: 1\nvpcs: []\nvpcs: []\n", ["duplicate-key tenon.yaml:3:1"]],
    [
      "tenon: 1\n__proto__: {}\nconstructor: 1\ntoString: 1\n",
      ["unknown-key tenon.yaml:2:1", "unknown-key tenon.yaml:3:1", "unknown-key tenon.yaml:4:1"],
    ],
    ["tenon: 1\nx-a: &a\n  b: *a\n", ["circular-alias tenon.yaml:3:6"]],
    ["tenon: 1\nx-a: !!binary aGk=\nx-b: !env HOME\n", ["unknown-tag tenon.yaml:2:15", "unknown-tag tenon.yaml:3:11"]],
    ["tenon: 1\n? [a]\n: b\n", ["complex-key tenon.yaml:2:3"]],
    ["tenon: 1\nvpcs:\n\t- a\n", ["yaml-syntax tenon.yaml:3:1"]],
    ['tenon: 1\nowner: "a\n', ["yaml-syntax tenon.yaml:2:8"]],
    ["tenon: 1\nx-t: key: value\nx-u: a: b\n", ["unquoted-value tenon.yaml:2:6", "unquoted-value tenon.yaml:3:6"]],
    ["tenon: 1\nvpcs: [{ label: ${var.x}, region: r }]\n", ["unquoted-value tenon.yaml:2:18"]],
    [
      "tenon: 1\ndefaults: { domain: { description: a=b } } # fine\nx-k: v=DMARC1; p=none # cut\n",
      ["value-before-comment tenon.yaml:3:6"],
    ],
  ])("%j", async (text, expected) => {
    expect(places(await loadFiles({ "tenon.yaml": text }))).toEqual(expected);
  });

  test("unquoted @ and * are explained, and the rest of the file is still looked at", async () => {
    const result = await loadFiles({
      "tenon.yaml":
        "tenon: 1\ndomains:\n  - domain: example.com\n    type: master\n    soa_email: a@b.example\n    records:\n      - { type: A, name: @, target: 192.0.2.1 }\n      - { type: A, name: *.dev, target: 192.0.2.1 }\n      - { type: A, name: ok, target: bad }\n",
    });
    expect(places(result)).toEqual([
      "unquoted-value tenon.yaml:7:26",
      "unquoted-value tenon.yaml:8:26",
      "bad-address tenon.yaml:9:38",
    ]);
    expect(result.diagnostics[1]?.fix).toContain('"*.dev"');
  });

  test("a syntax error in one file hides neither the errors of another nor invents any", async () => {
    const result = await loadFiles({
      "tenon.yaml": "tenon: 1\nfiles: [a.yaml, b.yaml]\n",
      "a.yaml": "tenon: 1\nrecord_sets:\n  mail: [{ type: A, target: 192.0.2.1 }\n",
      "b.yaml":
        "tenon: 1\ndomains: [{ domain: a.example, type: master, soa_email: a@b.example, use: [mail], bogus: 1 }]\n",
    });
    expect(codes(result)).toEqual(["yaml-syntax", "unknown-key"]);
  });

  test("a damaged root file still leads to its other files", async () => {
    const result = await loadFiles({
      "tenon.yaml": 'tenon: 1\nfiles: [b.yaml]\nowner: "a" b\n',
      "b.yaml": "tenon: 1\nvpcs: [{ label: a, region: '${var.unknown}', bogus: 1 }]\n",
    });
    expect(places(result)).toEqual(["yaml-syntax tenon.yaml:3:12", "unknown-key b.yaml:2:46"]);
  });

  test("aliases work, and a billion laughs are cut short", async () => {
    const text = "tenon: 1\nx-base: &base { region: us-east, label: a }\nvpcs:\n  - *base\n";
    expect(await labels({ "tenon.yaml": text })).toEqual(["a"]);
    const laughs = ["x-a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"];
    for (let level = 1; level < 12; level += 1) {
      laughs.push(
        `x-a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(", ")}]`,
      );
    }
    expect(codes(await loadFiles({ "tenon.yaml": `tenon: 1\n${laughs.join("\n")}\n` }))).toEqual(["too-many-aliases"]);
  });

  test.each([
    ["brackets", `x-deep: ${"[".repeat(2_000_000)}`],
    ["braces", `x-deep: ${"{".repeat(2_000_000)}`],
    ["lists", `x-deep:\n  ${"- ".repeat(1_000_000)}a`],
    ["explicit keys", "? ".repeat(500_000)],
  ])("nesting of %s without end is cut short", async (_, text) => {
    expect(codes(await loadFiles({ "tenon.yaml": `tenon: 1\n${text}\n` }))).toEqual(["nested-too-deep"]);
  });

  test.each([
    ["flow lists", (count: number) => `x-many: [${"[0],".repeat(count / 2)}]`],
    ["empty mappings", (count: number) => `x-many: [${"{},".repeat(count)}]`],
    ["block lists", (count: number) => `x-many:\n${"-\n".repeat(count)}`],
  ])("values of %s are as many as a file of its length may have", async (_, text) => {
    const load = async (count: number, comment: number) =>
      codes(await loadFiles({ "tenon.yaml": `tenon: 1\n${text(count)}\n# ${"x".repeat(comment)}\n` }));
    expect(await load(99_900, 0)).toEqual([]);
    expect(await load(100_002, 0)).toEqual(["too-many-values"]);
    expect(await load(100_002, 500_000)).toEqual([]);
  });

  test("a bearable depth is no problem", async () => {
    const text = `tenon: 1\nx-deep: ${"[".repeat(60)}${"]".repeat(60)}\n`;
    expect(codes(await loadFiles({ "tenon.yaml": text }))).toEqual([]);
  });

  test("variable files may be YAML, JSON or what terraform printed", async () => {
    const root = folder({
      "tenon.yaml":
        "tenon: 1\nvariables: { region: {}, ttl: {}, ips: {} }\nvpcs: [{ label: a, region: '${var.region}' }]\ndomains:\n  - domain: a.example\n    type: master\n    soa_email: a@b.example\n    ttl_sec: ${var.ttl}\n    records: [{ type: A, targets: '${var.ips}' }]\n",
    });
    writeFileSync(join(root, "v.yaml"), "region: eu-west\nttl: 300\nstray: 1\n");
    const wrapped = (value: unknown): object => ({ sensitive: false, type: "string", value });
    writeFileSync(
      join(root, "out.json"),
      JSON.stringify({ ttl: wrapped(3600), ips: wrapped(["192.0.2.1", "192.0.2.2"]), more: wrapped("x") }),
    );
    const result = await load(root, { variableFiles: [join(root, "v.yaml"), join(root, "out.json")] });
    expect(codes(result)).toEqual(["unknown-variable"]);
    expect(result.diagnostics[0]).toMatchObject({ severity: "warning" });
    expect(result.project?.desired.declared.map(({ spec }) => spec)).toMatchObject([
      { region: "eu-west" },
      { fields: { ttl_sec: 3600 }, records: [{ target: "192.0.2.1" }, { target: "192.0.2.2" }] },
    ]);
    mkdirSync(join(root, "folder"));
    expect(codes(await load(root, { variableFiles: [join(root, "folder")] }))).toContain("unreadable-file");
  });
});
