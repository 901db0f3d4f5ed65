/** Messages on stderr: diagnostics with their source, failures in the service's words, and progress. */

import { createInterface } from "node:readline/promises";
import { type ApiEvent, type ApplyEvent, type Diagnostic, type Failure, type Plan, Sources } from "../index.ts";
import { jsonText } from "../model/text.ts";
import { countSkipped, renderDiagnostics } from "../render/diagnostics.ts";
import { failureText } from "../render/report.ts";
import { cut, escapeText } from "../render/terminal.ts";
import type { Format } from "./flags.ts";
import type { Terminal } from "./terminal.ts";

export function sayDiagnostics(
  terminal: Terminal,
  diagnostics: readonly Diagnostic[],
  sources: Sources = new Sources(),
): void {
  if (diagnostics.length === 0) return;
  terminal.record?.(diagnostics, sources);
  const { colour, width } = terminal.messages;
  const text = renderDiagnostics(diagnostics, sources, { colour, width });
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
  "base-unknown": "`--base` names no project folder and no git ref that is here",
  "base-unreadable": "the project at `--base` could not be taken from git",
  "conflicting-options": "options that do not go together, or one without the other that it is for",
  "consent-not-asked": "there is no terminal to ask on, and no `--yes`",
  "demo-failed": "`tenon demo` did not go as it should",
  "emulator-failed": "the emulator could not start: its port, data file or seed",
  "file-exists": "a file is there already, and `--force` was not given",
  "file-unwritable": "a file that the command writes cannot be written",
  "internal-error": "an error of Tenon: please report it",
  "invalid-argument": "the value of an option or argument is not one that it can have",
  "missing-argument": "an argument is missing",
  "missing-option": "an option that the command cannot do without is missing",
  "missing-value": "an option is given without its value",
  "plan-file-as-project": "a saved plan was given where a project belongs",
  "plan-file-unreadable": "the file of `--plan`, or of `show`, cannot be read",
  "service-aborted": "a request was given up because the run was interrupted",
  "service-malformed": "what answered does not speak this API",
  "service-refused": "the service refused a request: its status and words are in `summary`",
  "service-unavailable": "the service was not able to answer, for as long as `--retry-for` says",
  "service-unreachable": "nobody answers at the base URL",
  "snapshot-malformed": "what the service said does not fit into a snapshot",
  "snapshot-of-others": "the snapshot of `--live` is of another account or service",
  "snapshot-unreadable": "the file of `--live` cannot be read",
  "token-in-plan": "the plan holds the access token, and is not saved",
  "token-in-snapshot": "the account holds the access token, and the snapshot is not saved",
  "unexpected-argument": "an argument too many",
  "unknown-command": "there is no such command",
  "unknown-option": "the command has no such option",
};

export type ErrorCode =
  | "base-unknown"
  | "base-unreadable"
  | "conflicting-options"
  | "consent-not-asked"
  | "demo-failed"
  | "emulator-failed"
  | "file-exists"
  | "file-unwritable"
  | "internal-error"
  | "invalid-argument"
  | "missing-argument"
  | "missing-option"
  | "missing-value"
  | "plan-file-as-project"
  | "plan-file-unreadable"
  | "service-aborted"
  | "service-malformed"
  | "service-refused"
  | "service-unavailable"
  | "service-unreachable"
  | "snapshot-malformed"
  | "snapshot-of-others"
  | "snapshot-unreadable"
  | "token-in-plan"
  | "token-in-snapshot"
  | "unexpected-argument"
  | "unknown-command"
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
  terminal.say(`error: ${escapeText(summary)}\n${fix === "" ? "" : `  ${escapeText(fix)}\n`}`);
}

export function sayFailure(terminal: Terminal, what: string, failure: Failure): void {
  const fix = adviceFor(failure);
  record(terminal, { code: `service-${failure.type}`, summary: `${what}: ${failureText(failure)}`, fix });
  terminal.say(`error: ${escapeText(what)}: ${failureText(failure)}\n${fix === "" ? "" : `  ${fix}\n`}`);
}

function record(terminal: Terminal, error: CommandError): void {
  terminal.record?.([asDiagnostic(error)], new Sources());
}

