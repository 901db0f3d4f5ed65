/** `tenon drift --watch`: looks again and again until a signal comes, prints and posts only what is new. */

import { type Drift, systemClock } from "../index.ts";
import { Secret } from "../model/secret.ts";
import { renderNewsJson, renderNewsMessage, renderNewsText } from "../render/index.ts";
import { escapeText } from "../render/terminal.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import type { ListenAt } from "./flags.ts";
import { listen } from "./listen.ts";
import { readVersion, type Terminal } from "./terminal.ts";
import { resolveWebhook } from "./webhook.ts";

export interface WatchFlags {
  readonly watch?: boolean;
  /** Seconds. */
  readonly every?: number;
  readonly webhook?: string;
  readonly serve?: ListenAt;
  readonly format: "text" | "json";
}

const DEFAULT_EVERY_SECONDS = 300;

/** @param look compares once, hands on what it found, and says what goes wrong on the terminal that it is given */
export async function watch(
  terminal: Terminal,
  flags: WatchFlags,
  look: (terminal: Terminal, use: (found: Drift, token: string | undefined) => Promise<ExitCode>) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { openWebhook, serveWatch, WatchStatus, watchDrift } = await import("../watch/index.ts");
  const address = await resolveWebhook(terminal, flags);
  if (address === "invalid") return EXIT.error;
  const everyMilliseconds = (flags.every ?? DEFAULT_EVERY_SECONDS) * 1000;
  const status = new WatchStatus();
  const { interrupt, environment } = terminal;
  const quiet = new QuietTerminal(terminal);
  const where = flags.serve;
  const server =
    where === undefined
      ? null
      : await listen(terminal, { ...where, flag: "--serve", path: "/metrics" }, (reportBug) => {
          return serveWatch({
            ...{ ...where, status, everyMilliseconds, version: readVersion(), reportBug },
            now: () => Date.now(),
          });
        });
  if (server === "failed") return EXIT.error;
  const webhook = address === null ? null : await openWebhook(address, environment);
  try {
    let code: ExitCode = EXIT.error;
    // What a chat is sent is passed on. A look that fails may show lines of a manifest: the token is then that of the look before.
    let secret = new Secret("");
    const failed = await watchDrift({
      ...{ everyMilliseconds, clock: systemClock, signal: interrupt.first, status },
      // Signals are handled during posts, waits and, by the client, requests. A comparison that is computed has nothing to end in order: the
      // system ends it at once, where a handler would run seconds later.
      handlingSignals: (work) => interrupt.whileHandlingSignals(work),
      look: async () => {
        const found: Drift[] = [];
        code = await look(quiet.terminal, async (drift, used) => {
          secret = new Secret(used ?? "");
          found.push(secret.hideIn(drift));
          return EXIT.done;
        });
        const said = secret.hide(quiet.take());
        const [drift] = found;
        // Each look of an outage ends at another list, after other attempts. What is wrong with the manifests is another matter each time.
        if (drift === undefined)
          return { ok: false, message: said, ...(code === EXIT.error ? { cause: "service" } : {}) };
        quiet.sayNew(said);
        return { ok: true, drift };
      },
      print: (news) => {
        const at = new Date().toISOString();
        const text = flags.format === "json" ? renderNewsJson(news, at) : renderNewsText(news, at, terminal.results);
        // Problems go where they go without --watch; for a program they are news like the others.
        if (news.type === "unreadable" && flags.format === "text") terminal.say(text);
        else terminal.print(text);
      },
      ...(webhook === null
        ? {}
        : {
            post: (news) => webhook.post(renderNewsMessage(news), interrupt.first),
          }),
      reportPost: (problem) => terminal.say(`${new Date().toISOString()} ${postText(problem)}\n`),
    });
    if (failed !== null) terminal.say(failed.message);
    return failed === null ? EXIT.done : code;
  } finally {
    await Promise.all([webhook?.close(), server?.close()]);
  }
}

function postText(problem: string | null): string {
  return problem === null
    ? "The webhook takes messages again."
    : `warning: the webhook did not take the message: ${escapeText(problem)}. The next look tries again.`;
}

/** Keeps what is said until it is known whether it was said before. */
class QuietTerminal {
  readonly terminal: Terminal;
  readonly #outer: Terminal;
  #said = "";
  #last = "";
  /** Until a look succeeds, what is said is said by the command. */
  #isFirst = true;

  constructor(outer: Terminal) {
    this.#outer = outer;
    this.terminal = {
      ...outer,
      // What is said may be posted, too.
      messages: { ...outer.messages, colour: false, isTerminal: false },
      say: (text) => {
        this.#said += text;
      },
      record: (diagnostics, sources) => {
        if (this.#isFirst) outer.record?.(diagnostics, sources);
      },
    };
  }

  take(): string {
    const said = this.#said;
    this.#said = "";
    return said;
  }

  /** Warnings of a look that succeeded. */
  sayNew(text: string): void {
    this.#isFirst = false;
    if (text !== this.#last) this.#outer.say(text);
    this.#last = text;
  }
}
