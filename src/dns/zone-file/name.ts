/** Names in a zone file: relative or absolute, escaped → labels of octets, within the bounds of RFC 1035, 2.3.4. */

import { escapeOctets, isAscii, type Octets, writtenAt } from "./octets.ts";
import { Misread, type Place, type Problem, shown } from "./problem.ts";
import type { Token } from "./scan.ts";

/** Absolute; the root has none. In the letter case they are written in. */
export type Labels = readonly Octets[];

const MAX_LABEL_OCTETS = 63;
/** With the octets of lengths and the root. */
const MAX_NAME_OCTETS = 255;

/** `@` is the origin, and what has no final dot is relative to it. Throws `Misread`. */
export function readName(token: Token, origin: Labels): Labels {
  const { text } = token;
  if (text === "@" && !token.quoted) return origin;
  if (text === ".") return [];
  if (text === "") throw misnamed(token, "An empty string is not a name.");
  const labels = text.includes("\\") || !isAscii(text) ? escapedLabels(token) : text.split(".");
  const isAbsolute = labels.at(-1) === "";
  if (isAbsolute) labels.pop();
  check(labels, token);
  const name = isAbsolute ? labels : [...labels, ...origin];
  let octetCount = 1;
  for (const label of name) octetCount += label.length + 1;
  if (octetCount > MAX_NAME_OCTETS) {
    const detail = `${shown(text)} has ${octetCount} octets as an absolute name, and a name has at most ${MAX_NAME_OCTETS} (RFC 1035, 2.3.4).`;
    throw misnamed(token, detail);
  }
  return name;
}

function check(labels: Labels, token: Token): void {
  for (const label of labels) {
    if (label === "") throw misnamed(token, `${shown(token.text)} has nothing between two dots, or begins with a dot.`);
    if (label.length > MAX_LABEL_OCTETS) {
      const detail = `${shown(label)} has ${label.length} octets, and a label has at most ${MAX_LABEL_OCTETS} (RFC 1035, 2.3.4).`;
      throw misnamed(token, detail);
    }
  }
}

function misnamed(place: Place, detail: string): Misread {
  const problem: Problem = { code: "bad-name", summary: "not a name", detail, fix: "Correct the name." };
  return new Misread(place, problem);
}

/** An escaped dot divides nothing. */
function escapedLabels(token: Token): Octets[] {
  const labels: Octets[] = [];
  let label = "";
  for (let index = 0; index < token.text.length; ) {
    const { octets, length, escaped } = writtenAt(token, index);
    if (octets === "." && !escaped) {
      labels.push(label);
      label = "";
    } else {
      label += octets;
    }
    index += length;
  }
  labels.push(label);
  return labels;
}

/** Lower case, without a final dot, `""` the root; what is not plain is escaped, so that no two names become one. */
export function nameText(name: Labels): string {
  return name
    .map((label) => (/^[\w/+*-]*$/.test(label) ? label : escapeLabel(label)))
    .join(".")
    .toLowerCase();
}

export function escapeLabel(label: Octets): string {
  return escapeOctets(label, /[.\\"();@$]/).replaceAll(" ", "\\032");
}

/** @param zone lower-case ASCII without a final dot */
export function labelsOf(zone: string): Labels {
  return zone === "" ? [] : zone.split(".");
}
