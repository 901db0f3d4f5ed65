/** The process that reads and checks projects for the language server, so that the server itself can always answer. */

import { resolve } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type CancellationToken,
  createMessageConnection,
  IPCMessageReader,
  IPCMessageWriter,
  LSPErrorCodes,
  ResponseError,
} from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import { reformat } from "../format/reformat.ts";
import { Budget } from "../manifest/limits.ts";
import { type LoadOptions, readManifests } from "../manifest/load.ts";
import { LastingFiles, parseFile } from "../manifest/parse.ts";
import { Places } from "../manifest/positions.ts";
import type { ProjectFiles } from "../manifest/read.ts";
import type { Correction, Diagnostic, Sources, Span } from "../model/diagnostic.ts";
import { escapeText } from "../render/terminal.ts";
import { units } from "../units/index.ts";
import { Buffers } from "./buffers.ts";
import { occurrencesIn } from "./names.ts";
import {
  BufferNotification,
  CheckRequest,
  DiskNotification,
  type Finding,
  FormatRequest,
  NamesRequest,
  type Occurrence,
  type Outcome,
  type Place,
} from "./requests.ts";

/** Checks a project as `tenon validate` does. `files` and `parsed` are for the loader. */
export type Check = (
  directory: string,
  more: Pick<LoadOptions, "files" | "parsed">,
) => Promise<{ readonly diagnostics: readonly Diagnostic[]; readonly sources: Sources }>;

export interface AnalystOptions {
  readonly check: Check;
  /** Files of variables that are named on the command line, relative to the working folder. */
  readonly variableFiles: readonly string[];
}

/** So long a check goes on before it looks whether it is still wanted. */
const MAX_TURN_MILLISECONDS = 25;
/** Of one project; a hostile one has a million. Errors come first. */
const MAX_FINDINGS = 5_000;

/** Serves the parent process until that is gone. */
export function runAnalyst(options: AnalystOptions): Promise<void> {
  const analyst = new Analyst(options);
  const connection = createMessageConnection(new IPCMessageReader(process), new IPCMessageWriter(process));
  connection.onNotification(BufferNotification, ({ path, text }) => analyst.setBuffer(path, text));
  connection.onNotification(DiskNotification, () => analyst.lookAgain());
  connection.onRequest(CheckRequest, ({ directory }, token) => analyst.check(directory, token));
  connection.onRequest(NamesRequest, ({ directory }, token) => analyst.names(directory, token));
  connection.onRequest(FormatRequest, ({ text }) => format(text));
  connection.listen();
  return new Promise((done) => process.once("disconnect", () => done()));
}

class Analyst {
  readonly #options: AnalystOptions;
  readonly #buffers: Buffers = new Buffers();
  /** By folder of the project. */
  readonly #parsed: Map<string, LastingFiles> = new Map();
  /** Buffers are opened and closed in the order in which that is told, and before what is asked after it. */
  #ready: Promise<void> = Promise.resolve();

  constructor(options: AnalystOptions) {
    this.#options = options;
  }

  setBuffer(path: string, text: string | null): void {
    this.#ready = this.#ready.then(() => this.#buffers.set(path, text));
  }

  lookAgain(): void {
    this.#ready = this.#ready.then(() => this.#buffers.lookAgain());
  }

