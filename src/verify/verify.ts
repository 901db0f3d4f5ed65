/** Verifies zones at real nameservers: finds the servers, asks until they give every expected answer, and reports what is missing. */

import { type Nameserver, parentServers, type SystemResolver, zoneServers } from "../dns/nameserver.ts";
import { type DnsQuery, type NameserverClient, openNameserver, type QueryResult, queryFailure } from "../dns/query.ts";
import type { Clock } from "../model/clock.ts";
import { compareText, groupBy } from "../model/text.ts";
import type { DelegationProblem, SilentServer, UnaskedZone, Verdict, Verification } from "../model/verification.ts";
import { type AskOne, checkDelegation } from "./delegation.ts";
import {
  byName,
  type Expectations,
  type ExpectedSet,
  type ExpectedZone,
  expectations,
  shownWanted,
  soaExpectation,
} from "./expectation.ts";
import type { Judgement } from "./judge.ts";
import {
  type AskedSets,
  countOf,
  MAX_SILENT_QUESTIONS,
  MAX_VALUE_CHARACTERS,
  MIN_ROUND_MILLISECONDS,
  NOT_ASKED,
  type PollProgress,
  poll,
  withoutValues,
} from "./poll.ts";

export interface VerifyRequest {
  readonly zones: readonly ExpectedZone[];
  /** Full sentences that go into the result as they are. */
  readonly notes?: readonly string[];
  /** Asked for every zone; null: each zone's own. */
  readonly nameservers: readonly Nameserver[] | null;
  readonly delegation: {
    readonly wanted: boolean;
    /** null: those of the zone above. */
    readonly parents: readonly Nameserver[] | null;
  };
  readonly resolver: SystemResolver;
  readonly clock: Clock;
  /** How long to wait for what is not there yet; 0: everything is asked once. */
  readonly timeoutMilliseconds: number;
  readonly signal: AbortSignal;
  /** Default: real connections. */
  readonly open?: (server: Nameserver) => NameserverClient;
  readonly progress?: (progress: PollProgress) => void;
}

/** Zones whose servers are looked up at a time. */
const MAX_LOOKUPS = 16;

/** Zones whose delegation is asked about at a time. */
const MAX_DELEGATIONS = 8;

interface AskedZone {
  readonly wanted: ExpectedZone;
  /** Sorted by label. */
  readonly servers: readonly Nameserver[];
  readonly hidden: Expectations["hidden"];
  /** Sorted by name and type, the zone's SOA among them. */
  readonly sets: readonly ExpectedSet[];
  /** Sorted by server and transport. Empty where there is no set. */
  readonly asked: readonly AskedSets[];
}

/** Never rejects for what servers, the network or the signal do. */
export async function verifyZones(request: VerifyRequest): Promise<Verification> {
  const resolver = new InterruptedResolver(request.resolver, request.signal);
  try {
    return await verifyWith({ ...request, resolver });
  } finally {
    resolver.close();
  }
}

/** Whose lookups fail as soon as the signal comes: those of the machine take many seconds, and there may be thousands. */
class InterruptedResolver implements SystemResolver {
  readonly #resolver: SystemResolver;
  readonly #signal: AbortSignal;
  readonly #waiting: Set<(error: Error) => void> = new Set();
  readonly #interrupt = (): void => {
    for (const reject of this.#waiting) reject(interrupted());
    this.#resolver.cancel?.();
  };

  constructor(resolver: SystemResolver, signal: AbortSignal) {
    this.#resolver = resolver;
    this.#signal = signal;
    signal.addEventListener("abort", this.#interrupt, { once: true });
  }

  nameservers(zone: string): Promise<readonly string[]> {
    return this.#await(() => this.#resolver.nameservers(zone));
  }

  addresses(host: string): Promise<readonly string[]> {
    return this.#await(() => this.#resolver.addresses(host));
  }

  close(): void {
    this.#signal.removeEventListener("abort", this.#interrupt);
  }

  #await(look: () => Promise<readonly string[]>): Promise<readonly string[]> {
    if (this.#signal.aborted) return Promise.reject(interrupted());
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      look()
        .then(resolve, reject)
        .finally(() => this.#waiting.delete(reject));
    });
  }
}

function interrupted(): Error {
  return Object.assign(new Error("The run was interrupted"), { code: "interrupted" });
}

