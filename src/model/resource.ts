/** What a resource is: its kind, its values under the API's own field names, and plain JSON. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export type JsonObject = { readonly [key: string]: Json };

/** The five kinds of resource, named as the plan file names them. */
export type Kind = "vpc" | "vpc_subnet" | "domain" | "domain_record" | "image";

/** The three things that are read, planned and applied as one: a network, a zone, an image. */
export type UnitName = "network" | "zone" | "image";

/** An id as the service gives it: integers for VPCs, subnets, domains and records, strings for images. */
export type ObjectId = number | string;

/** A resource's fields under the API's names, normalised so that plain comparison is enough. */
export type Values = JsonObject;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
