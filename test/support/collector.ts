/** A collector of OpenTelemetry: receives traces by OTLP/HTTP in JSON, on loopback. */

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** As OTLP has it in JSON, as far as tests look at it. */
export interface ReceivedSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  /** Absent: it is a root. */
  readonly parentSpanId?: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code: number; readonly message?: string };
}

interface Collector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly paths: readonly string[];
  /** Everything that was received. */
  text(): string;
  spans(): readonly ReceivedSpan[];
}

type Value = Readonly<Record<"stringValue" | "intValue" | "boolValue" | "doubleValue", unknown>>;
interface Attribute {
  readonly key: string;
  readonly value: Value;
}
interface Traces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, "attributes"> & { readonly attributes?: readonly Attribute[] })[];
    }[];
  }[];
}

/** @param answer default: takes everything */
export async function startCollector(
  answer: (response: ServerResponse) => void = (response) => void response.writeHead(200).end("{}"),
): Promise<Collector> {
  const bodies: string[] = [];
  const paths: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (more) => {
      body += more;
    });
    request.on("end", () => {
      bodies.push(body);
      paths.push(`${request.method} ${request.url}`);
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths },
    text: () => bodies.join("\n"),
    spans: () => bodies.flatMap(spansOf),
  };
}

function spansOf(body: string): ReceivedSpan[] {
  const traces: Traces = JSON.parse(body);
  return traces.resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        attributes: Object.fromEntries(
          (span.attributes ?? []).map(({ key, value }) => [
            key,
            value.stringValue ?? value.intValue ?? value.boolValue ?? value.doubleValue,
          ]),
        ),
      })),
    ),
  );
}
