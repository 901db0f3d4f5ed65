/** The form of a case: what is there, what is declared, and what the plan must say. */

import { parse } from "yaml";
import type { EmulatorOptions, Seed } from "../../src/emulator/index.ts";
import type { PlanRequest } from "../../src/index.ts";

type PlanOptions = Partial<
  Pick<
    PlanRequest,
    "goal" | "targets" | "excludes" | "clone" | "maxChanges" | "takeOwnershipFrom" | "account" | "nowMilliseconds"
  >
>;

/**
 * `changes`, `labels`, `guards`, `gaps`, `blocked`, `refusals` and `warnings` must be complete; absent means none.
 * Domains are masters with one soa_email unless they say otherwise, in manifests and in `live`.
 */
export interface Case {
  /** A sentence. */
  readonly what: string;
  /** A manifest that is applied first, without `tenon: 1`; or else `live`. */
  readonly before: object | null;
  /** What the emulator holds. */
  readonly live: Seed | null;
  readonly emulator: EmulatorOptions;
  readonly after: object;
  readonly plan: PlanOptions;
  /** Whether time passes, on the service's clock, before the plan. */
  readonly later: boolean;
  /** `action key` */
  readonly changes: readonly string[];
  /** Key → labels. */
  readonly labels: Readonly<Record<string, string>>;
  /** `rule address consent`, with ` count of total` where there is a count. */
  readonly guards: readonly string[];
  /** `what: step before step` */
  readonly gaps: readonly string[];
  /** Key → what stops it. */
  readonly blocked: Readonly<Record<string, string>>;
  /** `code address` */
  readonly refusals: readonly string[];
  /** Codes. */
  readonly warnings: readonly string[];
  /** Ids in order; null: not asked. */
  readonly steps: readonly string[] | null;
  /** Id of a step → the whole body of its request. */
  readonly bodies: Readonly<Record<string, unknown>>;
  /** Key of a zone that goes as a whole → `records`, or `records, n ignored` where that is known; null: not asked. */
  readonly holds: Readonly<Record<string, string>> | null;
  /** Key of a subnet that gets another range → what becomes of it, and how many interfaces are attached; null: not asked. */
  readonly ranges: Readonly<Record<string, string>> | null;
  /** `root within: free of addresses, largest; /prefix next…` for each; null: not asked. */
  readonly freeSpace: readonly string[] | null;
  /** `name keeps N: label fate, …`; null: not asked. */
  readonly families: readonly string[] | null;
  /** `count kind reason`; null: not asked. */
  readonly leftAlone: readonly string[] | null;
  /** Whether `before` is applied again at the end. */
  readonly back: boolean;
}

/** Long enough for a begun upload to be taken for abandoned. */
export const LATER_SECONDS = 2 * 3600;

const KEYS = [
  ...["what", "before", "live", "emulator", "after", "plan", "later", "changes", "labels", "guards", "gaps", "blocked"],
  ...["refusals", "warnings", "steps", "bodies", "leftAlone", "families", "holds", "ranges", "freeSpace", "back"],
];

const DOMAIN = { type: "master", soa_email: "hostmaster@example.com" } as const;

/** @throws if a key is unknown or one that is needed is missing: a case that is misspelt would test nothing */
export function parseCase(text: string): Case {
  const written = parse(text) as Partial<Case>;
  const unknown = Object.keys(written).filter((key) => !KEYS.includes(key));
  if (unknown.length > 0) throw new Error(`unknown keys: ${unknown.join(", ")}`);
  if (written.what === undefined || written.after === undefined) throw new Error("`what` and `after` are needed");
  const { what, before = null, live = null, after } = written;
  return {
    labels: {},
    guards: [],
    gaps: [],
    blocked: {},
    refusals: [],
    warnings: [],
    steps: null,
    bodies: {},
    plan: {},
    later: false,
    leftAlone: null,
    families: null,
    holds: null,
    ranges: null,
    freeSpace: null,
    back: true,
    emulator: {},
    changes: [],
    ...written,
    what,
    before: before === null ? null : manifest(before),
    live:
      live === null
        ? null
        : { ...live, ...(live.domains ? { domains: live.domains.map((domain) => ({ ...DOMAIN, ...domain })) } : {}) },
    after: manifest(after),
  };
}

function manifest(written: object): object {
  return { tenon: 1, defaults: { domain: DOMAIN }, ...written };
}
