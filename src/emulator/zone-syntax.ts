/** How names, mailboxes and character-strings are written in a zone file, octet by octet (RFC 1035, 5.1). */

/** RFC 1035, 3.3: octets in a character-string, without its length. */
const MAX_STRING_OCTETS = 255;

/** RFC 1035, 2.3.4: octets in a label, and in a name with all lengths and the root's. */
const MAX_LABEL_OCTETS = 63;
const MAX_NAME_OCTETS = 255;

/** What ends a label or begins something else where it is not escaped. */
const SPECIAL_IN_LABEL = '."\\;()@$';

/** One string, however long: of at most 255 octets, or what a CAA's value is (RFC 8659, 4.1). */
export function quote(octets: Buffer): string {
  return `"${escapeOctets(octets, '"\\', " ")}"`;
}

/** A text as the strings that a TXT is made of; an empty text is one empty string. */
export function splitText(octets: Buffer): readonly Buffer[] {
  const strings: Buffer[] = [];
  for (let start = 0; start < octets.length; start += MAX_STRING_OCTETS) {
    strings.push(octets.subarray(start, start + MAX_STRING_OCTETS));
  }
  return strings.length === 0 ? [octets] : strings;
}

/** What so many octets of text come to as strings, each with its length before it. */
export function textOctets(octets: number): number {
  return octets + Math.max(1, Math.ceil(octets / MAX_STRING_OCTETS));
}

/**
 * An address as an absolute name: what is before the `@` is one label, dots and all (RFC 1035, 8).
 * @returns `.`, "there is none", if no name can hold it
 */
export function mailbox(email: string): string {
  const at = email.lastIndexOf("@");
  const host = email.slice(at + 1).replace(/\.$/, "");
  const labels = [email.slice(0, at), ...host.split(".")].map((label) => Buffer.from(label));
  const octets = labels.reduce((sum, label) => sum + label.length + 1, 1);
  const fits = labels.every(({ length }) => length > 0 && length <= MAX_LABEL_OCTETS) && octets <= MAX_NAME_OCTETS;
  return fits ? `${labels.map((label) => escapeOctets(label, SPECIAL_IN_LABEL, "")).join(".")}.` : ".";
}

/** The special ones as `\X`, what is neither printable ASCII nor `plain` as `\DDD`. */
function escapeOctets(octets: Buffer, special: string, plain: string): string {
  let text = "";
  for (const octet of octets) {
    const character = String.fromCharCode(octet);
    if (special.includes(character)) text += `\\${character}`;
    else if ((octet > 0x20 && octet < 0x7f) || plain.includes(character)) text += character;
    else text += `\\${String(octet).padStart(3, "0")}`;
  }
  return text;
}

/** `010.020.030.040` is `10.20.30.40`, as the service's own language read it in those days. */
export function withoutLeadingZeros(quad: string): string {
  return quad.replace(/\b0+(?=\d)/g, "");
}
