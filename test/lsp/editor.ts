/** An editor: the protocol's own client, over the stdin and stdout of a real `tenon lsp`. */

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished } from "vitest";
import {
  type ClientCapabilities,
  createProtocolConnection,
  type Diagnostic,
  DidChangeTextDocumentNotification,
  DidChangeWatchedFilesNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  DidSaveTextDocumentNotification,
  ExitNotification,
  FileChangeType,
  InitializedNotification,
  InitializeRequest,
  LogMessageNotification,
  type Position,
  type ProtocolConnection,
  PublishDiagnosticsNotification,
  RegistrationRequest,
  ShowMessageNotification,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
  type TextEdit,
} from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import { folder, start } from "../cli/run.ts";

interface EditorOptions {
  readonly args?: readonly string[];
  /** Whether the editor can tell what changes on the disk. Default: true. */
  readonly watches?: boolean;
  /** Starts the server in the folder; default: the built command line. */
  readonly server?: (directory: string) => ReturnType<typeof start>;
  /** Folders of the workspace, within the folder; default: the folder itself. */
  readonly workspace?: readonly string[];
}

export interface Published {
  readonly version: number | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

const CAPABILITIES: ClientCapabilities = {
  textDocument: { publishDiagnostics: { relatedInformation: true, versionSupport: true, dataSupport: true } },
  workspace: { workspaceFolders: true },
};

export class Editor {
  readonly directory: string;
  readonly connection: ProtocolConnection;
  readonly process: ReturnType<typeof start>;
  /** What the server logged. */
  readonly log: string[] = [];
  /** What it showed to the person. */
  readonly shown: string[] = [];
  readonly #documents: Map<string, TextDocument> = new Map();
  readonly #published: Map<string, Published[]> = new Map();
  readonly #waiting: Set<() => void> = new Set();

  constructor(directory: string, process: ReturnType<typeof start>) {
    this.directory = directory;
    this.process = process;
    this.connection = createProtocolConnection(
      new StreamMessageReader(process.stdout),
      new StreamMessageWriter(process.stdin),
    );
    this.connection.onNotification(PublishDiagnosticsNotification.type, ({ uri, version, diagnostics }) => {
      this.#published.set(uri, [...(this.#published.get(uri) ?? []), { version, diagnostics }]);
      this.#look();
    });
    this.connection.onNotification(LogMessageNotification.type, ({ message }) => {
      this.log.push(message);
      this.#look();
    });
    this.connection.onNotification(ShowMessageNotification.type, ({ message }) => {
      this.shown.push(message);
      this.#look();
    });
    this.connection.onRequest(RegistrationRequest.type, () => {});
    this.connection.listen();
  }

  uri(file: string): string {
    return pathToFileURL(join(this.directory, file)).href;
  }

  document(file: string): TextDocument {
    const document = this.#documents.get(file);
    if (document === undefined) throw new Error(`${file} is not open`);
    return document;
  }

