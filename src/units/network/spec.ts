/** How a network, a VPC and its subnets, appears in a manifest. */

import { vpcAddress } from "../../model/address.ts";
import type { UnitSpec } from "../../model/unit.ts";
import { labelProblem, loadNetwork } from "./load.ts";
import { SUBNET_SCHEMA, VPC_SCHEMA } from "./schema.ts";
import type { NetworkSpec } from "./shape.ts";
import { writeNetwork } from "./write.ts";

export const networkSpec: UnitSpec<NetworkSpec> = {
  section: "vpcs",
  removedKey: "vpc",
  schema: VPC_SCHEMA,
  definitions: { subnet: SUBNET_SCHEMA },
  load: loadNetwork,
  write: writeNetwork,
  removed: (label) => ({ address: vpcAddress(label), key: label, problem: labelProblem(label, "VPC") }),
};
