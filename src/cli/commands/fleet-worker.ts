/** `tenon fleet worker`, `prepare` and `schedule`: what stands behind `--queue`. */

import { type Command, InvalidArgumentError, Option } from "commander";
import type { FleetStore, RunRequest } from "../../fleet/index.ts";
import type { ClientApi } from "../../index.ts";
import { MAX_SCHEDULE_SECONDS } from "../../model/fleet.ts";
import type { WithClient } from "../connection.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import { collect, collectConsents, parseDuration, parseListen, parseUploadTimeout } from "../flags.ts";
import { FleetSource, type OpenedFleet, openFleet } from "../fleet-open.ts";
import {
  addQueueFlags,
  DEFAULT_LEASE_MILLISECONDS,
  lookOf,
  openQueue,
  type QueueFlags,
  resolveQueue,
} from "../fleet-queue.ts";
import type { WorkerFlags } from "../fleet-worker.ts";
import { sayDiagnostics, sayError } from "../messages.ts";
import type { Terminal } from "../terminal.ts";
import { webhookFlag } from "../webhook.ts";

/** How the commands of a fleet name its file, and take --workers: as those that run something for each account do. */
interface FleetCommands {
  readonly fileDescription: string;
  workersFlag(): Option;
  addTokenHostFlag(command: Command): Command;
}

/** The least time, in seconds, that a worker can keep up with. */
const MIN_LEASE_SECONDS = 2;
const MAX_LEASE_SECONDS = 3_600;

function parseLease(value: string): number {
  const seconds = parseDuration(value);
  if (seconds >= MIN_LEASE_SECONDS && seconds <= MAX_LEASE_SECONDS) return seconds;
  throw new InvalidArgumentError(`Write a time from ${MIN_LEASE_SECONDS}s to 1h.`);
}

function parseEvery(value: string): number {
  const seconds = parseDuration(value);
  if (seconds >= 1 && seconds <= MAX_SCHEDULE_SECONDS) return seconds;
  throw new InvalidArgumentError("Write a time from 1s to 744h.");
}

export function defineQueueCommands(
  fleet: Command,
  commands: FleetCommands,
  terminal: Terminal,
  finish: Finish,
  connect: WithClient<ClientApi>,
): void {
  const worker = fleet
    .command("worker")
    .argument("[file]", commands.fileDescription)
    .summary("run what commands with --queue ask for")
    .description(
      "Run for accounts of the fleet file what commands with --queue ask for, until a\nsignal comes: the first ends in order, the second at once.",
    )
    .addOption(
      new Option("--lease <time>", "an account whose worker is silent for so long is another worker's")
        .argParser(parseLease)
        .default(DEFAULT_LEASE_MILLISECONDS / 1000, `${DEFAULT_LEASE_MILLISECONDS / 1000}s`),
    )
    .option("--metrics <[host:]port>", "serve /metrics for Prometheus, and /healthz", parseListen)
    .addOption(webhookFlag("post when an account begins to fail, and when it is well again"))
    .option("--plans <dir>", "where plans are saved, and looked for by their digests")
    .option("--allow <rule=address>", "consent to what others ask for; repeatable", collectConsents)
    .option("--upload-timeout <time>", "leave the upload of another run alone for (default: 1h)", parseUploadTimeout)
    .option("--take-ownership-from <owner>", "take over objects of that owner; repeatable", collect)
    .addHelpText("after", EXAMPLES)
    .action(async (file: string | undefined, flags: WorkerFlags) => {
      const { serve } = await import("../fleet-worker.ts");
      const { tokenHost = [] } = flags;
      finish(await serve(terminal, new FleetSource(terminal, file, { tokenHost }), flags, connect));
    });
  addQueueFlags(commands.addTokenHostFlag(worker.addOption(commands.workersFlag())));

  const prepare = fleet
    .command("prepare")
    .summary("make what the queue needs: the tables of PostgreSQL")
    .description(
      "Make what the queue needs: the tables of PostgreSQL, and its counter of the jobs under this prefix. Redis needs nothing.\nRun again, it changes only what a newer version needs.",
    )
    .action(async (flags: QueueFlags) => finish(await prepareQueue(terminal, flags)));
  addQueueFlags(prepare);

  const schedule = fleet
    .command("schedule")
    .summary("have workers compare the accounts again and again")
    .description("Have workers compare the accounts with their manifests again and again.")
    .argument("<command>", "drift", parseScheduled)
    .argument("[file]", commands.fileDescription)
    .option("--every <time>", "how often: 15m", parseEvery)
    .option("--off", "no longer")
    .action(async (_command: "drift", file: string | undefined, flags: ScheduleFlags) => {
      finish(await scheduleDrift(terminal, await openFleet(terminal, file, {}, "list"), flags));
    });
  addQueueFlags(schedule);
}

