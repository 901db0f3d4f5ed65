/** Completion, hover, names, quick fixes and formatting, as an editor asks for them. */

import { expect, test } from "vitest";
import type { CodeAction, CompletionItem, Hover, Location, TextEdit, WorkspaceEdit } from "vscode-languageserver/node";
import { folder, run } from "../cli/run.ts";
import { type Editor, editor } from "./editor.ts";

const ROOT = `tenon: 1
files: [zones/*.yaml]
variables: { ip: { default: 192.0.2.1 }, prefix: { default: 10.0.0.0/16 }, ttl: { default: 301 } }
environments:
  staging: { variables: { ip: 198.51.99.7 } }
record_sets:
  mail:
    - { type: MX, target: mx.example.net., priority: 10 }
    - { type: TXT, target: v=spf1 mx -all }
    - { type: TXT, name: _dmarc, target: v=DMARC1; p=reject }
vpcs:
  - label: prod
    region: us-east
    subnets:
      - { label: web, ipv4: "\${cidrsubnet(var.prefix, 8, 1)}" }
`;
const ZONE = `tenon: 1
domains:
  - domain: a.example
    type: master
    soa_email: a@a.example
    use: [mail]
    records:
      - { type: A, name: www, target: "\${var.ip}" }
`;
const A = "zones/a.yaml";

async function opened(files: Readonly<Record<string, string>> = { "tenon.yaml": ROOT, [A]: ZONE }): Promise<Editor> {
  const ed = await editor(files);
  for (const [name, text] of Object.entries(files)) await ed.open(name, text);
  return ed;
}

/** `|` is where the cursor is. */
async function completed(
  text: string,
  name = A,
): Promise<{ ed: Editor; items: CompletionItem[]; text(label: string): string }> {
  const ed = await opened({ "tenon.yaml": ROOT, [A]: ZONE });
  const at = text.indexOf("|");
  await ed.write(name, text.slice(0, at) + text.slice(at + 1));
  const position = ed.document(name).positionAt(at);
  const params = { textDocument: { uri: ed.uri(name) }, position };
  const items = (await ed.connection.sendRequest("textDocument/completion", params)) as CompletionItem[];
  const applied = (label: string): string => {
    const item = items.find((one) => one.label === label);
    expect(item?.textEdit).toBeDefined();
    return ed.edited(name, [item?.textEdit as TextEdit]);
  };
  return { ed, items, text: applied };
}

const labels = (items: readonly CompletionItem[]): string[] => items.map(({ label }) => label);

test("at the beginning of a line the keys of the place are offered that are not there yet, in block and in brackets", async () => {
  const inDomain = await completed("tenon: 1\ndomains:\n  - domain: a.example\n    t|\n    soa_email: x@y.z\n");
  expect(labels(inDomain.items)).toEqual(expect.arrayContaining(["type", "records", "use", "note"]));
  expect(labels(inDomain.items)).not.toContain("domain");
  expect(inDomain.text("type")).toContain("\n    type: \n");
  expect(inDomain.text("records")).toContain("\n    records:\n      - \n");
  const inRecord = await completed(ZONE.replace("name: www", "|"));
  expect(labels(inRecord.items)).toEqual(expect.arrayContaining(["name", "ttl_sec"]));
  expect(labels(inRecord.items)).not.toContain("priority");
  expect(inRecord.text("name")).toContain('{ type: A, name: , target: "');
  const inRoot = await completed("|");
  expect(labels(inRoot.items)).toEqual(expect.arrayContaining(["tenon", "domains", "vpcs"]));
});

test("the keys of a record are those of its type, with what is required and what each means", async () => {
  const { items } = await completed(ZONE.replace("type: A, name: www", "type: SRV, |"));
  const priority = items.find(({ label }) => label === "priority");
  expect(labels(items)).toEqual(expect.arrayContaining(["service", "protocol", "port", "weight", "priority"]));
  expect(priority?.detail).toContain("whole number");
  expect(priority?.documentation).not.toBe("");
});

test("values are offered where there are few: types, TTLs, true and false, lint codes", async () => {
  expect(labels((await completed(ZONE.replace("type: A,", "type: |,"))).items)).toEqual(
    expect.arrayContaining(["A", "CNAME", "TXT"]),
  );
  expect(labels((await completed(ZONE.replace("name: www", "ttl_sec: |"))).items)).toEqual(
    expect.arrayContaining(["300", "3600"]),
  );
  expect(labels((await completed(ZONE.replace("type: master", "protect: |"))).items)).toEqual(["true", "false"]);
  const codes = await completed(ZONE.replace("use: [mail]", "lint: { off: [m|] }"));
  expect(labels(codes.items)).toContain("mx-without-spf");
});

