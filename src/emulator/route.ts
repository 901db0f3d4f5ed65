/** A route of the emulated API as data, and what its handler is given. */

import type { Answer } from "./errors.ts";
import type { ReceivedFile } from "./forms.ts";
import type { ImageStates } from "./image-states.ts";
import type { Clock, EventLog, Store, TokenRow } from "./store.ts";
import type { ZonePublisher } from "./zone-render.ts";

export interface Call {
  /** Decoded. */
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams;
  /** The raw X-Filter header. */
  readonly filter: string | undefined;
  /** `{}` if there was none. Keys are the client's: never index it with a name that is not ours. */
  readonly body: JsonBody;
  /** What came in a form; empty unless the route takes one. */
  readonly files: readonly ReceivedFile[];
  /** null: a request without credentials, which only `anonymous` routes see. */
  readonly caller: TokenRow | null;
  readonly remoteAddress: string;
  /** The Host header, which names this emulator. */
  readonly host: string | undefined;
}

export type JsonBody = Readonly<Record<string, unknown>>;

export interface Route {
  /** API.md's name of the operation; two routes share one where a path has two spellings. */
  readonly operation: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the base URL, parameters as `:name`. */
  readonly path: string;
  /** Scopes the token must all have (API.md, Authentication). */
  readonly scopes: readonly string[];
  /** Also answers requests without an Authorization header. */
  readonly anonymous?: boolean;
  /** Absent: JSON, or nothing. `multipart`: a form (multipart/form-data), and nothing else. */
  readonly body?: "multipart";
  readonly handle: (service: Service, call: Call) => Answer | Promise<Answer>;
}

/** What the routes work on: all accounts of the emulated service. */
export interface Service {
  readonly store: Store;
  readonly imageStates: ImageStates;
  readonly zones: ZonePublisher;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly settings: ServiceSettings;
  /** Aborted when the emulator closes: what waits for others ends then. */
  readonly closing: AbortSignal;
}

export interface ServiceSettings {
  /** The operator's word on the wire. */
  readonly word: string;
  readonly roundSeconds: (seconds: number) => number;
  readonly uniqueLabels: boolean;
  /** The URL below which upload targets are, for a client that calls the emulator by `host`; known once the server listens. */
  uploadBaseUrl(host: string | undefined): string;
}

/** A path parameter that is an integer id; null otherwise, which is answered as not found. */
export function idParam(call: Call, name: string): number | null {
  const text = call.params[name] ?? "";
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
}

/** Whose objects the caller sees; without credentials `""`, which owns nothing. */
export function accountOf(call: Call): string {
  return call.caller?.account ?? "";
}
