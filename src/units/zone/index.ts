/** The zone: a domain and its records. */

import type { JsonObject } from "../../model/resource.ts";
import type { Lookup } from "../../model/step.ts";
import type { Likeness, Recognition, Unit } from "../../model/unit.ts";
import { recogniseOne } from "../recognise.ts";
import { amendBody, statedContent } from "./domain.ts";
import { identifyZone, type LiveZone, readZones } from "./live.ts";
import { declareZone } from "./manifest/declare.ts";
import { pairZones } from "./match/pairs.ts";
import type { ZoneSpec } from "./shape.ts";
import { zoneSpec } from "./spec.ts";
import { recordContent } from "./steps/record-steps.ts";
import { zoneSteps, zoneStrategies } from "./steps/steps.ts";
import { clashInZone, toldOfZone } from "./told.ts";

export const zone: Unit<ZoneSpec, LiveZone> = {
  name: "zone",
  spec: zoneSpec,
  read: readZones,
  identify: identifyZone,
  declare: declareZone,
  pairs: pairZones,
  steps: zoneSteps,
  strategies: zoneStrategies,
  amend: amendBody,
  permits: () => null,
  told: toldOfZone,
  clash: clashInZone,
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

/** A record is what it says: nothing that goes by the same name could say something else. */
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
