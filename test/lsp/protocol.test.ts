/** What is no proper message, and how the server ends: it answers or says why it ends, and never hangs. */

import { expect, test } from "vitest";
import { expectPlain, folder, run, start } from "../cli/run.ts";
import { editor } from "./editor.ts";

interface Answered {
  readonly code: number | null;
  readonly answers: readonly {
    readonly id: unknown;
    readonly error?: { readonly code: number; readonly message: string };
  }[];
  readonly stdout: string;
  readonly stderr: string;
}

const frame = (body: string): string => `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const message = (content: object): string => frame(JSON.stringify({ jsonrpc: "2.0", ...content }));
const INITIALIZE = message({
  id: 1,
  method: "initialize",
  params: { processId: null, rootUri: null, capabilities: {} },
});
const EXIT = message({ method: "exit" });

/** Sends the bytes; stdin then ends, unless it is to stay open. */
async function send(input: string | Buffer, staysOpen = false): Promise<Answered> {
  const child = start(["lsp"], { cwd: await folder({}) });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.on("error", () => {});
  const code = new Promise<number | null>((resolve) => child.on("close", resolve));
  child.stdin.write(input);
  if (!staysOpen) child.stdin.end();
  return { code: await code, answers: answersIn(stdout), stdout, stderr };
}

/** Fails if there is anything else on stdout. */
function answersIn(stdout: string): Answered["answers"] {
  const answers: Answered["answers"][number][] = [];
  let rest = Buffer.from(stdout);
  while (rest.length > 0) {
    const [, length = "", head = ""] = /^(?:Content-Length: (\d+)\r\n\r\n)/.exec(rest.toString("latin1")) ?? [];
    expect(length).not.toBe("");
    const start = `Content-Length: ${length}\r\n\r\n`.length + head.length;
    answers.push(JSON.parse(rest.toString("utf8", start, start + Number(length))));
    rest = rest.subarray(start + Number(length));
  }
  return answers;
}

const GARBAGE: Readonly<Record<string, readonly [input: string | Buffer, words: RegExp]>> = {
  "a request of another protocol": [
    "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    /does not begin with a header|no Content-Length/,
  ],
  "random bytes": [
    Buffer.from(Array.from({ length: 10_000 }, (_, index) => (index * 167) % 256)),
    /does not begin with a header/,
  ],
  "a header without an end": [`Content-Length: 5\r\nX: ${"x".repeat(5_000)}`, /no header ends within 4096 bytes/],
  "a header without a length": ["Content-Type: x\r\n\r\n{}", /has no Content-Length/],
  "a length that is no number": ["Content-Length: many\r\n\r\n{}", /is no number/],
  "a message of more than the limit": ["Content-Length: 99999999999\r\n\r\n{}", /has 95367 MiB, and may have 64/],
};

for (const [name, [input, words]] of Object.entries(GARBAGE)) {
  test(`${name} ends the server with a message and code 1, though stdin stays open`, async () => {
    const { code, stdout, stderr } = await send(input, true);
    expect(stderr).toMatch(words);
    expect(stderr).toMatch(/^error: the input is not the language server protocol: .*\n$/);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  });
}

test("a header may come in any parts, also within the end of its line", async () => {
  const child = start(["lsp"], { cwd: await folder({}) });
  const code = new Promise<number | null>((resolve) => child.on("close", resolve));
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const length = INITIALIZE.indexOf("\r") + 1;
  child.stdin.write(INITIALIZE.slice(0, length));
  await new Promise((resolve) => setTimeout(resolve, 500));
  child.stdin.write(INITIALIZE.slice(length));
  await expect.poll(() => stdout, { timeout: 30_000 }).toContain('"capabilities"');
  child.stdin.end(EXIT);
  expect(await code).toBe(1);
});

test("a message that is cut off ends the server with code 1", async () => {
  const { code, stderr } = await send(`${INITIALIZE}Content-Length: 100\r\n\r\n{"jsonrpc"`);
  expect(code).toBe(1);
  expect(stderr).toContain("the input ends within a message");
});

test("broken JSON, what is no request, and bad parameters are answered, and the server goes on", async () => {
  const { code, answers, stderr } = await send(
    [
      INITIALIZE,
      frame('{"jsonrpc": "2.0", "id": 2, "method"'),
      frame("[1, 2]"),
      frame("null"),
      message({ id: 3 }),
      message({ id: 4, method: "textDocument/hover", params: "x" }),
      message({ id: 5, method: "textDocument/hover", params: {} }),
      message({ id: 6, method: "tenon/unknown", params: {} }),
      message({ method: "tenon/unknown", params: {} }),
      message({ id: 7, method: "initialize", params: { capabilities: {} } }),
      message({ id: 8, method: "shutdown" }),
      EXIT,
    ].join(""),
  );
  const byId = new Map(answers.map(({ id, error }) => [id, error?.code]));
  expect(answers.filter(({ id }) => id === null).map(({ error }) => error?.code)).toEqual([-32700, -32600, -32600]);
  expect(Object.fromEntries(byId)).toMatchObject({ 3: -32600, 4: -32602, 6: -32601, 7: -32600 });
  expect(byId.get(5)).toBeLessThan(0);
  expect(byId.has(8)).toBe(true);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test("notifications without their fields are ignored, and the server goes on without a word", async () => {
  const initialize = {
    id: 1,
    method: "initialize",
    params: { processId: null, rootUri: null, capabilities: { workspace: { workspaceFolders: true } } },
  };
  const shapeless = [{}, { id: null }, { event: {} }, { event: { added: [{}], removed: [null] } }, { changes: [null] }];
  const methods = ["$/cancelRequest", "workspace/didChangeWorkspaceFolders", "workspace/didChangeWatchedFiles"];
  const documents = ["didOpen", "didChange", "didClose", "didSave"].map((name) => `textDocument/${name}`);
  const notifications = [...methods, ...documents].flatMap((method) => shapeless.map((params) => ({ method, params })));
  const { code, answers, stderr } = await send(
    [
      message(initialize),
      message({ method: "initialized", params: {} }),
      ...notifications.map(message),
      message({ id: 2, method: "shutdown" }),
      EXIT,
    ].join(""),
  );
  expect(answers.filter(({ id }) => id !== undefined && id !== null).map(({ id }) => id)).toEqual([1, 2]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test("a document that is opened without its URI or its text is none of those that are open", async () => {
  const ed = await editor({ "tenon.yaml": "tenon: 1\nfiles: [more.yaml]\n" });
  for (const textDocument of [{}, { uri: 1 }, { uri: ed.uri("more.yaml") }, { uri: ed.uri("more.yaml"), text: 1 }])
    await ed.connection.sendNotification("textDocument/didOpen", { textDocument });
  await ed.open("tenon.yaml", "tenon: 1\nfiles: [more.yaml]\nfile: 1\n");
  // A check of a project is followed by a look at all that is open.
  await ed.codes("tenon.yaml", ["file-not-found", "unknown-key"]);
  await ed.type("tenon.yaml", "file: 1\n", "");
  await ed.codes("tenon.yaml", ["file-not-found"]);
  expect(await ed.quit()).toBe(0);
});

test("before initialize, a request is refused and a notification is ignored", async () => {
  const { code, answers } = await send(
    `${message({ id: 1, method: "textDocument/hover", params: {} })}${message({ method: "initialized", params: {} })}${EXIT}`,
  );
  expect(answers).toMatchObject([{ id: 1, error: { code: -32002 } }]);
  expect(code).toBe(1);
});

test("messages come in pieces as small as a byte, with other headers, in characters of several bytes", async () => {
  const child = start(["lsp"], { cwd: await folder({}) });
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString("utf8");
  });
  const closed = new Promise<number | null>((resolve) => child.on("close", resolve));
  const body = JSON.stringify({ jsonrpc: "2.0", id: "é🦄", method: "initialize", params: { capabilities: {} } });
  const head = `content-length:${Buffer.byteLength(body)}\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n`;
  for (const byte of Buffer.from(head + body)) child.stdin.write(Buffer.from([byte]));
  child.stdin.end(message({ id: 2, method: "shutdown" }) + EXIT);
  expect(await closed).toBe(0);
  expect(answersIn(stdout).map(({ id }) => id)).toEqual(["é🦄", 2]);
});

test("the end of stdin ends the server: with code 1, or 0 after shutdown", async () => {
  expect(await send(INITIALIZE)).toMatchObject({ code: 1, stderr: "" });
  expect(await send(INITIALIZE + message({ id: 2, method: "shutdown" }))).toMatchObject({ code: 0 });
  expect(await send("")).toMatchObject({ code: 1, stdout: "" });
});

test("the server ends when the editor, whose process it knows, is gone", async () => {
  const gone = start(["--version"]);
  await new Promise((resolve) => gone.on("close", resolve));
  const { code } = await send(
    message({ id: 1, method: "initialize", params: { processId: gone.pid, rootUri: null, capabilities: {} } }),
    true,
  );
  expect(code).toBe(1);
});

test("what is no file of this machine, and places that are not there, are answered with nothing", async () => {
  const ed = await editor({ "tenon.yaml": "tenon: 1\n" });
  const ask = (method: string, uri: string, more: object = {}) =>
    ed.connection.sendRequest(method, { textDocument: { uri }, position: { line: 1e9, character: 1e9 }, ...more });
  for (const uri of [
    "untitled:x",
    "http://example.com/tenon.yaml",
    "file:///",
    "nonsense",
    "file://%00/%2F",
    ed.uri("tenon.yaml"),
  ]) {
    expect(await ask("textDocument/hover", uri)).toBeNull();
    expect(await ask("textDocument/completion", uri)).toEqual([]);
    expect(await ask("textDocument/definition", uri)).toEqual([]);
    expect(await ask("textDocument/formatting", uri, { options: { tabSize: 2, insertSpaces: true } })).toBeNull();
    const context = { diagnostics: [{ range: null, message: 1, data: { corrections: [null, 1, { from: 1 }] } }] };
    const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
    expect(await ask("textDocument/codeAction", uri, { range, context })).toEqual([]);
  }
  expect(await ed.quit()).toBe(0);
});

test("a hostile manifest does not keep the server from answering", async () => {
  const bomb = Array.from(
    { length: 12 },
    (_, level) =>
      `x-l${level + 1}: &l${level + 1} [${Array(10)
        .fill(level === 0 ? "a" : `*l${level}`)
        .join(", ")}]`,
  );
  const ed = await editor({
    "tenon.yaml": `tenon: 1\n${bomb.join("\n")}\n`,
    "deep/tenon.yaml": "[".repeat(100_000),
    "large/tenon.yaml": "",
  });
  const large = `tenon: 1\ndomains:\n${"  - { domain: a.example, records: [{ type: A, name: x, target: ${var.x} }] }\n".repeat(5_000)}`;
  await ed.open("large/tenon.yaml", large);
  await ed.open("small.yaml", "tenon: 1\ndomains:\n  - domain: a.example\n");
  const hovered = await ed.connection.sendRequest("textDocument/hover", ed.at("small.yaml", "domain:", 2));
  expect(hovered).toMatchObject({ contents: { kind: "markdown" } });
  await ed.codes("tenon.yaml", ["too-many-aliases"]);
  await ed.codes("deep/tenon.yaml", ["nested-too-deep"]);
  await ed.until(
    () => ed.last("large/tenon.yaml") ?? null,
    () => ed.log.join(),
  );
});

test("with options that are not there the command says what is wrong", async () => {
  expectPlain(await run(["lsp", "--port", "1"]), 1, ["unknown option"]);
  expectPlain(await run(["lsp", "--dialect", "two words"]), 1, ["dialect"]);
});
