/** When an upload that was begun is taken for abandoned. */

export const UPLOAD_IDLE_MILLISECONDS = 60_000;

/** @param updated as the service says it: UTC without a zone (OBSERVED: Pages, filters, limits) */
export function isIdle(updated: string, nowMilliseconds: number): boolean {
  return !(nowMilliseconds - Date.parse(`${updated.replace(/Z$/, "")}Z`) < UPLOAD_IDLE_MILLISECONDS);
}
