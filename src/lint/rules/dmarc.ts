/** Rules about DMARC records: the TXT at `_dmarc`. */

import type { ZoneRule } from "../rule.ts";
import { related } from "../rule.ts";
import { shownName, type ZoneView } from "../world.ts";
import type { LintRecord } from "../zone.ts";
import { readTags, short, type Tag, tagValue } from "./tags.ts";

const POLICY = /^(?:none|quarantine|reject)$/i;

/** What the tags that are told apart may hold (RFC 7489, 6.3 and 6.4); others are left to their authors. */
const VALUES: Readonly<Record<string, RegExp>> = {
  p: POLICY,
  sp: POLICY,
  np: POLICY,
  adkim: /^[rs]$/i,
  aspf: /^[rs]$/i,
  pct: /^(?:100|\d{1,2})$/,
  ri: /^\d+$/,
  fo: /^[01ds](?:\s*:\s*[01ds])*$/i,
  rf: /^[a-z0-9-]+(?:\s*:\s*[a-z0-9-]+)*$/i,
  rua: /^[a-z][a-z0-9+.-]*:[^\s,]+(?:\s*,\s*[a-z][a-z0-9+.-]*:[^\s,]+)*$/i,
  ruf: /^[a-z][a-z0-9+.-]*:[^\s,]+(?:\s*,\s*[a-z][a-z0-9+.-]*:[^\s,]+)*$/i,
};

export const dmarcSyntax: ZoneRule = {
  code: "dmarc-syntax",
  severity: "error",
  finds: "a TXT at `_dmarc` that is no DMARC record",
  why: "Receivers ignore it, or the tag that is wrong, as if nothing were there (RFC 7489, 6.3 and 6.6.3).",
  fix: 'Write it like "v=DMARC1; p=reject; rua=mailto:dmarc@example.com".',
  *check(view) {
    for (const record of dmarcOf(view)) {
      const problem = problemOf(record.target);
      if (problem === null) continue;
      const detail = `The TXT record at ${shownName(record.name)} is not understood: ${problem}`;
      yield { summary: "a DMARC record with an error", detail, records: [record] };
    }
  },
};

export const multipleDmarc: ZoneRule = {
  code: "multiple-dmarc",
  severity: "error",
  finds: "more than one DMARC record at a name",
  why: "Receivers then take none of them (RFC 7489, 6.6.3).",
  fix: "Keep one of them.",
  *check(view) {
    for (const [name] of view.names()) {
      if (!isDmarcName(name)) continue;
      const [first, ...others] = view.ofType(name, "TXT").filter(({ target }) => /^v=DMARC1\b/i.test(target));
      const [second] = others;
      if (first === undefined || second === undefined) continue;
      const detail = `${others.length + 1} TXT records at ${shownName(name)} begin with v=DMARC1.`;
      yield {
        summary: "several DMARC records at one name",
        detail,
        records: [second, first, ...others.slice(1)],
        related: [related("the first of them", first)],
      };
    }
  },
};

function dmarcOf({ records }: ZoneView): LintRecord[] {
  return records.filter(({ type, name }) => type === "TXT" && isDmarcName(name));
}

function isDmarcName(name: string): boolean {
  return name === "_dmarc" || name.startsWith("_dmarc.");
}

function problemOf(text: string): string | null {
  const read = readTags(text);
  if (!read.ok) return read.problem;
  const { tags } = read;
  if (tags[0]?.name !== "v" || tags[0].value !== "DMARC1") return "it does not begin with `v=DMARC1`.";
  // With an address for reports a missing policy counts as none (RFC 7489, 6.6.3).
  if (tagValue(tags, "p") === null && tagValue(tags, "rua") === null) return "it has no policy, `p=`.";
  const wrong = tags.find(isWrong);
  return wrong === undefined ? null : `\`${short(`${wrong.name}=${wrong.value}`)}\` is not a value for that tag.`;
}

function isWrong({ name, value }: Tag): boolean {
  const allowed = Object.hasOwn(VALUES, name) ? VALUES[name] : undefined;
  return allowed !== undefined && !allowed.test(value);
}
