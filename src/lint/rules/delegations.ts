/** Rules about NS below the apex: what they need, and what they hide. */

import { isAtOrBelow, relativeName } from "../../dns/name.ts";
import { type LintRecord, type ProjectZones, related, shownName, type ZoneRule, type ZoneView } from "../rule.ts";

export const missingGlue: ZoneRule = {
  code: "missing-glue",
  severity: "warning",
  finds: "a delegation to a nameserver inside what is delegated, without its address",
  why: "To ask that nameserver for its address one would have to know it already: the parent must hold it, as glue (RFC 1034, 4.2.1).",
  fix: "Add A and AAAA records for the nameserver to this zone.",
  *check(view, world) {
    for (const record of delegationsOf(view)) {
      const host = relativeName(record.target, view.zone.zone);
      if (host === null || host === "") continue;
      const isInside = isAtOrBelow(host, record.name);
      if (!isInside || hasAddress(view, host) || view.mayHold(host, ["A", "AAAA"])) continue;
      // The service has both zones on the same nameservers, so the address may be in the other zone.
      if (world.zoneOf(record.target) !== view && world.mayHave(record.target, ["A", "AAAA"], isAddress)) continue;
      const detail = `${shownName(record.name)} is delegated to \`${record.target}\`, which lies within it and has no A or AAAA record here.`;
      yield { summary: "a delegation without glue", detail, records: [record] };
    }
  },
};

export const singleNs: ZoneRule = {
  code: "single-ns",
  severity: "warning",
  finds: "a delegation to one nameserver only (at the apex the service has its own beside yours)",
  why: "While it cannot be reached, everything below is gone: a zone has at least two (RFC 1034, 4.1; RFC 2182, 5).",
  fix: "Add an NS record for a second nameserver, in another network.",
  *check(view) {
    for (const [name, servers] of view.sets("NS")) {
      const [only] = servers;
      if (name === "" || only === undefined || servers.length > 1 || view.mayHold(name, ["NS"])) continue;
      const detail = `${shownName(name)} is delegated to \`${only.target}\` alone.`;
      yield { summary: "a delegation to a single nameserver", detail, records: [only] };
    }
  },
};

export const wildcardBesideNs: ZoneRule = {
  code: "wildcard-beside-ns",
  severity: "warning",
  finds: "a wildcard at or below a delegated name",
  why: "Every name below a delegation is asked of the nameservers it is delegated to, so the wildcard never answers (RFC 4592, 4.2).",
  fix: "Remove the wildcard, or the delegation.",
  *check(view, world) {
    for (const record of view.records) {
      if (!record.name.startsWith("*.")) continue;
      const hidden = hiddenBy(record, view, world);
      if (hidden === null) continue;
      const detail = `The wildcard \`${record.name}\` lies below ${hidden.by}.`;
      yield { summary: "a wildcard below a delegation", detail, records: [record], related: hidden.related };
    }
  },
};

export const occludedRecord: ZoneRule = {
  code: "occluded-record",
  severity: "warning",
  finds: "records at or below a delegated name, or in another declared zone, that are not the delegation or its glue",
  why: "Whoever asks is sent on to the other zone, so these records are never seen (RFC 2136, 7.18; RFC 1034, 4.2.1).",
  fix: "Declare them in the other zone, or remove the delegation.",
  *check(view, world) {
    const servers = new Set(view.ofType("NS").map(({ target }) => target));
    for (const record of view.records) {
      if (record.name === "" || record.name.startsWith("*.")) continue;
      if (isAddress(record) && servers.has(`${record.name}.${view.zone.zone}`)) continue;
      const hidden = hiddenBy(record, view, world);
      if (hidden === null || (record.type === "NS" && record.name === hidden.cut)) continue;
      const detail = `The ${record.type} record at ${shownName(record.name)} lies within ${hidden.by}.`;
      yield { summary: `${record.type} hidden by a delegation`, detail, records: [record], related: hidden.related };
    }
  },
};

interface Hidden {
  /** The name at which the zone ends, relative to it. */
  readonly cut: string;
  /** In words. */
  readonly by: string;
  readonly related: ReturnType<typeof related>[];
}

function hiddenBy(record: LintRecord, view: ZoneView, world: ProjectZones): Hidden | null {
  const cut = view.cutAbove(record.name);
  if (cut !== null) {
    const [first] = view.sets("NS").get(cut) ?? [];
    const place = first === undefined || first === record ? [] : [related("the delegation", first)];
    return { cut, by: `${shownName(cut)}, which is delegated`, related: place };
  }
  const other = world.zoneBetween(view, record.name)?.zone;
  const at = other === undefined ? null : relativeName(other.zone, view.zone.zone);
  if (other === undefined || at === null) return null;
  const place = { message: "the other zone", span: other.span };
  return { cut: at, by: `\`${other.zone}\`, which is a zone of its own`, related: [place] };
}

/** The NS records at the highest cuts: those below another cut are not this zone's delegations. */
function* delegationsOf(view: ZoneView): Iterable<LintRecord> {
  for (const record of view.ofType("NS"))
    if (record.name !== "" && view.cutAbove(record.name) === record.name) yield record;
}

function hasAddress(view: ZoneView, name: string): boolean {
  return view.at(name).some(isAddress);
}

function isAddress({ type }: LintRecord): boolean {
  return type === "A" || type === "AAAA";
}
