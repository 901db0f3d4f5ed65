/**
 * Networks, desired beside live: which live subnet is which declared one, the pairs to compare, what attached interfaces block, and the losses
 * that need consent.
 */

import type { WireSubnet, WireVpc } from "../../api/wire.ts";
import { contains, readRange } from "../../dns/ipv4-range.ts";
import type { Failure } from "../../model/api.ts";
import type { Block, Change, RangeChange } from "../../model/change.ts";
import type { Declared } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { LeftAlone, RequestStep } from "../../model/plan.ts";
import { type Address, type JsonObject, subnetAddress, type Values, vpcAddress } from "../../model/resource.ts";
import { compareText, groupBy } from "../../model/text.ts";
import { type Loss, type Match, NO_RULES, type Pair, type PairContext, type Paired } from "../../model/unit.ts";
import { isBulk } from "../bulk.ts";
import { annotationsOf, rootAddresses } from "../common.ts";
import { rootLabels, splitDescription, wantedOwner } from "../owner-tag.ts";
import { attachedInterfaces, identifyNetwork, type LiveNetwork } from "./live.ts";
import { isProtectedBy, type NetworkSpec, type SubnetSpec } from "./manifest.ts";
import { misspeltRegions } from "./regions.ts";
import { likelyRenames } from "./renames.ts";

/** At least one of the two is not null. */
interface SubnetMatch {
  readonly desired: SubnetSpec | null;
  readonly live: WireSubnet | null;
}

/**
 * Pairs subnets of the same label and range first, then of the same range (a rename: one PUT, possible even where attached interfaces would
 * stop a replace), then of the same label (a replace). Desired subnets without a partner are created, and live ones deleted.
 */
export function matchSubnets(desired: readonly SubnetSpec[], live: readonly WireSubnet[]): SubnetMatch[] {
  const found = new Map<SubnetSpec, WireSubnet>();
  const free = new Set([...live].sort((a, b) => a.id - b.id));
  const rules: ((subnet: SubnetSpec | WireSubnet) => string)[] = [
    (subnet) => `${subnet.label} ${subnet.ipv4}`,
    (subnet) => subnet.ipv4,
    (subnet) => subnet.label,
  ];
  for (const rule of rules) pairOff(rule, desired, found, free);
  return [
    ...desired.map((subnet) => ({ desired: subnet, live: found.get(subnet) ?? null })),
    ...[...free].map((subnet) => ({ desired: null, live: subnet })),
  ];
}

function pairOff(
  keyOf: (subnet: SubnetSpec | WireSubnet) => string,
  desired: readonly SubnetSpec[],
  found: Map<SubnetSpec, WireSubnet>,
  free: Set<WireSubnet>,
): void {
  const byKey = groupBy(free, keyOf);
  for (const subnet of desired) {
    if (found.has(subnet)) continue;
    const partner = byKey.get(keyOf(subnet))?.shift();
    if (partner === undefined) continue;
    found.set(subnet, partner);
    free.delete(partner);
  }
}

// What an answer tells of changes that others made since the plan: the values that it shows, or why it refuses.

export function readBackOfNetwork(change: Change, answer: JsonObject): Values | null {
  const { label, region, description, ipv4 } = answer;
  if (typeof label !== "string") return null;
  if (change.kind === "vpc_subnet") return typeof ipv4 === "string" ? { label, ipv4 } : null;
  if (typeof region !== "string" || typeof description !== "string") return null;
  return vpcValues(answer as unknown as WireVpc);
}

/** The exact words about an overlap are not known (OBSERVED: Errors); it is known that the error's field is `ipv4`. */
export function conflictInNetwork(_: RequestStep, { errors }: Failure): string | null {
  const says = (field: string, words: RegExp) =>
    errors.some((error) => error.field === field && words.test(error.reason));
  if (says("ipv4", /overlap|already|in use|conflict/i))
    return "since the plan was made, another subnet has taken part of its range";
  return says("label", /unique|already|in use|taken/i) ? "its label has been taken since it was planned" : null;
}

// Networks, desired beside live: a VPC and its subnets as pairs that plain comparison can diff.

export function pairNetworks(matches: readonly Match<NetworkSpec, LiveNetwork>[], context: PairContext): Paired {
  const pairs: Pair[] = [];
  const warnings: Diagnostic[] = [];
  let unmanaged = 0;
  const staying = stayingLabels(matches, context);
  for (const [match, root] of rootAddresses(matches, identifyNetwork)) {
    pairs.push(vpcPair(match, root, staying, context));
    for (const pair of subnetPairs(match, root)) pairs.push(pair);
    warnings.push(...unstatedDescription(match, root));
    if (match.intent === "manage" && subnetsAreLeftAlone(match.declared, match.live)) {
      unmanaged += match.live.vpc.subnets.length;
    }
  }
  const leftAlone: LeftAlone[] = unmanaged === 0 ? [] : [{ kind: "vpc_subnet", count: unmanaged, reason: "unmanaged" }];
  return {
    pairs,
    leftAlone,
    warnings: [...warnings, ...likelyRenames(matches), ...misspeltRegions(matches, context.live)],
  };
}

