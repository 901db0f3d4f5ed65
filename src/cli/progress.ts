/** Progress on stderr: one line that is rewritten on a terminal, a sign of life now and then elsewhere. */

import { cut } from "../index.ts";
import type { Terminal } from "./terminal.ts";

const HEARTBEAT_MILLISECONDS = 10_000;
/** A run that is over sooner shows nothing. */
const FIRST_DRAW_MILLISECONDS = 300;
const REDRAW_MILLISECONDS = 100;
/** From here on the reader wonders whether anything still happens: the line says for how long it has been at it. */
const TIME_SHOWN_FROM_SECONDS = 3;

const CLEAR_LINE = "\r\u001b[K";

/** What a terminal shows at the moment: others who have something to say must not write into its line. */
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

  /** A line that wrapped could not be rewritten, so it is cut to the terminal's width. */
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

/** A line that stays, above the progress if some is shown. */
export function sayBeside(terminal: Terminal, text: string): void {
  const progress = shown.get(terminal);
  if (progress === undefined) terminal.say(`${text}\n`);
  else progress.note(text);
}
