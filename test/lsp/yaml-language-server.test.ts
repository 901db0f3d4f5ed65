/** The language server that most editors have for YAML, with the published schema and without Tenon. */

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import {
  type CompletionItem,
  ConfigurationRequest,
  createProtocolConnection,
  type Diagnostic,
  DidOpenTextDocumentNotification,
  type Hover,
  InitializedNotification,
  InitializeRequest,
  type ProtocolConnection,
  PublishDiagnosticsNotification,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver/node";
import { folder } from "../cli/run.ts";

const SERVER = join(
  createRequire(import.meta.url).resolve("yaml-language-server/package.json"),
  "../bin/yaml-language-server",
);
const SCHEMA = pathToFileURL(join(import.meta.dirname, "../../schemas/manifest.schema.json")).href;

interface Open {
  readonly connection: ProtocolConnection;
  readonly uri: string;
  /** What the server says of the file first. */
  readonly told: Promise<readonly Diagnostic[]>;
}

/** @param text begins with the line that names the schema, as `tenon init` writes it */
async function open(text: string): Promise<Open> {
  const directory = await folder({ "tenon.yaml": text });
  const child = spawn(process.execPath, [SERVER, "--stdio"], { cwd: directory });
  onTestFinished(() => void child.kill("SIGKILL"));
  const connection = createProtocolConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  onTestFinished(() => connection.dispose());
  const settings = { yaml: { validate: true, hover: true, completion: true, schemaStore: { enable: false } } };
  connection.onRequest(ConfigurationRequest.type, ({ items }) =>
    items.map(({ section }) => (section === "yaml" ? settings.yaml : {})),
  );
  const told = new Promise<readonly Diagnostic[]>((resolve) => {
    connection.onNotification(PublishDiagnosticsNotification.type, ({ diagnostics }) => resolve(diagnostics));
  });
  connection.listen();
  const uri = pathToFileURL(join(directory, "tenon.yaml")).href;
  await connection.sendRequest(InitializeRequest.type, {
    processId: process.pid,
    rootUri: pathToFileURL(directory).href,
    capabilities: { workspace: { configuration: true }, textDocument: { completion: { completionItem: {} } } },
  });
  await connection.sendNotification(InitializedNotification.type, {});
  await connection.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "yaml", version: 1, text },
  });
  return { connection, uri, told };
}

const HEAD = `# yaml-language-server: $schema=${SCHEMA}\ntenon: 1\n`;
const DOMAIN = "domains:\n  - domain: a.example\n    type: master\n    soa_email: a@a.example\n    records:\n";

test("a manifest without errors has none there, and a misspelt key or value is one", async () => {
  const sound = await open(`${HEAD}${DOMAIN}      - { type: A, name: www, target: 198.51.99.1, ttl_sec: 300 }\n`);
  expect(await sound.told).toEqual([]);
  const wrong = await open(`${HEAD}${DOMAIN}      - { type: CNAM, nmae: www, target: x }\n`);
  const messages = (await wrong.told).map(({ message }) => message).join("\n");
  expect(messages).toContain("nmae");
  expect(messages).toContain("CNAME");
});

test("it completes keys and values, and explains them by the schema's descriptions", async () => {
  const text = `${HEAD}${DOMAIN}      - { type: A, name: www, target: 198.51.99.1 }\nvpcs:\n  - label: prod\n    \n`;
  const { connection, uri, told } = await open(text);
  await told;
  const lines = text.split("\n");
  const asked = { textDocument: { uri }, position: { line: lines.length - 2, character: 4 } };
  const completed = (await connection.sendRequest("textDocument/completion", asked)) as { items: CompletionItem[] };
  expect(completed.items.map(({ label }) => label)).toEqual(expect.arrayContaining(["region", "subnets"]));
  const line = lines.findIndex((one) => one.includes("soa_email"));
  const hover = (await connection.sendRequest("textDocument/hover", {
    textDocument: { uri },
    position: { line, character: 6 },
  })) as Hover;
  expect(JSON.stringify(hover.contents)).toContain("SOA");
});
