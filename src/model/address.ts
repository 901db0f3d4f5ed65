/** Addresses: how plans, guards and the command line name a resource. */

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

/** A live label may hold a slash or a control character: neither may forge an address. */
function segment(text: string): string {
  return text.replace(/[%/\p{Cc}]/gu, (character) => encodeURIComponent(character));
}
