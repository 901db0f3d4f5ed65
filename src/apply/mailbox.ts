/** Mailbox: how work that goes on at the same time tells one loop, one message after the other. */

export class Mailbox<Message> {
  readonly #messages: Message[] = [];
  #wake: (() => void) | null = null;

  post(message: Message): void {
    this.#messages.push(message);
    this.#wake?.();
    this.#wake = null;
  }

  /** Waits for the next message. For one reader only. */
  async take(): Promise<Message> {
    for (;;) {
      const message = this.#messages.shift();
      if (message !== undefined) return message;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
