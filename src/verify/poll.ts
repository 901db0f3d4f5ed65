/** Asks until everything is there or the time is over: every set at every server over both transports, what is there only once. */

import type { Nameserver } from "../dns/nameserver.ts";
import type { NameserverClient, Transport } from "../dns/query.ts";
import type { Clock } from "../model/clock.ts";
import type { ExpectedSet } from "./expectation.ts";
import { type Judgement, judgeAnswer } from "./judge.ts";

/** The sets of a zone at one server over one transport, and how each stands. */
export interface AskedSets {
  readonly server: Nameserver;
  readonly transport: Transport;
  readonly sets: readonly ExpectedSet[];
  /** By the index of the set. There may be millions: what is not known yet, or is there, is one object for all. */
  readonly judgements: Judgement[];
}

export interface PollProgress {
  readonly there: number;
  readonly total: number;
}

interface PollOptions {
  readonly clock: Clock;
  /** 0: everything is asked once. */
  readonly timeoutMilliseconds: number;
  readonly signal: AbortSignal;
  open(server: Nameserver): NameserverClient;
  progress?(progress: PollProgress): void;
}

/** Questions at one server at a time, for each transport. */
const MAX_QUESTIONS_PER_SERVER = 4;

/** After so many questions in a row without an answer the server is taken to be silent, until the next round. */
export const MAX_SILENT_QUESTIONS = 4;

const FIRST_PAUSE_MILLISECONDS = 1_000;
const MAX_PAUSE_MILLISECONDS = 15_000;

/** However short the time to wait is, servers have this long to answer everything once. */
export const MIN_ROUND_MILLISECONDS = 60_000;

export const NOT_ASKED: Judgement = {
  state: "not-answering",
  found: [],
  detail: "the time was over before it was asked",
};

/** Whatever was found: nobody is told the values that are as they must be. */
const THERE: Judgement = { state: "there", found: [], detail: "" };

export function countOf(asked: readonly AskedSets[]): number {
  return asked.reduce((sum, { sets }) => sum + sets.length, 0);
}

/** Fills in the judgements. Never rejects for what servers or the network do. */
export async function poll(asked: readonly AskedSets[], options: PollOptions): Promise<void> {
  const { clock, timeoutMilliseconds, signal } = options;
  const startedAt = clock.now();
  const deadline = startedAt + timeoutMilliseconds;
  const lastAnswer = startedAt + Math.max(timeoutMilliseconds, MIN_ROUND_MILLISECONDS);
  const tally = new Tally(countOf(asked), options);
  let pending = asked;
  for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause = Math.min(pause * 2, MAX_PAUSE_MILLISECONDS)) {
    await askAll(pending, options, lastAnswer, tally);
    pending = pending.filter(({ judgements }) => judgements.some(({ state }) => state !== "there"));
    const left = deadline - clock.now();
    if (pending.length === 0 || left <= 0 || signal.aborted) return;
    await clock.sleep(Math.min(pause, left), signal);
    if (signal.aborted) return;
  }
}

/**
 * Of the values that were found, of all judgements together, and of those that were expected, of all verdicts: each set has one for each server
 * and transport, and may hold thousands of long texts.
 */
export const MAX_VALUE_CHARACTERS: number = 32 * 1024 * 1024;
const VALUES_LEFT_OUT = "its values are left out: there are too many to list";

/** Counts what is there, and reports progress; bounds the values that are kept. */
class Tally {
  #there = 0;
  #charactersLeft = MAX_VALUE_CHARACTERS;
  readonly #total: number;
  readonly #options: PollOptions;

  constructor(total: number, options: PollOptions) {
    this.#total = total;
    this.#options = options;
  }

  /** @returns what is kept of the judgement */
  count(before: Judgement, now: Judgement): Judgement {
    this.#charactersLeft += charactersOf(before);
    if (now.state === "there") {
      this.#there += 1;
      this.#options.progress?.({ there: this.#there, total: this.#total });
      return THERE;
    }
    const kept = charactersOf(now) > this.#charactersLeft ? withoutValues(now) : now;
    this.#charactersLeft -= charactersOf(kept);
    return kept;
  }
}

export function withoutValues<Judged extends Judgement>(judged: Judged): Judged {
  if (judged.detail.endsWith(VALUES_LEFT_OUT)) return judged;
  const detail = [judged.detail, VALUES_LEFT_OUT].filter((text) => text !== "").join("; ");
  return { ...judged, found: [], detail };
}

function charactersOf({ found }: Judgement): number {
  return found.reduce((sum, { length }) => sum + length, 0);
}

/** One round: each server by itself, so that a silent one keeps none of the others waiting. */
async function askAll(
  pending: readonly AskedSets[],
  options: PollOptions,
  lastAnswer: number,
  tally: Tally,
): Promise<void> {
  const { signal } = options;
  const clients = new Map<string, NameserverClient>();
  const queues = new Map<string, { client: NameserverClient; asked: AskedSets[] }>();
  for (const asked of pending) {
    const { host, port } = asked.server.address;
    const address = `${host} ${port}`;
    const client = clients.get(address) ?? options.open(asked.server);
    clients.set(address, client);
    const key = `${address} ${asked.transport}`;
    const queue = queues.get(key) ?? { client, asked: [] };
    queues.set(key, queue);
    queue.asked.push(asked);
  }
  const close = (): void => {
    for (const client of clients.values()) client.close();
  };
  if (signal.aborted) return;
  signal.addEventListener("abort", close, { once: true });
  try {
    const mayAsk = (): boolean => !signal.aborted && options.clock.now() < lastAnswer;
    await Promise.all([...queues.values()].map(({ client, asked }) => askQueue(client, asked, mayAsk, tally)));
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}

async function askQueue(
  client: NameserverClient,
  queue: readonly AskedSets[],
  mayAsk: () => boolean,
  tally: Tally,
): Promise<void> {
  const left = pendingIn(queue);
  let silent = 0;
  let silence: Judgement | null = null;
  const worker = async (): Promise<void> => {
    for (const [{ sets, transport, judgements }, index] of left) {
      const before = judgements[index] as Judgement;
      if (silence !== null) judgements[index] = tally.count(before, silence);
      else if (mayAsk()) {
        const set = sets[index] as ExpectedSet;
        const result = await client.ask({ name: set.name, type: set.type }, transport);
        if (!result.ok && result.problem.code === "aborted") return;
        const judgement = judgeAnswer(set, result);
        judgements[index] = tally.count(before, judgement);
        silent = result.ok ? 0 : silent + 1;
        if (silent >= MAX_SILENT_QUESTIONS) silence = judgement;
      }
    }
  };
  await Promise.all(Array.from({ length: MAX_QUESTIONS_PER_SERVER }, worker));
}

function* pendingIn(queue: readonly AskedSets[]): Generator<[AskedSets, number]> {
  for (const asked of queue) {
    for (const [index, { state }] of asked.judgements.entries()) if (state !== "there") yield [asked, index];
  }
}
