/** The text of a ticket or a reply: from flags, a file, stdin, a draft, or the user's editor. Sends nothing. */

import { spawn } from "node:child_process";
import { mkdtemp, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readProblem, readSaved } from "../files/files.ts";
import { Secret } from "../model/secret.ts";
import { shellWord } from "../model/text.ts";
import { escapeText } from "../render/terminal.ts";
import { renderTicketJson } from "../render/tickets.ts";
import type { Entity, TicketDraft, TicketText } from "../tickets/index.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { sayDiagnostics, sayError } from "./messages.ts";
import { readVersion, type Terminal } from "./terminal.ts";

interface Written {
  /** @param isSent if not, the text that was edited is kept, and its file named */
  close(isSent: boolean): Promise<void>;
}

export interface WrittenTicket extends Written, TicketText {
  /** What a draft is about. */
  readonly entity: Entity | null;
}

export interface WrittenReply extends Written {
  readonly description: string;
}

interface TextFlags {
  readonly description?: string;
  readonly file?: string;
  readonly edit?: boolean;
}

const NOTHING_EDITED: Written = { close: async () => {} };

/** @returns null if there is no text, or none that the service takes, which is reported */
export async function writeTicket(
  terminal: Terminal,
  flags: TextFlags & { readonly summary?: string; readonly draft?: string },
): Promise<WrittenTicket | null> {
  if (hasConflict(terminal, flags, ["description", "file", "draft"])) return null;
  const { checkTicketText, joinText, splitText } = await import("../tickets/index.ts");
  const draft = flags.draft === undefined ? null : await readDraft(terminal, flags.draft);
  const file = flags.file === undefined ? null : await readText(terminal, flags.file);
  if ((flags.draft !== undefined && draft === null) || (flags.file !== undefined && file === null)) return null;
  const inFile = file === null ? null : flags.summary === undefined ? splitText(file) : { description: file.trim() };
  const given = { ...draft, ...inFile, ...pick(flags) };
  const entity = draft?.entity ?? null;
  const isWhole = given.summary !== undefined && given.description !== undefined;
  // A draft is for a person to complete, where there is one.
  if (!mustEdit(terminal, flags, isWhole && draft === null)) {
    if (!isWhole) return sayMissing(terminal, "--summary and --description, or --file");
    const { summary = "", description = "" } = given;
    const text = { summary: summary.trim(), description: description.trim() };
    return isSendable(terminal, checkTicketText(text)) ? { ...text, entity, ...NOTHING_EDITED } : null;
  }
  const start = joinText({ summary: given.summary ?? "", description: given.description ?? "" }).trimEnd();
  const edited = await editText(terminal, start, HELP_OF_TICKET);
  if (edited === null) return null;
  const text = splitText(edited.text);
  const close = closing(terminal, edited);
  if (isSendable(terminal, checkTicketText(text))) return { ...text, entity, close };
  await close(edited.text.trim() === "");
  return null;
}

/** @returns null if there is no text, or none that the service takes, which is reported */
export async function writeReply(terminal: Terminal, id: number, flags: TextFlags): Promise<WrittenReply | null> {
  if (hasConflict(terminal, flags, ["description", "file"])) return null;
  const { checkReplyText } = await import("../tickets/index.ts");
  const file = flags.file === undefined ? null : await readText(terminal, flags.file);
  if (flags.file !== undefined && file === null) return null;
  const given = flags.description ?? file ?? undefined;
  if (!mustEdit(terminal, flags, given !== undefined)) {
    if (given === undefined) return sayMissing(terminal, "--description or --file");
    const description = given.trim();
    return isSendable(terminal, checkReplyText(description)) ? { description, ...NOTHING_EDITED } : null;
  }
  const edited = await editText(terminal, given ?? "", [`The reply to ticket ${id} stands above this line.`, CANCEL]);
  if (edited === null) return null;
  const description = edited.text.trim();
  const close = closing(terminal, edited);
  if (isSendable(terminal, checkReplyText(description))) return { description, close };
  await close(description === "");
  return null;
}

