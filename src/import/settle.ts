/** A domain as its source has it → the entry that the manifest will hold, without what the service would refuse. */

import type { Declared } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json, JsonObject } from "../model/resource.ts";
import type { LoadContext, Unit } from "../model/unit.ts";
import { withReadableTarget } from "./entry.ts";
import type { TakenDomain } from "./taken.ts";

/** What is needed of the unit of zones: its judgement and its words. */
export interface SettlingUnit {
  readonly spec: Pick<Unit["spec"], "load" | "write">;
}

export interface SettledDomain {
  /** null: the domain itself cannot be declared. */
  readonly domain: TakenDomain | null;
  /** What is wrong with the domain itself. */
  readonly problems: readonly Diagnostic[];
  /** Records that cannot be declared, by their place among those that were given, with the first thing wrong with each. */
  readonly refused: ReadonlyMap<number, Diagnostic>;
  /** TTLs that the service does not keep: as given → as written, and how often. */
  readonly rounded: ReadonlyMap<string, number>;
}

/** A record that goes may have been what another one clashed with; so often is looked again. */
const MAX_ROUNDS = 8;

/**
 * The unit itself judges, so that what passes here passes when it is loaded.
 * @param records of one target each
 * @param ttls what the source says of each, where it is not what the record has; a TTL that comes out differently is counted as rounded
 */
export function settleDomain(
  head: JsonObject,
  records: readonly JsonObject[] | null,
  unit: SettlingUnit,
  allowedSeconds: readonly number[],
  ttls: readonly number[] | null = null,
): SettledDomain {
  const refused = new Map<number, Diagnostic>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const kept = [...(records ?? []).entries()].filter(([index]) => !refused.has(index));
    const judged = judge(head, records === null ? null : kept, unit, allowedSeconds);
    for (const [index, diagnostic] of judged.refused) refused.set(index, diagnostic);
    if (judged.problems.length > 0 || judged.declared === null) {
      return { domain: null, problems: judged.problems, refused, rounded: new Map() };
    }
    if (judged.refused.size > 0) continue;
    const given = kept.map(([index, entry]) => ttls?.[index] ?? entry["ttl_sec"] ?? 0);
    return { ...written(judged.declared, records === null ? null : given, unit), problems: [], refused };
  }
  return { domain: null, problems: [...refused.values()].slice(0, 1), refused, rounded: new Map() };
}

interface Judgement {
  readonly declared: Declared | null;
  readonly problems: readonly Diagnostic[];
  readonly refused: ReadonlyMap<number, Diagnostic>;
}

function judge(
  head: JsonObject,
  records: readonly (readonly [index: number, entry: JsonObject])[] | null,
  unit: SettlingUnit,
  allowedSeconds: readonly number[],
): Judgement {
  const places = new Map<object, number>((records ?? []).map(([index, entry]) => [entry, index]));
  const problems: Diagnostic[] = [];
  const refused = new Map<number, Diagnostic>();
  const context: LoadContext = {
    owner: null,
    allowedSeconds,
    // The place of a record stands for it, so that a problem leads back to it.
    span: (object) => ({ file: places.has(object) ? "record" : "", start: places.get(object) ?? 0, end: 0 }),
    report: (diagnostic) => {
      if (diagnostic.severity !== "error") return;
      const index = diagnostic.span?.file === "record" ? diagnostic.span.start : null;
      if (index === null) problems.push(diagnostic);
      else if (!refused.has(index)) refused.set(index, diagnostic);
    },
  };
  const entry = records === null ? head : { ...head, records: records.map(([, record]) => record) };
  return { declared: unit.spec.load(entry, context), problems, refused };
}

function written(
  declared: Declared,
  given: readonly Json[] | null,
  unit: SettlingUnit,
): Pick<SettledDomain, "domain" | "rounded"> {
  const { head, body } = unit.spec.write(declared.spec);
  const { records: _, ...rest } = body;
  const entries = (body["records"] as readonly JsonObject[] | undefined) ?? [];
  const rounded = new Map<string, number>();
  for (const [index, entry] of entries.entries()) {
    const [before, after] = [given?.[index] ?? 0, entry["ttl_sec"] ?? 0];
    const change = `${String(before)} → ${String(after)}`;
    if (before !== after) rounded.set(change, (rounded.get(change) ?? 0) + 1);
  }
  const records = given === null ? null : entries.map((entry) => withReadableTarget(entry, declared.key));
  const { status, ...stated } = rest as Readonly<Record<string, Json>>;
  const entry = { ...head, ...stated, ...(status === undefined || status === "active" ? {} : { status }) };
  return { domain: { name: declared.key, entry, records }, rounded };
}
