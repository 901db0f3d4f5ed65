/** The zone: a domain and its records. */

import type { JsonObject } from "../../model/resource.ts";
import type { Lookup } from "../../model/step.ts";
import type { Recognition, Unit } from "../../model/unit.ts";
import { recogniseOne } from "../recognise.ts";
import { amendBody, statedContent } from "./domain.ts";
import { identifyZone, type LiveZone, readZones } from "./live.ts";
import { declareZone } from "./manifest/declare.ts";
import { pairZones } from "./match/pairs.ts";
import { type ZoneSpec, zoneSpec } from "./spec.ts";
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
};

function recogniseZone(lookup: Lookup, items: readonly JsonObject[]): Recognition {
  const match = lookup.match as JsonObject;
  return lookup.kind === "domain"
    ? recogniseOne(lookup, items, (item) => statedContent(item, match))
    : recogniseOne(lookup, items, (item) => recordContent(item, String(match["zone"])));
}
