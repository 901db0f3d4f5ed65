/** The desired state as one manifest: with every default, variable and record set in place, and nothing left to look up. */

import type { Scalar, YAMLMap } from "yaml";
import type { Desired } from "../model/desired.ts";
import type { JsonObject } from "../model/resource.ts";
import { escapeJson, escapeYaml, isPlainlyVisible } from "./escape.ts";
import { manifestOf, type WritableUnit } from "./manifest-entry.ts";

/** Lists whose entries are short enough for a line each. */
const ONE_LINE_LISTS: ReadonlySet<string> = new Set(["records", "subnets", "ignore", "removed", "allow"]);
/** Lists and objects that are written on the line of their key. */
const ONE_LINE_VALUES: ReadonlySet<string> = new Set(["tags", "master_ips", "axfr_ips", "upload", "capture"]);

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
  if (format === "json") return `${escapeJson(JSON.stringify(manifest, null, 2))}\n`;
  return toYaml(manifest);
}

async function toYaml(manifest: JsonObject): Promise<string> {
  const { Document, isCollection, isMap, isScalar, isSeq, visit } = await import("yaml");
  const document = new Document(manifest, { aliasDuplicateObjects: false });
  visit(document, {
    Pair: (_, { key, value }) => {
      const name = isScalar(key) ? String(key.value) : "";
      if (isCollection(value) && ONE_LINE_VALUES.has(name)) value.flow = true;
      if (!isSeq(value)) return;
      if (ONE_LINE_LISTS.has(name)) for (const entry of value.items) (entry as YAMLMap).flow = true;
      else if (isScalar(key) && isMap(value.items[0])) spaceOut(key, value.items as YAMLMap[]);
    },
    Scalar: (_, node) => {
      if (typeof node.value === "string" && !isPlainlyVisible(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  // Folded text would be harder to read, to search and to compare than a long line.
  return escapeYaml(document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER }));
}

/** A blank line before a section, and between its entries. */
function spaceOut(section: Scalar, entries: readonly YAMLMap[]): void {
  section.spaceBefore = true;
  for (const entry of entries.slice(1)) entry.spaceBefore = true;
}
