/** `tenon ticket`: lists, shows, opens, answers and closes support tickets, attaches files, and drafts a ticket from what failed. */

import { type Command, InvalidArgumentError } from "commander";
import { readRegular } from "../../files/files.ts";
import { type ClientApi, type Connection, type Failure, systemClock } from "../../index.ts";
import type { FormFile } from "../../model/api.ts";
import { Secret } from "../../model/secret.ts";
import { escapeText } from "../../render/terminal.ts";
import { renderTicket, renderTicketJson, renderTicketList } from "../../render/tickets.ts";
import type {
  AttachedFile,
  Entity,
  NamedEntity,
  TicketOutcome,
  TicketReply,
  TicketRequest,
} from "../../tickets/index.ts";
import { type WithClient, withReader } from "../connection.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import { addConnectionFlags, type ConnectionFlags, collect, formatFlag, parseCount } from "../flags.ts";
import { sayDiagnostics, sayError, sayFailure } from "../messages.ts";
import { withJsonErrors } from "../output.ts";
import { sayLine } from "../say-line.ts";
import type { Terminal } from "../terminal.ts";
import { printDraft, type WrittenReply, type WrittenTicket, writeReply, writeTicket } from "../ticket-text.ts";

type Connect = WithClient<ClientApi>;

export function define(ticket: Command, terminal: Terminal, finish: Finish, connect: Connect): void {
  ticket.description("Read and write support tickets.");
  const run: Run = async (flags, work) => {
    finish(await withJsonErrors(terminal, { format: flags.format, stream: false }, work));
  };
  addList(ticket, run);
  addShow(ticket, run);
  addOpen(ticket, run, connect);
  addReply(ticket, run, connect);
  addAttach(ticket, run, connect);
  addClose(ticket, run, connect);
  addDraft(ticket, run);
}

type Run = (
  flags: { readonly format: "text" | "json" },
  work: (terminal: Terminal) => Promise<ExitCode>,
) => Promise<void>;

interface TicketFlags extends ConnectionFlags {
  readonly format: "text" | "json";
}

/** API.md, Support: ticketId is an integer. */
function parseId(value: string): number {
  if (!/^\d{1,15}$/.test(value) || Number(value) === 0) throw new InvalidArgumentError("Write the number of a ticket.");
  return Number(value);
}

function print(terminal: Terminal, { format }: TicketFlags, text: string, json: object): void {
  terminal.print(format === "json" ? renderTicketJson(json) : text);
}

// Reading: list and show.

function addList(ticket: Command, run: Run): void {
  const command = ticket
    .command("list")
    .summary("list the tickets of the account")
    .description("List the tickets of the account, those that are open first.")
    .option("--open", "only those that are not closed")
    .addOption(formatFlag("how to show them"))
    .addHelpText("after", "\nExamples:\n  tenon ticket list --open\n  tenon ticket list --format json")
    .action((flags) => run(flags, (inner) => list(inner, flags)));
  addConnectionFlags(command);
}

function list(terminal: Terminal, flags: TicketFlags & { readonly open?: boolean }): Promise<ExitCode> {
  const open = flags.open === true;
  return withReader(terminal, flags, async (api) => {
    const { listTickets } = await import("../../tickets/index.ts");
    const found = await listTickets(api, { open }, terminal.interrupt.first);
    if (!found.ok) return sayUnread(terminal, found);
    print(terminal, flags, renderTicketList(found.value, terminal.results, open), { tickets: found.value });
    return EXIT.done;
  });
}

/** Replies that are shown unless the user says otherwise. */
const DEFAULT_REPLIES = 20;

function addShow(ticket: Command, run: Run): void {
  const command = ticket
    .command("show")
    .summary("show a ticket and the replies to it")
    .description("Show a ticket and the replies to it, the oldest first. Replies of the operator\nare marked with >>.")
    .argument("<id>", "the number of the ticket", parseId)
    .option("--last <n>", `so many replies, the newest (default: ${DEFAULT_REPLIES})`, parseCount)
    .option("--all", "all replies, and each text in full")
    .addOption(formatFlag("how to show it; json has all replies"))
    .addHelpText("after", "\nExamples:\n  tenon ticket show 20000001\n  tenon ticket show 20000001 --all | less")
    .action((id, flags) => run(flags, (inner) => show(inner, id, flags)));
  addConnectionFlags(command);
}

interface ShowFlags extends TicketFlags {
  readonly last?: number;
  readonly all?: boolean;
}

