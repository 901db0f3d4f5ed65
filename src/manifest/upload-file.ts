/** Files that entries name, such as images to upload: inside the project, there, and of the right kind. */

import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { Diagnostic } from "../model/diagnostic.ts";
import { MAX_UPLOAD_BYTES } from "./limits.ts";
import { fileProblem, resolveInside } from "./read.ts";

/** RFC 1952, 2.3.1. */
const GZIP_MAGIC = [0x1f, 0x8b] as const;

/** @returns null if the file can be uploaded; the diagnostic has no span yet */
export async function checkUploadFile(root: string, file: string): Promise<Diagnostic | null> {
  const resolved = await resolveInside(root, file);
  if (!resolved.ok) return { ...fileProblem(file, resolved.problem), fix: "Name a file inside the project folder." };
  try {
    const handle = await open(resolved.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const status = await handle.stat();
      if (!status.isFile()) return { ...fileProblem(file, "not-a-file"), fix: "Name a regular file." };
      if (status.size > MAX_UPLOAD_BYTES) return tooLarge(file, status.size);
      const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
      return GZIP_MAGIC.every((byte, index) => buffer[index] === byte) ? null : notGzip(file);
    } finally {
      await handle.close();
    }
  } catch {
    return { ...fileProblem(file, "unreadable"), fix: "Check the file." };
  }
}

function tooLarge(file: string, bytes: number): Diagnostic {
  const detail = `It has ${(bytes / 1024 ** 3).toFixed(2)} GiB; the service takes 5 GB, compressed.`;
  return {
    code: "file-too-large",
    severity: "error",
    summary: `${file} is too large`,
    detail,
    fix: "Make the image smaller.",
  };
}

function notGzip(file: string): Diagnostic {
  const detail = "An upload is a gzip-compressed raw disk image; the file does not begin as gzip does.";
  return {
    code: "not-gzip",
    severity: "error",
    summary: `${file} is not gzip`,
    detail,
    fix: `Compress it: gzip --keep ${file}.`,
  };
}
