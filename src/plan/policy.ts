/** Guards: what apply refuses to do without consent, and what no consent allows. */

import type { Address } from "../model/address.ts";
import type { Change } from "../model/change.ts";
import type { Consent, ConsentRule } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { globMatches } from "../model/glob.ts";
import { groupBy } from "../model/group.ts";
import type { Goal, Guard } from "../model/plan.ts";

/** Of a live zone's records, the share that may go without consent. */
export const BULK_LIMIT_PERCENT = 30;

export interface PolicyOptions {
  readonly goal: Goal;
  readonly owner: string | null;
  /** YYYY-MM-DD, UTC. */
  readonly today: string;
  /** Of `allow:` and `--allow`. */
  readonly consents: readonly Consent[];
  readonly maxChanges: number | null;
}

/**
 * Blocked changes are not carried out, so they need no consent.
 * @param kept the addresses of what is protected
 */
export function guardsOf(changes: readonly Change[], kept: ReadonlySet<Address>, options: PolicyOptions): Guard[] {
  const active = changes.filter((change) => change.blocked === null && change.action !== "no-op");
  const guards = protectGuards(active, kept);
  // `destroy` is its own consent.
  if (options.goal === "apply") {
    const consents = options.consents.filter((consent) => consent.until === null || consent.until >= options.today);
    guards.push(...rootGuards(active, consents), ...zoneGuards(changes, options.owner, consents));
  }
  if (options.maxChanges !== null && active.length > options.maxChanges) {
    guards.push({
      rule: "max-changes",
      address: "*",
      consent: "impossible",
      count: active.length,
      of: options.maxChanges,
    });
  }
  return guards;
}

/** Consents that have ended are said, so that nobody wonders why they no longer count. */
export function expiredConsents(consents: readonly Consent[], today: string): Diagnostic[] {
  return consents
    .filter((consent) => consent.until !== null && consent.until < today)
    .map((consent) => ({
      code: "expired-consent",
      severity: "warning",
      summary: `the consent to ${consent.rule} ${consent.address} ended on ${consent.until}`,
      detail: "It no longer counts.",
      fix: "Remove the entry from `allow:`, or move its `until:` if it is still needed.",
      ...(consent.span === null ? {} : { span: consent.span }),
    }));
}

/** An upload that was never completed holds nothing worth protecting, and could else not be completed. */
function protectGuards(changes: readonly Change[], kept: ReadonlySet<Address>): Guard[] {
  return changes
    .filter((change) => change.action === "delete" || change.action === "replace")
    .filter((change) => kept.has(change.address) && !change.labels.includes("unfinished"))
    .map((change) => ({ rule: "protect", address: change.address, consent: "impossible", count: null, of: null }));
}

/** Prunes and replaces of whole domains and VPCs. What `removed` names is consented to by naming it. */
function rootGuards(changes: readonly Change[], consents: readonly Consent[]): Guard[] {
  return changes
    .filter((change) => change.kind === "domain" || change.kind === "vpc")
    .flatMap((change): Guard[] => {
      if (change.action === "replace") return [guard("replace", change.address, consents)];
      return change.action === "delete" && change.labels.includes("prune")
        ? [guard("delete", change.address, consents)]
        : [];
    });
}

function zoneGuards(changes: readonly Change[], owner: string | null, consents: readonly Consent[]): Guard[] {
  const records = groupBy(
    changes.filter((change) => change.kind === "domain_record"),
    (change) => change.root,
  );
  return changes
    .filter((change) => change.kind === "domain" && (change.action === "update" || change.action === "no-op"))
    .flatMap((domain) => {
      const own = records.get(domain.root) ?? [];
      return [...bulkGuard(domain, own, owner, consents), ...nameserverGuard(domain, own, consents)];
    });
}

function bulkGuard(
  domain: Change,
  records: readonly Change[],
  owner: string | null,
  consents: readonly Consent[],
): Guard[] {
  const live = records.filter((record) => record.before !== null);
  // A rename removes a name too.
  const removed = live.filter(
    (record) => record.blocked === null && (record.action === "delete" || record.labels.includes("rename")),
  );
  // Not by its label: a run that is narrowed to the records leaves the domain itself as it is.
  const adopts = owner !== null && domain.before?.["owner"] === null;
  const tooMany = removed.length * 100 > live.length * BULK_LIMIT_PERCENT;
  if (removed.length === 0 || (!adopts && !tooMany)) return [];
  return [{ ...guard("bulk", domain.address, consents), count: removed.length, of: live.length }];
}

function nameserverGuard(domain: Change, records: readonly Change[], consents: readonly Consent[]): Guard[] {
  if (domain.before?.["status"] !== "active") return [];
  const touches = records.some(
    (record) => record.action !== "no-op" && record.blocked === null && isApexNameserver(record),
  );
  return touches ? [guard("ns", domain.address, consents)] : [];
}

function isApexNameserver({ before, after }: Change): boolean {
  return [before, after].some((values) => values?.["type"] === "NS" && values["name"] === "");
}

function guard(rule: ConsentRule, address: Address, consents: readonly Consent[]): Guard {
  const given = consents.some((consent) => consent.rule === rule && globMatches(consent.address, address));
  return { rule, address, consent: given ? "given" : "missing", count: null, of: null };
}
