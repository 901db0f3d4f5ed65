/** `tenon fleet worker`: takes accounts of its fleet file from a queue, and runs for each what is asked for, until a signal comes. */

import { setMaxListeners } from "node:events";
import { hostname } from "node:os";
import type {
  Fleet,
  FleetAccount,
  FoundAccount,
  Hold,
  PendingRun,
  RunRequest,
  RunResult,
  WorkerEvent,
} from "../fleet/index.ts";
import type { ApiEvent, ClientApi, Consent } from "../index.ts";
import type { Ran } from "../model/fleet.ts";
import { DEFAULT_UPLOAD_TIMEOUT_SECONDS } from "../model/plan.ts";
import { Secret } from "../model/secret.ts";
import { renderTransitionMessage } from "../render/fleet-message.ts";
import { escapeText } from "../render/terminal.ts";
import { count } from "../render/view.ts";
import type { WithClient } from "./connection.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import type { ListenAt } from "./flags.ts";
import { type AccountFlags, runAccount, tokenTextOf } from "./fleet-account.ts";
import { ownMetrics, serveMetrics } from "./fleet-metrics.ts";
import type { FleetSource } from "./fleet-open.ts";
import { endUnlessAnswered, openQueue, type QueueFlags } from "./fleet-queue.ts";
import { openTracing } from "./fleet-tracing.ts";
import { hearSignals, type Interrupt } from "./interrupt.ts";
import { sayLine } from "./say-line.ts";
import { readVersion, type Terminal } from "./terminal.ts";
import { openNotices, resolveWebhook, type WebhookFlags } from "./webhook.ts";

export interface WorkerFlags extends QueueFlags, WebhookFlags {
  readonly metrics?: ListenAt;
  readonly workers: number;
  /** Seconds. */
  readonly lease: number;
  /** A folder. */
  readonly plans?: string;
  readonly tokenHost?: readonly string[];
  readonly allow?: readonly Consent[];
  /** Seconds. */
  readonly uploadTimeout?: number;
  readonly takeOwnershipFrom?: readonly string[];
}

/** A worker that ends waits so long for connections to a store that does not answer. */
const CLOSE_MILLISECONDS = 500;
/** A worker that ends waits so long for a webhook that is slow. */
const LAST_MESSAGES_MILLISECONDS = 2_000;

