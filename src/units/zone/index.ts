/** The zone: a domain and its records. */

import { isRecordType } from "../../dns/record.ts";
import type { Lookup } from "../../model/plan.ts";
import { domainAddress, type JsonObject } from "../../model/resource.ts";
import type { Likeness, Recognition, Unit, UnitSpec } from "../../model/unit.ts";
import { recogniseOne } from "../common.ts";
import { pairZones } from "./diff.ts";
import { amendBody, conflictInZone, readBackOfZone, statedContent } from "./domain.ts";
import { lossesOfZone } from "./guards.ts";
import { identifyZone, type LiveZone, listZone, readZones } from "./live.ts";
import { loadZone, readDomainName } from "./load-domain.ts";
import { declareZone, writeZone, ZONE_LAYOUT } from "./manifest.ts";
import { clashingRecords, leftToOthers, restateZone, valuesOfZone } from "./restate.ts";
import { DOMAIN_SCHEMA, ZONE_DEFINITIONS } from "./schema.ts";
import type { ZoneSpec } from "./spec.ts";
import { objectionInZone, recordContent, zoneSteps, zoneStrategies } from "./steps.ts";

export const zoneSpec: UnitSpec<ZoneSpec> = {
  section: "domains",
  removedKey: "domain",
  ignores: true,
  layout: ZONE_LAYOUT,
  schema: DOMAIN_SCHEMA,
  definitions: ZONE_DEFINITIONS,
  load: loadZone,
  write: writeZone,
  removed: (text) => {
    const { name, problem } = readDomainName(text);
    return { address: domainAddress(name), key: name, problem };
  },
};

export const zone: Unit<ZoneSpec, LiveZone> = {
  name: "zone",
  kinds: [
    // Names of domains are unique: of two equal ones the service refuses the second.
    {
      kind: "domain",
      words: ["domain", "domains"],
      nameField: "domain",
      takesContents: true,
      expected: { type: "master", status: "active" },
      servingFields: ["type", "status", "master_ips"],
    },
    {
      kind: "domain_record",
      words: ["record", "records"],
      nameField: "name",
      canBeDuplicated: true,
      identifiedByValues: true,
      line: "record",
      isKnown: ({ type }) => isRecordType(String(type)),
    },
  ],
  spec: zoneSpec,
  read: readZones,
  identify: identifyZone,
  canBeRenamed: false,
  list: listZone,
  declare: declareZone,
  valuesOf: valuesOfZone,
  restate: restateZone,
  clashing: clashingRecords,
  leftToOthers,
  normalise: pairZones,
  steps: zoneSteps,
  strategies: zoneStrategies,
  losses: lossesOfZone,
  amend: amendBody,
  precondition: objectionInZone,
  readBack: readBackOfZone,
  explainConflict: conflictInZone,
  recognise: recogniseZone,
  duplicateKey: recordDuplicateKey,
  likeness: recordLikeness,
};

function recogniseZone(lookup: Lookup, items: readonly JsonObject[]): Recognition {
  const match = lookup.match as JsonObject;
  return lookup.kind === "domain"
    ? recogniseOne(lookup, items, (item) => statedContent(item, match))
    : recogniseOne(lookup, items, (item) => recordContent(item, String(match["zone"])));
}

/** The key of a record is its whole content, so two records with one key are always equal. */
function recordDuplicateKey({ kind, match }: Lookup, item?: JsonObject): string | null {
  if (kind !== "domain_record") return null;
  const { zone, content } = match as JsonObject;
  if (item === undefined) return String(content);
  const found = recordContent(item, String(zone));
  return found === null ? null : String(found["content"]);
}

function recordLikeness(): Likeness {
  return "equal";
}