const EXAMPLES = `
Examples:
  export TENON_QUEUE=rediss://default:PASSWORD@redis.example.com
  tenon fleet worker --workers 8
  tenon fleet plan --queue "$TENON_QUEUE"

An own certificate authority: NODE_EXTRA_CA_CERTS names its file.`;

function parseScheduled(value: string): "drift" {
  if (value === "drift") return "drift";
  throw new InvalidArgumentError("Only drift can be scheduled.");
}

async function prepareQueue(terminal: Terminal, flags: QueueFlags): Promise<ExitCode> {
  const { prepareStore } = await import("../../fleet/index.ts");
  const resolved = await resolveQueue(terminal, flags);
  if (resolved === null) return EXIT.error;
  const problem = await prepareStore(resolved.address, resolved.prefix);
  if (problem !== null) {
    sayDiagnostics(terminal, [problem]);
    return EXIT.error;
  }
  terminal.print("The queue is ready.\n");
  return EXIT.done;
}

interface ScheduleFlags extends QueueFlags {
  /** Seconds. */
  readonly every?: number;
  readonly off?: boolean;
}

async function scheduleDrift(terminal: Terminal, opened: OpenedFleet, flags: ScheduleFlags): Promise<ExitCode> {
  if (!opened.ok) return opened.code;
  const { accounts } = opened.fleet;
  const { every = null, off = false } = flags;
  if ((every === null) !== off) {
    const summary = every === null ? "how often is not said" : "--every and --off exclude each other";
    sayError(terminal, { code: "missing-option", summary, fix: "Give --every 15m, or --off." });
    return EXIT.error;
  }
  const store = await openQueue(terminal, flags, accounts);
  if (store === null) return EXIT.error;
  try {
    await writeSchedule(store, terminal, every);
    // Accounts that are no longer in the file were perhaps scheduled once.
    const names = new Set(every === null ? [] : accounts.map(({ name }) => name));
    for (const name of await store.scheduled()) if (!names.has(name)) await store.schedule(name, 0);
    for (const name of names) await store.schedule(name, (every ?? 0) * 1000);
  } finally {
    await store.close();
  }
  const { count } = await import("../../render/view.ts");
  const are = count(accounts.length, "account is", "accounts are");
  terminal.print(every === null ? `${are} no longer compared.\n` : `${are} compared every ${every} s.\n`);
  return EXIT.done;
}

/** @param every seconds; null: never again */
async function writeSchedule(store: FleetStore, terminal: Terminal, every: number | null): Promise<void> {
  const { Records, SCHEDULE_KEY } = await import("../../fleet/index.ts");
  const look = lookOf({ width: terminal.results.width, colour: false });
  const request: RunRequest = {
    ...{ command: "drift", flags: { format: "text" }, results: look, messages: look },
    ...{ saves: false, documents: false },
  };
  const schedule = every === null ? ({ isOff: true } as const) : { request, everyMilliseconds: every * 1000 };
  await new Records(store).change("schedule", SCHEDULE_KEY, () => schedule);
}