/** @param source is opened once at the start, and before each account */
export async function serve(
  terminal: Terminal,
  source: FleetSource,
  flags: WorkerFlags,
  connect: WithClient<ClientApi>,
): Promise<ExitCode> {
  const opened = await source.open();
  if (!opened.ok) return opened.code;
  const { fleet } = opened;
  const leaseMilliseconds = flags.lease * 1000;
  const { interrupt } = terminal;
  const webhook = await resolveWebhook(terminal, flags);
  if (webhook === "invalid") return EXIT.error;
  const serving = async (): Promise<ExitCode> => {
    const tracing = await openTracing(terminal);
    try {
      const { telemetry } = tracing;
      const store = await openQueue(terminal, flags, fleet.accounts, { leaseMilliseconds, telemetry });
      if (store === null) return EXIT.error;
      const { ActivityRecorder, KeptPrefix, serveFleet } = await import("../fleet/index.ts");
      const worker = new FleetWorker(terminal, source, flags, connect);
      let posted = (_message: string | null): void => {};
      const activity = new ActivityRecorder({
        ...{ store, worker: worker.name, now: () => Date.now() },
        ended: ({ account, before, after }) => posted(renderTransitionMessage(account, before, after)),
      });
      const metrics =
        flags.metrics === undefined
          ? null
          : await serveMetrics(terminal, flags.metrics, () => ownMetrics(activity.totals, worker.name, readVersion()));
      if (metrics === "failed") {
        await activity.end();
        await store.close();
        return EXIT.error;
      }
      const notices = webhook === null ? null : await openNotices(terminal, webhook);
      posted = (message) => notices?.post(message);
      worker.learnVariables(fleet);
      const prefix = new KeptPrefix(
        store,
        fleet.accounts.map(({ name }) => name),
      );
      terminal.say(
        `Serving ${count(fleet.accounts.length, "account", "accounts")} as ${worker.name}, ${flags.workers} at a time.\n`,
      );
      try {
        await serveFleet({
          ...{ store, leaseMilliseconds, slots: flags.workers, stop: interrupt.first, name: worker.name },
          find: (name) => worker.find(name),
          tokenOf: (account, request) => worker.tokenOf(account, request),
          refuses: (account, request, pending) => worker.refuses(account, request, pending),
          run: (account, request, pending, hold) => {
            const { command } = request;
            const parent = pending?.trace ?? null;
            return tracing.span({ type: "run", command, account: account.name, parent }, async (span) => {
              const observe = (event: ApiEvent): void => {
                activity.observe(account.name, event);
                span.observe(event);
              };
              const result = await worker.run(account, request, pending, hold, observe);
              const outcome = "postponedMilliseconds" in result ? "postponed" : result.outcome.code;
              span.end(hold.lost.aborted ? "overtaken" : outcome);
              return result;
            });
          },
          fail: (reason) => failed(EXIT.error, escapeText(reason)),
          observe: (event) => {
            activity.report(event);
            worker.report(event);
          },
        });
      } finally {
        prefix.end();
        await activity.end();
        await notices?.close(AbortSignal.any([interrupt.second, AbortSignal.timeout(LAST_MESSAGES_MILLISECONDS)]));
        await metrics?.close();
        const answered = endUnlessAnswered(terminal, CLOSE_MILLISECONDS);
        await store.close();
        answered();
      }
      return interrupt.code() ?? EXIT.done;
    } finally {
      await tracing.close();
      // Connections to a server that stands still would keep the process for good.
      endUnlessAnswered(terminal, CLOSE_MILLISECONDS);
    }
  };
  // The first signal comes to the end of what runs, the second while that computes.
  return interrupt.whileManyRun(() => interrupt.whileHandlingSignals(serving));
}

class FleetWorker {
  readonly name: string = `${hostname()}:${process.pid}`;
  readonly #terminal: Terminal;
  readonly #source: FleetSource;
  readonly #flags: WorkerFlags;
  readonly #connect: WithClient<ClientApi>;
  /** Every variable that ever held a token: a file that names fewer must not show an account the others' tokens. */
  readonly #hidden: Set<string> = new Set();
  /** Why accounts were left for other workers last. */
  readonly #refused: Map<string, string> = new Map();

  constructor(terminal: Terminal, source: FleetSource, flags: WorkerFlags, connect: WithClient<ClientApi>) {
    this.#terminal = terminal;
    this.#source = source;
    this.#flags = flags;
    this.#connect = connect;
  }

  learnVariables({ accounts }: Pick<Fleet, "accounts">): void {
    for (const { token } of accounts) if ("env" in token) this.#hidden.add(token.env);
  }

  async find(name: string): Promise<FoundAccount> {
    const { findLinked } = await import("../fleet/index.ts");
    const opened = await this.#source.open();
    if (!opened.ok) return { type: "refused", reason: `the fleet file of worker ${this.name} cannot be read` };
    const { fleet } = opened;
    this.learnVariables(fleet);
    const account = fleet.accounts.find((one) => one.name === name);
    if (account === undefined)
      return { type: "refused", reason: `the fleet file of worker ${this.name} has no account ${name}` };
    const linked = await findLinked(account, fleet.folder);
    return linked === null ? { type: "found", account } : { type: "refused", reason: linked };
  }

