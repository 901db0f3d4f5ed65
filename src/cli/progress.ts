/** Progress on stderr: one line that is rewritten on a terminal, a sign of life now and then elsewhere. */

import type { Terminal } from "./terminal.ts";

const HEARTBEAT_MILLISECONDS = 10_000;
/** A run that is over sooner shows nothing. */
const FIRST_DRAW_MILLISECONDS = 300;
const REDRAW_MILLISECONDS = 100;

const CLEAR_LINE = "\r\u001b[K";

export class Progress {
  readonly #terminal: Terminal;
  readonly #timer: NodeJS.Timeout;
  readonly #isTerminal: boolean;
  #text = "";
  #drawnAt: number;
  #isDrawn = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#isTerminal = terminal.messages.isTerminal && terminal.environment["TERM"] !== "dumb";
    this.#drawnAt = Date.now() + FIRST_DRAW_MILLISECONDS - REDRAW_MILLISECONDS;
    this.#timer = setInterval(() => this.#beat(), HEARTBEAT_MILLISECONDS).unref();
  }

  /** @param text one line, already escaped */
  show(text: string): void {
    this.#text = text;
    if (!this.#isTerminal || Date.now() - this.#drawnAt < REDRAW_MILLISECONDS) return;
    this.#draw();
  }

  /** A line that stays. */
  note(text: string): void {
    this.#clear();
    this.#terminal.say(`${text}\n`);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#clear();
  }

  #beat(): void {
    if (this.#text === "") return;
    if (this.#isTerminal) this.#draw();
    else this.#terminal.say(`${this.#text}\n`);
  }

  /** A line that wrapped could not be rewritten, so it is cut to the terminal's width. */
  #draw(): void {
    const text = [...this.#text].slice(0, this.#terminal.messages.width - 1).join("");
    this.#terminal.say(`${CLEAR_LINE}${text}`);
    this.#drawnAt = Date.now();
    this.#isDrawn = true;
  }

  #clear(): void {
    if (!this.#isDrawn) return;
    this.#terminal.say(CLEAR_LINE);
    this.#isDrawn = false;
  }
}