export function asDiagnostic({ code, summary, fix = "" }: CommandError): Diagnostic {
  return { code, severity: "error", summary, detail: "", ...(fix === "" ? {} : { fix }) };
}

function adviceFor({ status, type }: Failure): string {
  if (status === 401) return "Check the token in TENON_TOKEN or --token-file: it may be wrong, expired or revoked.";
  if (status === 403) return "The token lacks a scope or a grant for this.";
  if (status === 404) return "Check the base URL: it has to end with the version, for example /v4.";
  if (type === "unreachable") return "Check the base URL, the network and the proxy settings.";
  if (type === "malformed") return "Check the base URL: what answered does not speak this API.";
  return "";
}

// Output while an apply runs: events as JSON lines; progress and failures for people.

export class ApplyProgress {
  readonly #terminal: Terminal;
  readonly #format: Format;
  readonly #progress: Progress;
  readonly #total: number;
  #done = 0;
  #running = 0;

  constructor(terminal: Terminal, plan: Plan, format: Format) {
    this.#terminal = terminal;
    this.#format = format;
    this.#total = plan.steps.length;
    this.#progress = new Progress(terminal);
  }

  report(event: ApplyEvent): void {
    if (this.#format === "json") this.#terminal.print(`${jsonText(event)}\n`);
    this.#count(event);
    const note = noteOf(event);
    if (note !== null) this.#progress.note(note);
    this.#progress.show(`Applying: ${this.#done} of ${this.#total} steps done, ${this.#running} running`);
  }

  end(): void {
    this.#progress.end();
  }

  #count(event: ApplyEvent): void {
    switch (event.type) {
      case "step-started":
        this.#running += 1;
        break;
      case "step-done":
        this.#done += 1;
        this.#running -= 1;
        break;
      case "step-failed":
        this.#running -= 1;
        break;
      case "step-skipped":
      case "step-note":
      case "stopping":
        break;
    }
  }
}

/** A line that a person should see at once, not only in the report; null if there is none. */
function noteOf(event: ApplyEvent): string | null {
  switch (event.type) {
    case "step-failed": {
      const why = event.failure === null ? "" : `: ${failureText(event.failure)}`;
      return `${event.outcome}: ${escapeText(event.step)}${why}`;
    }
    case "step-note":
      return event.note === "waiting" ? null : `${escapeText(event.step)}: ${escapeText(event.detail)}`;
    case "stopping":
      return event.reason === "interrupted"
        ? "Interrupted: finishing what is under way. Interrupt again to stop at once."
        : `Stopping: ${event.reason}.`;
    case "step-started":
    case "step-done":
    case "step-skipped":
      return null;
  }
}

// Progress on stderr: one line that is rewritten on a terminal, and a line from time to time elsewhere.

const HEARTBEAT_MILLISECONDS = 10_000;
/** A run that ends sooner shows no progress. */
const FIRST_DRAW_MILLISECONDS = 300;
const REDRAW_MILLISECONDS = 100;
/** From then on the line shows the time, so that a reader sees that something still happens. */
const TIME_SHOWN_FROM_SECONDS = 3;

const CLEAR_LINE = "\r\u001b[K";

/** The progress that each terminal shows at the moment: other messages must not be written into its line. */
const shown = new WeakMap<Terminal, Progress>();

