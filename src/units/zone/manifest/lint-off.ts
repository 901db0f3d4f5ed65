/** `lint: { off: [code] }` of a domain or record: which lint rules do not hold for it. */

import type { Json } from "../../../model/resource.ts";
import { isJsonObject } from "../../../model/resource.ts";

/** @param lint the value of the key, which fits the schema */
export function lintOff(lint: Json | undefined): readonly string[] {
  const off = isJsonObject(lint) ? lint["off"] : undefined;
  return Array.isArray(off) ? (off as readonly Json[]).filter((code) => typeof code === "string") : [];
}
