/** The digest of a saved plan: tells that a byte was changed on the way, not who wrote it. */

import { createHash } from "node:crypto";
import { type Layout, pieces, type Written } from "./pieces.ts";

const COMPACT: Layout = { end: "", text: (value) => JSON.stringify(value) };

/** @returns `sha256:` and 64 hexadecimal digits, of everything but `tenon.digest`; how the JSON is laid out does not matter */
export function digestOf(file: { readonly tenon: object }): string {
  const hash = createHash("sha256");
  const content = { ...file, tenon: { ...file.tenon, digest: undefined } };
  for (const piece of pieces(content as unknown as Written, 0, COMPACT)) hash.update(piece);
  return `sha256:${hash.digest("hex")}`;
}
