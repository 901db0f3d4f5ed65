/** The network: a VPC and its subnets. */

import type { Unit } from "../../model/unit.ts";
import { conflictInNetwork, lossesOfNetwork, pairNetworks, readBackOfNetwork } from "./diff.ts";
import { freeSpaceOfNetworks } from "./free-space.ts";
import { declareNetwork, detailNetwork, identifyNetwork, type LiveNetwork, listNetwork, readNetworks } from "./live.ts";
import { type NetworkSpec, networkSpec } from "./manifest.ts";
import { clashingSubnets, restateNetwork, valuesOfNetwork } from "./restate.ts";
import {
  contentOfNetwork,
  networkSteps,
  objectionToVpcDelete,
  recogniseNetwork,
  subnetsMadeWith,
  temporaryLabel,
  vpcDuplicateKey,
  vpcLikeness,
} from "./steps.ts";

export const network: Unit<NetworkSpec, LiveNetwork> = {
  name: "network",
  kinds: [
    { kind: "vpc", words: ["VPC", "VPCs"], nameField: "label", temporaryName: temporaryLabel, canBeDuplicated: true },
    // Not `canBeDuplicated`: subnets of one VPC cannot overlap, so the service refuses a second equal subnet.
    {
      ...{ kind: "vpc_subnet", words: ["subnet", "subnets"], nameField: "label", temporaryName: temporaryLabel },
      line: { value: "ipv4" },
    },
  ],
  spec: networkSpec,
  read: readNetworks,
  detail: detailNetwork,
  identify: identifyNetwork,
  canBeRenamed: true,
  content: contentOfNetwork,
  list: listNetwork,
  declare: declareNetwork,
  valuesOf: valuesOfNetwork,
  restate: restateNetwork,
  clashing: clashingSubnets,
  normalise: pairNetworks,
  steps: networkSteps,
  freeSpace: freeSpaceOfNetworks,
  losses: lossesOfNetwork,
  precondition: objectionToVpcDelete,
  readBack: readBackOfNetwork,
  explainConflict: conflictInNetwork,
  partsIn: subnetsMadeWith,
  recognise: recogniseNetwork,
  duplicateKey: vpcDuplicateKey,
  likeness: vpcLikeness,
};
