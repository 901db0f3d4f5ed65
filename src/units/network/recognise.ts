/** Did a POST of unknown outcome make this VPC or subnet, and may a planned delete still go on? */

import isEqual from "fast-deep-equal";
import { compareText } from "../../model/group.ts";
import type { Json, JsonObject, ObjectId } from "../../model/resource.ts";
import type { Lookup, RequestStep } from "../../model/step.ts";
import type { Likeness, Recognition } from "../../model/unit.ts";
import { recogniseOne } from "../recognise.ts";
import type { LiveNetwork } from "./live.ts";

/** Equal content, tag included, of an object that was not there before. */
export function recogniseNetwork(lookup: Lookup, items: readonly JsonObject[]): Recognition {
  return recogniseOne(lookup, items, lookup.kind === "vpc" ? vpcContent : subnetContent);
}

/** VPCs go by their label. */
export function vpcDuplicateKey({ kind, match }: Lookup, item?: JsonObject): string | null {
  return kind === "vpc" ? String((item ?? (match as JsonObject))["label"] ?? "") : null;
}

export function vpcLikeness({ match }: Lookup, item: JsonObject): Likeness {
  if (!isEqual(vpcContent(item), match)) return "different";
  return subnetsOf(item).some(isUsed) ? "used" : "equal";
}

function subnetsOf(vpc: JsonObject): readonly JsonObject[] {
  return (vpc["subnets"] as readonly JsonObject[] | undefined) ?? [];
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

/** A VPC's POST carries its subnets in the order of their changes, after the VPC's own. Ranges are unique within a VPC. */
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

/** An equal VPC has the same subnets; one with interfaces in it is in use. */
export function contentOfNetwork({ vpc }: LiveNetwork): Json {
  return vpc.subnets.some(({ nodes }) => nodes.length > 0) ? null : vpcContent(vpc as unknown as JsonObject);
}

function subnetContent(item: JsonObject): JsonObject {
  return { label: item["label"] ?? "", ipv4: item["ipv4"] ?? "" };
}

/** Ranges are unique within a VPC, so they give subnets one order. */
export function byRange(subnets: readonly JsonObject[]): JsonObject[] {
  return [...subnets].sort((a, b) => compareText(String(a["ipv4"]), String(b["ipv4"])));
}

/** Before a VPC is deleted: the same subnets as planned, and no node on any of them. */
export function permitsNetwork(step: RequestStep, answer: JsonObject): string | null {
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
