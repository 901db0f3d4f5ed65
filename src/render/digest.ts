/** The digest of a saved plan: tells that a byte was changed on the way, not who wrote it. */

import { createHash } from "node:crypto";
import type { Json } from "../model/resource.ts";
import { sortKeys } from "./view.ts";

/** @returns `sha256:` and 64 hexadecimal digits, of everything but `tenon.digest`; how the JSON is laid out does not matter */
export function digestOf(file: { readonly tenon: object }): string {
  const tenon = Object.entries(file.tenon).filter(([key]) => key !== "digest");
  const text = JSON.stringify(sortKeys({ ...file, tenon: Object.fromEntries(tenon) } as unknown as Json));
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
