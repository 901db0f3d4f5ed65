/** A network's spec as the manifest entry that declares it. */

import type { WrittenEntry } from "../../model/unit.ts";
import { noteOf, stated } from "../written.ts";
import type { NetworkSpec } from "./shape.ts";

export function writeNetwork({ label, region, description, subnets }: NetworkSpec): WrittenEntry {
  const entries = subnets?.map((subnet) => ({
    label: subnet.label,
    ipv4: subnet.ipv4,
    ...(subnet.protect === null ? {} : { protect: subnet.protect }),
    ...noteOf(subnet.note),
  }));
  return { head: { label }, body: { region, ...stated({ description, subnets: entries }) } };
}
