/** The deletes of two runs that met, judged: what either of them made stays, until a person has chosen. */

import type { JsonObject } from "../../src/model/resource.ts";
import type { Manifest } from "./interleave-manifest.ts";
import type { PassedAt } from "./interleave-run.ts";
import type { Work } from "./interleave-scenarios.ts";

export interface Deeds {
  readonly work: Work;
  /** In the order of time. */
  readonly passed: readonly PassedAt[];
}

/** Nobody sends its data any more so long after its POST. */
const ABANDONED_AFTER_MILLISECONDS = 3_900_000;

/** Which of the requests that make something of an account gives which answer. */
const MAKING = /^\/(?:vpcs|images(?:\/upload)?|domains(?:\/\d+\/clone)?)$/;

/**
 * A label that a manifest keeps may be there twice, and only a person knows which is the right one: an apply deletes none of what
 * these runs made for it, but for an upload that was begun, and then left.
 */
export function deletedOnAGuess(runs: readonly Deeds[]): readonly string[] {
  const made = new Map(runs.flatMap(({ passed }) => passed.flatMap(madeBy)));
  return runs.flatMap(({ work, passed }, run) =>
    passed
      .map((request, index) => ({ request, name: nameIn(made, request), earlier: passed.slice(0, index) }))
      .filter(({ request, name, earlier }) => keeps(work, name) && !isAbandoned(request, earlier))
      .map(({ request, name }) => `run ${run} deleted ${request.path}, made by these runs as ${name}`),
  );
}

/** The path of what was made, and what it is called. A lost answer is of use to nobody, but what it tells of is there. */
function madeBy({ method, path, body, status, answer }: PassedAt): [string, string][] {
  if (method !== "POST" || status !== 200 || !MAKING.test(path)) return [];
  const [, collection] = path.split("/");
  const { id, image } = JSON.parse(answer) as { id?: unknown; image?: { id: unknown } };
  const { label, domain } = JSON.parse(body) as { label?: unknown; domain?: unknown };
  const made = `/${collection}/${encodeURIComponent(String(image?.id ?? id))}`;
  return [[made, `${collection} ${String(domain ?? label)}`]];
}

function nameIn(made: ReadonlyMap<string, string>, { method, path }: PassedAt): string | null {
  return method === "DELETE" ? (made.get(path) ?? null) : null;
}

function keeps({ manifest, goal }: Work, name: string | null): boolean {
  return goal === "apply" && name !== null && namesOf(manifest).includes(name);
}

function namesOf({ vpcs, domains, images }: Manifest): string[] {
  return [
    ...(vpcs ?? []).map(({ label }) => `vpcs ${label}`),
    ...(domains ?? []).map(({ domain }) => `domains ${domain}`),
    ...(images ?? []).map(({ label }) => `images ${label}`),
  ];
}

/** As far as the run that deletes it could know: by what it saw of it last. */
function isAbandoned({ path, at }: PassedAt, earlier: readonly PassedAt[]): boolean {
  const seen = earlier.flatMap((request) => shownBy(request, path)).at(-1);
  if (seen?.["status"] !== "pending_upload") return false;
  return at - Date.parse(`${String(seen["created"])}Z`) >= ABANDONED_AFTER_MILLISECONDS;
}

/** The image of this path, looked at alone or in a list. */
function shownBy({ method, path, status, answer }: PassedAt, wanted: string): JsonObject[] {
  if (method !== "GET" || status !== 200 || !(path === wanted || path === "/images")) return [];
  const shown = JSON.parse(answer) as JsonObject;
  const items = path === wanted ? [shown] : (shown["data"] as unknown as JsonObject[]);
  return items.filter(({ id }) => `/images/${encodeURIComponent(String(id))}` === wanted);
}
