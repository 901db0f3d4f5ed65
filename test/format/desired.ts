/** Desired states in comparable form. */

import type { Desired } from "../../src/model/desired.ts";

/** Everything but places in the source and the order of records. */
export function withoutOrder(desired: Desired | null | undefined): unknown {
  if (desired == null) throw new Error("There is no desired state");
  const kept = (_: string, value: unknown): unknown => (value === undefined ? "(left alone)" : value);
  const plain = JSON.parse(JSON.stringify(desired, kept), (key, value) => {
    if (key === "span") return undefined;
    if (key !== "records" || !Array.isArray(value)) return value;
    return value.map((record) => JSON.stringify(record)).sort();
  }) as Desired;
  return { ...plain, declared: [...plain.declared].sort((a, b) => (a.address < b.address ? -1 : 1)) };
}
