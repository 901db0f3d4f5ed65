/** What a plan file has in it, as short phrases: so that the scenarios cannot lose a kind of change unnoticed. */

interface PlanFile {
  readonly resource_changes: readonly {
    readonly address: string;
    readonly type: string;
    readonly change: {
      readonly actions: readonly string[];
      readonly before: Readonly<Record<string, unknown>> | null;
      readonly after: Readonly<Record<string, unknown>> | null;
    };
  }[];
  readonly tenon: {
    readonly changes: Readonly<Record<string, { readonly labels: readonly string[] }>>;
    readonly steps: readonly { readonly id: string; readonly type: string }[];
    readonly strategies: readonly { readonly type: string }[];
    readonly guards: readonly { readonly rule: string; readonly consent: string }[];
  };
}

/** Sorted. */
export function coverageOf(planFile: string): string[] {
  const { resource_changes, tenon } = JSON.parse(planFile) as PlanFile;
  const phrases = new Set<string>();
  for (const { address, type, change } of resource_changes) {
    phrases.add(`${change.actions.join(", ")} ${type}`);
    for (const label of tenon.changes[address]?.labels ?? []) phrases.add(`${label} ${type}`);
    const { before, after } = change;
    for (const source of ["upload", "capture", "create_from"]) if (after?.[source] !== undefined) phrases.add(source);
    if (before?.["status"] === "disabled" && after?.["status"] === "active")
      phrases.add("activation of what was there");
  }
  for (const { id, type } of tenon.steps) phrases.add(type === "request" ? `step ${verbOf(id)}` : `step ${type}`);
  for (const { type } of tenon.strategies) phrases.add(`strategy ${type}`);
  for (const { rule, consent } of tenon.guards) phrases.add(`consent to ${rule} ${consent}`);
  return [...phrases].sort();
}

/** `set aside vpc/prod/subnet/a` → `set aside`: all before the address. */
function verbOf(id: string): string {
  return id.slice(0, id.search(/ [a-z]+\//));
}

/** All that the scenarios together must have. */
export const NEEDED: readonly string[] = [
  ...["create", "update", "delete", "delete, create", "adopt", "rename", "prune", "release"].map(
    (what) => `${what} vpc`,
  ),
  ...["create", "update", "delete", "delete, create", "rename"].map((what) => `${what} vpc_subnet`),
  ...["create", "update", "delete", "adopt", "prune", "release"].map((what) => `${what} domain`),
  ...["create", "update", "delete", "rename"].map((what) => `${what} domain_record`),
  ...["create", "update", "delete", "delete, create", "unfinished"].map((what) => `${what} image`),
  ...["adopt", "rename", "prune", "retire", "superseded", "release"].map((what) => `${what} image`),
  ...["upload", "capture", "create_from", "strategy clone", "activation of what was there"],
  ...["activate", "check", "clone", "convert", "create", "delete", "set aside", "update", "upload", "wait"].map(
    (what) => `step ${what}`,
  ),
  ...["delete", "replace", "bulk"].map((rule) => `consent to ${rule} given`),
];