function show(terminal: Terminal, id: number, flags: ShowFlags): Promise<ExitCode> {
  return withReader(terminal, flags, async (api) => {
    const { readReplies, readTicket } = await import("../../tickets/index.ts");
    const signal = terminal.interrupt.first;
    const ticket = await readTicket(api, id, signal);
    if (!ticket.ok) return sayUnread(terminal, ticket);
    const replies = await readReplies(api, id, signal);
    if (!replies.ok) return sayUnread(terminal, replies);
    const last = flags.all === true ? null : (flags.last ?? DEFAULT_REPLIES);
    if (flags.format === "json") {
      terminal.print(renderTicketJson({ ticket: ticket.value, replies: replies.value }));
      return EXIT.done;
    }
    for (const part of renderTicket(ticket.value, replies.value, { ...terminal.results, last })) terminal.print(part);
    return EXIT.done;
  });
}

function sayUnread(
  terminal: Terminal,
  { what, failure }: { readonly what: string; readonly failure: Failure },
): ExitCode {
  if (failure.status === 404 && failure.type === "refused") {
    const fix = "tenon ticket list shows those that this token may see.";
    sayError(terminal, { code: "ticket-unknown", summary: `the account has no ${what}`, fix });
  } else sayFailure(terminal, `cannot read ${what}`, failure);
  return terminal.interrupt.code() ?? EXIT.error;
}

// Writing: what all of it shares.

/** Runs what writes, and tells on stderr what is done about a lost answer. */
function writing(
  terminal: Terminal,
  flags: TicketFlags,
  connect: Connect,
  work: (request: TicketRequest, connection: Connection) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { first, second } = terminal.interrupt;
  const note = (text: string): void => sayLine(terminal, escapeText(text));
  return connect(terminal, flags, (api, connection) =>
    work({ api, clock: systemClock, stop: first, abort: second, note }, connection),
  );
}

/** What is sent must not hold the token: a text may have been copied from a log. */
function isLeak(terminal: Terminal, text: string, { token }: Connection): boolean {
  if (!new Secret(token).isIn(text)) return false;
  sayError(terminal, {
    code: "token-in-text",
    summary: "the text holds the access token, and is not sent",
    fix: "Take it out.",
  });
  return true;
}

type Ended = Exclude<TicketOutcome<never>, { readonly outcome: "done" | "there" }>;

/** @param what of `cannot be …` and `whether … was sent`. @returns the exit code of what was not done */
function sayEnded(terminal: Terminal, ended: Ended, verb: string, id: number | null): ExitCode {
  const ticket = id === null ? "the ticket" : `ticket ${id}`;
  switch (ended.outcome) {
    case "refused": {
      const { code, why, fix } = ended.ticket.status === "closed" ? CLOSED : NOT_CLOSABLE;
      sayError(terminal, { code, summary: `${ticket} cannot be ${verb}: ${why}`, fix });
      return EXIT.refused;
    }
    case "unread":
      return sayUnread(terminal, ended);
    case "failed":
      sayFailure(terminal, `${ticket} cannot be ${verb}`, ended.failure);
      return terminal.interrupt.code() ?? EXIT.error;
    case "unknown":
      sayUnknown(terminal, `${ticket} was ${verb}`, ended.failure, id);
      return terminal.interrupt.code() ?? EXIT.partial;
  }
}

const CLOSED = {
  code: "ticket-closed",
  why: "it is closed",
  fix: "Open another one, and name this one in it.",
} as const;
const NOT_CLOSABLE = {
  code: "ticket-not-closable",
  why: "only the operator can close it",
  fix: "Ask for it with tenon ticket reply.",
} as const;

function sayUnknown(terminal: Terminal, what: string, { message }: Failure, id: number | null): void {
  const look = id === null ? "tenon ticket list" : `tenon ticket show ${id}`;
  sayError(terminal, {
    code: "ticket-outcome-unknown",
    summary: `it is not known whether ${what}: ${message}`,
    fix: `Look with ${look}, or run it again: what is there already is not sent twice.`,
  });
}

/** Equal ones that are there beside the one that was meant. */
function sayOthers(terminal: Terminal, posted: TicketOutcome<{ readonly id: number }>): boolean {
  const others = posted.outcome === "done" ? posted.others : [];
  if (others.length === 0) return false;
  const ids = others.map(({ id }) => id).join(", ");
  terminal.say(`warning: the very same is there more than once: ${ids}, too\n`);
  return true;
}

// Opening.

interface OpenFlags extends TicketFlags {
  readonly summary?: string;
  readonly description?: string;
  readonly file?: string;
  readonly draft?: string;
  readonly edit?: boolean;
  readonly entity?: readonly string[];
  readonly vlan?: string;
  readonly region?: string;
  readonly managedIssue?: boolean;
  readonly again?: boolean;
}

