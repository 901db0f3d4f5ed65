/** Metrics of a fleet's queue and of its workers, for Prometheus: counts and times, and of names those of workers alone. */

import { type AccountStatus, didWell, type FleetStatus, type WorkerStatus, type WorkerTotals } from "../model/fleet.ts";
import { accountState } from "../render/fleet-status.ts";
import type { Answer, Metric, WatchServer } from "../watch/index.ts";
import type { ListenAt } from "./flags.ts";
import { listen } from "./listen.ts";
import type { Terminal } from "./terminal.ts";

export function statusMetrics(status: FleetStatus, version: string): Metric[] {
  const { accounts, queue, workers, at } = status;
  const states = ["running", "waiting", "failed", "done", "unknown"] as const;
  const waits = accounts.flatMap(({ waitingSince }) => waitingSince ?? []);
  const lasts = accounts.flatMap(({ last }) => last?.at ?? []);
  return [
    buildInfo(version),
    {
      ...gauge("tenon_fleet_accounts", "Accounts by what is known of them now."),
      samples: states.map((state) => [{ state }, accounts.filter((one) => accountState(one) === state).length]),
    },
    {
      ...gauge("tenon_fleet_last_outcomes", "Accounts by how their last run ended."),
      samples: (["well", "not_well", "unknown"] as const).map((outcome) => [
        { outcome },
        accounts.filter((account) => outcomeOf(account) === outcome).length,
      ]),
    },
    {
      ...gauge("tenon_fleet_queue_jobs", "Wake-ups in the queue."),
      samples: Object.entries(queue).map(([state, count]) => [{ state }, count]),
    },
    {
      ...gauge("tenon_fleet_oldest_wait_seconds", "How long the command has waited that waits longest."),
      samples: [[{}, waits.length === 0 ? 0 : Math.max(0, (at - least(waits)) / 1000)]],
    },
    {
      ...gauge(
        "tenon_fleet_oldest_run_timestamp_seconds",
        "When the account was last run that was not run for longest.",
      ),
      samples: lasts.length === 0 ? [] : [[{}, least(lasts) / 1000]],
    },
    {
      ...gauge("tenon_fleet_workers", "Workers that ran any of the accounts."),
      samples: (["serving", "silent"] as const).map((state) => [
        { state },
        workers.filter((worker) => worker.state === state).length,
      ]),
    },
    ...workerMetrics(
      workers.filter(({ state }) => state !== "ended").map((worker): [WorkerStatus, string] => [worker, worker.name]),
    ),
  ];
}

function outcomeOf({ last }: AccountStatus): "well" | "not_well" | "unknown" {
  if (last === null) return "unknown";
  return didWell(last.code) ? "well" : "not_well";
}

/** Without a spread: there may be many. */
function least(numbers: readonly number[]): number {
  return numbers.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
}

/** What a worker says of itself. */
export function ownMetrics(
  totals: WorkerTotals & { readonly running: number },
  worker: string,
  version: string,
): Metric[] {
  return [
    buildInfo(version),
    {
      ...gauge("tenon_fleet_worker_running", "Accounts that the worker runs now."),
      samples: [[{ worker }, totals.running]],
    },
    ...workerMetrics([[totals, worker]]),
  ];
}

function workerMetrics(workers: readonly (readonly [totals: WorkerTotals, name: string])[]): Metric[] {
  const of = (value: (totals: WorkerTotals) => number) =>
    workers.map(([totals, worker]) => [{ worker }, value(totals)] as const);
  return [
    {
      ...counter("tenon_fleet_worker_jobs_total", "Runs of accounts that the worker has ended."),
      samples: workers.flatMap(([{ done, failed }, worker]) => [
        [{ worker, result: "done" }, done] as const,
        [{ worker, result: "failed" }, failed] as const,
      ]),
    },
    {
      ...counter("tenon_fleet_worker_job_seconds_total", "How long these runs took together."),
      samples: of(({ seconds }) => seconds),
    },
    {
      ...counter("tenon_fleet_worker_requests_total", "Requests to services."),
      samples: of(({ requests }) => requests),
    },
    {
      ...counter("tenon_fleet_worker_throttled_total", "Requests that were answered with 429."),
      samples: of(({ throttled }) => throttled),
    },
  ];
}

function buildInfo(version: string): Metric {
  return { ...gauge("tenon_build_info", "The version of Tenon."), samples: [[{ version }, 1]] };
}

function gauge(name: string, help: string): Pick<Metric, "name" | "type" | "help"> {
  return { name, type: "gauge", help };
}

function counter(name: string, help: string): Pick<Metric, "name" | "type" | "help"> {
  return { name, type: "counter", help };
}

/** Serves a worker's metrics while it works. @returns "failed": the port cannot be listened on, which is reported */
export async function serveMetrics(
  terminal: Terminal,
  at: ListenAt,
  metrics: () => readonly Metric[],
): Promise<WatchServer | "failed"> {
  const { metricsText, serveHttp } = await import("../watch/index.ts");
  const answer = (path: string): Answer => {
    if (path === "/metrics") return { status: 200, text: metricsText(metrics()) };
    return path === "/healthz"
      ? { status: 200, text: "ok\n" }
      : { status: 404, text: "There are /healthz and /metrics.\n" };
  };
  return listen(terminal, { ...at, flag: "--metrics", path: "/metrics" }, (reportBug) =>
    serveHttp({ ...at, answer, reportBug }),
  );
}
