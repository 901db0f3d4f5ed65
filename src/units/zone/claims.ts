/** What a record claims for itself at its name: CNAME stands alone, a null MX is the only MX (RFC 1034 3.6.2, RFC 7505). */

import type { Claim } from "../../model/unit.ts";
import type { RecordValues } from "./wire-record.ts";

export function claimsOf(values: RecordValues, zone: string): Claim[] {
  // The service judges each zone by itself: a name in a zone and the same name in its parent do not clash.
  const place = `${zone} ${values.name}`;
  const claims: Claim[] = [{ slot: `name ${place}`, exclusive: values.type === "CNAME" }];
  if (values.type === "MX") claims.push({ slot: `mx ${place}`, exclusive: values.target === "" });
  return claims;
}

/** The claims of `some` that `others` do not already make: what a change takes, or frees. */
export function claimsBeyond(some: readonly Claim[], others: readonly Claim[]): Claim[] {
  return some.filter(
    (claim) => !others.some((other) => other.slot === claim.slot && other.exclusive === claim.exclusive),
  );
}

/** The holders of a slot: those that share it, and those that exclude all others. */
interface Held<Holder> {
  readonly shared: Holder[];
  readonly exclusive: Holder[];
}

/** Claims and who holds them, to ask which of them a new claim would clash with. */
export class ClaimTable<Holder> {
  readonly #held = new Map<string, Held<Holder>>();

  add(claims: readonly Claim[], holder: Holder): void {
    for (const { slot, exclusive } of claims) {
      const held = this.#held.get(slot) ?? { shared: [], exclusive: [] };
      this.#held.set(slot, held);
      (exclusive ? held.exclusive : held.shared).push(holder);
    }
  }

  /** Takes time only for the clashes that it finds: thousands of records may share a name without any. */
  conflicts(claims: readonly Claim[]): Holder[] {
    const found = new Set<Holder>();
    for (const claim of claims) {
      const held = this.#held.get(claim.slot);
      if (held === undefined) continue;
      for (const holder of held.exclusive) found.add(holder);
      if (claim.exclusive) for (const holder of held.shared) found.add(holder);
    }
    return [...found];
  }

  /** Whether there is one: of thousands none is listed. */
  hasConflict(claims: readonly Claim[]): boolean {
    return claims.some(({ slot, exclusive }) => {
      const held = this.#held.get(slot);
      return held !== undefined && (held.exclusive.length > 0 || (exclusive && held.shared.length > 0));
    });
  }
}