/**
 * Warns if a VPC is replaced whose description the manifest does not state. The replace keeps the live description, but between its DELETE
 * and its POST only the journal holds it: a later run would not know it, since no run reads a journal.
 */
function unstatedDescription(match: Match<NetworkSpec, LiveNetwork>, root: Address): Diagnostic[] {
  if (match.intent !== "manage" || match.declared.spec.description !== undefined) return [];
  const { declared, live } = match;
  const { text } = splitDescription(live.vpc.description);
  if (text === "" || declared.spec.region === live.vpc.region) return [];
  return [
    {
      code: "unstated-description",
      severity: "warning",
      summary: `the description of ${root} is not in the manifest`,
      detail: `The VPC is made anew with the description that it has, ${JSON.stringify(text)}. If the apply is cut off after the old VPC is deleted and before the new one is made, the next apply does not know this description.`,
      fix: "State it: add `description` to the entry.",
      span: declared.span,
      address: root,
    },
  ];
}

/** Labels → the VPCs that keep them, be they another one's or nobody's: what this run renames or deletes is not among them. */
function stayingLabels(
  matches: readonly Match<NetworkSpec, LiveNetwork>[],
  context: PairContext,
): ReadonlyMap<string, readonly WireVpc[]> {
  const leaving = new Set(
    matches.flatMap(({ intent, declared, live }) =>
      live !== null && (intent === "delete" || (declared !== null && declared.spec.label !== live.vpc.label))
        ? [live.vpc.id]
        : [],
    ),
  );
  const all = (context.live as readonly LiveNetwork[]).map(({ vpc }) => vpc);
  return groupBy(
    all.filter(({ id }) => !leaving.has(id)),
    ({ label }) => label,
  );
}

/** A replace deletes first: one that changes the label must not find it taken then (OBSERVED: some services refuse equal labels). */
function blockOfLabel(
  { intent, declared, live }: Match<NetworkSpec, LiveNetwork>,
  staying: ReadonlyMap<string, readonly WireVpc[]>,
): Block | null {
  if (intent !== "manage" || declared.spec.label === live.vpc.label) return null;
  const [holder] = staying.get(declared.spec.label) ?? [];
  return holder === undefined ? null : { type: "label-taken", label: holder.label, id: holder.id };
}

function vpcPair(
  match: Match<NetworkSpec, LiveNetwork>,
  root: Address,
  staying: ReadonlyMap<string, readonly WireVpc[]>,
  context: PairContext,
): Pair {
  const live = match.live === null ? null : vpcValues(match.live.vpc);
  const liveAddress = liveRootOf(match, root);
  const subnets = match.live === null ? [] : byLabel(match.live.vpc.subnets);
  return {
    resource: {
      unit: "network",
      kind: "vpc",
      root,
      address: root,
      previousAddress: liveAddress === root ? null : liveAddress,
      id: match.live?.vpc.id ?? null,
      before: live,
      after: desiredVpc(match, live, context),
      labels: rootLabels(match, live, match.declared?.spec.label ?? null, context),
      note: match.declared?.note ?? null,
      ...annotationsOf(match.declared),
      span: match.declared?.span ?? match.removed?.span ?? null,
    },
    rules: {
      ...NO_RULES,
      immutable: ["region"],
      removalBlock: blockOfInterfaces(subnets, root) ?? blockOfLabel(match, staying),
      protect: match.declared?.protect ?? false,
    },
  };
}

/** A subnet with attached interfaces cannot be deleted or replaced, nor can its VPC (API.md, VPCs, rules 1 and 2). */
function blockOfInterfaces(subnets: readonly WireSubnet[], root: Address): Block | null {
  const interfaces = subnets.flatMap((subnet) => attachedInterfaces(subnet, root));
  return interfaces.length > 0 ? { type: "interfaces", interfaces } : null;
}

export function vpcValues(vpc: WireVpc): Values {
  const { text, owner } = splitDescription(vpc.description);
  return { label: vpc.label, region: vpc.region, description: text, owner };
}

function desiredVpc(match: Match<NetworkSpec, LiveNetwork>, live: Values | null, context: PairContext): Values | null {
  switch (match.intent) {
    case "delete":
      return null;
    case "release":
      return { ...live, owner: null };
    case "create":
    case "manage": {
      const { label, region, description } = match.declared.spec;
      const kept = live?.["description"] ?? "";
      return {
        label,
        region,
        description: description === undefined ? kept : (description ?? ""),
        owner: wantedOwner(match.declared, context),
      };
    }
  }
}

/** The VPC's address as its live label makes it. For a VPC that is not declared, `root` is that address already. */
function liveRootOf({ declared, live }: Match<NetworkSpec, LiveNetwork>, root: Address): Address {
  return declared === null || live === null ? root : vpcAddress(live.vpc.label);
}

