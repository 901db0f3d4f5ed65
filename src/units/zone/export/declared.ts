/** Declared zones for those who ask what is served or write it down: records in the plain form, and what else may be there. */

import type { PlainRecord } from "../../../dns/plain-record.ts";
import type { Address } from "../../../model/address.ts";
import type { Declared, Desired } from "../../../model/desired.ts";
import type { Json } from "../../../model/resource.ts";
import { isIgnored } from "../match/ignore.ts";
import type { RecordSpec, ZoneSpec } from "../shape.ts";

export interface DeclaredZone {
  /** Lower-case ASCII without a final dot. */
  readonly zone: string;
  readonly address: Address;
  readonly fields: Readonly<Record<string, Json>>;
  /** null: not managed. */
  readonly records: readonly PlainRecord[] | null;
  /** Whether a record may be there that is not declared. */
  tolerates(record: PlainRecord): boolean;
}

/** In the order of the manifests. */
export function declaredZones(desired: Desired): DeclaredZone[] {
  return desired.declared.flatMap((declared) =>
    declared.unit === "zone" ? [declaredZone(declared as Declared<ZoneSpec>)] : [],
  );
}

function declaredZone({ address, spec }: Declared<ZoneSpec>): DeclaredZone {
  const { domain, fields, records, ignore, policy } = spec;
  return {
    zone: domain,
    address,
    fields,
    records: records?.map(plainRecord) ?? null,
    tolerates: (record) => records === null || policy === "additive" || isIgnored(record, ignore),
  };
}

function plainRecord({ span: _, note: _note, lintOff: _off, ...record }: RecordSpec): PlainRecord {
  return record;
}
