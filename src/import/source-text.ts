/** Reading the files of another tool: regular files, of bearable size, in UTF-8. */

import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Sources } from "../model/source.ts";

/** A zone of 12,000 records takes about 1 MiB. */
const MAX_FILE_BYTES: number = 64 * 1024 * 1024;

export type SourceText =
  | { readonly ok: true; readonly text: string }
  /** `detail` is one clause without a full stop. */
  | { readonly ok: false; readonly detail: string; readonly offset: number | null };

/** @param file its name in messages, under which it is added to `sources` */
export async function readSource(path: string, file: string, sources: Sources): Promise<SourceText> {
  const bytes = await readBytes(path);
  if (typeof bytes === "string") return { ok: false, detail: bytes, offset: null };
  const text = new TextDecoder("utf-8").decode(bytes);
  sources.add(file, text);
  const offset = firstForeignOctet(bytes, text);
  if (offset === null) return { ok: true, text };
  return { ok: false, detail: "it is not UTF-8", offset };
}

/** The bytes, or why there are none. */
async function readBytes(path: string): Promise<Buffer | string> {
  try {
    // O_NONBLOCK: opening a named pipe must not wait for a writer.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const status = await handle.stat();
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
          .replace(/\ufffd+$/, "").length,
      );
}

export function unreadable(file: string, read: Extract<SourceText, { ok: false }>): Diagnostic {
  const { detail, offset } = read;
  return {
    code: offset === null ? "unreadable-file" : "not-utf8",
    severity: "error",
    summary: `cannot use ${file}: ${detail}`,
    detail: "",
    fix: offset === null ? "Check the path." : "Save the file as UTF-8.",
    ...(offset === null ? {} : { span: { file, start: offset, end: offset + 1 } }),
  };
}
