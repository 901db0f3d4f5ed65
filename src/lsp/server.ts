/** `tenon lsp`: the language server. It answers an editor; what takes long is done by the analyst. */

import type { Readable, Writable } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  type CodeActionParams,
  type CompletionParams,
  type Connection,
  createConnection,
  type DefinitionParams,
  DidChangeWatchedFilesNotification,
  type DocumentFormattingParams,
  type HoverParams,
  type InitializeParams,
  type InitializeResult,
  type Location,
  LSPErrorCodes,
  type ReferenceParams,
  type RenameParams,
  ResponseError,
  TextDocumentSyncKind,
  TextDocuments,
  type WorkspaceEdit,
} from "vscode-languageserver";
import { type CancellationToken, createProtocolConnection, StreamMessageWriter } from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import { MAX_FILE_BYTES } from "../manifest/limits.ts";
import type { JsonObject } from "../model/resource.ts";
import { Analysis, type AnalystCommand, NoAnswer } from "./analysis.ts";
import { complete, hover, namesOf } from "./completion.ts";
import { quickFixes } from "./corrections.ts";
import { EditorMessages } from "./messages.ts";
import { renameEdits, whyNotCalled } from "./names.ts";
import { Projects } from "./projects.ts";
import type { Occurrence, Place } from "./requests.ts";

export interface ServerOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Says something on stderr; a line. */
  say(text: string): void;
  readonly version: string;
  readonly analyst: AnalystCommand;
  /** Of a manifest. */
  readonly schema: JsonObject;
  readonly allowedSeconds: readonly number[];
  lintCodes(): Promise<readonly string[]>;
}

/** How often it is looked whether the editor, which says its process id, still runs. */
const EDITOR_ALIVE_MILLISECONDS = 3_000;

/** @returns the exit code: 0 after `shutdown`, 1 if the editor has gone without it or sends what is not the protocol */
export function serve(options: ServerOptions): Promise<0 | 1> {
  return new Promise((finish) => {
    const server = new Server(options, (code) => {
      server.close();
      finish(code);
    });
    server.listen();
  });
}

class Server {
  readonly #options: ServerOptions;
  readonly #end: (code: 0 | 1) => void;
  readonly #connection: Connection;
  readonly #documents: TextDocuments<TextDocument>;
  readonly #projects: Projects;
  readonly #analysis: Analysis;
  /** Path → the URI that the editor has for it. */
  readonly #uris: Map<string, string> = new Map();
  #alive: NodeJS.Timeout | null = null;
  #isShutDown = false;
  #isEnded = false;
  #canWatch = false;
  #isWatching = false;
  #hasWorkspaceFolders = false;
  #folders: readonly string[] = [];
  #lintCodes: Promise<readonly string[]> | null = null;

