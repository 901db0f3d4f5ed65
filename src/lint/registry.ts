/** Every rule there is, in the order in which the documentation tells them. */

import { CACHED_TARGET } from "./changes.ts";
import type { RuleText, ZoneRule } from "./rule.ts";
import { documentationAddress, privateAddress, reservedAddress } from "./rules/addresses.ts";
import { cnameChain, cnameLoop } from "./rules/aliases.ts";
import { caaContradiction, caaDuplicate, caaSyntax, caaWildcardOnly } from "./rules/caa.ts";
import { claimableTarget } from "./rules/claimable.ts";
import { missingGlue, occludedRecord, singleNs, wildcardBesideNs } from "./rules/delegations.ts";
import { dkimKey, dkimWeakKey } from "./rules/dkim.ts";
import { dmarcSyntax, multipleDmarc } from "./rules/dmarc.ts";
import { lookalikeName } from "./rules/lookalikes.ts";
import { mxWithoutDmarc, mxWithoutSpf } from "./rules/mail.ts";
import {
  disabledTarget,
  missingTarget,
  pointerToCname,
  repeatedZone,
  srvWithoutProtocol,
  targetIsAddress,
} from "./rules/pointers.ts";
import { mixedCase } from "./rules/spelling.ts";
import { multipleSpf, spfAfterAll, spfAllowsAll, spfPtr, spfSyntax } from "./rules/spf.ts";
import { spfLookups, spfMissingInclude } from "./rules/spf-lookups.ts";
import { escapedTxt, quotedTxt } from "./rules/text.ts";
import { mixedTtl } from "./rules/ttl.ts";
import { UNKNOWN_LINT_CODE } from "./unknown-codes.ts";
import { ZONE_FILE_APEX_NS, ZONE_FILE_SIGNING, ZONE_FILE_SOA } from "./zone-file-codes.ts";

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
  UNKNOWN_LINT_CODE,
];
