/** `tenon import --into`: adds what is imported to a project that exists, as new files that its root file names, or to one of its manifests. */

import { readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { ChangedMeanwhile, writeWhole } from "../files/files.ts";
import { linkText, whereLinkLeads, whereUsedLinkLeads } from "../files/paths.ts";
import type { ExistingProject, ImportResult, Selection } from "../import/index.ts";
import {
  allowedSeconds,
  type Diagnostic,
  hasErrors,
  type LoadOptions,
  lintProject,
  loadProject,
  NEUTRAL_DIALECT,
  type Project,
  type ReadClient,
} from "../index.ts";
import { escapeText } from "../render/terminal.ts";
import { resolveDialect } from "./connection.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import type { ConnectionFlags, ProjectFlags } from "./flags.ts";
import { importJson, importSummary, refusedByValidate } from "./import-summary.ts";
import { sayDiagnostics, sayError, sayFailure } from "./messages.ts";
import { Progress } from "./progress.ts";
import { exitOf } from "./project.ts";
import { askSome } from "./questions.ts";
import { sayLine } from "./say-line.ts";
import type { Terminal } from "./terminal.ts";

export type Opened = Extract<ExistingProject, { ok: true }> & {
  /** The folder of the project as messages name it. */
  readonly shown: string;
};
type ImportRead = Extract<ImportResult, { ok: true }>;

interface IntoFlags extends ConnectionFlags, Pick<ProjectFlags, "env" | "var" | "varFile"> {
  readonly format: "text" | "json";
  readonly out?: string;
}

const ROOT_FILE = "tenon.yaml";

/**
 * @param path the folder of a project, or one of its manifests, to which everything is added
 * @returns an exit code if the project has errors, which are reported
 */
export async function openInto(terminal: Terminal, path: string, flags: IntoFlags): Promise<Opened | ExitCode> {
  const led = await whereUsedLinkLeads(path);
  if (led !== null) {
    const fix = "Name the folder that it leads to.";
    sayError(terminal, { code: "file-unwritable", summary: linkText(escapeText(path), led), fix });
    return EXIT.refused;
  }
  const { openExisting } = await import("../import/index.ts");
  const isManifest = (await stat(path).catch(() => null))?.isFile() === true;
  const shown = isManifest ? await projectAround(path) : path;
  if (shown === null) {
    const summary = `${path} is in no project: no folder above it has a ${ROOT_FILE}`;
    sayError(terminal, {
      code: "invalid-argument",
      summary,
      fix: "Give the folder of a project, or one of its manifests.",
    });
    return EXIT.error;
  }
  const opened = await openExisting({ directory: shown, ...loading(flags) });
  if (!opened.ok) {
    sayDiagnostics(terminal, opened.diagnostics, opened.sources);
    terminal.say(`Nothing was imported: ${escapeText(shown)} has errors, or variables without values.\n`);
    return exitOf(opened.fault);
  }
  if (!isManifest) return { ...opened, shown };
  const file = relative(opened.folder, await realpath(path))
    .split(sep)
    .join("/");
  const target = opened.manifests.find((manifest) => manifest.file === file);
  if (target !== undefined) return { ...opened, shown, target };
  const summary = `${path} is no manifest of the project in ${shown}`;
  sayError(terminal, {
    code: "invalid-argument",
    summary,
    fix: `Name it under \`files\` of ${join(shown, ROOT_FILE)} first.`,
  });
  return EXIT.error;
}

/** The nearest folder with a root file, as a path of the same kind; null if there is none. */
async function projectAround(path: string): Promise<string | null> {
  if (basename(path) === ROOT_FILE) return dirname(path);
  for (let folder = dirname(path); ; folder = join(folder, "..")) {
    if ((await stat(join(folder, ROOT_FILE)).catch(() => null))?.isFile() === true) return folder;
    if (resolve(folder) === resolve(folder, "..")) return null;
  }
}

function loading(flags: IntoFlags): Omit<LoadOptions, "directory"> {
  return {
    ...(flags.env === undefined ? {} : { environment: flags.env }),
    variables: flags.var ?? {},
    variableFiles: flags.varFile ?? [],
    allowedSeconds: allowedSeconds(resolveDialect(flags) ?? NEUTRAL_DIALECT),
  };
}

/** Offers the objects that the project does not declare as a list to tick; all of them where nobody can be asked. */
export async function tick(
  terminal: Terminal,
  api: ReadClient,
  { owner, into }: { readonly owner: string | null; readonly into: Opened },
): Promise<Pick<Selection, "addresses"> | ExitCode> {
  if (!terminal.canAsk) return {};
  const { listImportable } = await import("../import/index.ts");
  const progress = new Progress(terminal);
  progress.show("Reading the account");
  const watch = { signal: terminal.interrupt.first, progress: () => {} };
  const { declared } = into.existing;
  const listed = await listImportable({ api, owner, declared, watch }).finally(() => progress.end());
  if (!listed.ok) {
    sayFailure(terminal, `cannot read ${listed.what}`, listed.failure);
    return EXIT.error;
  }
  if (listed.found.length === 0) return {};
  const choices = listed.found.map(({ address, kind, name }) => ({
    value: address,
    label: `${kind} ${escapeText(name)}`,
  }));
  const chosen = await askSome(terminal, "What is to be imported? Tab ticks, typing searches.", choices);
  if (chosen !== null) return { addresses: new Set(chosen) };
  terminal.say("Nothing was written.\n");
  return terminal.interrupt.code() ?? EXIT.error;
}

/** At most this many are named. */
const MAX_NAMED = 10;

/** Writes the new files and the root file, or prints the new files. If the project would have errors, all is as it was. */
export async function add(terminal: Terminal, result: ImportRead, into: Opened, flags: IntoFlags): Promise<ExitCode> {
  sayAlready(terminal, result.already);
  if (result.files.length === 0) {
    if (flags.format === "json") terminal.print(await jsonOf(result, into));
    else terminal.say("Everything that was asked for is declared already; nothing was written.\n");
    return EXIT.done;
  }
  if (flags.out !== undefined) {
    for (const { text } of result.files) terminal.print(text);
    return EXIT.done;
  }
  if (into.target !== undefined) return addToManifest(terminal, result, into, flags);
  const { rootWith } = await import("../import/index.ts");
  const names = result.files.map(({ file }) => file);
  const { text: root, added } = await rootWith(into, names);
  if (root === null) {
    const summary = "`files` of the root file is written in a way that only a person can extend";
    const fix = `Nothing was written. Write it as a list, such as files: [${added.slice(0, MAX_NAMED).join(", ")}], and run this again.`;
    sayError(terminal, { code: "file-unwritable", summary, fix });
    return EXIT.refused;
  }
  const code = await write(terminal, result, into, { root, flags });
  if (code !== EXIT.done) return code;
  if (flags.format === "json") terminal.print(await jsonOf(result, into));
  else {
    terminal.print(importSummary(result, into.shown));
    if (added.length > 0) terminal.print(`files of ${ROOT_FILE} names ${escapeText(someOf(added))} now.\n`);
  }
  return EXIT.done;
}

/** Everything goes into a manifest that is there. If the project would have errors, that is as it was. */
async function addToManifest(
  terminal: Terminal,
  result: ImportRead,
  into: Opened,
  flags: IntoFlags,
): Promise<ExitCode> {
  const { file = "", text: former = "" } = into.target ?? {};
  const text = result.files[0]?.text ?? "";
  const path = await realpath(join(into.folder, file));
  const read = await readFile(path, "utf8");
  const mark = read.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
  if (read.slice(mark.length) !== former) return changedMeanwhile(terminal, file);
  const mode = (await stat(path)).mode & PERMISSION_BITS;
  try {
    await writeWhole(path, mark + text, mode, former);
  } catch (error) {
    if (error instanceof ChangedMeanwhile) return changedMeanwhile(terminal, file);
    const summary = `cannot write to ${join(into.shown, file)}: ${(error as Error).message}`;
    sayError(terminal, { code: "file-unwritable", summary, fix: "The project is as it was." });
    return EXIT.error;
  }
  const code = await check(terminal, result, into, flags, () => restoreUnlessChanged(path, read, mode, text));
  if (code !== EXIT.done) return code;
  if (flags.format === "json") terminal.print(await jsonOf(result, into));
  else terminal.print(importSummary(result, into.shown, join(into.shown, file)));
  return EXIT.done;
}

const BYTE_ORDER_MARK = "\ufeff";

function changedMeanwhile(terminal: Terminal, file: string): ExitCode {
  const summary = `${file} was changed while the source was read`;
  sayError(terminal, { code: "file-unwritable", summary, fix: "Nothing was written. Run this again." });
  return EXIT.refused;
}

async function write(
  terminal: Terminal,
  result: ImportRead,
  into: Opened,
  { root, flags }: { readonly root: string; readonly flags: IntoFlags },
): Promise<ExitCode> {
  const { writeProject } = await import("../import/index.ts");
  const isExtended = root !== into.rootText;
  const path = await realpath(join(into.folder, ROOT_FILE));
  const leading = await Promise.all(
    result.files.map(({ file }) => whereLinkLeads(join(into.folder, file), into.folder)),
  );
  if (leading.some((where) => where !== null)) {
    const summary = "a symbolic link leads out of the project, or into a folder of git or Tenon";
    sayError(terminal, { code: "file-unwritable", summary, fix: "Nothing was written. Remove the link." });
    return EXIT.refused;
  }
  if ((await readFile(path, "utf8")).replace(/^\ufeff/, "") !== into.rootText)
    return changedMeanwhile(terminal, ROOT_FILE);
  const mode = (await stat(path)).mode & PERMISSION_BITS;
  let takeBack = async (): Promise<void> => {};
  // New files first: a root file that names what is not there would be an error meanwhile.
  try {
    takeBack = await writeProject({ out: into.folder, files: result.files, force: false });
    if (isExtended) await writeWhole(path, root, mode, into.rootText);
  } catch (error) {
    await takeBack();
    if (error instanceof ChangedMeanwhile) return changedMeanwhile(terminal, ROOT_FILE);
    const summary = `cannot write to ${into.shown}: ${(error as Error).message}`;
    sayError(terminal, { code: "file-unwritable", summary, fix: "The project is as it was." });
    return EXIT.error;
  }
  return check(terminal, result, into, flags, async () => {
    await takeBack();
    if (isExtended) await restoreUnlessChanged(path, into.rootText, mode, root);
  });
}

/** What somebody has saved since this run wrote the file stays. */
async function restoreUnlessChanged(path: string, former: string, mode: number, written: string): Promise<void> {
  await writeWhole(path, former, mode, written).catch((error: unknown) => {
    if (!(error instanceof ChangedMeanwhile)) throw error;
  });
}

/** Loads the project with what was added; if it has errors, `restore` puts back what was there. */
async function check(
  terminal: Terminal,
  result: ImportRead,
  into: Opened,
  flags: IntoFlags,
  restore: () => Promise<void>,
): Promise<ExitCode> {
  const loaded = await loadProject({ directory: into.folder, ...loading(flags) });
  if (loaded.fault !== "manifest" || !hasErrors(loaded.diagnostics)) {
    await warnOfLint(terminal, loaded.project, result);
    return EXIT.done;
  }
  await restore();
  sayDiagnostics(terminal, loaded.diagnostics, loaded.sources);
  const summary = "with what was imported the project would have errors; it is as it was";
  sayError(terminal, {
    code: "internal-error",
    summary,
    fix: "Import with --out to another folder, and move over what you need.",
  });
  return EXIT.error;
}

/** The permission bits of a mode, without the file type. */
const PERMISSION_BITS = 0o7777;

/** Warns if `validate` would refuse what is in the new files; null: the variables of the project have no values. */
async function warnOfLint(terminal: Terminal, project: Project | null, { files }: ImportRead): Promise<void> {
  if (project === null) return;
  const added = new Set(files.map(({ file }) => file));
  const isRefused = ({ severity, span }: Diagnostic) => severity === "error" && added.has(span?.file ?? "");
  const refused = (await lintProject(project)).filter(isRefused);
  if (refused.length > 0) sayDiagnostics(terminal, [refusedByValidate(refused)]);
}

async function jsonOf(result: ImportRead, { shown }: Opened): Promise<string> {
  const { notMissed } = await import("../import/index.ts");
  return importJson(result, shown, notMissed);
}

function sayAlready(terminal: Terminal, already: readonly string[]): void {
  if (already.length === 0) return;
  const [is, are] = already.length === 1 ? ["is", "one"] : ["are", already.length.toLocaleString("en")];
  sayLine(terminal, `${are} ${is} declared already, and left out: ${escapeText(someOf(already))}`);
}

function someOf(names: readonly string[]): string {
  const rest = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).join(", ")}${rest > 0 ? ` and ${rest.toLocaleString("en")} more` : ""}`;
}
