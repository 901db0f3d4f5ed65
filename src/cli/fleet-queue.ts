/** `--queue`: a fleet's command is carried out by workers, on this machine or others, and reports what the same command would here. */

import type { Command } from "commander";
import type {
  Fleet,
  FleetAccount,
  FleetEvent,
  FleetStore,
  ProjectDigests,
  RunRequest,
  StoreAddress,
  SubmissionEvent,
  Submitted,
} from "../fleet/index.ts";
import { type AccountResult, type FleetCommand, type Ran, UNANSWERED_MILLISECONDS } from "../model/fleet.ts";
import { escapeText } from "../render/terminal.ts";
import { EXIT } from "./exit.ts";
import { type AccountFlags, showSavedPlan } from "./fleet-account.ts";
import type { FleetTracing } from "./fleet-span.ts";
import { type CommandError, sayDiagnostics, sayError } from "./messages.ts";
import { sayBeside } from "./progress.ts";
import type { Terminal } from "./terminal.ts";

export interface QueueFlags {
  readonly queue?: string;
  readonly prefix?: string;
}

export const DEFAULT_PREFIX = "fleet";

/** Of a worker that says nothing an account is another one's after that time. */
export const DEFAULT_LEASE_MILLISECONDS = 30_000;

export function addQueueFlags(command: Command): Command {
  return command
    .option("--queue <url>", "have workers do it: redis://, rediss:// or postgres://;\nalso TENON_QUEUE")
    .option("--prefix <word>", `keeps fleets apart that share a queue (default: ${DEFAULT_PREFIX})`);
}

/** @returns null: none is named */
export function queueOf(terminal: Terminal, flags: QueueFlags): string | null {
  return flags.queue ?? (terminal.environment["TENON_QUEUE"]?.trim() || null);
}

interface Resolved {
  readonly address: StoreAddress;
  readonly prefix: string;
}

/** Where the queue is, and under which prefix. What is wrong is reported without the URL: it may hold a password. */
export async function resolveQueue(terminal: Terminal, flags: QueueFlags): Promise<Resolved | null> {
  const { isPrefix, parseStoreAddress } = await import("../fleet/index.ts");
  const url = queueOf(terminal, flags);
  if (url === null) {
    const fix = "Give --queue redis://HOST, or set TENON_QUEUE.";
    sayError(terminal, { code: "missing-option", summary: "no queue is named", fix });
    return null;
  }
  const address = parseStoreAddress(url);
  if (address === null) {
    const fix = "Write redis://HOST, rediss://HOST or postgres://HOST/DATABASE.";
    sayError(terminal, { code: "invalid-argument", summary: "the queue is not the address of one", fix });
    return null;
  }
  const prefix = flags.prefix ?? DEFAULT_PREFIX;
  if (isPrefix(prefix)) return { address, prefix };
  const fix = "Write lower-case letters, digits and hyphens, at most 32.";
  sayError(terminal, { code: "invalid-argument", summary: "--prefix is not a word", fix });
  return null;
}

export interface QueueUse {
  /** Default: DEFAULT_LEASE_MILLISECONDS. */
  readonly leaseMilliseconds?: number;
  /** Nothing is written, so that the user of the server need not be able to. */
  readonly readsOnly?: boolean;
  readonly telemetry?: FleetTracing["telemetry"];
}

/** Opens the store for a fleet, and enters the fleet's names for the prefix. @returns null: that is not possible, which is reported */
export async function openQueue(
  terminal: Terminal,
  flags: QueueFlags,
  accounts: readonly FleetAccount[],
  use: QueueUse = {},
): Promise<FleetStore | null> {
  const resolved = await resolveQueue(terminal, flags);
  if (resolved === null) return null;
  const answered = endUnlessAnswered(terminal);
  try {
    return await openAt(terminal, resolved, accounts, use);
  } finally {
    answered();
  }
}

async function openAt(
  terminal: Terminal,
  { address, prefix }: Resolved,
  accounts: readonly FleetAccount[],
  { leaseMilliseconds = DEFAULT_LEASE_MILLISECONDS, readsOnly = false, telemetry = null }: QueueUse,
): Promise<FleetStore | null> {
  const { claimPrefix, isPrefixOf, openStore } = await import("../fleet/index.ts");
  const outage = new OutageNotice(terminal, address);
  const recorded = telemetry === null ? {} : { telemetry };
  const opened = await openStore(address, { prefix, leaseMilliseconds, readsOnly, observer: outage, ...recorded });
  if (!opened.ok) {
    sayDiagnostics(terminal, [opened.diagnostic]);
    return null;
  }
  const { store } = opened;
  const names = accounts.map(({ name }) => name);
  let isOurs = false;
  try {
    isOurs = readsOnly ? await isPrefixOf(store, names) : await claimPrefix(store, names);
    if (isOurs) return store;
  } finally {
    // An open connection would keep a command from ending that has failed.
    if (!isOurs) await store.close();
  }
  sayError(terminal, {
    code: "queue-of-others",
    summary: `the prefix ${prefix} is used by another fleet`,
    fix: "Give this fleet a --prefix of its own, the same for its workers.",
  });
  return null;
}