function subnetPairs(match: Match<NetworkSpec, LiveNetwork>, root: Address): Pair[] {
  const roots: Roots = { root, liveRoot: liveRootOf(match, root) };
  switch (match.intent) {
    case "release":
      return [];
    case "delete":
      return deletedSubnets(match.declared, match.live).map(({ live, isProtected }) => {
        const pair = subnetPair(roots, { desired: null, live }, null);
        return { ...pair, rules: { ...pair.rules, protect: isProtected } };
      });
    case "create": {
      const { declared } = match;
      return (declared.spec.subnets ?? []).map((desired) => subnetPair(roots, { desired, live: null }, declared));
    }
    case "manage": {
      const { declared, live } = match;
      if (subnetsAreLeftAlone(declared, live)) return [];
      return matchSubnets(declared.spec.subnets ?? [], live.vpc.subnets).map((found) =>
        subnetPair(roots, found, declared),
      );
    }
  }
}

/** The subnets of a VPC that is deleted as a whole. The VPC's entry, if there is one, may still protect some of them. */
function deletedSubnets(
  declared: Declared<NetworkSpec> | null,
  { vpc }: LiveNetwork,
): { live: WireSubnet; isProtected: boolean }[] {
  const entries = new Map(
    matchSubnets(declared?.spec.subnets ?? [], vpc.subnets).map(({ desired, live }) => [live, desired]),
  );
  return byLabel(vpc.subnets).map((live) => ({ live, isProtected: entries.get(live)?.protect === true }));
}

/** Unmanaged subnets stay unless their VPC is replaced: then they are deleted with it, so the plan shows them. */
function subnetsAreLeftAlone(declared: Declared<NetworkSpec>, live: LiveNetwork): boolean {
  return declared.spec.subnets === null && declared.spec.region === live.vpc.region;
}

/** The address of a VPC, declared and live. */
interface Roots {
  readonly root: Address;
  readonly liveRoot: Address;
}

function subnetPair({ root, liveRoot }: Roots, match: SubnetMatch, vpcEntry: Declared<NetworkSpec> | null): Pair {
  const { desired, live } = match;
  const address = subnetAddress(root, (desired ?? live)?.label ?? "");
  const liveAddress = live === null ? null : subnetAddress(liveRoot, live.label);
  return {
    resource: {
      unit: "network",
      kind: "vpc_subnet",
      root,
      address,
      previousAddress: liveAddress === address ? null : liveAddress,
      id: live?.id ?? null,
      before: subnetValues(live),
      after: subnetValues(desired),
      labels: desired !== null && live !== null && desired.label !== live.label ? ["rename"] : [],
      ...rangeChange(match, root),
      note: desired?.note ?? null,
      ...annotationsOf(desired),
      span: desired?.span ?? vpcEntry?.span ?? null,
    },
    rules: {
      ...NO_RULES,
      parent: root,
      immutable: ["ipv4"],
      removalBlock: blockOfInterfaces(live === null ? [] : [live], root),
      protect: desired?.protect ?? protectionIn(vpcEntry, live) ?? vpcEntry?.protect ?? false,
    },
  };
}

/** Of a subnet that an undo takes away. */
function protectionIn(vpcEntry: Declared<NetworkSpec> | null, live: WireSubnet | null): boolean | null {
  const protection = vpcEntry?.spec.protection;
  return protection === undefined || live === null ? null : isProtectedBy(protection, live);
}

function rangeChange({ desired, live }: SubnetMatch, root: Address): { range?: RangeChange } {
  if (live === null || desired === null || live.ipv4 === desired.ipv4) return {};
  const [before, after] = [readRange(live.ipv4), readRange(desired.ipv4)];
  if (before === null || after === null) return {};
  const becomes = contains(after, before) ? "grows" : contains(before, after) ? "shrinks" : "moves";
  return { range: { becomes, attached: attachedInterfaces(live, root).length } };
}

export function subnetValues(subnet: SubnetSpec | WireSubnet | null): Values | null {
  return subnet === null ? null : { label: subnet.label, ipv4: subnet.ipv4 };
}

function byLabel(subnets: readonly WireSubnet[]): WireSubnet[] {
  return [...subnets].sort((a, b) => compareText(a.label, b.label) || a.id - b.id);
}

// What a VPC that stays may lose only with consent.

/** With fewer subnets a share says nothing: one of two is 50 %. */
const MIN_BULK_SUBNETS = 3;

export function lossesOfNetwork(_vpc: Change, subnets: readonly Change[], adopts: boolean): Loss[] {
  const total = subnets.filter((subnet) => subnet.before !== null).length;
  const count = subnets.filter((subnet) => subnet.blocked === null && subnet.action === "delete").length;
  const tooMany = isBulk(count, total, MIN_BULK_SUBNETS);
  return count > 0 && (adopts || tooMany) ? [{ rule: "bulk", count, of: total }] : [];
}
