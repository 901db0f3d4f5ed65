/** Asks until everything is there or the time is over: every set at every server over both transports, what is there only once. */

import type { Nameserver } from "../dns/nameserver.ts";
import type { NameserverClient } from "../dns/query.ts";
import type { Transport } from "../dns/query-message.ts";
import type { ExpectedSet } from "./expectation.ts";
import { type Judgement, judge } from "./judge.ts";

/** Milliseconds since the epoch; a sleep ends early, by resolving, when the signal is aborted. */
export interface VerifyClock {
  now(): number;
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** One set at one server over one transport, and how it stands. */
export interface Check {
  readonly set: ExpectedSet;
  readonly server: Nameserver;
  readonly transport: Transport;
  judgement: Judgement;
}

export interface PollProgress {
  readonly there: number;
  readonly total: number;
}

export interface PollOptions {
  readonly clock: VerifyClock;
  /** 0: everything is asked once. */
  readonly timeoutMilliseconds: number;
  readonly signal: AbortSignal;
  open(server: Nameserver): NameserverClient;
  progress?(progress: PollProgress): void;
}

/** Questions at one server at a time, for each transport. */
const MAX_QUESTIONS_PER_SERVER = 4;

/** Of so many in a row without an answer the server is taken to be silent, until the next round. */
const MAX_SILENT_QUESTIONS = 4;

const FIRST_PAUSE_MILLISECONDS = 1_000;
const MAX_PAUSE_MILLISECONDS = 15_000;

/** However short the time to wait is, servers have this long to answer everything once. */
const MIN_ROUND_MILLISECONDS = 60_000;

const NOT_ASKED: Judgement = { state: "not-answering", found: [], detail: "the time was over before it was asked" };

export function checksOf(sets: readonly ExpectedSet[], servers: readonly Nameserver[]): Check[] {
  return servers.flatMap((server) =>
    (["udp", "tcp"] as const).flatMap((transport) =>
      sets.map((set) => ({ set, server, transport, judgement: NOT_ASKED })),
    ),
  );
}

/** Fills in the judgements. Never rejects for what servers or the network do. */
export async function poll(checks: readonly Check[], options: PollOptions): Promise<void> {
  const { clock, timeoutMilliseconds, signal } = options;
  const startedAt = clock.now();
  const deadline = startedAt + timeoutMilliseconds;
  const lastAnswer = startedAt + Math.max(timeoutMilliseconds, MIN_ROUND_MILLISECONDS);
  const tally = new Tally(checks.length, options);
  let pending = checks;
  for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause = Math.min(pause * 2, MAX_PAUSE_MILLISECONDS)) {
    await askAll(pending, options, lastAnswer, tally);
    pending = pending.filter(({ judgement }) => judgement.state !== "there");
    const left = deadline - clock.now();
    if (pending.length === 0 || left <= 0 || signal.aborted) return;
    await clock.sleep(Math.min(pause, left), signal);
    if (signal.aborted) return;
  }
}

/** Counts what is there, and tells. */
class Tally {
  #there = 0;
  readonly #total: number;
  readonly #options: PollOptions;

  constructor(total: number, options: PollOptions) {
    this.#total = total;
    this.#options = options;
  }

  count(): void {
    this.#there += 1;
    this.#options.progress?.({ there: this.#there, total: this.#total });
  }
}

/** One round: each server by itself, so that a silent one keeps none of the others waiting. */
async function askAll(checks: readonly Check[], options: PollOptions, lastAnswer: number, tally: Tally): Promise<void> {
  const { signal } = options;
  const clients = new Map<string, NameserverClient>();
  const queues = new Map<string, { client: NameserverClient; checks: Check[] }>();
  for (const check of checks) {
    const { host, port } = check.server.address;
    const address = `${host} ${port}`;
    const client = clients.get(address) ?? options.open(check.server);
    clients.set(address, client);
    const key = `${address} ${check.transport}`;
    const queue = queues.get(key) ?? { client, checks: [] };
    queues.set(key, queue);
    queue.checks.push(check);
  }
  const close = (): void => {
    for (const client of clients.values()) client.close();
  };
  if (signal.aborted) return;
  signal.addEventListener("abort", close, { once: true });
  try {
    const mayAsk = (): boolean => !signal.aborted && options.clock.now() < lastAnswer;
    await Promise.all([...queues.values()].map(({ client, checks }) => askQueue(client, checks, mayAsk, tally)));
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}

async function askQueue(
  client: NameserverClient,
  checks: readonly Check[],
  mayAsk: () => boolean,
  tally: Tally,
): Promise<void> {
  const left = checks.values();
  let silent = 0;
  let silence: Judgement | null = null;
  const worker = async (): Promise<void> => {
    for (const check of left) {
      if (silence !== null) check.judgement = silence;
      else if (mayAsk()) {
        const result = await client.ask({ name: check.set.name, type: check.set.type }, check.transport);
        if (!result.ok && result.problem.code === "aborted") return;
        check.judgement = judge(check.set, result);
        silent = result.ok ? 0 : silent + 1;
        if (silent >= MAX_SILENT_QUESTIONS) silence = check.judgement;
        if (check.judgement.state === "there") tally.count();
      }
    }
  };
  await Promise.all(Array.from({ length: MAX_QUESTIONS_PER_SERVER }, worker));
}
