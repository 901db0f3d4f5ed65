/** What a record claims for itself at its name: CNAME stands alone, a null MX is the only MX (RFC 1034 3.6.2, RFC 7505). */

import type { Claim } from "../../../model/unit.ts";
import type { RecordValues } from "../values.ts";

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

/** Claims that are there to stay, to be asked which of them a new claim would clash with. */
export class ClaimTable<Holder> {
  readonly #holders = new Map<string, { claim: Claim; holder: Holder }[]>();

  add(claims: readonly Claim[], holder: Holder): void {
    for (const claim of claims) {
      const held = this.#holders.get(claim.slot);
      if (held) held.push({ claim, holder });
      else this.#holders.set(claim.slot, [{ claim, holder }]);
    }
  }

  conflicts(claims: readonly Claim[]): Holder[] {
    const found = new Set<Holder>();
    for (const claim of claims) {
      for (const held of this.#holders.get(claim.slot) ?? []) {
        if (claim.exclusive || held.claim.exclusive) found.add(held.holder);
      }
    }
    return [...found];
  }
}
