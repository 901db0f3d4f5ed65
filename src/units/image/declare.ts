/** A live image as the declaration that it fits: the way back from the account to a manifest. */

import type { WireImage } from "../../api/wire/index.ts";
import type { Declared } from "../../model/desired.ts";
import { NOWHERE } from "../nowhere.ts";
import { splitDescription } from "../ownership.ts";
import { identifyImage } from "./live.ts";
import type { ImageSpec } from "./shape.ts";

/** How it was made is not known any more. @returns null for one that was never finished: there is nothing to keep */
export function declareImage(live: WireImage): Declared<ImageSpec> | null {
  if (live.status === "pending_upload") return null;
  const { text } = splitDescription(live.description);
  return {
    unit: "image",
    address: identifyImage(live).address,
    key: live.label,
    id: null,
    movedFrom: null,
    protect: false,
    note: null,
    span: NOWHERE,
    spec: { label: live.label, description: text === "" ? undefined : text, source: null },
  };
}
