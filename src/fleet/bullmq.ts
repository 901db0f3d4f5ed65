/**
 * The queue of a fleet by BullMQ, on Redis or PostgreSQL. A job's name is the account's, and a job has nothing else: `deduplication` with
 * `keepLastIfActive` lets an account wait once at most, also while it is taken.
 */

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type BackendFactory, type Job, type JobJson, Queue, type Telemetry, Worker, type WorkerOptions } from "bullmq";
import type { Outages } from "./outages.ts";
import type { FleetQueue, Lease, QueueCounts } from "./queue.ts";
import { reasonOf, type StoreOptions } from "./store.ts";

/** How long a wait for a job takes at most, and so an end in order. */
const TAKE_SECONDS = 1;
/** So long after a signal, and at the end, a server is waited for that does not answer. */
const END_MILLISECONDS = 1_200;
/** After a failure of the store. */
const RETRY_MILLISECONDS = 500;
/** Whether a worker is alive is for the lock of the account to say: a job is put back however often its worker was killed. */
const MAX_STALLED_COUNT = 1_000_000;
/** No account of a fleet file has a longer name. */
const MAX_NAME_CHARACTERS = 200;

/** Tenon's own jobs have less than a hundred in a field. */
export const MAX_JOB_FIELD_CHARACTERS = 10_000;

/** What BullMQ hands on of a job that it was given: a list of the names and the values of its hash, or null. */
type RawAnswer = readonly unknown[] | null;

/** The part of BullMQ's backend for Redis that its type keeps for itself. PostgreSQL's has none. */
interface CommandBackend {
  execCommand?(client: unknown, command: string, args: unknown): Promise<RawAnswer>;
}

/** Fields that are longer than any of Tenon's jobs come back empty: BullMQ parses each of them, and those of millions of values take gigabytes. */
function boundJobs(backend: CommandBackend): void {
  const exec = backend.execCommand?.bind(backend);
  if (exec === undefined) return;
  backend.execCommand = async (client, command, args) => {
    const answer = await exec(client, command, args);
    if (!Array.isArray(answer)) return answer;
    return answer.map((part: unknown) =>
      Array.isArray(part) ? part.map((value) => (isLong(value) ? "" : value)) : part,
    );
  };
}

function isLong(value: unknown): boolean {
  return typeof value === "string" && value.length > MAX_JOB_FIELD_CHARACTERS;
}

/** PostgreSQL's backend would wait until the next delayed job is due, and a signal with it. */
class BoundedWorker extends Worker {
  constructor(queue: string, options: WorkerOptions, factory: BackendFactory | undefined) {
    super(queue, null, options, factory as never);
    boundJobs(this.backend as unknown as CommandBackend);
  }

  override get maximumBlockTimeout(): number {
    return TAKE_SECONDS;
  }

  /** A job of Tenon's has no data: what lies there is not parsed, as it may be no JSON. */
  protected override createJob(job: JobJson, id: string): Job {
    return super.createJob({ ...job, data: "{}" }, id);
  }
}

interface Backend {
  /** Connections as BullMQ takes them. */
  readonly connection: never;
  readonly factory?: BackendFactory;
  readonly prefix: string;
  readonly queue: string;
  readonly outages: Outages;
  /** Takes away the job that was taken with this token, and that BullMQ cannot read. @returns false: there is none. Absent: the server holds none such. */
  drop?(queue: Queue, token: string): Promise<boolean>;
}

export class BullQueue implements FleetQueue {
  readonly #queue: Queue;
  readonly #options: StoreOptions;
  readonly #backend: Backend;
  /** Opened when something is taken for the first time: who only enqueues needs none. */
  #worker: Worker | null = null;

  constructor(backend: Backend, options: StoreOptions) {
    this.#options = options;
    this.#backend = backend;
    const { connection, factory, prefix, queue } = backend;
    const telemetry = telemetryOption(options);
    this.#queue = new Queue(queue, { connection, prefix, skipMetasUpdate: true, ...telemetry }, factory as never);
    this.#queue.on("error", this.#report);
  }

  #isClosed = false;
  #hasFailed = false;
  /** Since its last answer. */
  #isDown = false;
  readonly #report = (error: Error): void => {
    if (this.#isClosed) return;
    this.#hasFailed = true;
    this.#isDown = true;
    this.#options.observer.unreachable(reasonOf(error).reason);
  };

  async enqueue(account: string): Promise<void> {
    await this.#add(account, {});
  }

  async wakeUp(account: string): Promise<void> {
    await this.#add(account, { reschedule: true });
  }

