/** Messages on stderr: diagnostics with their source, errors of the command line, and failures in the service's words. */

import { type Diagnostic, type Failure, Sources } from "../index.ts";
import { countSkipped, renderDiagnostics } from "../render/diagnostics.ts";
import { failureText } from "../render/report.ts";
import { escapeText } from "../render/terminal.ts";
import { sayLine } from "./say-line.ts";
import type { Terminal } from "./terminal.ts";

export function sayDiagnostics(
  terminal: Terminal,
  diagnostics: readonly Diagnostic[],
  sources: Sources = new Sources(),
): void {
  if (diagnostics.length === 0) return;
  terminal.record?.(diagnostics, sources);
  const text = renderDiagnostics(diagnostics, sources, terminal.messages);
  terminal.say(text.endsWith("\n") ? text : `${text}\n`);
}

/** Prints the diagnostics of a project that is loaded for use. Skipped records of zone files are only counted; `validate` prints each. */
export function sayLoaded(terminal: Terminal, diagnostics: readonly Diagnostic[], sources: Sources): void {
  const { others, notes } = countSkipped(diagnostics);
  sayDiagnostics(terminal, others, sources);
  for (const note of notes) terminal.say(`${note}\n`);
}

/** Explains why a command fails that has found only warnings. */
export function sayStrict(terminal: Terminal): void {
  terminal.say("error: warnings are errors with --strict\n");
}

/** Error codes of the command line itself → their meaning. The codes are stable, and listed in docs/reference/exit-codes.md. */
export const ERROR_CODES: Readonly<Record<ErrorCode, string>> = {
  "address-unknown": "an address names nothing that the project declares, or for `show` nothing in the account either",
  "base-unknown": "`--base` names no project folder and no git ref that is here",
  "base-unreadable": "the project at `--base` could not be taken from git",
  "conflicting-options": "two options exclude each other, or an option is given without the one that it needs",
  "consent-not-asked": "there is no terminal to ask on, and no `--yes`",
  "demo-failed": "`tenon demo` did not go as it should",
  "draft-unreadable": "the file that a ticket is to be drafted from cannot be read",
  "editor-failed": "there is no editor, or it did not end well: nothing was sent",
  "emulator-failed": "the emulator could not start: its port, data file or seed",
  "file-exists": "a file is there already, and `--force` was not given",
  "file-unwritable": "a file that the command writes cannot be written",
  "internal-error": "an error of Tenon: please report it",
  "invalid-argument": "the value of an option or argument is not one that it can have",
  "journal-unreadable": "the journal of `undo`, or of `apply --undo`, cannot be read",
  "missing-argument": "an argument is missing",
  "missing-option": "an option that the command cannot do without is missing",
  "missing-value": "an option is given without its value",
  "nothing-selected": "`--select` fits no account of the fleet, or the fleet has none",
  "nothing-to-export": "the project declares nothing that the format can hold",
  "object-missing": "what `output` names is declared, and the account has no object that is surely it",
  "plan-file-as-project": "a saved plan was given where a project belongs",
  "plan-file-unreadable": "the file of `--plan`, or of `show`, cannot be read",
  "queue-of-others": "the prefix of a fleet's queue is used by another fleet",
  "service-aborted": "a request was given up because the run was interrupted",
  "service-malformed": "what answered does not speak this API",
  "service-refused": "the service refused a request: its status and words are in `summary`",
  "service-unavailable": "the service was not able to answer, for as long as `--retry-for` says",
  "service-unreachable": "nobody answers at the base URL",
  "snapshot-malformed": "what the service said does not fit into a snapshot",
  "snapshot-of-others": "the snapshot of `--live` is of another account or service",
  "snapshot-unreadable": "the file of `--live` cannot be read",
  "text-unreadable": "the file of `--file`, the text of a ticket or reply, cannot be read",
  "ticket-closed": "the ticket is closed, and takes no reply and no file",
  "ticket-not-closable": "the service does not let the ticket be closed (`closable`)",
  "ticket-outcome-unknown": "an answer was lost, and it could not be found out whether the request was carried out",
  "ticket-unknown": "the account has no such ticket",
  "token-in-plan": "the plan holds the access token, and is not saved",
  "token-in-snapshot": "the account holds the access token, and the snapshot is not saved",
  "token-in-text": "the text of a ticket or reply, or a file for one, holds the access token, and is not sent",
  "unexpected-argument": "an argument too many",
  "unknown-command": "there is no such command",
  "unknown-field": "`explain` knows no such field, and no such code",
  "unknown-option": "the command has no such option",
};

