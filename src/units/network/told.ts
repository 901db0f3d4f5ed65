/** What answers tell of a VPC or subnet that somebody else has changed, or has made, since the plan. */

import type { WireVpc } from "../../api/wire/index.ts";
import type { Change } from "../../model/change.ts";
import type { Failure } from "../../model/failure.ts";
import type { JsonObject, Values } from "../../model/resource.ts";
import type { RequestStep } from "../../model/step.ts";
import { vpcValues } from "./pairs.ts";

export function toldOfNetwork(change: Change, answer: JsonObject): Values | null {
  const { label, region, description, ipv4 } = answer;
  if (typeof label !== "string") return null;
  if (change.kind === "vpc_subnet") return typeof ipv4 === "string" ? { label, ipv4 } : null;
  if (typeof region !== "string" || typeof description !== "string") return null;
  return vpcValues(answer as unknown as WireVpc);
}

/** The words about an overlap are not known for sure (OBSERVED: Errors), but that they are about the range is. */
export function clashInNetwork(_: RequestStep, { errors }: Failure): string | null {
  const says = (field: string, words: RegExp) =>
    errors.some((error) => error.field === field && words.test(error.reason));
  if (says("ipv4", /overlap|already|in use|conflict/i)) return "a subnet has come into its range since it was planned";
  return says("label", /unique|already|in use|taken/i) ? "its label has been taken since it was planned" : null;
}
