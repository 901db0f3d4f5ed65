/** Desired and live → the plan: match, diff, narrow, judge, order. Pure: no clock, no I/O. */

import type { Consent, Desired } from "../model/desired.ts";
import type { Live, LiveUnit } from "../model/live.ts";
import type { Goal, LeftAlone, Plan } from "../model/plan.ts";
import type { Paired, Unit } from "../model/unit.ts";
import { leaveOutBlocked } from "./blocked.ts";
import { diffPairs } from "./diff.ts";
import { type Matched, matchUnit } from "./match.ts";
import { orderSteps } from "./order.ts";
import { expiredConsents, guardsOf } from "./policy.ts";
import { wrongAccount } from "./refusals.ts";
import { isNarrowed, mayConcern, selectChanges } from "./select.ts";

export interface PlanOptions {
  readonly goal: Goal;
  /** Milliseconds since the epoch. */
  readonly nowMilliseconds: number;
  readonly targets: readonly string[];
  readonly excludes: readonly string[];
  /** Of `--allow`; those of the manifest are in `desired`. */
  readonly consents: readonly Consent[];
  readonly maxChanges: number | null;
  readonly takeOwnershipFrom: readonly string[];
  /** TENON_ACCOUNT; null if it is not set. */
  readonly account: string | null;
}

/** @param live a unit that is absent was not read, and is not planned */
export function makePlan(desired: Desired, live: Live, units: readonly Unit[], options: PlanOptions): Plan {
  const worked = units.flatMap((unit) => {
    const found = live.units[unit.name];
    return found === undefined ? [] : [planUnit(unit, desired, found, options)];
  });
  const changes = selectChanges(diffPairs(worked.flatMap(({ paired }) => paired.pairs)), options);
  const steps = worked.flatMap(({ unit }) =>
    unit.steps(
      changes.filter((change) => change.unit === unit.name),
      { owner: desired.owner },
    ),
  );
  const open = leaveOutBlocked(steps, changes);
  const ordered = orderSteps(open.planned);
  const today = new Date(options.nowMilliseconds).toISOString().slice(0, 10);
  const consents = [...desired.allow, ...options.consents];
  return {
    goal: options.goal,
    owner: desired.owner,
    changes: open.changes,
    ...ordered,
    guards: guardsOf(open.changes, desired, { ...options, today, consents }),
    refusals: [...accountRefusal(desired, options), ...worked.flatMap(({ matched }) => matched.refusals)],
    warnings: [
      ...expiredConsents(consents, today),
      ...worked.flatMap(({ matched, paired }) => [...matched.warnings, ...paired.warnings]),
    ],
    leftAlone: mergeLeftAlone(worked, isNarrowed(options)),
    requestCount: ordered.steps.length,
  };
}

interface Worked {
  readonly unit: Unit;
  readonly matched: Matched;
  readonly paired: Paired;
}

function planUnit(unit: Unit, desired: Desired, live: LiveUnit, options: PlanOptions): Worked {
  const narrowed = isNarrowed(options);
  const concerned: Desired = narrowed
    ? {
        ...desired,
        declared: desired.declared.filter((entry) => mayConcern(entry.address, options)),
        removed: desired.removed.filter((entry) => mayConcern(entry.address, options)),
      }
    : desired;
  const matched = matchUnit(unit, concerned, live, { ...options, narrowed });
  const paired = unit.pairs(matched.matches, { owner: desired.owner, nowMilliseconds: options.nowMilliseconds });
  return { unit, matched, paired };
}

/** In a narrowed run what is outside is not "left alone": it was not looked at. */
function mergeLeftAlone(worked: readonly Worked[], narrowed: boolean): LeftAlone[] {
  return worked.flatMap(({ matched, paired }) => [...(narrowed ? [] : matched.leftAlone), ...paired.leftAlone]);
}

function accountRefusal(desired: Desired, options: PlanOptions) {
  if (desired.account === null || desired.account === options.account) return [];
  return [wrongAccount(desired.account, options.account)];
}
