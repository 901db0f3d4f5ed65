/** Bodies that are forms (multipart/form-data): which routes take them, and the files that are in one. */

import type { MultipartFile } from "@fastify/multipart";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Answer, badRequest, fieldError, refuse } from "./errors.ts";

/** The most octets of one file. */
const MAX_FILE_BYTES = 5 * 1024 ** 2;

const MAX_FILES = 1;

/** Files and other fields together. */
const MAX_PARTS = 20;

/** A file's data is counted and not kept. */
export interface ReceivedFile {
  /** The form's field it came in. */
  readonly field: string;
  /** As the client gave it; empty if it gave none. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
}

export type FormReading =
  | { readonly answer: null; readonly files: readonly ReceivedFile[] }
  /** Why the form is refused. */
  | { readonly answer: Answer };

/** Makes the routes of this scope take forms, and only forms. */
export async function takeForms(scope: FastifyInstance): Promise<void> {
  const { default: multipart } = await import("@fastify/multipart");
  scope.removeAllContentTypeParsers();
  // All further parts are left unread, and refused by `readForm`.
  scope.addContentTypeParser("*", async () => undefined);
  await scope.register(multipart, { throwFileSizeLimit: false });
}

/** Reads the form to its end. Fields that are no files are ignored, as unknown keys of a JSON body are. */
export async function readForm(request: FastifyRequest): Promise<FormReading> {
  if (!request.isMultipart()) return { answer: badRequest({ reason: "Content-Type must be multipart/form-data" }) };
  const files: ReceivedFile[] = [];
  let tooLarge = false;
  try {
    for await (const part of request.parts({
      limits: { fileSize: MAX_FILE_BYTES, files: MAX_FILES, parts: MAX_PARTS },
    })) {
      if (part.type !== "file") continue;
      files.push(await receive(part));
      tooLarge ||= part.file.truncated;
    }
  } catch (error) {
    return { answer: isTooManyFiles(error) ? TOO_MANY_FILES : INVALID_FORM };
  }
  return tooLarge ? { answer: FILE_TOO_LARGE } : { answer: null, files };
}

const INVALID_FORM = badRequest({ reason: "Invalid multipart/form-data" });
const TOO_MANY_FILES = badRequest(fieldError("file", "Only one file can be sent at a time"));
const FILE_TOO_LARGE = refuse(413, [fieldError("file", `A file must be at most ${MAX_FILE_BYTES / 1024 ** 2} MB`)]);

async function receive(part: MultipartFile): Promise<ReceivedFile> {
  let size = 0;
  for await (const chunk of part.file) size += (chunk as Buffer).length;
  return { field: part.fieldname, name: part.filename ?? "", size };
}

function isTooManyFiles(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === "FST_FILES_LIMIT";
}