export type ErrorCode =
  | "address-unknown"
  | "base-unknown"
  | "base-unreadable"
  | "conflicting-options"
  | "consent-not-asked"
  | "demo-failed"
  | "draft-unreadable"
  | "editor-failed"
  | "emulator-failed"
  | "file-exists"
  | "file-unwritable"
  | "internal-error"
  | "invalid-argument"
  | "journal-unreadable"
  | "missing-argument"
  | "missing-option"
  | "nothing-selected"
  | "missing-value"
  | "nothing-to-export"
  | "object-missing"
  | "plan-file-as-project"
  | "plan-file-unreadable"
  | "queue-of-others"
  | "service-aborted"
  | "service-malformed"
  | "service-refused"
  | "service-unavailable"
  | "service-unreachable"
  | "snapshot-malformed"
  | "snapshot-of-others"
  | "snapshot-unreadable"
  | "text-unreadable"
  | "ticket-closed"
  | "ticket-not-closable"
  | "ticket-outcome-unknown"
  | "ticket-unknown"
  | "token-in-plan"
  | "token-in-snapshot"
  | "token-in-text"
  | "unexpected-argument"
  | "unknown-command"
  | "unknown-field"
  | "unknown-option";

/** `summary` is a clause, `fix` sentences that say what to do. */
export interface CommandError {
  readonly code: ErrorCode;
  readonly summary: string;
  readonly fix?: string;
}

/** An error of the command line itself; `--format json` prints it as a diagnostic, too. */
export function sayError(terminal: Terminal, { code, summary, fix = "" }: CommandError): void {
  record(terminal, { code, summary, fix });
  sayLine(terminal, `error: ${escapeText(summary)}`);
  if (fix !== "") sayLine(terminal, escapeText(fix), 2);
}

export function sayFailure(terminal: Terminal, what: string, failure: Failure): void {
  const fix = adviceFor(failure, terminal.tokenPlace ?? "TENON_TOKEN or --token-file");
  record(terminal, {
    code: `service-${failure.type}`,
    summary: `${what}: ${failureText(failure)}`,
    fix: fix.replace(/\n +/g, " "),
  });
  sayLine(terminal, `error: ${escapeText(what)}: ${failureText(failure)}`);
  if (fix !== "") for (const line of fix.split("\n")) sayLine(terminal, line.trimStart(), 2);
}

function record(terminal: Terminal, error: CommandError): void {
  terminal.record?.([asDiagnostic(error)], new Sources());
}

export function asDiagnostic({ code, summary, fix = "" }: CommandError): Diagnostic {
  return { code, severity: "error", summary, detail: "", ...(fix === "" ? {} : { fix }) };
}

function adviceFor({ status, type, exceeds, nobodyListens }: Failure, tokenPlace: string): string {
  if (status === 401) return `Check the token in ${tokenPlace}: it may be wrong, expired or revoked.`;
  if (status === 403) return "The token lacks a scope or a grant for this.";
  if (status === 404) return "Check the base URL: it has to end with the version, for example /v4.";
  if (nobodyListens === true)
    return "Check the base URL: nothing listens there.\n  `tenon emulate --port N` serves the whole API on this machine; `tenon demo` needs no service.\n  TENON_SERVICE=linode is the known service, TENON_BASE_URL the address of any other.";
  if (type === "unreachable") return "Check the base URL, the network and the proxy settings.";
  if (exceeds === "lists") return "Read less at once: with --target, or for an import with --domain or --vpc.";
  if (exceeds === "answer")
    return "If it is this API that answers at the base URL, report the error: the limit is Tenon's own.";
  if (type === "malformed") return "Check the base URL: what answered does not speak this API.";
  return "";
}
