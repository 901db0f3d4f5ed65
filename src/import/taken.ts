/** What an import took from its source, whichever that was: entries of a manifest, not yet laid out. */

import type { SetAside } from "../dns/plain-record.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
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
  /** What the places above refer to. */
  readonly sources: Sources;
}

/** SOA and apex NS belong to the service that served the zone until now; what is set aside otherwise would be missed. */
export function isMissed({ reason }: SetAside): boolean {
  switch (reason) {
    case "soa":
    case "apex-ns":
      return false;
    case "unsupported-type":
    case "not-holdable":
      return true;
  }
}
