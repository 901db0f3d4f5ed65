/** What `tenon validate` finds, while somebody types. */

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type CodeAction, FileChangeType } from "vscode-languageserver/node";
import { folder, run } from "../cli/run.ts";
import { type Editor, editor, editorIn } from "./editor.ts";

const ROOT = "tenon: 1\nfiles: [zones/*.yaml]\n";
const zone = (name: string, more = ""): string => `tenon: 1
domains:
  - domain: ${name}
    type: master
    soa_email: hostmaster@${name}
    records:
      - { type: A, name: www, target: 198.51.99.10 }${more}
`;
const A = "zones/a.yaml";
const FILES = { "tenon.yaml": ROOT, [A]: zone("a.example"), "zones/b.yaml": zone("b.example") };

async function opened(files: Readonly<Record<string, string>>, ...names: readonly string[]): Promise<Editor> {
  const ed = await editor(files);
  for (const name of names) await ed.open(name, files[name] ?? "");
  await ed.checked(1);
  return ed;
}

test("an error that is not saved is told with its place, code and words, and goes when it is mended", async () => {
  const ed = await opened(FILES, A);
  await ed.type(A, "target:", "tagret:");
  const [found] = await ed.codes(A, ["unknown-key"]);
  expect(found).toMatchObject({ source: "tenon", severity: 1 });
  expect(found?.message).toContain("Did you mean `target`?");
  expect(ed.document(A).getText(found?.range)).toBe("tagret");
  expect(ed.last(A)?.version).toBe(2);
  await ed.type(A, "tagret:", "target:");
  await ed.codes(A, []);
  expect(await ed.quit()).toBe(0);
});

test("what is found is what validate prints, lint and files that are not open included", async () => {
  const records =
    "\n      - { type: MX, target: mx.other.example., priority: 10 }\n      - { type: A, name: x, target: 10.0.0.1 }";
  const files = { ...FILES, "zones/b.yaml": zone("b.example", records) };
  const ed = await editor(files);
  const { stdout } = await run(["validate", ed.directory, "--format", "json"]);
  const printed = JSON.parse(stdout).diagnostics as {
    code: string;
    severity: string;
    file: string;
    line: number;
    column: number;
  }[];
  expect(printed.length).toBeGreaterThan(2);
  const told = await ed.codes(
    "zones/b.yaml",
    printed.map(({ code }) => code),
  );
  expect(told.map(({ range }) => [range.start.line + 1, range.start.character + 1])).toEqual(
    printed.map(({ line, column }) => [line, column]),
  );
});

test("one file's buffer is an error in another, with the place of both", async () => {
  const ed = await opened(FILES, A);
  await ed.type(A, "domain: a.example", "domain: b.example");
  const [found] = await ed.codes("zones/b.yaml", ["duplicate-entry"]);
  expect(found?.relatedInformation).toMatchObject([{ location: { uri: ed.uri(A) }, message: "first here" }]);
});

test("a buffer that was never saved is a file of the project, and is none any more when it is closed", async () => {
  const ed = await opened(FILES, A);
  await ed.open("zones/c.yaml", zone("c.example").replace("master", "mester"));
  await ed.codes("zones/c.yaml", ["unknown-value"]);
  await ed.close("zones/c.yaml");
  await ed.codes("zones/c.yaml", []);
});

test("files that leave the project have no errors any more", async () => {
  const ed = await opened({ ...FILES, "zones/b.yaml": zone("b.example").replace("master", "mester") }, "tenon.yaml");
  await ed.codes("zones/b.yaml", ["unknown-value"]);
  await ed.type("tenon.yaml", "zones/*.yaml", A);
  await ed.codes("zones/b.yaml", []);
});

test("positions count as the editor does: characters of two units, and lines that end as on Windows", async () => {
  const text = zone("a.example", '\n      - { type: TXT, name: x, target: "🦄𝒳é", tll_sec: 300 }').replaceAll(
    "\n",
    "\r\n",
  );
  const ed = await opened({ ...FILES, [A]: text }, A);
  const [found] = await ed.codes(A, ["unknown-key"]);
  expect(ed.document(A).getText(found?.range)).toBe("tll_sec");
  expect(found?.range.start).toEqual({ line: 7, character: '      - { type: TXT, name: x, target: "🦄𝒳é", '.length });
});