function addOpen(ticket: Command, run: Run, connect: Connect): void {
  const command = ticket
    .command("open")
    .summary("open a ticket")
    .description("Open a ticket. On a terminal an editor asks for a text that is not given.")
    .option("--summary <text>", "its heading, 1 to 64 characters")
    .option("--description <text>", "its text, 1 to 65,000 characters")
    .option("--file <file>", "the text; - is stdin. Without --summary its\nfirst line is the summary")
    .option(
      "--draft <file>",
      "a text from what failed or is blocked: a plan\nfile, output of apply --format json, a journal",
    )
    .option("--edit", "edit the text before it is sent")
    .option("--entity <what>", "what it is about: vpc/prod, domain/example.com,\nor by id: node/123", collect)
    .option("--vlan <label>", "a VLAN that it is about")
    .option("--region <region>", "the region of that VLAN")
    .option("--managed-issue", "it is about a managed service")
    .option("--again", "open it although the very same is open")
    .addOption(formatFlag("how to show the ticket"))
    .addHelpText(
      "after",
      `
A ticket of the last day that is open and has the same text is taken for this
one, so that a command that was killed can be run again.

Examples:
  tenon ticket open --entity vpc/prod
  tenon ticket open --summary 'No answer' --description 'ns1 is silent.'
  tenon ticket open --file text.txt --entity domain/example.com
  tenon ticket open --draft .tenon/journal/2026-11-22T10-00-00.000Z.jsonl`,
    )
    .action((flags) => run(flags, (inner) => open(inner, flags, connect)));
  addConnectionFlags(command);
}

async function open(terminal: Terminal, flags: OpenFlags, connect: Connect): Promise<ExitCode> {
  const named = await namedEntity(terminal, flags);
  if (named === "invalid") return EXIT.error;
  const written = await writeTicket(terminal, flags);
  if (written === null) return terminal.interrupt.code() ?? EXIT.error;
  const code = await writing(terminal, flags, connect, (request, connection) =>
    sendTicket(terminal, flags, { request, connection, written, named }),
  );
  await written.close(code === EXIT.done);
  return code;
}

async function namedEntity(
  terminal: Terminal,
  { entity = [], ...flags }: OpenFlags,
): Promise<NamedEntity | null | "invalid"> {
  const [name, ...others] = entity;
  const conflict =
    others.length > 0
      ? "a ticket can be about one entity only"
      : flags.region !== undefined && flags.vlan === undefined
        ? "--region is the region of a VLAN, and no --vlan is given"
        : null;
  if (conflict !== null) {
    sayError(terminal, { code: "conflicting-options", summary: conflict });
    return "invalid";
  }
  if (name === undefined) return null;
  const { parseEntityName } = await import("../../tickets/index.ts");
  const parsed = parseEntityName(name);
  if (parsed.ok) return parsed.entity;
  sayDiagnostics(terminal, [parsed.diagnostic]);
  return "invalid";
}

interface ToOpen {
  readonly request: TicketRequest;
  readonly connection: Connection;
  readonly written: WrittenTicket;
  readonly named: NamedEntity | null;
}

async function sendTicket(terminal: Terminal, flags: OpenFlags, to: ToOpen): Promise<ExitCode> {
  const { request, connection, written, named } = to;
  const { summary, description } = written;
  if (isLeak(terminal, `${summary}\n${description}`, connection)) return EXIT.error;
  const { openTicket } = await import("../../tickets/index.ts");
  const entity = named === null ? written.entity : await resolved(terminal, request, named);
  if (typeof entity === "number") return entity;
  const { vlan, region, managedIssue, again = false } = flags;
  const more = { ...(vlan && { vlan }), ...(region && { region }), ...(managedIssue && { managed_issue: true }) };
  const opened = await openTicket(request, { summary, description, entity, ...more }, { again });
  if (opened.outcome !== "done" && opened.outcome !== "there") return sayEnded(terminal, opened, "opened", null);
  const isThere = opened.outcome === "there";
  const { id } = opened.value;
  const text = isThere
    ? `Ticket ${id} is open already, with the very same text. Nothing was sent (--again opens another one).\n`
    : `Ticket ${id} is open: ${escapeText(opened.value.summary)}\n`;
  print(terminal, flags, text, { outcome: isThere ? "there" : "opened", ticket: opened.value });
  return sayOthers(terminal, opened) ? EXIT.partial : EXIT.done;
}

