/** The target that image data is sent to: outside the API, reached by its signed URL alone. */

import { timingSafeEqual } from "node:crypto";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { Answer } from "./errors.ts";
import { badRequest, NOT_FOUND, refuse, succeedEmpty, UNAUTHORIZED } from "./errors.ts";
import type { Service } from "./route.ts";
import type { ImageRow } from "./rows.ts";

/** API.md, Limits: of the compressed file. */
const MAX_UPLOAD_BYTES = 5 * 1024 ** 3;
const BYTES_PER_MEGABYTE = 1024 ** 2;

type Images = Pick<Service, "store" | "imageStates" | "clock">;

export interface UploadRequest {
  readonly imageId: string;
  readonly signature: string;
  readonly contentType: string | undefined;
  readonly contentLength: string | undefined;
  readonly authorization: string | undefined;
}

/** What can be said before any data is read; null: go on. */
export function refuseUpload({ store, imageStates }: Images, request: UploadRequest): Answer | null {
  imageStates.expire();
  const image = store.tables.images.get(request.imageId);
  if (image === undefined || image.upload === null) return NOT_FOUND;
  if (!sameText(image.upload.signature, request.signature)) return UNAUTHORIZED;
  // Whoever sends the token here would give it away to another host.
  if (request.authorization !== undefined) return badRequest({ reason: "A signed URL takes no Authorization header" });
  if (request.contentType !== "application/octet-stream") {
    return badRequest({ reason: "Content-Type must be application/octet-stream" });
  }
  if (image.status !== "pending_upload") return badRequest({ reason: "The image has its data already" });
  return Number(request.contentLength ?? 0) > MAX_UPLOAD_BYTES ? TOO_LARGE : null;
}

const TOO_LARGE = refuse(413, [{ reason: "The compressed image must be at most 5 GB" }]);

export type UploadedData =
  | { readonly refusal: Answer; readonly expandedBytes: null }
  | { readonly refusal: null; readonly expandedBytes: number };

/** Reads the data to its end; only a whole gzip file will do. */
export async function readUpload(data: Readable): Promise<UploadedData> {
  let compressed = 0;
  let expanded = 0;
  try {
    await pipeline(
      data,
      async function* limited(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          compressed += chunk.length;
          if (compressed > MAX_UPLOAD_BYTES) throw new Error("too large");
          yield chunk;
        }
      },
      createGunzip(),
      async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) expanded += chunk.length;
      },
    );
  } catch {
    const refusal = compressed > MAX_UPLOAD_BYTES ? TOO_LARGE : badRequest({ reason: "The data must be a gzip file" });
    return { refusal, expandedBytes: null };
  }
  return { refusal: null, expandedBytes: expanded };
}

/** Makes the upload complete. */
export function keepUpload({ store, imageStates, clock }: Images, imageId: string, data: UploadedData): Answer {
  if (data.refusal !== null) return data.refusal;
  // It may have been deleted meanwhile, or have taken longer than it may (API.md, Images, rule 2).
  imageStates.expire();
  const image = store.tables.images.get(imageId);
  if (image === undefined || image.upload === null) return NOT_FOUND;
  const received: ImageRow = {
    ...image,
    final_size: Math.max(1, Math.ceil(data.expandedBytes / BYTES_PER_MEGABYTE)),
    upload: { ...image.upload, received_at: clock.timestamp() },
  };
  store.tables.images.put(received);
  return succeedEmpty();
}

function sameText(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
