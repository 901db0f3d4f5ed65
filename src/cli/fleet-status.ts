/** What `tenon fleet status` does: one look, or a page, metrics and a health check until a signal comes. */

import type { ServerResponse } from "node:http";
import type { Fleet, FleetAccount, StatusReader } from "../fleet/index.ts";
import type { FleetStatus } from "../model/fleet.ts";
import { renderStatusJson, renderStatusText } from "../render/fleet-status.ts";
import type { StatusParts } from "../render/html/fleet-status-page.ts";
import type { Answer, StreamAnswer } from "../watch/index.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import type { ListenAt } from "./flags.ts";
import { statusMetrics } from "./fleet-metrics.ts";
import { endUnlessAnswered, openQueue, type QueueFlags } from "./fleet-queue.ts";
import { listen } from "./listen.ts";
import { readVersion, type Terminal } from "./terminal.ts";

export interface StatusFlags extends QueueFlags {
  readonly select?: readonly string[];
  readonly serve?: ListenAt;
  readonly format: "table" | "json";
}

interface OpenedFleet {
  readonly fleet: Fleet;
  readonly all: readonly FleetAccount[];
}

export async function showStatus(
  terminal: Terminal,
  { fleet, all }: OpenedFleet,
  flags: StatusFlags,
): Promise<ExitCode> {
  const { interrupt } = terminal;
  return interrupt.whileHandlingSignals(async () => {
    const store = await openQueue(terminal, flags, all, { readsOnly: true });
    if (store === null) return EXIT.error;
    const answered = endUnlessAnswered(terminal);
    try {
      const { StatusReader } = await import("../fleet/index.ts");
      const reader = new StatusReader(store, fleet.accounts);
      if (flags.serve !== undefined) return await serveStatus(terminal, reader, flags.serve);
      const status = await Promise.race([reader.read(Date.now()), aborted(interrupt.first)]);
      if (status === null) return interrupt.code() ?? EXIT.interrupted;
      const { isTerminal, width } = terminal.results;
      terminal.print(
        flags.format === "json" ? renderStatusJson(status) : renderStatusText(status, isTerminal ? width : null),
      );
      return EXIT.done;
    } finally {
      await store.close();
      answered();
    }
  });
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener("abort", () => resolve(null), { once: true });
  });
}

async function serveStatus(terminal: Terminal, reader: Pick<StatusReader, "read">, at: ListenAt): Promise<ExitCode> {
  const { serveHttp } = await import("../watch/index.ts");
  const { renderStatusPage, statusParts } = await import("../render/html/fleet-status-page.ts");
  const live = new LiveStatus(reader, statusParts);
  let page: { readonly of: FleetStatus; readonly text: Buffer } | null = null;
  const answer = async (path: string): Promise<Answer | StreamAnswer> => {
    if (path === "/events") return { type: "text/event-stream", begin: (response) => live.add(response) };
    if (!["/", "/metrics", "/healthz"].includes(path))
      return { status: 404, text: "There are /, /metrics and /healthz.\n" };
    const status = await live.latest();
    if (status === null) return { status: 503, text: "the queue does not answer\n" };
    if (path === "/healthz") return { status: 200, text: "ok\n" };
    if (path === "/metrics") {
      const { metricsText } = await import("../watch/index.ts");
      return { status: 200, text: metricsText(statusMetrics(status, readVersion())) };
    }
    const headers = { "content-security-policy": "frame-ancestors 'none'" };
    if (page?.of !== status) page = { of: status, text: Buffer.from(renderStatusPage(status)) };
    return { status: 200, text: page.text, type: "text/html; charset=utf-8", headers };
  };
  const server = await listen(terminal, { ...at, flag: "--serve", path: "/" }, (reportBug) =>
    serveHttp({ ...at, answer, reportBug }),
  );
  if (server === "failed") return EXIT.error;
  await aborted(terminal.interrupt.first);
  live.end();
  await server.close();
  return EXIT.done;
}

/** How often the queue is looked at while somebody looks at the page. */
const LOOK_MILLISECONDS = 1_000;
/** A store that takes longer does not answer. */
const ANSWER_MILLISECONDS = 5_000;
/** A comment, so that nobody between takes the connection for a dead one. */
const ALIVE_MILLISECONDS = 15_000;
/** A client that takes nothing is not written to any further: it opens the page again. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;

type Parts = (status: FleetStatus) => StatusParts;

/** What one page has got. */
interface Client {
  hasAll: boolean;
  /** It was sent that the queue does not answer. */
  isDown: boolean;
}

/** Looks as long as somebody does, and sends what has changed. */
class LiveStatus {
  readonly #reader: Pick<StatusReader, "read">;
  readonly #parts: Parts;
  readonly #clients: Map<ServerResponse, Client> = new Map();
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<FleetStatus | null> | null = null;
  #last: FleetStatus | null = null;
  /** Of the last look that succeeded, by id. */
  #known: ReadonlyMap<string, string> = new Map();
  #aliveAt = 0;

  constructor(reader: Pick<StatusReader, "read">, parts: Parts) {
    this.#reader = reader;
    this.#parts = parts;
  }

  /** Not older than a second. @returns null: the store does not answer */
  async latest(): Promise<FleetStatus | null> {
    if (this.#last !== null && Date.now() - this.#last.at < LOOK_MILLISECONDS) return this.#last;
    // A look that hangs is waited for by all that come meanwhile.
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), ANSWER_MILLISECONDS);
    });
    const status = await Promise.race([this.#reading, late]);
    clearTimeout(timer);
    return status;
  }

  async #read(): Promise<FleetStatus | null> {
    try {
      this.#last = await this.#reader.read(Date.now());
      return this.#last;
    } catch {
      return null;
    }
  }

  /** The next look sends it everything: what was known before a pause may be older than its page. */
  add(response: ServerResponse): void {
    this.#clients.set(response, { hasAll: false, isDown: false });
    response.on("close", () => this.#clients.delete(response));
    this.#schedule(0);
  }

  end(): void {
    clearTimeout(this.#timer);
    for (const response of this.#clients.keys()) response.end();
    this.#clients.clear();
  }

  #schedule(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), milliseconds);
  }

  async #look(): Promise<void> {
    if (this.#clients.size === 0) return;
    const status = await this.latest();
    if (status === null) this.#sendDown();
    else this.#sendParts(new Map(this.#parts(status)));
    if (Date.now() - this.#aliveAt > ALIVE_MILLISECONDS) {
      this.#aliveAt = Date.now();
      for (const response of this.#clients.keys()) response.write(": alive\n\n");
    }
    if (this.#clients.size > 0) this.#schedule(LOOK_MILLISECONDS);
  }

  #sendDown(): void {
    for (const [response, client] of this.#clients) {
      if (!client.isDown) send(response, "down", {});
      client.isDown = true;
    }
  }

  #sendParts(parts: ReadonlyMap<string, string>): void {
    const changed = [...parts].filter(([id, text]) => this.#known.get(id) !== text);
    this.#known = parts;
    for (const [response, client] of this.#clients) {
      const news = client.hasAll ? changed : [...parts];
      // That the queue answers again is news, too.
      if (news.length > 0 || client.isDown) send(response, "status", { parts: news });
      client.hasAll = true;
      client.isDown = false;
    }
  }
}

function send(response: ServerResponse, event: string, data: object): void {
  if (response.writableLength > MAX_UNSENT_BYTES) response.destroy();
  else response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}
