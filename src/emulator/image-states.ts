/** How images go from state to state with reads and with time (API.md, Image status). */

import { dropGrants } from "./auth.ts";
import type { UntilAvailable } from "./options.ts";
import { type Clock, type ImageRow, parseTimestamp, type Store } from "./store.ts";

const MILLISECONDS_PER_SECOND = 1000;
const UPLOAD_WINDOW_MILLISECONDS = 24 * 60 * 60 * 1000;

export class ImageStates {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #reads: UntilAvailable;
  /** null: reads count instead. */
  readonly #seconds: UntilAvailable | null;
  /** How often each unfinished image was shown as such. Not kept: a restart begins anew. */
  readonly #shown = new Map<string, number>();

  constructor(store: Store, clock: Clock, reads: UntilAvailable, seconds: UntilAvailable | null) {
    this.#store = store;
    this.#clock = clock;
    this.#reads = reads;
    this.#seconds = seconds;
  }

  /** Deletes the uploads that nobody sent data for in time, and the automatic images whose time is over. */
  expire(): void {
    const { images } = this.#store.tables;
    const now = this.#clock.now();
    for (const image of [...images.group("status", "pending_upload").values()]) {
      if (image.upload?.received_at) continue;
      if (now - parseTimestamp(image.created) >= UPLOAD_WINDOW_MILLISECONDS) this.#delete(image);
    }
    for (const image of [...images.group("type", "automatic").values()]) {
      if (image.expiry !== null && now >= parseTimestamp(image.expiry)) this.#delete(image);
    }
  }

  #delete({ id }: ImageRow): void {
    this.#store.tables.images.delete(id);
    dropGrants(this.#store, "images", id);
  }

  /** The image as this read shows it, which may be the one that finds it available. */
  read(image: ImageRow): ImageRow {
    if (!this.#isFinished(image)) return image;
    this.#shown.delete(image.id);
    const updated = this.#clock.timestamp();
    const available: ImageRow = { ...image, status: "available", size: image.final_size, updated };
    this.#store.tables.images.put(available);
    return available;
  }

  /** Counts the read if it shows the image unfinished. */
  #isFinished(image: ImageRow): boolean {
    const since = startOfWork(image);
    if (image.status === "available" || since === null) return false;
    const limit = image.status === "creating" ? "creating" : "pendingUpload";
    if (this.#seconds !== null) {
      return this.#clock.now() - parseTimestamp(since) >= this.#seconds[limit] * MILLISECONDS_PER_SECOND;
    }
    const shown = this.#shown.get(image.id) ?? 0;
    if (shown >= this.#reads[limit]) return true;
    this.#shown.set(image.id, shown + 1);
    return false;
  }
}

/** Since when nothing but time is missing; null: more is. */
function startOfWork(image: ImageRow): string | null {
  return image.status === "creating" ? image.created : (image.upload?.received_at ?? null);
}
