/** The service's own JavaScript client, which nobody here wrote, pointed at a running emulator. */

import type { APIError } from "@linode/api-v4";
import { baseRequest, setToken } from "@linode/api-v4";
import { onTestFinished } from "vitest";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../src/emulator/index.ts";

const DEFAULT_TOKEN = "emulator-token";

/** Where the client sends everything: VPCs below `/v4beta`, the rest below `/v4`. */
const API_ROOT = /^https:\/\/api\.linode\.com\/v4(beta)?(?=\/)/;

export interface Connected {
  readonly emulator: Emulator;
  /** From now on the client uses this token; null: none. */
  useToken(token: string | null): void;
}

/**
 * Starts an emulator in the client's vocabulary and points the client at it, until the test ends. The client is one object
 * for the whole process: a test has one connection.
 */
export async function connect(options: EmulatorOptions = {}): Promise<Connected> {
  const emulator = await startEmulator({ dialect: "linode", ...options });
  const { request } = baseRequest.interceptors;
  const redirection = request.use((config) => ({
    ...config,
    url: (config.url ?? "").replace(API_ROOT, emulator.baseUrl),
    proxy: false,
  }));
  let authentication: number | null = setToken(DEFAULT_TOKEN);
  const useToken = (token: string | null): void => {
    if (authentication !== null) request.eject(authentication);
    authentication = token === null ? null : setToken(token);
  };
  onTestFinished(async () => {
    useToken(null);
    request.eject(redirection);
    await emulator.close();
  });
  return { emulator, useToken };
}

export interface Refusal {
  /** null: the client itself refused, and nothing was sent. */
  readonly status: number | null;
  readonly errors: readonly APIError[];
  readonly headers: Readonly<Record<string, string>>;
}

/** What the client's promise is rejected with; it fails if it is fulfilled, or rejected for another reason. */
export async function refusal(promise: Promise<unknown>): Promise<Refusal> {
  const reason: unknown = await promise.then(
    (value) => {
      throw new Error(`This was not refused: ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
  if (Array.isArray(reason)) return { status: null, errors: reason, headers: {} };
  const response = (reason as { response?: { status: number; data: { errors: APIError[] }; headers: object } })
    .response;
  if (response === undefined) throw reason;
  return {
    status: response.status,
    errors: response.data.errors,
    headers: Object.fromEntries(Object.entries(response.headers)),
  };
}

/** Of requests that are under way at once: each is listened to from the start, so that none is rejected unheard. */
export async function refusals(promises: readonly Promise<unknown>[]): Promise<Refusal[]> {
  return await Promise.all(promises.map(refusal));
}
