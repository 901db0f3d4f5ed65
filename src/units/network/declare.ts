/** A live network as the declaration that it fits: the way back from the account to a manifest. */

import type { Declared } from "../../model/desired.ts";
import { compareText } from "../../model/group.ts";
import { NOWHERE } from "../nowhere.ts";
import { splitDescription } from "../ownership.ts";
import { identifyNetwork, type LiveNetwork } from "./live.ts";
import type { NetworkSpec } from "./shape.ts";

export function declareNetwork(live: LiveNetwork): Declared<NetworkSpec> {
  const { label, region, description, subnets } = live.vpc;
  const { text } = splitDescription(description);
  const declared = subnets.map((subnet) => ({
    label: subnet.label,
    ipv4: subnet.ipv4,
    protect: null,
    note: null,
    span: NOWHERE,
  }));
  return {
    unit: "network",
    address: identifyNetwork(live).address,
    key: label,
    id: null,
    movedFrom: null,
    protect: false,
    note: null,
    span: NOWHERE,
    spec: {
      label,
      region,
      description: text === "" ? undefined : text,
      subnets: declared.sort((a, b) => compareText(sortable(a.ipv4), sortable(b.ipv4))),
    },
  };
}

/** Ranges in the order of their addresses. */
function sortable(cidr: string): string {
  return cidr.replace(/\d+/g, (number) => number.padStart(3, "0"));
}