test("a byte order mark in the buffer shifts nothing", async () => {
  const ed = await opened({ "tenon.yaml": "" }, "tenon.yaml");
  await ed.write("tenon.yaml", `\ufeffteno: 1\n`);
  const [found] = await ed.codes("tenon.yaml", ["unknown-key"]);
  expect(ed.document("tenon.yaml").getText(found?.range)).toBe("teno");
});

test("each environment is checked, and the error says in which it is", async () => {
  const root = `tenon: 1
variables: { region: {} }
environments:
  staging: { variables: { region: us-east } }
  production: { variables: { region: "" } }
vpcs:
  - { label: prod, region: "\${var.region}" }
`;
  const ed = await editor({ "tenon.yaml": root });
  const [found] = await ed.codes("tenon.yaml", ["bad-format"]);
  expect(found?.message).toContain("Found with --env production.");
});

test("a zone file is checked as it stands in its buffer, and again when it changes on the disk", async () => {
  const manifest =
    "tenon: 1\ndomains:\n  - { domain: a.example, type: master, soa_email: a@a.example, zone_file: a.zone }\n";
  const ed = await opened({ "tenon.yaml": manifest, "a.zone": "$TTL 3600\nwww IN A 198.51.99.1\n" }, "a.zone");
  await ed.type("a.zone", "198.51.99.1", "198.51.99.1000");
  await ed.codes("a.zone", ["bad-address"]);
  await ed.close("a.zone");
  await ed.codes("a.zone", []);
  await writeFile(join(ed.directory, "a.zone"), "$TTL 3600\nwww IN AAAA 198.51.99.1\n");
  await ed.changedOnDisk("a.zone");
  await ed.codes("a.zone", ["bad-address"]);
});

test("a file of variables is read again when it changes on the disk", async () => {
  const directory = await folder({
    "tenon.yaml": 'tenon: 1\nvariables: { region: {} }\nvpcs:\n  - { label: prod, region: "${var.region}" }\n',
    "dev.yaml": "region: us-east\n",
  });
  const ed = await editorIn(directory, { args: ["--var-file", "dev.yaml"] });
  await ed.checked(1);
  expect(ed.last("tenon.yaml")).toBeUndefined();
  await writeFile(join(directory, "dev.yaml"), "region: ''\n");
  await ed.changedOnDisk("dev.yaml");
  await ed.codes("tenon.yaml", ["bad-format"]);
});

test("an editor that cannot watch files still gets what is on the disk at the next keystroke", async () => {
  const ed = await editor(FILES, { watches: false });
  await ed.open(A, FILES[A] ?? "");
  await ed.checked(1);
  await writeFile(join(ed.directory, "zones/b.yaml"), zone("b.example").replace("master", "mester"));
  await ed.type(A, "www", "web");
  await ed.codes("zones/b.yaml", ["unknown-value"]);
});

test("several projects are checked, each by itself, one within another too", async () => {
  const bad = zone("x.example").replace("master", "mester");
  const ed = await editor({
    "one/tenon.yaml": ROOT,
    "one/zones/x.yaml": bad,
    "one/inner/tenon.yaml": bad,
    "two/tenon.yaml": zone("x.example"),
  });
  await ed.codes("one/zones/x.yaml", ["unknown-value"]);
  await ed.codes("one/inner/tenon.yaml", ["unknown-value"]);
  await ed.checked(3);
  expect(ed.last("two/tenon.yaml")).toBeUndefined();
});

test("a folder that joins the workspace is checked, and one that leaves it has no errors any more", async () => {
  const bad = zone("x.example").replace("master", "mester");
  const ed = await editor({ "one/tenon.yaml": bad, "two/tenon.yaml": bad }, { workspace: ["one"] });
  await ed.codes("one/tenon.yaml", ["unknown-value"]);
  expect(ed.last("two/tenon.yaml")).toBeUndefined();
  const [one, two] = ["one", "two"].map((name) => ({ uri: ed.uri(name), name }));
  await ed.connection.sendNotification("workspace/didChangeWorkspaceFolders", {
    event: { added: [two], removed: [one] },
  });
  await ed.codes("two/tenon.yaml", ["unknown-value"]);
  await ed.codes("one/tenon.yaml", []);
});

test("a project that comes or goes on the disk is checked, or forgotten", async () => {
  const ed = await editor({ "readme.md": "" });
  await mkdir(join(ed.directory, "new"));
  await writeFile(join(ed.directory, "new/tenon.yaml"), zone("x.example").replace("master", "mester"));
  await ed.changedOnDisk("new/tenon.yaml", FileChangeType.Created);
  await ed.codes("new/tenon.yaml", ["unknown-value"]);
  await rm(join(ed.directory, "new/tenon.yaml"));
  await ed.changedOnDisk("new/tenon.yaml", FileChangeType.Deleted);
  await ed.codes("new/tenon.yaml", []);
});

