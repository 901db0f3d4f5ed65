/** Where requests may go: https, or plain http to this machine. */

import type { Diagnostic } from "../model/diagnostic.ts";

export type CheckedBaseUrl =
  | { readonly ok: true; readonly url: string }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

const FIX = "Set TENON_BASE_URL or --base-url to the service's address, for example https://api.example.com/v4.";

/**
 * Checks the service's base address.
 * @returns the address without a trailing slash, or why it cannot be used. Credentials in it are not repeated.
 */
export function checkBaseUrl(text: string | undefined): CheckedBaseUrl {
  const trimmed = text?.trim() ?? "";
  if (trimmed === "")
    return refuse("base-url-missing", "no base URL is set", "It says which service to talk to; there is no default.");
  // A URL is read without its line breaks and tabs: what is shown in two lines would be one host.
  if (/[\p{Cc}\s]/u.test(trimmed)) {
    return refuse(
      "base-url-invalid",
      "the base URL holds a line break, a blank or a control character",
      "No URL does.",
    );
  }
  const url = URL.canParse(trimmed) ? new URL(trimmed) : null;
  if (url === null || url.hostname === "") {
    return refuse("base-url-invalid", "the base URL is not a URL", "It has to begin with https:// and a host.");
  }
  if (url.username !== "" || url.password !== "") {
    return refuse(
      "base-url-credentials",
      "the base URL holds credentials",
      "The token is handed over on its own (TENON_TOKEN or --token-file), never within a URL.",
    );
  }
  if (url.search !== "" || url.hash !== "") {
    return refuse(
      "base-url-invalid",
      "the base URL has a query or a fragment",
      "Paths are appended to it, so it has to end with a path such as /v4.",
    );
  }
  if (!isSecure(url)) {
    return refuse(
      "base-url-insecure",
      `the base URL is not https: ${url.protocol}//${url.host}`,
      "The token would be sent in the clear. Plain http is for this machine only (localhost, 127.0.0.1, [::1]).",
    );
  }
  return { ok: true, url: url.href.replace(/(?<!\/)\/+$/, "") };
}

function refuse(code: string, summary: string, detail: string): CheckedBaseUrl {
  return { ok: false, diagnostic: { code, severity: "error", summary, detail, fix: FIX } };
}

/** https, or http to a loopback host. */
export function isSecure(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
}

/** `hostname` as WHATWG URLs give it: IPv4 in four parts, IPv6 in brackets. Other names under `localhost` go through DNS. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
