/** Output in the requested format: a plan, the summary of a CI step, JSON even when a command fails, and JSON or a page in a file beside it. */

import { appendFile } from "node:fs/promises";
import { whyUnwritable, writeProblem, writeWhole } from "../files/files.ts";
import { type Diagnostic, type Plan, Sources } from "../index.ts";
import { Secret } from "../model/secret.ts";
import { type PageOptions, renderPlanHtml, renderPlanMarkdown, renderPlanText } from "../render/index.ts";
import { renderPlanJsonParts } from "../render/plan-json.ts";
import { diagnosticsJson, renderErrorsJson } from "../render/report.ts";
import { escapeText } from "../render/terminal.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { type Format, STDOUT } from "./flags.ts";
import { asDiagnostic, type CommandError, sayError } from "./messages.ts";
import type { Terminal } from "./terminal.ts";

// Showing a plan in the requested format.

/** @param token that must not be in a file with the plan, in its page, or in its markdown; undefined: there is none */
export async function showPlan(terminal: Terminal, plan: Plan, format: Format, token?: string): Promise<void> {
  for (const text of planText(terminal, plan, format)) terminal.print(text);
  if (format === "markdown") giveMarkdown(terminal, markdownOf(plan), token);
  terminal.document?.(renderPlanJsonParts(plan), token);
  await givePage(terminal, () => renderPlanHtml(plan, pageLook(terminal)), token);
}

function planText(terminal: Terminal, plan: Plan, format: Format): Iterable<string> {
  switch (format) {
    case "text":
      return [renderPlanText(plan, terminal.results)];
    case "json":
      return renderPlanJsonParts(plan);
    case "markdown":
    case "html":
      // `showPlan` prints the one, and `withPage` the other.
      return [];
  }
}

/**
 * Prints a command's JSON document if that is the format, and hands it to `--json-into` if that is given.
 * @param make not called if neither wants it
 * @param token that must not be in the file; undefined: there is none
 */
export function printJson(terminal: Terminal, format: Format, make: () => string, token?: string): void {
  if (format !== "json" && terminal.document === undefined) return;
  const text = make();
  if (format === "json") terminal.print(text);
  terminal.document?.([text], token);
}

// The summary of a GitHub Actions step: markdown for the job's page, appended to the file that GITHUB_STEP_SUMMARY names.

const VARIABLE = "GITHUB_STEP_SUMMARY";

/**
 * Makes markdown, newline-terminated, of data that it has passed through `hide`, which takes the token out. `maxCharacters`: UTF-16 code
 * units; undefined: as many as a comment may have.
 */
export type Markdown = (hide: <Data>(data: Data) => Data, maxCharacters?: number) => string;

export function markdownOf(plan: Plan): Markdown {
  return (hide, maxCharacters) => renderPlanMarkdown(hide(plan), maxCharacters);
}

/** Comments and summaries are made to be passed on. @param token undefined: there is none */
function withoutToken(markdown: Markdown, token: string | undefined, maxCharacters?: number): string {
  if (token === undefined) return markdown((data) => data, maxCharacters);
  const secret = new Secret(token);
  return secret.hide(markdown((data) => secret.hideIn(data), maxCharacters));
}

function giveMarkdown(terminal: Terminal, markdown: Markdown, token: string | undefined): void {
  if (terminal.printMarkdown === undefined) terminal.print(withoutToken(markdown, token));
  else terminal.printMarkdown((maxCharacters) => withoutToken(markdown, token, maxCharacters));
}

/**
 * Does nothing if the variable is not set. A failure is only a warning, as the command has done its work.
 * @param markdown makes the text if it is needed; an empty line separates it from other text of the step
 * @param token that must not be in it; undefined: there is none
 */
