/** A rule about aliases that lead to where anybody may settle. */

import type { ClaimableService } from "../claimable-services.ts";
import { CLAIMABLE_SERVICES } from "../claimable-services.ts";
import type { ZoneRule } from "../rule.ts";
import { shownName } from "../world.ts";

export const claimableTarget: ZoneRule = {
  code: "claimable-target",
  severity: "warning",
  finds:
    "a CNAME to a name of a service that gives names to whoever asks first, such as `app.herokuapp.com`; the list is in src/lint/claimable-services.ts, with its sources",
  why: "Whoever has that name answers under yours, with a certificate for it: if it is not yours yet, or not any more, that is anybody (OWASP WSTG-CONF-10).",
  fix: "See that the name is yours, and remove the record before you give it up; `lint: { off: [claimable-target] }` at the record says that you have.",
  *check(view) {
    for (const record of view.records) {
      if (record.type !== "CNAME") continue;
      const found = CLAIMABLE_SERVICES.find((service) => isOf(service, record.target));
      if (found === undefined) continue;
      const detail = `${shownName(record.name)} is an alias of \`${record.target}\`, a name of ${found.service} that anybody can have while it is free (${found.source}).`;
      yield { summary: "an alias of a name that anybody can claim", detail, records: [record] };
    }
  },
};

function isOf({ names }: ClaimableService, target: string): boolean {
  return names.some((name) => (typeof name === "string" ? target.endsWith(`.${name}`) : name.test(target)));
}
