/** A network by the values that changes have of it: live ones, and what declares an object with given ones. */

import { readRange } from "../../dns/ipv4-range.ts";
import type { Declared } from "../../model/desired.ts";
import { type Values, vpcAddress } from "../../model/resource.ts";
import type { LiveValues, RestateContext, RestatedValues } from "../../model/unit.ts";
import { UNSTATED } from "../common.ts";
import { subnetValues, vpcValues } from "./diff.ts";
import type { LiveNetwork } from "./live.ts";
import { isProtectedBy, type NetworkSpec, type SubnetSpec } from "./manifest.ts";
import { overlaps } from "./ranges.ts";

export function valuesOfNetwork({ vpc }: LiveNetwork): LiveValues {
  return {
    values: vpcValues(vpc),
    within: vpc.subnets.map((subnet) => ({
      kind: "vpc_subnet",
      id: subnet.id,
      values: subnetValues(subnet) as Values,
    })),
  };
}

export function restateNetwork(
  { values, within }: RestatedValues,
  { own, span }: RestateContext<NetworkSpec>,
): Declared<NetworkSpec> {
  const label = String(values["label"]);
  const protection = protectionOf(own?.spec.subnets ?? []);
  const subnets = within?.map((subnet): SubnetSpec => {
    const named = { label: String(subnet["label"]), ipv4: String(subnet["ipv4"]) };
    return { ...named, protect: isProtectedBy(protection, named), span, note: null };
  });
  return {
    unit: "network",
    address: vpcAddress(label),
    key: label,
    ...UNSTATED,
    protect: own?.protect ?? false,
    span,
    spec: {
      label,
      region: String(values["region"]),
      description: String(values["description"] ?? ""),
      subnets: subnets ?? null,
      protection,
    },
  };
}

/** An entry means a subnet by its label, or by its range while it is to be renamed. No label is a range. */
function protectionOf(subnets: readonly SubnetSpec[]): Map<string, boolean | null> {
  const protection = new Map<string, boolean | null>();
  for (const { label, ipv4, protect } of subnets) {
    // Of two entries that mean one subnet either protects it.
    for (const mark of [label, ipv4]) protection.set(mark, protection.get(mark) === true || protect);
  }
  return protection;
}

/** A subnet whose label is taken, or a part of whose range is; and one of a forged journal that has no range. */
export function clashingSubnets(wanted: readonly Values[], staying: readonly Values[]): ReadonlySet<Values> {
  const labels = new Set(staying.map(({ label }) => label));
  const placed = [...wanted, ...staying].flatMap((subnet) => {
    const range = readRange(String(subnet["ipv4"]));
    return range === null ? [] : [{ subnet, range }];
  });
  const isStaying = new Set(staying);
  const overlapping = overlaps(placed).flatMap(([{ subnet: a }, { subnet: b }]) =>
    isStaying.has(a) === isStaying.has(b) ? [] : [isStaying.has(a) ? b : a],
  );
  const found = new Set(overlapping);
  for (const subnet of wanted) {
    if (labels.has(subnet["label"]) || readRange(String(subnet["ipv4"])) === null) found.add(subnet);
  }
  return found;
}
