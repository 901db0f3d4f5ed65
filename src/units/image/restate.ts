/** An image by the values that changes have of it: live ones, and what declares one with given ones. What it holds is no value, and does not come back. */

import type { WireImage } from "../../api/wire.ts";
import type { Declared } from "../../model/desired.ts";
import { imageAddress } from "../../model/resource.ts";
import type { LiveValues, RestateContext, RestatedValues } from "../../model/unit.ts";
import { UNSTATED } from "../common.ts";
import { liveValues } from "./diff.ts";
import type { ImageSpec } from "./spec.ts";

export function valuesOfImage(image: WireImage): LiveValues {
  return { values: liveValues(image), within: [] };
}

export function restateImage(
  { values }: RestatedValues,
  { own, span }: RestateContext<ImageSpec>,
): Declared<ImageSpec> {
  const label = String(values["label"]);
  const description = String(values["description"] ?? "");
  return {
    unit: "image",
    address: imageAddress(label),
    key: label,
    ...UNSTATED,
    protect: own?.protect ?? false,
    span,
    spec: { label, description, source: null, family: null, track: false },
  };
}