export class Progress {
  readonly #terminal: Terminal;
  readonly #timer: NodeJS.Timeout;
  readonly #isTerminal: boolean;
  readonly #startedAt: number = Date.now();
  #text = "";
  #drawn = "";

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#isTerminal = terminal.messages.isTerminal && terminal.environment["TERM"] !== "dumb";
    const period = this.#isTerminal ? REDRAW_MILLISECONDS : HEARTBEAT_MILLISECONDS;
    this.#timer = setInterval(() => this.#beat(), period).unref();
    shown.set(terminal, this);
  }

  /** @param text one line, already escaped */
  show(text: string): void {
    this.#text = text;
  }

  /** A line that stays. */
  note(text: string): void {
    this.#clear();
    this.#terminal.say(`${text}\n`);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#clear();
    if (shown.get(this.#terminal) === this) shown.delete(this.#terminal);
  }

  #beat(): void {
    const milliseconds = Date.now() - this.#startedAt;
    if (this.#text === "" || milliseconds < FIRST_DRAW_MILLISECONDS) return;
    const seconds = Math.floor(milliseconds / 1000);
    const line = seconds < TIME_SHOWN_FROM_SECONDS ? this.#text : `${this.#text} (${seconds} s)`;
    if (this.#isTerminal) this.#draw(line);
    else this.#terminal.say(`${line}\n`);
  }

  /** A wrapped line could not be rewritten, so the line is cut to the terminal's width. */
  #draw(line: string): void {
    const text = cut(line, this.#terminal.messages.width - 1);
    if (text === this.#drawn) return;
    this.#terminal.say(`${CLEAR_LINE}${text}`);
    this.#drawn = text;
  }

  #clear(): void {
    if (this.#drawn === "") return;
    this.#terminal.say(CLEAR_LINE);
    this.#drawn = "";
  }
}

/** Prints a line that stays, above the progress if that is shown. */
export function sayBeside(terminal: Terminal, text: string): void {
  const progress = shown.get(terminal);
  if (progress === undefined) terminal.say(`${text}\n`);
  else progress.note(text);
}

// The question before anything is changed: only a person at a terminal is asked.

/** @returns whether the answer was `yes`; anything else, an interrupt included, is a no */
export async function confirm(terminal: Terminal, goal: "apply" | "destroy"): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // readline handles Ctrl-C itself, so no signal comes.
  lines.on("SIGINT", () => terminal.interrupt.raise("SIGINT"));
  const question = goal === "destroy" ? "Destroy these resources?" : "Apply these changes?";
  try {
    const answer = await terminal.interrupt.heed(() =>
      lines.question(`\n${question} Only "yes" is accepted: `, { signal: terminal.interrupt.first }),
    );
    if (answer.trim() === "yes") return true;
    terminal.say("Nothing was done.\n");
    return false;
  } catch (error) {
    if (!terminal.interrupt.first.aborted) throw error;
    terminal.say("\nNothing was done.\n");
    return false;
  } finally {
    lines.close();
  }
}

// Notices of long waits: one for each cause, however many requests wait.

/** A wait shorter than this is not worth a line. */
const MIN_TOLD_WAIT_SECONDS = 5;
/** A recurring cause is announced again only after this time. */
const MIN_REPEAT_MILLISECONDS = 60_000;

/** Turns the client's events into lines for people. Pure but for `now`. */
export class WaitNotices {
  readonly #now: () => number;
  readonly #reportedAt: Map<string, number> = new Map();
  /** Requests that are retried after a long wait, and have had no good answer since. */
  readonly #stuck: Set<string> = new Set();

  /** @param now milliseconds of any clock that never goes back */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @returns an escaped line without its line end; null if there is nothing new to announce */
  report(event: ApiEvent): string | null {
    switch (event.type) {
      case "sent":
        return null;
      case "answered":
        return this.#answered(`${event.method} ${event.path}`, event.status);
      case "retrying": {
        // A rate limit is announced once, not for each request that waits for it.
        if (event.atGate || event.waitSeconds < MIN_TOLD_WAIT_SECONDS) return null;
        this.#stuck.add(`${event.method} ${event.path}`);
        return this.#once(event.reason, `Waiting: ${escapeText(event.reason)}; trying again.`);
      }
      case "throttled": {
        if (event.waitSeconds < MIN_TOLD_WAIT_SECONDS) return null;
        const cause = `the rate limit of ${escapeText(event.endpoint)} is used up`;
        return this.#once(cause, `Waiting ${Math.ceil(event.waitSeconds)} s: ${cause}.`);
      }
    }
  }

  #once(cause: string, line: string): string | null {
    const reportedAt = this.#reportedAt.get(cause);
    if (reportedAt !== undefined && this.#now() - reportedAt < MIN_REPEAT_MILLISECONDS) return null;
    this.#reportedAt.set(cause, this.#now());
    return line;
  }

  /** A status of 5xx does not end the wait: it is the trouble itself. */
  #answered(request: string, status: number | null): string | null {
    if (status === null || status >= 500 || !this.#stuck.delete(request)) return null;
    return this.#stuck.size === 0 ? "The service answers again." : null;
  }
}