test("a manifest that no project reads says so, until one does; other YAML is left alone", async () => {
  const ed = await opened(FILES, "tenon.yaml");
  await ed.open("other/c.yaml", zone("c.example"));
  await ed.open("other/compose.yaml", "services: {}\n");
  const [found] = await ed.codes("other/c.yaml", ["no-project"]);
  expect(found?.severity).toBe(3);
  await ed.type("tenon.yaml", "[zones/*.yaml]", "[zones/*.yaml, other/c.yaml]");
  await ed.codes("other/c.yaml", []);
  expect(ed.last("other/compose.yaml")).toBeUndefined();
});

test("of a thousand zones a keystroke reads none and parses one, and outdated checks are not told", async () => {
  const zones = Array.from(
    { length: 1_000 },
    (_, index) => [`zones/z${index}.yaml`, zone(`z${index}.example`)] as const,
  );
  const ed = await editor({ "tenon.yaml": ROOT, ...Object.fromEntries(zones) });
  await ed.open("zones/z500.yaml", zone("z500.example"));
  expect(
    await ed.until(
      () => ed.checks().at(-1) ?? null,
      () => "",
    ),
  ).toContain("1001 files, ");
  await ed.open("zones/z501.yaml", zone("z501.example"));
  const before = ed.checks().length;
  await ed.checked(before + 1);
  for (const to of ["webs", "webst", "mester"]) {
    await ed.write("zones/z500.yaml", zone("z500.example").replace(to === "mester" ? "master" : "www", to));
  }
  await ed.codes("zones/z500.yaml", ["unknown-value"]);
  expect(ed.checks().at(-1)).toMatch(/: 1001 files, 0 read, 1 parsed, \d+ ms$/);
  expect(ed.count("zones/z500.yaml")).toBe(1);
});

test("of many errors in one file as many are told as an editor shows", async () => {
  const records = Array.from(
    { length: 3_000 },
    (_, index) => `\n      - { type: A, name: h${index}, tagret: 198.51.99.1 }`,
  );
  const ed = await editor({ ...FILES, [A]: zone("a.example", records.join("")) });
  const found = await ed.until(
    () => ed.last(A)?.diagnostics ?? null,
    () => ed.log.join(),
  );
  expect(found).toHaveLength(1_000);
});

// Where the kernel says which processes a process has started.
test.runIf(process.platform === "linux")(
  "if the process that checks ends, another one goes on with the same buffers",
  async () => {
    const ed = await opened(FILES, A);
    await ed.type(A, "target:", "tagret:");
    await ed.codes(A, ["unknown-key"]);
    const { pid } = ed.process;
    const analyst = Number(await readFile(`/proc/${pid}/task/${pid}/children`, "utf8"));
    process.kill(analyst, "SIGKILL");
    await ed.type(A, "type: master", "type: mester");
    await ed.codes(A, ["unknown-value", "unknown-key"]);
    expect(await ed.quit()).toBe(0);
    expect(() => process.kill(analyst, 0)).toThrow();
  },
);

test("a text of the manifest is shown escaped: it neither turns the words around it nor begins a line", async () => {
  const text = 'tenon: 1\n"file\\u202e": []\n"no\\nerror": 1\nvpcs: [{ "labe​": a, region: r }]\n';
  const ed = await opened({ "tenon.yaml": text }, "tenon.yaml");
  const diagnostics = await ed.until(
    () => ed.last("tenon.yaml")?.diagnostics ?? null,
    () => ed.log.join(),
  );
  const range = { start: { line: 0, character: 0 }, end: ed.document("tenon.yaml").positionAt(text.length) };
  const params = { textDocument: { uri: ed.uri("tenon.yaml") }, range, context: { diagnostics } };
  const actions = (await ed.connection.sendRequest("textDocument/codeAction", params)) as CodeAction[];
  const shown = [...diagnostics.map(({ message }) => message), ...actions.map(({ title }) => title)].join("\n");
  for (const part of ["file\\u{202e}", "no\\nerror", "Write `label` in place of `labe\\u{200b}`"])
    expect(shown).toContain(part);
  expect(shown).not.toMatch(/[\u202e\u200b]/);
  expect(await ed.quit()).toBe(0);
});
