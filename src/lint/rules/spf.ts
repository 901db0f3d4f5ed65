/** Rules about one SPF record: that there is one, that it is understood, and that it says something. */

import type { ZoneRule } from "../rule.ts";
import { related } from "../rule.ts";
import { shownName, type ZoneView } from "../world.ts";
import type { LintRecord } from "../zone.ts";
import { isSpf, readSpf } from "./spf-terms.ts";

export const multipleSpf: ZoneRule = {
  code: "multiple-spf",
  severity: "error",
  finds: "more than one SPF record at a name",
  why: "Receivers take neither: it is a permanent error (RFC 7208, 4.5).",
  fix: "Join them into one record.",
  *check(view) {
    for (const [name] of view.names()) {
      const [first, ...others] = view.ofType(name, "TXT").filter(({ target }) => isSpf(target));
      const [second] = others;
      if (first === undefined || second === undefined) continue;
      const detail = `${others.length + 1} TXT records at ${shownName(name)} begin with v=spf1.`;
      yield {
        summary: "several SPF records at one name",
        detail,
        records: [second, first, ...others.slice(1)],
        related: [related("the first of them", first)],
      };
    }
  },
};

export const spfSyntax: ZoneRule = {
  code: "spf-syntax",
  severity: "error",
  finds: "an SPF record that cannot be read",
  why: "To receivers the whole record is a permanent error, or no SPF at all (RFC 7208, 4.6 and 12).",
  fix: "Correct the term.",
  *check(view) {
    for (const record of view.records) {
      if (record.type !== "TXT") continue;
      const problem = isSpf(record.target) ? readSpf(record.target).problem : almostSpf(record.target);
      if (problem === null) continue;
      const detail = `In the SPF record at ${shownName(record.name)}: ${problem}`;
      yield { summary: "an SPF record with an error", detail, records: [record] };
    }
  },
};

function almostSpf(text: string): string | null {
  if (/^\s+v=spf1\b/i.test(text)) return "a space stands before `v=spf1`.";
  return /^v=spf1?(?=[^a-z0-9.])|^v=spf1(?=[a-z])/i.test(text) ? "`v=spf1` must be followed by a space." : null;
}

export const spfAllowsAll: ZoneRule = {
  code: "spf-allows-all",
  severity: "warning",
  finds: "an SPF record with `+all`",
  why: "It lets every machine of the Internet send mail in your name, which is worse than no SPF (RFC 7208, 5.1 and 11.4).",
  fix: "End the record with -all or ~all.",
  *check(view) {
    for (const [record, terms] of spfRecords(view)) {
      const all = terms.find(({ name, qualifier }) => name === "all" && qualifier === "+");
      if (all === undefined) continue;
      const detail = `The SPF record at ${shownName(record.name)} holds \`${all.text}\`.`;
      yield { summary: "SPF that allows everyone", detail, records: [record] };
    }
  },
};

export const spfAfterAll: ZoneRule = {
  code: "spf-after-all",
  severity: "warning",
  finds: "an SPF record with mechanisms after `all`, or with `redirect` beside it",
  why: "`all` always matches, so what follows is never looked at, and `redirect` is ignored (RFC 7208, 5.1 and 6.1).",
  fix: "Put `all` at the end, or remove what it makes useless.",
  *check(view) {
    for (const [record, terms] of spfRecords(view)) {
      const all = terms.findIndex(({ name }) => name === "all");
      if (all === -1) continue;
      const useless = terms.find(({ name }, at) => name === "redirect" || (at > all && name !== "other-modifier"));
      if (useless === undefined) continue;
      const detail = `In the SPF record at ${shownName(record.name)}, \`${useless.text}\` has no effect.`;
      yield { summary: "an SPF term without effect", detail, records: [record] };
    }
  },
};

export const spfPtr: ZoneRule = {
  code: "spf-ptr",
  severity: "warning",
  finds: "an SPF record with `ptr`",
  why: "It is slow, unreliable and a burden on the name servers of others; it should not be used, and some receivers skip it (RFC 7208, 5.5).",
  fix: "Name the addresses with ip4, ip6, a or mx.",
  *check(view) {
    for (const [record, terms] of spfRecords(view)) {
      const term = terms.find(({ name }) => name === "ptr");
      if (term === undefined) continue;
      const detail = `The SPF record at ${shownName(record.name)} holds \`${term.text}\`.`;
      yield { summary: "SPF with ptr", detail, records: [record] };
    }
  },
};

function* spfRecords({ records }: ZoneView): Iterable<readonly [LintRecord, ReturnType<typeof readSpf>["terms"]]> {
  for (const record of records)
    if (record.type === "TXT" && isSpf(record.target)) yield [record, readSpf(record.target).terms];
}
