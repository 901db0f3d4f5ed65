/** Compares a zone's delegation at its parent with what the zone's own servers say. */

import { INTERNET_CLASS, type ResourceRecord, responseCode } from "../dns/message.ts";
import { relativeName } from "../dns/name.ts";
import type { Nameserver } from "../dns/nameserver.ts";
import type { DnsAnswer, DnsQuery, QueryResult } from "../dns/query.ts";
import { compareText, shortened } from "../model/text.ts";
import type { DelegationProblem, DelegationProblemCode } from "../model/verification.ts";

/** Asks over UDP, and over TCP if that does not do. */
export type AskOne = (server: Nameserver, query: DnsQuery) => Promise<QueryResult>;

/** Servers within the zone whose addresses are compared: nobody has more, and a hostile parent must not make work. */
const MAX_GLUED_HOSTS = 16;

/** At most this many names or addresses are listed; the rest is counted, because a server may send thousands. */
const MAX_LISTED = 20;
/** Of all that are listed together. */
const MAX_LISTED_CHARACTERS = 1_000;
/** Of one host: an answer may hold thousands. */
const MAX_ADDRESSES = 100;
/** Of one zone: each of many servers may say something else. */
const MAX_PROBLEMS = 20;

/** The answer of a parent: names of servers, absolute, and their addresses where it gives them. */
interface Delegation {
  readonly parent: Nameserver;
  readonly servers: readonly string[];
  /** null: the parent holds the zone itself, so it has no glue. */
  readonly glue: ReadonlyMap<string, Addresses> | null;
}

/** The answer of a server of the zone itself. */
interface Own {
  readonly server: Nameserver;
  readonly servers: readonly string[];
  readonly addresses: ReadonlyMap<string, Addresses>;
}

/** Of a host, sorted, without duplicates. */
interface Addresses {
  readonly sorted: readonly string[];
  /** There are more than MAX_ADDRESSES: they are compared with none. */
  readonly areTooMany: boolean;
}

const NO_ADDRESSES: Addresses = { sorted: [], areTooMany: false };

/** Sorted by code, server and detail. @param zone lower-case ASCII without a final dot */
export async function checkDelegation(
  zone: string,
  parents: readonly Nameserver[],
  servers: readonly Nameserver[],
  ask: AskOne,
): Promise<DelegationProblem[]> {
  const problems = new Map<string, DelegationProblem>();
  const report = (code: DelegationProblemCode, server: Nameserver, detail: string): void => {
    const key = code === "lame" || code === "unanswered" ? `${code} ${server.label}` : `${code} ${detail}`;
    if (!problems.has(key)) problems.set(key, { zone, code, server: server.label, detail });
  };
  const delegations = await askParents(zone, parents, ask, report);
  const glued = new Set(
    delegations.flatMap(({ servers }) => servers.filter((name) => relativeName(name, zone) !== null)),
  );
  const hosts = [...glued].slice(0, MAX_GLUED_HOSTS);
  const [parent] = parents;
  if (glued.size > hosts.length && parent !== undefined) {
    const more = glued.size - hosts.length;
    report(
      "unanswered",
      parent,
      `The addresses of ${more} more servers are not compared: ${hosts.length} is the limit.`,
    );
  }
  const owns = await Promise.all(servers.map((server) => askOwn(zone, server, hosts, ask, report)));
  for (const delegation of delegations) {
    for (const own of owns) if (own !== null) compareSets(zone, delegation, own, report);
  }
  const sorted = [...problems.values()].sort(
    (a, b) => compareText(a.code, b.code) || compareText(a.server, b.server) || compareText(a.detail, b.detail),
  );
  const [next] = sorted.slice(MAX_PROBLEMS);
  if (next === undefined) return sorted;
  const more = `${sorted.length - MAX_PROBLEMS} more problems of ${zone} are not listed.`;
  return [...sorted.slice(0, MAX_PROBLEMS), { ...next, detail: more }];
}

type ReportProblem = (code: DelegationProblemCode, server: Nameserver, detail: string) => void;

async function askParents(
  zone: string,
  parents: readonly Nameserver[],
  ask: AskOne,
  report: ReportProblem,
): Promise<Delegation[]> {
  const results = await Promise.all(parents.map((parent) => ask(parent, { name: zone, type: "NS" })));
  const found: Delegation[] = [];
  for (const [index, result] of results.entries()) {
    const parent = parents[index] as Nameserver;
    const why = unansweredWhy(result);
    if (result.ok && responseCode(result.answer.rcode) === "NXDOMAIN")
      report("not-delegated", parent, notDelegated(zone));
    else if (why !== null) report("unanswered", parent, `The parent's server does not tell: ${why}.`);
    else if (result.ok) {
      const delegation = delegationIn(zone, parent, result.answer);
      if (delegation === null) report("not-delegated", parent, notDelegated(zone));
      else found.push(delegation);
    }
  }
  return found;
}

function notDelegated(zone: string): string {
  return `The parent knows no delegation of ${zone}.`;
}

