/** What the world holds of ownership and of consent to delete. */

/** What becomes of an object that the manifest does not declare. */
export type Fate = "left" | "removed" | "released";
/** Whose tag a live object carries. */
export type Tag = "none" | "ours" | "foreign";

export const OWNER = "me";

/** A tag that does not make the plan refuse: on what is declared or removed, only ours, and only if there is an owner. */
export function tagOf(wanted: Tag, touched: boolean, owner: string | null): string | null {
  if (wanted === "foreign") return touched ? null : "other";
  return wanted === "ours" && owner !== null ? owner : null;
}
