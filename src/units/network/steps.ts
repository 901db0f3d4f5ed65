/** The requests that carry out the changes of networks, and the facts that order them (API.md, VPCs, rules 1 to 3). */

import isEqual from "fast-deep-equal";
import type { Change } from "../../model/change.ts";
import type { Lookup, PathPart, RequestStep } from "../../model/plan.ts";
import {
  type Address,
  isJsonObject,
  type Json,
  type JsonObject,
  type ObjectId,
  type Values,
} from "../../model/resource.ts";
import { compareText, groupBy } from "../../model/text.ts";
import {
  type Claim,
  type Facts,
  type Likeness,
  NO_FACTS,
  type PlannedStep,
  type Recognition,
  type StepContext,
} from "../../model/unit.ts";
import { recogniseOne, request, type UnorderedRequest } from "../common.ts";
import { joinDescription, splitDescription } from "../owner-tag.ts";
import type { LiveNetwork } from "./live.ts";
import { overlapSlots } from "./ranges.ts";

export function networkSteps(changes: readonly Change[], context: StepContext): PlannedStep[] {
  const vpcs = changes.filter((change) => change.kind === "vpc");
  const subnets = groupBy(
    changes.filter((change) => change.kind === "vpc_subnet"),
    (change) => change.root,
  );
  const aside = throughTemporary(relabels(vpcs));
  return vpcs.flatMap((vpc) => {
    const own = subnets.get(vpc.root) ?? [];
    switch (vpc.action) {
      case "create":
        return [createVpc(vpc, own, null, context)];
      case "delete":
        return deleteVpc(vpc, own);
      case "replace": {
        const gone = deleteVpc(vpc, own);
        return [...gone, createVpc(vpc, own, gone.at(-1)?.step.id ?? null, context)];
      }
      case "update":
        return [...updateVpc(vpc, aside.has(vpc.key)), ...subnetSteps(vpc, own)];
      case "no-op":
        return subnetSteps(vpc, own);
    }
  });
}

function relabels(changes: readonly Change[]): Relabel[] {
  return changes
    .filter((change) => change.action === "update" && change.before?.["label"] !== change.after?.["label"])
    .map((change) => ({ key: change.key, from: text(change.before, "label"), to: text(change.after, "label") }));
}

/** A VPC with its subnets is one POST. */
function createVpc(
  vpc: Change,
  subnets: readonly Change[],
  replaces: string | null,
  context: StepContext,
): PlannedStep {
  const made = subnets.filter((subnet) => subnet.after !== null);
  const description = joinDescription(text(vpc.after, "description"), ownerOf(vpc.after));
  const wanted = made.map((subnet) => ({ label: text(subnet.after, "label"), ipv4: text(subnet.after, "ipv4") }));
  const body: JsonObject = {
    label: text(vpc.after, "label"),
    region: text(vpc.after, "region"),
    ...(description === "" ? {} : { description }),
    ...(wanted.length === 0 ? {} : { subnets: wanted }),
  };
  const step: UnorderedRequest = {
    ...request(vpc, `create ${vpc.address}`, "POST", ["vpcs"], body),
    changes: [vpc.key, ...made.map((subnet) => subnet.key)],
    produces: { ref: vpc.key, fields: { id: "id" } },
    lookup: {
      kind: "vpc",
      path: ["vpcs"],
      filter: { label: text(vpc.after, "label") },
      match: {
        label: text(vpc.after, "label"),
        region: text(vpc.after, "region"),
        description,
        subnets: byRange(wanted),
      },
      known: context.idsOf(text(vpc.after, "label")),
    },
  };
  return {
    step,
    facts: facts({
      requires: replaces === null ? [] : [replaces],
      claims: { acquire: [vpcLabel(vpc.after)], release: [] },
    }),
  };
}

