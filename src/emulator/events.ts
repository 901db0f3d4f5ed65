/** Events that operations trigger (API.md, Events): the latest ones, for `/_emulator/events`. */

/** Older ones are forgotten. */
const MAX_EVENTS = 1_000;

export type EventAction =
  | "vpc_create"
  | "vpc_update"
  | "vpc_delete"
  | "subnet_create"
  | "subnet_update"
  | "subnet_delete";

export interface AccountEvent {
  readonly id: number;
  readonly action: EventAction;
  readonly created: string;
  readonly entity: { readonly type: "vpc" | "subnet"; readonly id: number; readonly label: string };
}

export class EventLog {
  readonly #events: AccountEvent[] = [];
  readonly #timestamp: () => string;
  #count = 0;

  constructor(timestamp: () => string) {
    this.#timestamp = timestamp;
  }

  emit(action: EventAction, entity: { readonly id: number; readonly label: string }): void {
    this.#count += 1;
    const type = action.startsWith("vpc_") ? "vpc" : "subnet";
    this.#events.push({
      id: this.#count,
      action,
      created: this.#timestamp(),
      entity: { type, id: entity.id, label: entity.label },
    });
    if (this.#events.length > MAX_EVENTS) this.#events.shift();
  }

  /** Oldest first. */
  all(): readonly AccountEvent[] {
    return this.#events;
  }
}
