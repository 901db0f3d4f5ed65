/** Verification by real nameservers, as `apply --verify` and `zone check --live` share it: the servers, the progress and the result. */

import { systemClock } from "../index.ts";
import { jsonText } from "../model/text.ts";
import { isVerified } from "../model/verification.ts";
import { renderVerificationText } from "../render/verification.ts";
import type { Verification, VerificationServers } from "../verify/index.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import type { VerifyFlags } from "./flags.ts";
import { sayDiagnostics, sayError } from "./messages.ts";
import { Progress } from "./progress.ts";
import type { Terminal } from "./terminal.ts";

/** The service takes up to about 100 s until a change is served (OBSERVED: Zone file). */
const DEFAULT_TIMEOUT_SECONDS = 300;

/** The least time between two progress events: an event for every answer would flood the log. */
const EVENT_MILLISECONDS = 1_000;

type PreparedVerificationServers =
  | { readonly ok: true; readonly servers: VerificationServers | null }
  | { readonly ok: false; readonly code: ExitCode };

/**
 * Finds the servers to ask, and reports errors in the flags before anything is done.
 * @param wanted the flag that asks for it, and whether it was given; without it there is nothing to prepare
 */
export async function prepareVerificationServers(
  terminal: Terminal,
  flags: VerifyFlags,
  wanted: { readonly flag: string; readonly given: boolean },
): Promise<PreparedVerificationServers> {
  const { nameserver: nameservers = [], delegation = false, parent: parents = [], verifyTimeout } = flags;
  if (!wanted.given) {
    const isIdle = nameservers.length + parents.length === 0 && !delegation && verifyTimeout === undefined;
    if (isIdle) return { ok: true, servers: null };
    const summary = `nameservers are asked only with ${wanted.flag}`;
    sayError(terminal, { code: "conflicting-options", summary, fix: `Give ${wanted.flag}, too.` });
    return { ok: false, code: EXIT.error };
  }
  if (parents.length > 0 && !delegation) {
    const fix = "Give --delegation, too.";
    sayError(terminal, { code: "conflicting-options", summary: "--parent is for --delegation", fix });
    return { ok: false, code: EXIT.error };
  }
  const tools = await import("../verify/index.ts");
  const found = await tools.findVerificationServers({ nameservers, delegation, parents });
  if (found.ok) return found;
  sayDiagnostics(terminal, [found.diagnostic]);
  return { ok: false, code: EXIT.error };
}

type Tools = typeof import("../verify/index.ts");
type Watch = Parameters<Tools["verifyDeclared"]>[2];

/**
 * Runs one verification with its progress: a line for people, and an event from time to time for programs.
 * @param events whether stdout is a stream of events
 */
export async function watched(
  terminal: Terminal,
  events: boolean,
  timeoutSeconds: number,
  verify: (tools: Tools, watch: Watch) => Promise<Verification>,
): Promise<Verification> {
  const progress = new Progress(terminal);
  progress.show("Asking nameservers");
  let reportedAt = 0;
  try {
    const tools = await import("../verify/index.ts");
    const watch: Watch = {
      clock: systemClock,
      timeoutSeconds,
      signal: terminal.interrupt.first,
      progress: ({ there, total }) => {
        progress.show(`Asking nameservers: ${there} of ${total} answers are there`);
        const now = systemClock.now();
        if (!events || now - reportedAt < EVENT_MILLISECONDS) return;
        reportedAt = now;
        const event = { type: "verify-progress", time: new Date(now).toISOString(), there, total };
        terminal.print(`${jsonText(event)}\n`);
      },
    };
    return await terminal.interrupt.whileHandlingSignals(() => verify(tools, watch));
  } finally {
    progress.end();
  }
}

/** The timeout after an apply. */
export function timeoutOf({ verifyTimeout }: VerifyFlags): number {
  return verifyTimeout ?? DEFAULT_TIMEOUT_SECONDS;
}

export function printVerification(terminal: Terminal, verification: Verification): void {
  terminal.print(renderVerificationText(verification, terminal.results));
}

/** @param otherwise the exit code if an answer is not as expected */
export function verifiedCode(terminal: Terminal, verification: Verification, otherwise: ExitCode): ExitCode {
  if (isVerified(verification)) return EXIT.done;
  return (verification.interrupted ? terminal.interrupt.code() : null) ?? otherwise;
}