/** A GET that checks that nothing was added since the plan, then one DELETE. */
function deleteVpc(vpc: Change, subnets: readonly Change[]): PlannedStep[] {
  const gone = subnets.filter((subnet) => subnet.before !== null);
  const path = ["vpcs", String(vpc.id)];
  const changes = [vpc.key, ...gone.map((subnet) => subnet.key)];
  const look: UnorderedRequest = {
    ...request(vpc, `check ${vpc.address}`, "GET", path, null),
    changes,
    expect: {
      label: text(vpc.before, "label"),
      description: joinDescription(text(vpc.before, "description"), ownerOf(vpc.before)),
      subnets: gone.map((subnet) => subnet.id).sort((a, b) => Number(a) - Number(b)),
    },
  };
  const remove: UnorderedRequest = { ...request(vpc, `delete ${vpc.address}`, "DELETE", path, null), changes };
  return [
    { step: look, facts: NO_FACTS },
    { step: remove, facts: facts({ requires: [look.id], claims: { acquire: [], release: [vpcLabel(vpc.before)] } }) },
  ];
}

function updateVpc(vpc: Change, stepAside: boolean): PlannedStep[] {
  const { before, after } = vpc;
  const renamed = before?.["label"] !== after?.["label"];
  const redescribed = before?.["description"] !== after?.["description"] || before?.["owner"] !== after?.["owner"];
  const body: JsonObject = {
    ...(renamed ? { label: text(after, "label") } : {}),
    ...(redescribed ? { description: joinDescription(text(after, "description"), ownerOf(after)) } : {}),
  };
  const claims = renamed ? { acquire: [vpcLabel(after)], release: [vpcLabel(before)] } : NO_FACTS.claims;
  return relabelling(vpc, ["vpcs", String(vpc.id)], body, claims, stepAside);
}

function subnetSteps(vpc: Change, subnets: readonly Change[]): PlannedStep[] {
  const aside = throughTemporary(relabels(subnets));
  const overlaps = overlapSlots(vpc.root, subnets);
  const path: PathPart[] = ["vpcs", String(vpc.id), "subnets"];
  return subnets.flatMap((subnet): PlannedStep[] => {
    const own = [...path, String(subnet.id)];
    const release = [subnetLabel(vpc.root, subnet.before), ...(overlaps.release.get(subnet.key) ?? [])];
    const acquire = [subnetLabel(vpc.root, subnet.after), ...(overlaps.acquire.get(subnet.key) ?? [])];
    switch (subnet.action) {
      case "no-op":
        return [];
      case "create":
        return [createSubnet(vpc, subnet, path, facts({ claims: { acquire, release: [] } }))];
      case "delete":
        return [deleteSubnet(subnet, own, facts({ claims: { acquire: [], release } }))];
      case "replace": {
        const gone = deleteSubnet(subnet, own, facts({ claims: { acquire: [], release } }));
        return [
          gone,
          createSubnet(vpc, subnet, path, facts({ requires: [gone.step.id], claims: { acquire, release: [] } })),
        ];
      }
      case "update":
        return relabelling(
          subnet,
          own,
          { label: text(subnet.after, "label") },
          { acquire, release },
          aside.has(subnet.key),
        );
    }
  });
}

function createSubnet(vpc: Change, subnet: Change, path: readonly PathPart[], facts: Facts): PlannedStep {
  const body = { label: text(subnet.after, "label"), ipv4: text(subnet.after, "ipv4") };
  const step: UnorderedRequest = {
    ...request(subnet, `create ${subnet.key}`, "POST", path, body),
    produces: { ref: subnet.key, fields: { id: "id" } },
    lookup: {
      kind: "vpc_subnet",
      path: ["vpcs", String(vpc.id), "subnets"],
      filter: null,
      match: body,
      known: subnet.id === null ? [] : [subnet.id],
    },
  };
  return { step, facts };
}

function deleteSubnet(subnet: Change, path: readonly PathPart[], facts: Facts): PlannedStep {
  return { step: request(subnet, `delete ${subnet.key}`, "DELETE", path, null), facts };
}

