import { cp, mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { here as run } from "./here.ts";
import { emulator, envOf, expectPlain, folder, PROJECT } from "./run.ts";

const TEN_ERRORS = join(import.meta.dirname, "../manifest/fixtures/ten-errors");

/** Every alias stands for ten of the one before it: ten thousand million values in 400 bytes. */
function yamlBomb(): string {
  const lines = Array.from(
    { length: 9 },
    (_, index) => `x-${index + 1}: &a${index + 1} [${Array(10).fill(`*a${index}`)}]`,
  );
  return `tenon: 1\nx-0: &a0 [l, l, l, l, l, l, l, l, l, l]\n${lines.join("\n")}\n`;
}

const VPC = "vpcs:\n  - { label: prod, region: us-east";

/** Applies, so that a manifest that got through would be seen at the service. */
async function refuse(directory: string, words: readonly (string | RegExp)[], code: 1 | 3 = 3): Promise<string> {
  const service = await emulator();
  const result = await run(["apply", "--yes", directory], { env: envOf(service) });
  expectPlain(result, code, words);
  expect(service.requests).toEqual([]);
  return result.stderr;
}

describe("a project that is not there", () => {
  it("is an error of the command line that names it, and says where it should be", async () => {
    const empty = await folder({ "other.yaml": PROJECT });
    await refuse(join(empty, "nowhere"), ["error[no-project]: cannot use ", "There is no such file."], 1);
    await refuse(empty, ["error[no-project]: there is no tenon.yaml"], 1);
    await refuse(join(empty, "other.yaml"), ["other.yaml is not the root file of a project"], 1);
  });

  it("because its root file is a folder is said so", async () => {
    const cwd = await folder({});
    await mkdir(join(cwd, "tenon.yaml"));
    await refuse(cwd, ["tenon.yaml"]);
  });
});

describe("a manifest", () => {
  it.each<[string, string, (string | RegExp)[]]>([
    ["empty", "", ["error[empty-file]"]],
    ["no mapping", "- a\n- b\n", ["error[not-a-manifest]", "Start it with `tenon: 1`"]],
    ["cut off in a bracket", "tenon: 1\nvpcs: [\n", ["error[yaml-syntax]", /--> tenon\.yaml:\d+:\d+/]],
    ["cut off in a quote", 'tenon: 1\nowner: "edge\n', ["error[yaml-syntax]: a quoted value is not closed"]],
    ["indented by tabs", "tenon: 1\nvpcs:\n\t- label: a\n", ["a tab is used for indentation", "tenon.yaml:3:1"]],
    ["a star that is not quoted", `${VPC.replace("prod", "*prod")} }\n`, ['"*prod"']],
    ["a bomb of aliases", yamlBomb(), ["error[too-many-aliases]", "more than 100,000 values"]],
    ["a bomb of brackets", `tenon: 1\nx-deep: ${"[".repeat(50_000)}`, [/error\[(nested-too-deep|yaml-syntax)\]/]],
    ["an alias of itself", "tenon: 1\nx-a: &a [*a]\n", ["error[circular-alias]"]],
    ["bytes of zero", "\0".repeat(100), ["error["]],
    ["a key twice", `tenon: 1\n${VPC}, label: dev }\n`, ["error[duplicate-key]: `label` is there twice", "first here"]],
    ["a list twice", `tenon: 1\nvpcs: []\nvpcs: []\n`, ["`vpcs` is there twice", "tenon.yaml:3:1", "tenon.yaml:2:1"]],
    ["a newer format", "tenon: 2\n", ["tenon.yaml:1:8"]],
    ["without its format", "vpcs: []\n", ["`tenon` is missing"]],
    ["an unknown key", "tenon: 1\ndomians: []\n", ["unknown key `domians`", "Did you mean `domains`?"]],
    ["an unknown key within", `tenon: 1\n${VPC}, regoin: eu }\n`, ["unknown key `regoin`", "Did you mean `region`?"]],
    ["an unknown key of a record", PROJECT.replace("ttl_sec", "ttl"), ["unknown key `ttl`", "Did you mean `ttl_sec`?"]],
    [
      "a word of other tools for a range",
      `tenon: 1\n${VPC}, subnets: [{ cidr: 10.0.0.0/24 }] }\n`,
      ["Did you mean `ipv4`?"],
    ],
    ["a word of other tools for a target", PROJECT.replace("target: 192", "value: 192"), ["Did you mean `target`?"]],
    [
      "a name where the domain belongs",
      PROJECT.replace("domain: example.com", "name: example.com"),
      ["Did you mean `domain`?"],
    ],
    ["a name where the label belongs", PROJECT.replace("label: prod", "name: prod"), ["Did you mean `label`?"]],
    [
      "an MX as zone files write it",
      PROJECT.replace("target: mx.example.net., priority: 10", "target: 10 mx.example.net."),
      ["the target holds the priority", "Write `priority: 10, target: mx.example.net.`."],
    ],
    [
      "an SRV as zone files write it",
      PROJECT.replace("{ type: A, name: www, target: 192.0.2.1", "{ type: SRV, name: _sip._tcp, target: 1 2 5060 sip"),
      ["holds the priority, weight and port", "Write `priority: 1, weight: 2, port: 5060, target: sip`."],
    ],
    [
      "a bracket within a record that nothing closes",
      PROJECT.replace("target: 192.0.2.1", "targets: [192.0.2.1, 192.0.2.2"),
      [
        "error[yaml-syntax]: a `[` is not closed",
        "tenon.yaml:12:40",
        "`}` stands where `]` is wanted",
        "Add `]`",
        /\n1 error\n/,
      ],
    ],
    [
      "a record that nothing closes",
      PROJECT.replace("ttl_sec: 300 }", "ttl_sec: 300"),
      ["a `{` is not closed", "tenon.yaml:12:9", "Nothing closes it before line 13", /\n1 error\n/],
    ],
    [
      "a bracket that nothing closes until the end, behind brackets that are text",
      `tenon: 1\n# {\nx-a: 'a['\nx-b: b[\nx-c: |\n  { [\nvpcs: [\n  { label: a }\n`,
      ["a `[` is not closed", "tenon.yaml:7:7", "The file ends before anything closes it"],
    ],
    ["__proto__ on top", "tenon: 1\n__proto__: { owner: x }\n", ["unknown key `__proto__`", "tenon.yaml:2:1"]],
    ["__proto__ within", `tenon: 1\n${VPC}, __proto__: { protect: true } }\n`, ["unknown key `__proto__`"]],
    ["constructor", "tenon: 1\nconstructor: { prototype: 1 }\n", ["unknown key `constructor`"]],
    ["a type that is wrong", "tenon: 1\nvpcs: yes\n", ["tenon.yaml:2:7"]],
  ])("that is wrong is explained with its place, and nothing is sent: %s", async (_, text, words) => {
    await refuse(await folder({ "tenon.yaml": text }), words);
  });

  it("in another coding than UTF-8 is refused at its first odd byte", async () => {
    const cwd = await folder({});
    await writeFile(join(cwd, "tenon.yaml"), Buffer.from("tenon: 1\nowner: \xe9dge\n", "latin1"));
    await refuse(cwd, ["error[not-utf8]", "tenon.yaml:2:8"]);
  });

  it("of 100 MB is refused before it is read, as the root file or as another", async () => {
    const cwd = await folder({ "tenon.yaml": "tenon: 1\nfiles: [big.yaml]\n", "big.yaml": "" });
    await truncate(join(cwd, "big.yaml"), 100_000_000);
    await refuse(cwd, ["error[file-too-large]: big.yaml is too large", "95.4 MiB", "tenon.yaml:2:9"]);
    await truncate(join(cwd, "tenon.yaml"), 100_000_000);
    await refuse(cwd, ["error[file-too-large]: tenon.yaml is too large"]);
  });

  it.each(["variables", "environments", "record_sets"])(
    "gets nothing into its program by %s called __proto__",
    async (key) => {
      const value = { variables: "{ default: evil }", environments: "{ variables: {} }", record_sets: "[]" }[key];
      const cwd = await folder({
        "tenon.yaml": `tenon: 1\n${key}: { __proto__: ${value} }\n${VPC}, description: "\${var.default}" }\n`,
      });
      await refuse(cwd, ["unknown-variable"]);
    },
  );

  it("with ten errors shows all ten, each with file, line and column", async () => {
    const cwd = await folder({});
    await cp(TEN_ERRORS, cwd, { recursive: true });
    const stderr = await refuse(cwd, ["10 errors"]);
    expect(stderr.match(/^error\[[a-z-]+\]: /gm)).toHaveLength(10);
    expect(stderr.match(/^ *--> \S+\.yaml:\d+:\d+$/gm)?.length).toBeGreaterThanOrEqual(10);
    expect(new Set(stderr.match(/(?<=^error\[)[a-z-]+/gm)).size).toBe(10);
  });
});

describe("a file that leads out of the project", () => {
  const UPLOAD = "tenon: 1\nimages:\n  - { label: golden, upload: { file: golden.img.gz, region: us-east } }\n";

  it.each([
    ["an upload that is a link", UPLOAD],
    ["an upload by a path", UPLOAD.replace("golden.img.gz", "../secret/golden.img.gz")],
    ["an upload by an absolute path", UPLOAD.replace("golden.img.gz", "/etc/hostname")],
    ["a manifest that is a link", "tenon: 1\nfiles: [golden.img.gz]\n"],
    ["manifests by a path", "tenon: 1\nfiles: [../secret/*]\n"],
  ])("is refused, and is not shown: %s", async (_, text) => {
    const cwd = await folder({});
    await mkdir(join(cwd, "secret"));
    await mkdir(join(cwd, "project"));
    await writeFile(join(cwd, "secret/golden.img.gz"), Buffer.from([0x1f, 0x8b, 8, ...Buffer.from("secret-text")]));
    await symlink(join(cwd, "secret/golden.img.gz"), join(cwd, "project/golden.img.gz"));
    await writeFile(join(cwd, "project/tenon.yaml"), text);
    const stderr = await refuse(join(cwd, "project"), ["error[outside-project]", "outside the project folder"]);
    expect(stderr).not.toContain("secret-text");
  });
});
