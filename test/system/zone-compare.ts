/** Whether a nameserver answers exactly what the API lists, as c-ares and dig read it; what is below a delegation, with a referral. */

import type { Resolver } from "node:dns/promises";
import type { AnswerLine, ApiDomain, ApiRecord, Served } from "./zone-judge.ts";

/** OBSERVED: what 0 stands for, and how many name servers the service adds. */
const DEFAULT_TTL_SECONDS = 86_400;
const SERVICE_NAME_SERVERS = [1, 2, 3, 4, 5].map((number) => `ns${number}.node.com`);

/** In longer messages c-ares 1.34 takes whole names that follow the answer for bad ones. */
const MAX_CARES_OCTETS = 16_000;

/** All records of one name and type, as one answer. */
interface RecordSet {
  /** Absolute, lower case, without a final dot. */
  readonly owner: string;
  readonly type: string;
  readonly ttl: number;
  /** In one spelling, without duplicates, sorted. */
  readonly values: readonly string[];
  readonly octets: number;
}

/** @returns a sentence per difference */
export async function compare(served: Served, domain: ApiDomain, records: readonly ApiRecord[]): Promise<string[]> {
  const zone = domain.domain.toLowerCase();
  const sets = recordSets(domain, records);
  const cuts = new Set(sets.filter(({ owner, type }) => type === "NS" && owner !== zone).map(({ owner }) => owner));
  const problems: string[] = [];
  const answered: RecordSet[] = [];
  for (const set of sets) {
    const cut = highestCut(set.owner, zone, cuts);
    if (cut !== null) problems.push(...(await referralProblems(served, set, cut)));
    else answered.push(set);
  }
  await inTurns(answered.filter(isForCares), async (set) => {
    problems.push(...(await valueProblems(served.resolver, set, set.owner)));
    // RFC 4592, 2.1.1: what the wildcard stands for.
    if (set.owner.startsWith("*.")) {
      problems.push(...(await valueProblems(served.resolver, set, `nobody-else.has-it${set.owner.slice(1)}`)));
    }
  });
  problems.push(...(await lineProblems(served, answered)));
  return problems;
}

/** How many sets of one name and type there are, so that a test can see that it compared something. */
export function setsOf(domain: ApiDomain, records: readonly ApiRecord[]): number {
  return recordSets(domain, records).length;
}

function recordSets(domain: ApiDomain, records: readonly ApiRecord[]): RecordSet[] {
  const zone = domain.domain.toLowerCase();
  const zoneTtl = domain.ttl_sec || DEFAULT_TTL_SECONDS;
  const servers = SERVICE_NAME_SERVERS.map((target) => ({ type: "NS", name: "", target, ttl_sec: 0 }) as ApiRecord);
  const groups = new Map<string, ApiRecord[]>();
  for (const record of [...servers, ...records]) {
    const owner = (record.name === "" ? zone : `${record.name}.${zone}`).toLowerCase();
    const key = `${owner} ${record.type}`;
    groups.set(key, [...(groups.get(key) ?? []), record]);
  }
  return [...groups].map(([key, group]) => {
    const [owner = "", type = ""] = key.split(" ");
    const ttl = Math.min(...group.map(({ ttl_sec }) => ttl_sec || zoneTtl));
    const octets = group.reduce((sum, { target }) => sum + 30 + Buffer.byteLength(target) * 1.005, 0);
    return { owner, type, ttl, values: canonical(group.map(apiValue)), octets };
  });
}

function canonical(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}

/** An address in the one spelling that URLs have for it. */
function sixth(address: string): string {
  return new URL(`http://[${address}]`).hostname;
}

function apiValue({ type, target, priority, weight, port, tag }: ApiRecord): string {
  const bytes = Buffer.from(target).toString("latin1");
  if (type === "A") return target;
  if (type === "AAAA") return sixth(target);
  if (type === "TXT") return bytes;
  if (type === "CAA") return `0 ${tag} ${bytes}`;
  if (type === "MX") return `${priority} ${target.toLowerCase()}`;
  if (type === "SRV") return `${priority} ${weight} ${port} ${target.toLowerCase()}`;
  return target.toLowerCase();
}