  async open(file: string, text: string): Promise<void> {
    const document = TextDocument.create(this.uri(file), file.endsWith(".yaml") ? "yaml" : "plaintext", 1, text);
    this.#documents.set(file, document);
    const { uri, languageId, version } = document;
    await this.connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId, version, text },
    });
  }

  /** The whole text, as some editors send it. */
  async write(file: string, text: string): Promise<void> {
    await this.#change(file, [{ text }]);
  }

  /** What is typed, without the rest: `from` stands in the text once. */
  async type(file: string, from: string, to: string): Promise<void> {
    const document = this.document(file);
    const at = document.getText().indexOf(from);
    expect(at).toBeGreaterThan(-1);
    const range = { start: document.positionAt(at), end: document.positionAt(at + from.length) };
    await this.#change(file, [{ range, text: to }]);
  }

  async #change(file: string, contentChanges: Parameters<typeof TextDocument.update>[1]): Promise<void> {
    const document = TextDocument.update(this.document(file), contentChanges, this.document(file).version + 1);
    this.#documents.set(file, document);
    const { uri, version } = document;
    await this.connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version },
      contentChanges,
    });
  }

  async save(file: string): Promise<void> {
    await this.connection.sendNotification(DidSaveTextDocumentNotification.type, {
      textDocument: { uri: this.uri(file) },
    });
  }

  async close(file: string): Promise<void> {
    this.#documents.delete(file);
    await this.connection.sendNotification(DidCloseTextDocumentNotification.type, {
      textDocument: { uri: this.uri(file) },
    });
  }

  async changedOnDisk(file: string, type: FileChangeType = FileChangeType.Changed): Promise<void> {
    await this.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
      changes: [{ uri: this.uri(file), type }],
    });
  }

  /** Waits until the server has said of the file what the codes are, in the order of the text; the last word counts. */
  async codes(file: string, codes: readonly string[]): Promise<readonly Diagnostic[]> {
    return this.until(
      () => {
        const last = this.last(file);
        const found = last?.diagnostics.map(({ code }) => String(code)) ?? [];
        const version = this.#documents.get(file)?.version;
        const isCurrent = last?.version === undefined || last.version === version;
        return isCurrent && JSON.stringify(found) === JSON.stringify(codes) && last !== undefined
          ? last.diagnostics
          : null;
      },
      () => `${file}: ${JSON.stringify(this.last(file))} instead of ${codes.join()}\n${this.log.join("\n")}`,
    );
  }

  /** What was said of the file last; undefined: nothing. */
  last(file: string): Published | undefined {
    return this.#published.get(this.uri(file))?.at(-1);
  }

  /** How often something was said of the file. */
  count(file: string): number {
    return this.#published.get(this.uri(file))?.length ?? 0;
  }

  /** The checks of the folder so far, as the log has them. */
  checks(): string[] {
    return this.log.filter((line) => line.startsWith("checked "));
  }

  /** Waits for as many checks. */
  async checked(count: number): Promise<string> {
    return this.until(
      () => this.checks()[count - 1] ?? null,
      () => this.log.join("\n"),
    );
  }

  async until<Value>(found: () => Value | null, why: () => string): Promise<Value> {
    const seconds = 40;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new Error(`not after ${seconds} s: ${why()}`));
      }, seconds * 1000);
      const look = (): void => {
        const value = found();
        if (value === null) return;
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(value);
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Of the first place of `word` in an open file, so many characters into it. */
  at(file: string, word: string, into = 0): { textDocument: { uri: string }; position: Position } {
    const document = this.document(file);
    const at = document.getText().indexOf(word);
    expect(at).toBeGreaterThan(-1);
    return { textDocument: { uri: this.uri(file) }, position: document.positionAt(at + into) };
  }

  /** The text of an open file with edits, which are not sent. */
  edited(file: string, edits: readonly TextEdit[]): string {
    return TextDocument.applyEdits(this.document(file), [...edits]);
  }

  /** @returns the exit code */
  async quit(): Promise<number | null> {
    const ended = new Promise<number | null>((resolve) => this.process.on("close", resolve));
    await this.connection.sendRequest(ShutdownRequest.type);
    await this.connection.sendNotification(ExitNotification.type);
    return ended;
  }

  #look(): void {
    for (const look of [...this.#waiting]) look();
  }
}

/** An editor that is open on a folder with these files. */
export async function editor(files: Readonly<Record<string, string>>, options: EditorOptions = {}): Promise<Editor> {
  const directory = await folder(files);
  return editorIn(directory, options);
}

export async function editorIn(directory: string, options: EditorOptions = {}): Promise<Editor> {
  const { args = [], watches = true, workspace = [""], server } = options;
  const started = new Editor(directory, server?.(directory) ?? start(["lsp", ...args], { cwd: directory }));
  onTestFinished(() => started.connection.dispose());
  await started.connection.sendRequest(InitializeRequest.type, {
    processId: process.pid,
    rootUri: null,
    capabilities: {
      ...CAPABILITIES,
      workspace: { ...CAPABILITIES.workspace, didChangeWatchedFiles: { dynamicRegistration: watches } },
    },
    workspaceFolders: workspace.map((name) => ({ uri: started.uri(name), name })),
  });
  await started.connection.sendNotification(InitializedNotification.type, {});
  return started;
}
