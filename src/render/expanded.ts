/** The desired state with every default, variable and record set in place: what the manifests come down to. */

import type { Desired } from "../model/desired.ts";
import { compareText } from "../model/group.ts";
import type { Json } from "../model/resource.ts";
import { escapeLines } from "./escape.ts";
import { sortKeys } from "./view.ts";

/** Newline-terminated YAML or JSON, sorted by address; what is not plainly visible is escaped in the YAML. */
export async function renderDesired(desired: Desired, format: "text" | "json"): Promise<string> {
  const value = sortKeys({
    owner: desired.owner,
    account: desired.account,
    declared: Object.fromEntries(
      [...desired.declared]
        .sort((left, right) => compareText(left.address, right.address))
        .map(({ address, protect, note, spec }) => [
          address,
          { ...(protect ? { protect } : {}), ...(note === null ? {} : { note }), ...plain(spec) },
        ]),
    ),
    removed: desired.removed.map(({ address, destroy }) => ({ address, destroy })),
  } as unknown as Json);
  if (format === "json") return `${JSON.stringify(value, null, 2)}\n`;
  const { stringify } = await import("yaml");
  return escapeLines(stringify(value, { lineWidth: 0, aliasDuplicateObjects: false }));
}

/** Specs belong to their units; here they are only data, without where they stand in the source. */
function plain(spec: unknown): Record<string, unknown> {
  return JSON.parse(JSON.stringify(spec, (key, value) => (key === "span" ? undefined : value))) as Record<
    string,
    unknown
  >;
}
