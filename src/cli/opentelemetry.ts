/** Traces by the libraries of OpenTelemetry, over OTLP/HTTP in JSON. Loaded only if the environment names a collector. */

import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  type SamplingResult,
  type SpanExporter,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Telemetry } from "bullmq";
import { BullMQOtel } from "bullmq-otel";
import { CHECKED_TLS } from "../model/tls.ts";
import { FleetSpan, type FleetTracing, type SpanAttributes, type SpanStart } from "./fleet-span.ts";
import { sayBeside } from "./progress.ts";
import { readVersion, type Terminal } from "./terminal.ts";

/** How long a collector may take for one batch of spans, all attempts together. */
const EXPORT_MILLISECONDS = 2_000;
/** The end of the process waits for a collector no longer than that. */
const CLOSE_MILLISECONDS = 2_000;
/** How often spans are sent while there are any. */
const BATCH_MILLISECONDS = 2_000;
/** Spans that wait for a collector; those that come after them are dropped. */
const MAX_WAITING_SPANS = 2_048;
const MAX_SPANS_IN_BATCH = 512;

const NAME = "tenon";

export class OpenTelemetry implements FleetTracing {
  readonly telemetry: Telemetry<Context>;
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  readonly #exporter: PlainExporter;
  readonly #agents: CollectorAgents = new CollectorAgents();

