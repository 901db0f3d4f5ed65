/** Which records meet: name and type in one form, however they are written. */

import { ownerName, serviceOwner } from "../../dns/owner.ts";
import type { JsonObject } from "../../model/resource.ts";
import { textAt } from "./entry.ts";

/** @param zone lower-case ASCII without a final dot */
export function identity(record: JsonObject, zone: string): string {
  const type = String(record["type"]);
  const owner = ownerName(textAt(record, "name") ?? "", zone);
  const service =
    type === "SRV" && owner.ok
      ? serviceOwner(owner.name, textAt(record, "service"), textAt(record, "protocol"))
      : owner;
  return `${type} ${service.ok ? service.name : owner.name}`;
}