const CANCEL = "Save it to send it. A text that is empty, or is not saved, sends nothing.";
const HELP_OF_TICKET: readonly string[] = [
  "The ticket stands above this line: its first line is the summary (at most",
  "64 characters), the rest is the description.",
  CANCEL,
];

/** The values of the flags that are given. */
function pick({ summary, description }: Partial<TicketText>): Partial<TicketText> {
  return { ...(summary === undefined ? {} : { summary }), ...(description === undefined ? {} : { description }) };
}

function hasConflict(
  terminal: Terminal,
  flags: TextFlags & { readonly draft?: string },
  names: readonly ("description" | "file" | "draft")[],
): boolean {
  const given = names.filter((name) => flags[name] !== undefined);
  if (given.length < 2) return false;
  const summary = `${given.map((name) => `--${name}`).join(" and ")} both say the text`;
  sayError(terminal, { code: "conflicting-options", summary, fix: "Give one of them." });
  return true;
}

/** @param isWhole whether flags and files give all of it */
function mustEdit({ canAsk }: Terminal, { edit }: TextFlags, isWhole: boolean): boolean {
  return edit === true || (canAsk && !isWhole);
}

function sayMissing(terminal: Terminal, flags: string): null {
  const summary = "there is no text, and no terminal to ask for it";
  sayError(terminal, { code: "missing-option", summary, fix: `Give ${flags}.` });
  return null;
}

function isSendable(terminal: Terminal, problems: Parameters<typeof sayDiagnostics>[1]): boolean {
  sayDiagnostics(terminal, problems);
  return problems.length === 0;
}

function closing(terminal: Terminal, { file, forget }: Edited): Written["close"] {
  return async (isSent) => {
    if (isSent) await forget();
    else sayKept(terminal, file);
  };
}

function sayKept(terminal: Terminal, file: string): void {
  terminal.say(`Your text is kept in ${escapeText(file)}\n`);
}

/** `tenon ticket draft`. */
export async function printDraft(
  terminal: Terminal,
  file: string,
  { format }: { readonly format: "text" | "json" },
): Promise<ExitCode> {
  const draft = await readDraft(terminal, file);
  if (draft === null) return EXIT.error;
  const { joinText } = await import("../tickets/index.ts");
  const { entity } = draft;
  terminal.print(format === "json" ? renderTicketJson({ draft }) : joinText(draft));
  if (format === "text" && entity !== null) {
    terminal.say(
      `note: it is about one object: tenon ticket open --entity ${shellWord(`${entity.kind}/${entity.id}`)}\n`,
    );
  }
  return EXIT.done;
}

// Reading a text.

/** Of a file with a text: more than the longest text takes in UTF-8. */
const MAX_TEXT_BYTES: number = 512 * 1024;
/** Of a file that a ticket is drafted from. */
const MAX_DRAFT_BYTES: number = 384 * 1024 * 1024;
const STDIN = "-";

