/** A region that is likely misspelt: nothing uses it, and one that is one letter away is in use. */

import type { Declared } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { compareText, isOneEdit } from "../../model/text.ts";
import type { Match } from "../../model/unit.ts";
import type { LiveNetwork } from "./live.ts";
import type { NetworkSpec } from "./manifest.ts";

type Counts = ReadonlyMap<string, number>;

/** The most regions that a new one is compared with, the most used ones. No service has as many; a manifest may say anything. */
const MAX_COMPARED_REGIONS = 200;

/** One plan pairs networks many times, and looks at the same list each time. */
const counted: WeakMap<readonly unknown[], Counts> = new WeakMap();

/**
 * A warning for each VPC that would be made in such a region. No request tells which regions there are: what the account and the manifest
 * use must do.
 * @param live all live networks that were read
 */
export function misspeltRegions(
  matches: readonly Match<NetworkSpec, LiveNetwork>[],
  live: readonly unknown[],
): Diagnostic[] {
  const making = matches.flatMap((match) => {
    if (match.intent !== "create" && match.intent !== "manage") return [];
    return match.live?.vpc.region === match.declared.spec.region ? [] : [match.declared];
  });
  if (making.length === 0) return [];
  const liveRegions = counted.get(live) ?? countRegions((live as readonly LiveNetwork[]).map(({ vpc }) => vpc.region));
  counted.set(live, liveRegions);
  const declared = countRegions(
    matches.flatMap((match) => (match.declared === null ? [] : [match.declared.spec.region])),
  );
  const candidates = mostUsed(liveRegions, declared);
  const meant = new Map<string, Meant | null>();
  return making.flatMap((entry) => {
    const { region } = entry.spec;
    if (liveRegions.has(region)) return [];
    const known = meant.get(region);
    const found = known === undefined ? nearRegion(region, declared.get(region) ?? 0, candidates) : known;
    meant.set(region, found);
    return found === null ? [] : [misspelt(entry, found)];
  });
}

function countRegions(regions: readonly string[]): Counts {
  const counts = new Map<string, number>();
  for (const region of regions) counts.set(region, (counts.get(region) ?? 0) + 1);
  return counts;
}

interface Meant {
  readonly region: string;
  readonly live: number;
  readonly declared: number;
}

function mostUsed(live: Counts, declared: Counts): Meant[] {
  return [...new Set([...live.keys(), ...declared.keys()])]
    .map((region): Meant => ({ region, live: live.get(region) ?? 0, declared: declared.get(region) ?? 0 }))
    .sort((a, b) => b.live - a.live || b.declared - a.declared || compareText(a.region, b.region))
    .slice(0, MAX_COMPARED_REGIONS);
}

/**
 * The first of those that are one letter away, in the account or in more of the manifest; null if there is none.
 * @param own how many entries of the manifest are in the region
 */
function nearRegion(region: string, own: number, candidates: readonly Meant[]): Meant | null {
  return (
    candidates.find((other) => (other.live > 0 || other.declared > own) && isOneEdit(region, other.region)) ?? null
  );
}

function misspelt({ spec, address, span }: Declared<NetworkSpec>, { region, live, declared }: Meant): Diagnostic {
  const [number, whose] = live > 0 ? [live, "of the account"] : [declared, "of the manifest"];
  return {
    code: "unusual-region",
    severity: "warning",
    summary: `no VPC of the account is in \`${spec.region}\`, the region of ${address}`,
    detail: `\`${region}\`, which is one letter away, has ${number} ${number === 1 ? "VPC" : "VPCs"} ${whose}. The region of a VPC cannot be changed later without making it anew.`,
    fix: `Did you mean \`${region}\`? If not, this warning ends once a VPC is there.`,
    corrections: [{ from: spec.region, to: region }],
    span,
    address,
  };
}
