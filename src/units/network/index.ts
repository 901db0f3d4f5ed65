/** The network: a VPC and its subnets. */

import type { Unit } from "../../model/unit.ts";
import { declareNetwork } from "./declare.ts";
import { detailNetwork, identifyNetwork, type LiveNetwork, readNetworks } from "./live.ts";
import { pairNetworks } from "./pairs.ts";
import {
  contentOfNetwork,
  permitsNetwork,
  recogniseNetwork,
  subnetsMadeWith,
  vpcDuplicateKey,
  vpcLikeness,
} from "./recognise.ts";
import type { NetworkSpec } from "./shape.ts";
import { networkSpec } from "./spec.ts";
import { networkSteps } from "./steps.ts";
import { clashInNetwork, toldOfNetwork } from "./told.ts";

export const network: Unit<NetworkSpec, LiveNetwork> = {
  name: "network",
  spec: networkSpec,
  read: readNetworks,
  detail: detailNetwork,
  identify: identifyNetwork,
  content: contentOfNetwork,
  declare: declareNetwork,
  pairs: pairNetworks,
  steps: networkSteps,
  permits: permitsNetwork,
  told: toldOfNetwork,
  clash: clashInNetwork,
  partsIn: subnetsMadeWith,
  recognise: recogniseNetwork,
  duplicateKey: vpcDuplicateKey,
  likeness: vpcLikeness,
};
