/** Declared zones → what is wrong with them, beyond what the service itself would refuse. Pure, and linear in the records. */

import type { Diagnostic, Span } from "../model/diagnostic.ts";
import type { Sources } from "../model/source.ts";
import { ALL_RULES, ZONE_RULES } from "./registry.ts";
import { diagnose } from "./rule.ts";
import { unknownCodes } from "./unknown-codes.ts";
import { World } from "./world.ts";
import type { LintZone } from "./zone.ts";

/**
 * @param projectOff codes of rules that do not hold in the project
 * @param projectSpans where the root file says so, by code
 * @param sources the texts that the spans point into, for the rules that look at how something is written
 * @returns by zone and rule; each problem once for every zone that has it
 */
export function lintZones(
  zones: readonly LintZone[],
  projectOff: readonly string[],
  sources: Sources | null,
  projectSpans: ReadonlyMap<string, Span> = new Map(),
): Diagnostic[] {
  const world = new World(zones, sources);
  const rules = ZONE_RULES.filter(({ code }) => !projectOff.includes(code));
  const found = unknownCodes(
    zones,
    projectOff,
    ALL_RULES.map(({ code }) => code),
    projectSpans,
  );
  for (const view of world.views) {
    for (const rule of rules) {
      if (view.zone.off.includes(rule.code)) continue;
      for (const finding of rule.check(view, world)) {
        const diagnostic = diagnose(rule, finding, view);
        if (diagnostic !== null) found.push(diagnostic);
      }
    }
  }
  return found;
}