  constructor(options: ServerOptions, end: (code: 0 | 1) => void) {
    this.#options = options;
    this.#end = (code) => {
      if (this.#isEnded) return;
      this.#isEnded = true;
      end(code);
    };
    this.#connection = this.#connect();
    this.#documents = new TextDocuments(TextDocument);
    this.#analysis = new Analysis(options.analyst);
    const isWatching = (): boolean => this.#isWatching;
    this.#projects = new Projects(this.#analysis, {
      publish: (path, diagnostics) => {
        const version = this.#documentAt(path)?.version;
        const known = version === undefined ? {} : { version };
        void this.#connection.sendDiagnostics({ uri: this.#uriOf(path), ...known, diagnostics });
      },
      log: (text) => this.#connection.console.log(text),
      warn: (text) => this.#connection.window.showWarningMessage(`Tenon: ${text}`),
      uriOf: (path) => this.#uriOf(path),
      textOf: (path) => this.#documentAt(path)?.getText(),
      openPaths: () => this.#documents.all().flatMap(({ uri }) => this.#pathOf(uri) ?? []),
      get watches() {
        return isWatching();
      },
    });
  }

  listen(): void {
    this.#handleLife();
    this.#handleDocuments();
    this.#handleQuestions();
    this.#documents.listen(this.#connection);
    this.#connection.listen();
  }

  close(): void {
    if (this.#alive !== null) clearInterval(this.#alive);
    this.#projects.close();
    this.#connection.dispose();
    this.#options.input.destroy();
  }

  #connect(): Connection {
    const { input, output, say } = this.#options;
    const writer = new StreamMessageWriter(output);
    const reader = new EditorMessages({
      input,
      answer: (response) => void writer.write(response).catch(() => {}),
      refuse: (why) => {
        say(`error: the input is not the language server protocol: ${why}\n`);
        this.#end(1);
      },
    });
    // An editor that is gone reads no more.
    output.on("error", () => this.#end(1));
    const server = this;
    const watchDog = {
      get shutdownReceived(): boolean {
        return server.#isShutDown;
      },
      set shutdownReceived(value: boolean) {
        server.#isShutDown = value;
      },
      initialize: ({ processId }: InitializeParams) => this.#watchEditor(processId),
      exit: (code: number) => this.#end(code === 0 ? 0 : 1),
    };
    return createConnection((logger) => createProtocolConnection(reader, writer, logger), watchDog);
  }

  #watchEditor(processId: number | null): void {
    if (typeof processId !== "number" || !Number.isSafeInteger(processId) || processId <= 0) return;
    this.#alive = setInterval(() => {
      if (!isAlive(processId)) this.#end(1);
    }, EDITOR_ALIVE_MILLISECONDS);
    this.#alive.unref();
  }

  // From initialize to exit.

  #handleLife(): void {
    this.#connection.onInitialize((params) => this.#initialize(params));
    this.#connection.onInitialized(() => void this.#initialized());
    this.#connection.onShutdown(() => this.#projects.close());
    this.#connection.onDidChangeWatchedFiles(({ changes }) => {
      void this.#projects.changedOnDisk(changes.flatMap(({ uri }) => this.#pathOf(uri) ?? []));
    });
  }

  #initialize({ capabilities, workspaceFolders, rootUri }: InitializeParams): InitializeResult {
    const { workspace } = capabilities;
    this.#canWatch = workspace?.didChangeWatchedFiles?.dynamicRegistration === true;
    this.#hasWorkspaceFolders = workspace?.workspaceFolders === true;
    const named = workspaceFolders?.map(({ uri }) => uri) ?? (typeof rootUri === "string" ? [rootUri] : []);
    this.#folders = named.flatMap((uri) => this.#pathOf(uri) ?? []);
    return {
      serverInfo: { name: "tenon", version: this.#options.version },
      capabilities: {
        positionEncoding: "utf-16",
        textDocumentSync: {
          openClose: true,
          change: TextDocumentSyncKind.Incremental,
          save: true,
        },
        completionProvider: { triggerCharacters: ["$", "{", ".", " "] },
        hoverProvider: true,
        definitionProvider: true,
        referencesProvider: true,
        renameProvider: { prepareProvider: true },
        codeActionProvider: { codeActionKinds: ["quickfix"] },
        documentFormattingProvider: true,
        workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
      },
    };
  }

  async #initialized(): Promise<void> {
    if (this.#hasWorkspaceFolders) {
      this.#connection.workspace.onDidChangeWorkspaceFolders(({ added, removed }) => {
        for (const { uri } of removed) this.#withPath(uri, (path) => this.#projects.leave(path));
        for (const { uri } of added) this.#withPath(uri, (path) => void this.#projects.search(path));
      });
    }
    if (this.#canWatch) {
      const watchers = [{ globPattern: "**/*" }];
      await this.#connection.client.register(DidChangeWatchedFilesNotification.type, { watchers }).then(
        () => {
          this.#isWatching = true;
        },
        () => {},
      );
    }
    for (const folder of this.#folders) await this.#projects.search(folder);
  }

  // Buffers.

  #handleDocuments(): void {
    const documents = this.#documents;
    const opened = new Set<string>();
    documents.onDidChangeContent(({ document }) => {
      this.#withPath(document.uri, (path) => {
        this.#uris.set(path, document.uri);
        this.#analysis.setBuffer(path, document.getText());
        if (opened.has(path)) this.#projects.changed(path);
        else void this.#projects.opened(path);
        opened.add(path);
      });
    });
    documents.onDidClose(({ document }) => {
      this.#withPath(document.uri, (path) => {
        opened.delete(path);
        this.#analysis.setBuffer(path, null);
        this.#projects.closed(path);
      });
    });
    documents.onDidSave(() => this.#projects.saved());
  }

  // What the editor asks about a place.

  #handleQuestions(): void {
    const connection = this.#connection;
    connection.onHover((params) => this.#hover(params));
    connection.onCompletion((params, token) => this.#complete(params, token));
    connection.onDefinition((params, token) => this.#locations(params, token, ({ isDefinition }) => isDefinition));
    connection.onReferences((params, token) => this.#references(params, token));
    connection.onPrepareRename(async (params, token) => (await this.#named(params, token))?.found.place.range ?? null);
    connection.onRenameRequest((params, token) => this.#rename(params, token));
    connection.onCodeAction((params) => this.#codeActions(params));
    connection.onDocumentFormatting((params, token) => this.#format(params, token));
  }

  async #hover({ textDocument, position }: HoverParams): ReturnType<typeof hover> {
    const document = this.#manifest(textDocument.uri);
    return document === null ? null : hover(document, document.offsetAt(position), this.#options.schema);
  }

  async #complete({ textDocument, position }: CompletionParams, token: CancellationToken): ReturnType<typeof complete> {
    const document = this.#manifest(textDocument.uri);
    if (document === null) return [];
    this.#lintCodes ??= this.#options.lintCodes();
    const { schema, allowedSeconds } = this.#options;
    const names = (): Promise<readonly Occurrence[]> => this.#names(textDocument.uri, token);
    const knowledge = { schema, allowedSeconds, lintCodes: await this.#lintCodes, names };
    return complete(document, document.offsetAt(position), knowledge);
  }

  async #references(params: ReferenceParams, token: CancellationToken): Promise<Location[]> {
    const { includeDeclaration } = params.context;
    return this.#locations(params, token, ({ isDefinition }) => includeDeclaration || !isDefinition);
  }

  async #locations(
    params: DefinitionParams,
    token: CancellationToken,
    isWanted: (occurrence: Occurrence) => boolean,
  ): Promise<Location[]> {
    const named = await this.#named(params, token);
    const places = named === null ? [] : alike(named.found, named.names).filter(isWanted);
    return places.map(({ place }) => ({ uri: this.#uriOf(place.path), range: place.range }));
  }

  async #rename(params: RenameParams, token: CancellationToken): Promise<WorkspaceEdit> {
    const named = await this.#named(params, token);
    if (named === null) {
      throw new ResponseError(
        LSPErrorCodes.RequestFailed,
        "Nothing here can be renamed: only record sets, variables and environments can.",
      );
    }
    const { found, names } = named;
    const { kind } = found;
    const name = params.newName.trim();
    if (name === found.name) return { changes: {} };
    const why = whyNotCalled(kind, name, namesOf(kind, names));
    if (why !== null) throw new ResponseError(LSPErrorCodes.RequestFailed, why);
    const files = renameEdits(alike(found, names), name);
    return { changes: Object.fromEntries([...files].map(([path, edits]) => [this.#uriOf(path), edits])) };
  }

  /** What is named at a place, and all names of the project. */
  async #named(
    { textDocument, position }: DefinitionParams,
    token: CancellationToken,
  ): Promise<{ readonly found: Occurrence; readonly names: readonly Occurrence[] } | null> {
    const path = this.#pathOf(textDocument.uri);
    const names = await this.#names(textDocument.uri, token);
    const found = names.find(({ place }) => place.path === path && holds(place, position));
    return found === undefined ? null : { found, names };
  }

  async #names(uri: string, token: CancellationToken): Promise<readonly Occurrence[]> {
    const path = this.#pathOf(uri);
    if (path === null) return [];
    return this.#projects.namesFor(path, token).catch((error: unknown) => unanswered(error, []));
  }

  #codeActions({ textDocument, context }: CodeActionParams): ReturnType<typeof quickFixes> {
    const document = this.#documents.get(textDocument.uri);
    const path = this.#pathOf(textDocument.uri);
    if (document === undefined || path === null) return [];
    return quickFixes(document, context.diagnostics, this.#projects.publishedFor(path));
  }

  async #format({ textDocument }: DocumentFormattingParams, token: CancellationToken) {
    const document = this.#manifest(textDocument.uri);
    if (document === null) return null;
    const text = document.getText();
    const formatted = await this.#analysis.format(text, token).catch((error: unknown) => unanswered(error, null));
    if (formatted === null || formatted === text) return [];
    return [{ range: { start: { line: 0, character: 0 }, end: document.positionAt(text.length) }, newText: formatted }];
  }

  /** Zone files are no manifests, and neither is what is too long to be read as one. */
  #manifest(uri: string): TextDocument | null {
    const document = this.#documents.get(uri);
    if (document === undefined || document.getText().length > MAX_FILE_BYTES) return null;
    return document.languageId === "yaml" || /\.ya?ml$/i.test(uri) ? document : null;
  }

  #documentAt(path: string): TextDocument | undefined {
    return this.#documents.get(this.#uriOf(path));
  }

  #uriOf(path: string): string {
    return this.#uris.get(path) ?? pathToFileURL(path).href;
  }

  /** @returns null: it is no file of this machine */
  #pathOf(uri: string): string | null {
    try {
      return uri.startsWith("file:") ? fileURLToPath(uri) : null;
    } catch {
      return null;
    }
  }

  #withPath(uri: string, use: (path: string) => void): void {
    const path = this.#pathOf(uri);
    if (path !== null) use(path);
  }
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    // It is another person's, and runs.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function alike({ kind, name }: Occurrence, names: readonly Occurrence[]): Occurrence[] {
  return names.filter((one) => one.kind === kind && one.name === name);
}

function holds({ range }: Place, { line, character }: { readonly line: number; readonly character: number }): boolean {
  const { start, end } = range;
  return start.line === line && start.character <= character && character <= end.character;
}

/** @throws the error if it is not that there is no answer */
function unanswered<Value>(error: unknown, instead: Value): Value {
  if (error instanceof NoAnswer) return instead;
  throw error;
}
