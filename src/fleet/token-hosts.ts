/**
 * Which hosts may get the tokens that a fleet file names. Whoever changes the file chooses both the variable of the machine that holds a
 * token and the address that it is sent to, so that the address must be one that the file did not bring.
 */

import { isLoopback, serviceAt } from "../api/index.ts";

/** The most hosts that may be listed. */
const MAX_TOKEN_HOSTS = 1_000;

/** `api.example.com`, `api.example.com:8443` or `[2001:db8::1]`: no path, no user, and no star, which would trust what anybody may register. */
const HOST = /^(?:\[[0-9a-f:.]+\]|[^\s/\\?#@:*[\]%]+)(?::\d{1,5})?$/i;

/** @returns the host as URLs have it, without the port of https; null: the text is not a host */
function hostOf(text: string): string | null {
  const url = `https://${text}`;
  return HOST.test(text) && URL.canParse(url) ? new URL(url).host : null;
}

type ParsedTokenHosts =
  | { readonly ok: true; readonly hosts: readonly string[] }
  /** `part`: the text that is not a host, or that is one too many. */
  | { readonly ok: false; readonly part: string };

/** @param texts each with one host, or several between commas or blanks */
export function parseTokenHosts(texts: readonly string[]): ParsedTokenHosts {
  const parts = texts.flatMap((text) => text.split(/[\s,]+/)).filter((part) => part !== "");
  const hosts: string[] = [];
  for (const part of parts) {
    const host = hostOf(part);
    if (host === null || hosts.length === MAX_TOKEN_HOSTS) return { ok: false, part };
    hosts.push(host);
  }
  return { ok: true, hosts };
}

export class TokenHosts {
  readonly #hosts: ReadonlySet<string>;

  /**
   * @param listed as `parseTokenHosts` returns them
   * @param baseUrl of the environment: whoever sets it chooses where tokens go; "": none
   */
  constructor(listed: readonly string[], baseUrl: string) {
    this.#hosts = new Set([...listed, ...(URL.canParse(baseUrl) ? [new URL(baseUrl).host] : [])]);
  }

  /**
   * Known services, this machine and the hosts that were named outside of the fleet file.
   * @param baseUrl as `checkBaseUrl` returned it
   */
  allow(baseUrl: string): boolean {
    const { host, hostname } = new URL(baseUrl);
    return this.#hosts.has(host) || isLoopback(hostname) || serviceAt(baseUrl) !== null;
  }
}
