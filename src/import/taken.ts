/** What an import took from its source, whichever that was: entries of a manifest, not yet laid out. */

import type { SetAside } from "../dns/plain-record.ts";
import { SIGNING_TYPES } from "../dns/set-aside-codes.ts";
import type { Diagnostic, Span } from "../model/diagnostic.ts";
import type { JsonObject } from "../model/resource.ts";
import type { Sources } from "../model/source.ts";

/** One domain. Texts are plain: references are escaped when it is written. */
export interface TakenDomain {
  /** Lower-case ASCII without a final dot. */
  readonly name: string;
  /** Its entry without `records`. */
  readonly entry: JsonObject;
  /** One entry for each record, with targets as people write them; null: not managed. */
  readonly records: readonly JsonObject[] | null;
}

export interface Taken {
  readonly owner: string | null;
  readonly vpcs: readonly JsonObject[];
  /** In the order of their names. */
  readonly domains: readonly TakenDomain[];
  readonly images: readonly JsonObject[];
}

export interface Import {
  readonly taken: Taken;
  /** With errors nothing may be written. */
  readonly diagnostics: readonly Diagnostic[];
  /** Records that were read and set aside, in the order of their files. */
  readonly setAside: readonly SetAside[];
  readonly remarks: readonly Remark[];
  /** What the places above refer to. */
  readonly sources: Sources;
}

/** Something other than a record that did not come along. Alike ones of a file are told together. */
export interface Remark {
  readonly file: string;
  /** As its source calls it; empty: the file itself. */
  readonly what: string;
  /** A clause that goes on after `what` and its lines. */
  readonly detail: string;
  /** null: no line of the file. */
  readonly span: Span | null;
}

/**
 * Why nobody misses a record that was set aside; null: somebody would.
 * - `service`: SOA and apex NS, which belong to the service that served the zone until now.
 * - `signing`: made by that service's signer, and worth nothing without its keys.
 */
export function notMissed({ reason, type }: SetAside): "service" | "signing" | null {
  switch (reason) {
    case "soa":
    case "apex-ns":
      return "service";
    case "unsupported-type":
      return SIGNING_TYPES.has(type) ? "signing" : null;
    case "not-holdable":
      return null;
  }
}
