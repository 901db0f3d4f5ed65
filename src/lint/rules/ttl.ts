/** A rule about TTLs: one for each name and type. */

import { groupBy } from "../../model/group.ts";
import type { ZoneRule } from "../rule.ts";
import { related } from "../rule.ts";
import { shownName } from "../world.ts";
import { effectiveTtlSeconds, type LintRecord } from "../zone.ts";

export const mixedTtl: ZoneRule = {
  code: "mixed-ttl",
  severity: "warning",
  finds: "records of one name and type with different TTLs",
  why: "They are one set and are kept together, so their TTLs must be the same; nameservers take one of them, and which is not said (RFC 2181, 5.2).",
  fix: "Give all of them the same `ttl_sec`.",
  *check({ zone, records }) {
    const ttlOf = ({ ttl_sec }: LintRecord): number => effectiveTtlSeconds(ttl_sec, zone.ttl_sec);
    for (const set of groupBy(records, ({ name, type }) => `${type} ${name}`).values()) {
      const [first] = set as [LintRecord, ...LintRecord[]];
      const other = set.find((record) => ttlOf(record) !== ttlOf(first));
      if (other === undefined) continue;
      const detail = `Of the ${first.type} records at ${shownName(first.name)}, one has a TTL of ${ttlOf(first)} seconds and another one of ${ttlOf(other)}.`;
      const others = set.filter((record) => record !== other && record !== first);
      yield {
        summary: `${first.type} records with different TTLs`,
        detail,
        records: [other, first, ...others],
        related: [related("the first of them", first)],
      };
    }
  },
};
