/** Lint: checks a project by every zone rule, and a plan by the rule for changes, except for rules that are switched off. */

import type { Project } from "../manifest/load.ts";
import type { Declared, Desired } from "../model/desired.ts";
import type { Diagnostic, Span } from "../model/diagnostic.ts";
import type { Plan } from "../model/plan.ts";
import type { NetworkSpec } from "../units/network/manifest.ts";
import { isOthersName } from "../units/zone/sharing.ts";
import type { ZoneSpec } from "../units/zone/spec.ts";
import { lintChanges, lintExpiries } from "./changes.ts";
import type { LintZone, RuleText } from "./rule.ts";
import type { DatedEntry } from "./rules/dates.ts";

/**
 * Checks the zones of a project by every lint rule that `lint: { off: [code] }` does not switch off.
 * @param found diagnostics of loading, reported with the rest, in the order of the files
 */
export async function lintProject(
  { desired, sources }: Project,
  found: readonly Diagnostic[] = [],
): Promise<Diagnostic[]> {
  const [{ lintZones }, { lintDates }, { arrange }] = await Promise.all([
    import("./lint.ts"),
    import("./rules/dates.ts"),
    import("../manifest/assemble.ts"),
  ]);
  const linted = lintZones(lintZonesOf(desired), desired.lintOff, sources, desired.lintOffSpans);
  const dated = lintDates(datedEntries(desired), desired.lintOff, desired.today);
  return arrange([...found, ...linted, ...dated], sources.files());
}

/** What each rule finds, why it matters, and what to do. */
export async function lintRules(): Promise<readonly RuleText[]> {
  const { ALL_RULES } = await import("./lint.ts");
  return ALL_RULES.map(({ code, severity, finds, why, fix }) => ({ code, severity, finds, why, fix }));
}

function lintZonesOf({ declared }: Desired): LintZone[] {
  return declaredZones(declared).map(({ address, span, spec }) => {
    const { domain, fields, records, policy, ignore, lintOff } = spec;
    const { type, status, ttl_sec } = fields;
    return {
      zone: domain,
      address,
      span,
      type: type === "slave" ? "slave" : "master",
      status: typeof status === "string" ? status : "active",
      ttl_sec: typeof ttl_sec === "number" ? ttl_sec : null,
      records,
      policy,
      ignore,
      off: lintOff,
      isOthers: (name) => isOthersName(name, spec),
    };
  });
}

/** Whatever says something for people: networks with their subnets, zones with their records, images. */
function* datedEntries({ declared }: Desired): Generator<DatedEntry> {
  for (const one of declared) {
    const { address, span, annotations, unit } = one;
    const { lintOff: off = [], subnets, records, expired = [] } = one.spec as Partial<ZoneSpec & NetworkSpec>;
    if (annotations !== undefined) yield { annotations, span, address, isRecord: false, off };
    for (const within of [...(subnets ?? []), ...(records ?? []), ...expired]) {
      if (within.annotations === undefined) continue;
      const own = "lintOff" in within ? within.lintOff : [];
      const shared = { annotations: within.annotations, span: within.span, address };
      yield { ...shared, isRecord: unit === "zone", off: own.length === 0 ? off : [...off, ...own] };
    }
  }
}

/**
 * Warns of old answers that a plan's changes leave in caches, unless the project, the domain or the record switches the rule off, and of records
 * that come back by themselves.
 */
export function lintPlanned(
  { goal, changes }: Pick<Plan, "goal" | "changes">,
  desired: Desired,
  nowMilliseconds: number,
): Diagnostic[] {
  const byZone = new Map<string, readonly string[]>();
  const byRecord = new Map<string, readonly string[]>();
  for (const { address, spec } of declaredZones(desired.declared)) {
    byZone.set(address, spec.lintOff);
    for (const { span, lintOff } of spec.records ?? []) if (lintOff.length > 0) byRecord.set(placeOf(span), lintOff);
  }
  const cached = lintChanges(changes, nowMilliseconds, ({ root, span }) => [
    ...desired.lintOff,
    ...(byZone.get(root) ?? []),
    ...((span === null ? undefined : byRecord.get(placeOf(span))) ?? []),
  ]);
  // Of a narrowed run only what it was about.
  const planned = new Set(changes.map(({ root }) => root));
  const expiring = declaredZones(desired.declared).filter(({ address }) => goal === "apply" && planned.has(address));
  return [...cached, ...expiring.flatMap(({ spec }) => lintExpiries(spec, desired.lintOff))];
}

function declaredZones(declared: readonly Declared[]): Declared<ZoneSpec>[] {
  return declared.filter(({ unit }) => unit === "zone") as Declared<ZoneSpec>[];
}

function placeOf({ file, start, end }: Span): string {
  return JSON.stringify([file, start, end]);
}