function unansweredWhy(result: QueryResult): string | null {
  if (!result.ok) return result.problem.detail;
  const code = responseCode(result.answer.rcode);
  return code === "NOERROR" ? null : `it answered ${code}`;
}

function delegationIn(zone: string, parent: Nameserver, answer: DnsAnswer): Delegation | null {
  const own = serversIn(zone, answer.answers);
  if (own.length > 0) return { parent, servers: own, glue: null };
  const servers = serversIn(zone, answer.authorities);
  return servers.length === 0 ? null : { parent, servers, glue: addressesIn(answer.additionals) };
}

function serversIn(zone: string, records: readonly ResourceRecord[]): string[] {
  const names = records.flatMap((record) =>
    record.name === zone && record.class === INTERNET_CLASS && record.data.type === "NS" ? [record.data.target] : [],
  );
  return [...new Set(names)].sort(compareText);
}

function addressesIn(records: readonly ResourceRecord[]): Map<string, Addresses> {
  const found = new Map<string, Set<string>>();
  for (const { name, data, class: recordClass } of records) {
    if (recordClass !== INTERNET_CLASS || (data.type !== "A" && data.type !== "AAAA")) continue;
    const known = found.get(name);
    if (known === undefined) found.set(name, new Set([data.target]));
    else if (known.size <= MAX_ADDRESSES) known.add(data.target);
  }
  const each = [...found].map(([name, targets]) => {
    const areTooMany = targets.size > MAX_ADDRESSES;
    return [name, { sorted: areTooMany ? [] : [...targets].sort(compareText), areTooMany }] as const;
  });
  return new Map(each);
}

async function askOwn(
  zone: string,
  server: Nameserver,
  hosts: readonly string[],
  ask: AskOne,
  report: ReportProblem,
): Promise<Own | null> {
  const result = await ask(server, { name: zone, type: "NS" });
  const why = unansweredWhy(result);
  const isHolder = result.ok && why === null && result.answer.isAuthoritative;
  const names = result.ok ? serversIn(zone, result.answer.answers) : [];
  if (!isHolder || names.length === 0) {
    report("lame", server, `The server does not answer for ${zone}: ${why ?? "it holds no such zone"}.`);
    return null;
  }
  const addresses = new Map<string, Addresses>();
  for (const host of hosts) {
    const answers = await Promise.all((["A", "AAAA"] as const).map((type) => ask(server, { name: host, type })));
    const failed = answers.find((answer) => !answer.ok);
    if (failed?.ok === false) {
      report("unanswered", server, `The server does not tell the addresses of ${host}: ${failed.problem.detail}.`);
      break;
    }
    const records = answers.flatMap((answer) => (answer.ok ? answer.answer.answers : []));
    const found = addressesIn(records).get(host) ?? NO_ADDRESSES;
    if (found.areTooMany) {
      report("unanswered", server, `The server tells more than ${MAX_ADDRESSES} addresses of ${host}.`);
      break;
    }
    addresses.set(host, found);
  }
  return { server, servers: names, addresses };
}

function compareSets(zone: string, { parent, servers, glue }: Delegation, own: Own, report: ReportProblem): void {
  const [above, within] = [new Set(servers), new Set(own.servers)];
  const surplus = servers.filter((name) => !within.has(name));
  const lacking = own.servers.filter((name) => !above.has(name));
  if (surplus.length + lacking.length > 0) {
    const parts = [
      ...(surplus.length > 0 ? [`only the parent names ${listed(surplus)}`] : []),
      ...(lacking.length > 0 ? [`only the zone names ${listed(lacking)}`] : []),
    ];
    report("servers-differ", parent, `The servers of ${zone} differ: ${parts.join("; ")}.`);
  }
  if (glue === null) return;
  for (const name of servers) {
    const real = own.addresses.get(name);
    if (real === undefined) continue;
    const given = glue.get(name) ?? NO_ADDRESSES;
    if (given.areTooMany)
      report("glue-differs", parent, `For ${name} the parent has more than ${MAX_ADDRESSES} addresses.`);
    else if (given.sorted.length === 0)
      report("glue-missing", parent, `The parent has no address of ${name}, which is in the zone.`);
    else if (given.sorted.join() !== real.sorted.join()) {
      const zoneSays = real.sorted.length === 0 ? "none" : listed(real.sorted);
      report("glue-differs", parent, `For ${name} the parent has ${listed(given.sorted)}, the zone ${zoneSays}.`);
    }
  }
}

function listed(texts: readonly string[]): string {
  const [first = "", ...others] = texts.slice(0, MAX_LISTED);
  const named = [shortened(first, MAX_LISTED_CHARACTERS)];
  let characters = first.length;
  for (const text of others) {
    characters += text.length;
    if (characters > MAX_LISTED_CHARACTERS) break;
    named.push(text);
  }
  const rest = texts.length - named.length;
  return rest > 0 ? `${named.join(", ")} and ${rest} more` : named.join(", ");
}
