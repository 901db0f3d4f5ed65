/** Comparing an object that was received with a list of its keys and what each holds. */

export type Kind =
  | "integer"
  | "integer or null"
  | "text"
  | "text or null"
  /** `YYYY-MM-DDTHH:MM:SS`, UTC without a zone. */
  | "time"
  | "time or null"
  | "boolean"
  | "list"
  | "object"
  | "object or null";

/** What does not fit, as sentences: keys that are missing, of another type, or not in the list. */
export function misfits(received: object, keys: Readonly<Record<string, Kind>>): string[] {
  const entries = new Map<string, unknown>(Object.entries(received));
  const wrong = Object.entries(keys)
    .filter(([key, kind]) => !entries.has(key) || !fits(entries.get(key), kind))
    .map(([key, kind]) => `${key} should be ${kind}: ${JSON.stringify(entries.get(key))}`);
  const unknown = [...entries.keys()].filter((key) => !Object.hasOwn(keys, key)).map((key) => `${key} is not expected`);
  return [...wrong, ...unknown];
}

function fits(value: unknown, kind: Kind): boolean {
  switch (kind) {
    case "integer":
      return Number.isInteger(value);
    case "integer or null":
      return value === null || Number.isInteger(value);
    case "text":
      return typeof value === "string";
    case "text or null":
      return value === null || typeof value === "string";
    case "time":
      return isTime(value);
    case "time or null":
      return value === null || isTime(value);
    case "boolean":
      return typeof value === "boolean";
    case "list":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "object or null":
      return value === null || isObject(value);
  }
}

function isTime(value: unknown): boolean {
  return typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(value);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
