/** What an answer tells of an image that somebody else has changed since the plan. */

import type { WireImage } from "../../api/wire/index.ts";
import type { Change } from "../../model/change.ts";
import type { JsonObject, Values } from "../../model/resource.ts";
import { liveValues } from "./pairs.ts";

export function toldOfImage(_: Change, answer: JsonObject): Values | null {
  const { label, description } = answer;
  const isWhole = typeof label === "string" && (typeof description === "string" || description === null);
  return isWhole ? liveValues(answer as unknown as WireImage) : null;
}
