/** Progress while a command runs, on stderr: of an apply, of any long work, and notices of long waits. */

import type { ApiEvent, ApplyEvent, Plan } from "../index.ts";
import { jsonText, roughTime } from "../model/text.ts";
import { failureText } from "../render/report.ts";
import { cut, escapeText } from "../render/terminal.ts";
import type { Format } from "./flags.ts";
import { sayLine } from "./say-line.ts";
import type { Terminal } from "./terminal.ts";

// Output while an apply runs: events as JSON lines; progress and failures for people.

export class ApplyProgress {
  readonly #terminal: Terminal;
  readonly #format: Format;
  readonly #progress: Progress;
  readonly #total: number;
  readonly #meter: Meter = new Meter(() => performance.now());
  /** Uploads that are under way, by step. */
  readonly #uploads: Map<string, { readonly sent: number; readonly total: number }> = new Map();
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
    if (event.type === "step-done" || event.type === "step-failed") this.#uploads.delete(event.step);
    this.#show();
  }

  /** How much of a file has been handed to the network. */
  upload(step: string, sent: number, total: number): void {
    this.#uploads.set(step, { sent, total });
    this.#show();
  }

  #show(): void {
    const steps = `${this.#done} of ${this.#total} steps done`;
    const uploads = [...this.#uploads.values()];
    if (uploads.length === 0) {
      this.#progress.show(`Applying: ${steps}, ${this.#running} running`);
      return;
    }
    const sent = uploads.reduce((sum, upload) => sum + upload.sent, 0);
    const total = uploads.reduce((sum, upload) => sum + upload.total, 0);
    const what = uploads.length === 1 ? "Uploading" : `Uploading ${uploads.length} files:`;
    this.#progress.show(`${what} ${this.#meter.text(sent, total)}; ${steps}`);
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

// Bytes on their way: how many of how many, how fast, and how long still.

/** Before so long a rate says little. */
const MIN_RATED_MILLISECONDS = 1_000;
const UNITS = ["B", "KiB", "MiB", "GiB"] as const;

/** Follows one transfer after another: a number of bytes that is less than before, or of another total, begins a new one. */
export class Meter {
  readonly #now: () => number;
  #startedAt = 0;
  #first = 0;
  #last = Number.POSITIVE_INFINITY;
  #total = 0;

  /** @param now milliseconds of any clock that never goes back */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @returns for example `1.2 of 4.0 GiB, 310.0 MiB/s, 9 s left` */
  text(done: number, total: number): string {
    if (done < this.#last || total !== this.#total) {
      this.#startedAt = this.#now();
      this.#first = done;
    }
    this.#last = done;
    this.#total = total;
    const unit = unitOf(total);
    const amount = `${inUnit(done, unit)} of ${inUnit(total, unit)} ${UNITS[unit]}`;
    const milliseconds = this.#now() - this.#startedAt;
    if (milliseconds < MIN_RATED_MILLISECONDS || done === this.#first) return amount;
    const rate = ((done - this.#first) / milliseconds) * 1000;
    return `${amount}, ${inUnit(rate, unitOf(rate))} ${UNITS[unitOf(rate)]}/s, ${roughTime((total - done) / rate)} left`;
  }
}

function unitOf(bytes: number): number {
  return Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
}

function inUnit(bytes: number, unit: number): string {
  return (bytes / 1024 ** unit).toFixed(unit === 0 ? 0 : 1);
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
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #isTerminal: boolean;
  readonly #startedAt: number = Date.now();
  #text = "";
  #drawn = "";

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#isTerminal = terminal.messages.isTerminal && terminal.environment["TERM"] !== "dumb";
    if (terminal.isCaptured === true) return;
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
    sayLine(this.#terminal, text);
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
  if (progress === undefined) sayLine(terminal, text);
  else progress.note(text);
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
        if (event.waitsInLimiter || event.waitSeconds < MIN_TOLD_WAIT_SECONDS) return null;
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
