/** A declared zone: what a domain entry of a manifest comes to. */

import type { DnsRecord } from "../../dns/record.ts";
import type { Annotations } from "../../model/annotations.ts";
import type { IgnorePattern } from "../../model/desired.ts";
import type { Diagnostic, Span } from "../../model/diagnostic.ts";
import type { Json } from "../../model/resource.ts";
import type { LoadContext } from "../../model/unit.ts";

export interface ZoneSpec {
  /** Lower-case ASCII without a final dot. */
  readonly domain: string;
  /** What is managed: type and status always, the rest as stated; null has become the value that resets. */
  readonly fields: Readonly<Record<string, Json>>;
  /** null: not managed. */
  readonly records: readonly RecordSpec[] | null;
  /** Records whose entries have expired: they are none of `records`. Absent: none. */
  readonly expired?: readonly RecordSpec[];
  /** Records that come back once those of `records` that override them have expired, and the last day of that. Absent: none. */
  readonly later?: readonly (RecordSpec & { readonly after: string })[];
  /** An undo says the records as the account has them: who made them, and whether anybody declares them, it does not know. */
  readonly restated?: true;
  readonly ignore: readonly IgnorePattern[];
  /** The names that are managed, if only a part of the domain is: globs over relative names. */
  readonly part?: readonly string[];
  /** Names that the projects of others manage. Sorted by owner; absent: none. */
  readonly sharedWith?: readonly Share[];
  readonly policy: "authoritative" | "additive";
  /** How it is made if it is not there; null: by a plain create. */
  readonly createFrom: CreateFrom | null;
  /** Codes of lint rules that do not hold for the domain. */
  readonly lintOff: readonly string[];
}

/** One entry of `shared_with:`. */
export interface Share {
  readonly owner: string;
  /** Globs over relative names. */
  readonly names: readonly string[];
}

/** `create_from:` of a manifest: what the zone begins with, once. */
export type CreateFrom =
  /** Lower-case ASCII without a final dot: a domain of the account. */
  | { readonly type: "clone"; readonly domain: string }
  /** A name server that lets the service transfer the zone. */
  | { readonly type: "axfr"; readonly server: string };

export interface RecordSpec extends DnsRecord {
  readonly span: Span;
  readonly note: string | null;
  readonly annotations?: Annotations;
  /** Codes of lint rules that do not hold for the record. */
  readonly lintOff: readonly string[];
}

// What the parts of loading one domain share.

export interface ZoneContext extends LoadContext {
  /** Lower-case ASCII without a final dot. */
  readonly zone: string;
  error(problem: Omit<Diagnostic, "severity" | "address">): void;
}

// `lint: { off: [code] }` of a domain or record: which lint rules do not hold for it.

export interface LintEntry {
  readonly off?: readonly string[];
}
