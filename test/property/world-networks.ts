/** Arbitrary networks: few labels and ranges, so that renames, swaps and overlaps are frequent. */

import fc from "fast-check";
import type { SeedNode, SeedVpc } from "../../src/emulator/index.ts";
import { type Fate, type Tag, tagOf } from "./fate.ts";

export interface DraftSubnet {
  readonly label: string;
  readonly ipv4: string;
  /** An interface is attached to it. */
  readonly used: boolean;
}

export interface DraftVpc {
  readonly label: string;
  readonly region: string;
  readonly description: string | null | undefined;
}

export interface DraftNetwork {
  readonly declared: (DraftVpc & { readonly id: number | undefined; readonly movedFrom: string | undefined }) | null;
  readonly live: (DraftVpc & { readonly id: number }) | null;
  readonly fate: Fate;
  readonly tag: Tag;
  readonly managed: boolean;
  readonly desired: readonly DraftSubnet[];
  readonly subnets: readonly DraftSubnet[];
}

const LABELS = ["red", "green", "blue"];
const SUBNET_LABELS = ["x", "y", "z"];
const RANGES = ["10.0.0.0/24", "10.0.1.0/24", "10.0.0.0/23", "10.0.2.0/24", "192.168.0.0/28"];
const REGIONS = ["us-east", "us-east", "us-east", "eu-west"];

const subnet: fc.Arbitrary<DraftSubnet> = fc.record({
  label: fc.constantFrom(...SUBNET_LABELS),
  ipv4: fc.constantFrom(...RANGES),
  used: fc.integer({ min: 0, max: 4 }).map((number) => number === 0),
});

function siblings(drafts: readonly DraftSubnet[]): DraftSubnet[] {
  const kept: DraftSubnet[] = [];
  for (const draft of drafts) {
    const clash = kept.some((other) => other.label === draft.label || overlaps(other.ipv4, draft.ipv4));
    if (!clash) kept.push(draft);
  }
  return kept;
}

function overlaps(a: string, b: string): boolean {
  const first = rangeOf(a);
  const second = rangeOf(b);
  return first.start <= second.end && second.start <= first.end;
}

function rangeOf(cidr: string): { start: number; end: number } {
  const [address = "", prefix = "32"] = cidr.split("/");
  const start = address.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0);
  return { start, end: start + 2 ** (32 - Number(prefix)) - 1 };
}

const vpc = fc.record({
  region: fc.constantFrom(...REGIONS),
  description: fc.constantFrom("words", "", null, undefined),
});

const draft = (index: number): fc.Arbitrary<DraftNetwork> =>
  fc
    .record({
      presence: fc.constantFrom("both", "both", "desired", "live"),
      identity: fc.constantFrom("label", "id", "moved"),
      label: fc.constantFrom(...LABELS),
      desiredVpc: vpc,
      liveVpc: vpc,
      fate: fc.constantFrom<Fate>("left", "left", "removed", "released"),
      tag: fc.constantFrom<Tag>("none", "ours", "foreign"),
      managed: fc.integer({ min: 0, max: 4 }).map((number) => number !== 0),
      desired: fc.array(subnet, { maxLength: 4 }).map(siblings),
      subnets: fc.array(subnet, { maxLength: 4 }).map(siblings),
    })
    .map(({ presence, identity, label, desiredVpc, liveVpc, ...rest }) => {
      const id = 100 + index;
      // Live labels are unique, one for each index; a declared label may be any, and is then found by id or moved_from.
      const liveLabel = LABELS[index] as string;
      const live = presence === "desired" ? null : { ...liveVpc, label: liveLabel, id };
      // What is only declared may take the label that another one gives up.
      const target =
        live === null ? label : identity === "label" ? liveLabel : identity === "moved" ? `${label}-new` : label;
      const declared =
        presence === "live"
          ? null
          : {
              ...desiredVpc,
              label: target,
              id: live !== null && identity === "id" ? id : undefined,
              movedFrom: live !== null && identity === "moved" ? liveLabel : undefined,
            };
      return { ...rest, declared, live };
    });

/** Declared labels are made unique, as the loader demands. */
export const networkDrafts: fc.Arbitrary<DraftNetwork[]> = fc.tuple(draft(0), draft(1), draft(2)).map((drafts) => {
  const taken = new Set<string>();
  const stays = new Set(drafts.filter((entry) => entry.declared === null).map((entry) => entry.live?.label));
  const named = drafts.map((entry) => {
    if (entry.declared === null) return entry;
    const label = entry.declared.label;
    const free = !taken.has(label) && (entry.live?.label === label || !stays.has(label));
    const unique = free ? label : `${entry.live?.label ?? label}-${taken.size}`;
    taken.add(unique);
    const found = entry.live === null || unique === entry.live.label ? {} : { id: entry.live.id, movedFrom: undefined };
    return { ...entry, declared: { ...entry.declared, label: unique, ...(free ? {} : found) } };
  });
  // What is still declared under its old label cannot have moved away from it, and what has no tag is not taken by its former label: then
  // the id says what is meant.
  return named.map((entry) => {
    const from = entry.declared?.movedFrom;
    if (entry.declared === null || from === undefined || (!taken.has(from) && entry.tag === "ours")) return entry;
    return { ...entry, declared: { ...entry.declared, id: entry.live?.id, movedFrom: undefined } };
  });
});

export function manifestVpcs(networks: readonly DraftNetwork[]): Record<string, unknown>[] {
  return networks.flatMap(({ declared, managed, desired }) => {
    if (declared === null) return [];
    const { label, region, description, id, movedFrom } = declared;
    return [
      {
        label,
        region,
        ...(description === undefined ? {} : { description }),
        ...(id === undefined ? {} : { id }),
        ...(movedFrom === undefined ? {} : { moved_from: movedFrom }),
        ...(managed ? { subnets: desired.map((entry) => ({ label: entry.label, ipv4: entry.ipv4 })) } : {}),
      },
    ];
  });
}

export function seedVpcs(networks: readonly DraftNetwork[], owner: string | null): SeedVpc[] {
  return networks.flatMap(({ live, declared, fate, tag, subnets }) => {
    if (live === null) return [];
    const mark = tagOf(tag, declared !== null || fate !== "left", owner);
    const text = live.description ?? "";
    const description = mark === null ? text : `${text} [tenon:${mark}]`.trimStart();
    return [
      {
        id: live.id,
        label: live.label,
        region: live.region,
        description,
        subnets: subnets.map((entry, index) => ({ id: live.id * 10 + index, label: entry.label, ipv4: entry.ipv4 })),
      },
    ];
  });
}

export function seedNodes(networks: readonly DraftNetwork[]): SeedNode[] {
  return networks.flatMap(({ live, subnets }) =>
    live === null
      ? []
      : subnets.flatMap((entry, index) =>
          entry.used
            ? [
                {
                  id: live.id * 1000 + index,
                  interfaces: [{ subnet_id: live.id * 10 + index, active: index % 2 === 0 }],
                },
              ]
            : [],
        ),
  );
}
