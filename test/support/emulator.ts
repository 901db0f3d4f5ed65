/** A running emulator for a test, and the plainest client of it: fetch, with nothing between. */

import { onTestFinished } from "vitest";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../src/emulator/index.ts";

export interface PlainAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
  readonly headers: Headers;
}

export interface Tested {
  readonly emulator: Emulator;
  /** Below the base URL, as the default token unless the headers say otherwise. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<PlainAnswer>;
  /** Below the origin, without a token. */
  control(method: string, path: string, body?: unknown): Promise<PlainAnswer>;
}

/** Closed when the test ends. */
export async function startTested(options: EmulatorOptions = {}): Promise<Tested> {
  const emulator = await startEmulator(options);
  onTestFinished(() => emulator.close());
  return tested(emulator);
}

export function tested(emulator: Emulator): Tested {
  const origin = `http://127.0.0.1:${emulator.port}`;
  return {
    emulator,
    send: (method, path, body, headers) =>
      request(emulator.baseUrl + path, method, body, { authorization: "Bearer emulator-token", ...headers }),
    control: (method, path, body) => request(`${origin}/_emulator${path}`, method, body, { "x-tenon-emulator": "yes" }),
  };
}

/** A string is sent as it is, anything else as JSON. An empty header is left out. */
async function request(
  url: string,
  method: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<PlainAnswer> {
  const sent = new Headers();
  if (body !== undefined) sent.set("content-type", "application/json");
  for (const [name, value] of Object.entries(headers)) {
    if (value === "") sent.delete(name);
    else sent.set(name, value);
  }
  const payload = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  const response = await fetch(url, { method, headers: sent, ...(payload === undefined ? {} : { body: payload }) });
  const text = await response.text();
  return { status: response.status, body: text === "" ? null : JSON.parse(text), headers: response.headers };
}
