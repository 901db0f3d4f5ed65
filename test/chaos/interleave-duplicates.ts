/** Equal objects that two runs made: what of them is left, and whether a run deleted what it must not. */

import type { Api } from "../../src/index.ts";
import type { JsonObject } from "../../src/model/resource.ts";
import { readRoots } from "./interleave-account.ts";
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
 * Of what these runs made for a label that a manifest keeps, an apply deletes only its own, and only while the other run's older one
 * is there and stays; and an upload that was begun, and then left.
 */
export function deletedOnAGuess(runs: readonly Deeds[]): readonly string[] {
  const made = runs.flatMap(({ passed }, run) => passed.flatMap((request) => madeBy(request, run)));
  const names = new Map(made.map(({ path, name }) => [path, name]));
  const gone = new Set(runs.flatMap(({ passed }) => passed.filter(isDelete).map(({ path }) => path)));
  const isYielded = (run: number, path: string, name: string | null): boolean =>
    made.some((own) => own.path === path && own.run === run && !own.lost) &&
    made.some((other) => other.name === name && other.run !== run && other.id < idOf(path) && !gone.has(other.path));
  return runs.flatMap(({ work, passed }, run) =>
    passed
      .map((request, index) => ({ request, name: nameIn(names, request), earlier: passed.slice(0, index) }))
      .filter(({ request, name, earlier }) => keeps(work, name) && !isAbandoned(request, earlier))
      .filter(({ request, name }) => !isYielded(run, request.path, name))
      .map(({ request, name }) => `run ${run} deleted ${request.path}, made by these runs as ${name}`),
  );
}

function isDelete({ method }: PassedAt): boolean {
  return method === "DELETE";
}

/** What the manifests declare once, and is there twice, in words. */
export async function duplicatesOf(api: Api, works: readonly Work[]): Promise<readonly string[]> {
  const { vpcs, domains, images } = await readRoots(api);
  const names = new Set(works.filter(({ goal }) => goal === "apply").flatMap(({ manifest }) => namesOf(manifest)));
  const labelled = (kind: string, items: readonly JsonObject[]) =>
    items.map((item) => `${kind} ${String(item["label"])}`);
  const found = [...labelled("vpcs", vpcs), ...labelled("images", images)].filter((name) => names.has(name));
  for (const { id, domain } of domains.filter((item) => names.has(`domains ${String(item["domain"])}`))) {
    const answer = await api.list({ path: ["domains", String(id), "records"] });
    if (!answer.ok) throw new Error(answer.failure.message);
    const texts = answer.items.map(({ name, type, target, ttl_sec }) => [name, type, target, ttl_sec].join(" "));
    found.push(...texts.map((text) => `record ${text} of ${String(domain)}`));
  }
  return [...new Set(found.filter((name, index) => found.indexOf(name) !== index))];
}

interface MadeByRun {
  readonly run: number;
  readonly path: string;
  readonly id: number;
  readonly name: string;
  readonly lost: boolean;
}

function idOf(path: string): number {
  return Number(/\d+$/.exec(path)?.[0]);
}

/** The path of what was made, and what it is called. A lost answer is of use to nobody, but what it tells of is there. */
function madeBy({ method, path, body, status, answer, lost }: PassedAt, run: number): MadeByRun[] {
  if (method !== "POST" || status !== 200 || !MAKING.test(path)) return [];
  const [, collection] = path.split("/");
  const { id, image } = JSON.parse(answer) as { id?: unknown; image?: { id: unknown } };
  const { label, domain } = JSON.parse(body) as { label?: unknown; domain?: unknown };
  const made = `/${collection}/${encodeURIComponent(String(image?.id ?? id))}`;
  return [{ run, path: made, id: idOf(made), name: `${collection} ${String(domain ?? label)}`, lost }];
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
