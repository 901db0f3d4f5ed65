/** Redact: takes out of an entry what a journal must not hold. */

import type { Json } from "../model/resource.ts";

export const REDACTED = "[redacted]";

/** Fields whose value is a secret wherever they appear (API.md, Images: the signed URL). */
const SECRET_FIELDS: ReadonlySet<string> = new Set(["upload_to"]);

/** @param secrets texts that are taken out of any string that contains them */
export function redact(value: Json, secrets: ReadonlySet<string>): Json {
  if (typeof value === "string") return redactText(value, secrets);
  if (value === null || typeof value !== "object") return value;
  if (isList(value)) return value.map((item) => redact(item, secrets));
  const entries = Object.entries(value).map(([key, item]): [string, Json] => [
    key,
    SECRET_FIELDS.has(key) ? REDACTED : redact(item, secrets),
  ]);
  return Object.fromEntries(entries);
}

function redactText(text: string, secrets: ReadonlySet<string>): string {
  let clean = text;
  for (const secret of secrets) if (clean.includes(secret)) clean = clean.replaceAll(secret, REDACTED);
  return clean;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