/** One PUT. In a cycle of renames, another PUT before it gives up the old label for a temporary one. */
function relabelling(
  change: Change,
  path: readonly PathPart[],
  body: JsonObject,
  claims: Facts["claims"],
  stepAside: boolean,
): PlannedStep[] {
  const update = request(change, `update ${change.key}`, "PUT", path, body);
  if (!stepAside) return [{ step: update, facts: facts({ claims }) }];
  const aside = request(change, `set aside ${change.key}`, "PUT", path, {
    label: temporaryLabel(change.id as ObjectId),
  });
  return [
    { step: aside, facts: facts({ claims: { ...claims, acquire: [] } }) },
    { step: update, facts: facts({ requires: [aside.id], claims: { ...claims, release: [] } }) },
  ];
}

function vpcLabel(values: Values | null): Claim {
  return { slot: `vpc label ${text(values, "label")}`, exclusive: true };
}

function subnetLabel(root: Address, values: Values | null): Claim {
  return { slot: `${root} subnet label ${text(values, "label")}`, exclusive: true };
}

function facts(some: Partial<Facts>): Facts {
  return { ...NO_FACTS, ...some };
}

function text(values: Values | null, field: string): string {
  return String(values?.[field] ?? "");
}

function ownerOf(values: Values | null): string | null {
  const owner = values?.["owner"];
  return typeof owner === "string" ? owner : null;
}

// Labels that swap: which renames must go through a temporary label.

export interface Relabel {
  readonly key: string;
  readonly from: string;
  readonly to: string;
}

/**
 * The keys of the renames that must go through a temporary label, one in each cycle (`a` → `b` and `b` → `a`). No label may be acquired
 * before every object that carries it has given it up. `to` is unique; several renames may have the same `from`.
 */
export function throughTemporary(relabels: readonly Relabel[]): Set<string> {
  const holders = groupBy(relabels, ({ from }) => from);
  const takers = new Map(relabels.map((relabel) => [relabel.to, relabel]));
  const carried = new Map([...holders].map(([label, list]) => [label, list.length]));
  const left = new Set(relabels);
  const aside = new Set<string>();
  const isFree = (label: string) => (carried.get(label) ?? 0) === 0;
  /** The rename gives up its old label. If that frees the label, the rename that waits for it is next. */
  const passOn = (first: Relabel) => {
    for (let relabel: Relabel | undefined = first; relabel !== undefined; ) {
      left.delete(relabel);
      carried.set(relabel.from, (carried.get(relabel.from) ?? 0) - 1);
      const next: Relabel | undefined = isFree(relabel.from) ? takers.get(relabel.from) : undefined;
      relabel = next !== undefined && left.has(next) ? next : undefined;
    }
  };
  for (const relabel of relabels) if (left.has(relabel) && isFree(relabel.to)) passOn(relabel);
  while (left.size > 0) {
    const stuck = inCycle(left, holders);
    aside.add(stuck.key);
    passOn(stuck);
  }
  return aside;
}

/** One rename of a cycle, where every rename waits for another: follows the waits until a rename comes up a second time. */
function inCycle(left: ReadonlySet<Relabel>, holders: ReadonlyMap<string, Relabel[]>): Relabel {
  const seen = new Set<Relabel>();
  let [relabel] = left;
  while (relabel !== undefined && !seen.has(relabel)) {
    seen.add(relabel);
    relabel = holders.get(relabel.to)?.find((holder) => left.has(holder));
  }
  if (relabel === undefined) throw new Error("Renames wait for a label that nothing carries");
  return relabel;
}

/** A label that no person would choose, with the id of the object that carries it. */
export function temporaryLabel(id: number | string): string {
  return `tenon-tmp-${id}`;
}

// Did a POST of unknown outcome make this VPC or subnet, and may a planned delete still go on?

