/** How a zone, a domain and its records, appears in a manifest. */

import { domainAddress } from "../../model/address.ts";
import type { UnitSpec } from "../../model/unit.ts";
import { readDomainName } from "./manifest/domain-name.ts";
import { loadZone } from "./manifest/load.ts";
import { ZONE_DEFINITIONS } from "./manifest/schema.ts";
import { DOMAIN_SCHEMA } from "./manifest/schema-domain.ts";
import { writeZone } from "./manifest/write.ts";
import type { ZoneSpec } from "./shape.ts";

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
