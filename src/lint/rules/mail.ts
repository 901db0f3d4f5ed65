/** Rules about what mail needs beside MX: SPF and DMARC. */

import { absoluteName } from "../../dns/name.ts";
import type { ZoneRule } from "../rule.ts";
import { parentOf, shownName, type World, type ZoneView } from "../world.ts";
import type { LintRecord } from "../zone.ts";
import { isSpf } from "./spf-terms.ts";

/** Second labels under which registries sell names, such as co.uk, com.au, or.jp, are at most this long. */
const MAX_REGISTRY_LABEL_LENGTH = 3;

export const mxWithoutSpf: ZoneRule = {
  code: "mx-without-spf",
  severity: "warning",
  finds: "a name with MX records and without an SPF record",
  why: "Without SPF anyone can send mail in its name, and large receivers refuse mail from it (RFC 7208, 1; RFC 7505 for names without mail).",
  fix: 'Add a TXT record such as "v=spf1 mx -all", or a null MX (target `.`) if the name takes no mail.',
  *check(view, world) {
    for (const [name, exchanger] of mailNames(view)) {
      if (world.mayHave(absoluteName(name, view.zone.zone), ["TXT"], ({ target }) => isSpf(target))) continue;
      const detail = `${capital(shownName(name))} has MX records but no TXT record that begins with v=spf1.`;
      yield { summary: "MX without SPF", detail, records: [exchanger] };
    }
  },
};

export const mxWithoutDmarc: ZoneRule = {
  code: "mx-without-dmarc",
  severity: "warning",
  finds: "a name with MX records, of which neither the name nor one above it in the declared zones has a DMARC record",
  why: "DMARC tells receivers what to do with mail that only pretends to be from you, and large receivers ask for it (RFC 7489, 6.6.3).",
  fix: 'Add a TXT record at `_dmarc`, such as "v=DMARC1; p=none; rua=mailto:…" to begin with.',
  *check(view, world) {
    for (const [name, exchanger] of mailNames(view)) {
      if (mayHaveDmarc(absoluteName(name, view.zone.zone), world)) continue;
      const detail = `${capital(shownName(name))} has MX records, and there is no DMARC record for it.`;
      yield { summary: "MX without DMARC", detail, records: [exchanger] };
    }
  },
};

/** Asked for at the name and at the organisation's, which is one of those above (RFC 7489, 6.6.3). */
function mayHaveDmarc(name: string, world: World): boolean {
  let top = name;
  for (let at = name; at !== "" && world.zoneOf(at) !== null; at = parentOf(at)) {
    top = at;
    if (world.mayHave(`_dmarc.${at}`, ["TXT"], ({ target }) => /^v=DMARC1\b/i.test(target))) return true;
  }
  return !isOrganisation(top);
}

/** A name that someone may have registered; beneath another it may be covered by that one's record, which is not ours to see. */
function isOrganisation(name: string): boolean {
  const labels = name.split(".");
  return labels.length <= 2 || (labels.length === 3 && (labels[1] ?? "").length <= MAX_REGISTRY_LABEL_LENGTH);
}

/** Names that take mail, each with its first MX. */
function* mailNames(view: ZoneView): Iterable<readonly [string, LintRecord]> {
  for (const [name, records] of view.names()) {
    const exchanger = records.find(({ type, target }) => type === "MX" && target !== "");
    if (exchanger !== undefined && view.cutAbove(name) === null) yield [name, exchanger];
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
