/** The desired state: what the manifests of a project say, with every name resolved and every default applied. */

import type { Annotations } from "./annotations.ts";
import type { Span } from "./diagnostic.ts";
import type { Address, ObjectId, UnitName } from "./resource.ts";

/** One declared network, zone or image. `spec` is of the unit's own type. */
export interface Declared<Spec = unknown> {
  readonly unit: UnitName;
  readonly address: Address;
  /** What it is found by: a VPC's or image's label, a domain's lower-case ASCII name. */
  readonly key: string;
  /** `id:` of the manifest, where labels repeat. */
  readonly id: ObjectId | null;
  /** `moved_from:` of the manifest. */
  readonly movedFrom: string | null;
  readonly protect: boolean;
  readonly note: string | null;
  /** Absent if its entry says none of them. */
  readonly annotations?: Annotations;
  readonly span: Span;
  /** The place of its `id:`; absent if it has none. */
  readonly idSpan?: Span;
  /** By an undo: whose tag the object is to carry, null for none; absent: the project's owner's. */
  readonly owner?: string | null;
  /** By an undo: the object is to go, as the run that is undone made it. */
  readonly goes?: true;
  /** By an undo: the object is made anew, whatever has its name. */
  readonly anew?: true;
  /** Only a part of what is in the object is declared: the object itself is another project's, which must have agreed to it. */
  readonly part?: true;
  /** What it is to be is decided by a file, too: that two manifests declare it alike does not say that nothing changes. */
  readonly followsFile?: true;
  readonly spec: Spec;
}

/** One entry of `removed:`. */
export interface Removed {
  readonly unit: UnitName;
  readonly address: Address;
  readonly key: string;
  readonly id: ObjectId | null;
  /** false: take the ownership tag off and forget it. */
  readonly destroy: boolean;
  /** For a domain: records that must not be deleted with it. */
  readonly ignore: readonly IgnorePattern[];
  readonly span: Span;
}

/** Records that others keep in a zone, by who keeps them. */
export const IGNORE_PRESETS = ["acme", "external-dns"] as const;

export type IgnorePreset = (typeof IGNORE_PRESETS)[number];

/** Globs; an absent one matches everything. `*` matches any text, `\*` is a star. */
export interface IgnorePattern {
  readonly preset?: IgnorePreset;
  /** With the preset external-dns: what its registry puts before and after names. */
  readonly txt_prefix?: string;
  readonly txt_suffix?: string;
  readonly name?: string;
  readonly type?: string;
  readonly target?: string;
}

export type ConsentRule = "delete" | "replace" | "bulk" | "ns";

/** One entry of `allow:`, or of `--allow`. */
export interface Consent {
  readonly rule: ConsentRule;
  /** Address glob. */
  readonly address: string;
  /** ISO date (YYYY-MM-DD), the last day on which it holds. */
  readonly until: string | null;
  readonly reason: string | null;
  readonly span: Span | null;
}

/** A file of the project that an object is made of. */
export interface NamedFile {
  readonly address: Address;
  /** Relative to the project's folder, forward slashes. */
  readonly file: string;
  readonly span: Span;
}

export interface Desired {
  /** YYYY-MM-DD, UTC: the day for which it was loaded, by which dates are past or not. Absent: none is past. */
  readonly today?: string;
  readonly owner: string | null;
  readonly account: string | null;
  readonly declared: readonly Declared[];
  readonly removed: readonly Removed[];
  readonly allow: readonly Consent[];
  /** Codes of lint rules that do not hold in the project. */
  readonly lintOff: readonly string[];
  /** Where the root file says so, by code. */
  readonly lintOffSpans?: ReadonlyMap<string, Span>;
  /** Where files to upload are named; absent if none is. */
  readonly files?: readonly NamedFile[];
}