test("record sets, variables and variables of environments are offered by name", async () => {
  const sets = await completed(ZONE.replace("[mail]", "[|]"));
  expect(labels(sets.items)).toEqual(["mail"]);
  const references = await completed(ZONE.replace("${var.ip}", "${v|"));
  expect(labels(references.items)).toEqual(["var.ip", "var.prefix", "var.ttl", "zone"]);
  expect(references.text("var.ip")).toContain('target: "${var.ip}"');
  const inEnvironment = await completed(ROOT.replace("ip: 198.51.99.7", "|"), "tenon.yaml");
  expect(labels(inEnvironment.items)).toEqual(["ip", "prefix", "ttl"]);
});

test("completion works in a text that is broken elsewhere, and in one with lines that end as on Windows", async () => {
  const broken = `${ZONE}  - domain: "b.example\n`.replace("type: master", "type: |");
  expect(labels((await completed(broken)).items)).toEqual(expect.arrayContaining(["master", "slave"]));
  const windows = ZONE.replace("type: master", "type: |").replaceAll("\n", "\r\n");
  expect(labels((await completed(windows)).items)).toEqual(expect.arrayContaining(["master", "slave"]));
});

test("hover says what explain says, in Markdown, with the range of the word", async () => {
  const ed = await opened();
  const params = ed.at(A, "soa_email", 3);
  const hover = (await ed.connection.sendRequest("textDocument/hover", params)) as Hover;
  const { stdout } = await run(["explain", "domains.soa_email", "--format", "json"]);
  const { value } = hover.contents as { value: string };
  expect(value).toContain("`domains.soa_email`");
  expect(value.replaceAll("\\", "")).toContain(JSON.parse(stdout).description);
  expect(ed.document(A).getText(hover.range)).toBe("soa_email");
  const type = (await ed.connection.sendRequest("textDocument/hover", ed.at(A, "A, name", 0))) as Hover;
  expect((type.contents as { value: string }).value).toContain("A record");
  expect(await ed.connection.sendRequest("textDocument/hover", ed.at("tenon.yaml", "\n", 0))).not.toBeUndefined();
});

const found = (ed: Editor, places: readonly Location[], texts: Readonly<Record<string, string>>): string[] =>
  places.map(({ uri, range }) => {
    const file = Object.keys(texts).find((name) => ed.uri(name) === uri) ?? "";
    return `${file}:${range.start.line + 1}:${range.start.character + 1} ${ed.document(file).getText(range)}`;
  });

test("a record set, a variable and an environment lead to their definitions, and to everywhere they are used", async () => {
  const files = { "tenon.yaml": ROOT, [A]: ZONE };
  const ed = await opened(files);
  const ask = async (method: string, at: object, more: object = {}): Promise<string[]> =>
    found(ed, (await ed.connection.sendRequest(method, { ...at, ...more })) as Location[], files);
  expect(await ask("textDocument/definition", ed.at(A, "[mail", 1))).toEqual(["tenon.yaml:7:3 mail"]);
  expect(await ask("textDocument/definition", ed.at(A, "var.ip", 5))).toEqual(["tenon.yaml:3:14 ip"]);
  expect(await ask("textDocument/definition", ed.at("tenon.yaml", "var.prefix", 4))).toEqual([
    "tenon.yaml:3:42 prefix",
  ]);
  const context = { includeDeclaration: true };
  expect(await ask("textDocument/references", ed.at("tenon.yaml", "ip:"), { context })).toEqual([
    "tenon.yaml:3:14 ip",
    "tenon.yaml:5:27 ip",
    "zones/a.yaml:8:46 ip",
  ]);
  expect(
    await ask("textDocument/references", ed.at("tenon.yaml", "mail"), { context: { includeDeclaration: false } }),
  ).toEqual(["zones/a.yaml:6:11 mail"]);
  expect(await ask("textDocument/definition", ed.at(A, "master"))).toEqual([]);
});