  async check(directory: string, token: CancellationToken): Promise<Outcome> {
    await this.#ready;
    const parsed = this.#parsedOf(directory);
    const [reads, parses] = [this.#buffers.reads, parsed.parses];
    const { diagnostics, sources } = await this.#options.check(directory, { files: this.#wanted(token), parsed });
    const isProject = !diagnostics.some(({ code, span }) => code === "no-project" && span === undefined);
    const texts = new Texts(directory, this.#options.variableFiles, sources, this.#buffers);
    if (!isProject) this.#parsed.delete(directory);
    return {
      isProject,
      files: sources.files().map((file) => texts.path(file)),
      findings: isProject ? mostImportant(diagnostics).map((diagnostic) => findingOf(diagnostic, texts)) : [],
      readCount: this.#buffers.reads - reads,
      parsedCount: parsed.parses - parses,
    };
  }

  async names(directory: string, token: CancellationToken): Promise<Occurrence[]> {
    await this.#ready;
    const parsed = this.#parsedOf(directory);
    const { sources } = await readManifests({ directory, files: this.#wanted(token), parsed, allowedSeconds: [] });
    const texts = new Texts(directory, this.#options.variableFiles, sources, this.#buffers);
    return sources.files().flatMap((file) => {
      const text = sources.text(file) ?? "";
      const kept = parsed.look(file, text);
      const found = kept?.tree == null ? [] : occurrencesIn(kept.tree, parsed.places, text, file);
      return found.map(({ span, ...rest }) => ({ ...rest, place: texts.place(span) }));
    });
  }

  #parsedOf(directory: string): LastingFiles {
    const parsed = this.#parsed.get(directory) ?? new LastingFiles();
    this.#parsed.set(directory, parsed);
    return parsed;
  }

  /** The buffers, which cannot be read any more once nobody wants the answer, and let messages in between. */
  #wanted(token: CancellationToken): ProjectFiles {
    const buffers = this.#buffers;
    let turn = performance.now();
    const read: ProjectFiles["read"] = async (path) => {
      if (performance.now() - turn > MAX_TURN_MILLISECONDS) {
        await nextTurn();
        turn = performance.now();
      }
      if (token.isCancellationRequested) throw new ResponseError(LSPErrorCodes.RequestCancelled, "No longer wanted.");
      return buffers.read(path);
    };
    return {
      has: (path) => buffers.has(path),
      realpath: (path) => buffers.realpath(path),
      list: (folder) => buffers.list(folder),
      read,
    };
  }
}

function mostImportant(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  if (diagnostics.length <= MAX_FINDINGS) return diagnostics;
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const others = diagnostics.filter(({ severity }) => severity !== "error");
  return [...errors, ...others].slice(0, MAX_FINDINGS);
}

function findingOf(diagnostic: Diagnostic, texts: Texts): Finding {
  const { code, severity, summary, detail, fix, span, related = [], corrections = [] } = diagnostic;
  return {
    place: span === undefined ? texts.root : texts.place(span),
    ...{ code, severity },
    message: [summary, detail ?? "", fix ?? ""]
      .filter((part) => part !== "")
      .map(escapeText)
      .join("\n"),
    related: related.map(({ message, span: at }) => ({ message: escapeText(message), place: texts.place(at) })),
    corrections: corrections.map(({ from, to, span: at, unquotes = false }: Correction) => ({
      ...{ from, to, unquotes },
      range: at === undefined ? null : texts.place(at).range,
    })),
  };
}

/** The texts that spans point into, as an editor names them and counts in them. */
class Texts {
  readonly #directory: string;
  readonly #variableFiles: ReadonlySet<string>;
  readonly #sources: Sources;
  readonly #buffers: Buffers;
  readonly #documents: Map<string, TextDocument> = new Map();

  constructor(directory: string, variableFiles: readonly string[], sources: Sources, buffers: Buffers) {
    this.#directory = directory;
    this.#variableFiles = new Set(variableFiles);
    this.#sources = sources;
    this.#buffers = buffers;
  }

  /** For what concerns the project as a whole. */
  get root(): Place {
    const start = { line: 0, character: 0 };
    return { path: this.path("tenon.yaml"), range: { start, end: start } };
  }

  path(file: string): string {
    return this.#variableFiles.has(file) ? resolve(file) : resolve(this.#directory, file);
  }

  place({ file, start, end }: Span): Place {
    const document = this.#documents.get(file) ?? this.#documentOf(file);
    this.#documents.set(file, document);
    // A byte order mark is no part of the text that spans count in, but one of the editor's.
    const shift = this.#buffers.hasBom(this.path(file)) ? 1 : 0;
    const range = { start: document.positionAt(start + shift), end: document.positionAt(end + shift) };
    return { path: this.path(file), range };
  }

  #documentOf(file: string): TextDocument {
    const bom = this.#buffers.hasBom(this.path(file)) ? "\ufeff" : "";
    return TextDocument.create(file, "", 0, bom + (this.#sources.text(file) ?? ""));
  }
}

/** See `FormatRequest`. */
async function format(text: string): Promise<string | null> {
  const problems: Diagnostic[] = [];
  const report = (diagnostic: Diagnostic): void => void problems.push(diagnostic);
  const { tree } = await parseFile("", text, { places: new Places(), budget: new Budget(), report });
  if (tree === null || problems.some(({ severity }) => severity === "error")) return null;
  const formatted = await reformat(text, units);
  return formatted.ok ? formatted.text : null;
}