async function verifyWith(request: VerifyRequest): Promise<Verification> {
  const { signal } = request;
  const unasked: UnaskedZone[] = [];
  const zones: AskedZone[] = [];
  await inTurns(request.zones, MAX_LOOKUPS, async (wanted) => {
    const { nameservers } = request;
    const found =
      nameservers === null
        ? await zoneServers(wanted.zone, request.resolver)
        : { ok: true as const, servers: nameservers, unasked: [] };
    for (const detail of found.ok ? found.unasked : [found.detail]) {
      unasked.push({ zone: wanted.zone, detail: sentence(detail) });
    }
    if (found.ok) zones.push(askedZone(wanted, found.servers));
  });
  zones.sort((a, b) => compareText(a.wanted.zone, b.wanted.zone));
  const open = request.open ?? ((server: Nameserver) => openNameserver(server.address));
  const asked = zones.flatMap((zone) => zone.asked);
  const { clock, timeoutMilliseconds, progress } = request;
  await poll(asked, { clock, timeoutMilliseconds, signal, open, ...(progress === undefined ? {} : { progress }) });
  const delegation = request.delegation.wanted ? await delegations(zones, request, open, unasked) : [];
  const inVain = askedInVain(asked);
  const problems = verdicts(zones, new Set(inVain.flat()));
  const askedCount = countOf(asked);
  const thereCount = askedCount - problemCount(asked);
  const unlisted = askedCount - thereCount - problems.length;
  return {
    zones: zones.map(({ wanted, servers }) => ({ zone: wanted.zone, servers: servers.map(({ label }) => label) })),
    asked: askedCount,
    there: thereCount,
    silent: silentServers(inVain),
    problems,
    delegation,
    unasked: unasked.sort((a, b) => compareText(a.zone, b.zone) || compareText(a.detail, b.detail)),
    notes: [
      ...(request.notes ?? []),
      ...zones.flatMap(hiddenNotes),
      ...(unlisted > 0 ? [`${unlisted} more answers that are not there are not listed.`] : []),
    ],
    interrupted: signal.aborted && problems.length + delegation.length + unasked.length > 0,
  };
}

function askedZone(wanted: ExpectedZone, found: readonly Nameserver[]): AskedZone {
  const { sets: declared, hidden } = expectations(wanted);
  const sets = wanted.isPart === true ? declared : [...declared, soaExpectation(wanted.zone)].sort(byName);
  const servers = [...found].sort((a, b) => compareText(a.label, b.label));
  const asked = servers.flatMap((server) =>
    (["tcp", "udp"] as const).map((transport) => ({ server, transport, sets, judgements: sets.map(() => NOT_ASKED) })),
  );
  return { wanted, servers, hidden, sets, asked: sets.length === 0 ? [] : asked };
}

function hiddenNotes({ hidden }: AskedZone): string[] {
  return hidden.map(
    ({ name, type }) => `${name} ${type} lies below a delegation: no server of the zone answers with it.`,
  );
}

/**
 * Problems that are listed; more are counted. 12,000 records at four servers over both transports have 96,000. Texts, pages and JSON are made
 * of all that are listed, also after a signal.
 */
const MAX_LISTED_PROBLEMS = 100_000;

/** Sorted. Problems at servers that answer have room first: of silent servers one line says all. */
function verdicts(zones: readonly AskedZone[], silent: ReadonlySet<AskedSets>): Verdict[] {
  const answering = zones.flatMap(({ asked }) => asked.filter((one) => !silent.has(one)));
  const room = { answering: MAX_LISTED_PROBLEMS, silent: Math.max(0, MAX_LISTED_PROBLEMS - problemCount(answering)) };
  let charactersLeft = MAX_VALUE_CHARACTERS;
  const found: Verdict[] = [];
  for (const { sets, asked } of zones) {
    for (const [index, set] of sets.entries()) {
      for (const one of asked) {
        const { server, transport, judgements } = one;
        const judgement = judgements[index] as Judgement;
        const kind = silent.has(one) ? "silent" : "answering";
        if (judgement.state === "there" || room[kind] === 0) continue;
        room[kind] -= 1;
        const { zone, name, type } = set;
        const expected = [...shownWanted(set).values()];
        const verdict = { zone, server: server.label, name, type, transport, expected, ...judgement };
        for (const value of expected) charactersLeft -= value.length;
        found.push(charactersLeft >= 0 ? verdict : { ...withoutValues(verdict), expected: [] });
      }
    }
  }
  return found;
}

