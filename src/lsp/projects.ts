/** The projects of an editor: found, checked when a file of theirs has changed, and what was found told for each file. */

import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  type CancellationToken,
  CancellationTokenSource,
  type Diagnostic,
  DiagnosticSeverity,
  DiagnosticTag,
} from "vscode-languageserver/node";
import { isWithin } from "../files/paths.ts";
import { ROOT_FILE } from "../manifest/files.ts";
import { type Analysis, NoAnswer } from "./analysis.ts";
import type { Finding, Occurrence, Outcome } from "./requests.ts";

/** After the last keystroke. */
const DEBOUNCE_MILLISECONDS = 150;
/** Folders that are looked through for projects, in each folder of the workspace. */
const MAX_SEARCHED_FOLDERS = 10_000;
/** Further ones are not checked until a file of theirs is opened. */
const MAX_FOUND_PROJECTS = 100;
/** Of one file; an editor shows no more. */
const MAX_PUBLISHED = 1_000;

/** What the editor is told, and what it has said. */
export interface Editor {
  publish(path: string, diagnostics: Diagnostic[]): void;
  /** For the editor's log. */
  log(text: string): void;
  /** Something that a person should see. */
  warn(text: string): void;
  uriOf(path: string): string;
  /** The text of an open buffer; undefined: there is none. */
  textOf(path: string): string | undefined;
  openPaths(): readonly string[];
  /** Whether the editor tells what changes on the disk. */
  readonly watches: boolean;
}

interface Project {
  readonly directory: string;
  /** What was found last; null: it has not been checked yet. */
  outcome: Outcome | null;
  timer: NodeJS.Timeout | null;
  /** Of the check that is under way. */
  checking: CancellationTokenSource | null;
}

export class Projects {
  readonly #analysis: Analysis;
  readonly #editor: Editor;
  /** By folder. */
  readonly #projects: Map<string, Project> = new Map();
  /** Path → what was told of the file last. */
  readonly #published: Map<string, Diagnostic[]> = new Map();
  /** Open files that no project reads, although they look as if they were manifests. */
  readonly #strays: Set<string> = new Set();

  constructor(analysis: Analysis, editor: Editor) {
    this.#analysis = analysis;
    this.#editor = editor;
  }

  /** Looks for projects in a folder of the workspace, and checks them. */
  async search(folder: string): Promise<void> {
    const found = await findRootFolders(folder);
    for (const directory of found.slice(0, MAX_FOUND_PROJECTS)) this.#checkSoon(this.#add(directory));
    if (found.length > MAX_FOUND_PROJECTS) {
      const rest = found.length - MAX_FOUND_PROJECTS;
      this.#editor.log(`${folder} has ${rest} more projects, which are checked once a file of theirs is opened.`);
    }
  }

