/** A small HTTP server beside a command: says where it listens, or why it cannot. */

import { escapeText } from "../render/terminal.ts";
import type { WatchServer } from "../watch/index.ts";
import type { ListenAt } from "./flags.ts";
import { sayError } from "./messages.ts";
import type { Terminal } from "./terminal.ts";

interface ListenOptions extends ListenAt {
  readonly flag: "--serve" | "--metrics";
  /** What is to be looked at first. */
  readonly path: "/" | "/metrics";
}

/**
 * @param start listens, and hands on what an answer throws
 * @returns "failed": the port cannot be listened on, which is reported
 */
export async function listen(
  terminal: Terminal,
  { host, port, flag, path }: ListenOptions,
  start: (reportBug: (error: unknown) => void) => Promise<WatchServer>,
): Promise<WatchServer | "failed"> {
  try {
    const server = await start((error) => {
      terminal.say(`error: unexpected: an answer failed: ${escapeText(messageOf(error))}\n`);
    });
    terminal.say(`listening on http://${host.includes(":") ? `[${host}]` : host}:${server.port}${path}\n`);
    return server;
  } catch (error) {
    sayError(terminal, {
      code: "invalid-argument",
      summary: `${flag} ${host}:${port} cannot be listened on: ${escapeText(messageOf(error))}`,
      fix: "Give another port, or 0 for any that is free.",
    });
    return "failed";
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