/** Recognises an object that was not there before and has the content of the request, the ownership tag included. */
export function recogniseNetwork(lookup: Lookup, items: readonly JsonObject[]): Recognition {
  return recogniseOne(lookup, items, lookup.kind === "vpc" ? vpcContent : subnetContent);
}

/** VPCs with the same label are duplicates. A subnet has no duplicate key (null). */
export function vpcDuplicateKey({ kind, match }: Lookup, item?: JsonObject): string | null {
  return kind === "vpc" ? String((item ?? (match as JsonObject))["label"] ?? "") : null;
}

export function vpcLikeness({ match }: Lookup, item: JsonObject): Likeness {
  if (!isEqual(vpcContent(item), match)) return "different";
  return subnetsOf(item).some(isUsed) ? "used" : "equal";
}

function subnetsOf(vpc: JsonObject): readonly JsonObject[] {
  const subnets = vpc["subnets"];
  return Array.isArray(subnets) ? (subnets as readonly Json[]).filter(isJsonObject) : [];
}

function isUsed(subnet: JsonObject): boolean {
  return ((subnet["nodes"] as readonly unknown[] | undefined) ?? []).length > 0;
}

function vpcContent(item: JsonObject): JsonObject {
  const subnets = subnetsOf(item);
  return {
    label: item["label"] ?? "",
    region: item["region"] ?? "",
    description: item["description"] ?? "",
    subnets: byRange(subnets.map(subnetContent)),
  };
}

/**
 * The POST's `changes` are the VPC's key and then the keys of its subnets, in the order of the body. The answer's subnets are found by
 * their range, which is unique within a VPC.
 */
export function subnetsMadeWith({ changes, body }: RequestStep, vpc: JsonObject): Record<string, ObjectId> {
  const made = new Map(subnetsOf(vpc).map(({ ipv4, id }) => [ipv4, id]));
  const wanted = body === null ? [] : subnetsOf(body);
  return Object.fromEntries(
    wanted.flatMap(({ ipv4 }, index) => {
      const [key, id] = [changes[index + 1], made.get(ipv4)];
      return key === undefined || typeof id !== "number" ? [] : [[key, id]];
    }),
  );
}

/** null for a VPC with interfaces in it: it is in use. */
export function contentOfNetwork({ vpc }: LiveNetwork): Json {
  return vpc.subnets.some(({ nodes }) => nodes.length > 0) ? null : vpcContent(vpc as unknown as JsonObject);
}

function subnetContent(item: JsonObject): JsonObject {
  return { label: item["label"] ?? "", ipv4: item["ipv4"] ?? "" };
}

/** Ranges are unique within a VPC, so they give subnets one order. */
function byRange(subnets: readonly JsonObject[]): JsonObject[] {
  return [...subnets].sort((a, b) => compareText(String(a["ipv4"]), String(b["ipv4"])));
}

/**
 * Judges the GET before the delete of a VPC. Its label, description and subnets must still be those of the plan, with no node in any
 * subnet. Returns the reason not to delete, or null.
 */
export function objectionToVpcDelete(step: RequestStep, answer: JsonObject): string | null {
  const { label, description } = step.expect ?? {};
  // A plan that an older version saved does not state the label and the description.
  const isStated = label !== undefined;
  // However its owner's tag is spelt: the plan knows whose it is.
  const present = splitDescription(text(answer, "description"));
  if (isStated && (answer["label"] !== label || joinDescription(present.text, present.owner) !== description)) {
    return "its label or its description is no longer that of the plan, so somebody else is working on it; plan again";
  }
  const subnets = subnetsOf(answer);
  const found = subnets.map((subnet) => subnet["id"]).sort((a, b) => Number(a) - Number(b));
  if (!isEqual(found, step.expect?.["subnets"])) {
    return "its subnets are no longer those of the plan, so somebody else is working on it; plan again";
  }
  const used = subnets.find(isUsed);
  return used === undefined
    ? null
    : `subnet ${String(used["label"])} has got interfaces since it was planned; plan again`;
}