export async function writeGithubSummary(
  { environment, say }: Terminal,
  markdown: Markdown,
  token: string | undefined,
): Promise<void> {
  const file = environment[VARIABLE] ?? "";
  if (file === "") return;
  try {
    await appendFile(file, `${withoutToken(markdown, token)}\n`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    say(`warning: the summary of the step cannot be written: ${escapeText(why)}\n`);
  }
}

/** Prints markdown to stdout if that is the format, and to the step summary if there is one. */
export async function printMarkdown(
  terminal: Terminal,
  format: Format,
  markdown: Markdown,
  token: string | undefined,
): Promise<void> {
  if (format === "markdown") giveMarkdown(terminal, markdown, token);
  await writeGithubSummary(terminal, markdown, token);
}

// `--format json`: stdout holds JSON even after an error, so that a program never has to read stderr.

type Problems = ReturnType<typeof diagnosticsJson>;

/** The types of a stream's last line. */
const LAST_LINE = /"type":"(?:report|refused)"/;

/** No other message reports an interrupt. */
const ENDED: Diagnostic = {
  code: "interrupted",
  severity: "error",
  summary: "the command ended before it had a result",
  detail: "It was interrupted, or stopped.",
};

interface JsonOptions {
  readonly format: Format;
  /** Whether the format is a stream of lines, of which the last one is the document. */
  readonly stream: boolean;
  /** The file of `--json-into`; undefined: it was not given. */
  readonly jsonInto?: string | undefined;
}

const NO_FILE = "- is stdout, and that is what --format json is for";

interface JsonDocument {
  readonly parts: Iterable<string>;
  readonly token: string | undefined;
}

/**
 * Runs a command. If the command ends without printing its document (for a stream: its last line), the errors that it has reported are
 * printed instead, in the shape of `validate --format json`; for a stream as a last line of the type `error`. `--json-into` writes the
 * document, or the errors, to a file, whatever the format is.
 */
export async function withJsonErrors(
  terminal: Terminal,
  { format, stream, jsonInto }: JsonOptions,
  work: (terminal: Terminal) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (format !== "json" && jsonInto === undefined) return work(terminal);
  const problems: Problems[number][] = [];
  const held: { document: JsonDocument | null } = { document: null };
  let isPrinted = false;
  const giveErrors = (diagnostics: readonly Problems[number][]): void => {
    const text = renderErrorsJson(diagnostics, stream);
    if (format === "json" && !isPrinted) terminal.print(text);
    held.document ??= { parts: [text], token: undefined };
  };
  const inner: Terminal = {
    ...terminal,
    print: (text) => {
      if (!stream || LAST_LINE.test(text)) isPrinted = true;
      terminal.print(text);
    },
    record: (diagnostics, sources) => {
      for (const problem of diagnosticsJson(diagnostics, sources)) problems.push(problem);
    },
    ...(jsonInto === undefined
      ? {}
      : {
          document: (parts, token) => {
            held.document = { parts, token };
          },
        }),
  };
  const unwritable =
    jsonInto === undefined ? null : jsonInto === STDOUT ? NO_FILE : await whyUnwritable(jsonInto, "json");
  let code: ExitCode = EXIT.error;
  try {
    if (unwritable === null) code = await work(inner);
    else sayError(inner, { code: "file-unwritable", summary: `the JSON file cannot be written: ${unwritable}` });
  } catch (error) {
    giveErrors([...problems, ...diagnosticsJson([bugOf(error)], new Sources())]);
    await writeInto(terminal, jsonInto, held.document);
    throw error;
  }
  if (code !== EXIT.done)
    giveErrors(problems.some(isError) ? problems : [...problems, ...diagnosticsJson([ENDED], new Sources())]);
  const isWritten = unwritable !== null || (await writeInto(terminal, jsonInto, held.document));
  // What a command has found weighs less than that nobody can read it; what it could not do weighs more.
  return isWritten || (code !== EXIT.done && code !== EXIT.pending) ? code : EXIT.error;
}

async function writeInto(
  terminal: Terminal,
  file: string | undefined,
  document: JsonDocument | null,
): Promise<boolean> {
  return file === undefined || document === null || writeJson(terminal, { ...document, file, noun: "JSON file" });
}

// A page: on stdout for `--format html`, and in the file of `--html-into`.

export interface PageFlags {
  readonly format: Format | "table" | "csv";
  readonly htmlInto?: string | undefined;
}

/**
 * Runs a command that gives a page, and prints the page if that is the format, or writes it to a file, or both. A command that fails may
 * have none. One that ends well and gives none has said why.
 */
export async function withPage(
  terminal: Terminal,
  { format, htmlInto }: PageFlags,
  work: (terminal: Terminal) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (format !== "html" && htmlInto === undefined) return work(terminal);
  const unwritable =
    htmlInto === undefined ? null : htmlInto === STDOUT ? NO_PAGE_FILE : await whyUnwritable(htmlInto, "page");
  if (unwritable !== null) {
    sayError(terminal, { code: "file-unwritable", summary: `the page cannot be written: ${unwritable}` });
    return EXIT.error;
  }
  const held: { page: string | null } = { page: null };
  let isWritten = false;
  let code: ExitCode = EXIT.error;
  try {
    code = await work({
      ...terminal,
      page: (page) => {
        held.page = page;
      },
    });
  } finally {
    if (held.page !== null) {
      if (format === "html") terminal.print(held.page);
      isWritten = htmlInto === undefined || (await writePage(terminal, htmlInto, held.page));
    }
  }
  return isWritten || (code !== EXIT.done && code !== EXIT.pending) ? code : EXIT.error;
}

const NO_PAGE_FILE = "- is stdout, and that is what --format html is for";

/**
 * Hands over the page of a command, if it is wanted. One that holds the token is not: pages are made to be passed on.
 * @param token undefined: there is none
 */
export async function givePage(terminal: Terminal, make: () => Promise<string>, token?: string): Promise<void> {
  if (terminal.page === undefined) return;
  const page = await make();
  if (token !== undefined && (await pageHoldsToken(page, token))) {
    sayTokenHeld(terminal, "the page");
    return;
  }
  terminal.page(page);
}

/** As it is, escaped, or with marks within. */
async function pageHoldsToken(page: string, token: string): Promise<boolean> {
  const { escapeHtml } = await import("../render/html/markup.ts");
  const text = page.replace(/<[^>]*>/g, "");
  const secrets = [new Secret(token), new Secret(escapeHtml(token))];
  return secrets.some((secret) => secret.isIn(page) || secret.isIn(text));
}

async function writePage(terminal: Terminal, file: string, page: string): Promise<boolean> {
  try {
    await writeDocument(file, "page", [page]);
    return true;
  } catch (error) {
    const summary = `the page cannot be written: ${writeProblem(error, file)}`;
    sayError(terminal, { code: "file-unwritable", summary });
    return false;
  }
}

export function pageLook({ results }: Terminal): PageOptions {
  return { full: results.full ?? false };
}

// JSON in a file: a plan for a later apply, or what `--json-into` asks for.

/** Plans and reports hold record values and notes: only their author may read them. */
const FILE_MODE = 0o600;

interface JsonFile extends JsonDocument {
  readonly file: string;
  /** What messages call the file. */
  readonly noun: "plan file" | "JSON file";
}

/** Says why if the file cannot be written. A document that holds the access token is not. */
export async function writeJson(terminal: Terminal, { file, parts, token, noun }: JsonFile): Promise<boolean> {
  try {
    await writeDocument(file, "json", partsWithoutToken(parts, token));
    return true;
  } catch (error) {
    if (error instanceof TokenInDocument) {
      sayTokenHeld(terminal, noun === "plan file" ? "the plan" : "the document");
      return false;
    }
    const summary = `the ${noun} cannot be written: ${writeProblem(error, file)}`;
    sayError(terminal, { code: "file-unwritable", summary });
    return false;
  }
}

/** @throws why it cannot be: the run may have written something else there by now, as its journal */
async function writeDocument(file: string, kind: "json" | "page", parts: Iterable<string>): Promise<void> {
  const unwritable = await whyUnwritable(file, kind);
  if (unwritable !== null) throw new Error(unwritable);
  await writeWhole(file, parts, FILE_MODE);
}

class TokenInDocument extends Error {}

function sayTokenHeld(terminal: Terminal, what: string): void {
  sayError(terminal, {
    code: "token-in-plan",
    summary: `${what} holds the token, in some name, text, record or variable, and is not saved`,
    fix: "Take it out of the manifest, the variables or the account, and revoke it.",
  });
}

/** No part that holds the token is handed on. A part ends with a line, so that the token is never divided. */
function* partsWithoutToken(parts: Iterable<string>, token: string | undefined): Generator<string> {
  const secret = token === undefined ? null : new Secret(token);
  for (const part of parts) {
    if (secret?.isIn(part)) throw new TokenInDocument();
    yield part;
  }
}

/** Prints the error of a command that could not begin. */
export function printError(terminal: Terminal, error: CommandError, stream: boolean): void {
  terminal.print(renderErrorsJson(diagnosticsJson([asDiagnostic(error)], new Sources()), stream));
}

/** The error is also thrown, so that stderr shows it. */
export function bugOf(error: unknown): Diagnostic {
  const [message = ""] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
  return asDiagnostic({
    code: "internal-error",
    summary: `an error of Tenon: ${message}`,
    fix: "TENON_DEBUG=1 shows where it comes from: please report it.",
  });
}

function isError({ severity }: Problems[number]): boolean {
  return severity === "error";
}
