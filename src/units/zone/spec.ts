/** How a zone, a domain and its records, appears in a manifest. */

import { domainAddress } from "../../model/address.ts";
import type { UnitSpec } from "../../model/unit.ts";
import { loadZone, readDomainName } from "./load.ts";
import { DOMAIN_SCHEMA, ZONE_DEFINITIONS } from "./schema.ts";
import type { ZoneSpec } from "./shape.ts";
import { writeZone } from "./write.ts";

export type { RecordSpec, ZoneSpec } from "./shape.ts";

export const zoneSpec: UnitSpec<ZoneSpec> = {
  section: "domains",
  removedKey: "domain",
  schema: DOMAIN_SCHEMA,
  definitions: ZONE_DEFINITIONS,
  load: loadZone,
  write: writeZone,
  removed: (text) => {
    const { name, problem } = readDomainName(text);
    return { address: domainAddress(name), key: name, problem };
  },
};
