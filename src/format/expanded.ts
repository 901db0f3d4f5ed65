/** The desired state as one manifest: with every default, variable and record set in place, and nothing left to look up. */

import type { Desired } from "../model/desired.ts";
import { jsonText } from "../model/json-text.ts";
import { manifestOf, type WritableUnit } from "./manifest-entry.ts";
import { writeManifest } from "./write.ts";

/**
 * A manifest, newline-terminated, as YAML or JSON. Put in a folder as tenon.yaml it comes down to the same desired state;
 * files that it names (`upload`) are not part of it. What is not plainly visible is escaped.
 */
export async function renderDesired(
  desired: Desired,
  units: readonly WritableUnit[],
  format: "text" | "json",
): Promise<string> {
  const manifest = manifestOf(desired, units);
  if (format === "json") return `${jsonText(manifest, 2)}\n`;
  return writeManifest(manifest, { arrangesRecords: false });
}
