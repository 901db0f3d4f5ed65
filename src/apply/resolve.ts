/** Resolve: turns references to earlier answers into path segments and values. Percent-encoding is the client's matter. */

import { isJsonObject, type Json, type ObjectId } from "../model/resource.ts";
import { isReference, type PathPart, type Produced, type Reference } from "../model/step.ts";

/** Fields of answers by the key that references use. */
export type Products = ReadonlyMap<string, ProducedFields>;

export type ProducedFields = ReadonlyMap<string, Json>;

export type Resolved<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly missing: Reference };

/** The value at a dotted path (`image.id`, `subnets.0.id`); undefined if there is none. */
export function readField(body: Json, path: string): Json | undefined {
  let value: Json | undefined = body;
  for (const name of path.split(".")) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, name)) return undefined;
    value = (value as { readonly [key: string]: Json })[name];
  }
  return value;
}

/** Segments with every reference replaced by what the earlier answer said. */
export function resolvePath(path: readonly PathPart[], products: Products): Resolved<readonly string[]> {
  const segments: string[] = [];
  for (const part of path) {
    if (!isReference(part)) {
      segments.push(part);
      continue;
    }
    const value = products.get(part.ref)?.get(part.field);
    if (!isSegment(value)) return { ok: false, missing: part };
    segments.push(String(value));
  }
  return { ok: true, value: segments };
}

/** A text that an earlier answer gave. */
export function resolveText(reference: Reference, products: Products): Resolved<string> {
  const value = products.get(reference.ref)?.get(reference.field);
  return typeof value === "string" && value !== "" ? { ok: true, value } : { ok: false, missing: reference };
}

/** Dots alone would be taken for a way up the tree, whatever the encoding. */
function isSegment(value: Json | undefined): value is ObjectId {
  return typeof value === "number" || (typeof value === "string" && !["", ".", ".."].includes(value));
}

/** The produced fields of an answer; null if one is missing. */
export function readProducts(produced: Produced, body: Json): ProducedFields | null {
  const fields = new Map<string, Json>();
  for (const [name, path] of Object.entries(produced.fields)) {
    const value = readField(body, path);
    if (value === undefined || value === null) return null;
    fields.set(name, value);
  }
  return fields;
}

/** The same from a list's item: its id is known even if the answer to a POST would have had it elsewhere. */
export function readAdopted(produced: Produced, item: Json, id: ObjectId): ProducedFields {
  const fields = new Map<string, Json>();
  for (const [name, path] of Object.entries(produced.fields)) {
    const value = readField(item, path) ?? (name === "id" ? id : undefined);
    if (value !== undefined && value !== null) fields.set(name, value);
  }
  return fields;
}

/** The id in an answer: where `produced` says, else at its top. */
export function readId(produced: Produced | null, body: Json): ObjectId | null {
  const path = produced === null ? "id" : (produced.fields["id"] ?? "id");
  const id = isJsonObject(body) ? readField(body, path) : undefined;
  return typeof id === "number" || typeof id === "string" ? id : null;
}
