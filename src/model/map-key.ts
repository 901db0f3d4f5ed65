/** Keys of maps and sets for texts of any length: V8 hashes a long text by its length alone. */

import { createHash } from "node:crypto";
import type { Values } from "./resource.ts";

/**
 * V8 hashes no more of a text than this (`String::kMaxHashCalcLength`): of a longer one the hash is the length. Thousands of texts of one
 * length, as a hostile answer or file may hold, would so be in one bucket of a map, and each lookup would compare them one by one.
 */
export const MAX_HASHED_CHARACTERS = 16_383;

/** No name, value or JSON begins with it: a short text that is a key itself is not taken for a digest. */
const DIGEST_MARK = "\0sha256";

/**
 * What stands for a text in a `Map` or a `Set`, or as the key of an object: the text itself if it is short, else its length and digest. Equal
 * for equal texts alone; it says nothing of their order. It is not remembered, which would need a map of the long texts.
 */
export function mapKey(text: string): string {
  if (text.length <= MAX_HASHED_CHARACTERS) return text;
  // As UTF-16: in UTF-8 all lone surrogates would become the same character.
  return `${DIGEST_MARK} ${text.length} ${createHash("sha256").update(text, "utf16le").digest("hex")}`;
}

/** Equal for objects of equal values, in whatever order their fields are. */
export function valuesKey(values: Values): string {
  return mapKey(JSON.stringify(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1))));
}
