/** Rules about CAA: which authorities may issue certificates (RFC 8659). */

import { type LintRecord, related, shownName, type ZoneRule, type ZoneView } from "../rule.ts";

/** RFC 8659, 4.4. */
const REPORT_SCHEMES = /^(?:mailto|https?):/i;
/** RFC 8659, 4.2: a domain or nothing, and behind each semicolon a parameter or nothing. */
const ISSUER = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*)?$/i;
const PARAMETER = /^(?:[a-z0-9][a-z0-9-]*\s*=\s*[\x21-\x3a\x3c-\x7e]*)?$/i;

export const caaContradiction: ZoneRule = {
  code: "caa-contradiction",
  severity: "warning",
  finds: "a CAA that allows no authority (`;`) beside one that allows some, of the same tag",
  why: "What the records of a name allow is added up, so the one that allows none has no effect (RFC 8659, 4.2).",
  fix: "Remove the `;`, or the others.",
  *check(view) {
    for (const [name, tag, records] of grants(view)) {
      const none = records.find((record) => issuerOf(record) === "");
      const some = records.find((record) => issuerOf(record) !== "");
      if (none === undefined || some === undefined) continue;
      const detail = `At ${shownName(name)}, one \`${tag}\` allows no authority and another one allows ${issuerOf(some)}.`;
      yield {
        summary: "CAA records that contradict each other",
        detail,
        records: [none, some],
        related: [related("allowed here", some)],
      };
    }
  },
};

export const caaDuplicate: ZoneRule = {
  code: "caa-duplicate",
  severity: "warning",
  finds: "two CAA records of a name that say the same in other letters",
  why: "Domains of authorities compare without regard to case and spaces, so one of them is superfluous (RFC 8659, 4.2).",
  fix: "Keep one of them.",
  *check(view) {
    for (const [name, tag, records] of grants(view)) {
      const seen = new Map<string, LintRecord>();
      for (const record of records) {
        const [domain = "", ...parameters] = record.target.split(";");
        const key = [domain.trim().toLowerCase(), ...parameters.map((text) => text.trim())].join(";");
        const first = seen.get(key);
        if (first === undefined) {
          seen.set(key, record);
          continue;
        }
        const detail = `At ${shownName(name)}, two \`${tag}\` records allow the same.`;
        yield {
          summary: "a CAA that is there twice",
          detail,
          records: [record, first],
          related: [related("the first", first)],
        };
      }
    }
  },
};

export const caaSyntax: ZoneRule = {
  code: "caa-syntax",
  severity: "error",
  finds: "a CAA whose value is no domain of an authority, or an `iodef` that is no mailto:, http: or https: URL",
  why: "An authority that cannot read `issue` or `issuewild` must not issue at all; reports to an unknown kind of URL go nowhere (RFC 8659, 4.2 to 4.4).",
  fix: 'Write "letsencrypt.org", ";" for none, or "mailto:security@example.com" for iodef.',
  *check(view) {
    for (const record of view.ofType("CAA")) {
      const isFine = record.tag === "iodef" ? REPORT_SCHEMES.test(record.target) : isGrant(record.target);
      if (isFine) continue;
      const detail = `The value of the CAA record at ${shownName(record.name)} means nothing under the tag \`${record.tag}\`.`;
      yield { summary: "a CAA that cannot be read", detail, records: [record] };
    }
  },
};

export const caaWildcardOnly: ZoneRule = {
  code: "caa-wildcard-only",
  severity: "warning",
  finds: "a name with `issuewild` and without `issue`",
  why: "`issuewild` is about wildcard certificates alone: without `issue`, every authority may issue all others (RFC 8659, 4.3).",
  fix: "Add an `issue` record; `issuewild` is needed only where it differs.",
  *check(view) {
    for (const [name, records] of view.sets("CAA")) {
      const wild = records.find(({ tag }) => tag === "issuewild");
      if (wild === undefined || records.some(({ tag }) => tag === "issue") || view.mayHold(name, ["CAA"])) continue;
      const detail = `${shownName(name) === "the apex" ? "The apex" : shownName(name)} restricts wildcard certificates only.`;
      yield { summary: "CAA for wildcards only", detail, records: [wild] };
    }
  },
};

function* grants(view: ZoneView): Iterable<readonly [string, string, readonly LintRecord[]]> {
  for (const [name, records] of view.sets("CAA")) {
    for (const tag of ["issue", "issuewild"]) {
      const same = records.filter((record) => record.tag === tag);
      if (same.length > 1) yield [name, tag, same];
    }
  }
}

function issuerOf({ target }: LintRecord): string {
  return target.split(";", 1)[0]?.trim() ?? "";
}

function isGrant(target: string): boolean {
  const [domain = "", ...parameters] = target.split(";").map((part) => part.trim());
  if (domain === "" && parameters.length === 0) return false;
  return ISSUER.test(domain) && parameters.every((parameter) => PARAMETER.test(parameter));
}
