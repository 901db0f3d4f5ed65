/** Reading the files of another tool: regular files, of bearable size, in UTF-8. */

import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { ledAway } from "../model/containment.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Sources } from "../model/source.ts";

/** A zone of 12,000 records takes about 1 MiB. */
const MAX_FILE_BYTES: number = 64 * 1024 * 1024;

export type SourceText =
  | { readonly ok: true; readonly text: string }
  /** `detail` is one clause without a full stop. */
  | {
      readonly ok: false;
      readonly detail: string;
      /** Of the first byte that cannot be read; null: the file itself cannot be, or all of it is something else. */
      readonly offset: number | null;
      /** Whether there is a file at all. */
      readonly isRead: boolean;
      readonly isFolder: boolean;
    };

/** So much of a file tells what it is. */
const MAX_LOOKED_AT_BYTES = 4096;

/** @param file its name in messages, under which it is added to `sources` */
export async function readSource(path: string, file: string, sources: Sources): Promise<SourceText> {
  // What is wrong with a file is shown with its lines.
  if ((await ledAway(path, "/")) === "private") return noFile(HIDDEN);
  const bytes = await readBytes(path);
  if (typeof bytes === "string") return noFile(bytes);
  const what = otherThanText(bytes);
  if (what !== null) return { ok: false, detail: what, offset: null, isRead: true, isFolder: false };
  const text = new TextDecoder("utf-8").decode(bytes);
  sources.add(file, text);
  const offset = firstForeignOctet(bytes, text);
  if (offset === null) return { ok: true, text };
  return { ok: false, detail: "it is not UTF-8", offset, isRead: true, isFolder: false };
}

const HIDDEN = "it is a link into a folder of git or of Tenon";

export function noFile(detail: string): Extract<SourceText, { ok: false }> {
  return { ok: false, detail, offset: null, isRead: false, isFolder: detail === FOLDER };
}

const FOLDER = "it is a folder";

/** What a file is that is no text in UTF-8 throughout; null if its beginning may be such a text. */
function otherThanText(bytes: Buffer): string | null {
  const start = bytes.subarray(0, MAX_LOOKED_AT_BYTES);
  const mark = start.subarray(0, 2).toString("latin1");
  if (mark === "\xff\xfe" || mark === "\xfe\xff") return UTF_16;
  if (!start.includes(0)) return null;
  // Without a mark: of ASCII, every other byte is zero.
  const zeros = [0, 1].map((parity) => start.filter((byte, index) => byte === 0 && index % 2 === parity).length);
  const [even = 0, odd = 0] = zeros;
  return Math.max(even, odd) > start.length / 4 && Math.min(even, odd) === 0 ? UTF_16 : BINARY;
}

const UTF_16 = "it is UTF-16, not UTF-8";
const BINARY = "it is binary, not a text";

/** The bytes, or why there are none. */
async function readBytes(path: string): Promise<Buffer | string> {
  try {
    // O_NONBLOCK: opening a named pipe must not wait for a writer.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const status = await handle.stat();
      if (status.isDirectory()) return FOLDER;
      if (!status.isFile()) return "it is not a regular file";
      if (status.size > MAX_FILE_BYTES) return `it is larger than ${MAX_FILE_BYTES / 1024 ** 2} MiB`;
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? "there is no such file" : "it cannot be read";
  }
}

/** Offset in the text of the first byte that is no part of UTF-8; null if all are. */
function firstForeignOctet(bytes: Buffer, text: string): number | null {
  if (!text.includes("\ufffd")) return null;
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const again = Buffer.from(text);
  const end = Math.min(again.length, bytes.length - bom);
  let index = 0;
  while (index < end && again[index] === bytes[index + bom]) index += 1;
  return index === again.length && again.length === bytes.length - bom
    ? null
    : Math.max(
        0,
        again
          .subarray(0, index)
          .toString("utf8")
          .replace(/(?<!\ufffd)\ufffd+$/, "").length,
      );
}

/** @param advice what to do about a file that cannot be read */
export function unreadable(
  file: string,
  { detail, offset, isRead }: Extract<SourceText, { ok: false }>,
  advice = "Check the path.",
): Diagnostic {
  return {
    code: isRead ? "not-utf8" : "unreadable-file",
    severity: "error",
    summary: `cannot use ${file}: ${detail}`,
    detail: "",
    fix: isRead && detail !== BINARY ? "Save the file as UTF-8." : advice,
    ...(offset === null ? {} : { span: { file, start: offset, end: offset + 1 } }),
  };
}
