/** Rules about TXT that was copied with the quotes and escapes of a zone file. */

import type { ZoneRule } from "../rule.ts";
import { shownName } from "../world.ts";

export const quotedTxt: ZoneRule = {
  code: "quoted-txt",
  severity: "warning",
  finds: "a TXT that begins and ends with a quote",
  why: 'Quotes are how zone files write a text (RFC 1035, 5.1). Here they become part of it, and readers that look for "v=spf1" do not find it.',
  fix: "Write the bare text; several quoted pieces are joined without a space.",
  *check({ records }) {
    for (const record of records) {
      if (record.type !== "TXT" || !/^".*"$/s.test(record.target)) continue;
      const detail = `The TXT record at ${shownName(record.name)} has quotes around it.`;
      yield { summary: "a TXT in quotes", detail, records: [record] };
    }
  },
};

export const escapedTxt: ZoneRule = {
  code: "escaped-txt",
  severity: "warning",
  finds: 'a TXT with `\\;`, `\\"` or `\\` and three digits',
  why: "Backslashes escape characters in zone files only (RFC 1035, 5.1). Here they become part of the text.",
  fix: "Write the character itself.",
  *check({ records }) {
    for (const record of records) {
      const found = record.type === "TXT" ? /\\(?:[";]|[0-2]\d\d)/.exec(record.target)?.[0] : undefined;
      if (found === undefined) continue;
      const detail = `The TXT record at ${shownName(record.name)} has \`${found}\` in it.`;
      yield { summary: "a TXT with escapes", detail, records: [record] };
    }
  },
};
