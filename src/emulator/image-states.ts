/** How images go from state to state with reads and with time (API.md, Image status). */

import type { Clock } from "./clock.ts";
import { parseTimestamp } from "./clock.ts";
import type { ReadsUntilAvailable } from "./options.ts";
import type { ImageRow } from "./rows.ts";
import type { Store } from "./store.ts";

const UPLOAD_WINDOW_MILLISECONDS = 24 * 60 * 60 * 1000;

export class ImageStates {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #limits: ReadsUntilAvailable;
  /** How often each unfinished image was shown as such. Not kept: a restart begins anew. */
  readonly #reads = new Map<string, number>();

  constructor(store: Store, clock: Clock, limits: ReadsUntilAvailable) {
    this.#store = store;
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Deletes the uploads that nobody sent data for in time. */
  expire(): void {
    const { images } = this.#store.tables;
    for (const image of [...images.group("status", "pending_upload").values()]) {
      if (image.upload?.received) continue;
      if (this.#clock.now() - parseTimestamp(image.created) >= UPLOAD_WINDOW_MILLISECONDS) images.delete(image.id);
    }
  }

  /** The image as this read shows it, which may be the one that finds it available. */
  read(image: ImageRow): ImageRow {
    const limit = this.#limit(image);
    if (limit === null) return image;
    const reads = this.#reads.get(image.id) ?? 0;
    if (reads < limit) {
      this.#reads.set(image.id, reads + 1);
      return image;
    }
    this.#reads.delete(image.id);
    const updated = this.#clock.timestamp();
    const available: ImageRow = { ...image, status: "available", size: image.final_size, updated };
    this.#store.tables.images.put(available);
    return available;
  }

  /** null: reads do not change it. */
  #limit(image: ImageRow): number | null {
    switch (image.status) {
      case "available":
        return null;
      case "creating":
        return this.#limits.creating;
      case "pending_upload":
        return image.upload?.received ? this.#limits.pendingUpload : null;
    }
  }
}
