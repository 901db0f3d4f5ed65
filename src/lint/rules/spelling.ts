/** A rule about names that are written in several ways: it looks at the source. */

import type { Sources } from "../../model/source.ts";
import type { ZoneRule } from "../rule.ts";
import { related } from "../rule.ts";
import { shownName } from "../world.ts";
import type { LintRecord } from "../zone.ts";

/** What of an entry is looked at: names stand near its beginning. */
const MAX_LOOKED_AT_CHARACTERS = 1_000;

export const mixedCase: ZoneRule = {
  code: "mixed-case",
  severity: "warning",
  finds: "one name that is written in several ways, like `WWW` and `www`",
  why: "Names differ by case for readers only: both are one name, and its records are one set (RFC 4343).",
  fix: "Write the name the same way everywhere.",
  *check(view, { sources }) {
    if (sources === null) return;
    for (const [name, records] of view.names()) {
      if (name === "" || records.length < 2) continue;
      let first: { readonly record: LintRecord; readonly written: string } | null = null;
      for (const record of records) {
        const written = writtenName(record, sources);
        if (written === null) continue;
        if (first === null) first = { record, written };
        if (written === first.written || written.toLowerCase() !== first.written.toLowerCase()) continue;
        const detail = `${shownName(written)} and ${shownName(first.written)} are the same name.`;
        yield {
          summary: "a name in two spellings",
          detail,
          records: [record, first.record],
          related: [related("the other spelling", first.record)],
        };
        break;
      }
    }
  },
};

/** The name as its entry says it, behind `name:`, or as the first word of a line of a zone file; null if neither is to be found. */
function writtenName({ name, span }: LintRecord, sources: Sources): string | null {
  const end = Math.min(span.end, span.start + MAX_LOOKED_AT_CHARACTERS);
  const text = sources.text(span.file)?.slice(span.start, end) ?? "";
  const [, written = null] =
    /(?:^|[\s{,"'])name["']?:\s*["']?([^\s,"'}]+)/.exec(text) ?? /^\s*([^\s;"'{:[]+)/.exec(text) ?? [];
  const lower = written?.toLowerCase();
  return lower === name || lower?.startsWith(`${name}.`) ? written : null;
}
