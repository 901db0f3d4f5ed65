/** Rules about what SPF records make receivers look up, as far as it can be told from the declared zones. */

import type { ZoneRule } from "../rule.ts";
import { shownName, type World } from "../world.ts";
import type { LintRecord } from "../zone.ts";
import { isSpf, readSpf, type SpfTerm } from "./spf-terms.ts";

/** RFC 7208, 4.6.4. */
const MAX_LOOKUPS = 10;
/** Sums over includes of includes grow beyond all bounds; this is far above what matters. */
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
    for (const record of view.records) {
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
    for (const record of view.records) {
      if (record.type !== "TXT" || !isSpf(record.target)) continue;
      const lacking = followed(record).find(
        ({ domain }) => domain !== null && !world.mayHave(domain, ["TXT"], ({ target }) => isSpf(target)),
      );
      if (lacking === undefined) continue;
      const detail = `The SPF record at ${shownName(record.name)} says \`${lacking.text}\`, and there is no SPF record.`;
      yield { summary: "SPF that includes nothing", detail, records: [record] };
    }
  },
};

interface Cost {
  readonly lookups: number;
  /** Following it never ends. */
  readonly loops: boolean;
}

/** Every record is looked at once, however many include it: depth first, with a stack of our own as chains may be long. */
function countLookups(world: World): ReadonlyMap<LintRecord, Cost> {
  const costs = new Map<LintRecord, Cost>();
  const open = new Set<LintRecord>();
  const roots = world.views.flatMap(({ records }) =>
    records.filter(({ type, target }) => type === "TXT" && isSpf(target)),
  );
  for (const root of roots) {
    const stack = [root];
    for (let record = stack.at(-1); record !== undefined; record = stack.at(-1)) {
      const children = costs.has(record) ? [] : childrenOf(record, world);
      const waiting = open.has(record) ? [] : children.filter((child) => !costs.has(child) && !open.has(child));
      if (!costs.has(record)) {
        open.add(record);
        for (const one of waiting) stack.push(one);
        if (waiting.length > 0) continue;
        costs.set(record, costOf(record, children, costs));
        open.delete(record);
      }
      stack.pop();
    }
  }
  return costs;
}

/** A child without a cost is still open: it includes this one. */
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

function childrenOf(record: LintRecord, world: World): LintRecord[] {
  return followed(record).flatMap(({ domain }) => {
    const found = domain === null ? null : world.lookup(domain, ["TXT"]);
    const spf =
      found?.type === "known" ? found.records.find(({ type, target }) => type === "TXT" && isSpf(target)) : null;
    return spf == null ? [] : [spf];
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
