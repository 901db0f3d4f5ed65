/** A declared zone: what a domain entry of a manifest comes to. */

import type { RecordType } from "../../api/wire/index.ts";
import type { IgnorePattern } from "../../model/desired.ts";
import type { Span } from "../../model/diagnostic.ts";
import type { Json } from "../../model/resource.ts";

export interface ZoneSpec {
  /** Lower-case ASCII without a final dot. */
  readonly domain: string;
  /** What is managed: type and status always, the rest as stated; null has become the value that resets. */
  readonly fields: Readonly<Record<string, Json>>;
  /** null: not managed. */
  readonly records: readonly RecordSpec[] | null;
  readonly ignore: readonly IgnorePattern[];
  readonly policy: "authoritative" | "additive";
}

export interface RecordSpec {
  readonly type: RecordType;
  /** Relative, lower-case ASCII, `""` the apex; of an SRV in full, `_sip._tcp.parent`. */
  readonly name: string;
  /** Names absolute, lower-case ASCII, without a final dot, `""` the root; addresses canonical; TXT and CAA raw. */
  readonly target: string;
  /** Seconds; one of the allowed values, or 0. */
  readonly ttl_sec: number;
  /** MX, SRV. */
  readonly priority?: number;
  /** SRV. */
  readonly weight?: number;
  readonly port?: number;
  /** CAA. */
  readonly tag?: string;
  readonly span: Span;
  readonly note: string | null;
}
