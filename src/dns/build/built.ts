/** What a builder hands back: records as a manifest would write them, and what is wrong with the parts. */

import type { Diagnostic } from "../../model/diagnostic.ts";
import type { PlainType } from "../plain-record.ts";

/** From the builder's value to the part that is meant: keys and indices. */
export type PartPath = readonly (string | number)[];

export interface BuiltRecord {
  readonly type: PlainType;
  /** As in a manifest: relative to the zone, `""` the apex. */
  readonly name: string;
  /** As in a manifest: names absolute with a final dot, TXT raw. */
  readonly target: string;
  /** CAA. */
  readonly tag?: string;
  /** The part it comes from, if it is one part alone. */
  readonly path?: PartPath;
}

export interface BuildProblem extends Pick<Diagnostic, "code" | "severity" | "summary" | "detail"> {
  readonly fix: string;
  readonly path: PartPath;
}

export interface Built {
  readonly records: readonly BuiltRecord[];
  readonly problems: readonly BuildProblem[];
}

/** A part that does not fit what the record allows. */
export function badPart(path: PartPath, summary: string, detail: string, fix: string): BuildProblem {
  return { code: "bad-part", severity: "error", summary, detail, fix, path };
}

/** `parent` below `label`: `_dmarc` and `shop` make `_dmarc.shop`; the apex is `""` or `@`. */
export function below(label: string, parent: string): string {
  return parent === "" || parent === "@" ? label : `${label}.${parent}`;
}