test("a rename changes every file, buffers that are not saved included, and quotes stay", async () => {
  const quoted = ZONE.replace("[mail]", "['mail']").replace("a.example", "b.example");
  const files = { "tenon.yaml": ROOT, [A]: ZONE, "zones/b.yaml": quoted };
  const ed = await opened(files);
  await ed.type(A, "name: www", 'name: "${var.ip}"');
  const renamed = async (at: object, newName: string): Promise<Record<string, string>> => {
    const { changes = {} } = (await ed.connection.sendRequest("textDocument/rename", {
      ...at,
      newName,
    })) as WorkspaceEdit;
    return Object.fromEntries(
      Object.keys(files)
        .filter((name) => ed.uri(name) in changes)
        .map((name) => [name, ed.edited(name, changes[ed.uri(name)] ?? [])]),
    );
  };
  const sets = await renamed(ed.at(A, "[mail", 1), "post");
  expect(Object.keys(sets)).toEqual(["tenon.yaml", A, "zones/b.yaml"]);
  expect(sets["tenon.yaml"]).toBe(ROOT.replace("mail:", "post:"));
  expect(sets["zones/b.yaml"]).toBe(quoted.replace("'mail'", "'post'"));
  const variables = await renamed(ed.at("tenon.yaml", "ip:"), "address");
  expect(variables["tenon.yaml"]).toBe(ROOT.replaceAll("ip: {", "address: {").replace("ip: 198", "address: 198"));
  expect(variables[A]).toContain('name: "${var.address}", target: "${var.address}"');
  expect(await renamed(ed.at("tenon.yaml", "staging"), "stage")).toEqual({
    "tenon.yaml": ROOT.replace("staging", "stage"),
  });
  const range = await ed.connection.sendRequest("textDocument/prepareRename", ed.at("tenon.yaml", "prefix", 2));
  expect(ed.document("tenon.yaml").getText(range as never)).toBe("prefix");
  expect(await ed.connection.sendRequest("textDocument/prepareRename", ed.at("tenon.yaml", "us-east"))).toBeNull();
});

test("a rename to a name that is taken or cannot be one is refused with the reason", async () => {
  const ed = await opened();
  const rename = (word: string, newName: string) =>
    ed.connection.sendRequest("textDocument/rename", { ...ed.at("tenon.yaml", word), newName });
  await expect(rename("ip:", "prefix")).rejects.toThrow("There is a variable `prefix` already.");
  await expect(rename("ip:", "9 lives")).rejects.toThrow("`9 lives` cannot be the name of a variable");
  await expect(rename("mail", "x-mail")).rejects.toThrow("x-");
  await expect(rename("mail", "a: b")).rejects.toThrow("cannot be the name of a record set");
  await expect(rename("us-east", "x")).rejects.toThrow("only record sets, variables and environments can");
});

