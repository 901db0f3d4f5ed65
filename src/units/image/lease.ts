/** The lease of an upload: how long an image without its data is taken for one that somebody is sending. */

/**
 * Beyond the time after which an upload is given up. The uploader counts from the answer to its POST, and the service from
 * `created`: the margin covers an answer that took long, and data in flight.
 */
export const UPLOAD_MARGIN_MILLISECONDS = 300_000;

/**
 * When the upload has surely ended, done or given up, in milliseconds since the epoch; null if nobody can tell.
 * @param created as the service says it: UTC without a zone (OBSERVED: Pages, filters, limits)
 */
export function leaseEnd(created: string | undefined, timeoutSeconds: number): number | null {
  // Years of more digits would be read, and cannot be written again.
  const begun = /^\d{4}-/.test(created ?? "") ? Date.parse(`${created?.replace(/Z$/, "")}Z`) : Number.NaN;
  return Number.isNaN(begun) ? null : begun + timeoutSeconds * 1000 + UPLOAD_MARGIN_MILLISECONDS;
}

/** @param servedMilliseconds the service's own time; null: it told none, so that the upload may always be alive */
export function isOver(endMilliseconds: number | null, servedMilliseconds: number | null): boolean {
  return endMilliseconds !== null && servedMilliseconds !== null && servedMilliseconds >= endMilliseconds;
}