  async #add(account: string, more: { readonly reschedule?: true }): Promise<void> {
    const { deduplication, ...others } = jobOptions(account);
    const options = { ...others, deduplication: { ...deduplication, ...more } };
    await this.#backend.outages.wait(() => this.#queue.add(account, {}, options));
  }

  async schedule(account: string, milliseconds: number): Promise<void> {
    const { deduplication: _, ...opts } = jobOptions(account);
    const job = { name: account, data: {}, opts };
    await this.#backend.outages.wait<unknown>(() =>
      milliseconds === 0
        ? this.#queue.removeJobScheduler(account)
        : this.#queue.upsertJobScheduler(account, { every: milliseconds }, job),
    );
  }

  /** BullMQ reads all that is kept of each scheduler, whatever its length. */
  async scheduled(): Promise<string[]> {
    const schedulers = await this.#backend.outages.wait(() => this.#queue.getJobSchedulers());
    return schedulers.map(({ key }) => key);
  }

  async take(signal: AbortSignal): Promise<Lease | null> {
    while (!signal.aborted) {
      const token = randomUUID();
      // A job that comes of what is left under way is put back when its lease is over.
      const job = await beforeEnd(this.#next(token), signal);
      if (job === undefined) continue;
      if (isSound(job)) return new BullLease(job, token, this.#options);
      // Nothing that Tenon has put there.
      await new BullLease(job, token, this.#options).done();
    }
    return null;
  }

  async #next(token: string): Promise<Job | undefined> {
    this.#hasFailed = false;
    try {
      this.#worker ??= await this.#open();
      const job = await this.#worker.getNextJob(token);
      if (this.#isDown && !this.#hasFailed) {
        this.#isDown = false;
        this.#options.observer.unreachable(null);
      }
      return job;
    } catch (error) {
      if (isUnreadable(error) && (await this.#drop(token))) return undefined;
      this.#report(error as Error);
      await sleep(RETRY_MILLISECONDS);
      return undefined;
    }
  }

  /** Otherwise it would be handed out again and again, and with some of them nothing else would be. @returns false: that cannot be done now */
  async #drop(token: string): Promise<boolean> {
    return (await this.#backend.drop?.(this.#queue, token).catch(() => false)) ?? false;
  }

  async #open(): Promise<Worker> {
    const { connection, factory, prefix, queue } = this.#backend;
    const { leaseMilliseconds } = this.#options;
    const options = {
      ...{ connection, prefix, autorun: false, drainDelay: TAKE_SECONDS, lockDuration: leaseMilliseconds },
      ...{ stalledInterval: leaseMilliseconds, maxStalledCount: MAX_STALLED_COUNT, skipLockRenewal: true },
      // Of jobs that do not say so themselves.
      ...{ removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } },
      ...telemetryOption(this.#options),
    };
    const worker = new BoundedWorker(queue, options, factory);
    worker.on("error", this.#report);
    try {
      await worker.startStalledCheckTimer();
      return worker;
    } catch (error) {
      // The next one has a connection of its own.
      await worker.close(true).catch(() => {});
      throw error;
    }
  }

  async counts(): Promise<QueueCounts> {
    const { waiting = 0, active = 0, delayed = 0, prioritized = 0 } = await this.#queue.getJobCounts();
    return { waiting: waiting + prioritized, active, delayed };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const closing = Promise.allSettled([this.#worker?.close(true), this.#queue.close()]);
    // A server that does not answer says no goodbye: without an end of the connection the process would go on.
    if ((await beforeEnd(closing, AbortSignal.abort())) === undefined) await this.#queue.disconnect().catch(() => {});
  }
}

/** @returns undefined: the signal came END_MILLISECONDS ago, and there is no answer yet */
async function beforeEnd<Answer>(asked: Promise<Answer>, signal: AbortSignal): Promise<Answer | undefined> {
  let timer: NodeJS.Timeout | undefined;
  let end = (): void => {};
  const ended = new Promise<undefined>((resolve) => {
    end = () => {
      timer = setTimeout(resolve, END_MILLISECONDS, undefined);
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end);
  });
  try {
    return await Promise.race([asked, ended]);
  } finally {
    signal.removeEventListener("abort", end);
    clearTimeout(timer);
  }
}

function jobOptions(account: string) {
  return { deduplication: { id: account, keepLastIfActive: true }, removeOnComplete: true, removeOnFail: true };
}

function telemetryOption({ telemetry }: StoreOptions): { readonly telemetry?: Telemetry } {
  return telemetry === undefined ? {} : { telemetry };
}

/** What BullMQ throws of a job whose fields are no JSON, or other JSON than it writes. */
function isUnreadable(error: unknown): boolean {
  return error instanceof SyntaxError || error instanceof TypeError;
}

function isSound({ name }: Job): boolean {
  return typeof name === "string" && name !== "" && name.length <= MAX_NAME_CHARACTERS;
}

class BullLease implements Lease {
  readonly account: string;
  readonly #job: Job;
  readonly #token: string;
  readonly #milliseconds: number;
  readonly #telemetry: Telemetry | undefined;

  constructor(job: Job, token: string, { leaseMilliseconds, telemetry }: StoreOptions) {
    this.account = job.name;
    this.#job = job;
    this.#token = token;
    this.#milliseconds = leaseMilliseconds;
    this.#telemetry = telemetry;
  }

  async extend(): Promise<boolean> {
    try {
      return (await this.#job.extendLock(this.#token, this.#milliseconds)) > 0;
    } catch {
      return false;
    }
  }

  /** A job that is not this worker's any more is left alone: whoever has it is done with it. */
  async done(): Promise<void> {
    await this.#traced(() => this.#job.moveToCompleted(null, this.#token, false)).catch(() => {});
  }

  async later(milliseconds: number): Promise<void> {
    await this.#traced(() => this.#job.moveToDelayed(Date.now() + milliseconds, this.#token)).catch(() => {});
  }

  /** As a part of what woke the account up: BullMQ does so for jobs that it runs itself. */
  #traced<Result>(work: () => Promise<Result>): Promise<Result> {
    const metadata = this.#job.opts.telemetry?.metadata;
    if (this.#telemetry === undefined || metadata === undefined) return work();
    const { contextManager } = this.#telemetry;
    return contextManager.with(contextManager.fromMetadata(contextManager.active(), metadata), work);
  }
}
