/** What of each zone is shown as rendered: its rows as they are or, for some time after a change, as they were; and its serial. */

import type { Clock } from "./clock.ts";
import { parseTimestamp } from "./clock.ts";
import type { DomainRow, RecordRow } from "./rows.ts";
import type { Store } from "./store.ts";
import type { ZoneContent } from "./zone-render.ts";

const MILLISECONDS_PER_SECOND = 1000;

/** Serials count round (RFC 1982). */
const SERIALS = 2 ** 32;

/** A zone with changes that are not rendered yet. */
interface Pending {
  /** As it was last rendered; null: it never was. */
  readonly shown: ZoneContent | null;
  /** Milliseconds since the epoch. Then it is rendered, with all that was changed until then. */
  readonly dueAt: number;
}

/**
 * A rendering is due some seconds after the first change that it will hold. Nothing runs at that time: who changes or views a
 * zone that is due finds it rendered. Rows are never changed in place, so what was rendered is kept as rows.
 */
export class ZonePublisher {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #renderSeconds: number;
  /** Not kept: after a restart every zone is rendered. What has no entry is rendered, too. */
  readonly #pending = new Map<number, Pending>();

  constructor(store: Store, clock: Clock, renderSeconds: number) {
    this.#store = store;
    this.#clock = clock;
    this.#renderSeconds = renderSeconds;
  }

  /** To be called once a domain was made, with all its records. */
  created(domain: DomainRow): void {
    this.#await(domain.id, null);
  }

  /** To be called before a domain or one of its records is changed or deleted. */
  changing(domain: DomainRow): void {
    const { id } = domain;
    if (this.#renderSeconds > 0 && this.#notDue(id) === undefined) this.#await(id, this.#content(domain));
    const now = Math.floor(this.#clock.now() / MILLISECONDS_PER_SECOND);
    this.#store.tables.settings.put({ id: serialKey(id), value: Math.max(this.#serial(domain) + 1, now) });
  }

  /** To be called once a domain is gone. */
  deleted(domain: DomainRow): void {
    this.#pending.delete(domain.id);
    this.#store.tables.settings.delete(serialKey(domain.id));
  }

  /** The zone as it was last rendered; null: it never was. */
  shown(domain: DomainRow): ZoneContent | null {
    const pending = this.#notDue(domain.id);
    return pending === undefined ? this.#content(domain) : pending.shown;
  }

  #await(id: number, shown: ZoneContent | null): void {
    if (this.#renderSeconds <= 0) return;
    this.#pending.set(id, { shown, dueAt: this.#clock.now() + this.#renderSeconds * MILLISECONDS_PER_SECOND });
  }

  #notDue(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    if (pending === undefined || this.#clock.now() < pending.dueAt) return pending;
    this.#pending.delete(id);
    return undefined;
  }

  #content(domain: DomainRow): ZoneContent {
    return { domain, records: [...this.#records(domain)], serial: this.#serial(domain) % SERIALS };
  }

  #records(domain: DomainRow): Iterable<RecordRow> {
    return this.#store.tables.records.group("zone", domain.id).values();
  }

  /**
   * Grows with every change, deletions and those of the same second included: a secondary takes over no zone whose serial
   * has not grown. Before the first change it is the time of the latest row.
   */
  #serial(domain: DomainRow): number {
    const kept = this.#store.tables.settings.get(serialKey(domain.id));
    if (kept !== undefined) return kept.value;
    let latest = domain.updated;
    for (const { updated } of this.#records(domain)) if (updated > latest) latest = updated;
    return parseTimestamp(latest) / MILLISECONDS_PER_SECOND;
  }
}

function serialKey(domainId: number): string {
  return `zone_serial/${domainId}`;
}
