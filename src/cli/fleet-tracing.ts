/** Traces of a fleet: spans are sent to a collector of OpenTelemetry if the environment names one, and nothing is loaded for them otherwise. */

import { FleetSpan, type FleetTracing, type SpanStart } from "./fleet-span.ts";
import { sayBeside } from "./progress.ts";
import type { Terminal } from "./terminal.ts";

class NoTracing implements FleetTracing {
  readonly telemetry: null = null;

  span<Result>(_start: SpanStart, work: (span: FleetSpan) => Promise<Result>): Promise<Result> {
    return work(new FleetSpan());
  }

  current(): null {
    return null;
  }

  async close(): Promise<void> {}
}

/** Of the variables of OpenTelemetry those that name a collector; the first goes before the second. */
const ENDPOINTS = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"] as const;

/** The libraries are loaded only if a collector is named. What is wrong with its address is said, and holds nothing up. */
export async function openTracing(terminal: Terminal): Promise<FleetTracing> {
  const { environment } = terminal;
  const variable = ENDPOINTS.find((name) => (environment[name]?.trim() ?? "") !== "");
  if (variable === undefined || environment["OTEL_SDK_DISABLED"]?.trim().toLowerCase() === "true") {
    return new NoTracing();
  }
  if (!isCollector(environment[variable]?.trim() ?? "")) {
    sayBeside(
      terminal,
      `warning: there are no traces: ${variable} is not the address of a collector, http://HOST:4318`,
    );
    return new NoTracing();
  }
  const { OpenTelemetry } = await import("./opentelemetry.ts");
  return new OpenTelemetry(terminal, variable);
}

function isCollector(address: string): boolean {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
}