  async refuses(account: FleetAccount, request: RunRequest, pending: PendingRun | null): Promise<string | null> {
    const { digestOf } = await import("../fleet/index.ts");
    const own = pending === null ? null : await digestOf(account);
    if (own?.ok === false) {
      return `the files of the project of ${account.name} cannot all be read on worker ${this.name}: ${own.problem}`;
    }
    if (own !== null && own.digest !== pending?.digest) {
      return `the entry or the project of ${account.name} differs on worker ${this.name}: use the same revision of both`;
    }
    if ((pending?.plan != null || request.saves) && this.#flags.plans === undefined) {
      return `worker ${this.name} has no folder for plans: start it with --plans`;
    }
    if (request.command === "validate" || (await tokenTextOf(this.#terminal, account)) !== "") return null;
    const { token } = account;
    const fix = "env" in token ? `start it with ${token.env} set` : `put the token into ${token.file} there`;
    return `worker ${this.name} has no token for ${account.name}: ${fix}`;
  }

  async tokenOf(account: FleetAccount, request: RunRequest): Promise<string | null> {
    const { tokenDigestOf } = await import("../fleet/index.ts");
    const token = request.command === "validate" ? "" : await tokenTextOf(this.#terminal, account);
    return token === "" ? null : tokenDigestOf(account, token);
  }

  async run(
    account: FleetAccount,
    request: RunRequest,
    pending: PendingRun | null,
    hold: Hold,
    observeApi: (event: ApiEvent) => void,
  ): Promise<RunResult> {
    const { approvedPlan, keepPlan, newPlanFile } = await import("../fleet/index.ts");
    const { plans, allow, takeOwnershipFrom } = this.#flags;
    const approved = pending?.plan ?? null;
    const reviewed = approved === null || plans === undefined ? null : await approvedPlan(plans, account, approved);
    if (approved !== null && reviewed === null) return { outcome: superseded(account), plan: null };
    const made = request.saves && plans !== undefined ? await newPlanFile(plans, account) : null;
    const flags: AccountFlags = {
      ...request.flags,
      clone: request.flags.clone ?? true,
      ...(request.command === "apply" ? { yes: true } : {}),
      ...(reviewed === null ? {} : { plan: reviewed }),
      ...(made === null ? {} : { out: made }),
      ...(allow === undefined ? {} : { allow }),
      ...(takeOwnershipFrom === undefined ? {} : { takeOwnershipFrom }),
      // A shorter time of whoever asks ends their own upload, but gives no consent to take another's.
      leastLease: this.#flags.uploadTimeout ?? DEFAULT_UPLOAD_TIMEOUT_SECONDS,
      admit: (signal) => hold.admit(signal),
      pace: hold.pace,
    };
    const waits = new LongWaits(hold.mayPostpone);
    const { interrupt, end } = interruptOfTurn(this.#terminal.interrupt, [hold.lost, waits.signal]);
    try {
      const observe = (event: ApiEvent): void => {
        waits.see(event);
        observeApi(event);
      };
      const terminal = withLook({ ...this.#terminal, interrupt, observe }, request);
      const connect = request.command === "apply" ? this.#connect : null;
      const ran = await runAccount(terminal, request.command, account, flags, {
        ...{ hidden: this.#hidden, connect, keepsDocument: request.documents },
      });
      await hearSignals();
      if (waits.milliseconds !== null) return { postponedMilliseconds: waits.milliseconds };
      const outcome = redacted(ran, await tokenTextOf(this.#terminal, account));
      return { outcome, plan: made === null ? null : await keepPlan(made) };
    } finally {
      end();
    }
  }

  report(event: WorkerEvent): void {
    const line = lineOf(event);
    // It is asked for again every second.
    const isKnown = event.type === "refused" && this.#refused.get(event.account) === event.reason;
    if (line !== null && !isKnown) sayLine(this.#terminal, line);
    if (event.type === "refused") this.#refused.set(event.account, event.reason);
    else this.#refused.delete(event.account);
    if (event.type !== "failed" || !this.#terminal.environment["TENON_DEBUG"]) return;
    const stack = event.error instanceof Error ? (event.error.stack ?? "") : "";
    for (const one of stack.split("\n")) this.#terminal.say(`${escapeText(one)}\n`);
  }
}

function lineOf(event: WorkerEvent): string | null {
  switch (event.type) {
    case "begun":
      return null;
    case "done":
      return `${event.account}: ${event.request.command}: ${escapeText(event.outcome.headline)}`;
    case "refused":
      return `${event.account}: left for another worker: ${escapeText(event.reason)}`;
    case "postponed":
      return `${event.account}: put back for ${Math.ceil(event.milliseconds / 1000)} s: the service asks to wait`;
    case "overtaken":
      return `${event.account}: another worker has it now`;
    case "failed":
      return `${event.account}: put back: ${escapeText(event.error instanceof Error ? event.error.message : "")}`;
  }
}

/** A longer wait that the service asks for does not hold a slot of the worker. */
const MAX_HELD_WAIT_SECONDS = 60;

/** Ends a run that would wait for long. */
class LongWaits {
  readonly #isActive: boolean;
  readonly #controller = new AbortController();
  #seconds: number | null = null;

  constructor(isActive: boolean) {
    this.#isActive = isActive;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** null: there was none. */
  get milliseconds(): number | null {
    return this.#seconds === null ? null : this.#seconds * 1000;
  }

  see(event: ApiEvent): void {
    const isWait = event.type === "throttled" || (event.type === "retrying" && !event.waitsInLimiter);
    if (!this.#isActive || !isWait || event.waitSeconds <= MAX_HELD_WAIT_SECONDS) return;
    this.#seconds = Math.max(this.#seconds ?? 0, event.waitSeconds);
    this.#controller.abort();
  }
}

function superseded({ name }: FleetAccount): Ran {
  return failed(EXIT.unreviewed, `the plan of ${name} that was approved is not among those that the worker has`);
}

function failed(code: ExitCode, line: string): Ran {
  const text = `error: ${line}\n`;
  return { type: "ran", code, headline: `error: ${line}`, text, markup: "plain", document: null };
}

/** Text is laid out for whoever asked. */
function withLook(terminal: Terminal, { flags, results, messages }: RunRequest): Terminal {
  const full = flags.full ?? false;
  return {
    ...terminal,
    results: { ...results, isTerminal: false, full },
    messages: { ...messages, isTerminal: false, full, folded: !full },
  };
}

/** Parameters of signed URLs that are as good as a credential. */
const SIGNED = /([?&](?:X-Amz-(?:Signature|Credential|Security-Token)|Signature|sig)=)[^&\s"'\\]+/gi;

/** Reports lie in the store until they are fetched: they hold neither the account's token nor a signature. */
function redacted(outcome: Ran, token: string): Ran {
  const secret = new Secret(token);
  const hide = (text: string): string => secret.hide(text).replace(SIGNED, "$1[redacted]");
  const { headline, text, shorter, document } = outcome;
  return {
    ...outcome,
    headline: hide(headline),
    text: hide(text),
    ...(shorter === undefined ? {} : { shorter: shorter.map(hide) }),
    document: document === null ? null : hide(document),
  };
}

/**
 * The first signal asks the worker to end in order, and what it applies is finished; the second, or one of the others, ends the run.
 */
function interruptOfTurn(
  outer: Interrupt,
  others: readonly AbortSignal[],
): { readonly interrupt: Interrupt; end(): void } {
  const ended = new AbortController();
  setMaxListeners(0, ended.signal);
  const abort = (): void => ended.abort();
  const signals = [outer.second, ...others];
  if (signals.some(({ aborted }) => aborted)) abort();
  for (const signal of signals) signal.addEventListener("abort", abort);
  const { signal } = ended;
  const code = (): ExitCode | null => (signal.aborted ? (outer.code() ?? EXIT.interrupted) : null);
  return {
    interrupt: { ...outer, first: signal, second: signal, code },
    end: () => {
      for (const one of signals) one.removeEventListener("abort", abort);
    },
  };
}
