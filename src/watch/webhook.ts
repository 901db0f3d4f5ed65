/** Posts JSON to one address that is not the service: a webhook. Its path is a secret, and is in no message. */

import { type CheckedBaseUrl, isSecure } from "../api/connection.ts";
import { DEFAULT_TIMEOUTS, openTransport } from "../api/undici.ts";

/** A webhook that hangs holds nothing up for longer. */
const WEBHOOK_TIMEOUT_MILLISECONDS = 10_000;

/** @returns the address, or why it cannot be one. What is behind the host is not repeated. */
export function checkWebhookUrl(text: string): CheckedBaseUrl {
  const url = /[\p{Cc}\s]/u.test(text) || !URL.canParse(text) ? null : new URL(text);
  if (url === null || url.hostname === "") return refuse("it is not a URL");
  if (url.username !== "" || url.password !== "") return refuse("it holds a user or a password");
  if (!isSecure(url)) return refuse(`it is not https: ${url.protocol}//${url.host}`);
  return { ok: true, url: url.href };
}

function refuse(detail: string): CheckedBaseUrl {
  const fix = "Write an https URL; plain http is for this machine only.";
  const summary = `the address of the webhook cannot be used: ${detail}`;
  return { ok: false, diagnostic: { code: "webhook-invalid", severity: "error", summary, detail: "", fix } };
}

export interface Webhook {
  /** Sends once. @returns null if it was taken, else why not, in words without the address */
  post(json: string, signal: AbortSignal): Promise<string | null>;
  close(): Promise<void>;
}

/**
 * @param url as `checkWebhookUrl` returned it
 * @param environment HTTPS_PROXY and NO_PROXY are looked up here
 * @param total milliseconds from a request to the end of its answer
 */
export async function openWebhook(
  url: string,
  environment: Readonly<Record<string, string | undefined>>,
  total: number = WEBHOOK_TIMEOUT_MILLISECONDS,
): Promise<Webhook> {
  const timeouts = { ...DEFAULT_TIMEOUTS, connect: total, headers: total, body: total, total };
  const transport = await openTransport({ timeouts, environment, reach: () => null });
  const { origin, pathname, search } = new URL(url);
  const headers = { "content-type": "application/json" };
  return {
    post: async (text, signal) => {
      const call = {
        method: "POST",
        origin,
        path: pathname + search,
        headers,
        content: { type: "text", text },
      } as const;
      const outcome = await transport.exchange(call, signal);
      if (outcome.type === "lost") return `no answer (${outcome.code})`;
      return outcome.status >= 200 && outcome.status < 300 ? null : `it answered with status ${outcome.status}`;
    },
    close: () => transport.close(),
  };
}
