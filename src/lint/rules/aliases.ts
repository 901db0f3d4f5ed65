/** Rules about aliases of aliases: chains and loops of CNAMEs, followed across all declared zones. */

import type { Finding, ZoneRule } from "../rule.ts";
import { related } from "../rule.ts";
import { shownName, type World, type ZoneView } from "../world.ts";
import type { LintRecord } from "../zone.ts";

/** More places than this help nobody. */
const MAX_RELATED = 5;

export const cnameLoop: ZoneRule = {
  code: "cname-loop",
  severity: "error",
  finds: "CNAMEs that lead back to themselves, through wildcards and other declared zones, too",
  why: "A resolver follows the aliases in a circle and gives up: none of the names resolves (RFC 1034, 3.6.2).",
  fix: "Point one of them at a name that has records of its own.",
  *check(view, world) {
    const { loops } = world.remember(followAliases);
    for (const record of view.records) {
      const loop = loops.get(record);
      if (loop !== undefined) yield loopFinding(loop);
    }
  },
};

function loopFinding(loop: readonly LintRecord[]): Finding {
  const [first, ...others] = loop as readonly [LintRecord, ...LintRecord[]];
  const detail =
    others.length === 0
      ? `The CNAME at ${shownName(first.name)} leads to itself.`
      : `The CNAME at ${shownName(first.name)} leads back to itself by way of ${others.length} more.`;
  return {
    summary: "CNAMEs in a loop",
    detail,
    records: loop,
    related: others.slice(0, MAX_RELATED).map((record) => related("by way of this one", record)),
  };
}

export const cnameChain: ZoneRule = {
  code: "cname-chain",
  severity: "warning",
  finds: "a CNAME whose target is a CNAME again",
  why: "Each alias costs a resolver one more question, and some give up after a few (RFC 1034, 3.6.2).",
  fix: "Point at the last name of the chain.",
  *check(view, world) {
    const { next, ends } = world.remember(followAliases);
    for (const record of view.records) {
      const following = next.get(record);
      const end = ends.get(record);
      if (following === undefined || end === undefined) continue;
      const detail = `\`${record.target}\`, the target of the CNAME at ${shownName(record.name)}, is an alias, too; in the end it leads to \`${end.target}\`.`;
      const fix = `Point at \`${end.target}.\` if nothing else has to change with the alias between.`;
      yield {
        summary: "a CNAME of a CNAME",
        detail,
        fix,
        records: [record],
        related: [related("the next one", following)],
      };
    }
  },
};

interface Aliases {
  /** The CNAME that a CNAME leads to. */
  readonly next: ReadonlyMap<LintRecord, LintRecord>;
  /** The last CNAME that a CNAME leads to; absent if it is a loop. */
  readonly ends: ReadonlyMap<LintRecord, LintRecord>;
  /** Each loop under its first member, in the order of the zones. */
  readonly loops: ReadonlyMap<LintRecord, readonly LintRecord[]>;
}

function followAliases(world: World): Aliases {
  const next = new Map<LintRecord, LintRecord>();
  for (const record of world.views.flatMap(aliasesOf)) {
    const found = world.lookup(record.target, ["CNAME"]);
    const following = found.type === "known" ? found.records.find(({ type }) => type === "CNAME") : undefined;
    if (following !== undefined) next.set(record, following);
  }
  const ends = new Map<LintRecord, LintRecord | null>();
  const loops = new Map<LintRecord, readonly LintRecord[]>();
  for (const start of next.keys()) {
    const path: LintRecord[] = [];
    const onPath = new Map<LintRecord, number>();
    let at: LintRecord | undefined = start;
    while (at !== undefined && !ends.has(at) && !onPath.has(at)) {
      onPath.set(at, path.length);
      path.push(at);
      at = next.get(at);
    }
    const looped = at === undefined ? undefined : onPath.get(at);
    if (looped !== undefined) loops.set(path[looped] as LintRecord, path.slice(looped));
    const end = at === undefined ? (path.at(-1) as LintRecord) : looped === undefined ? (ends.get(at) ?? null) : null;
    for (const record of path) ends.set(record, end);
  }
  const reached = [...ends].filter((entry): entry is [LintRecord, LintRecord] => entry[1] !== null);
  return { next, ends: new Map(reached), loops };
}

function aliasesOf({ records }: ZoneView): LintRecord[] {
  return records.filter(({ type }) => type === "CNAME");
}
