/** What a watch says of itself over HTTP: `/healthz` for what restarts it, `/metrics` for Prometheus. Counts and times, no names. */

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { WatchStatus } from "./watch.ts";

/** Without a successful look for so many intervals, the watch is unhealthy. */
export const MAX_MISSED_LOOKS = 3;
const MAX_CONNECTIONS = 32;
const MAX_HEADER_BYTES = 8 * 1024;
const REQUEST_TIMEOUT_MILLISECONDS = 10_000;

export interface ServeOptions {
  readonly status: WatchStatus;
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly everyMilliseconds: number;
  readonly version: string;
  now(): number;
}

export interface WatchServer {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws NodeJS.ErrnoException if the port cannot be listened on */
export async function serveWatch(options: ServeOptions): Promise<WatchServer> {
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      requestTimeout: REQUEST_TIMEOUT_MILLISECONDS,
      headersTimeout: REQUEST_TIMEOUT_MILLISECONDS,
    },
    (request, response) => {
      const { status, text } = isForeign(request.headers.host, options)
        ? { status: 403, text: "Another host is meant. What listens on this machine alone is called by its address.\n" }
        : answer(request.method ?? "", request.url ?? "", options);
      response.writeHead(status, {
        ...{ "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" },
        ...{ "x-content-type-options": "nosniff", connection: "close" },
      });
      response.end(request.method === "HEAD" ? "" : text);
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.listen(options.port, options.host);
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

async function close(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, "close");
}

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost|[a-z0-9-]{1,63}\.localhost)(?::\d{1,5})?$/i;

/**
 * Whether a page in a browser may have sent it, whose host name its owner has made to lead to this machine (DNS rebinding). Where others are to
 * reach the server, by whatever names they have for it, nobody can tell.
 */
function isForeign(host: string | undefined, options: ServeOptions): boolean {
  const listens = options.host.includes(":") ? `[${options.host}]` : options.host;
  return LOOPBACK.test(listens) && host !== undefined && !LOOPBACK.test(host);
}

function answer(
  method: string,
  url: string,
  options: ServeOptions,
): { readonly status: number; readonly text: string } {
  if (method !== "GET" && method !== "HEAD") return { status: 405, text: "GET only\n" };
  switch (url.split("?", 1)[0]) {
    case "/healthz":
      return health(options);
    case "/metrics":
      return { status: 200, text: metrics(options) };
    default:
      return { status: 404, text: "There are /healthz and /metrics.\n" };
  }
}

function health({ status, everyMilliseconds, now }: ServeOptions): { status: number; text: string } {
  const last = status.lastSuccessMilliseconds;
  if (last === null) return { status: 503, text: "no look has succeeded yet\n" };
  const seconds = Math.round((now() - last) / 1000);
  if (seconds * 1000 <= MAX_MISSED_LOOKS * everyMilliseconds) return { status: 200, text: "ok\n" };
  return { status: 503, text: `the last look that succeeded was ${seconds} s ago\n` };
}

/** The text format of Prometheus, 0.0.4. */
function metrics({ status, version }: ServeOptions): string {
  const { looks, posts, drift, lastSuccessMilliseconds } = status;
  const objects = Object.entries(drift?.summary ?? {});
  return [
    ...metric("tenon_build_info", "gauge", "The version of Tenon.", [[`{version="${version}"}`, 1]]),
    ...metric(
      "tenon_drift_objects",
      "gauge",
      "Objects that are otherwise than declared, as the last successful look found them.",
      objects.map(([name, count]) => [`{status="${name}"}`, count]),
    ),
    ...metric("tenon_drift_looks_total", "counter", "Comparisons with the account.", [
      [`{result="done"}`, looks.done],
      [`{result="failed"}`, looks.failed],
    ]),
    ...metric("tenon_drift_posts_total", "counter", "News that was posted to the webhook.", [
      [`{result="done"}`, posts.done],
      [`{result="failed"}`, posts.failed],
    ]),
    ...metric(
      "tenon_drift_last_success_timestamp_seconds",
      "gauge",
      "When the last successful look ended.",
      lastSuccessMilliseconds === null ? [] : [["", lastSuccessMilliseconds / 1000]],
    ),
    ...metric("tenon_drift_last_look_seconds", "gauge", "How long the last look took.", [["", status.lastLookSeconds]]),
  ]
    .join("\n")
    .concat("\n");
}

function metric(
  name: string,
  type: "gauge" | "counter",
  help: string,
  samples: readonly (readonly [labels: string, value: number])[],
): string[] {
  if (samples.length === 0) return [];
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(([labels, value]) => `${name}${labels} ${value}`),
  ];
}
