/** Asking real nameservers, as `apply --verify` and `zone check --live` share it: what is asked of whom, progress, what is said at the end. */

import {
  isVerified,
  jsonText,
  renderVerificationText,
  systemClock,
  type Verification,
  type Witnesses,
  zoneTools,
} from "../index.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { sayDiagnostics, sayError } from "./messages.ts";
import { Progress } from "./progress.ts";
import type { Terminal } from "./terminal.ts";
import type { VerifyFlags } from "./verify-flags.ts";

/** The service takes up to about 100 s until what was changed is served (OBSERVED: Zone file). */
const DEFAULT_TIMEOUT_SECONDS = 300;

/** A JSON event for every answer would be the loudest thing in the log. */
const EVENT_MILLISECONDS = 1_000;

export type PreparedWitnesses =
  | { readonly ok: true; readonly witnesses: Witnesses | null }
  | { readonly ok: false; readonly code: ExitCode };

/**
 * Says what is wrong with the flags, before anything is done.
 * @param wanted the flag that asks for it, and whether it was given; without it there is nothing to prepare
 */
export async function prepareWitnesses(
  terminal: Terminal,
  flags: VerifyFlags,
  wanted: { readonly flag: string; readonly given: boolean },
): Promise<PreparedWitnesses> {
  const { nameserver: nameservers = [], delegation = false, parent: parents = [], verifyTimeout } = flags;
  if (!wanted.given) {
    const isIdle = nameservers.length + parents.length === 0 && !delegation && verifyTimeout === undefined;
    if (isIdle) return { ok: true, witnesses: null };
    const summary = `nameservers are asked only with ${wanted.flag}`;
    sayError(terminal, { code: "conflicting-options", summary, fix: `Give ${wanted.flag}, too.` });
    return { ok: false, code: EXIT.error };
  }
  if (parents.length > 0 && !delegation) {
    const fix = "Give --delegation, too.";
    sayError(terminal, { code: "conflicting-options", summary: "--parent is for --delegation", fix });
    return { ok: false, code: EXIT.error };
  }
  const tools = await zoneTools();
  const found = await tools.findWitnesses({ nameservers, delegation, parents });
  if (found.ok) return found;
  sayDiagnostics(terminal, [found.diagnostic]);
  return { ok: false, code: EXIT.error };
}

type Tools = Awaited<ReturnType<typeof zoneTools>>;
type Watch = Parameters<Tools["verifyDeclared"]>[2];

/**
 * Runs one verification with its progress: a line for people, and an event now and then for programs.
 * @param events whether what is printed is a stream of events
 */
export async function watched(
  terminal: Terminal,
  events: boolean,
  timeoutSeconds: number,
  verify: (tools: Tools, watch: Watch) => Promise<Verification>,
): Promise<Verification> {
  const progress = new Progress(terminal);
  progress.show("Asking nameservers");
  let toldAt = 0;
  try {
    const tools = await zoneTools();
    const watch: Watch = {
      clock: systemClock,
      timeoutSeconds,
      signal: terminal.interrupt.first,
      progress: ({ there, total }) => {
        progress.show(`Asking nameservers: ${there} of ${total} answers are there`);
        const now = systemClock.now();
        if (!events || now - toldAt < EVENT_MILLISECONDS) return;
        toldAt = now;
        const event = { type: "verify-progress", time: new Date(now).toISOString(), there, total };
        terminal.print(`${jsonText(event)}\n`);
      },
    };
    return await terminal.interrupt.heed(() => verify(tools, watch));
  } finally {
    progress.end();
  }
}

/** After an apply. */
export function timeoutOf({ verifyTimeout }: VerifyFlags): number {
  return verifyTimeout ?? DEFAULT_TIMEOUT_SECONDS;
}

export function printVerification(terminal: Terminal, verification: Verification): void {
  terminal.print(renderVerificationText(verification, terminal.results));
}

/** @param otherwise the code for what is not as it must be */
export function verifiedCode(terminal: Terminal, verification: Verification, otherwise: ExitCode): ExitCode {
  if (isVerified(verification)) return EXIT.done;
  return (verification.interrupted ? terminal.interrupt.code() : null) ?? otherwise;
}
