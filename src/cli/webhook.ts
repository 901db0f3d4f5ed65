/** `--webhook`: its address, and the messages about a fleet that are posted there. What is not taken, or not in time, is reported and holds nothing up. */

import { Option } from "commander";
import { escapeText } from "../render/terminal.ts";
import type { Webhook } from "../watch/index.ts";
import { sayDiagnostics } from "./messages.ts";
import { sayBeside } from "./progress.ts";
import type { Terminal } from "./terminal.ts";

export interface WebhookFlags {
  readonly webhook?: string;
}

export function webhookFlag(description: string): Option {
  return new Option("--webhook <url>", `${description};\nalso TENON_WEBHOOK`);
}

/** Messages that wait while one is sent. */
const MAX_WAITING_MESSAGES = 100;

/** @returns an address that can be posted to; null: none is asked for; "invalid": it cannot be one, which is reported */
export async function resolveWebhook(
  terminal: Terminal,
  { webhook }: WebhookFlags,
): Promise<string | null | "invalid"> {
  const address = webhook?.trim() ?? (terminal.environment["TENON_WEBHOOK"]?.trim() || null);
  if (address === null) return null;
  const { checkWebhookUrl } = await import("../watch/index.ts");
  const checked = checkWebhookUrl(address);
  if (checked.ok) return checked.url;
  sayDiagnostics(terminal, [checked.diagnostic]);
  return "invalid";
}

/** @param address as `resolveWebhook` returned it */
export async function openNotices(terminal: Terminal, address: string): Promise<FleetNotices> {
  const { openWebhook } = await import("../watch/index.ts");
  return new FleetNotices(terminal, await openWebhook(address, terminal.environment));
}

export class FleetNotices {
  readonly #terminal: Terminal;
  readonly #webhook: Webhook;
  readonly #ended = new AbortController();
  /** In their order. */
  #sending: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(terminal: Terminal, webhook: Webhook) {
    this.#terminal = terminal;
    this.#webhook = webhook;
  }

  /** @param message JSON; null: there is nothing to say */
  post(message: string | null): void {
    if (message === null) return;
    if (this.#waiting >= MAX_WAITING_MESSAGES) {
      this.#failed("too many messages wait");
      return;
    }
    this.#waiting += 1;
    this.#sending = this.#sending.then(async () => {
      this.#waiting -= 1;
      if (this.#ended.signal.aborted) return;
      const problem = await this.#webhook.post(message, this.#ended.signal);
      if (problem !== null && !this.#ended.signal.aborted) this.#failed(problem);
    });
  }

  #failed(problem: string): void {
    sayBeside(this.#terminal, `warning: the webhook did not take the message: ${escapeText(problem)}`);
  }

  /** @param signal aborted: what is not taken yet is given up */
  async close(signal: AbortSignal): Promise<void> {
    const giveUp = (): void => this.#ended.abort();
    if (signal.aborted) giveUp();
    signal.addEventListener("abort", giveUp);
    await this.#sending;
    signal.removeEventListener("abort", giveUp);
    await this.#webhook.close();
  }
}
