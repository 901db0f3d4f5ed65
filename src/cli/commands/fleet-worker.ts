/** `tenon fleet worker`, `prepare` and `schedule`: what stands behind `--queue`. */

import { type Command, InvalidArgumentError, type Option } from "commander";
import type { FleetAccount } from "../../fleet/index.ts";
import type { ClientApi } from "../../index.ts";
import type { WithClient } from "../connection.ts";
import { EXIT, type ExitCode, type Finish } from "../exit.ts";
import { collect, collectConsents, parseDuration, parseListen } from "../flags.ts";
import { addQueueFlags, DEFAULT_LEASE_MILLISECONDS, openQueue, type QueueFlags, resolveQueue } from "../fleet-queue.ts";
import type { LoadAccounts, WorkerFlags } from "../fleet-worker.ts";
import { sayDiagnostics, sayError } from "../messages.ts";
import type { Terminal } from "../terminal.ts";
import { webhookFlag } from "../webhook.ts";

/** How the commands of a fleet find its file, and take --workers: as those that run something for each account do. */
export interface FleetCommands {
  readonly fileDescription: string;
  workersFlag(): Option;
  addTokenHostFlag(command: Command): Command;
  /** @param purpose whether tokens are sent */
  load(
    terminal: Terminal,
    file: string | undefined,
    flags: Pick<WorkerFlags, "tokenHost">,
    purpose: "send" | "list",
  ): ReturnType<LoadAccounts>;
}

/** The least time, in seconds, that a worker can keep up with. */
const MIN_LEASE_SECONDS = 2;
const MAX_LEASE_SECONDS = 3_600;

function parseLease(value: string): number {
  const seconds = parseDuration(value);
  if (seconds >= MIN_LEASE_SECONDS && seconds <= MAX_LEASE_SECONDS) return seconds;
  throw new InvalidArgumentError(`Write a time from ${MIN_LEASE_SECONDS}s to 1h.`);
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
    .option(
      "--lease <time>",
      "an account whose worker is silent for so long is\nanother worker's (default: 30s)",
      parseLease,
      DEFAULT_LEASE_MILLISECONDS / 1000,
    )
    .option("--metrics <[host:]port>", "serve /metrics for Prometheus, and /healthz", parseListen)
    .addOption(webhookFlag("post when an account begins to fail, and when it is well again"))
    .option("--plans <dir>", "where plans are saved and read, as --out and --plan name it")
    .option("--allow <rule=address>", "consent to what others ask for; repeatable", collectConsents)
    .option("--take-ownership-from <owner>", "take over objects of that owner; repeatable", collect)
    .addHelpText("after", EXAMPLES)
    .action(async (file: string | undefined, flags: WorkerFlags) => {
      const { serve } = await import("../fleet-worker.ts");
      finish(await serve(terminal, () => commands.load(terminal, file, flags, "send"), flags, connect));
    });
  addQueueFlags(commands.addTokenHostFlag(worker.addOption(commands.workersFlag())));

  const prepare = fleet
    .command("prepare")
    .summary("make what the queue needs: the tables of PostgreSQL")
    .description(
      "Make what the queue needs: the tables of PostgreSQL. Run again, it changes nothing\nbut what a newer version needs. Redis needs nothing.",
    )
    .action(async (flags: QueueFlags) => finish(await prepareQueue(terminal, flags)));
  addQueueFlags(prepare);

  const schedule = fleet
    .command("schedule")
    .summary("have workers compare the accounts again and again")
    .description("Have workers compare the accounts with their manifests again and again.")
    .argument("<command>", "drift", parseScheduled)
    .argument("[file]", commands.fileDescription)
    .option("--every <time>", "how often: 15m", parseDuration)
    .option("--off", "no longer")
    .action(async (_command: "drift", file: string | undefined, flags: ScheduleFlags) => {
      finish(await scheduleDrift(terminal, await commands.load(terminal, file, {}, "list"), flags));
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
  const problem = await prepareStore(resolved.address);
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

async function scheduleDrift(
  terminal: Terminal,
  fleet: { readonly accounts: readonly FleetAccount[] } | null,
  flags: ScheduleFlags,
): Promise<ExitCode> {
  if (fleet === null) return EXIT.invalid;
  const { every = 0, off = false } = flags;
  if (every > 0 === off) {
    sayError(terminal, {
      code: "missing-option",
      summary: "how often is not said",
      fix: "Give --every 15m, or --off.",
    });
    return EXIT.error;
  }
  const store = await openQueue(terminal, flags, fleet.accounts);
  if (store === null) return EXIT.error;
  const { Records, SCHEDULE_KEY } = await import("../../fleet/index.ts");
  try {
    const records = new Records(store);
    const look = { width: terminal.results.width, colour: false };
    const request = {
      command: "drift",
      flags: { format: "text" },
      results: look,
      messages: look,
      saves: false,
    } as const;
    const everyMilliseconds = Math.max(every * 1000, 1);
    for (let isWritten = off; !isWritten; ) {
      const { version } = await records.read("schedule", SCHEDULE_KEY);
      isWritten = await records.write("schedule", SCHEDULE_KEY, { request, everyMilliseconds }, version);
    }
    for (const { name } of fleet.accounts) await store.schedule(name, off ? 0 : everyMilliseconds);
  } finally {
    await store.close();
  }
  const count = `${fleet.accounts.length} ${fleet.accounts.length === 1 ? "account" : "accounts"}`;
  terminal.print(off ? `${count} are no longer compared.\n` : `${count} are compared every ${every} s.\n`);
  return EXIT.done;
}
