/** What a resource is: its kind, its values under the API's own field names, and plain JSON. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export type JsonObject = { readonly [key: string]: Json };

/** A kind of resource, as plan files name it: `vpc`, `vpc_subnet`, `domain`, `domain_record`, `image`. Which there are, the units say. */
export type Kind = string;

/** What is read, planned and applied as one: `network`, `zone`, `image`. */
export type UnitName = string;

/** An id as the service gives it: integers for VPCs, subnets, domains and records, strings for images. */
export type ObjectId = number | string;

/** A resource's fields under the API's names, normalised so that plain comparison is enough. */
export type Values = JsonObject;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// Addresses: how plans, guards and the command line name a resource.

/** `vpc/prod`, `vpc/prod/subnet/web`, `domain/example.com`, `domain/example.com/www/A`, `image/golden`. */
export type Address = string;

export function vpcAddress(label: string): Address {
  return `vpc/${segment(label)}`;
}

export function subnetAddress(vpc: Address, label: string): Address {
  return `${vpc}/subnet/${segment(label)}`;
}

export function domainAddress(domain: string): Address {
  return `domain/${segment(domain)}`;
}

/** `name` is relative to the zone; the apex is `""` and shown as `@`. */
export function recordAddress(domain: Address, name: string, type: string): Address {
  return `${domain}/${name === "" ? "@" : segment(name)}/${type}`;
}

export function imageAddress(label: string): Address {
  return `image/${segment(label)}`;
}

/** @param root of the object itself, or of what it is within */
export function addressOfValues(kind: Kind, root: Address, values: Values): Address {
  const text = (field: string): string => {
    const value = values[field];
    return typeof value === "string" ? value : "";
  };
  switch (kind) {
    case "vpc_subnet":
      return subnetAddress(root, text("label"));
    case "domain_record":
      return recordAddress(root, text("name"), text("type"));
    case "domain":
      return domainAddress(text("domain"));
    default:
      return rootAddress(kind, text("label"));
  }
}

/** Of a VPC, a domain or an image: `kind` is a root's. */
export function rootAddress(kind: Kind, name: string): Address {
  return `${kind}/${segment(name)}`;
}

/** The VPC, domain or image that an address is of, or within: a label's slash is escaped. */
export function rootOf(address: Address): Address {
  return address.split("/", 2).join("/");
}

/** The name in the address of a root; null if it is no address of that kind. */
export function nameInAddress(address: Address, kind: Kind): string | null {
  if (!address.startsWith(`${kind}/`)) return null;
  try {
    return decodeURIComponent(address.slice(kind.length + 1));
  } catch {
    return null;
  }
}

/** A live label may hold a slash, a control character or the colon before an id: none may forge an address. */
function segment(text: string): string {
  return text.replace(/[%/:\p{Cc}]/gu, (character) => encodeURIComponent(character));
}
