/** DNS names as text: punycode, relative and absolute forms, and what RFC 1035 lets through. */

import { domainToASCII } from "node:url";

/** RFC 1035, 2.3.4: octets in a label, and characters in a name without its final dot. */
export const MAX_LABEL_LENGTH = 63;
export const MAX_NAME_LENGTH = 253;

/**
 * A name in lower-case ASCII: labels with other letters become punycode (UTS 46), all else is kept.
 * Only labels with non-ASCII letters go through IDNA: `10` is a label, not an address.
 * @returns null if a label has no punycode form
 */
export function toAscii(name: string): string | null {
  if (isAscii(name)) return name.toLowerCase();
  // UTS 46 maps ideographic full stops to dots before labels are told apart.
  const labels = name.replace(/[\u3002\uff0e\uff61]/g, ".").split(".");
  const converted: string[] = [];
  for (const label of labels) {
    const ascii = isAscii(label) ? label.toLowerCase() : labelToAscii(label);
    if (ascii === null) return null;
    converted.push(ascii);
  }
  return converted.join(".");
}

function labelToAscii(label: string): string | null {
  // An underscore prefix (RFC 8552) is no IDNA letter, but may stand before one.
  const ascii = domainToASCII(label);
  return ascii === "" || ascii.includes(".") ? null : ascii;
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 127) return false;
  return true;
}

/** Why a name is not one, or null. Names are relative or without their final dot; `""` is the apex. */
export type NameProblem = "empty-label" | "long-label" | "long-name" | "bad-character" | "bad-hyphen" | "bad-wildcard";

/**
 * RFC 1035, 2.3.1, as loosened by practice: letters, digits, hyphens, underscores (RFC 8552), `/` and `+`
 * as found in reverse delegations (RFC 2317) and service labels; a wildcard only as the whole first label.
 * @param strict hosts and zones: no underscore, no wildcard, no hyphen at either end of a label
 */
export function nameProblem(name: string, strict: boolean): NameProblem | null {
  if (name === "") return null;
  if (name.length > MAX_NAME_LENGTH) return "long-name";
  const labels = name.split(".");
  for (const [index, label] of labels.entries()) {
    const problem = labelProblem(label, index === 0, strict);
    if (problem !== null) return problem;
  }
  return null;
}

function labelProblem(label: string, first: boolean, strict: boolean): NameProblem | null {
  if (label === "") return "empty-label";
  if (label.length > MAX_LABEL_LENGTH) return "long-label";
  if (label.includes("*")) return !strict && first && label === "*" ? null : "bad-wildcard";
  if (strict ? /[^a-z0-9-]/i.test(label) : /[^a-z0-9_+/-]/i.test(label)) return "bad-character";
  if (strict && (label.startsWith("-") || label.endsWith("-"))) return "bad-hyphen";
  return null;
}

/** `www` in zone `example.com` is `www.example.com`; the apex is the zone itself. Both without a final dot. */
export function absoluteName(relative: string, zone: string): string {
  return relative === "" ? zone : `${relative}.${zone}`;
}

/** The name relative to the zone, `""` for the apex, or null if it lies outside. Both lower-case, without a final dot. */
export function relativeName(absolute: string, zone: string): string | null {
  if (absolute === zone) return "";
  return absolute.endsWith(`.${zone}`) ? absolute.slice(0, -zone.length - 1) : null;
}
