/** Services that do not behave: any answer at all, or a real emulator behind a front that fails now and then. */

import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface OddService {
  /** `http://127.0.0.1:PORT/v4` */
  readonly baseUrl: string;
  /** `METHOD path?query`, in the order they came. */
  readonly requests: readonly string[];
}

/** Closed when the test ends. */
export async function oddService(answer: RequestListener): Promise<OddService> {
  const requests: string[] = [];
  const server = createServer((incoming, response) => {
    requests.push(`${incoming.method} ${incoming.url}`);
    answer(incoming, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v4`, requests };
}

export interface Fault {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * What `fault` does not fail reaches the service behind it, once `fault` has ended. It is told `METHOD path`, without the query, as is `alter`,
 * which rewrites answers.
 */
export function failing(
  { baseUrl }: { readonly baseUrl: string },
  fault: (request: string) => Fault | "silence" | null | Promise<Fault | null>,
  alter: (request: string, answer: string) => string = (_request, answer) => answer,
): Promise<OddService> {
  const { origin } = new URL(baseUrl);
  return oddService(async (incoming, response) => {
    const request = `${incoming.method} ${incoming.url?.split("?", 1)[0]}`;
    const failed = await fault(request);
    if (failed === null) void forward(incoming, response, origin, (answer) => alter(request, answer));
    else if (failed !== "silence") respond(response, failed);
  });
}

export function respond(response: ServerResponse, { status, headers, body = "" }: Fault): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
}

async function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  origin: string,
  alter: (answer: string) => string,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const headers = { "content-type": "application/json", authorization: incoming.headers.authorization ?? "" };
  const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) };
  const method = incoming.method ?? "GET";
  const answer = await fetch(origin + (incoming.url ?? ""), { method, headers, ...body });
  respond(response, { status: answer.status, body: alter(await answer.text()) });
}

/** An answer as of the API, with one error. */
export function refusal(status: number, reason: string, headers: Readonly<Record<string, string>> = {}): Fault {
  return { status, headers, body: JSON.stringify({ errors: [{ reason }] }) };
}
