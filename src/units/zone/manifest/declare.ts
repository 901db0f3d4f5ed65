/** A live zone as the declaration that it fits: the way back from the account to a manifest. */

import type { WireRecord } from "../../../api/wire/index.ts";
import type { Declared } from "../../../model/desired.ts";
import type { Json } from "../../../model/resource.ts";
import { NOWHERE } from "../../nowhere.ts";
import { liveDomain } from "../domain.ts";
import { identifyZone, type LiveZone } from "../live.ts";
import type { RecordSpec, ZoneSpec } from "../shape.ts";
import { isKnownType, liveRecord } from "../values.ts";

/** What identifies a domain, or is the owner's. */
const NOT_FIELDS: ReadonlySet<string> = new Set(["domain", "owner"]);

/** Records of types that the service did not have are left alone by every plan, so they are left out here. */
export function declareZone(live: LiveZone): Declared<ZoneSpec> {
  const { key, address } = identifyZone(live);
  const records = live.domain.type === "slave" ? null : (live.records?.filter(({ type }) => isKnownType(type)) ?? null);
  return {
    unit: "zone",
    address,
    key,
    id: null,
    movedFrom: null,
    protect: false,
    note: null,
    span: NOWHERE,
    spec: {
      domain: key,
      fields: statedFields(live),
      records: records?.map((record) => declareRecord(record, key)) ?? null,
      ignore: [],
      policy: "authoritative",
      createFrom: null,
      lintOff: [],
    },
  };
}

function statedFields(live: LiveZone): Record<string, Json> {
  const values = Object.entries(liveDomain(live)).filter(([field]) => !NOT_FIELDS.has(field));
  return Object.fromEntries(values.filter(([field, value]) => field === "type" || !isDefault(field, value)));
}

function isDefault(field: string, value: Json): boolean {
  if (field === "status") return value === "active";
  return value === "" || value === 0 || (Array.isArray(value) && value.length === 0);
}

function declareRecord(record: WireRecord, zone: string): RecordSpec {
  return { ...liveRecord(record, zone), note: null, lintOff: [], span: NOWHERE };
}
