/** What a ticket may be about: the labels of entities, where the emulator has them. */

import type { EntityKind } from "./rows.ts";
import type { Tables } from "./store.ts";

/** @returns null if the account has no such entity; `""` for kinds whose objects are none of the emulator's */
export function labelOfEntity(tables: Tables, account: string, kind: EntityKind, id: number): string | null {
  switch (kind) {
    case "domain": {
      const domain = tables.domains.get(id);
      return domain?.account === account ? domain.domain : null;
    }
    case "vpc": {
      const vpc = tables.vpcs.get(id);
      return vpc?.account === account ? vpc.label : null;
    }
    case "database":
    case "firewall":
    case "node":
    case "lkecluster":
    case "longviewclient":
    case "nodebalancer":
    case "volume":
      return "";
  }
}
