/**
 * What a fleet asks of a queue, and the one that lives in the process. A job is a wake-up that names an account, and nothing else: the worker
 * that takes it reads the fleet file and the project as they are then.
 */

/** An account that a worker has taken, until it says that it is done with it. */
export interface Lease {
  readonly account: string;
  /** @returns false: the lease has been lost, and another worker may have the account */
  extend(): Promise<boolean>;
  done(): Promise<void>;
  /** Puts the account back; it is taken again after this time at the earliest. */
  later(milliseconds: number): Promise<void>;
}

export interface FleetQueue {
  /**
   * An account waits once at most. One that is taken and is woken up meanwhile waits for another turn, and that is the one for which it is put
   * back, if it is. One that was put back is taken when its time comes.
   */
  enqueue(account: string): Promise<void>;
  /** As `enqueue`, for what was not asked for before: an account that was put back is taken at once. */
  wakeUp(account: string): Promise<void>;
  /** The account that has waited longest, when there is one. @returns null: nothing waits, is taken or will be back, or `signal` was aborted */
  take(signal: AbortSignal): Promise<Lease | null>;
  counts(): Promise<QueueCounts>;
  close(): Promise<void>;
}

/** Accounts by what becomes of their wake-ups: `delayed` are put back for a while, or wait for their time. */
export interface QueueCounts {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
}

/** For one process: what waits is gone with it. */
export class EmbeddedQueue implements FleetQueue {
  /** In the order in which they came. */
  readonly #waiting: Set<string> = new Set();
  readonly #active: Set<string> = new Set();
  /** Woken up while they were taken. */
  readonly #again: Set<string> = new Set();
  readonly #timers: Map<string, NodeJS.Timeout> = new Map();
  readonly #idle: Set<() => void> = new Set();

  async enqueue(account: string): Promise<void> {
    if (this.#active.has(account)) this.#again.add(account);
    else if (!this.#timers.has(account)) this.#wait(account);
  }

  async wakeUp(account: string): Promise<void> {
    clearTimeout(this.#timers.get(account));
    this.#timers.delete(account);
    await this.enqueue(account);
  }

  async take(signal: AbortSignal): Promise<Lease | null> {
    for (;;) {
      if (signal.aborted) return null;
      const [account] = this.#waiting;
      if (account !== undefined) {
        this.#waiting.delete(account);
        this.#active.add(account);
        return this.#lease(account);
      }
      if (this.#active.size === 0 && this.#timers.size === 0) return null;
      await this.#change(signal);
    }
  }

  async counts(): Promise<QueueCounts> {
    return { waiting: this.#waiting.size, active: this.#active.size, delayed: this.#timers.size };
  }

  async close(): Promise<void> {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#waiting.clear();
    this.#wake();
  }

  #lease(account: string): Lease {
    const leave = (): void => {
      this.#active.delete(account);
      if (this.#again.delete(account)) this.#wait(account);
      this.#wake();
    };
    return {
      account,
      extend: async () => true,
      done: async () => leave(),
      later: async (milliseconds) => {
        this.#again.delete(account);
        this.#timers.set(
          account,
          setTimeout(() => {
            this.#timers.delete(account);
            this.#wait(account);
          }, milliseconds),
        );
        leave();
      },
    };
  }

  #wait(account: string): void {
    this.#waiting.add(account);
    this.#wake();
  }

  #wake(): void {
    const idle = [...this.#idle];
    this.#idle.clear();
    for (const wake of idle) wake();
  }

  /** Until something waits, or was left. */
  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#idle.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#idle.add(wake);
      signal.addEventListener("abort", wake);
    });
  }
}
