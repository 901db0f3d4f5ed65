/** What a watch says of itself over HTTP: `/healthz` for what restarts it, `/metrics` for Prometheus. Counts and times, no names. */

import { type Answer, metricsText, serveHttp, type WatchServer } from "./http.ts";
import type { WatchStatus } from "./watch.ts";

/** Without a successful look for so many intervals, the watch is unhealthy. */
export const MAX_MISSED_LOOKS = 3;

export interface ServeOptions {
  readonly status: WatchStatus;
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly everyMilliseconds: number;
  readonly version: string;
  now(): number;
  /** As of `serveHttp`. */
  reportBug?(error: unknown): void;
}

/** @throws NodeJS.ErrnoException if the port cannot be listened on */
export async function serveWatch(options: ServeOptions): Promise<WatchServer> {
  const { host, port, reportBug } = options;
  return serveHttp({
    ...{ host, port, answer: (path) => answer(path, options) },
    ...(reportBug === undefined ? {} : { reportBug }),
  });
}

function answer(path: string, options: ServeOptions): Answer {
  switch (path) {
    case "/healthz":
      return health(options);
    case "/metrics":
      return { status: 200, text: metrics(options) };
    default:
      return { status: 404, text: "There are /healthz and /metrics.\n" };
  }
}

function health({ status, everyMilliseconds, now }: ServeOptions): Answer {
  const last = status.lastSuccessMilliseconds;
  if (last === null) return { status: 503, text: "no look has succeeded yet\n" };
  const seconds = Math.round((now() - last) / 1000);
  if (seconds * 1000 <= MAX_MISSED_LOOKS * everyMilliseconds) return { status: 200, text: "ok\n" };
  return { status: 503, text: `the last look that succeeded was ${seconds} s ago\n` };
}

function metrics({ status, version }: ServeOptions): string {
  const { looks, posts, drift, lastSuccessMilliseconds, lastLookSeconds } = status;
  const results = ({ done, failed }: { readonly done: number; readonly failed: number }) =>
    [[{ result: "done" }, done] as const, [{ result: "failed" }, failed] as const] as const;
  return metricsText([
    { name: "tenon_build_info", type: "gauge", help: "The version of Tenon.", samples: [[{ version }, 1]] },
    {
      name: "tenon_drift_objects",
      type: "gauge",
      help: "Objects that are otherwise than declared, as the last successful look found them.",
      samples: Object.entries(drift?.summary ?? {}).map(([name, count]) => [{ status: name }, count]),
    },
    {
      name: "tenon_drift_looks_total",
      type: "counter",
      help: "Comparisons with the account.",
      samples: results(looks),
    },
    {
      name: "tenon_drift_posts_total",
      type: "counter",
      help: "News that was posted to the webhook.",
      samples: results(posts),
    },
    {
      name: "tenon_drift_last_success_timestamp_seconds",
      type: "gauge",
      help: "When the last successful look ended.",
      samples: lastSuccessMilliseconds === null ? [] : [[{}, lastSuccessMilliseconds / 1000]],
    },
    {
      name: "tenon_drift_last_look_seconds",
      type: "gauge",
      help: "How long the last look took.",
      samples: [[{}, lastLookSeconds]],
    },
  ]);
}
