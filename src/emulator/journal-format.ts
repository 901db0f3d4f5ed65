/** The text of the data file: lines ↔ changes, and what is wrong with a file that is not whole. */

import { crc32 } from "node:zlib";
import type { StoreChange, TableName } from "./store.ts";

/** 2: checksums go on from line to line, and the end of what was written at once is marked. */
const FORMAT_VERSION = 2;

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
  tickets: true,
  replies: true,
};

/** Table, id, row. */
const CHANGE_PARTS = 3;

const HEADER = `${JSON.stringify({ format: "tenon-emulator", version: FORMAT_VERSION })}\n`;

/** What a new file begins with. Then come all rows, and an end mark. */
export const FILE_START: Line = { text: HEADER, checksum: crc32(HEADER) };

/** A line of the file. Its checksum is that of all text up to it, so that no line can be missing, be there twice or be elsewhere. */
export interface Line {
  readonly text: string;
  readonly checksum: number;
}

/** One line is one request's changes, it counts as a whole or not at all. Without changes it is an end mark. */
export function encodeLine(changes: readonly StoreChange[], before: Line): Line {
  const text = JSON.stringify(changes);
  const checksum = crc32(text, before.checksum);
  return { text: `{"crc":${checksum},"changes":${text}}\n`, checksum };
}

export type Decoded =
  | { readonly ok: true; readonly changes: readonly (readonly StoreChange[])[]; readonly torn: boolean }
  /** `isForeign`: it is no data file of this version, and may be anything. */
  | { readonly ok: false; readonly problem: string; readonly isForeign: boolean };

/**
 * A last line without its end was being written when the process died, and was never answered: it is dropped. Not so before the end
 * mark: a file gets its name only once it is written up to there.
 */
export function decodeFile(text: string): Decoded {
  const lines = text.split("\n");
  const torn = lines.pop() !== "";
  const [header, ...rest] = lines;
  if (header === undefined || `${header}\n` !== FILE_START.text) {
    return { ok: false, problem: "it does not begin as a data file of this version does", isForeign: true };
  }
  const changes: (readonly StoreChange[])[] = [];
  let hasEndMark = false;
  let { checksum } = FILE_START;
  for (const [index, line] of rest.entries()) {
    const decoded = decodeLine(line, checksum);
    if (decoded === null) return { ok: false, problem: `line ${index + 2} is damaged`, isForeign: false };
    hasEndMark ||= decoded.changes.length === 0;
    changes.push(decoded.changes);
    checksum = decoded.checksum;
  }
  if (!hasEndMark) return { ok: false, problem: `line ${rest.length + 2} is damaged or missing`, isForeign: false };
  return { ok: true, changes, torn };
}

interface DecodedLine {
  readonly changes: readonly StoreChange[];
  readonly checksum: number;
}

function decodeLine(line: string, before: number): DecodedLine | null {
  // With `s`, because U+2028 is a line's end to a regular expression and not to JSON.
  const match = /^\{"crc":(\d+),"changes":(.*)\}$/s.exec(line);
  const [, sum = "", text = ""] = match ?? [];
  const checksum = crc32(text, before);
  if (match === null || checksum !== Number(sum)) return null;
  const changes = parse(text);
  return Array.isArray(changes) && changes.every(isChange) ? { changes, checksum } : null;
}

/** undefined: it is no JSON. A checksum that fits says nothing of who wrote it. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isChange(change: unknown): change is StoreChange {
  if (!Array.isArray(change) || change.length !== CHANGE_PARTS) return false;
  const [table, id, row] = change as readonly unknown[];
  if (typeof table !== "string" || !Object.hasOwn(TABLE_NAMES, table)) return false;
  if (typeof id !== "number" && typeof id !== "string") return false;
  return row === null || (typeof row === "object" && (row as { readonly id?: unknown }).id === id);
}