  /** @param variable the one that names the collector; the exporter reads it, and the others of OTLP, itself */
  constructor(terminal: Terminal, variable: string) {
    const exporter = new OTLPTraceExporter({
      timeoutMillis: EXPORT_MILLISECONDS,
      httpAgentOptions: (protocol) => this.#agents.open(protocol),
    });
    this.#exporter = new PlainExporter(exporter, terminal, variable);
    const processor = new BatchSpanProcessor({
      exporter: this.#exporter,
      ...{ exportTimeoutMillis: EXPORT_MILLISECONDS, scheduledDelayMillis: BATCH_MILLISECONDS },
      ...{ maxQueueSize: MAX_WAITING_SPANS, maxExportBatchSize: MAX_SPANS_IN_BATCH },
    });
    const own = resourceFromAttributes({ "service.name": NAME, "service.version": readVersion() });
    this.#provider = new TracerProvider({
      resource: own.merge(detectResources({ detectors: [envDetector] })),
      sampler: new ParentBasedSampler({ root: new OwnRoots() }),
      spanProcessors: [processor],
    });
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    trace.setGlobalTracerProvider(this.#provider);
    this.#tracer = this.#provider.getTracer(NAME, readVersion());
    this.telemetry = queueTelemetry();
  }

  async span<Result>(start: SpanStart, work: (span: FleetSpan) => Promise<Result>): Promise<Result> {
    const parent = start.type === "run" ? contextFrom(ROOT_CONTEXT, start.parent ?? "") : context.active();
    const kind = { command: SpanKind.INTERNAL, account: SpanKind.PRODUCER, run: SpanKind.CONSUMER }[start.type];
    const attributes = { ...attributesOf(start) };
    const span = this.#tracer.startSpan(`fleet ${start.command}: ${start.type}`, { kind, attributes }, parent);
    const collected = new FleetSpan();
    try {
      return await context.with(trace.setSpan(parent, span), () => work(collected));
    } catch (error) {
      collected.isFailed = true;
      throw error;
    } finally {
      span.setAttributes({ ...collected.attributes });
      if (collected.isFailed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    }
  }

  current(): string | null {
    return traceparentOf(context.active()) || null;
  }

  async close(): Promise<void> {
    const isOver = new AbortController();
    const late = sleep(CLOSE_MILLISECONDS, "late", { signal: isOver.signal }).catch(() => "late");
    const ended = await Promise.race([this.#provider.shutdown().catch(() => {}), late]);
    isOver.abort();
    if (ended === "late") this.#exporter.fail();
    this.#agents.destroy();
  }
}

function attributesOf(start: SpanStart): SpanAttributes {
  const command = { "tenon.fleet.command": start.command };
  if (start.type === "command") return { ...command, "tenon.fleet.accounts": start.accounts };
  return { ...command, "tenon.fleet.account": start.account };
}

/** A worker that waits looks into the queue each second, and the queue keeps house: only what belongs to a command is recorded. */
class OwnRoots implements Sampler {
  shouldSample(
    _context: Context,
    _trace: string,
    _name: string,
    _kind: SpanKind,
    attributes: Attributes,
  ): SamplingResult {
    const isOwn = attributes["tenon.fleet.command"] !== undefined;
    return { decision: isOwn ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD };
  }

  toString(): string {
    return "OwnRoots";
  }
}

// What the queue records.

/** BullMQ's own instrumentation, but that a job carries one word at most, which is read with care: whoever writes to the queue writes it. */
function queueTelemetry(): Telemetry<Context> {
  const { tracer, contextManager } = new BullMQOtel({ tracerName: "bullmq" });
  return {
    tracer,
    contextManager: {
      with: (within, work) => contextManager.with(within, work),
      active: () => context.active(),
      root: () => ROOT_CONTEXT,
      getMetadata: (within) => traceparentOf(within),
      fromMetadata: (active, metadata) => contextFrom(active, metadata),
    },
  };
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/;

/** @returns "": nothing is recorded there */
function traceparentOf(within: Context): string {
  const span = trace.getSpanContext(within);
  if (span === undefined || !isSpanContextValid(span) || (span.traceFlags & TraceFlags.SAMPLED) === 0) return "";
  return `00-${span.traceId}-${span.spanId}-01`;
}

/** @returns `active`, unless the text names a span */
function contextFrom(active: Context, text: string): Context {
  const [, traceId = "", spanId = ""] = TRACEPARENT.exec(text) ?? [];
  const parent: SpanContext = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
  return isSpanContextValid(parent) ? trace.setSpanContext(active, parent) : active;
}

// What leaves the process.

const OWN_ATTRIBUTES: Readonly<Record<keyof SpanAttributes, true>> = {
  "tenon.fleet.command": true,
  "tenon.fleet.accounts": true,
  "tenon.fleet.account": true,
  "tenon.fleet.outcome": true,
  "tenon.fleet.exit_code": true,
  "tenon.fleet.requests": true,
  "tenon.fleet.throttled": true,
};

/** The queue's among them; of its others some hold errors with paths and addresses. */
const ATTRIBUTES: ReadonlySet<string> = new Set([
  ...Object.keys(OWN_ATTRIBUTES),
  ...["bullmq.queue.name", "bullmq.queue.operation", "bullmq.job.name", "bullmq.job.id"],
]);

/** Sends spans without any attribute, event or message that is not listed, and says once that a collector does not take them. */
class PlainExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #terminal: Terminal;
  readonly #variable: string;
  #hasFailed = false;

  constructor(exporter: SpanExporter, terminal: Terminal, variable: string) {
    this.#exporter = exporter;
    this.#terminal = terminal;
    this.#variable = variable;
  }

  export(spans: ReadableSpan[], done: Parameters<SpanExporter["export"]>[1]): void {
    this.#exporter.export(spans.map(plain), (result) => {
      if (result.error !== undefined) this.fail();
      done(result);
    });
  }

  fail(): void {
    if (!this.#hasFailed) {
      sayBeside(
        this.#terminal,
        `warning: the collector of ${this.#variable} does not take the traces; nothing else is changed by that`,
      );
    }
    this.#hasFailed = true;
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}

function plain(span: ReadableSpan): ReadableSpan {
  const { name, kind, startTime, endTime, duration, ended, resource, instrumentationScope } = span;
  return {
    ...{ name, kind, startTime, endTime, duration, ended, resource, instrumentationScope },
    ...(span.parentSpanContext === undefined ? {} : { parentSpanContext: span.parentSpanContext }),
    spanContext: () => span.spanContext(),
    status: { code: span.status.code },
    attributes: Object.fromEntries(Object.entries(span.attributes).filter(([key]) => ATTRIBUTES.has(key))),
    ...{ links: [], events: [], droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
  };
}

/** Connections to the collector, to be cut when the process ends. */
class CollectorAgents {
  readonly #agents: HttpAgent[] = [];

  open(protocol: string): HttpAgent {
    const agent =
      protocol === "https:" ? new HttpsAgent({ keepAlive: true, ...CHECKED_TLS }) : new HttpAgent({ keepAlive: true });
    this.#agents.push(agent);
    return agent;
  }

  destroy(): void {
    for (const agent of this.#agents) agent.destroy();
  }
}