/** The answer as c-ares reads it, in the same spelling. */
const ASK: Readonly<Record<string, (resolver: Resolver, name: string) => Promise<string[]>>> = {
  A: (resolver, name) => resolver.resolve4(name),
  AAAA: async (resolver, name) => (await resolver.resolve6(name)).map(sixth),
  NS: async (resolver, name) => (await resolver.resolveNs(name)).map(lower),
  CNAME: async (resolver, name) => (await resolver.resolveCname(name)).map(lower),
  PTR: async (resolver, name) => (await resolver.resolvePtr(name)).map(lower),
  MX: async (resolver, name) =>
    (await resolver.resolveMx(name)).map(({ priority, exchange }) => `${priority} ${lower(exchange)}`),
  SRV: async (resolver, name) =>
    (await resolver.resolveSrv(name)).map(
      ({ priority, weight, port, name: host }) => `${priority} ${weight} ${port} ${lower(host)}`,
    ),
  // One character per octet, in an array of the strings the record is made of.
  TXT: async (resolver, name) => (await resolver.resolveTxt(name)).map((strings) => strings.join("")),
  CAA: async (resolver, name) =>
    (await resolver.resolveCaa(name)).map(({ critical, ...property }) => {
      const [[tag, value] = []] = Object.entries(property);
      return `${critical} ${tag} ${value}`;
    }),
};

function lower(name: string): string {
  return name.toLowerCase();
}

async function valueProblems(resolver: Resolver, set: RecordSet, name: string): Promise<string[]> {
  let answer: string[];
  try {
    answer = canonical((await ASK[set.type]?.(resolver, name)) ?? []);
  } catch (error) {
    return [`${name} ${set.type}: ${(error as { code?: string }).code ?? String(error)}`];
  }
  if (JSON.stringify(answer) === JSON.stringify(set.values)) return [];
  return [`${name} ${set.type}: ${JSON.stringify(answer)} instead of ${JSON.stringify(set.values)}`];
}

/** dig reads all; c-ares asks for no name with a plus sign, and Node ends a CAA value at a NUL. */
function isForCares({ owner, type, values, octets }: RecordSet): boolean {
  if (owner.includes("+") || octets > MAX_CARES_OCTETS) return false;
  return type !== "CAA" || values.every((value) => !value.includes("\0"));
}

/** dig's lines: the same values, and all with the one TTL. */
async function lineProblems(served: Served, sets: readonly RecordSet[]): Promise<string[]> {
  const lines = await served.answers(sets.map(({ owner, type }) => `-q ${owner}. -t ${type}`));
  const bySet = new Map<string, AnswerLine[]>();
  for (const line of lines) {
    const key = `${line.name} ${line.type}`;
    const known = bySet.get(key);
    if (known === undefined) bySet.set(key, [line]);
    else known.push(line);
  }
  return sets.flatMap(({ owner, type, ttl, values }) => {
    const found = bySet.get(`${owner} ${type}`) ?? [];
    const expected = values.map((value) => `${ttl} ${value}`);
    const answer = found.map((line) => `${line.ttl} ${lineValue(line)}`).sort();
    return JSON.stringify(answer) === JSON.stringify(expected.sort())
      ? []
      : [`${owner} ${type}: dig reads ${JSON.stringify(answer)} instead of ${JSON.stringify(expected)}`];
  });
}

/** RFC 1035, 5.1, in the spelling of the other values. */
function lineValue({ type, data }: AnswerLine): string {
  if (type === "AAAA") return sixth(data);
  if (type === "TXT") return unquoted(data);
  if (type === "CAA") return data.replace(/"(.*)"$/s, unquoted);
  return data.toLowerCase().replace(/\.$/, "");
}

/** All strings as one. */
function unquoted(strings: string): string {
  return [...strings.matchAll(/"((?:[^"\\]|\\.)*)"/gs)]
    .map(([, string = ""]) =>
      string.replace(/\\(\d{3}|.)/gs, (_, code: string) =>
        code.length === 3 ? String.fromCharCode(Number(code)) : code,
      ),
    )
    .join("");
}

/** The delegation nearest to the apex that holds the name: what is at and below it is another zone's (RFC 1034, 4.2.1). */
function highestCut(owner: string, zone: string, cuts: ReadonlySet<string>): string | null {
  let found: string | null = null;
  for (let name = owner; name !== zone; name = name.slice(name.indexOf(".") + 1)) if (cuts.has(name)) found = name;
  return found;
}

async function referralProblems(served: Served, { owner, type }: RecordSet, cut: string): Promise<string[]> {
  const text = await served.dig(owner, type);
  const counts = /^;; flags: ([a-z ]*); QUERY: 1, ANSWER: (\d+), AUTHORITY: (\d+)/m.exec(text);
  const authority = text.split(";; AUTHORITY SECTION:\n")[1]?.split("\n")[0]?.split(/\s+/) ?? [];
  const isReferral =
    text.includes("status: NOERROR") &&
    counts !== null &&
    !(counts[1] ?? "").split(" ").includes("aa") &&
    counts[2] === "0" &&
    authority[0]?.toLowerCase() === `${cut}.` &&
    authority[3] === "NS";
  return isReferral ? [] : [`${owner} ${type}: no referral to ${cut}:\n${text}`];
}

const AT_ONCE = 20;

async function inTurns<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await act(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