async function resolved(terminal: Terminal, { api }: TicketRequest, named: NamedEntity): Promise<Entity | ExitCode> {
  const { resolveEntity } = await import("../../tickets/index.ts");
  const found = await resolveEntity(api, named, terminal.interrupt.first);
  if (found.ok) return found.entity;
  if ("failure" in found) {
    sayFailure(terminal, `cannot read ${found.what}`, found.failure);
    return terminal.interrupt.code() ?? EXIT.error;
  }
  sayDiagnostics(terminal, [found.diagnostic]);
  return found.diagnostic.code === "entity-ambiguous" ? EXIT.refused : EXIT.error;
}

// Replying.

interface ReplyFlags extends TicketFlags {
  readonly description?: string;
  readonly file?: string;
  readonly edit?: boolean;
  readonly again?: boolean;
}

function addReply(ticket: Command, run: Run, connect: Connect): void {
  const command = ticket
    .command("reply")
    .summary("reply to a ticket")
    .description("Reply to a ticket. On a terminal an editor asks for a text that is not given.")
    .argument("<id>", "the number of the ticket", parseId)
    .option("--description <text>", "the text, 1 to 65,535 characters")
    .option("--file <file>", "the text; - is stdin")
    .option("--edit", "edit the text before it is sent")
    .option("--again", "reply although the newest reply is the very same")
    .addOption(formatFlag("how to show the reply"))
    .addHelpText(
      "after",
      `
Examples:
  tenon ticket reply 20000001
  tenon ticket reply 20000001 --description 'It works again, thank you.'
  dig +trace example.com | tenon ticket reply 20000001 --file -`,
    )
    .action((id, flags) => run(flags, (inner) => reply(inner, id, flags, connect)));
  addConnectionFlags(command);
}

async function reply(terminal: Terminal, id: number, flags: ReplyFlags, connect: Connect): Promise<ExitCode> {
  const written = await writeReply(terminal, id, flags);
  if (written === null) return terminal.interrupt.code() ?? EXIT.error;
  const code = await writing(terminal, flags, connect, (request, connection) =>
    sendReply(terminal, id, flags, { request, connection, written }),
  );
  await written.close(code === EXIT.done);
  return code;
}

interface ToReply {
  readonly request: TicketRequest;
  readonly connection: Connection;
  readonly written: WrittenReply;
}

async function sendReply(terminal: Terminal, id: number, flags: ReplyFlags, to: ToReply): Promise<ExitCode> {
  const { request, connection, written } = to;
  if (isLeak(terminal, written.description, connection)) return EXIT.error;
  const { replyToTicket } = await import("../../tickets/index.ts");
  const replied: TicketOutcome<TicketReply> = await replyToTicket(request, id, written.description, {
    again: flags.again === true,
  });
  if (replied.outcome !== "done" && replied.outcome !== "there") return sayEnded(terminal, replied, "answered", id);
  const isThere = replied.outcome === "there";
  const text = isThere
    ? `The newest reply to ticket ${id} is the very same. Nothing was sent (--again sends it).\n`
    : `Replied to ticket ${id}.\n`;
  print(terminal, flags, text, { outcome: isThere ? "there" : "replied", reply: replied.value });
  return sayOthers(terminal, replied) ? EXIT.partial : EXIT.done;
}

// Attaching.

interface AttachFlags extends TicketFlags {
  readonly again?: boolean;
}

function addAttach(ticket: Command, run: Run, connect: Connect): void {
  const command = ticket
    .command("attach")
    .summary("attach files to a ticket")
    .description("Attach files to a ticket. All of them are checked before the first is sent.")
    .argument("<id>", "the number of the ticket", parseId)
    .argument("<file...>", ".gif .jpg .jpeg .pjpg .pjpeg .tif .tiff .png .pdf .txt,\neach of at most 5 MiB")
    .option("--again", "attach a file although one of its name is there")
    .addOption(formatFlag("how to show what was attached"))
    .addHelpText(
      "after",
      `
A file whose name is on the ticket is taken for attached, so that a command
that was killed can be run again.

Examples:
  tenon ticket attach 20000001 trace.txt screenshot.png`,
    )
    .action((id, files, flags) => run(flags, (inner) => attach(inner, id, files, flags, connect)));
  addConnectionFlags(command);
}

