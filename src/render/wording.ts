/** Sentences about a plan that every format for people has in common. */

import { type Gap, isNarrowed, type LeftAlone, type Plan, type Strategy } from "../model/plan.ts";
import type { Kind } from "../model/resource.ts";
import { escapeText } from "./escape.ts";

const NO_CHANGES = "No changes. Your infrastructure matches the configuration.";
const NO_CHANGES_WITHIN = "No changes within the targets.";
/** As Terraform says it. */
const NOTHING_TO_DESTROY = "No changes. No objects need to be destroyed.";
export const GAPS_HEADING = "Names that will have no answer for a moment; the change itself forces it:";

export const KIND_WORDS: Readonly<Record<Kind, readonly [one: string, many: string]>> = {
  vpc: ["VPC", "VPCs"],
  vpc_subnet: ["subnet", "subnets"],
  domain: ["domain", "domains"],
  domain_record: ["record", "records"],
  image: ["image", "images"],
};

const REASONS: Readonly<Record<LeftAlone["reason"], string>> = {
  undeclared: "not declared",
  ignored: "ignored",
  unmanaged: "not managed here",
};

/** The line of a plan in which there is nothing to do. A narrowed run has not looked at the rest. */
export function noChangesText({ goal, inputs }: Pick<Plan, "goal" | "inputs">): string {
  if (isNarrowed(inputs)) return NO_CHANGES_WITHIN;
  return goal === "destroy" ? NOTHING_TO_DESTROY : NO_CHANGES;
}

export function gapText({ what, root, before, wanted }: Gap): string {
  return escapeText(`${what} (${root}): from "${before}" until "${wanted}"`);
}

export function strategyText({ source, copies, requests, requestsWithout }: Strategy): string {
  const [first = "", second] = copies.map((copy) => escapeText(copy));
  const named =
    second === undefined ? first : `${first} and ${count(copies.length - 1, "other domain", "other domains")}`;
  return `${named} will be cloned from ${escapeText(source)} once that is filled, while it is disabled: ${requests} requests instead of ${requestsWithout} (--no-clone: each by itself).`;
}

/** `Left alone: 3 domains (not declared).`; empty if nothing is. */
export function leftAloneText(leftAlone: readonly LeftAlone[]): string {
  const parts = leftAlone
    .filter((entry) => entry.count > 0)
    .map(({ kind, count: number, reason }) => `${count(number, ...KIND_WORDS[kind])} (${REASONS[reason]})`);
  return parts.length === 0 ? "" : `Left alone: ${parts.join(", ")}.`;
}

export function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}
