/** Keeps pages in a browser away: a page may send requests to this machine, and with a name of its own bound anew read the answers. */

import type { IncomingMessage } from "node:http";
import type { Answer } from "./errors.ts";
import { refuse } from "./errors.ts";

/** What no form, picture or script sends: a page would have to ask first (CORS), and is told nothing. */
export const CONTROL_HEADER = "x-tenon-emulator";

/** An address is no name that could be bound anew: a page reaches it under its own origin, which is refused. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const MAX_SHOWN_LENGTH = 253;

/** What of a request tells who asks. */
export type Asking = Pick<IncomingMessage, "headers"> & {
  readonly socket: { readonly localAddress?: string | undefined };
};

/**
 * Decides on Host, Origin and Sec-Fetch-Site.
 * @param names that the emulator is called by besides loopback and the address that was reached; as `hostName` returned them
 * @returns the refusal; null: no page of another site has sent it
 */
export function refusePage({ headers, socket }: Asking, names: ReadonlySet<string>): Answer | null {
  const { host, origin, "sec-fetch-site": site } = headers;
  // HTTP/1.0, which no browser speaks; in 1.1 it is refused elsewhere.
  if (host !== undefined && !isOurs(hostName(host), socket.localAddress, names)) {
    return forbid(`The Host header says ${shown(host)}. To be called so, start the emulator with --host-name NAME`);
  }
  if (origin !== undefined && !isOriginOf(origin, host)) {
    return forbid(`The Origin header says ${shown(origin)}: pages of other sites are not answered`);
  }
  if (site === "cross-site" || site === "same-site") {
    return forbid(`The Sec-Fetch-Site header says ${site}: pages of other sites are not answered`);
  }
  return null;
}

/** For what needs no token. */
export function refuseWithoutControlHeader({ headers }: Pick<IncomingMessage, "headers">): Answer | null {
  if (headers[CONTROL_HEADER] !== undefined) return null;
  return forbid(
    "Requests below /_emulator/ need the header X-Tenon-Emulator, with any value, so that no page can send them",
  );
}

/** The name of `NAME` or `NAME:PORT` in the one spelling that URLs give it; null if it is none. */
export function hostName(host: string): string | null {
  if (/[\s/?#@\\]/.test(host) || !URL.canParse(`http://${host}`)) return null;
  return new URL(`http://${host}`).hostname.replace(/\.$/, "");
}

function isOurs(name: string | null, reached: string | undefined, names: ReadonlySet<string>): boolean {
  if (name === null) return false;
  return LOOPBACK.test(name) || names.has(name) || (reached !== undefined && name === hostName(asHost(reached)));
}

/** An address as it stands in a URL: IPv6 in brackets, IPv4 plain also where the socket is one of both. */
export function asHost(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, "");
  return plain.includes(":") ? `[${plain}]` : plain;
}

function isOriginOf(origin: string, host: string | undefined): boolean {
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

function forbid(reason: string): Answer {
  return refuse(403, [{ reason }]);
}

function shown(text: string): string {
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text || "nothing";
}
