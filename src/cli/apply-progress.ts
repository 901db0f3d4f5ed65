/** What is told while an apply runs: events as JSON lines, or progress and failures for people. */

import { type ApplyEvent, escapeText, failureText, jsonText, type Plan } from "../index.ts";
import type { Format } from "./args.ts";
import { Progress } from "./progress.ts";
import type { Terminal } from "./terminal.ts";

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

  tell(event: ApplyEvent): void {
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

/** What a person should see at once, and not only in the report. */
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