/** Ends the process after a signal, as a second one does, unless what it returns is called soon, or nothing keeps the process any more. */
export function endUnlessAnswered(terminal: Terminal, milliseconds: number = UNANSWERED_MILLISECONDS): () => void {
  const { first } = terminal.interrupt;
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => {
    timer = setTimeout(() => endUnanswered(terminal, "The queue does not answer."), milliseconds).unref();
  };
  if (first.aborted) begin();
  else first.addEventListener("abort", begin, { once: true });
  return () => {
    first.removeEventListener("abort", begin);
    clearTimeout(timer);
  };
}

function endUnanswered(terminal: Terminal, words: string): void {
  sayBeside(terminal, words);
  terminal.interrupt.raise("SIGTERM");
}

/** Says once that a store does not answer, and once that it does again. */
class OutageNotice {
  readonly #terminal: Terminal;
  readonly #address: StoreAddress;
  #reason: string | null = null;

  constructor(terminal: Terminal, address: StoreAddress) {
    this.#terminal = terminal;
    this.#address = address;
  }

  unreachable(reason: string | null): void {
    const before = this.#reason;
    this.#reason = reason;
    const { shown } = this.#address;
    if (before === null && reason !== null)
      sayBeside(this.#terminal, `The queue at ${shown} is lost: ${reason}. Waiting.`);
    if (before !== null && reason === null) sayBeside(this.#terminal, `The queue at ${shown} is there again.`);
  }
}

/** What a fleet's command was given, as far as workers are concerned. */
export interface SubmittedFlags extends Omit<AccountFlags, "plan" | "out">, QueueFlags {
  readonly workers: number;
  readonly canary?: string;
  readonly maxFailures?: number;
  readonly stopOnGuard?: boolean;
  /** A folder. */
  readonly out?: string;
  /** The workers' folder; undefined: it is that of `out`. */
  readonly plans?: string;
  /** A folder. */
  readonly plan?: string;
}

/** The error if the command cannot be given to workers as it is. */
export async function problemOfSubmission(
  terminal: Terminal,
  command: FleetCommand,
  flags: SubmittedFlags,
): Promise<CommandError | null> {
  const consent = consentBesideQueue(flags);
  if (consent !== null) return consent;
  const { problemOfRecord } = await import("../fleet/index.ts");
  const problem = await problemOfRecord("request", requestOf(terminal, command, flags));
  if (problem === null) return null;
  // `/flags/target must NOT have more than 1000 items`
  const [, flag = null, words = problem] = /^\/flags\/(\w+)\S* (.+)$/s.exec(problem) ?? [];
  const named = flag === null ? "this command" : `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const summary = `a queue does not take ${named}: ${words}`;
  return { code: "invalid-argument", summary, fix: "Ask for less at a time, or run it without --queue." };
}

/** The error if a flag is a consent: whoever writes to the queue must not be able to give one. */
function consentBesideQueue(flags: SubmittedFlags): CommandError | null {
  const given = [
    ...((flags.allow ?? []).length > 0 ? ["--allow"] : []),
    ...((flags.takeOwnershipFrom ?? []).length > 0 ? ["--take-ownership-from"] : []),
  ];
  if (given.length === 0) return null;
  const fix = `Give ${given.join(" and ")} to tenon fleet worker, or write allow: into the manifest.`;
  return { code: "conflicting-options", summary: `${given.join(" and ")} is not sent through a queue`, fix };
}

interface ByWorkers {
  readonly command: FleetCommand;
  readonly fleet: Fleet;
  /** Whether they are selected or not. */
  readonly all: readonly FleetAccount[];
  observe(event: FleetEvent): void;
  readonly tracing: FleetTracing;
}

/** @returns a result for each account, by name; null: there can be none, which is reported */
export async function runByWorkers(
  terminal: Terminal,
  { command, fleet, all, observe, tracing }: ByWorkers,
  flags: SubmittedFlags,
): Promise<AccountResult[] | null> {
  const { digestOf, EmbeddedQueue, failedOutcome, planDigestOf, planFile, runFleet, Slots, Submission } = await import(
    "../fleet/index.ts"
  );
  const { accounts } = fleet;
  const { canary = null, maxFailures = null, stopOnGuard = false, out } = flags;
  const store = await openQueue(terminal, flags, all, { telemetry: tracing.telemetry });
  if (store === null) return null;
  const queue = new EmbeddedQueue();
  const report = (event: SubmissionEvent): void => {
    if (event.type === "begun" || event.type === "left") observe(event);
    else sayBeside(terminal, lineOf(event));
  };
  // Nothing can be taken back.
  const unanswered = (): void =>
    endUnanswered(terminal, "The queue does not answer: what was asked for may still be run.");
  const request = requestOf(terminal, command, flags);
  // Plans that are read and shown at a time.
  const showing = new Slots(flags.workers);
  const submission = new Submission({
    ...{ store, request, stop: terminal.interrupt.first },
    ...{ observe: report, unanswered },
  });
  try {
    await submission.open();
    const projects: ProjectDigests = new Map();
    // What may stop a run must not find all of it begun.
    const isBounded = maxFailures !== null || stopOnGuard;
    return await runFleet({
      ...{ accounts, queue, workers: isBounded ? flags.workers : accounts.length, canary, maxFailures, stopOnGuard },
      signal: terminal.interrupt.first,
      // What is asked for here is begun when a worker takes it.
      observe: (event) => {
        if (event.type !== "begun") observe(event);
      },
      runAccount: (account) =>
        tracing.span({ type: "account", command, account: account.name }, async (span) => {
          const plan = flags.plan === undefined ? null : await planDigestOf(planFile(flags.plan, account));
          const digest = await digestOf(account, projects);
          if (!digest.ok) {
            span.end(EXIT.error);
            return failedOutcome(
              `no worker can compare the project of ${account.name} with its own: ${digest.problem}`,
            );
          }
          const submitted = await submission.submit(account, digest.digest, plan, tracing.current());
          span.end(submitted?.outcome.code ?? "not-run");
          if (submitted === null || out === undefined) return submitted?.outcome ?? null;
          return showing.use(() => outcomeOfSaved(terminal, account, submitted, { ...flags, out }));
        }),
    });
  } finally {
    submission.close();
    await queue.close();
    await store.close();
  }
}

/**
 * What an account came to whose plan was to be saved. Who approves a plan must have seen what its file holds, and whoever can write to the queue can
 * have a worker report something else: so what is shown is read from the file.
 */
async function outcomeOfSaved(
  terminal: Terminal,
  account: FleetAccount,
  { outcome, plan }: Submitted,
  flags: SubmittedFlags & { readonly out: string },
): Promise<Ran> {
  const { code } = outcome;
  if (plan === null && code !== EXIT.done && code !== EXIT.pending) return outcome;
  const { fetchPlan, planFile } = await import("../fleet/index.ts");
  const kept = flags.plans ?? flags.out;
  const isSaved = plan !== null && (await fetchPlan(kept, flags.out, account, plan));
  if (!isSaved) return planElsewhere(outcome, kept);
  const shown = await showSavedPlan(terminal, account, planFile(flags.out, account), flags);
  return keepsDocuments(flags) ? shown : { ...shown, document: null };
}

function planElsewhere(outcome: Ran, folder: string): Ran {
  const headline = `error: no plan of the worker is in ${folder}: start it with --plans for that folder, or name its folder with fleet plan --plans`;
  return { ...outcome, code: EXIT.error, headline };
}

function lineOf(event: Exclude<SubmissionEvent, FleetEvent>): string {
  switch (event.type) {
    case "no-worker":
      return "No worker has taken anything yet. tenon fleet worker starts one.";
    case "refused":
      return `${event.account} waits for another worker: ${escapeText(event.reason)}`;
  }
}

/** Whether somebody reads the JSON documents of the accounts. */
export function keepsDocuments({ format, jsonInto }: Pick<AccountFlags, "format" | "jsonInto">): boolean {
  return format === "json" || jsonInto !== undefined;
}

/** For a terminal that is very narrow or wide the text is laid out for one that is less so. */
const MAX_COLUMNS = 10_000;

export function lookOf({ width, colour }: RunRequest["results"]): RunRequest["results"] {
  return { width: Math.min(Math.max(Math.trunc(width), 1), MAX_COLUMNS), colour };
}

function requestOf({ results, messages }: Terminal, command: FleetCommand, flags: SubmittedFlags): RunRequest {
  const { target, exclude, failOn, maxChanges, uploadTimeout, imageTimeout } = flags;
  const { clone, neverDestroy, strict, full } = flags;
  return {
    command,
    flags: {
      ...(target === undefined ? {} : { target }),
      ...(exclude === undefined ? {} : { exclude }),
      ...(failOn === undefined ? {} : { failOn }),
      ...(maxChanges === undefined ? {} : { maxChanges }),
      ...(uploadTimeout === undefined ? {} : { uploadTimeout }),
      ...(imageTimeout === undefined ? {} : { imageTimeout }),
      ...(clone === undefined ? {} : { clone }),
      ...(neverDestroy === undefined ? {} : { neverDestroy }),
      ...(strict === undefined ? {} : { strict }),
      ...(full === undefined ? {} : { full }),
      format: flags.format === "markdown" ? "markdown" : "text",
    },
    results: lookOf(results),
    messages: lookOf(messages),
    saves: flags.out !== undefined,
    documents: keepsDocuments(flags),
  };
}
