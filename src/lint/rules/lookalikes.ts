/** A rule about names that readers take for other names. */

import { type Disguise, disguiseOf } from "../../dns/unicode.ts";
import { groupBy } from "../../model/group.ts";
import type { Finding, ZoneRule } from "../rule.ts";
import { related } from "../rule.ts";
import { shownName, type ZoneView } from "../world.ts";
import type { LintRecord } from "../zone.ts";

/** Types whose target is a name. */
const POINTERS: readonly LintRecord["type"][] = ["CNAME", "MX", "NS", "PTR", "SRV"];

/** What letters are taken for in most typefaces. */
const TAKEN_FOR: readonly (readonly [RegExp, string])[] = [
  [/0/g, "o"],
  [/1/g, "l"],
  [/rn/g, "m"],
  [/vv/g, "w"],
];

export const lookalikeName: ZoneRule = {
  code: "lookalike-name",
  severity: "warning",
  finds:
    "a name or target that is shown like another one: letters of other scripts (`xn--pypal-4ve` is shown as if it were `paypal`), scripts mixed within a label, or `1ogin` beside `login`",
  why: "Whoever reads the name, in a review or in an address bar, takes it for the other one (UTS 39, 4).",
  fix: "Write the name that is meant; where it is this one, switch the rule off for the record.",
  *check(view) {
    const own = disguiseOf(view.zone.zone);
    if (own !== null) yield { ...disguised("The domain", view.zone.zone, own), records: [] };
    for (const [name, records] of view.names()) {
      const disguise = disguiseOf(name);
      if (disguise !== null) yield { ...disguised("The name", name, disguise), records };
    }
    for (const record of view.records) {
      // Within the zone it is its name that is told.
      if (!POINTERS.includes(record.type) || record.target.endsWith(`.${view.zone.zone}`)) continue;
      const disguise = disguiseOf(record.target);
      if (disguise === null || record.target === view.zone.zone) continue;
      yield {
        ...disguised(`The target of the ${record.type} record at ${shownName(record.name)},`, record.target, disguise),
        records: [record],
      };
    }
    yield* alikeNames(view);
  },
};

function disguised(what: string, name: string, { shown, as }: Disguise): Omit<Finding, "records"> {
  const looks = as === null ? "mixes letters of several scripts" : `looks like \`${as}\``;
  const comma = what.endsWith(",") ? "," : "";
  return {
    summary: "a name that is taken for another",
    detail: `${what} \`${name}\`${comma} is shown as \`${shown}\` and ${looks}.`,
  };
}

/** ASCII beside ASCII: such a name is suspicious only where the other one is there, too. */
function* alikeNames(view: ZoneView): Iterable<Finding> {
  const plain = [...view.names()].filter(([name]) => name !== "" && !name.includes("xn--"));
  for (const [skeleton, alike] of groupBy(plain, ([name]) => skeletonOf(name))) {
    const [first] = alike;
    if (first === undefined || alike.length === 1) continue;
    const [meant, meantRecords] = alike.find(([name]) => name === skeleton) ?? first;
    for (const [name, [record]] of alike) {
      const [other] = meantRecords;
      if (name === meant || record === undefined || other === undefined) continue;
      yield {
        summary: "a name that is taken for another",
        detail: `${shownName(name)} looks like ${shownName(meant)}, which is in the zone, too.`,
        records: [record, other],
        related: [related("the other name", other)],
      };
    }
  }
}

function skeletonOf(name: string): string {
  return TAKEN_FOR.reduce((text, [pattern, letter]) => text.replace(pattern, letter), name);
}
