/** A route of the emulated API as data, and what its handler is given. */

import type { Clock } from "./clock.ts";
import type { Answer } from "./errors.ts";
import type { EventLog } from "./events.ts";
import type { ReadsUntilAvailable } from "./options.ts";
import type { TokenRow } from "./rows.ts";
import type { Store } from "./store.ts";

export interface Call {
  /** Decoded. */
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams;
  /** The raw X-Filter header. */
  readonly filter: string | undefined;
  /** `{}` if there was none. Keys are the client's: never index it with a name that is not ours. */
  readonly body: JsonBody;
  /** null: a request without credentials, which only `anonymous` routes see. */
  readonly caller: TokenRow | null;
  readonly remoteAddress: string;
}

export type JsonBody = Readonly<Record<string, unknown>>;

export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the base URL, parameters as `:name`. */
  readonly path: string;
  /** Scopes the token must all have (API.md, Authentication). */
  readonly scopes: readonly string[];
  /** Also answers requests without an Authorization header. */
  readonly anonymous?: boolean;
  readonly handle: (call: Call) => Answer;
}

/** What the routes work on. */
export interface Account {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly settings: AccountSettings;
}

export interface AccountSettings {
  /** The operator's word on the wire. */
  readonly word: string;
  readonly roundSeconds: (seconds: number) => number;
  readonly uniqueLabels: boolean;
  readonly readsUntilAvailable: ReadsUntilAvailable;
  /** The URL below which upload targets are, known once the server listens. */
  uploadBaseUrl(): string;
}

/** A path parameter that is an integer id; null otherwise, which is answered as not found. */
export function idParam(call: Call, name: string): number | null {
  const text = call.params[name] ?? "";
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
}