  /** A folder of the workspace is gone: what was told of its files is taken back. */
  leave(folder: string): void {
    for (const project of [...this.#projects.values()]) {
      if (isWithin(project.directory, folder)) this.#remove(project);
    }
  }

  async opened(path: string): Promise<void> {
    for (const directory of await this.#rootFoldersAbove(path)) this.#add(directory);
    this.#strays.delete(path);
    this.#checkAll(path);
    if (this.#above(path).length === 0) this.#tellStray(path);
  }

  changed(path: string): void {
    if (this.#above(path).length === 0) this.#tellStray(path);
    const isManifest = /\.ya?ml$/i.test(path);
    for (const project of this.#projects.values()) {
      const { outcome, directory } = project;
      const isRead = outcome?.files.includes(path) ?? true;
      if (isRead || (isManifest && isWithin(path, directory))) this.#checkSoon(project);
    }
  }

  closed(path: string): void {
    if (this.#strays.delete(path)) this.#publish(path, []);
    this.#analysis.lookAgain();
    this.#checkAll(path);
  }

  saved(): void {
    this.#analysis.lookAgain();
  }

  /** Files have appeared, changed or gone on the disk. */
  async changedOnDisk(paths: readonly string[]): Promise<void> {
    this.#analysis.lookAgain();
    for (const path of paths) {
      if (basename(path) === ROOT_FILE && (await isFile(path))) this.#add(dirname(path));
      this.#checkAll(path);
    }
  }

  /** Of the nearest project that reads the file; empty if none does. */
  async namesFor(path: string, token: CancellationToken): Promise<readonly Occurrence[]> {
    // It may be asked before what was opened has been looked at.
    if (this.#projectOf(path) === null)
      for (const directory of await this.#rootFoldersAbove(path)) this.#add(directory);
    const project = this.#projectOf(path);
    if (project === null) return [];
    if (!this.#editor.watches) this.#analysis.lookAgain();
    return this.#analysis.names(project.directory, token);
  }

  publishedFor(path: string): readonly Diagnostic[] {
    return this.#published.get(path) ?? [];
  }

  close(): void {
    for (const project of this.#projects.values()) cancel(project);
    this.#analysis.close();
  }

  #add(directory: string): Project {
    const project = this.#projects.get(directory) ?? { directory, outcome: null, timer: null, checking: null };
    this.#projects.set(directory, project);
    return project;
  }

  #remove(project: Project): void {
    cancel(project);
    this.#projects.delete(project.directory);
    this.#publishAll(project.outcome?.files ?? [], project.outcome?.findings ?? []);
  }

  /** Those whose folder the file is in, the nearest first. */
  #above(path: string): Project[] {
    const above = [...this.#projects.values()].filter(({ directory }) => isWithin(path, directory));
    return above.sort((a, b) => b.directory.length - a.directory.length);
  }

  #projectOf(path: string): Project | null {
    const above = this.#above(path);
    const reading = [...this.#projects.values()].filter(({ outcome }) => outcome?.files.includes(path) ?? false);
    return above.find((project) => reading.includes(project)) ?? reading[0] ?? above[0] ?? null;
  }

  #checkAll(path: string): void {
    for (const project of this.#projects.values()) {
      if (isWithin(path, project.directory) || (project.outcome?.files.includes(path) ?? false)) {
        this.#checkSoon(project);
      }
    }
  }

  #checkSoon(project: Project): void {
    cancel(project);
    project.timer = setTimeout(() => void this.#check(project), DEBOUNCE_MILLISECONDS);
  }

  async #check(project: Project): Promise<void> {
    const { directory } = project;
    const checking = new CancellationTokenSource();
    project.checking = checking;
    if (!this.#editor.watches) this.#analysis.lookAgain();
    const begun = performance.now();
    try {
      const outcome = await this.#analysis.check(directory, checking.token);
      if (checking.token.isCancellationRequested) return;
      const milliseconds = Math.round(performance.now() - begun);
      const { files, readCount, parsedCount } = outcome;
      this.#editor.log(
        `checked ${directory}: ${files.length} files, ${readCount} read, ${parsedCount} parsed, ${milliseconds} ms`,
      );
      this.#tell(project, outcome);
    } catch (error) {
      if (!checking.token.isCancellationRequested) this.#editor.warn(whyUnchecked(error, directory));
    } finally {
      if (project.checking === checking) project.checking = null;
    }
  }

  #tell(project: Project, outcome: Outcome): void {
    const before = project.outcome;
    project.outcome = outcome;
    if (!outcome.isProject) this.#projects.delete(project.directory);
    const files = [...(before?.files ?? []), ...outcome.files];
    this.#publishAll(files, [...(before?.findings ?? []), ...outcome.findings]);
    for (const path of this.#editor.openPaths()) this.#tellStray(path);
  }

  #publishAll(files: readonly string[], findings: readonly Finding[]): void {
    const paths = new Set([...files, ...findings.map(({ place }) => place.path)]);
    const found = new Map<string, Diagnostic[]>();
    for (const { outcome } of this.#projects.values()) {
      for (const finding of outcome?.findings ?? []) {
        const { path } = finding.place;
        if (!paths.has(path)) continue;
        const known = found.get(path) ?? [];
        found.set(path, known);
        if (known.length < MAX_PUBLISHED) known.push(this.#diagnosticOf(finding));
      }
    }
    for (const path of paths) this.#publish(path, found.get(path) ?? []);
  }

  /** What a file that is not open was told to have is not told again. */
  #publish(path: string, diagnostics: Diagnostic[]): void {
    const before = this.#published.get(path) ?? [];
    const isSame = JSON.stringify(before) === JSON.stringify(diagnostics);
    if (isSame && (diagnostics.length === 0 || this.#editor.textOf(path) === undefined)) return;
    if (diagnostics.length === 0) this.#published.delete(path);
    else this.#published.set(path, diagnostics);
    this.#editor.publish(path, diagnostics);
  }

  #diagnosticOf({ place, code, severity, message, related, corrections }: Finding): Diagnostic {
    return {
      range: place.range,
      severity: severity === "error" ? DiagnosticSeverity.Error : DiagnosticSeverity.Warning,
      code,
      source: "tenon",
      message,
      ...(code.startsWith("unused-") ? { tags: [DiagnosticTag.Unnecessary] } : {}),
      ...(related.length === 0
        ? {}
        : {
            relatedInformation: related.map(({ place: at, message: text }) => ({
              location: { uri: this.#editor.uriOf(at.path), range: at.range },
              message: text,
            })),
          }),
      ...(corrections.length === 0 ? {} : { data: { corrections } }),
    };
  }

  /** A file that begins as manifests do, and that no project reads: it looks as if it were checked, and is not. */
  #tellStray(path: string): void {
    const text = this.#editor.textOf(path);
    const isRead = [...this.#projects.values()].some(({ outcome }) => outcome?.files.includes(path) ?? true);
    const isStray = text !== undefined && !isRead && basename(path) !== ROOT_FILE && looksLikeManifest(path, text);
    if (isStray) this.#strays.add(path);
    else if (!this.#strays.delete(path)) return;
    if (isRead) return;
    this.#publish(path, isStray ? [strayDiagnostic()] : []);
  }

  /** Folders with a root file, of the file itself and above it. */
  async #rootFoldersAbove(path: string): Promise<string[]> {
    const found: string[] = [];
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      const root = join(folder, ROOT_FILE);
      if (this.#editor.textOf(root) !== undefined || (await isFile(root))) found.push(folder);
      if (dirname(folder) === folder) return found;
    }
  }
}

function cancel(project: Project): void {
  if (project.timer !== null) clearTimeout(project.timer);
  project.timer = null;
  project.checking?.cancel();
  project.checking = null;
}

function whyUnchecked(error: unknown, directory: string): string {
  if (error instanceof NoAnswer) return `${directory}: ${error.message}`;
  return `${directory} cannot be checked: ${error instanceof Error ? error.message : String(error)}`;
}

function looksLikeManifest(path: string, text: string): boolean {
  return /\.ya?ml$/i.test(path) && /^tenon[ \t]*:/m.test(text);
}

function strayDiagnostic(): Diagnostic {
  const start = { line: 0, character: 0 };
  return {
    range: { start, end: { line: 1, character: 0 } },
    severity: DiagnosticSeverity.Information,
    code: "no-project",
    source: "tenon",
    message: `no project reads this file, so it is not checked\nA project's root file, ${ROOT_FILE}, names its other manifests under \`files\`.`,
  };
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() === true;
}

/** Folders that hold a root file, the folder itself included; links to folders are not followed. */
async function findRootFolders(folder: string): Promise<string[]> {
  const found: string[] = [];
  const pending = [folder];
  for (let count = 0; count < MAX_SEARCHED_FOLDERS; count += 1) {
    const next = pending.shift();
    if (next === undefined) break;
    const entries = await readdir(next, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (entry.name === ROOT_FILE && !entry.isDirectory()) found.push(next);
      else if (entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== "node_modules") {
        pending.push(join(next, entry.name));
      }
    }
  }
  return found;
}
