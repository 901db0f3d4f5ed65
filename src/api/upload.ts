/** Uploads: a file to the signed URL that the service gave (API.md, Images, rule 2). */

import { stat } from "node:fs/promises";
import type { UploadRequest } from "../model/exchange.ts";
import { isSecure } from "./base-url.ts";
import type { Delivery } from "./courier.ts";
import { forbiddenAddress } from "./errors.ts";
import type { Reach } from "./reach.ts";
import { judgeUpload } from "./verdict.ts";

/** API.md, Limits: at most 5 GB compressed. */
export const MAX_UPLOAD_BYTES: number = 5 * 1024 ** 3;

/**
 * What is to be sent: without the token, and shown without its path, which is part of the secret.
 * @param reach a service elsewhere must not have this machine's own ports written to, nor those of its networks
 * @returns what is wrong with the file or the URL, as a sentence without a full stop
 */
export async function uploadDelivery(request: UploadRequest, reach: Reach): Promise<Delivery | string> {
  const url = URL.canParse(request.url) ? new URL(request.url) : null;
  if (url === null || !isSecure(url)) return "the service gave an address for the upload that is not https";
  const [network, size] = await Promise.all([reach(url.hostname), sizeOf(request.file)]);
  if (network !== null) return forbiddenAddress(network);
  if (typeof size === "string") return size;
  return {
    call: {
      method: "PUT",
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      headers: { "content-type": "application/octet-stream", "content-length": String(size) },
      content: { type: "file", file: request.file },
    },
    shownPath: "(upload)",
    endpoint: null,
    judge: judgeUpload,
  };
}

async function sizeOf(file: string): Promise<number | string> {
  try {
    const found = await stat(file);
    if (!found.isFile()) return `${file} is not a file`;
    if (found.size > MAX_UPLOAD_BYTES) return `${file} is larger than the service takes (5 GB)`;
    return found.size;
  } catch (error) {
    return `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`;
  }
}