async function attach(
  terminal: Terminal,
  id: number,
  paths: readonly string[],
  flags: AttachFlags,
  connect: Connect,
): Promise<ExitCode> {
  const { attachFiles, checkAttachments } = await import("../../tickets/index.ts");
  const checked = await checkAttachments(paths, terminal.interrupt.first);
  if (!checked.ok) {
    sayDiagnostics(terminal, checked.problems);
    return EXIT.error;
  }
  return writing(terminal, flags, connect, async (request, { token }) => {
    if (await isFileLeak(terminal, checked.files, token)) return EXIT.error;
    const attached = await attachFiles(request, id, checked.files, { again: flags.again === true });
    if (attached.outcome !== "done") return sayEnded(terminal, attached, "given files", id);
    const { files } = attached;
    for (const file of files) sayFile(terminal, id, file);
    const isDone = files.every(({ outcome }) => outcome === "done" || outcome === "there");
    // With an error, `--format json` prints that in place of the result.
    if (isDone || files.some(({ outcome }) => outcome === "done"))
      print(terminal, flags, filesText(files), filesJson(id, files));
    if (isDone) return EXIT.done;
    const isInPart = files.some(({ outcome }) => outcome === "done" || outcome === "there" || outcome === "unknown");
    return terminal.interrupt.code() ?? (isInPart ? EXIT.partial : EXIT.error);
  });
}

/** A log of another tool may hold the token. A file that was changed since it was checked is not sent. */
async function isFileLeak(terminal: Terminal, files: readonly FormFile[], token: string): Promise<boolean> {
  const secret = new Secret(token);
  for (const { file, content } of files) {
    const text = await readRegular(file, content.bytes).catch(() => "");
    if (!secret.isIn(text)) continue;
    const summary = `${file} holds the access token, and nothing is sent`;
    sayError(terminal, { code: "token-in-text", summary, fix: "Take it out." });
    return true;
  }
  return false;
}

/** Reports a file that was not attached. */
function sayFile(terminal: Terminal, id: number, file: AttachedFile): void {
  const { name } = file;
  if (file.outcome === "failed") sayFailure(terminal, `${name} cannot be attached`, file.failure);
  if (file.outcome === "unknown") sayUnknown(terminal, `${name} was attached`, file.failure, id);
  if (file.outcome === "unsent") sayLine(terminal, `warning: ${escapeText(name)} was not sent`);
}

function filesText(files: readonly AttachedFile[]): string {
  return files
    .map(({ name, bytes, outcome }) => {
      if (outcome === "done") return `Attached ${escapeText(name)} (${bytes.toLocaleString("en")} bytes).\n`;
      return outcome === "there" ? `${escapeText(name)} is there already. Not sent again (--again sends it).\n` : "";
    })
    .join("");
}

function filesJson(ticket: number, files: readonly AttachedFile[]): object {
  return { ticket_id: ticket, files: files.map(({ name, bytes, outcome }) => ({ name, bytes, outcome })) };
}

// Closing.

function addClose(ticket: Command, run: Run, connect: Connect): void {
  const command = ticket
    .command("close")
    .summary("close a ticket")
    .description("Close a ticket. Not every ticket can be closed by those who opened it.")
    .argument("<id>", "the number of the ticket", parseId)
    .addOption(formatFlag("how to show the ticket"))
    .addHelpText("after", "\nExamples:\n  tenon ticket close 20000001")
    .action((id, flags) => run(flags, (inner) => close(inner, id, flags, connect)));
  addConnectionFlags(command);
}

function close(terminal: Terminal, id: number, flags: TicketFlags, connect: Connect): Promise<ExitCode> {
  return writing(terminal, flags, connect, async (request) => {
    const { closeTicket } = await import("../../tickets/index.ts");
    const closed = await closeTicket(request, id);
    if (closed.outcome !== "done" && closed.outcome !== "there") return sayEnded(terminal, closed, "closed", id);
    const isThere = closed.outcome === "there";
    const text = `Ticket ${id} is closed${isThere ? " already" : ""}.\n`;
    print(terminal, flags, text, { outcome: isThere ? "there" : "closed", ticket: closed.value });
    return EXIT.done;
  });
}

// Drafting.

function addDraft(ticket: Command, run: Run): void {
  ticket
    .command("draft")
    .summary("write a ticket's text from what failed")
    .description("Print a ticket's text from what failed or is blocked. Nothing is sent.")
    .argument("<file>", "a plan file, the output of apply --format json, or\na journal; - is stdin")
    .addOption(formatFlag("how to show it"))
    .addHelpText(
      "after",
      `
The first line is the summary, the rest the description, as tenon ticket open
--file takes them. It has requests, times and ids, and no values of a request.

Examples:
  tenon ticket draft .tenon/journal/2026-11-22T10-00-00.000Z.jsonl > text.txt
  tenon ticket open --file text.txt`,
    )
    .action((file, flags) => run(flags, (inner) => printDraft(inner, file, flags)));
}