/** The texts that the quick fixes of all diagnostics of the file would make. */
async function fixed(text: string): Promise<string[]> {
  const ed = await editor({ "tenon.yaml": ROOT, [A]: text });
  await ed.open(A, text);
  const diagnostics = await ed.until(
    () => (ed.last(A)?.version === 1 ? (ed.last(A)?.diagnostics ?? null) : null),
    () => ed.log.join(),
  );
  const range = { start: { line: 0, character: 0 }, end: ed.document(A).positionAt(text.length) };
  const params = { textDocument: { uri: ed.uri(A) }, range, context: { diagnostics } };
  const actions = (await ed.connection.sendRequest("textDocument/codeAction", params)) as CodeAction[];
  for (const { kind, title } of actions) expect([kind, title]).toEqual(["quickfix", expect.stringMatching(/^Write `/)]);
  return actions.map(({ edit }) => ed.edited(A, edit?.changes?.[ed.uri(A)] ?? []));
}

const CASES: Readonly<Record<string, readonly [wrong: string, ...right: string[]]>> = {
  "a misspelt key": ["name: www, tagret: 192.0.2.1", "name: www, target: 192.0.2.1"],
  "a misspelt type": ["type: CNAM, name: www, target: x", "type: CNAME, name: www, target: x"],
  "a TTL that would be rounded": [
    "type: A, ttl_sec: 301, target: 198.51.99.1",
    "type: A, ttl_sec: 300, target: 198.51.99.1",
  ],
  "a TTL with a unit": ["type: A, ttl_sec: '1h', target: 198.51.99.1", "type: A, ttl_sec: 3600, target: 198.51.99.1"],
  "a target without a final dot": [
    "type: CNAME, name: x, target: shop.example.net",
    "type: CNAME, name: x, target: shop.example.net.",
    "type: CNAME, name: x, target: shop.example.net.a.example.",
  ],
  "a final dot in quotes": [
    'type: CAA, tag: issue, target: "ca.example."',
    'type: CAA, tag: issue, target: "ca.example"',
  ],
  "several targets under target": [
    "type: A, name: x, target: [198.51.99.1]",
    "type: A, name: x, targets: [198.51.99.1]",
  ],
  "a name that repeats the zone": [
    "type: A, name: a.example, target: 198.51.99.1",
    'type: A, name: "@", target: 198.51.99.1',
    "type: A, name: a.example., target: 198.51.99.1",
  ],
  "a variable that is not there": [
    'type: A, name: x, target: "${var.prefixx}"',
    'type: A, name: x, target: "${var.prefix}"',
  ],
};
for (const [name, [wrong, ...right]] of Object.entries(CASES)) {
  test(`a quick fix mends ${name}`, async () => {
    const text = (record: string): string =>
      ZONE.replace("use: [mail]", "note: x").replace(/type: A, name: www, .*\}"/, () => record);
    const texts = await fixed(text(wrong.startsWith("type") ? wrong : `type: A, ${wrong}`));
    expect(texts).toEqual(right.map((one) => text(one.startsWith("type") ? one : `type: A, ${one}`)));
  });
}

test("there is no quick fix where a variable stands for the word, and none where the text has changed", async () => {
  expect(await fixed(ZONE.replace("name: www", 'ttl_sec: "${var.ttl}"'))).toEqual([]);
  const ed = await editor({ "tenon.yaml": ROOT, [A]: ZONE.replace("name:", "nmae:") });
  await ed.open(A, ZONE.replace("name:", "nmae:"));
  const diagnostics = await ed.codes(A, ["unknown-key"]);
  await ed.type(A, "nmae:", "nome:");
  const range = diagnostics[0]?.range;
  const params = { textDocument: { uri: ed.uri(A) }, range, context: { diagnostics } };
  expect(await ed.connection.sendRequest("textDocument/codeAction", params)).toEqual([]);
});

test("an editor that does not send data back gets the same quick fixes", async () => {
  const ed = await editor({ "tenon.yaml": ROOT, [A]: ZONE.replace("name:", "nmae:") });
  await ed.open(A, ZONE.replace("name:", "nmae:"));
  const [diagnostic] = await ed.codes(A, ["unknown-key"]);
  const { data: _, ...plain } = diagnostic ?? { range: undefined };
  const params = { textDocument: { uri: ed.uri(A) }, range: plain.range, context: { diagnostics: [plain] } };
  expect(await ed.connection.sendRequest("textDocument/codeAction", params)).toHaveLength(1);
});

test("formatting makes of a buffer what fmt makes of a file, and leaves a broken one alone", async () => {
  const untidy = ZONE.replace(
    "    type: master\n    soa_email: a@a.example\n",
    "    soa_email:   a@a.example # who\n    type: master\n",
  );
  const ed = await opened({ "tenon.yaml": ROOT, [A]: untidy });
  const params = { textDocument: { uri: ed.uri(A) }, options: { tabSize: 2, insertSpaces: true } };
  const edits = (await ed.connection.sendRequest("textDocument/formatting", params)) as TextEdit[];
  const directory = await folder({ "tenon.yaml": ROOT, [A]: untidy });
  await run(["fmt", directory]);
  const { readFile } = await import("node:fs/promises");
  expect(ed.edited(A, edits)).toBe(await readFile(`${directory}/${A}`, "utf8"));
  expect(ed.edited(A, edits)).not.toBe(untidy);
  await ed.write(A, untidy.replace("[mail]", "[mail"));
  expect(await ed.connection.sendRequest("textDocument/formatting", params)).toEqual([]);
});

test("a text too long to be a manifest is neither formatted nor looked into", async () => {
  const ed = await opened();
  await ed.write(A, `${ZONE.replace("type:", "type:  ")}${`# ${"x".repeat(1021)}\n`.repeat(8 * 1024)}`);
  expect(await ed.connection.sendRequest("textDocument/hover", ed.at(A, "soa_email", 2))).toBeNull();
  const params = { textDocument: { uri: ed.uri(A) }, options: { tabSize: 2, insertSpaces: true } };
  expect(await ed.connection.sendRequest("textDocument/formatting", params)).toBeNull();
});
