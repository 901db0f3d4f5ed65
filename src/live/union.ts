/** What two manifests need to be read, as if it were one. */

import type { Desired } from "../model/desired.ts";

/** For reading only: what both declare is there twice. */
export function unionOf(one: Desired, other: Desired): Desired {
  return {
    ...one,
    owner: one.owner ?? other.owner,
    declared: [...one.declared, ...other.declared],
    removed: [...one.removed, ...other.removed],
  };
}
