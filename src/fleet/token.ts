/**
 * Entries of a fleet with one token are parts of one account of the service: they take turns, and each begins from what the last one saw of the
 * limits. The token itself is in no lock and no record.
 */

import { createHmac } from "node:crypto";
import type { PaceCell } from "../api/index.ts";
import type { FleetAccount } from "./fleet-file.ts";
import { paceKey, problemOfRecord, Records } from "./records.ts";
import type { Fence, FleetStore } from "./store.ts";

/** How long an entry is put back whose token is in use, for each that waits for it. */
const BUSY_MILLISECONDS = 500;
const MAX_BUSY_MILLISECONDS = 15_000;
/** Whoever waited for a token that nobody has asked for since has had it from another worker, or has another one now. */
const FORGOTTEN_MILLISECONDS = 4 * MAX_BUSY_MILLISECONDS;

/** HMAC-SHA-256 of the token under the service's address, in hexadecimal: the same token elsewhere is another account's. */
export function tokenDigestOf({ baseUrl }: Pick<FleetAccount, "baseUrl">, token: string): string {
  return createHmac("sha256", `tenon fleet ${baseUrl}`).update(token).digest("hex");
}

/** No account of a fleet file has a name with a slash. */
function lockOf(digest: string): string {
  return `token/${digest}`;
}

/** The right to use a token, for one run. Taken after the lock of the account, and never waited for. */
export class TokenTurn {
  /** null: the run sends nothing. */
  readonly fence: Fence | null;
  readonly pace: PaceCell;
  readonly #store: FleetStore;
  readonly #digest: string;
  readonly #version: number;

  private constructor(store: FleetStore, digest: string, fence: Fence | null, pace: PaceCell, version: number) {
    this.#store = store;
    this.#digest = digest;
    this.fence = fence;
    this.pace = pace;
    this.#version = version;
  }

  /** @param digest of the token; null: the run sends nothing @returns null: another entry has the token */
  static async take(store: FleetStore, digest: string | null, milliseconds: number): Promise<TokenTurn | null> {
    if (digest === null) return new TokenTurn(store, "", null, { seen: null }, 0);
    const fence = await store.lock(lockOf(digest), milliseconds);
    if (fence === null) return null;
    const { version, value } = await new Records(store).read("pace", paceKey(digest));
    return new TokenTurn(store, digest, fence, { seen: value }, version);
  }

  /** Hands on what was seen of the limits. Without effect if another worker has got the token. */
  async end(): Promise<void> {
    if (this.fence === null) return;
    const { seen } = this.pace;
    // A service may count in ways that no record has.
    const isKept = seen !== null && (await problemOfRecord("pace", seen)) === null;
    if (isKept) await new Records(this.#store).write("pace", paceKey(this.#digest), seen, this.#version, this.fence);
    await this.#store.unlock(this.fence);
  }
}

/** When a worker asks again for tokens that are in use: the more entries wait for one, the later each, so that they take no slot from others. */
export class TokenWaits {
  /** Names by digest, those last whose token was asked for last. */
  readonly #waiting: Map<string, { readonly accounts: Set<string>; readonly at: number }> = new Map();

  /** @param now milliseconds of any clock @returns milliseconds */
  put(digest: string, account: string, now: number): number {
    const accounts = this.#waiting.get(digest)?.accounts ?? new Set();
    accounts.add(account);
    this.#waiting.delete(digest);
    this.#waiting.set(digest, { accounts, at: now });
    for (const [other, { at }] of this.#waiting) {
      if (now - at < FORGOTTEN_MILLISECONDS) break;
      this.#waiting.delete(other);
    }
    return Math.min(accounts.size * BUSY_MILLISECONDS, MAX_BUSY_MILLISECONDS);
  }

  /** Tokens of which it is known who waits for them. */
  get count(): number {
    return this.#waiting.size;
  }

  /** Those that still wait are counted anew. */
  clear(digest: string): void {
    this.#waiting.delete(digest);
  }
}
