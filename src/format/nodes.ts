/** The YAML library as it is handed around, and what its nodes say. */

import type * as YamlLibrary from "yaml";
import type { Pair, Scalar } from "yaml";

/** Loaded only where a text is read or written. */
export type Yaml = typeof YamlLibrary;

/** `""` if the key is no word. */
export function keyText(pair: Pair<unknown, unknown>): string {
  const key = pair.key as Scalar | null;
  return key !== null && typeof key === "object" && "value" in key ? String(key.value) : "";
}