function problemCount(asked: readonly AskedSets[]): number {
  return asked.reduce((sum, { judgements }) => sum + judgements.filter(({ state }) => state !== "there").length, 0);
}

/** Of each server and transport that has answered nothing at all, in any zone: what it was asked. */
function askedInVain(asked: readonly AskedSets[]): AskedSets[][] {
  const byServer = groupBy(asked, ({ server, transport }) => JSON.stringify([server.label, transport]));
  return [...byServer.values()].filter((ofServer) =>
    ofServer.every(({ judgements }) => judgements.every(({ state }) => state === "not-answering")),
  );
}

function silentServers(inVain: readonly (readonly AskedSets[])[]): SilentServer[] {
  const silent = inVain.flatMap(([first]) => {
    const { server, transport, judgements } = first as AskedSets;
    return { server: server.label, transport, detail: judgements[0]?.detail ?? "" };
  });
  return silent.sort((a, b) => compareText(a.server, b.server) || compareText(a.transport, b.transport));
}

async function delegations(
  zones: readonly AskedZone[],
  request: VerifyRequest,
  open: (server: Nameserver) => NameserverClient,
  unasked: UnaskedZone[],
): Promise<DelegationProblem[]> {
  const { delegation, resolver, signal, clock, timeoutMilliseconds } = request;
  const problems: DelegationProblem[] = [];
  const deadline = clock.now() + Math.max(timeoutMilliseconds, MIN_ROUND_MILLISECONDS);
  const servers = new PatientlyAsked(open, () => !signal.aborted && clock.now() < deadline);
  const close = (): void => servers.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    const whole = zones.filter(({ wanted }) => wanted.isPart !== true);
    await inTurns(whole, MAX_DELEGATIONS, async ({ wanted: { zone }, servers: own }) => {
      // Nobody looked, so nothing is verified.
      if (signal.aborted) {
        unasked.push({ zone, detail: "Its delegation was not asked for: the run was interrupted." });
        return;
      }
      const found =
        delegation.parents === null
          ? await parentServers(zone, resolver)
          : { ok: true as const, servers: delegation.parents };
      if (!found.ok) unasked.push({ zone, detail: sentence(found.detail) });
      else {
        const ask: AskOne = (server, query) => servers.ask(server, query);
        for (const problem of await checkDelegation(zone, found.servers, own, ask)) problems.push(problem);
      }
    });
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
  return problems.sort((a, b) => compareText(a.zone, b.zone));
}

interface Patience {
  readonly client: NameserverClient;
  /** Questions in a row without an answer. */
  silentCount: number;
  /** The failure of the last question, once the server is given up. */
  silence: QueryResult | null;
}

/** Servers that may be asked for many zones: a silent one is given up, so that it does not cost each of them its time. */
class PatientlyAsked {
  /** By address: each zone may name the same server anew. */
  readonly #asked: Map<string, Patience> = new Map();
  readonly #open: (server: Nameserver) => NameserverClient;
  readonly #mayAsk: () => boolean;

  constructor(open: (server: Nameserver) => NameserverClient, mayAsk: () => boolean) {
    this.#open = open;
    this.#mayAsk = mayAsk;
  }

  /** Over UDP, and over TCP if that does not do. */
  async ask(server: Nameserver, query: DnsQuery): Promise<QueryResult> {
    const key = `${server.address.host} ${server.address.port}`;
    const asked = this.#asked.get(key) ?? { client: this.#open(server), silentCount: 0, silence: null };
    this.#asked.set(key, asked);
    if (asked.silence !== null) return asked.silence;
    if (!this.#mayAsk()) return queryFailure("timeout", NOT_ASKED.detail);
    const first = await asked.client.ask(query, "udp");
    const result = first.ok && !first.answer.isTruncated ? first : await asked.client.ask(query, "tcp");
    asked.silentCount = result.ok ? 0 : asked.silentCount + 1;
    if (asked.silentCount >= MAX_SILENT_QUESTIONS) asked.silence = result;
    return result;
  }

  close(): void {
    for (const { client } of this.#asked.values()) client.close();
  }
}

function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}

async function inTurns<Item>(
  items: readonly Item[],
  maxAtATime: number,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await act(item);
  };
  await Promise.all(Array.from({ length: maxAtATime }, worker));
}