/** @param file `-` is stdin. @returns null if it cannot be read, which is reported */
async function readText(terminal: Terminal, file: string): Promise<string | null> {
  try {
    return file === STDIN ? await readStdin() : await readSaved(file, MAX_TEXT_BYTES);
  } catch (error) {
    const summary = `the text cannot be read: ${readProblem(error, file)}`;
    sayError(terminal, { code: "text-unreadable", summary });
    return null;
  }
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_TEXT_BYTES) throw new Error(`stdin has more than ${MAX_TEXT_BYTES / 1024 ** 2} MiB`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** @returns null if there is nothing to write a ticket about, or the file cannot be read, which is reported */
async function readDraft(terminal: Terminal, file: string): Promise<TicketDraft | null> {
  let text: string;
  try {
    text = file === STDIN ? await readStdin() : await readSaved(file, MAX_DRAFT_BYTES);
  } catch (error) {
    const summary = `the file to draft from cannot be read: ${readProblem(error, file)}`;
    sayError(terminal, { code: "draft-unreadable", summary });
    return null;
  }
  const { draftTicket } = await import("../tickets/index.ts");
  const drafted = await draftTicket(text, { version: readVersion(), nowMilliseconds: Date.now() });
  if (drafted.ok) return isWithoutToken(terminal, drafted.draft) ? drafted.draft : null;
  sayDiagnostics(terminal, [drafted.diagnostic]);
  return null;
}

/** Tenon's own files hold no token; another file may. */
function isWithoutToken(terminal: Terminal, { summary, description }: TicketText): boolean {
  const tokens = Object.entries(terminal.environment).filter(([name]) => TOKEN_VARIABLE.test(name));
  if (!tokens.some(([, token = ""]) => new Secret(token).isIn(`${summary}\n${description}`))) return true;
  const fix = "Take it out of the file.";
  sayError(terminal, { code: "token-in-text", summary: "the text holds the access token", fix });
  return false;
}

/** TENON_TOKEN, and those of the service's other tools. */
const TOKEN_VARIABLE = /_TOKEN$/;

// The editor, as git uses it: what stands above the line is taken, and a text that is left empty ends the command.

/** Above it stands the text, below it what helps to write it. */
const SCISSORS = "# ------------------------ >8 ------------------------";

interface Edited {
  readonly text: string;
  /** Removes the file. Until then the text is in it, whatever becomes of the ticket. */
  forget(): Promise<void>;
  readonly file: string;
}

/** The time of the file until the editor saves it: a text that is left as it was, such as a draft, is not sent. */
const UNSAVED = new Date("2000-01-01T00:00:00Z");

/** @returns null if there is no editor, or it failed, or the text was not saved, which is reported */
async function editText(terminal: Terminal, text: string, help: readonly string[]): Promise<Edited | null> {
  const { VISUAL = "", EDITOR = "" } = terminal.environment;
  const editor = VISUAL || EDITOR;
  if (editor === "") {
    const fix = "Set EDITOR, or give the text with --description or --file.";
    sayError(terminal, { code: "editor-failed", summary: "no editor is set to write the text with", fix });
    return null;
  }
  const folder = await mkdtemp(join(tmpdir(), "tenon-ticket-"));
  const forget = () => rm(folder, { recursive: true, force: true });
  const file = join(folder, "TICKET.txt");
  const lines = [SCISSORS, ...help.map((line) => `# ${line}`.trimEnd())];
  await writeFile(file, `${text}\n${lines.join("\n")}\n`, { mode: 0o600 });
  await utimes(file, UNSAVED, UNSAVED);
  const ended = await runEditor(terminal, editor, file);
  const isSaved = (await stat(file).catch(() => null))?.mtimeMs !== UNSAVED.getTime();
  const problem = ended ?? (isSaved ? null : "was left without saving the text");
  if (problem === null) {
    const written = await readText(terminal, file);
    if (written !== null) return { text: aboveScissors(written), forget, file };
    sayKept(terminal, file);
    return null;
  }
  await forget();
  sayError(terminal, { code: "editor-failed", summary: `the editor ${problem}`, fix: "Nothing was sent." });
  return null;
}

function aboveScissors(text: string): string {
  const [above = ""] = `\n${text}`.split(`\n${SCISSORS}`, 1);
  return above.slice(1);
}

/** The variable may hold arguments, so a shell reads it, as git does. Its own Ctrl-C is not ours. */
async function runEditor(terminal: Terminal, editor: string, file: string): Promise<string | null> {
  const ignore = (): void => {};
  process.on("SIGINT", ignore);
  try {
    return await new Promise((resolve) => {
      const child = spawn("/bin/sh", ["-c", `${editor} "$@"`, editor, file], {
        // Results may go to a file: an editor is for the terminal, where the messages go.
        stdio: [0, 2, 2],
        env: withoutToken(terminal.environment),
      });
      child.on("error", ({ message }) => resolve(`cannot be started: ${message}`));
      child.on("exit", (code) =>
        resolve(code === 0 ? null : `ended with ${code === null ? "a signal" : `code ${code}`}`),
      );
    });
  } finally {
    process.off("SIGINT", ignore);
  }
}

/** An editor needs no access to the account. */
function withoutToken(environment: Terminal["environment"]): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !TOKEN_VARIABLE.test(name)));
}
