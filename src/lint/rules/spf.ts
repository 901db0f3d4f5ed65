/** Rules about one SPF record: that a name has only one, that it can be read, and that it restricts senders. */

import { isSpf, readSpf, type SpfTerm } from "../../dns/spf.ts";
import { type LintRecord, type ProjectZones, related, shownName, type ZoneRule, type ZoneView } from "../rule.ts";

export const multipleSpf: ZoneRule = {
  code: "multiple-spf",
  severity: "error",
  finds: "more than one SPF record at a name",
  why: "Receivers take neither: it is a permanent error (RFC 7208, 4.5).",
  fix: "Join them into one record.",
  *check(view) {
    for (const [name, texts] of view.sets("TXT")) {
      const [first, ...others] = texts.filter(({ target }) => isSpf(target));
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
    for (const record of view.ofType("TXT")) {
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

export function isSpfRecord({ type, target }: LintRecord): boolean {
  return type === "TXT" && isSpf(target);
}

function* spfRecords(view: ZoneView): Iterable<readonly [LintRecord, readonly SpfTerm[]]> {
  for (const record of view.ofType("TXT")) if (isSpfRecord(record)) yield [record, readSpf(record.target).terms];
}

// Rules about the lookups that SPF records cause, as far as the declared zones show them.

/** RFC 7208, 4.6.4. */
const MAX_LOOKUPS = 10;
/** The sums of lookups of nested includes grow exponentially: they are cut here, far above MAX_LOOKUPS. */
const MOST_COUNTED = 1_000;

const LOOKED_UP: readonly SpfTerm["name"][] = ["include", "a", "mx", "ptr", "exists", "redirect"];

export const spfLookups: ZoneRule = {
  code: "spf-lookups",
  severity: "warning",
  finds: "an SPF record that takes more than ten lookups; includes are followed where they lie in declared zones",
  why: "Receivers stop after ten include, a, mx, ptr, exists and redirect, and treat the record as a permanent error (RFC 7208, 4.6.4).",
  fix: "Replace includes by the networks they stand for, or send from fewer places.",
  *check(view, world) {
    const costs = world.remember(countLookups);
    for (const record of view.ofType("TXT")) {
      const cost = costs.get(record);
      if (cost === undefined || (!cost.loops && cost.lookups <= MAX_LOOKUPS)) continue;
      const where = `The SPF record at ${shownName(record.name)}`;
      const detail = cost.loops
        ? `${where} includes itself, or one that includes itself.`
        : `${where} takes ${cost.lookups >= MOST_COUNTED ? "more than a thousand" : `at least ${cost.lookups}`} lookups.`;
      yield { summary: "SPF with too many lookups", detail, records: [record] };
    }
  },
};

export const spfMissingInclude: ZoneRule = {
  code: "spf-missing-include",
  severity: "warning",
  finds: "an SPF record that includes, or redirects to, a name of a declared zone without SPF",
  why: "An include of a name without an SPF record is a permanent error (RFC 7208, 5.2 and 6.1).",
  fix: "Add the SPF record, or remove the term.",
  *check(view, world) {
    for (const record of view.ofType("TXT")) {
      if (!isSpfRecord(record)) continue;
      const lacking = followed(record).find(
        ({ domain }) => domain !== null && !world.mayHave(domain, ["TXT"], isSpfRecord),
      );
      if (lacking === undefined) continue;
      const detail = `The SPF record at ${shownName(record.name)} says \`${lacking.text}\`, and there is no SPF record.`;
      yield { summary: "SPF that includes nothing", detail, records: [record] };
    }
  },
};

interface Cost {
  readonly lookups: number;
  /** Whether the includes lead in a circle. */
  readonly loops: boolean;
}

/** Each record is visited once, however many include it. Depth first, with an explicit stack as chains may be long. */
function countLookups(world: ProjectZones): ReadonlyMap<LintRecord, Cost> {
  const costs = new Map<LintRecord, Cost>();
  const open = new Set<LintRecord>();
  const roots = world.views.flatMap((view) => view.ofType("TXT").filter(isSpfRecord));
  const stack: { readonly record: LintRecord; children: readonly LintRecord[] }[] = [];
  for (const root of roots) {
    stack.push({ record: root, children: [] });
    for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
      const { record } = frame;
      if (!costs.has(record) && !open.has(record)) {
        open.add(record);
        frame.children = childrenOf(record, world);
        const waiting = frame.children.filter((child) => !costs.has(child) && !open.has(child));
        for (const child of waiting) stack.push({ record: child, children: [] });
        if (waiting.length > 0) continue;
      }
      stack.pop();
      // A record that two parents pushed was finished when it was popped first.
      if (costs.has(record)) continue;
      costs.set(record, costOf(record, frame.children, costs));
      open.delete(record);
    }
  }
  return costs;
}

/** A child without a cost is still open, so it includes this record. */
function costOf(record: LintRecord, children: readonly LintRecord[], costs: ReadonlyMap<LintRecord, Cost>): Cost {
  let lookups = termsOf(record).filter(({ name }) => LOOKED_UP.includes(name)).length;
  let loops = false;
  for (const child of children) {
    const cost = costs.get(child);
    lookups = Math.min(lookups + (cost?.lookups ?? 0), MOST_COUNTED);
    loops ||= cost === undefined || cost.loops;
  }
  return { lookups, loops };
}

function childrenOf(record: LintRecord, world: ProjectZones): LintRecord[] {
  return followed(record).flatMap(({ domain }) => {
    const found = domain === null ? null : world.lookup(domain, ["TXT"]);
    const spf = found?.type === "known" ? world.first(found.records, isSpfRecord) : null;
    return spf === null ? [] : [spf];
  });
}

function followed(record: LintRecord): SpfTerm[] {
  return termsOf(record).filter(({ name }) => name === "include" || name === "redirect");
}

/** `redirect` is ignored beside `all`. */
function termsOf(record: LintRecord): readonly SpfTerm[] {
  const { terms } = readSpf(record.target);
  return terms.some(({ name }) => name === "all") ? terms.filter(({ name }) => name !== "redirect") : terms;
}
