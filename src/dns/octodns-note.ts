/** The note in a zone file of octoDNS by which records that follow their domain's TTL come back as such: export writes it, import reads it. */

const BEFORE = "# tenon: what has the ttl ";
const AFTER = " has none of its own, and follows its domain";

/** A line of YAML, without its end. @param ttl seconds */
export function inheritingTtlNote(ttl: number): string {
  return `${BEFORE}${ttl}${AFTER}`;
}

/** @returns seconds; null: the file does not begin with such a note */
export function readInheritingTtl(text: string): number | null {
  const [first = "", second = ""] = text.split(/\r?\n/, 2);
  const line = (first.trim() === "---" ? second : first).trimEnd();
  const digits = line.startsWith(BEFORE) && line.endsWith(AFTER) ? line.slice(BEFORE.length, -AFTER.length) : "";
  return /^\d{1,10}$/.test(digits) ? Number(digits) : null;
}
