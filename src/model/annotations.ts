/** What an entry of a manifest says for people: whose it is, why it is there, and until when. Nothing of it is sent to the service. */

/** Under the names that manifests, plan files and lists have for it. What an entry does not say is absent. */
export interface Annotations {
  /** A person or a team; no owner's tag. */
  readonly owner?: string;
  readonly reason?: string;
  /** YYYY-MM-DD, the last day on which it needs no review. */
  readonly review_by?: string;
  /** YYYY-MM-DD, the last day on which it holds. */
  readonly expires?: string;
}

/** In the order in which they are shown. */
export const ANNOTATION_KEYS = ["owner", "reason", "review_by", "expires"] as const;

/** `owner: dns-team; expires: 2027-03-31`; empty if nothing is said. */
export function annotationText(annotations: Annotations | undefined): string {
  if (annotations === undefined) return "";
  return ANNOTATION_KEYS.flatMap((key) => (annotations[key] === undefined ? [] : [`${key}: ${annotations[key]}`])).join(
    "; ",
  );
}

// Dates without a time. They are UTC's, and texts of this form sort as the days do.

/** Whether the text is a day of the calendar, YYYY-MM-DD. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** The day of a moment, in milliseconds since the epoch. */
export function dateOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

/** The day itself is not past. */
export function isPast(date: string | undefined, today: string | undefined): boolean {
  return date !== undefined && today !== undefined && isDate(date) && date < today;
}
