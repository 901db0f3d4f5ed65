/** Declared zones → their problems, beyond what the service itself would refuse. Pure, and linear in the records. */

import type { Diagnostic, Sources, Span } from "../model/diagnostic.ts";
import { CACHED_TARGET, COMES_BACK } from "./changes.ts";
import {
  diagnose,
  type LintZone,
  ProjectZones,
  type RuleText,
  UNKNOWN_LINT_CODE,
  unknownCodes,
  ZONE_FILE_APEX_NS,
  ZONE_FILE_SIGNING,
  ZONE_FILE_SOA,
  type ZoneRule,
} from "./rule.ts";
import { caaContradiction, caaDuplicate, caaSyntax, caaWildcardOnly } from "./rules/caa.ts";
import { EXPIRED_ENTRY, REVIEW_DUE } from "./rules/dates.ts";
import { missingGlue, occludedRecord, singleNs, wildcardBesideNs } from "./rules/delegations.ts";
import { dkimKey, dkimWeakKey, dmarcSyntax, multipleDmarc, mxWithoutDmarc, mxWithoutSpf } from "./rules/mail.ts";
import {
  multipleSpf,
  spfAfterAll,
  spfAllowsAll,
  spfLookups,
  spfMissingInclude,
  spfPtr,
  spfSyntax,
} from "./rules/spf.ts";
import {
  claimableTarget,
  cnameChain,
  cnameLoop,
  disabledTarget,
  missingTarget,
  pointerToCname,
  repeatedZone,
  srvWithoutProtocol,
  targetIsAddress,
} from "./rules/targets.ts";
import {
  documentationAddress,
  escapedTxt,
  lookalikeName,
  mixedCase,
  mixedTtl,
  privateAddress,
  quotedTxt,
  reservedAddress,
} from "./rules/values.ts";

/**
 * @param projectOff codes of rules that the project switches off
 * @param projectSpans where the root file switches a rule off, by code
 * @param sources the texts that the spans point into, for the rules that look at how something is written
 * @returns by zone and rule; each problem once for every zone that has it
 */
export function lintZones(
  zones: readonly LintZone[],
  projectOff: readonly string[],
  sources: Sources | null,
  projectSpans: ReadonlyMap<string, Span> = new Map(),
): Diagnostic[] {
  const projectZones = new ProjectZones(zones, sources);
  const rules = ZONE_RULES.filter(({ code }) => !projectOff.includes(code));
  const found = unknownCodes(
    zones,
    projectOff,
    ALL_RULES.map(({ code }) => code),
    projectSpans,
  );
  for (const view of projectZones.views) {
    for (const rule of rules) {
      if (view.zone.off.includes(rule.code)) continue;
      for (const finding of rule.check(view, projectZones)) {
        const diagnostic = diagnose(rule, finding, view);
        if (diagnostic !== null) found.push(diagnostic);
      }
    }
  }
  return found;
}

// All rules, in the order of the documentation.

export const ZONE_RULES: readonly ZoneRule[] = [
  targetIsAddress,
  pointerToCname,
  missingTarget,
  disabledTarget,
  repeatedZone,
  srvWithoutProtocol,
  cnameLoop,
  cnameChain,
  missingGlue,
  singleNs,
  occludedRecord,
  wildcardBesideNs,
  mixedTtl,
  mixedCase,
  lookalikeName,
  claimableTarget,
  privateAddress,
  reservedAddress,
  documentationAddress,
  mxWithoutSpf,
  multipleSpf,
  spfSyntax,
  spfLookups,
  spfMissingInclude,
  spfAfterAll,
  spfAllowsAll,
  spfPtr,
  mxWithoutDmarc,
  multipleDmarc,
  dmarcSyntax,
  dkimKey,
  dkimWeakKey,
  caaSyntax,
  caaContradiction,
  caaDuplicate,
  caaWildcardOnly,
  quotedTxt,
  escapedTxt,
];

export const ALL_RULES: readonly RuleText[] = [
  ...ZONE_RULES,
  ZONE_FILE_SOA,
  ZONE_FILE_APEX_NS,
  ZONE_FILE_SIGNING,
  CACHED_TARGET,
  REVIEW_DUE,
  EXPIRED_ENTRY,
  COMES_BACK,
  UNKNOWN_LINT_CODE,
];
