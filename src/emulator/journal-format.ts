/** The text of the data file: lines ↔ changes, and what is wrong with a file that is not whole. */

import { crc32 } from "node:zlib";
import type { StoreChange, TableName } from "./store.ts";

const FORMAT_VERSION = 1;

/** Every table there is: a change of another one is damage. */
const TABLE_NAMES: Readonly<Record<TableName, true>> = {
  settings: true,
  tokens: true,
  vpcs: true,
  subnets: true,
  interfaces: true,
  domains: true,
  records: true,
  disks: true,
  images: true,
};

export function encodeHeader(): string {
  return `${JSON.stringify({ format: "tenon-emulator", version: FORMAT_VERSION })}\n`;
}

/** One line is one request's changes: it counts as a whole or not at all. */
export function encodeLine(changes: readonly StoreChange[]): string {
  const text = JSON.stringify(changes);
  return `{"crc":${crc32(text)},"changes":${text}}\n`;
}

export type Decoded =
  | { readonly ok: true; readonly changes: readonly (readonly StoreChange[])[]; readonly torn: boolean }
  /** `isForeign`: it is no data file of this version, and may be anything. */
  | { readonly ok: false; readonly problem: string; readonly isForeign: boolean };

/** A last line without its end was being written when the process died, and was never answered: it is dropped. */
export function decodeFile(text: string): Decoded {
  const lines = text.split("\n");
  const torn = lines.pop() !== "";
  const [header, ...rest] = lines;
  if (header === undefined || `${header}\n` !== encodeHeader()) {
    return { ok: false, problem: "it does not begin as a data file of this version does", isForeign: true };
  }
  const changes: (readonly StoreChange[])[] = [];
  for (const [index, line] of rest.entries()) {
    const decoded = decodeLine(line);
    if (decoded === null) return { ok: false, problem: `line ${index + 2} is damaged`, isForeign: false };
    changes.push(decoded);
  }
  return { ok: true, changes, torn };
}

function decodeLine(line: string): readonly StoreChange[] | null {
  // With `s`, because U+2028 is a line's end to a regular expression and not to JSON.
  const match = /^\{"crc":(\d+),"changes":(.*)\}$/s.exec(line);
  const [, sum = "", text = ""] = match ?? [];
  if (match === null || crc32(text) !== Number(sum)) return null;
  const changes = JSON.parse(text) as StoreChange[];
  return changes.every(([table]) => Object.hasOwn(TABLE_NAMES, table)) ? changes : null;
}
