/** Address space in plans: what another range of a subnet means for what is attached to it, and what is free in a VPC. */

import { contains, readRange } from "../dns/ipv4-range.ts";
import type { Change, RangeChange } from "../model/change.ts";
import type { FreeSpace } from "../model/plan.ts";
import { plainText } from "./change-lines.ts";
import { escapeText } from "./terminal.ts";

const BECOMES: Readonly<Record<RangeChange["becomes"], string>> = {
  grows: "It grows: the new range contains the old one.",
  shrinks: "It shrinks: the new range is a part of the old one.",
  moves: "It moves: the new range has no address of the old one.",
};

/** What the new range of a subnet means, as sentences; empty for every other change. */
export function rangeText(change: Change): string {
  const { range } = change;
  if (range === undefined || change.action !== "replace") return "";
  return `${BECOMES[range.becomes]} ${attachedText(range, change)}`;
}

function attachedText({ attached }: RangeChange, change: Change): string {
  if (attached === 0) return "No interface is attached.";
  const them = attached === 1 ? "The interface that is attached" : `The ${attached} interfaces that are attached`;
  return `${them} must be detached first.${outsideText(change)}`;
}

/** Of the attached addresses that are known, those that the subnet will not have any more. */
function outsideText({ blocked, after }: Change): string {
  const range = readRange(plainText(after?.["ipv4"]));
  if (blocked?.type !== "interfaces" || range === null) return "";
  const known = blocked.interfaces.flatMap(({ address }) =>
    address === null ? [] : (readRange(hostRange(address)) ?? []),
  );
  if (known.length === 0) return "";
  const outside = known.filter((address) => !contains(range, address)).length;
  const which = known.length < blocked.interfaces.length ? " that are known" : "";
  return ` Of the addresses${which}, ${outside === 0 ? "none is" : `${outside} of ${known.length} ${outside === 1 ? "is" : "are"}`} outside the new range.`;
}

/** An interface has an address, or a range. */
function hostRange(address: string): string {
  return address.includes("/") ? address : `${address}/32`;
}

/**
 * `Free in vpc prod: next /24 10.0.4.0/24, 10.0.5.0/24. Its subnets lie within 10.0.0.0/21, where 1,280 of 2,048 addresses are free; the
 * largest free block is 10.0.4.0/22.`
 */
export function freeSpaceText({ root, within, addresses, free, largest, next }: FreeSpace): string {
  const sizes = next.map(({ prefix, ranges }) =>
    ranges.length === 0 ? `no /${prefix} is left` : `next /${prefix} ${ranges.map(escapeText).join(", ")}`,
  );
  const of = `${free.toLocaleString("en")} of ${addresses.toLocaleString("en")} addresses`;
  const most = largest === null ? "" : `; the largest free block is ${escapeText(largest)}`;
  const rest = free === 0 ? "which is full" : `where ${of} are free${most}`;
  return `Free in ${escapeText(root.replace("/", " "))}: ${sizes.join("; ")}. Its subnets lie within ${escapeText(within)}, ${rest}.`;
}
