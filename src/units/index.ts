/** The units: a new kind is one folder and one line here. */

import type { Unit } from "../model/unit.ts";
import { image } from "./image/index.ts";
import { network } from "./network/index.ts";
import { zone } from "./zone/index.ts";

export const units: readonly Unit[] = [network, zone, image];
